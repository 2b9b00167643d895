/* Runs a decoded kernel over its grid: threadgroups one after another, their simdgroups in turns between barriers, and of a
 * simdgroup always the lanes at the lowest place. */
#include "isa/agx/compiler/ir_interpret_parts.h"
#include "isa/rounding.h"

#include <stdlib.h>
#include <string.h>

#define GROUP_THREADS_MAX 1024u

void thread_place(const struct machine *m, const struct simdgroup *s, unsigned lane, char *text, size_t room)
{
    const uint32_t index = s->number * LANES + lane, *const size = m->group_size;
    const uint32_t local[3] = {index % size[0], index / size[0] % size[1], index / size[0] / size[1]};
    unsigned long long at[3];
    for (unsigned i = 0; i < 3; i++)
        at[i] = m->group[i] * (unsigned long long)m->launch->group[i] + local[i];
    snprintf(text, room, "thread (%llu, %llu, %llu)", at[0], at[1], at[2]);
}

/* ---- a simdgroup ---- */

static void pure_step(const struct machine *m, struct simdgroup *s, const struct step *step, uint32_t mask)
{
    const uint64_t *const a = slot_read(m, s, step->a), *const b = slot_read(m, s, step->b), *const c = slot_read(m, s, step->c);
    uint64_t *const d = s->slot[step->d];
    if (mask == UINT32_MAX) {
        step->pure(step, d, a, b, c);
        return;
    }
    uint64_t out[LANES];
    step->pure(step, out, a, b, c);
    for (unsigned lane = 0; lane < LANES; lane++)
        d[lane] = mask >> lane & 1 ? out[lane] : d[lane];
}

static void set_places(struct simdgroup *s, uint32_t mask, uint32_t place)
{
    for (unsigned lane = 0; lane < LANES; lane++)
        s->pc[lane] = mask >> lane & 1 ? place : s->pc[lane];
}

static void branch(const struct machine *m, struct simdgroup *s, const struct step *step, uint32_t mask)
{
    const uint64_t *const condition = slot_read(m, s, step->a);
    for (unsigned lane = 0; lane < LANES; lane++)
        if (mask >> lane & 1)
            s->pc[lane] = condition[lane] & 1 ? step->target : step->other;
}

static void choose(const struct machine *m, struct simdgroup *s, const struct step *step, uint32_t mask)
{
    const uint64_t *const value = slot_read(m, s, step->a);
    for (unsigned lane = 0; lane < LANES; lane++) {
        if (!(mask >> lane & 1))
            continue;
        s->pc[lane] = step->other;
        for (uint32_t i = 0; i < step->extras; i++)
            if (value[lane] == slot_read(m, s, step->extra[2 * i])[lane]) {
                s->pc[lane] = step->extra[2 * i + 1];
                break;
            }
    }
}

/* What ends a run of steps. */
static bool control_step(struct machine *m, struct simdgroup *s, const struct step *step, uint32_t mask)
{
    char place[96];
    switch (step->kind) {
    case STEP_JUMP: set_places(s, mask, step->target); return true;
    case STEP_BRANCH: branch(m, s, step, mask); return true;
    case STEP_SWITCH: choose(m, s, step, mask); return true;
    case STEP_END: s->live &= ~mask; return true;
    case STEP_BARRIER:
        set_places(s, mask, (uint32_t)(step - m->program->step));
        s->parked |= mask;
        return true;
    default:
        thread_place(m, s, (unsigned)__builtin_ctz(mask), place, sizeof place);
        return interpret_fail(m->error, step->line, "what cannot be reached was reached, by %s", place);
    }
}

/* Runs lanes that are together until they may part. */
static bool run_together(struct machine *m, struct simdgroup *s, uint32_t place, uint32_t mask)
{
    const struct step *const first = &m->program->step[place], *step = first;
    for (bool more = true; more; step++) {
        switch (step->kind) {
        case STEP_PURE: pure_step(m, s, step, mask); break;
        case STEP_LOAD:
        case STEP_STORE:
        case STEP_ATOMIC:
        case STEP_EXCHANGE_IF:
        case STEP_COPY:
        case STEP_FILL:
            if (!memory_step(m, s, step, mask))
                return false;
            break;
        case STEP_CROSS: cross_step(m, s, step, mask); break;
        case STEP_MATRIX: matrix_step(m, s, step, mask); break;
        default:
            if (!control_step(m, s, step, mask))
                return false;
            more = false;
        }
    }
    const uint64_t steps = (uint64_t)(step - first);
    m->counts.simdgroup_steps += steps;
    m->counts.lane_steps += steps * (unsigned)__builtin_popcount(mask);
    if (m->launch->most_instructions && m->counts.simdgroup_steps > m->launch->most_instructions)
        return interpret_fail(m->error, step[-1].line, "the kernel ran more than %llu steps and was stopped",
                              (unsigned long long)m->launch->most_instructions);
    return true;
}

