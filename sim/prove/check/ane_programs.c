#include "sim/prove/check/ane_programs.h"

#include "isa/ane/ane_text.h"
#include "sim/workload/ane/ane_request.h"
#include "sim/prove/check/ane_reference.h"
#include "sim/chip/chip_units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct checker {
    const char *name;
    const struct check_ane_options *options;
    struct check_report *report;
    struct check_ane_result *result;
    struct orch_error *error;
    struct ane_workload workload;
    struct ane_buffers buffers;
    struct ane_numeric numeric;
    struct ane_operation operation;
    double *input[2], *got, *want, *allowed;
    uint8_t *marks; /* the output, with its elements in order */
};

static bool no_memory(struct checker *c)
{
    return orch_fail(c->error, ORCH_INTERNAL, "%.300s: out of memory", c->name);
}

static bool fails(struct checker *c, const char *text)
{
    snprintf(c->result->text, sizeof c->result->text, "%.*s", (int)sizeof c->result->text - 1, text);
    check_fail(c->report, "%.300s: %s", c->name, text);
    return false;
}

/* ---- bytes ---- */

static bool encodes_back(struct checker *c, const uint8_t *bytes, size_t size)
{
    uint8_t *again = NULL;
    size_t again_size = 0, at = 0;
    struct isa_error why = {0};
    char text[200];
    if (!ane_program_save(&c->workload.kernel.program, &again, &again_size, &why)) {
        snprintf(text, sizeof text, "does not encode: %.180s", why.text);
        return fails(c, text);
    }
    while (at < size && at < again_size && bytes[at] == again[at])
        at++;
    const bool same = size == again_size && at == size;
    free(again);
    if (same)
        return true;
    snprintf(text, sizeof text, "encodes to other bytes from 0x%zx on", at);
    return fails(c, text);
}

/* Whether every task, encoded into an empty descriptor, decodes to the same task. */
static bool tasks_encode(struct checker *c)
{
    const struct ane_program *const p = &c->workload.kernel.program;
    char text[200];
    for (size_t i = 0; i < p->count; i++) {
        struct isa_error why = {0};
        struct ane_td td = p->td[i];
        if (ane_task_encode(&p->task[i], &td, &why) && memcmp(&td, &p->td[i], sizeof td) == 0)
            continue;
        snprintf(text, sizeof text, "descriptor %zu: its task encodes to another descriptor%s%.100s", i + 1,
                 why.text[0] ? ": " : "", why.text);
        return fails(c, text);
    }
    return true;
}

/* ---- execution ---- */

static const struct ane_array *array_at(const struct checker *c, unsigned bar)
{
    for (unsigned i = 0; i < c->workload.arrays; i++)
        if (c->workload.array[i].bar == bar)
            return &c->workload.array[i];
    return NULL;
}

static bool fill_input(struct checker *c, const struct ane_reference *r, unsigned number, const struct ane_array *v)
{
    struct ane_array ranged = *v;
    uint8_t *const at = ane_buffers_at(&c->buffers, v);
    c->input[number] = malloc((ane_array_count(v) + 1) * sizeof *c->input[number]);
    if (!at || !c->input[number])
        return no_memory(c);
    if (v->format == ANE_F16) {
        ranged.low = r->range[number].low;
        ranged.high = r->range[number].high;
    }
    ane_array_generate(&ranged, c->options->seed * ANE_WORKLOAD_ARRAYS + number, at);
    ane_array_read(v, at, c->input[number]);
    return true;
}

/* Fills places that no descriptor writes: a NaN that no operation produces. */
#define UNWRITTEN_BYTE 0xfd

static bool mark_unwritten(struct checker *c, const struct ane_array *out)
{
    c->marks = malloc(ane_array_dense_bytes(out) + 1);
    if (!c->marks)
        return no_memory(c);
    memset(c->marks, UNWRITTEN_BYTE, ane_array_dense_bytes(out));
    ane_array_unpack(out, c->marks, ane_buffers_at(&c->buffers, out));
    return true;
}

/* Number of elements that the descriptors write into the output. */
static uint64_t results_of(const struct checker *c, const struct ane_array *out)
{
    const struct ane_program *const p = &c->workload.kernel.program;
    uint64_t count = 0;
    for (size_t i = 0; i < p->count; i++) {
        const struct ane_task *const t = &p->task[i];
        const bool rows = t->engine == ANE_ENGINE_PE && (t->pe_reduce == ANE_REDUCE_SUM || t->pe_reduce == ANE_REDUCE_MAX);
        if (t->result.place == ANE_PLACE_DRAM && t->result.bar == out->bar)
            count += rows ? t->groups : (uint64_t)t->width_out * t->height_out * t->channels_out;
    }
    return count;
}

static bool unwritten(const struct checker *c, uint64_t element)
{
    return c->marks[2 * element] == UNWRITTEN_BYTE && c->marks[2 * element + 1] == UNWRITTEN_BYTE;
}

/* Parts of an operation may leave room between and after them, but as many elements must be written as the descriptors have. */
static bool all_written(struct checker *c, const struct ane_array *out)
{
    const uint64_t count = ane_array_count(out), results = results_of(c, out);
    uint64_t written = 0;
    char text[120];
    for (uint64_t i = 0; i < count; i++)
        written += !unwritten(c, i);
    if (written >= (results < count ? results : count))
        return true;
    snprintf(text, sizeof text, "%.40s: %llu of %llu results are written", c->result->operation, (unsigned long long)written,
             (unsigned long long)results);
    return fails(c, text);
}

