/* Playing threadgroups. */
#include "sim/workload/gpu/gpu_replay_internal.h"

#include <math.h>
#include <stdlib.h>

/* Lines that the host is told of before any of them is handed on. */
#define TOLD 32

struct gpu_replay_place gpu_replay_place(const struct gpu_replay_axes *axes, uint64_t group)
{
    struct gpu_replay_place place = {.at = {0}};
    for (unsigned i = 0; i < axes->count; i++) {
        const bool last = i + 1 == axes->count;
        place.at[i] = (int64_t)(last ? group : group % axes->extent[i]);
        group /= axes->extent[i];
    }
    return place;
}

uint64_t gpu_replay_number(const struct gpu_replay_axes *axes, const struct gpu_replay_place *place)
{
    uint64_t number = 0;
    for (unsigned i = axes->count; i-- > 0;)
        number = number * axes->extent[i] + (uint64_t)place->at[i];
    return number;
}

bool gpu_replay_has(const struct gpu_replay *r, uint64_t group)
{
    const struct gpu_replay_place place = gpu_replay_place(&r->axes, group);
    for (unsigned i = 0; i < r->axes.count; i++)
        if (place.at[i] < r->first.at[i] || place.at[i] > r->last.at[i])
            return false;
    return true;
}

unsigned gpu_replay_simdgroups(const struct gpu_replay *r)
{
    return r->simdgroups;
}

uint64_t gpu_replay_instructions(const struct gpu_replay *r)
{
    return r->instructions;
}

void gpu_replay_add_totals(const struct gpu_replay *r, uint64_t instructions, struct gpu_totals *totals)
{
    const double groups = (double)instructions / (double)r->instructions;
    totals->instructions += instructions;
    totals->active_lanes += (uint64_t)llround(groups * (double)r->active_lanes);
    double rest = 0;
    for (uint32_t i = 0; i < gpu_program_count(r->setup->program); i++)
        totals->issues[i] += gpu_totals_scaled(r->issues[i], groups, &rest);
}

void gpu_replay_offsets(const struct gpu_replay *r, const struct gpu_replay_place *place, int64_t offset[GPU_REPLAY_MOVES])
{
    for (unsigned i = 0; i < r->moves; i++) {
        offset[i] = 0;
        for (unsigned axis = 0; axis < r->axes.count; axis++)
            offset[i] += r->move[i][axis] * (place->at[axis] - r->base.at[axis]);
    }
}

void gpu_played_start(const struct gpu_replay *r, struct gpu_played *p, uint64_t group)
{
    const struct gpu_replay_place place = gpu_replay_place(&r->axes, group);
    gpu_replay_offsets(r, &place, p->offset);
    p->arrived = p->stopped = p->openings = 0;
    for (unsigned i = 0; i < r->simdgroups; i++) {
        p->at[i] = p->line[i] = p->barrier[i] = 0;
        p->waits[i] = false;
    }
}

double gpu_played_done(const struct gpu_replay *r, const struct gpu_played *p)
{
    double sum = 0;
    for (unsigned i = 0; i < r->simdgroups; i++)
        sum += p->at[i];
    return sum / r->simdgroups;
}

/* ---- going on ---- */

static void open_barrier(struct gpu_played *p)
{
    p->arrived = 0;
    p->openings++;
}

/* Goes up to the next barrier, or to instruction `end` before it. */
static void go_on(const struct gpu_replay *r, struct gpu_played *p, unsigned simdgroup, uint32_t end)
{
    const struct gpu_replay_simdgroup *s = &r->simdgroup[simdgroup];
    const uint32_t barrier = s->barrier[p->barrier[simdgroup]];
    if (barrier >= end) {
        p->at[simdgroup] = end;
        return;
    }
    p->at[simdgroup] = barrier + 1;
    p->barrier[simdgroup]++;
    if (++p->arrived + p->stopped == r->simdgroups) {
        open_barrier(p);
        return;
    }
    p->waits[simdgroup] = true;
    p->seen[simdgroup] = p->openings;
}

/* Goes on by at most so many instructions, as gpu_group_run does. */
static enum gpu_step advance(const struct gpu_replay *r, struct gpu_played *p, unsigned simdgroup, uint64_t limit)
{
    const uint32_t records = r->simdgroup[simdgroup].records, at = p->at[simdgroup];
    const uint32_t end = limit < records - at ? at + (uint32_t)limit : records;
    if (at == records)
        return GPU_STEP_DONE;
    p->waits[simdgroup] = p->waits[simdgroup] && p->seen[simdgroup] == p->openings;
    while (p->at[simdgroup] < end && !p->waits[simdgroup])
        go_on(r, p, simdgroup, end);
    if (p->at[simdgroup] < records)
        return p->waits[simdgroup] ? GPU_STEP_BARRIER : GPU_STEP_LIMIT;
    p->stopped++;
    if (p->arrived > 0 && p->arrived + p->stopped == r->simdgroups)
        open_barrier(p);
    return GPU_STEP_DONE;
}

