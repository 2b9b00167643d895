#include "units/gpu/gpu_core.h"

#include "units/gpu/gpu_exec.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define POISON_BYTE 0xa5

/* --- faults --- */

const struct gpu_op *gpu_fault(struct gpu_simdgroup *group, const struct gpu_op *op, enum unit_fault_kind kind, uint64_t address,
                               const char *format, ...)
{
    char text[AGX_TEXT_BYTES], what[128];
    struct unit_fault *fault = &group->group->fault;
    agx_disasm(op->inst, text, sizeof text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    fault->kind = kind;
    fault->pc = gpu_program_pc(group->group->program, op->index);
    fault->address = address;
    snprintf(fault->text, sizeof fault->text, "%.70s: %s", text, what);
    group->state = GPU_FAULTED;
    group->at = op;
    return NULL;
}

const struct gpu_op *gpu_fault_device(struct gpu_simdgroup *group, const struct gpu_op *op, unsigned lane, uint64_t address,
                                      uint32_t bytes, unsigned prot)
{
    bool unmapped;
    uint64_t bad;
    mem_space_explain(group->group->launch.space, address, bytes, prot, &unmapped, &bad);
    return gpu_fault(group, op, unmapped ? UNIT_FAULT_UNMAPPED : UNIT_FAULT_PERMISSION, bad,
                     "lane %u of simdgroup %u %s 0x%llx, which %s", lane, group->number, prot & MEM_WRITE ? "writes" : "reads",
                     (unsigned long long)bad, unmapped ? "is not mapped" : "does not allow it");
}

/* --- threadgroups --- */

void gpu_launch_groups(const struct gpu_launch *launch, uint32_t groups[3])
{
    for (unsigned axis = 0; axis < 3; axis++) {
        const uint32_t size = launch->group_threads[axis];
        groups[axis] = size ? launch->grid_threads[axis] / size + (launch->grid_threads[axis] % size != 0) : 0;
    }
}

static void clear_storage(struct gpu_group *group)
{
    const int fill = group->checks.poison ? POISON_BYTE : 0;
    const uint32_t named = (gpu_program_register_halves(group->program) + 1) / 2;
    const uint32_t words = group->launch.register_halves && named < group->words ? named : group->words;
    for (uint32_t i = 0; i < group->simdgroups; i++)
        memset(group->simdgroup[i].word, fill, (size_t)words * GPU_WORD_BYTES);
    memset(group->memory, fill, group->memory_bytes);
    memset(group->stack, fill, (size_t)group->stack_words * GPU_WORD_BYTES * group->simdgroups);
}

static void start_simdgroup(struct gpu_group *group, uint32_t number, uint32_t threads)
{
    struct gpu_simdgroup *s = &group->simdgroup[number];
    const uint32_t first = number * GPU_LANES, left = threads - first;
    group->executed_before += s->executed;
    group->active_before += s->active;
    const uint32_t exist = left >= GPU_LANES ? UINT32_MAX : (1U << left) - 1;
    void *word = (uint8_t *)group->registers + gpu_register_stride(group) * number;
    *s = (struct gpu_simdgroup){.word = word,
                                .mask = exist,
                                .exist = exist,
                                .group = group,
                                .state = GPU_READY,
                                .number = number,
                                .stack_bytes_left = group->stack_words * 4,
                                .at = &group->op[gpu_program_find(group->program, group->program->entry)]};
}

/* Metal's order: index = x + y*X + z*X*Y in the threadgroup; lane = index & 31, simdgroup = index >> 5. */
void gpu_number_lanes(struct gpu_group *group)
{
    uint32_t at[3] = {0};
    if (memcmp(group->numbered, group->size, sizeof group->size) == 0)
        return;
    const uint32_t threads = gpu_threads_of(group->size);
    memcpy(group->numbered, group->size, sizeof group->size);
    for (uint32_t i = 0; i < threads; i++) {
        for (unsigned axis = 0; axis < 3; axis++)
            group->lane_position[axis][i] = at[axis];
        if (++at[0] == group->size[0]) {
            at[0] = 0;
            if (++at[1] == group->size[1]) {
                at[1] = 0;
                at[2]++;
            }
        }
    }
}

static void start(struct gpu_group *group)
{
    const uint32_t threads = gpu_threads_of(group->size);
    gpu_number_lanes(group);
    group->simdgroups = (threads + GPU_LANES - 1) / GPU_LANES;
    group->arrived = group->stopped = group->barrier_openings = 0;
    group->fault = (struct unit_fault){0};
    for (uint32_t i = 0; i < group->simdgroups; i++)
        start_simdgroup(group, i, threads);
    clear_storage(group);
    if (group->sanitizer)
        gpu_sanitizer_start(group->sanitizer);
}

void gpu_group_start(struct gpu_group *group, const uint32_t position[3], uint32_t core_index)
{
    for (unsigned axis = 0; axis < 3; axis++) {
        const uint64_t first = (uint64_t)position[axis] * group->launch.group_threads[axis];
        const uint64_t grid = group->launch.grid_threads[axis], left = grid > first ? grid - first : 0;
        group->position[axis] = position[axis];
        group->size[axis] = left < group->launch.group_threads[axis] ? (uint32_t)left : group->launch.group_threads[axis];
    }
    group->core_index = core_index;
    start(group);
}

void gpu_group_start_bare(struct gpu_group *group, const struct gpu_lanes *lanes)
{
    memcpy(group->size, group->launch.group_threads, sizeof group->size);
    memset(group->position, 0, sizeof group->position);
    group->core_index = 0;
    start(group);
    for (uint32_t i = 0; i < group->simdgroups; i++)
        gpu_group_write_state(group, i, lanes);
}

unsigned gpu_group_simdgroups(const struct gpu_group *group)
{
    return group->simdgroups;
}

/* --- running --- */

void gpu_barrier_open(struct gpu_group *group)
{
    group->arrived = 0;
    group->barrier_openings++;
    if (group->sanitizer)
        gpu_sanitizer_barrier_open(group->sanitizer);
}

static inline bool put_record(struct gpu_simdgroup *s, const struct gpu_op *op, unsigned lanes, struct gpu_trace *trace)
{
    if (op->touches)
        return gpu_record(s, op, lanes, trace);
    const struct gpu_trace_record record = {.instruction = op->index, .active_lanes = (uint8_t)lanes};
    return gpu_trace_put(trace, record, NULL);
}

static const struct gpu_op *no_room(struct gpu_simdgroup *s, const struct gpu_op *op)
{
    return gpu_fault(s, op, UNIT_FAULT_NONE, 0, "out of memory while recording what is executed");
}

/* Runs instruction by instruction, with checks. */
static const struct gpu_op *run_watched(struct gpu_simdgroup *s, const struct gpu_op *op, uint64_t *left, struct gpu_trace *trace)
{
    struct gpu_group *group = s->group;
    uint32_t mask = s->mask;
    unsigned lanes = (unsigned)__builtin_popcount(mask);
    while (op && *left > 0) {
        if (s->mask != mask) {
            mask = s->mask;
            lanes = (unsigned)__builtin_popcount(mask);
        }
        gpu_sanitizer_before(group->sanitizer, s, op);
        if (trace && !put_record(s, op, lanes, trace))
            return no_room(s, op);
        --*left;
        s->active += lanes;
        ++*op->entered;
        if (op->straight > 1)
            --*op->next->entered;
        op = op->run(s, op);
    }
    return op;
}

enum recording { RECORD_NOTHING, RECORD_LINES, RECORD_ALL }; /* the first two are places of gpu_op.idle */

/* The last of the idle instructions from `op` on, of at most *rest, which then counts what is left from it on. An idle access has
 * nothing to look at: its addresses are known only when it is recorded. */
static inline const struct gpu_op *last_idle(const struct gpu_op *op, enum recording how, uint32_t *rest)
{
    if (op->idle[how].count <= *rest) {
        *rest -= op->idle[how].count - 1;
        return op->idle[how].last;
    }
    for (; *rest > 1; --*rest)
        op = op->next;
    return op;
}

/* Runs block by block: what is counted per instruction is counted at the block's entry. `trace` may be NULL. */
static inline __attribute__((always_inline)) const struct gpu_op *blocks(struct gpu_simdgroup *s, const struct gpu_op *op,
                                                                         uint64_t *left, struct gpu_trace *trace,
                                                                         enum recording how, bool *lap)
{
    uint64_t active = 0, budget = *left;
    while (op && budget > 0 && !*lap) {
        const uint32_t block = op->straight, length = block < budget ? block : (uint32_t)budget;
        const unsigned lanes = (unsigned)__builtin_popcount(s->mask);
        const struct gpu_op *next = op;
        uint32_t rest = length;
        ++*op->entered;
        do {
            op = next;
            if (how != RECORD_ALL && op->idle[how].count > 0) {
                op = last_idle(op, how, &rest);
                next = op->next;
                continue;
            }
            next = how == RECORD_NOTHING || (how == RECORD_LINES && !op->touches_lines) || put_record(s, op, lanes, trace)
                       ? op->run(s, op)
                       : no_room(s, op);
        } while (--rest > 0 && next);
        budget -= length - rest;
        active += (uint64_t)lanes * (length - rest);
        if (length - rest < block) /* a fault or the budget cut the block off after `op` */
            --*op->next->entered;
        *lap = op->lap;
        op = next;
    }
    s->active += active;
    *left = budget;
    return op;
}

static const struct gpu_op *run_blocks(struct gpu_simdgroup *s, const struct gpu_op *op, uint64_t *left, bool *lap)
{
    return blocks(s, op, left, NULL, RECORD_NOTHING, lap);
}

static const struct gpu_op *run_recorded(struct gpu_simdgroup *s, const struct gpu_op *op, uint64_t *left,
                                         struct gpu_trace *trace, bool *lap)
{
    return trace->lines_only ? blocks(s, op, left, trace, RECORD_LINES, lap) : blocks(s, op, left, trace, RECORD_ALL, lap);
}

static enum gpu_step step_of(const struct gpu_group *group, const struct gpu_simdgroup *s, bool lap, struct unit_fault *fault)
{
    switch (s->state) {
    case GPU_AT_BARRIER: return GPU_STEP_BARRIER;
    case GPU_STOPPED: return GPU_STEP_DONE;
    case GPU_FAULTED: *fault = group->fault; return GPU_STEP_FAULT;
    default: return lap ? GPU_STEP_LAP : GPU_STEP_LIMIT;
    }
}

enum gpu_step gpu_group_run(struct gpu_group *group, unsigned simdgroup, uint64_t limit, struct gpu_trace *trace,
                            struct unit_fault *fault)
{
    struct gpu_simdgroup *s = &group->simdgroup[simdgroup];
    if (s->state == GPU_AT_BARRIER && s->barrier_seen != group->barrier_openings)
        s->state = GPU_READY;
    if (s->state != GPU_READY)
        return step_of(group, s, false, fault);
    uint64_t budget = limit ? limit : UINT64_MAX, allowed = UINT64_MAX;
    if (group->checks.instruction_limit)
        allowed = group->checks.instruction_limit > s->executed ? group->checks.instruction_limit - s->executed : 0;
    budget = budget < allowed ? budget : allowed;
    uint64_t left = budget;
    bool lap = false;
    const struct gpu_op *op = s->at;
    const unsigned host_state = group->vectors ? group->vectors->enter() : 0;
    if (group->sanitizer)
        op = run_watched(s, op, &left, trace);
    else if (trace)
        op = run_recorded(s, op, &left, trace, &lap);
    else
        op = run_blocks(s, op, &left, &lap);
    if (group->vectors)
        group->vectors->leave(host_state);
    s->executed += budget - left;
    if (op)
        s->at = op;
    if (op && left == 0 && budget == allowed && allowed != UINT64_MAX)
        gpu_fault(s, op, UNIT_FAULT_TRAP, 0, "the limit of %llu instructions of a simdgroup is reached",
                  (unsigned long long)group->checks.instruction_limit);
    return step_of(group, s, lap, fault);
}

bool gpu_group_finish(struct gpu_group *group, struct gpu_trace *traces, struct unit_fault *fault)
{
    for (bool busy = true; busy;) {
        busy = false;
        for (unsigned i = 0; i < group->simdgroups; i++) {
            const enum gpu_step step = gpu_group_run(group, i, 0, traces ? &traces[i] : NULL, fault);
            if (step == GPU_STEP_FAULT)
                return false;
            busy = busy || step != GPU_STEP_DONE;
        }
    }
    return true;
}

bool gpu_preamble_run(const struct gpu_program *preamble, struct mem_space *space, uint16_t *uniforms, struct unit_fault *fault)
{
    const struct gpu_launch launch = {
        .program = preamble, .uniforms = uniforms, .grid_threads = {1, 1, 1}, .group_threads = {1, 1, 1}, .space = space};
    const struct gpu_checks checks = {.instruction_limit = 1U << 20}; /* preambles are straight code by nature */
    struct gpu_group *group = gpu_group_create_with(&launch, &checks, uniforms, NULL);
    if (!group) {
        *fault = (struct unit_fault){.text = "out of memory for a preamble"};
        return false;
    }
    gpu_group_start(group, (const uint32_t[3]){0}, 0);
    const bool ok = gpu_group_finish(group, NULL, fault);
    gpu_group_free(group);
    return ok;
}