static bool compare(struct checker *c, uint64_t count)
{
    char text[200];
    uint64_t at = 0;
    c->result->worst = 0;
    for (uint64_t i = 0; i < count; i++) {
        if (unwritten(c, i))
            continue;
        const double off = fabs(c->got[i] - c->want[i]);
        const double part = off == 0 ? 0 : c->allowed[i] > 0 ? off / c->allowed[i] : INFINITY;
        if (part > c->result->worst || isnan(part)) {
            c->result->worst = isnan(part) ? INFINITY : part;
            at = i;
        }
    }
    if (c->result->worst <= 1)
        return true;
    snprintf(text, sizeof text, "%.40s: element %llu is %.9g, must be %.9g within %.3g", c->result->operation,
             (unsigned long long)at, c->got[at], c->want[at], c->allowed[at]);
    return fails(c, text);
}

/* *known tells whether the reference fits the shapes. */
static bool run_reference(struct checker *c, const struct ane_reference *r, const struct ane_array *out, bool *known)
{
    struct ane_reference_case k = {.program = &c->workload.kernel.program, .operation = &c->operation, .numeric = &c->numeric};
    *known = false;
    for (unsigned i = 0; i < r->inputs; i++) {
        const struct ane_array *const v = array_at(c, c->operation.input[i]);
        if (!v)
            return true;
        if (!fill_input(c, r, i, v))
            return false;
        k.input[i] = c->input[i];
        k.count[i] = ane_array_count(v);
        k.width = i ? k.width : v->shape[v->rank - 1];
    }
    k.results = ane_array_count(out);
    c->got = malloc((k.results + 1) * sizeof *c->got);
    c->want = k.want = malloc((k.results + 1) * sizeof *k.want);
    c->allowed = k.allowed = malloc((k.results + 1) * sizeof *k.allowed);
    if (!c->got || !k.want || !k.allowed)
        return no_memory(c);
    *known = ane_reference_run(r, &k);
    return true;
}

static bool executes(struct checker *c, const struct ane_reference *r)
{
    const struct ane_array *const out = array_at(c, c->operation.output);
    struct ane_exec_counts counts = {0};
    struct orch_error fault = {0};
    bool known;
    if (!out || !run_reference(c, r, out, &known))
        return !out;
    if (!known || out->format != ANE_F16)
        return true;
    if (!mark_unwritten(c, out))
        return false;
    struct ane_core *const core = ane_request_core(c->options->chip, c->error);
    if (!core)
        return false;
    const bool ran = ane_buffers_run(&c->buffers, core, c->options->threads, &counts, &fault);
    ane_core_free(core);
    if (!ran)
        return fails(c, fault.text);
    ane_array_read(out, ane_buffers_at(&c->buffers, out), c->got);
    ane_array_pack(out, ane_buffers_at(&c->buffers, out), c->marks);
    c->result->executed = true;
    return all_written(c, out) && compare(c, ane_array_count(out));
}

static bool check_operation(struct checker *c)
{
    char detail[96] = "";
    struct check_ane_result *const r = c->result;
    const struct ane_program *const p = &c->workload.kernel.program;
    const bool named = ane_program_find_operation(p, &c->operation);
    snprintf(r->operation, sizeof r->operation, "%s", named ? c->operation.name : "");
    const struct ane_reference *const reference = named ? ane_reference_find(c->operation.name) : NULL;
    if (named)
        ane_program_operation(p, detail, sizeof detail);
    if (reference && !executes(c, reference))
        return false;
    if (r->executed)
        snprintf(r->text, sizeof r->text,
                 "decodes, encodes to the same bytes, computes %.60s%s%.95s (worst error %.2g of what is allowed)", r->operation,
                 detail[0] ? " " : "", detail, r->worst);
    else
        snprintf(r->text, sizeof r->text, "decodes, encodes to the same bytes; %s%.60s",
                 named ? "nothing to execute it against: no reference for these shapes of "
                       : "no known operation, so it is not executed",
                 r->operation);
    return true;
}

static bool check_parts(struct checker *c, const uint8_t *bytes, size_t size, struct mem_space *space)
{
    struct orch_error why = {0};
    if (!ane_workload_open_file(&c->workload, c->name, bytes, size, &why))
        return fails(c, why.text);
    c->result->descriptors = c->workload.kernel.program.count;
    if (!encodes_back(c, bytes, size) || !tasks_encode(c))
        return false;
    if (!ane_buffers_open(&c->buffers, &c->workload, space, &why))
        return fails(c, why.text);
    return check_operation(c);
}

bool check_ane_program(const char *name, const uint8_t *bytes, size_t size, const struct check_ane_options *options,
                       struct check_report *report, struct check_ane_result *result, struct orch_error *error)
{
    struct checker c = {.name = name, .options = options, .report = report, .result = result, .error = error};
    const int before = error->exit_code;
    *result = (struct check_ane_result){.descriptors = 0};
    if (!ane_program_recognise(bytes, size))
        return orch_fail(error, ORCH_USAGE, "%.300s: not a Neural Engine program (.hwx, .anec or raw descriptors)", name);
    if (!chip_ane_numeric(options->chip, &c.numeric, error))
        return false;
    struct mem_space *const space = mem_space_create(0);
    const bool holds = space ? check_parts(&c, bytes, size, space) : no_memory(&c);
    if (holds)
        check_pass(report);
    free(c.input[0]);
    free(c.input[1]);
    free(c.marks);
    free(c.got);
    free(c.want);
    free(c.allowed);
    ane_workload_close(&c.workload);
    mem_space_free(space);
    return error->exit_code == before;
}