/* ---- what is accessed on the way ---- */

/* The first line from `from` on that belongs to an instruction from `record` on. */
static uint32_t first_line(const struct gpu_replay_simdgroup *s, uint32_t from, uint32_t record)
{
    uint32_t low = from, high = s->lines, step = 1;
    while (low + step < high && s->line[low + step].record < record) { /* it is near */
        low += step;
        step *= 2;
    }
    high = low + step < high ? low + step : high;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (s->line[middle].record < record)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void hand_on(const struct gpu_replay_line *line, const struct gpu_replay_line *end, const int64_t offset[GPU_REPLAY_MOVES],
                    gpu_touch_line *take, void *context)
{
    for (; line < end; line++) {
        const struct gpu_trace_place place = {(uint64_t)line->line.address + line->from + (uint64_t)offset[line->move],
                                              line->bytes};
        gpu_touch_hand_on((enum gpu_touch_act)line->act, place, take, context);
    }
}

/* Hands on the lines from one to another, some at a time, so that the host fetches what it needs for many of them at once. It is
 * not told of them again: with so little time between, it would wait for what it fetches (gemm on 76 cores: a tenth slower). */
static void touch_lines(const struct gpu_replay_line *line, const struct gpu_replay_line *end,
                        const int64_t offset[GPU_REPLAY_MOVES], gpu_touch_expect *expect, gpu_touch_line *take, void *context)
{
    while (line < end) {
        const struct gpu_replay_line *const until = end - line > TOLD ? line + TOLD : end;
        for (const struct gpu_replay_line *l = line; expect && l < until; l++)
            expect(context, (uint64_t)l->line.address + l->from + (uint64_t)offset[l->move]);
        hand_on(line, until, offset, take, context);
        line = until;
    }
}

/* Goes on with one simdgroup for a turn. Returns the instructions. */
static uint64_t touch_turn(const struct gpu_replay *r, struct gpu_played *p, unsigned simdgroup, uint64_t end,
                           gpu_touch_expect *expect, gpu_touch_line *take, void *context)
{
    const struct gpu_replay_simdgroup *s = &r->simdgroup[simdgroup];
    const uint32_t at = p->at[simdgroup], from = p->line[simdgroup];
    const uint64_t left = at < end ? end - at : 0;
    if (left == 0)
        return 0;
    advance(r, p, simdgroup, take && left > GPU_TOUCH_TURN ? GPU_TOUCH_TURN : left);
    p->line[simdgroup] = first_line(s, from, p->at[simdgroup]);
    if (take)
        touch_lines(&s->line[from], &s->line[p->line[simdgroup]], p->offset, expect, take, context);
    return p->at[simdgroup] - at;
}

uint64_t gpu_played_touch(const struct gpu_replay *r, struct gpu_played *p, uint64_t end, gpu_touch_expect *expect,
                          gpu_touch_line *take, void *context)
{
    uint64_t played = 0, before;
    do {
        before = played;
        for (unsigned i = 0; i < r->simdgroups; i++)
            played += touch_turn(r, p, i, end, expect, take, context);
    } while (played > before);
    return played;
}

/* ---- traces ---- */

/* Puts an instruction of a simdgroup into a trace, and its lines, the first of which is `line`. Returns the line behind them;
 * NULL when memory ran out. */
static const struct gpu_replay_line *put(const struct gpu_trace_record *record, const struct gpu_replay_line *line,
                                         const int64_t offset[GPU_REPLAY_MOVES], struct gpu_trace *trace)
{
    if ((trace->written == trace->room || trace->lines_written + record->lines > trace->lines_room) &&
        !gpu_trace_grow(trace, record->lines))
        return NULL;
    trace->record[trace->written++] = *record;
    for (unsigned i = 0; i < record->lines; i++, line++) {
        struct gpu_trace_line moved = line->line;
        moved.address = ((uint64_t)moved.address + (uint64_t)offset[line->move]) & ((UINT64_C(1) << 56) - 1);
        trace->line[trace->lines_written++] = moved;
    }
    return line;
}

enum gpu_step gpu_played_run(const struct gpu_replay *r, struct gpu_played *p, unsigned simdgroup, uint64_t limit,
                             struct gpu_trace *trace)
{
    const struct gpu_replay_simdgroup *s = &r->simdgroup[simdgroup];
    const uint32_t from = p->at[simdgroup];
    const enum gpu_step step = advance(r, p, simdgroup, limit);
    const struct gpu_replay_line *line = &s->line[p->line[simdgroup]];
    p->line[simdgroup] = first_line(s, p->line[simdgroup], p->at[simdgroup]);
    for (uint32_t i = from; trace && line && i < p->at[simdgroup]; i++)
        line = put(&s->record[i], line, p->offset, trace);
    return step;
}
