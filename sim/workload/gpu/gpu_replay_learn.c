/* Learning how threadgroups of a launch are alike. */
#include "sim/workload/gpu/gpu_replay_internal.h"

#include "units/mem/cache.h"

#include <stdlib.h>
#include <string.h>

/* Most that is remembered of a launch: records and lines of all simdgroups of a threadgroup; some 40 MiB of host memory. */
#define RECORDS_MAX (UINT32_C(1) << 20)
#define LINES_MAX   (UINT32_C(1) << 20)
/* Threadgroups amid the launch that are checked. */
#define CHECKED 5

/* Threadgroups at work: one that was executed and its traces. */
struct learner {
    struct gpu_replay *replay;
    struct gpu_group *group;
    struct gpu_trace trace[GPU_SIMDGROUPS_MAX];
    unsigned simdgroups;
    uint64_t started;
    bool no_memory;
};

static void forget_traces(struct learner *l)
{
    for (unsigned i = 0; i < GPU_SIMDGROUPS_MAX; i++)
        gpu_trace_clear(&l->trace[i]);
}

/* Executes a threadgroup; false also on a fault, which is left to whoever executes the launch. Each on another core, so that one
 * whose accesses depend on its core is found out. */
static bool execute(struct learner *l, const struct gpu_replay_place *place)
{
    const uint64_t number = gpu_replay_number(&l->replay->axes, place);
    if (number >= l->replay->setup->group_count)
        return false;
    forget_traces(l);
    gpu_setup_start(l->replay->setup, l->group, number, (uint32_t)(l->started++ % 2));
    l->simdgroups = gpu_group_simdgroups(l->group);
    struct unit_fault fault = {0};
    const bool done = gpu_group_finish(l->group, l->trace, &fault);
    for (unsigned i = 0; i < l->simdgroups; i++)
        l->no_memory = l->no_memory || l->trace[i].failed;
    return done && !l->no_memory;
}

/* ---- what is learned ---- */

static void count_records(struct gpu_replay *r, const struct gpu_replay_simdgroup *s)
{
    r->instructions += s->records;
    for (uint32_t i = 0; i < s->records; i++) {
        r->active_lanes += s->record[i].active_lanes;
        r->issues[s->record[i].instruction]++;
    }
}

/* What an entry of a record does to the caches. */
static struct gpu_replay_line line_of(const struct gpu_replay *r, const struct gpu_trace_record *record, uint32_t number,
                                      const struct gpu_trace_line *line)
{
    const struct agx_effect *effect = gpu_program_effect(r->setup->program, record->instruction);
    const enum gpu_touch_act act = gpu_touch_act(effect);
    const struct gpu_trace_place place = gpu_touch_place(act, effect, record, line);
    return (struct gpu_replay_line){.line = *line,
                                    .record = number,
                                    .act = (uint8_t)act,
                                    .from = (uint8_t)(place.address - line->address),
                                    .bytes = (uint8_t)place.bytes};
}

static bool is_barrier(const struct gpu_replay *r, const struct gpu_trace_record *record)
{
    return gpu_program_effect(r->setup->program, record->instruction)->unit_class == AGX_CLASS_BARRIER;
}

static bool keep_barriers(const struct gpu_replay *r, struct gpu_replay_simdgroup *s)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->records; i++)
        count += is_barrier(r, &s->record[i]);
    s->barrier = malloc((count + 1) * sizeof *s->barrier);
    if (!s->barrier)
        return false;
    s->barrier[count] = UINT32_MAX;
    for (uint32_t i = s->records; i-- > 0;)
        if (is_barrier(r, &s->record[i]))
            s->barrier[--count] = i;
    return true;
}

static bool keep_simdgroup(struct gpu_replay *r, struct gpu_replay_simdgroup *s, const struct gpu_trace *trace)
{
    const struct gpu_trace_line *line = trace->line;
    s->records = (uint32_t)trace->written;
    s->lines = (uint32_t)trace->lines_written;
    s->record = malloc((s->records + 1) * sizeof *s->record);
    s->line = malloc((s->lines + 1) * sizeof *s->line);
    if (!s->record || !s->line)
        return false;
    memcpy(s->record, trace->record, s->records * sizeof *s->record);
    for (uint32_t i = 0, at = 0; i < s->records; i++)
        for (unsigned k = 0; k < s->record[i].lines; k++)
            s->line[at++] = line_of(r, &s->record[i], i, line++);
    count_records(r, s);
    return keep_barriers(r, s);
}