static uint32_t lanes_at(const struct simdgroup *s, uint32_t runnable, uint32_t *place)
{
    uint32_t lowest = UINT32_MAX, mask = 0;
    for (unsigned lane = 0; lane < LANES; lane++)
        if ((runnable >> lane & 1) && s->pc[lane] < lowest)
            lowest = s->pc[lane];
    for (unsigned lane = 0; lane < LANES; lane++)
        mask |= (uint32_t)(s->pc[lane] == lowest) << lane;
    *place = lowest;
    return mask & runnable;
}

static bool barrier_fail(const struct machine *m, const struct step *at, const struct step *other)
{
    const char *const of = at->which ? "simdgroup" : "threadgroup";
    if (!other)
        return interpret_fail(m->error, at->line, "some threads of the %s end without coming to this barrier", of);
    return interpret_fail(m->error, at->line, "while some threads of the %s are at this barrier, others are at one of line %u",
                          of, (unsigned)other->line);
}

/* Are all lanes that the simdgroup began with, or that have not ended, parked and at one barrier? */
static bool all_parked(const struct machine *m, const struct simdgroup *s)
{
    const struct step *const step = m->program->step, *const at = &step[s->pc[__builtin_ctz(s->parked)]];
    for (unsigned lane = 0; lane < LANES; lane++)
        if ((s->parked >> lane & 1) && &step[s->pc[lane]] != at)
            return barrier_fail(m, at, &step[s->pc[lane]]);
    return s->parked == s->present || m->launch->ended_arrive || barrier_fail(m, at, NULL);
}

static void release(struct simdgroup *s)
{
    if (!s->parked)
        return;
    set_places(s, s->parked, s->pc[__builtin_ctz(s->parked)] + 1);
    s->parked = 0;
}

/* Runs until all lanes have ended or are at one barrier of the threadgroup. */
static bool run_simdgroup(struct machine *m, struct simdgroup *s)
{
    for (;;) {
        const uint32_t runnable = s->live & ~s->parked;
        if (runnable) {
            uint32_t place;
            const uint32_t mask = lanes_at(s, runnable, &place);
            if (!run_together(m, s, place, mask))
                return false;
            continue;
        }
        if (!s->parked)
            return true;
        if (!all_parked(m, s))
            return false;
        if (!m->program->step[s->pc[__builtin_ctz(s->parked)]].which)
            return true;
        release(s);
    }
}

/* ---- a threadgroup ---- */

static void start_simdgroup(const struct machine *m, struct simdgroup *s, uint32_t threads)
{
    const struct program *const p = m->program;
    const uint32_t here = threads - s->number * LANES < LANES ? threads - s->number * LANES : LANES;
    s->present = s->live = (uint32_t)mask_of(here);
    s->parked = 0;
    memset(s->pc, 0, sizeof s->pc);
    memset(s->slot, IR_POISON_BYTE, p->slots * sizeof *s->slot);
    special_slots(m, s);
    memset(s->private, IR_POISON_BYTE, p->private.bytes * LANES);
    for (size_t i = 0; i < p->copies; i++)
        for (unsigned lane = 0; lane < LANES; lane++)
            memcpy(s->private + lane * p->private.bytes + p->copy[i].to, (const uint8_t *)m->launch->arguments + p->copy[i].from,
                   p->copy[i].bytes);
}

