/* Executes threadgroups without timing them, and hands on what they access line by line: what they do to the caches. */
#ifndef ORCHARD_SIM_WORKLOAD_GPU_GPU_TOUCH_H
#define ORCHARD_SIM_WORKLOAD_GPU_GPU_TOUCH_H

#include "units/gpu/gpu_core.h"
#include "units/mem/mem_timing.h"

struct gpu_touches;

/* Instructions that a simdgroup runs at a time when its accesses are handed on: so few that its trace stays in the host's caches
 * and simdgroups advance side by side. */
#define GPU_TOUCH_TURN 1024

/* What an instruction does to the caches; an atomic is a fetch and a store. */
enum gpu_touch_act { GPU_TOUCH_NOTHING, GPU_TOUCH_LOAD, GPU_TOUCH_STORE, GPU_TOUCH_ATOMIC };
enum gpu_touch_act gpu_touch_act(const struct agx_effect *effect);
/* Where a line that is accessed by one of the record's instructions is asked for: a load asks for what its lanes want, spread
 * evenly over the record's lines, as the timing side counts it. */
struct gpu_trace_place gpu_touch_place(enum gpu_touch_act act, const struct agx_effect *effect,
                                       const struct gpu_trace_record *record, const struct gpu_trace_line *line);

/* NULL when memory ran out. */
struct gpu_touches *gpu_touches_create(const struct gpu_program *program);
void gpu_touches_free(struct gpu_touches *touches);

/* Receives one access to a line. */
typedef void gpu_touch_line(void *context, uint64_t address, uint32_t bytes, enum mem_access_kind kind);
/* Is told of a line that will be handed on soon. */
typedef void gpu_touch_expect(const void *context, uint64_t address);
/* Hands on what an instruction does to a line. */
static inline void gpu_touch_hand_on(enum gpu_touch_act act, struct gpu_trace_place place, gpu_touch_line *take, void *context)
{
    if (act == GPU_TOUCH_LOAD)
        take(context, place.address, place.bytes, MEM_ACCESS_LOAD);
    if (act == GPU_TOUCH_ATOMIC)
        take(context, place.address, place.bytes, MEM_ACCESS_FETCH);
    if (act == GPU_TOUCH_STORE || act == GPU_TOUCH_ATOMIC)
        take(context, place.address, place.bytes, MEM_ACCESS_STORE);
}
/* Runs the simdgroups of a threadgroup side by side until each has executed end[i] instructions of it, has ended, or waits for
 * one that has. Hands on their accesses in order; an atomic is a fetch and a store. `take` may be NULL. False on a fault, or,
 * with *fault untouched, when memory ran out. */
bool gpu_touches_run(struct gpu_touches *touches, struct gpu_group *group, const uint64_t end[GPU_SIMDGROUPS_MAX],
                     gpu_touch_line *take, void *context, struct unit_fault *fault);
/* Where the accesses go that are handed on next: the host is told of them some time before. NULL = nobody knows. */
void gpu_touches_towards(struct gpu_touches *touches, const struct mem_port *port);

#endif
