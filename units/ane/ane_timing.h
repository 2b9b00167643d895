/* Neural Engine, timing: task descriptors in, cycles and traffic out. No data values, no weights.
 *
 * Sixteen MAC engines, the planar engine, kernel DMA, tile DMA and tile memory work in parallel on the tiles of a task; the task
 * manager starts tasks in order. Inside, time is counted in cycles of the engine's clock. Facts: sbryngelson/ane-guide, AF cost
 * tables, eiln/ane.
 */
#ifndef ORCHARD_UNITS_ANE_ANE_TIMING_H
#define ORCHARD_UNITS_ANE_ANE_TIMING_H

#include "isa/ane/ane_program.h"
#include "power/activity.h"
#include "units/ane/ane_params.inc"
#include "units/unit_params.h"

struct ane_params {
    ANE_PARAMS(PARAM_FIELD)
};

/* One reason per cycle of a request; they add up to the whole. */
/* clang-format off */
#define ANE_STALL_TABLE(X) \
    X(MAC, "mac", "the MAC engines multiply") \
    X(UTILISATION, "utilisation", "MAC lanes idle: shape does not fill engines, channels or pixels") \
    X(PLANAR, "planar", "the planar engine works") \
    X(COEFFICIENTS, "coefficients", "waits for coefficients") \
    X(TILE_DMA, "tile_dma", "waits for tiles from or to memory") \
    X(TASK, "task", "task manager: start of descriptors, dependencies, tables") \
    X(REQUEST, "request", "host and firmware: request build, kick, completion") \
    X(WAKE, "wake", "power domains wake up")
/* clang-format on */

enum ane_stall {
#define X(name, key, text) ANE_STALL_##name,
    ANE_STALL_TABLE(X)
#undef X
        ANE_STALL_COUNT
};
const char *ane_stall_name(enum ane_stall stall);

/* Traffic beyond the tile memory goes through this; sim connects SLC and DRAM. Returns the time in ns that `bytes` of a stream
 * from (write: to) `bar`+offset take when the DMA requests them back to back, books them at their level and sets the bytes that
 * the SLC had. NULL = the DMA rate alone. */
struct ane_memory {
    void *context;
    double (*stream_ns)(void *context, unsigned bar, uint64_t offset, uint64_t bytes, bool write, uint64_t *held);
};

struct ane_task_time {
    double cycles; /* its share of the request; tasks linked by a ring run at the same time and share their time */
    double cycles_by[ANE_STALL_COUNT];
    uint32_t engines_used;
    double mac_utilisation;      /* MACs of the operation over engines x macs x cycles */
    uint32_t coefficient_passes; /* 1 = streamed once; more = re-streamed per tile */
    uint64_t source_bytes, result_bytes, coefficient_bytes, l2_bytes;
    uint64_t macs, elements;
};

struct ane_timing;
struct ane_timing *ane_timing_create(const struct ane_params *params, const struct ane_memory *memory);
void ane_timing_free(struct ane_timing *timing);
/* Times one request of a program on engine `unit`, from now_ns or from when the engine has ended its earlier requests. Idle time
 * before it counts from the last end (the first request finds the engine awake). Returns its end in ns, or NAN when the chip has
 * no such engine. tasks (program->count entries) and cycles_by may be NULL. The entries of cycles_by add up to (end - start) x
 * clock: the reasons of all tasks, REQUEST and WAKE. */
double ane_timing_request(struct ane_timing *timing, const struct ane_program *program, unsigned unit, double now_ns,
                          struct ane_task_time *tasks, double cycles_by[ANE_STALL_COUNT]);
/* The same for tasks without a program around them. */
double ane_timing_tasks(struct ane_timing *timing, const struct ane_task *task, size_t count, unsigned unit, double now_ns,
                        struct ane_task_time *tasks, double cycles_by[ANE_STALL_COUNT]);
/* The border between warm-up and run: engines are free and awake at 0, events are cleared. */
void ane_timing_restart(struct ane_timing *timing);
/* Takes the events since the last call. struct ane_memory books the traffic of DRAM and SLC. */
void ane_timing_take_activity(struct ane_timing *timing, struct activity *into);

#endif