static bool fits(const struct learner *l)
{
    uint64_t records = 0, lines = 0;
    for (unsigned i = 0; i < l->simdgroups; i++) {
        records += l->trace[i].written;
        lines += l->trace[i].lines_written;
    }
    return records > 0 && records <= RECORDS_MAX && lines <= LINES_MAX;
}

/* Remembers what was executed. False when that is too much. */
static bool keep(struct learner *l)
{
    struct gpu_replay *r = l->replay;
    r->simdgroups = l->simdgroups;
    if (!fits(l))
        return false;
    for (unsigned i = 0; i < l->simdgroups; i++)
        if (!keep_simdgroup(r, &r->simdgroup[i], &l->trace[i])) {
            l->no_memory = true;
            return false;
        }
    return true;
}

/* ---- comparing ---- */

/* Tells whether what was executed has the same instructions, with as many lines each. */
static bool same_records(const struct learner *l)
{
    const struct gpu_replay *r = l->replay;
    bool same = l->simdgroups == r->simdgroups;
    for (unsigned i = 0; same && i < r->simdgroups; i++) {
        const struct gpu_replay_simdgroup *s = &r->simdgroup[i];
        same = l->trace[i].written == s->records && l->trace[i].lines_written == s->lines &&
               memcmp(l->trace[i].record, s->record, s->records * sizeof *s->record) == 0;
        for (uint32_t k = 0; same && k < s->lines; k++)
            same = l->trace[i].line[k].bytes == s->line[k].line.bytes;
    }
    return same;
}

/* Executes a threadgroup and tells whether playing it gives the same. */
static bool plays(struct learner *l, const struct gpu_replay_place *place)
{
    const struct gpu_replay *r = l->replay;
    int64_t offset[GPU_REPLAY_MOVES];
    if (!execute(l, place) || !same_records(l))
        return false;
    gpu_replay_offsets(r, place, offset);
    for (unsigned i = 0; i < r->simdgroups; i++)
        for (uint32_t k = 0; k < r->simdgroup[i].lines; k++) {
            const struct gpu_replay_line *line = &r->simdgroup[i].line[k];
            if ((uint64_t)l->trace[i].line[k].address != (uint64_t)line->line.address + (uint64_t)offset[line->move])
                return false;
        }
    return true;
}

/* ---- how lines move ---- */

/* The way of moving that is one of those known so far but moves by so much along an axis; it is added when it is new. False when
 * there are too many. */
static bool find_move(struct gpu_replay *r, uint8_t *move, unsigned axis, int64_t step)
{
    int64_t wanted[GPU_REPLAY_AXES];
    memcpy(wanted, r->move[*move], sizeof wanted);
    wanted[axis] = step;
    for (unsigned i = 0; i < r->moves; i++)
        if (memcmp(r->move[i], wanted, sizeof wanted) == 0) {
            *move = (uint8_t)i;
            return true;
        }
    if (r->moves == GPU_REPLAY_MOVES)
        return false;
    memcpy(r->move[r->moves], wanted, sizeof wanted);
    *move = (uint8_t)r->moves++;
    return true;
}

/* Learns from a neighbour how lines move along an axis. */
static bool learn_axis(struct learner *l, unsigned axis)
{
    struct gpu_replay *r = l->replay;
    struct gpu_replay_place place = r->base;
    const int64_t away = place.at[axis] > 0 ? -1 : 1;
    if (r->axes.extent[axis] == 1)
        return true;
    place.at[axis] += away;
    if (!execute(l, &place) || !same_records(l))
        return false;
    for (unsigned i = 0; i < r->simdgroups; i++)
        for (uint32_t k = 0; k < r->simdgroup[i].lines; k++) {
            struct gpu_replay_line *line = &r->simdgroup[i].line[k];
            const int64_t moved = (int64_t)l->trace[i].line[k].address - (int64_t)line->line.address;
            if (!find_move(r, &line->move, axis, moved * away))
                return false;
        }
    return true;
}

/* ---- where it holds ---- */

/* Along an axis, the outermost threadgroup on a side that can be played: the last one, or where the edge is ragged the one before
 * it. */
