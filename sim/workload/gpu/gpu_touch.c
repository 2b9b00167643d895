#include "sim/workload/gpu/gpu_touch.h"

#include <stdlib.h>

/* Instructions that a simdgroup runs at a time when its accesses are handed on: so few that its trace stays in the host's caches
 * and simdgroups advance side by side. */
#define TURN 1024

/* What an instruction does to the caches. */
struct touch {
    uint8_t act; /* enum act */
    uint8_t lane_bytes;
};
enum act { NO_ACCESS, LOAD, STORE, ATOMIC };

/* How many lines before it is handed on the host is told of a line, and told again. */
#define AHEAD 24
#define SOON  8

struct gpu_touches {
    const struct mem_port *port; /* where they go; NULL = not known */
    struct gpu_trace trace;
    struct touch touch[1]; /* of each instruction; there is room for all */
};

static enum act act_of(const struct agx_effect *effect)
{
    switch (effect->unit_class) {
    case AGX_CLASS_DEVICE_LOAD:
    case AGX_CLASS_STACK_LOAD: return LOAD;
    case AGX_CLASS_DEVICE_STORE:
    case AGX_CLASS_STACK_STORE: return STORE;
    case AGX_CLASS_DEVICE_ATOMIC: return ATOMIC;
    default: return NO_ACCESS;
    }
}

struct gpu_touches *gpu_touches_create(const struct gpu_program *program)
{
    const uint32_t count = gpu_program_count(program);
    struct gpu_touches *t = calloc(1, sizeof *t + count * sizeof t->touch[0]);
    if (!t)
        return NULL;
    gpu_trace_init(&t->trace);
    t->trace.lines_only = true;
    for (uint32_t i = 0; i < count; i++) {
        const struct agx_effect *e = gpu_program_effect(program, i);
        t->touch[i] = (struct touch){(uint8_t)act_of(e), (uint8_t)(e->element_bytes * (e->elements ? e->elements : 1))};
    }
    return t;
}

void gpu_touches_free(struct gpu_touches *touches)
{
    if (touches)
        gpu_trace_release(&touches->trace);
    free(touches);
}

/* Bytes per line of a load or atomic, as the timing side counts them: what the lanes want, spread evenly over the lines. */
static uint32_t bytes_of_each(const struct gpu_trace_record *record, const struct touch *touch)
{
    return (uint32_t)record->active_lanes * touch->lane_bytes / record->lines;
}

static void touch_lines(const struct touch *touch, const struct gpu_trace_record *record, const struct gpu_trace_line *line,
                        gpu_touch_line *take, void *context)
{
    const uint32_t bytes = bytes_of_each(record, touch);
    for (unsigned i = 0; i < record->lines; i++) {
        if (touch->act == STORE) {
            take(context, line[i].address, line[i].bytes, MEM_ACCESS_STORE);
            continue;
        }
        const struct gpu_trace_place place = gpu_trace_place(&line[i], bytes);
        take(context, place.address, place.bytes, touch->act == LOAD ? MEM_ACCESS_LOAD : MEM_ACCESS_FETCH);
        if (touch->act == ATOMIC)
            take(context, place.address, place.bytes, MEM_ACCESS_STORE);
    }
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
        const struct touch *touch = &t->touch[record[i].instruction];
        expect(t, (size_t)(line - t->trace.line) + record[i].lines + AHEAD);
        if (record[i].lines && touch->act != NO_ACCESS)
            touch_lines(touch, &record[i], line, take, context);
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
    const enum gpu_step step =
        gpu_group_run(group, simdgroup, touching && left > TURN ? TURN : left, touching ? &t->trace : NULL, fault);
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
