#include "sim/workload/ane/ane_request.h"

#include "sim/chip/chip_units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- places ---- */

static bool has_buffer(enum ane_port_kind kind)
{
    return kind == ANE_PORT_INPUT || kind == ANE_PORT_OUTPUT || kind == ANE_PORT_SCRATCH;
}

/* Buffers are whole pages of the engine's address translation. */
static uint64_t whole_pages(uint64_t bytes)
{
    return (bytes + MEM_PAGE_BYTES - 1) / MEM_PAGE_BYTES * MEM_PAGE_BYTES;
}

static uint64_t needed(const struct ane_workload *w, unsigned bar)
{
    uint64_t bytes = w->kernel.program.port[bar].bytes;
    for (unsigned i = 0; i < w->arrays; i++) {
        const uint64_t extent =
            w->array[i].role != ANE_TENSOR_CONSTANT && w->array[i].bar == bar ? ane_array_extent(&w->array[i]) : 0;
        bytes = extent > bytes ? extent : bytes;
    }
    return bytes > UINT64_MAX / 2 ? UINT64_MAX / 2 : whole_pages(bytes);
}

static bool check_size(const struct ane_buffers *b, struct orch_error *error)
{
    uint64_t all = whole_pages(b->workload->kernel.program.size);
    for (unsigned bar = 0; bar < ANE_BARS; bar++) {
        all += b->bytes[bar];
        if (b->bytes[bar] > ANE_REQUEST_BYTES_MAX || all > ANE_REQUEST_BYTES_MAX)
            return orch_fail(error, ORCH_USAGE,
                             "%.200s: buffers and program take more than the 3.5 GiB that the Neural Engine addresses",
                             b->workload->name);
    }
    return true;
}

static bool allocate(struct ane_buffers *b, unsigned bar, struct orch_error *error)
{
    b->address[bar] = mem_space_alloc(b->space, b->bytes[bar] ? b->bytes[bar] : 1, MEM_PAGE_BYTES);
    return b->address[bar] || orch_fail(error, ORCH_USAGE, "%.200s: %" PRIu64 " bytes do not fit the simulated memory",
                                        b->workload->name, b->bytes[bar]);
}

bool ane_buffers_open(struct ane_buffers *b, const struct ane_workload *workload, struct mem_space *space,
                      struct orch_error *error)
{
    const struct ane_program *p = &workload->kernel.program;
    *b = (struct ane_buffers){.workload = workload, .space = space};
    for (unsigned bar = 0; bar < ANE_BARS; bar++)
        b->bytes[bar] = has_buffer(p->port[bar].kind) ? needed(workload, bar) : 0;
    if (!check_size(b, error))
        return false;
    for (unsigned bar = 0; bar < ANE_BARS; bar++)
        if (has_buffer(p->port[bar].kind) && !allocate(b, bar, error))
            return false;
    b->coefficients = p->const_bytes ? mem_space_alloc(space, p->const_bytes, MEM_PAGE_BYTES) : 0;
    return !p->const_bytes || b->coefficients ||
           orch_fail(error, ORCH_USAGE, "%.200s: its coefficients do not fit the simulated memory", workload->name);
}

/* ---- contents ---- */

uint8_t *ane_buffers_at(const struct ane_buffers *b, const struct ane_array *v)
{
    return b->bytes[v->bar] ? mem_at(b->space, b->address[v->bar], b->bytes[v->bar], MEM_READ | MEM_WRITE) : NULL;
}

bool ane_buffers_fill(const struct ane_buffers *b, uint64_t seed, const char *const *inputs, size_t input_count,
                      struct orch_error *error)
{
    const struct ane_workload *w = b->workload;
    for (unsigned i = 0; i < w->arrays; i++) {
        const struct ane_array *v = &w->array[i];
        uint8_t *at = v->role == ANE_TENSOR_INPUT ? ane_buffers_at(b, v) : NULL;
        if (at)
            ane_array_generate(v, seed * ANE_WORKLOAD_ARRAYS + i, at);
    }
    for (size_t i = 0; i < input_count; i++) {
        size_t length;
        const char *path;
        const struct ane_array *v = NULL;
        if (!ane_workload_input(inputs[i], &length, &path, error) ||
            !(v = ane_workload_find(w, inputs[i], length, 1u << ANE_TENSOR_INPUT | 1u << ANE_TENSOR_CONSTANT, error)))
            return false;
        uint8_t *at = v->role == ANE_TENSOR_INPUT ? ane_buffers_at(b, v) : NULL;
        if (at && !ane_array_load(v, path, at, error))
            return false;
    }
    return true;
}

/* ---- executing ---- */

static bool tell_fault(const struct ane_buffers *b, const struct unit_fault *fault, struct orch_error *error)
{
    const struct ane_program *p = &b->workload->kernel.program;
    size_t number = 0;
    while (number < p->count && p->td_offset[number] != fault->pc)
        number++;
    return orch_fail(error, fault->kind == UNIT_FAULT_UNMODELLED ? ORCH_UNMODELLED : ORCH_FAULT,
                     "%.150s: descriptor %zu of %zu (at 0x%" PRIx64 "): %s", b->workload->name,
                     number < p->count ? number + 1 : number, p->count, fault->pc, fault->text);
}

bool ane_buffers_run(const struct ane_buffers *b, struct ane_core *core, unsigned threads, struct ane_exec_counts *counts,
                     struct orch_error *error)
{
    struct unit_fault fault = {.kind = UNIT_FAULT_NONE};
    struct ane_exec_counts own = {0};
    struct ane_request request = {.program = &b->workload->kernel.program, .space = b->space};
    memcpy(request.address, b->address, sizeof request.address);
    memcpy(request.bytes, b->bytes, sizeof request.bytes);
    if (!ane_core_run(core, &request, threads ? threads : 1, &own, &fault))
        return tell_fault(b, &fault, error);
    counts->tasks += own.tasks;
    counts->macs += own.macs;
    counts->elements += own.elements;
    counts->table_lookups += own.table_lookups;
    counts->table_clamped += own.table_clamped;
    counts->source_bytes += own.source_bytes;
    counts->result_bytes += own.result_bytes;
    counts->coefficient_bytes += own.coefficient_bytes;
    return true;
}

struct ane_core *ane_request_core(const struct chip *chip, struct orch_error *error)
{
    struct ane_numeric numeric;
    struct ane_params params;
    if (!chip_ane_numeric(chip, &numeric, error) || !chip_ane_params(chip, &params, error))
        return NULL;
    struct ane_core *core = ane_core_create(&numeric, (uint32_t)params.l2_bytes);
    if (!core)
        orch_no_memory(error);
    return core;
}