static bool find_edge(struct learner *l, unsigned axis, int64_t outermost, int64_t before, int64_t *edge)
{
    const int64_t tried[] = {outermost, before};
    struct gpu_replay_place place = l->replay->base;
    for (unsigned i = 0; i < 2; i++) {
        place.at[axis] = *edge = tried[i];
        if (place.at[axis] == l->replay->base.at[axis] || plays(l, &place))
            return true;
    }
    return false;
}

static bool find_edges(struct learner *l)
{
    struct gpu_replay *r = l->replay;
    for (unsigned axis = 0; axis < r->axes.count; axis++) {
        const int64_t last = (int64_t)r->axes.extent[axis] - 1;
        if (!find_edge(l, axis, 0, last > 0 ? 1 : 0, &r->first.at[axis]) ||
            !find_edge(l, axis, last, last > 0 ? last - 1 : 0, &r->last.at[axis]))
            return false;
    }
    return true;
}

/* The corners that are farthest from one another, and some places amid the launch. */
static bool check(struct learner *l)
{
    const struct gpu_replay *r = l->replay;
    bool ok = plays(l, &r->first) && plays(l, &r->last);
    for (unsigned i = 0; ok && i < CHECKED; i++) {
        struct gpu_replay_place place = r->first;
        for (unsigned axis = 0; axis < r->axes.count; axis++)
            place.at[axis] +=
                (int64_t)(mem_page_hash(GPU_REPLAY_AXES * i + axis + 1) % (uint64_t)(r->last.at[axis] - r->first.at[axis] + 1));
        ok = plays(l, &place);
    }
    return ok;
}

static void forget(struct gpu_replay *r)
{
    for (unsigned i = 0; i < GPU_SIMDGROUPS_MAX; i++) {
        free(r->simdgroup[i].record);
        free(r->simdgroup[i].line);
        free(r->simdgroup[i].barrier);
        r->simdgroup[i] = (struct gpu_replay_simdgroup){.records = 0};
    }
    memset(r->issues, 0, gpu_program_count(r->setup->program) * sizeof *r->issues);
    memset(r->move, 0, sizeof r->move);
    r->instructions = r->active_lanes = 0;
}

/* Learns along these axes. */
static bool learn_along(struct learner *l, const struct gpu_replay_axes *axes)
{
    struct gpu_replay *r = l->replay;
    forget(r);
    r->axes = *axes;
    for (unsigned axis = 0; axis < axes->count; axis++)
        r->base.at[axis] = (int64_t)(axes->extent[axis] / 2);
    r->moves = 1; /* not at all */
    bool ok = execute(l, &r->base) && keep(l);
    for (unsigned axis = 0; ok && axis < axes->count; axis++)
        ok = learn_axis(l, axis);
    return ok && find_edges(l) && check(l);
}

static bool learn(struct learner *l)
{
    const struct gpu_setup *setup = l->replay->setup;
    struct gpu_replay_axes axes = gpu_replay_axes_of_grid(setup);
    if (learn_along(l, &axes))
        return true;
    l->no_memory = l->no_memory || !gpu_replay_find_axes(setup, l->group, &axes);
    return !l->no_memory && axes.count > 0 && learn_along(l, &axes);
}

static bool open_learner(struct learner *l, const struct gpu_setup *setup)
{
    l->group = gpu_setup_steering_group(setup);
    l->replay = calloc(1, sizeof *l->replay);
    if (l->replay) {
        l->replay->setup = setup;
        l->replay->issues = calloc((size_t)gpu_program_count(setup->program) + 1, sizeof *l->replay->issues);
    }
    return l->group && l->replay && l->replay->issues;
}

bool gpu_replay_learn(const struct gpu_setup *setup, struct gpu_replay **replay)
{
    struct learner l = {.started = 0};
    bool learned = false;
    *replay = NULL;
    if (gpu_program_steered_by_memory(setup->program))
        return true;
    for (unsigned i = 0; i < GPU_SIMDGROUPS_MAX; i++)
        gpu_trace_init(&l.trace[i]);
    l.no_memory = !open_learner(&l, setup);
    learned = !l.no_memory && learn(&l);
    for (unsigned i = 0; i < GPU_SIMDGROUPS_MAX; i++)
        gpu_trace_release(&l.trace[i]);
    gpu_group_free(l.group);
    if (learned)
        *replay = l.replay;
    else
        gpu_replay_free(l.replay);
    return !l.no_memory;
}

void gpu_replay_free(struct gpu_replay *r)
{
    if (!r)
        return;
    if (r->issues)
        forget(r);
    free(r->issues);
    free(r);
}
