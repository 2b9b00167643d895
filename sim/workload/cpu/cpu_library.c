#include "sim/workload/cpu/cpu_library.h"

#include "sim/base/checksum.h"
#include "sim/workload/routine_data.h"

#include <stdio.h>
#include <string.h>

#define STACK_BYTES (UINT64_C(1) << 17) /* of each thread but the first */

bool cpu_library_has(const char *workload)
{
    return routine_find(&cpu_kernels, workload) != NULL;
}

bool cpu_library_open_of(struct cpu_library *l, const struct routine_library *rows, const char *workload, const char *precision,
                         unsigned threads, unsigned generation, struct orch_error *error)
{
    struct isa_error why = {0};
    *l = (struct cpu_library){.flush = false};
    if (threads > ROUTINE_THREADS)
        return orch_fail(error, ORCH_USAGE, "%.60s: at most %d threads share a kernel", workload, ROUTINE_THREADS);
    const bool read = routine_read(rows, workload, precision, &l->request, &why);
    l->request.threads = threads ? threads : 1;
    l->request.generation = generation;
    if (!read || !routine_build(&l->request, &l->work, &why))
        return orch_fail(error, ORCH_USAGE, "%s", why.text);
    const int length = routine_write(&l->request, l->text, sizeof l->text);
    if (length > 0 && (size_t)length < sizeof l->text)
        snprintf(l->text + length, sizeof l->text - (size_t)length, " %s", routine_type_name(l->request.type));
    for (unsigned t = 0; t < ROUTINE_THREADS; t++)
        l->weight[t] = 1;
    return true;
}

bool cpu_library_open(struct cpu_library *l, const char *workload, const char *precision, unsigned threads,
                      struct orch_error *error)
{
    return cpu_library_open_of(l, &cpu_kernels, workload, precision, threads, 0, error);
}

double cpu_library_bytes(const struct cpu_library *l)
{
    double sum = 0;
    for (unsigned i = 0; i < l->work.operands; i++)
        sum += (double)routine_type_bytes(l->work.operand[i].type, l->work.operand[i].count);
    return sum;
}

/* ---- operands ---- */

static bool no_room(const struct cpu_library *l, const char *what, struct orch_error *error)
{
    return orch_fail(error, ORCH_USAGE, "%.200s: %s does not fit the simulated memory; make the shape smaller", l->text, what);
}

/* Whole numbers may be places of other operands, which decide on addresses. */
static bool only_values(enum routine_type type)
{
    return type == ROUTINE_F64 || type == ROUTINE_F32 || type == ROUTINE_F16 || type == ROUTINE_BF16;
}

static bool place_operand(const struct cpu_library *l, unsigned i, struct mem_space *space, uint64_t seed, uint64_t *address,
                          struct orch_error *error)
{
    const struct routine_operand *const o = &l->work.operand[i];
    const uint64_t bytes = routine_type_bytes(o->type, o->count);
    *address = mem_space_alloc(space, bytes, MEM_PAGE_BYTES);
    if (*address && l->flush)
        *address += (MEM_PAGE_BYTES - bytes % MEM_PAGE_BYTES) % MEM_PAGE_BYTES;
    uint8_t *const to = *address ? mem_at(space, *address, bytes, MEM_READ | MEM_WRITE) : NULL;
    if (!to)
        return no_room(l, o->name, error);
    if (o->role == ROUTINE_INPUT || o->role == ROUTINE_IN_OUT) {
        if (!l->blank || !only_values(o->type))
            routine_fill(o, i, seed, to);
    } else if (l->flush)
        memset(to, 0xa5, bytes); /* so that nothing is right by chance */
    return true;
}

/* ---- what neon_run reads (units/cpu/kernels/native/crew.c) ---- */

/* ORDER: struct crew, struct step. */
enum { CREW_THREADS, CREW_STEPS, CREW_STEP, CREW_STACKS, CREW_STACK_BYTES, CREW_BARRIER, CREW_WORDS = CREW_BARRIER + 2 };
enum { STEP_FUNCTION, STEP_ARGS, STEP_BOUND, STEP_WORDS };

struct writer {
    const struct cpu_library *l;
    const struct cpu_library_data *data;
    const struct cpu_image *image;
    uint64_t address, *word; /* where the program and the host see the words */
    unsigned first, end;     /* calls of the list */
    unsigned threads;
};

/* Call `i` of the list. */
static bool write_step(const struct writer *w, unsigned i, uint64_t at, struct orch_error *error)
{
    const struct routine_call *const c = &w->l->work.call[w->first + i];
    uint64_t *const step = w->word + CREW_WORDS + i * STEP_WORDS, *const args = w->word + at;
    if (!cpu_image_symbol(w->image, c->symbol, &step[STEP_FUNCTION]))
        return orch_fail(error, ORCH_INTERNAL, "%.200s: the library has no function %s", w->l->text, c->symbol);
    step[STEP_ARGS] = w->address + 8 * at;
    step[STEP_BOUND] = w->address + 8 * (at + ROUTINE_WORDS);
    for (unsigned k = 0; k < c->words; k++)
        args[k] = c->word[k].value + (c->word[k].operand >= 0 ? w->data->address[c->word[k].operand] : 0);
    routine_split(c, w->threads, w->l->weight, args + ROUTINE_WORDS);
    return true;
}

