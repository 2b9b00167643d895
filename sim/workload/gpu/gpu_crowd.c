#include "sim/workload/gpu/gpu_crowd.h"

#include "sim/workload/gpu/gpu_touch.h"
#include "units/mem/cache.h"

#include <stdlib.h>
#include <string.h>

/* A threadgroup that is farther than it is to be, but by no more instructions than that, stays where it is. */
#define TOO_FAR 1024

/* Lines of a turn that are remembered: a power of two, more than any turn brings in; of two that want the same place, the latter
 * stays. */
#define COMING ((size_t)1 << 14)

/* The part of the SLC's lines that count as young when they have been loaded. */
#define YOUNG 0.25

/* A line that was loaded in some turn. */
struct coming {
    uint64_t line;
    uint32_t turn;
    uint8_t halves; /* that were asked for, of those that are told apart */
    uint8_t from;   /* enum mem_level: the farthest place that any of it came from */
};

struct member {
    struct gpu_group *group; /* executes; created at first use */
    uint64_t number;
    bool begun, plays; /* plays: `played` is what is under way, not `group` */
    struct gpu_played played;
};

struct gpu_crowd {
    const struct gpu_setup *setup;
    struct mem_port *const *port;
    unsigned slots, per_core;
    struct member *member;
    const struct gpu_group *first; /* that was created: others share with it; NULL = none yet */
    struct gpu_touches *touches;
    const struct gpu_replay *replay; /* NULL = all threadgroups are executed */
    struct gpu_crowd_counts counts;
    struct gpu_fetched *fetched; /* by core */
    struct coming *coming;
    uint32_t turn;
    enum gpu_crowd_reach reach; /* of the present turn */
    /* For the SLC alone: lines that were loaded a short while ago, as numbers + 1, and how many of its lines that is; a power of
     * two, or 0 = nothing is remembered. */
    uint64_t *young;
    size_t youngs, loaded;
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
    free(c->young);
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

void gpu_crowd_set_replay(struct gpu_crowd *c, const struct gpu_replay *replay)
{
    c->replay = replay;
}

bool gpu_crowd_start(struct gpu_crowd *c, unsigned slot, uint64_t group)
{
    struct member *m = &c->member[slot];
    m->plays = c->replay && gpu_replay_has(c->replay, group);
    m->number = group;
    m->begun = true;
    if (m->plays) {
        gpu_played_start(c->replay, &m->played, group);
        return true;
    }
    if (!m->group)
        m->group = create_group(c);
    if (m->group)
        gpu_setup_start(c->setup, m->group, group, slot / c->per_core);
    m->begun = m->group != NULL;
    return m->begun;
}

bool gpu_crowd_holds(const struct gpu_crowd *c, unsigned slot, uint64_t *number)
{
    *number = c->member[slot].number;
    return c->member[slot].begun;
}

struct gpu_group *gpu_crowd_group(const struct gpu_crowd *c, unsigned slot)
{
    return c->member[slot].plays ? NULL : c->member[slot].group;
}

unsigned gpu_crowd_simdgroups(const struct gpu_crowd *c, unsigned slot)
{
    const struct member *m = &c->member[slot];
    return m->plays ? gpu_replay_simdgroups(c->replay) : gpu_group_simdgroups(m->group);
}

double gpu_crowd_done(const struct gpu_crowd *c, unsigned slot)
{
    const struct member *m = &c->member[slot];
    if (m->plays)
        return gpu_played_done(c->replay, &m->played);
    const unsigned count = m->group ? gpu_group_simdgroups(m->group) : 0;
    double sum = 0;
    for (unsigned i = 0; i < count; i++)
        sum += (double)gpu_group_executed(m->group, i);
    return count ? sum / count : 0;
}

enum gpu_step gpu_crowd_run(struct gpu_crowd *c, unsigned slot, unsigned simdgroup, uint64_t limit, struct gpu_trace *trace,
                            struct unit_fault *fault)
{
    struct member *m = &c->member[slot];
    if (!m->plays)
        return gpu_group_run(m->group, simdgroup, limit, trace, fault);
    const uint32_t before = m->played.at[simdgroup];
    const enum gpu_step step = gpu_played_run(c->replay, &m->played, simdgroup, limit, trace);
    c->counts.played += m->played.at[simdgroup] - before;
    return step;
}

/* ---- moving ---- */

struct move {
    struct gpu_crowd *crowd;
    struct mem_port *port;
    unsigned core;
};

static struct coming *coming_of(const struct gpu_crowd *c, uint64_t address)
{
    return &c->coming[address / MEM_LINE_BYTES % COMING];
}

static uint8_t halves_of(uint64_t address, uint32_t bytes)
{
    const uint64_t first = address % MEM_LINE_BYTES / MEM_HALF_BYTES,
                   last = (address + bytes - 1) % MEM_LINE_BYTES / MEM_HALF_BYTES;
    return (uint8_t)(1u << first | 1u << last);
}

/* Tells whether an access was made in this turn already, by whomever: another one leaves L2 and SLC as they are. */
static bool again(const struct gpu_crowd *c, uint64_t address, uint32_t bytes)
{
    const struct coming *line = coming_of(c, address);
    return line->line == address / MEM_LINE_BYTES && line->turn == c->turn && !(halves_of(address, bytes) & ~line->halves);
}

/* Where a line comes from that is loaded: from beyond the L2 if anybody has brought it in from there in this turn. */
static enum mem_level comes_from(struct gpu_crowd *c, uint64_t address, uint32_t bytes, enum mem_level from)
{
    struct coming *line = coming_of(c, address);
    if (line->line != address / MEM_LINE_BYTES || line->turn != c->turn)
        *line = (struct coming){address / MEM_LINE_BYTES, c->turn, 0, MEM_L1};
    line->halves |= halves_of(address, bytes);
    line->from = from > line->from ? (uint8_t)from : line->from;
    return (enum mem_level)line->from;
}

/* Tells whether the SLC was told of the line a short while ago, and remembers it. */
static bool is_young(struct gpu_crowd *c, uint64_t line)
{
    uint64_t *place = &c->young[line & (c->youngs - 1)];
    const bool young = *place == line + 1;
    *place = line + 1;
    c->loaded += !young;
    return young;
}

static enum mem_level warm_line(const struct move *m, uint64_t address, uint32_t bytes, enum mem_access_kind kind)
{
    struct gpu_crowd *c = m->crowd;
    if (c->reach == GPU_REACH_ALL)
        return mem_port_warm(m->port, 0, address, bytes, kind);
    if (c->reach == GPU_REACH_SLC)
        return kind != MEM_ACCESS_STORE && c->youngs && is_young(c, address / MEM_LINE_BYTES)
                   ? MEM_L1
                   : mem_port_warm_side(m->port, 0, address, bytes, kind);
    return kind != MEM_ACCESS_STORE && again(c, address, bytes) ? MEM_L1 : mem_port_warm_shared(m->port, 0, address, bytes, kind);
}

static void touch_line(void *context, uint64_t address, uint32_t bytes, enum mem_access_kind kind)
{
    const struct move *m = context;
    const enum mem_level from = warm_line(m, address, bytes, kind);
    m->crowd->counts.touched++;
    m->crowd->counts.into_l2 += from >= MEM_SLC;
    m->crowd->counts.into_slc += from >= MEM_DRAM;
    if (kind == MEM_ACCESS_STORE || m->crowd->reach == GPU_REACH_SLC)
        return;
    const enum mem_level waits_for = comes_from(m->crowd, address, bytes, from);
    m->crowd->fetched[m->core].slc += waits_for == MEM_SLC;
    m->crowd->fetched[m->core].dram += waits_for >= MEM_DRAM;
}

/* The host is told of a line that will be accessed, unless it need not be looked at. */
static void expect_line(const void *context, uint64_t address)
{
    const struct move *m = context;
    const struct gpu_crowd *c = m->crowd;
    const uint64_t line = address / MEM_LINE_BYTES;
    if (c->reach == GPU_REACH_SLC && !(c->youngs && c->young[line & (c->youngs - 1)] == line + 1))
        mem_port_expect_side(m->port, address);
    else if (c->reach == GPU_REACH_ALL || (c->reach == GPU_REACH_L2 && !again(c, address, 1)))
        mem_port_expect(m->port, address);
}

bool gpu_crowd_move(struct gpu_crowd *c, unsigned slot, uint64_t group, double to, bool touch, struct unit_fault *fault)
{
    struct member *m = &c->member[slot];
    const unsigned core = slot / c->per_core;
    struct move move = {.crowd = c, .port = c->port ? c->port[core] : NULL, .core = core};
    gpu_touch_line *const take = touch && move.port ? touch_line : NULL;
    uint64_t end[GPU_SIMDGROUPS_MAX];
    if ((!m->begun || m->number != group || gpu_crowd_done(c, slot) > to + TOO_FAR) && !gpu_crowd_start(c, slot, group))
        return false;
    if (m->plays) {
        c->counts.played += gpu_played_touch(c->replay, &m->played, (uint64_t)to, move.port ? expect_line : NULL, take, &move);
        return true;
    }
    for (unsigned i = 0; i < GPU_SIMDGROUPS_MAX; i++)
        end[i] = (uint64_t)to;
    gpu_touches_towards(c->touches, move.port);
    return gpu_touches_run(c->touches, m->group, end, take, &move, fault);
}

bool gpu_crowd_settle(struct gpu_crowd *c, unsigned slot, struct unit_fault *fault)
{
    for (bool waits = c->member[slot].begun; waits;) {
        waits = false;
        for (unsigned i = 0; i < gpu_crowd_simdgroups(c, slot); i++) {
            const enum gpu_step step = gpu_crowd_run(c, slot, i, 1, NULL, fault);
            if (step == GPU_STEP_FAULT)
                return false;
            waits = waits || step == GPU_STEP_BARRIER;
        }
    }
    return true;
}

/* ---- counts ---- */

bool gpu_crowd_remember(struct gpu_crowd *c, double slc_lines)
{
    size_t youngs = 1;
    while (2.0 * (double)youngs <= YOUNG * slc_lines)
        youngs *= 2;
    free(c->young);
    c->young = calloc(youngs, sizeof *c->young);
    c->youngs = c->young ? youngs : 0;
    return c->young;
}

/* What is loaded all the time would grow old in the SLC if it were young for ever. */
void gpu_crowd_begin_turn(struct gpu_crowd *c, enum gpu_crowd_reach reach)
{
    c->turn++;
    if (c->youngs && c->loaded >= c->youngs) {
        memset(c->young, 0, c->youngs * sizeof *c->young);
        c->loaded = 0;
    }
    c->reach = reach;
}

struct gpu_fetched gpu_crowd_fetched(const struct gpu_crowd *c, unsigned core)
{
    return c->fetched[core];
}

struct gpu_crowd_counts gpu_crowd_counts(const struct gpu_crowd *c)
{
    struct gpu_crowd_counts counts = c->counts;
    counts.instructions += counts.played;
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
    if (c->counts.played)
        gpu_replay_add_totals(c->replay, c->counts.played, totals);
}
