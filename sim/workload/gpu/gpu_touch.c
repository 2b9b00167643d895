#include "sim/workload/gpu/gpu_touch.h"

#include <stdlib.h>

/* How many lines before it is handed on the host is told of a line, and told again. */
#define AHEAD 24
#define SOON  8

struct gpu_touches {
    const struct mem_port *port; /* where they go; NULL = not known */
    struct gpu_trace trace;
    const struct gpu_program *program;
};

enum gpu_touch_act gpu_touch_act(const struct agx_effect *effect)
{
    switch (effect->unit_class) {
    case AGX_CLASS_DEVICE_LOAD:
    case AGX_CLASS_STACK_LOAD: return GPU_TOUCH_LOAD;
    case AGX_CLASS_DEVICE_STORE:
    case AGX_CLASS_STACK_STORE: return GPU_TOUCH_STORE;
    case AGX_CLASS_DEVICE_ATOMIC: return GPU_TOUCH_ATOMIC;
    default: return GPU_TOUCH_NOTHING;
    }
}

struct gpu_touches *gpu_touches_create(const struct gpu_program *program)
{
    struct gpu_touches *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    gpu_trace_init(&t->trace);
    t->trace.lines_only = true;
    t->program = program;
    return t;
}

void gpu_touches_free(struct gpu_touches *touches)
{
    if (touches)
        gpu_trace_release(&touches->trace);
    free(touches);
}

struct gpu_trace_place gpu_touch_place(enum gpu_touch_act act, const struct agx_effect *effect,
                                       const struct gpu_trace_record *record, const struct gpu_trace_line *line)
{
    const uint32_t lane_bytes = (uint8_t)(effect->element_bytes * (effect->elements ? effect->elements : 1));
    if (act == GPU_TOUCH_STORE)
        return (struct gpu_trace_place){line->address, line->bytes};
    return gpu_trace_place(line, record->active_lanes * lane_bytes / record->lines);
}

static void touch_lines(const struct agx_effect *effect, const struct gpu_trace_record *record, const struct gpu_trace_line *line,
                        gpu_touch_line *take, void *context)
{
    const enum gpu_touch_act act = gpu_touch_act(effect);
    for (unsigned i = 0; i < record->lines; i++)
        gpu_touch_hand_on(act, gpu_touch_place(act, effect, record, &line[i]), take, context);
}

void gpu_touches_towards(struct gpu_touches *touches, const struct mem_port *port)
{
    touches->port = port;
}

/* Tells the host of lines before so many. */
static void expect(struct gpu_touches *t, size_t end)
{
    struct gpu_trace *trace = &t->trace;
    const size_t last = end < trace->lines_written ? end : trace->lines_written;
    for (; t->port && trace->lines_expected < last; trace->lines_expected++) {
        mem_port_expect(t->port, trace->line[trace->lines_expected].address);
        if (trace->lines_expected >= AHEAD - SOON)
            mem_port_expect_soon(t->port, trace->line[trace->lines_expected - (AHEAD - SOON)].address);
    }
}

/* Hands on what the trace has, and clears it. */
static void hand_on(struct gpu_touches *t, gpu_touch_line *take, void *context)
{
    const struct gpu_trace_record *record = t->trace.record;
    const struct gpu_trace_line *line = t->trace.line;
    for (size_t i = 0; i < t->trace.written; i++) {
        expect(t, (size_t)(line - t->trace.line) + record[i].lines + AHEAD);
        if (record[i].lines)
            touch_lines(gpu_program_effect(t->program, record[i].instruction), &record[i], line, take, context);
        line += record[i].lines;
    }
    gpu_trace_clear(&t->trace);
}

/* ---- executing ---- */

/* Runs one simdgroup on for a turn. *moved becomes true when it did anything. */
static bool run_turn(struct gpu_touches *t, struct gpu_group *group, unsigned simdgroup, uint64_t end, bool touching, bool *moved,
                     struct unit_fault *fault)
{
    const uint64_t at = gpu_group_executed(group, simdgroup), left = at < end ? end - at : 0;
    if (left == 0)
        return true;
    const enum gpu_step step = gpu_group_run(group, simdgroup, touching && left > GPU_TOUCH_TURN ? GPU_TOUCH_TURN : left,
                                             touching ? &t->trace : NULL, fault);
    *moved = *moved || gpu_group_executed(group, simdgroup) > at;
    return step != GPU_STEP_FAULT && !t->trace.failed;
}

bool gpu_touches_run(struct gpu_touches *t, struct gpu_group *group, const uint64_t end[GPU_SIMDGROUPS_MAX], gpu_touch_line *take,
                     void *context, struct unit_fault *fault)
{
    for (bool moved = true; moved;) {
        moved = false;
        for (unsigned i = 0; i < gpu_group_simdgroups(group); i++) {
            if (!run_turn(t, group, i, end[i], take != NULL, &moved, fault))
                return false;
            if (take)
                hand_on(t, take, context);
        }
    }
    return true;
}
