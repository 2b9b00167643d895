/* The accesses of untimed instructions, line by line: what they do to the caches. */
#ifndef ORCHARD_SIM_WORKLOAD_GPU_GPU_TOUCH_H
#define ORCHARD_SIM_WORKLOAD_GPU_GPU_TOUCH_H

#include "units/gpu/gpu_program.h"
#include "units/gpu/gpu_trace.h"
#include "units/mem/mem_timing.h"

struct gpu_touches;

/* NULL when memory ran out. */
struct gpu_touches *gpu_touches_create(const struct gpu_program *program);
void gpu_touches_free(struct gpu_touches *touches);

/* Receives one access to a line. */
typedef void gpu_touch_line(void *context, uint64_t address, uint32_t bytes, enum mem_access_kind kind);
/* Hands on the accesses of a trace in order; an atomic is a fetch and a store. */
void gpu_touches_each(const struct gpu_touches *touches, const struct gpu_trace *trace, gpu_touch_line *take, void *context);

#endif