/* The threads of a group come to the same barrier together, or end. */
static bool meet(const struct machine *m, bool *ended)
{
    const struct step *at = NULL;
    uint32_t done = 0;
    for (uint32_t i = 0; i < m->simdgroups; i++) {
        const struct simdgroup *const s = &m->simdgroup[i];
        const struct step *const here = s->parked ? &m->program->step[s->pc[__builtin_ctz(s->parked)]] : NULL;
        done += !here;
        if (at && here && at != here)
            return barrier_fail(m, at, here);
        at = here ? here : at;
    }
    *ended = !at;
    return !at || !done || m->launch->ended_arrive || barrier_fail(m, at, NULL);
}

static bool run_group(struct machine *m)
{
    const uint32_t threads = m->group_size[0] * m->group_size[1] * m->group_size[2];
    m->simdgroups = (uint32_t)divide_up(threads, LANES);
    memset(m->threadgroup, IR_POISON_BYTE, m->program->threadgroup.bytes);
    for (uint32_t i = 0; i < m->simdgroups; i++)
        start_simdgroup(m, &m->simdgroup[i], threads);
    for (bool ended = false; !ended;) {
        for (uint32_t i = 0; i < m->simdgroups; i++)
            if (!run_simdgroup(m, &m->simdgroup[i]))
                return false;
        if (!meet(m, &ended))
            return false;
        for (uint32_t i = 0; i < m->simdgroups && !ended; i++)
            release(&m->simdgroup[i]);
    }
    return true;
}

static bool run_grid(struct machine *m)
{
    const uint32_t *const grid = m->launch->grid, *const group = m->launch->group;
    for (m->group[2] = 0; m->group[2] < m->group_count[2]; m->group[2]++)
        for (m->group[1] = 0; m->group[1] < m->group_count[1]; m->group[1]++)
            for (m->group[0] = 0; m->group[0] < m->group_count[0]; m->group[0]++) {
                for (unsigned i = 0; i < 3; i++) {
                    const uint32_t left = grid[i] - m->group[i] * group[i];
                    m->group_size[i] = left < group[i] ? left : group[i];
                }
                if (!run_group(m))
                    return false;
            }
    return true;
}

/* ---- a launch ---- */

static bool machine_memory(struct machine *m)
{
    const struct program *const p = m->program;
    m->threadgroup = malloc(p->threadgroup.bytes + 8);
    bool enough = m->threadgroup != NULL;
    for (uint32_t i = 0; i < m->simdgroups && enough; i++) {
        struct simdgroup *const s = &m->simdgroup[i];
        s->number = i;
        s->slot = malloc(p->slots * sizeof *s->slot);
        s->private = malloc(p->private.bytes * LANES + 8);
        enough = s->slot && s->private;
    }
    return enough || interpret_fail(m->error, 0, "out of memory for %u simdgroups of %u values", (unsigned)m->simdgroups,
                                    (unsigned)p->slots);
}

static bool run_launch(struct machine *m)
{
    uint64_t threads = 1;
    for (unsigned i = 0; i < 3; i++) {
        if (!m->launch->group[i])
            return interpret_fail(m->error, 0, "a threadgroup of no threads");
        threads *= m->launch->group[i];
        m->group_count[i] = (uint32_t)divide_up(m->launch->grid[i], m->launch->group[i]);
        if (threads > GROUP_THREADS_MAX)
            return interpret_fail(m->error, 0, "a threadgroup has more than %u threads", GROUP_THREADS_MAX);
    }
    m->simdgroups = (uint32_t)divide_up(threads, LANES);
    m->simdgroup = calloc(m->simdgroups, sizeof *m->simdgroup);
    if (!m->simdgroup)
        return interpret_fail(m->error, 0, "out of memory");
    const uint32_t made = m->simdgroups;
    const bool ran = machine_memory(m) && run_grid(m);
    for (uint32_t i = 0; i < made; i++) {
        free(m->simdgroup[i].slot);
        free(m->simdgroup[i].private);
    }
    free(m->simdgroup);
    free(m->threadgroup);
    return ran;
}

bool ir_interpret(const struct ir_function *kernel, const struct ir_launch *launch, struct isa_error *error)
{
    struct isa_error unwanted;
    struct program program = {.steps = 0};
    struct machine machine = {.program = &program, .launch = launch, .error = error ? error : &unwanted};
    const bool ran = program_decode(&program, kernel, launch, machine.error) && run_launch(&machine);
    if (launch->counts)
        *launch->counts = machine.counts;
    program_free(&program);
    return ran;
}
