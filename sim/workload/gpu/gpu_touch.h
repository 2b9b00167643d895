/* Executes threadgroups without timing them, and hands on what they access line by line: what they do to the caches. */
#ifndef ORCHARD_SIM_WORKLOAD_GPU_GPU_TOUCH_H
#define ORCHARD_SIM_WORKLOAD_GPU_GPU_TOUCH_H

#include "units/gpu/gpu_core.h"
#include "units/mem/mem_timing.h"

struct gpu_touches;

/* NULL when memory ran out. */
struct gpu_touches *gpu_touches_create(const struct gpu_program *program);
void gpu_touches_free(struct gpu_touches *touches);

/* Receives one access to a line. */
typedef void gpu_touch_line(void *context, uint64_t address, uint32_t bytes, enum mem_access_kind kind);
/* Runs the simdgroups of a threadgroup side by side until each has executed end[i] instructions of it, has ended, or waits for
 * one that has. Hands on their accesses in order; an atomic is a fetch and a store. `take` may be NULL. False on a fault, or,
 * with *fault untouched, when memory ran out. */
bool gpu_touches_run(struct gpu_touches *touches, struct gpu_group *group, const uint64_t end[GPU_SIMDGROUPS_MAX],
                     gpu_touch_line *take, void *context, struct unit_fault *fault);
/* Where the accesses go that are handed on next: the host is told of them some time before. NULL = nobody knows. */
void gpu_touches_towards(struct gpu_touches *touches, const struct mem_port *port);

#endif
