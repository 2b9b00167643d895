#include "sim/workload/gpu/gpu_crowd.h"

#include "sim/workload/gpu/gpu_touch.h"

#include <stdlib.h>

/* Instructions that a simdgroup moves at a time: so few that its trace stays in the host's caches. */
#define TURN 1024

struct member {
    struct gpu_group *group; /* created at first use */
    uint64_t number;
};

struct gpu_crowd {
    const struct gpu_setup *setup;
    struct mem_port *const *port;
    unsigned slots, per_core;
    struct member *member;
    struct gpu_trace trace;
    struct gpu_touches *touches;
    struct gpu_crowd_counts counts;
};

struct gpu_crowd *gpu_crowd_create(const struct gpu_setup *setup, unsigned cores, unsigned slots, struct mem_port *const *port)
{
    struct gpu_crowd *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    *c = (struct gpu_crowd){.setup = setup, .port = port, .slots = cores * slots, .per_core = slots};
    c->member = calloc(c->slots ? c->slots : 1, sizeof *c->member);
    c->touches = gpu_touches_create(setup->program);
    gpu_trace_init(&c->trace);
    c->trace.lines_only = true;
    if (c->member && c->touches)
        return c;
    gpu_crowd_free(c);
    return NULL;
}

void gpu_crowd_free(struct gpu_crowd *c)
{
    if (!c)
        return;
    for (unsigned i = 0; c->member && i < c->slots; i++)
        gpu_group_free(c->member[i].group);
    gpu_trace_release(&c->trace);
    gpu_touches_free(c->touches);
    free(c->member);
    free(c);
}

struct gpu_group *gpu_crowd_start(struct gpu_crowd *c, unsigned slot, uint64_t group)
{
    const struct gpu_checks checks = {.steer = true, .instruction_limit = GPU_WATCHDOG_INSTRUCTIONS};
    struct member *m = &c->member[slot];
    uint32_t position[3];
    if (!m->group)
        m->group = gpu_group_create(&c->setup->launch, &checks);
    if (!m->group)
        return NULL;
    gpu_setup_position(c->setup, group, position);
    gpu_group_start(m->group, position, slot / c->per_core);
    m->number = group;
    return m->group;
}

struct gpu_group *gpu_crowd_group(const struct gpu_crowd *c, unsigned slot, uint64_t *number)
{
    *number = c->member[slot].number;
    return c->member[slot].group;
}

unsigned gpu_crowd_simdgroups(const struct gpu_crowd *c, unsigned slot)
{
    return c->member[slot].group ? gpu_group_simdgroups(c->member[slot].group) : 0;
}

double gpu_crowd_done(const struct gpu_crowd *c, unsigned slot)
{
    const unsigned count = gpu_crowd_simdgroups(c, slot);
    double sum = 0;
    for (unsigned i = 0; i < count; i++)
        sum += (double)gpu_group_executed(c->member[slot].group, i);
    return count ? sum / count : 0;
}

/* ---- moving ---- */

struct move {
    struct gpu_crowd *crowd;
    struct mem_port *port;
    double now_ns;
};

static void touch_line(void *context, uint64_t address, uint32_t bytes, enum mem_access_kind kind)
{
    const struct move *m = context;
    const enum mem_level from = mem_port_warm(m->port, m->now_ns, address, bytes, kind);
    m->crowd->counts.touched++;
    m->crowd->counts.into_slc += from >= MEM_DRAM;
}

/* Runs one simdgroup up to `end` instructions, a turn at most. *moved becomes true when it did anything. */
static bool run_turn(struct move *m, struct gpu_group *group, unsigned simdgroup, uint64_t end, bool touch, bool *moved,
                     struct unit_fault *fault)
{
    struct gpu_trace *trace = touch ? &m->crowd->trace : NULL;
    const uint64_t at = gpu_group_executed(group, simdgroup), left = at < end ? end - at : 0;
    if (left == 0)
        return true;
    const enum gpu_step step = gpu_group_run(group, simdgroup, touch && left > TURN ? TURN : left, trace, fault);
    if (step == GPU_STEP_FAULT || (trace && trace->failed))
        return false;
    *moved = *moved || gpu_group_executed(group, simdgroup) > at;
    if (trace) {
        gpu_touches_each(m->crowd->touches, trace, touch_line, m);
        gpu_trace_clear(trace);
    }
    return true;
}

bool gpu_crowd_move(struct gpu_crowd *c, unsigned slot, uint64_t group, double to, bool touch, double now_ns,
                    struct unit_fault *fault)
{
    const struct member *m = &c->member[slot];
    struct move move = {.crowd = c, .port = c->port ? c->port[slot / c->per_core] : NULL, .now_ns = now_ns};
    if ((!m->group || m->number != group || gpu_crowd_done(c, slot) > to + TURN) && !gpu_crowd_start(c, slot, group))
        return false;
    for (bool moved = true; moved;) {
        moved = false;
        for (unsigned i = 0; i < gpu_group_simdgroups(m->group); i++)
            if (!run_turn(&move, m->group, i, (uint64_t)to, touch && move.port, &moved, fault))
                return false;
    }
    return true;
}

bool gpu_crowd_settle(struct gpu_crowd *c, unsigned slot, struct unit_fault *fault)
{
    struct gpu_group *group = c->member[slot].group;
    for (bool waits = group != NULL; waits;) {
        waits = false;
        for (unsigned i = 0; i < gpu_group_simdgroups(group); i++) {
            const enum gpu_step step = gpu_group_run(group, i, 1, NULL, fault);
            if (step == GPU_STEP_FAULT)
                return false;
            waits = waits || step == GPU_STEP_BARRIER;
        }
    }
    return true;
}

/* ---- counts ---- */

struct gpu_crowd_counts gpu_crowd_counts(const struct gpu_crowd *c)
{
    struct gpu_crowd_counts counts = c->counts;
    for (unsigned i = 0; i < c->slots; i++)
        if (c->member[i].group)
            counts.instructions += gpu_group_counts(c->member[i].group).instructions;
    return counts;
}

void gpu_crowd_add_totals(const struct gpu_crowd *c, struct gpu_totals *totals)
{
    for (unsigned i = 0; i < c->slots; i++)
        if (c->member[i].group)
            gpu_totals_add(totals, c->member[i].group);
}
