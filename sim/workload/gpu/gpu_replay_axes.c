/* The axes along which threadgroups of a launch are alike: digits of their numbers. A program that takes threadgroups by strips,
 * blocks or in a grid of its own computes where it is from such digits, so that along each of them all addresses move by the same
 * distance until the digit begins anew. What a threadgroup accesses first, before any simdgroup waits for another one, tells
 * where it is.
 */
#include "sim/workload/gpu/gpu_replay_internal.h"

#include <stdlib.h>

/* Instructions of each simdgroup that tell where a threadgroup is. */
#define BEGINNING 512

/* What a threadgroup accesses first. */
struct beginning {
    struct gpu_trace trace;
    bool ok; /* it did not fault */
};

struct search {
    const struct gpu_setup *setup;
    struct gpu_group *group;
    struct beginning first, next,
        now;         /* of threadgroup 0, of the next one along the present axis, of the one that is asked for */
    uint64_t stride; /* the distance of neighbours along that axis */
    bool no_memory;
};

static void begin_group(struct search *s, struct beginning *b, uint64_t number)
{
    struct unit_fault unused = {0};
    gpu_trace_clear(&b->trace);
    gpu_setup_start(s->setup, s->group, number, 0);
    b->ok = true;
    for (unsigned i = 0; b->ok && i < gpu_group_simdgroups(s->group); i++)
        b->ok = gpu_group_run(s->group, i, BEGINNING, &b->trace, &unused) != GPU_STEP_FAULT;
    s->no_memory = s->no_memory || b->trace.failed;
}

/* Tells whether two execute the same and access as many lines. */
static bool alike(const struct beginning *a, const struct beginning *b)
{
    bool same = a->ok && b->ok && a->trace.written == b->trace.written && a->trace.lines_written == b->trace.lines_written;
    for (size_t i = 0; same && i < a->trace.written; i++)
        same = a->trace.record[i].instruction == b->trace.record[i].instruction &&
               a->trace.record[i].active_lanes == b->trace.record[i].active_lanes &&
               a->trace.record[i].lines == b->trace.record[i].lines;
    return same;
}

/* Tells whether a threadgroup lies on the straight line from the first one through the next one. */
static bool in_line(struct search *s, uint64_t steps)
{
    begin_group(s, &s->now, steps * s->stride);
    bool in = alike(&s->first, &s->now);
    for (size_t i = 0; in && i < s->first.trace.lines_written; i++) {
        const uint64_t from = s->first.trace.line[i].address, step = s->next.trace.line[i].address - from;
        in = ((s->now.trace.line[i].address - from - steps * step) & ((UINT64_C(1) << 56) - 1)) == 0;
    }
    return in;
}

/* How many values the digit with the present stride has, of at most so many: threadgroups are in line until it begins anew. One
 * that is not like the first is the last one along the axis, at a ragged edge. */
static uint64_t extent_of(struct search *s, uint64_t most)
{
    uint64_t in = 1, out = 2;
    while (out < most && in_line(s, out)) {
        in = out;
        out *= 2;
    }
    out = out < most ? out : most;
    while (out - in > 1) {
        const uint64_t middle = in + (out - in) / 2;
        if (in_line(s, middle))
            in = middle;
        else
            out = middle;
    }
    if (out == most)
        return most;
    begin_group(s, &s->now, out * s->stride);
    return alike(&s->first, &s->now) ? out : out + 1;
}

struct gpu_replay_axes gpu_replay_axes_of_grid(const struct gpu_setup *setup)
{
    return (struct gpu_replay_axes){3, {setup->groups[0], setup->groups[1], setup->groups[2]}};
}

/* Finds one digit after another. */
static void find_axes(struct search *s, struct gpu_replay_axes *axes)
{
    begin_group(s, &s->first, 0);
    for (s->stride = 1; axes->count < GPU_REPLAY_AXES;) {
        const uint64_t most = s->setup->group_count / s->stride; /* a last round in part is left out */
        if (most < 2)
            return;
        begin_group(s, &s->next, s->stride);
        if (!alike(&s->first, &s->next))
            break;
        const uint64_t extent = extent_of(s, most);
        axes->extent[axes->count++] = extent;
        if (extent == most)
            return;
        s->stride *= extent;
    }
    axes->count = 0;
}

bool gpu_replay_find_axes(const struct gpu_setup *setup, struct gpu_group *group, struct gpu_replay_axes *axes)
{
    struct search s = {.setup = setup, .group = group};
    *axes = (struct gpu_replay_axes){.count = 0};
    gpu_trace_init(&s.first.trace);
    gpu_trace_init(&s.next.trace);
    gpu_trace_init(&s.now.trace);
    find_axes(&s, axes);
    gpu_trace_release(&s.first.trace);
    gpu_trace_release(&s.next.trace);
    gpu_trace_release(&s.now.trace);
    return !s.no_memory;
}
