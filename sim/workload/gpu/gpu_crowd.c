#include "sim/workload/gpu/gpu_crowd.h"

#include "sim/workload/gpu/gpu_touch.h"

#include <stdlib.h>

/* A threadgroup that is farther than it is to be, but by no more instructions than that, stays where it is. */
#define TOO_FAR 1024

/* Lines of a turn that are remembered: a power of two, more than any turn brings in; of two that want the same place, the latter
 * stays. */
#define COMING ((size_t)1 << 14)
/* Bits of a turn's number beside a line's. */
#define TURN_BITS 16

struct member {
    struct gpu_group *group; /* created at first use */
    uint64_t number;
};

struct gpu_crowd {
    const struct gpu_setup *setup;
    struct mem_port *const *port;
    unsigned slots, per_core;
    struct member *member;
    const struct gpu_group *first; /* that was created: others share with it; NULL = none yet */
    struct gpu_touches *touches;
    struct gpu_crowd_counts counts;
    struct gpu_fetched *fetched; /* by core */
    uint64_t
        *coming; /* lines that the present turn has brought in, each with the number of its turn and the place it came from */
    uint64_t turn;
};

struct gpu_crowd *gpu_crowd_create(const struct gpu_setup *setup, unsigned cores, unsigned slots, struct mem_port *const *port)
{
    struct gpu_crowd *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    *c = (struct gpu_crowd){.setup = setup, .port = port, .slots = cores * slots, .per_core = slots};
    c->member = calloc(c->slots ? c->slots : 1, sizeof *c->member);
    c->fetched = calloc(cores ? cores : 1, sizeof *c->fetched);
    c->coming = calloc(COMING, sizeof *c->coming);
    c->touches = gpu_touches_create(setup->program);
    if (c->member && c->fetched && c->coming && c->touches)
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
    gpu_touches_free(c->touches);
    free(c->fetched);
    free(c->coming);
    free(c->member);
    free(c);
}

static struct gpu_group *create_group(struct gpu_crowd *c)
{
    if (c->first)
        return gpu_group_create_beside(c->first);
    struct gpu_group *group = gpu_setup_steering_group(c->setup);
    c->first = group;
    return group;
}

struct gpu_group *gpu_crowd_start(struct gpu_crowd *c, unsigned slot, uint64_t group)
{
    struct member *m = &c->member[slot];
    if (!m->group)
        m->group = create_group(c);
    if (!m->group)
        return NULL;
    gpu_setup_start(c->setup, m->group, group, slot / c->per_core);
    m->number = group;
    return m->group;
}

struct gpu_group *gpu_crowd_group(const struct gpu_crowd *c, unsigned slot, uint64_t *number)
{
    *number = c->member[slot].number;
    return c->member[slot].group;
}

double gpu_crowd_done(const struct gpu_crowd *c, unsigned slot)
{
    const struct gpu_group *group = c->member[slot].group;
    const unsigned count = group ? gpu_group_simdgroups(group) : 0;
    double sum = 0;
    for (unsigned i = 0; i < count; i++)
        sum += (double)gpu_group_executed(group, i);
    return count ? sum / count : 0;
}

/* ---- moving ---- */

struct move {
    struct gpu_crowd *crowd;
    struct mem_port *port;
    unsigned core;
};

/* Where a line comes from that is accessed: from beyond the L2 if anybody has brought it in from there in this turn. */
static enum mem_level comes_from(struct gpu_crowd *c, uint64_t address, enum mem_level from)
{
    const uint64_t line = address / MEM_LINE_BYTES, turn = c->turn & ((1 << TURN_BITS) - 1);
    uint64_t *place = &c->coming[line % COMING];
    if (from >= MEM_SLC)
        *place = (line << TURN_BITS | turn) << 1 | (from >= MEM_DRAM);
    return *place >> 1 != (line << TURN_BITS | turn) ? from : *place & 1 ? MEM_DRAM : MEM_SLC;
}

static void touch_line(void *context, uint64_t address, uint32_t bytes, enum mem_access_kind kind)
{
    const struct move *m = context;
    const enum mem_level from = mem_port_warm(m->port, 0, address, bytes, kind);
    m->crowd->counts.touched++;
    m->crowd->counts.into_l2 += from >= MEM_SLC;
    m->crowd->counts.into_slc += from >= MEM_DRAM;
    if (kind == MEM_ACCESS_STORE)
        return;
    const enum mem_level waits_for = comes_from(m->crowd, address, from);
    m->crowd->fetched[m->core].slc += waits_for == MEM_SLC;
    m->crowd->fetched[m->core].dram += waits_for >= MEM_DRAM;
}

bool gpu_crowd_move(struct gpu_crowd *c, unsigned slot, uint64_t group, double to, bool touch, struct unit_fault *fault)
{
    const struct member *m = &c->member[slot];
    const unsigned core = slot / c->per_core;
    struct move move = {.crowd = c, .port = c->port ? c->port[core] : NULL, .core = core};
    uint64_t end[GPU_SIMDGROUPS_MAX];
    if ((!m->group || m->number != group || gpu_crowd_done(c, slot) > to + TOO_FAR) && !gpu_crowd_start(c, slot, group))
        return false;
    for (unsigned i = 0; i < GPU_SIMDGROUPS_MAX; i++)
        end[i] = (uint64_t)to;
    gpu_touches_towards(c->touches, move.port);
    return gpu_touches_run(c->touches, m->group, end, touch && move.port ? touch_line : NULL, &move, fault);
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

void gpu_crowd_begin_turn(struct gpu_crowd *c)
{
    c->turn++;
}

struct gpu_fetched gpu_crowd_fetched(const struct gpu_crowd *c, unsigned core)
{
    return c->fetched[core];
}

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
