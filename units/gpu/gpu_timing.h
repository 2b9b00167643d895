/* GPU, timing: cores of four schedulers that issue the instructions that the executing side recorded. No data values.
 *
 * Inside, time is counted in cycles of the GPU clock; at this boundary it is nanoseconds. Model and figures:
 * philipturner/metal-benchmarks, Mesa src/asahi/compiler/agx_performance.c, Chips and Cheese.
 */
#ifndef ORCHARD_UNITS_GPU_GPU_TIMING_H
#define ORCHARD_UNITS_GPU_GPU_TIMING_H

#include "power/activity.h"
#include "units/gpu/gpu_params.inc"
#include "units/gpu/gpu_timing_counts.h"
#include "units/gpu/gpu_program.h"
#include "units/gpu/gpu_trace.h"
#include "units/mem/mem_timing.h"
#include "units/unit_params.h"
#include "units/unit_watch.h"

#include <limits.h>

#define GPU_SCHEDULERS_MAX 8
#define GPU_LOOK_QUANTA    8

enum gpu_cost_class {
#define X(enumerator, name) GPU_COST_##enumerator,
    GPU_COST_TABLE(X)
#undef X
        GPU_COST_COUNT
};

struct gpu_cost {
#define X(class, ...) PARAM_FIELD(__VA_ARGS__)
    GPU_COST_PARAMS(X, )
#undef X
};
struct gpu_params {
    GPU_PARAMS(PARAM_FIELD)
    struct gpu_cost cost[GPU_COST_COUNT];
};
#define GPU_SLOT_ENTRIES_MAX 16

/* What becomes of the launch after a look at it. A launch that stops is over where it is. */
enum gpu_look { GPU_LOOK_ON, GPU_LOOK_STOP, GPU_LOOK_FAULT };

/* Returned by gpu_source.start when this slot shall stay empty though others may get threadgroups. */
#define GPU_SLOT_EMPTY UINT_MAX

/* The source of the instructions of resident threadgroups: the executing side, through sim. */
struct gpu_source {
    void *context;
    /* Gives the next threadgroup to (core, slot). Returns its number of simdgroups, 0 when none is left for any slot, or
     * GPU_SLOT_EMPTY; sets *ok to false on a fault. */
    unsigned (*start)(void *context, unsigned core, unsigned slot, bool *ok);
    /* Called when the trace of a simdgroup is read to its end: runs it (and, at a barrier, its neighbours) further. False when it
     * has stopped or on a fault (*ok false). */
    bool (*refill)(void *context, unsigned core, unsigned slot, unsigned simdgroup, bool *ok);
    struct gpu_trace *(*trace)(void *context, unsigned core, unsigned slot, unsigned simdgroup);
    /* Called every GPU_LOOK_QUANTA quanta of simulation, when no instruction is half done; NULL = never. */
    enum gpu_look (*look)(void *context);
};

struct gpu_timing_launch {
    const struct gpu_program *program;
    struct gpu_source source;
    uint32_t threads_per_group, simdgroups_per_group;
    uint32_t register_halves;          /* per thread, as allocated */
    bool holds_more;                   /* as compiled by its framework it holds gpu_params.framework_halves at least */
    uint32_t threadgroup_memory_bytes; /* per threadgroup */
    uint64_t code_address;             /* for the instruction cache */
    const bool *lap;                   /* jumps that end a lap of a loop, gpu_program_count; NULL = none are watched */
    bool profile;                      /* count by instruction: gpu_timing_take_profile */
};

struct gpu_timing;

/* ports: one per core. NULL when memory is out. */
struct gpu_timing *gpu_timing_create(const struct gpu_params *params, struct mem_port *const *ports);
void gpu_timing_free(struct gpu_timing *timing);

/* The number of threadgroups of a launch that one core holds at a time, and what limits it ("registers", "threadgroup memory",
 * ...). */
unsigned gpu_timing_occupancy(const struct gpu_params *params, const struct gpu_timing_launch *launch, const char **limit);

/* What so many threadgroups leave of a core's shared memory for its L1, in bytes; may be negative. */
double gpu_timing_pool_left(const struct gpu_params *params, const struct gpu_timing_launch *launch, unsigned groups);

/* Begins a launch at now_ns (after submission). Cores take threadgroups in order, one after another around the cores. */
bool gpu_timing_begin(struct gpu_timing *timing, const struct gpu_timing_launch *launch, double now_ns);
/* From now on `watch` sees every instruction as it issues; NULL ends the reports. Must not be called while a launch runs. */
void gpu_timing_set_watch(struct gpu_timing *timing, const struct unit_watch *watch);
/* Advances to until_ns at most. Returns false when the launch has ended (or the source failed). */
bool gpu_timing_advance(struct gpu_timing *timing, double until_ns);
bool gpu_timing_failed(const struct gpu_timing *timing);
double gpu_timing_now_ns(const struct gpu_timing *timing);
/* The time at which the last threadgroup is complete and its stores are visible. */
double gpu_timing_end_ns(const struct gpu_timing *timing);

/* The instructions that a core has issued since the launch began. */
uint64_t gpu_timing_issued(const struct gpu_timing *timing, unsigned core);

#define GPU_LAPS_KEPT 16
/* The laps of a loop that a simdgroup has timed since gpu_timing_restart_laps. */
struct gpu_laps {
    uint32_t loop; /* the jump, 1 more than its number; 0 = none yet */
    uint32_t passed;
    double lap_ns[GPU_LAPS_KEPT]; /* when the latest ones ended: a ring */
};
/* Fills laps[32] (NULL = only counts) for the simdgroups in a slot of a core that have not ended, and returns their number; 0
 * when the slot is free. */
unsigned gpu_timing_laps(const struct gpu_timing *timing, unsigned core, unsigned slot, struct gpu_laps *laps);
void gpu_timing_restart_laps(struct gpu_timing *timing, unsigned core);

/* Cycles of a core since the launch began, by reason; they add up to *total. */
void gpu_timing_stalls(const struct gpu_timing *timing, unsigned core, double cycles[GPU_STALL_COUNT], double *total);
/* Adds what instructions cost since the launch began, or since it was last asked, to a profile of the launch's program; NULL
 * drops it. Does nothing unless the launch asked for it. The cycles of all instructions and the idle ones are those of
 * gpu_timing_stalls, times schedulers, of all cores. */
void gpu_timing_take_profile(struct gpu_timing *timing, struct gpu_profile *into);
void gpu_timing_take_activity(struct gpu_timing *timing, struct activity *into);
/* The same without beginning anew: nobody's later answer hangs on whether this was asked. */
void gpu_timing_activity(const struct gpu_timing *timing, struct activity *into);

#endif
