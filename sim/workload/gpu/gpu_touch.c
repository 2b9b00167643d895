#include "sim/workload/gpu/gpu_touch.h"

#include <stdlib.h>

/* What an instruction does to the caches. */
struct touch {
    uint8_t act; /* enum act */
    uint8_t lane_bytes;
};
enum act { NO_ACCESS, LOAD, STORE, ATOMIC };

struct gpu_touches {
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
    for (uint32_t i = 0; t && i < count; i++) {
        const struct agx_effect *e = gpu_program_effect(program, i);
        t->touch[i] = (struct touch){(uint8_t)act_of(e), (uint8_t)(e->element_bytes * (e->elements ? e->elements : 1))};
    }
    return t;
}

void gpu_touches_free(struct gpu_touches *touches)
{
    free(touches);
}

/* Bytes per line of a load or atomic, as the timing side counts them: what the lanes want, spread evenly over the lines. */
static uint32_t bytes_of_each(const struct gpu_trace_record *record, const struct touch *touch)
{
    const uint32_t bytes = (uint32_t)record->active_lanes * touch->lane_bytes / record->lines;
    return bytes > GPU_LINE_BYTES ? GPU_LINE_BYTES : bytes ? bytes : 1;
}

static void touch_lines(const struct touch *touch, const struct gpu_trace_record *record, const struct gpu_trace_line *line,
                        gpu_touch_line *take, void *context)
{
    const uint32_t bytes = bytes_of_each(record, touch);
    for (unsigned i = 0; i < record->lines; i++) {
        if (touch->act == LOAD)
            take(context, line[i].address, bytes, MEM_ACCESS_LOAD);
        if (touch->act == ATOMIC)
            take(context, line[i].address, bytes, MEM_ACCESS_FETCH);
        if (touch->act != LOAD)
            take(context, line[i].address, touch->act == STORE ? line[i].bytes : bytes, MEM_ACCESS_STORE);
    }
}

void gpu_touches_each(const struct gpu_touches *t, const struct gpu_trace *trace, gpu_touch_line *take, void *context)
{
    const struct gpu_trace_line *line = trace->line;
    for (size_t i = 0; i < trace->written; i++) {
        const struct touch *touch = &t->touch[trace->record[i].instruction];
        if (trace->record[i].lines && touch->act != NO_ACCESS)
            touch_lines(touch, &trace->record[i], line, take, context);
        line += trace->record[i].lines;
    }
}
