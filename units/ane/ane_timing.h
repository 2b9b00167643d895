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

/* Every parameter is a KEY "ane.<field>" of the chip database; sources stand there. The timing's author extends this. */
struct ane_params {
    double clock_ghz;
    uint32_t engines;          /* MAC engines: 16 */
    uint32_t macs_per_engine;  /* fp16 multiply-accumulates a cycle: 256 */
    uint32_t int8_rate;        /* int8 x int8 MACs per fp16 MAC: 1, 2 on M4 */
    uint32_t units;            /* independent Neural Engines of the chip (Ultra: 2); a request uses one */
    double l2_bytes;           /* tile memory */
    double coefficient_bytes;  /* per engine */
    double dma_GBps;           /* tile and kernel DMA together, one direction, as measured for weight streams */
    double dma_both_ways;      /* reads and writes together, of that */
    uint32_t mac_step;         /* products of one output that are added together: channels x taps are rounded up to it */
    double post_cycles;        /* per work unit and output channel; hidden when accumulators are double-buffered */
    double l2_bytes_per_cycle; /* of tile memory, reads and writes together */
    double planar_elements_per_cycle;
    double task_cycles;                      /* of the task manager per descriptor */
    double request_us;                       /* host, build, kick, firmware and completion of a request */
    double wake_us, wake_after_us;           /* added to a request after so much idle time, in proportion after less; 0 = never */
    double deep_wake_us, deep_wake_after_us; /* instead of it, from so much idle time on */
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
 * from (write: to) `bar`+offset take when the DMA requests them back to back, and books them at their level. NULL = the DMA rate
 * alone. */
struct ane_memory {
    void *context;
    double (*stream_ns)(void *context, unsigned bar, uint64_t offset, uint64_t bytes, bool write);
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