static bool write_list(const struct writer *w, uint64_t stacks, struct orch_error *error)
{
    const unsigned steps = w->end - w->first, each = ROUTINE_WORDS + ROUTINE_THREADS + 1;
    w->word[CREW_THREADS] = w->threads;
    w->word[CREW_STEPS] = steps;
    w->word[CREW_STEP] = w->address + 8 * (uint64_t)CREW_WORDS;
    w->word[CREW_STACKS] = stacks;
    w->word[CREW_STACK_BYTES] = STACK_BYTES;
    w->word[CREW_BARRIER] = w->word[CREW_BARRIER + 1] = 0;
    for (unsigned i = 0; i < steps; i++)
        if (!write_step(w, i, CREW_WORDS + (uint64_t)steps * STEP_WORDS + (uint64_t)i * each, error))
            return false;
    return true;
}

uint64_t cpu_library_list_bytes(unsigned calls)
{
    const unsigned each = ROUTINE_WORDS + ROUTINE_THREADS + 1;
    return 8 * (uint64_t)(CREW_WORDS + calls * (STEP_WORDS + each));
}

bool cpu_library_write(const struct cpu_library *l, struct program *program, const struct cpu_library_data *data,
                       uint64_t address, uint64_t stacks, struct orch_error *error)
{
    const unsigned steps = l->work.calls - l->work.loading;
    void *const words = mem_at(program_space(program), address, cpu_library_list_bytes(steps), MEM_WRITE);
    if (!words)
        return no_room(l, "the list of calls", error);
    const struct writer w = {l, data, program_image(program), address, words, l->work.loading, l->work.calls, l->request.threads};
    cpu_core_set_x(program_core(program), 0, address);
    return write_list(&w, stacks, error);
}

/* Runs from where the program would begin, with its stack, on a core that nobody times. */
static bool run_apart(const struct cpu_library *l, struct program *program, uint64_t list, struct orch_error *error)
{
    struct cpu_context start;
    struct unit_fault fault;
    enum cpu_stop stop = CPU_STOP_BUDGET;
    struct cpu_core *const core = cpu_core_create(program_space(program));
    if (!core)
        return orch_no_memory(error);
    cpu_core_save(program_core(program), &start);
    cpu_core_load(core, &start);
    cpu_core_set_x(core, 0, list);
    while (stop == CPU_STOP_BUDGET)
        stop = cpu_core_run(core, UINT64_C(1) << 40, NULL, &fault);
    cpu_core_free(core);
    if (stop == CPU_STOP_FAULT)
        return program_explain_fault(program, &fault, error);
    return stop == CPU_STOP_RETURN || orch_fail(error, ORCH_INTERNAL, "%.200s: loading does not return", l->text);
}

bool cpu_library_load(const struct cpu_library *l, struct program *program, const struct cpu_library_data *data,
                      struct orch_error *error)
{
    struct mem_space *const space = program_space(program);
    const uint64_t bytes = cpu_library_list_bytes(l->work.loading);
    if (!l->work.loading)
        return true;
    const uint64_t list = mem_space_alloc(space, bytes, 128);
    void *const words = list ? mem_at(space, list, bytes, MEM_WRITE) : NULL;
    if (!words)
        return no_room(l, "the list of calls", error);
    const struct writer w = {l, data, program_image(program), list, words, 0, l->work.loading, 1};
    const bool ok = write_list(&w, list, error) && run_apart(l, program, list, error);
    mem_space_unmap(space, list, bytes);
    return ok;
}

bool cpu_library_place(const struct cpu_library *l, struct program *program, uint64_t seed, struct cpu_library_data *data,
                       struct orch_error *error)
{
    *data = (struct cpu_library_data){{0}};
    for (unsigned i = 0; i < l->work.operands; i++)
        if (!place_operand(l, i, program_space(program), seed, &data->address[i], error))
            return false;
    struct mem_space *const space = program_space(program);
    const uint64_t list = mem_space_alloc(space, cpu_library_list_bytes(l->work.calls), 128);
    const uint64_t stacks = mem_space_alloc(space, l->request.threads * STACK_BYTES, 128);
    if (!list || !stacks)
        return no_room(l, "the list of calls", error);
    return cpu_library_write(l, program, data, list, stacks, error);
}

uint64_t cpu_library_checksum(const struct cpu_library *l, const struct cpu_library_data *data, const struct mem_space *space)
{
    const unsigned i = routine_result(&l->work);
    const uint64_t bytes = routine_type_bytes(l->work.operand[i].type, l->work.operand[i].count);
    return checksum_add(CHECKSUM_START, mem_at(space, data->address[i], bytes, MEM_READ), bytes);
}
