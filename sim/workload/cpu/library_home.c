#include "sim/workload/cpu/library_home.h"

#include <stdlib.h>
#include <string.h>

#define OWN_ALIGNMENT UINT64_C(128)

struct library_home {
    struct program *program;
    struct cpu_context start; /* registers at the entry, the stack among them */
    struct cpu_library kernel;
    uint64_t list, own, own_bytes; /* memory of kernels: lists of calls, scratch memory */
};

struct library_home *library_home_create(uint64_t memory_bytes, struct orch_error *error)
{
    size_t bytes;
    const void *const code = cpu_kernels_code(&bytes);
    const struct program_options options = {
        .path = "kernels", .entry = CPU_KERNELS_ENTRY, .memory_bytes = memory_bytes, .cores = 1};
    struct library_home *const h = calloc(1, sizeof *h);
    if (!h) {
        orch_no_memory(error);
        return NULL;
    }
    h->program = program_open(code, bytes, &options, error);
    if (h->program)
        h->list = mem_space_alloc(program_space(h->program), cpu_library_list_bytes(ROUTINE_CALLS), OWN_ALIGNMENT);
    if (h->program && h->list) {
        cpu_core_save(program_core(h->program), &h->start);
        return h;
    }
    if (h->program)
        orch_fail(error, ORCH_USAGE, "no memory is left for kernels");
    library_home_free(h);
    return NULL;
}

void library_home_free(struct library_home *home)
{
    if (!home)
        return;
    program_close(home->program);
    free(home);
}

struct mem_space *library_home_space(const struct library_home *home)
{
    return program_space(home->program);
}

const struct cpu_library *library_home_kernel(const struct library_home *home)
{
    return &home->kernel;
}

uint64_t library_home_instructions(const struct library_home *home)
{
    return cpu_core_instructions(program_core(home->program));
}

/* Memory of the kernel's own, one piece behind the other, in what earlier kernels left. */
static bool place_own(struct library_home *h, struct cpu_library_data *data, struct orch_error *error)
{
    const struct routine_work *const w = &h->kernel.work;
    uint64_t need = 0;
    for (unsigned i = 0; i < w->operands; i++) {
        if (w->operand[i].role != ROUTINE_SCRATCH)
            continue;
        data->address[i] = need;
        need += (routine_type_bytes(w->operand[i].type, w->operand[i].count) + OWN_ALIGNMENT - 1) & ~(OWN_ALIGNMENT - 1);
    }
    if (need > h->own_bytes) {
        struct mem_space *const space = program_space(h->program);
        if (h->own)
            mem_space_unmap(space, h->own, h->own_bytes);
        h->own = mem_space_alloc(space, 2 * need, MEM_PAGE_BYTES);
        h->own_bytes = h->own ? 2 * need : 0;
        if (!h->own)
            return orch_fail(error, ORCH_USAGE, "%.200s: no memory is left for it", h->kernel.text);
    }
    for (unsigned i = 0; i < w->operands; i++)
        if (w->operand[i].role == ROUTINE_SCRATCH)
            data->address[i] += h->own;
    return true;
}

static bool execute(struct library_home *h, struct orch_error *error)
{
    struct cpu_core *const core = program_core(h->program);
    struct unit_fault fault;
    enum cpu_stop stop;
    do
        stop = cpu_core_run(core, UINT64_C(1) << 40, NULL, &fault);
    while (stop == CPU_STOP_BUDGET);
    if (stop == CPU_STOP_FAULT)
        return program_explain_fault(h->program, &fault, error);
    return stop == CPU_STOP_RETURN || orch_fail(error, ORCH_INTERNAL, "%.200s: it does not return", h->kernel.text);
}

bool library_home_run(struct library_home *h, const char *workload, const char *precision, const uint64_t *address,
                      unsigned count, struct orch_error *error)
{
    struct cpu_library_data data = {{0}};
    unsigned next = 0;
    if (!cpu_library_open(&h->kernel, workload, precision, 1, error))
        return false;
    for (unsigned i = 0; i < h->kernel.work.operands; i++)
        if (h->kernel.work.operand[i].role != ROUTINE_SCRATCH && next < count)
            data.address[i] = address[next++];
    cpu_core_load(program_core(h->program), &h->start);
    return place_own(h, &data, error) && cpu_library_write(&h->kernel, h->program, &data, h->list, h->list, error) &&
           execute(h, error);
}
