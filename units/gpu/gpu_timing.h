/* GPU, timing: cores of four schedulers that issue the instructions that the executing side recorded. No data values.
 *
 * Inside, time is counted in cycles of the GPU clock; at this boundary it is nanoseconds. Model and figures:
 * philipturner/metal-benchmarks, Mesa src/asahi/compiler/agx_performance.c, Chips and Cheese.
 */
#ifndef ORCHARD_UNITS_GPU_GPU_TIMING_H
#define ORCHARD_UNITS_GPU_GPU_TIMING_H

#include "power/activity.h"
#include "units/gpu/gpu_program.h"
#include "units/gpu/gpu_trace.h"
#include "units/mem/mem_timing.h"
#include "units/unit_watch.h"

#define GPU_SCHEDULERS_MAX 8

/* Classes of instructions with a pipe time of their own: pipe_cycles are per instruction and scheduler, as microbenchmarks
 * count (the pipes of complex instructions are shared by the core's schedulers; the model divides). latency_cycles is from issue
 * to a dependent instruction. X(ENUMERATOR, name) */
/* clang-format off */
#define GPU_COST_TABLE(X) \
    X(CONVERT, convert) X(ROUND, round) X(IMUL, imul) X(IMUL64, imul64) X(SHIFT, shift) X(EXP2, exp2) X(LOG2, log2) \
    X(RCP, rcp) X(RSQRT, rsqrt) X(SIN, sin) X(SHUFFLE, shuffle) X(QUAD_SHUFFLE, quad_shuffle) X(BALLOT, ballot) \
    X(REDUCE, reduce) X(REDUCE_INT, reduce_int) X(PREFIX, prefix) X(QUAD_REDUCE, quad_reduce) \
    X(QUAD_REDUCE_INT, quad_reduce_int) X(QUAD_PREFIX, quad_prefix) X(MATRIX_F16, matrix_f16) X(MATRIX_F32, matrix_f32)
/* clang-format on */

enum gpu_cost_class {
#define X(enumerator, name) GPU_COST_##enumerator,
    GPU_COST_TABLE(X)
#undef X
        GPU_COST_COUNT
};

struct gpu_cost {
    double pipe_cycles, latency_cycles;
};

/* Every parameter is a KEY "gpu.<field>" of the chip database; sources stand there, beside the values. */
struct gpu_params {
    double clock_ghz;
    uint32_t cores;
    uint32_t schedulers;             /* per core */
    uint32_t threads_per_core_max;   /* resident, small programs */
    double register_file_bytes;      /* per core */
    double threadgroup_memory_bytes; /* per core */
    double instruction_cache_bytes;  /* per core */
    double submit_us, round_trip_us; /* command buffer: submit to start; start to notification beyond execution */

    uint32_t register_granule;  /* simdgroups whose registers are allocated together */
    uint32_t dynamic_registers; /* 1: registers are allocated as they are used, not as the launch asks */
    double issue_per_cycle;     /* of one scheduler */
    uint32_t separate_pipes;    /* 1: f32, f16 and integer pipes that work side by side; 0: one pipe for all */

    /* Simple instructions: add, multiply, fma, compare, bit operations. A value is read from the register cache when its operand
     * says so (hints cache, discard); else from the register file, and when it was made fewer than register_window 32-bit
     * instructions ago by the same simdgroup (half as many for 16 bits), the reader is held up, longest right after it. */
    double interval_cycles; /* between two instructions of one simdgroup */
    uint32_t register_window;
    double stall_16_cycles, stall_32_cycles, stall_fma32_cycles; /* reader right after the writer */
    double register_port_cycles; /* issue time lost to reading a second 32-bit register then; 16 bits half of it */
    double latency_16_cycles, latency_32_cycles, latency_fma32_cycles; /* through the register cache */

    double complex_issue_cycles; /* issue slots of an instruction for the shared complex pipe */
    double other_issue_cycles;   /* issue time of masks, branches, waits, barriers */
    double get_sr_cycles;        /* pipe time of get_sr */
    double reduce_half_cycles;   /* reductions and prefixes of 16-bit values take so much longer */
    struct gpu_cost cost[GPU_COST_COUNT];

    uint32_t slot_entries;          /* loads and stores of one simdgroup in flight per scoreboard slot */
    double memory_queue_cycles;     /* work that may wait in a core's load/store path */
    double memory_issue_cycles;     /* load/store path: least time per instruction, and per line */
    double l1_bytes_per_cycle;      /* load/store path: data */
    double atomic_cycles;           /* device atomics: per distinct address */
    double threadgroup_pass_cycles; /* threadgroup memory: per turn of its banks */
    double threadgroup_latency_cycles;
    double threadgroup_atomic_cycles; /* per distinct address */
    double barrier_cycles;            /* from the last arrival to the next instruction */
    double group_launch_cycles;       /* of a core, per threadgroup */
    double simdgroup_launch_cycles;   /* of a core, per simdgroup */
};
#define GPU_SLOT_ENTRIES_MAX 16

/* Why a core did not issue: each cycle of a core has one reason. */
/* clang-format off */
#define GPU_STALL_TABLE(X) \
    X(ISSUE, "issue", "instructions issue") \
    X(ALU, "alu", "the arithmetic pipe of the next instruction is busy") \
    X(DEPENDENCY, "dependency", "waits for the result of an arithmetic instruction") \
    X(REGISTER_CACHE, "register_cache", "operands wait for register-file ports") \
    X(MEMORY, "memory", "waits for device memory") \
    X(MEMORY_QUEUE, "memory_queue", "the load/store path or a scoreboard slot is full") \
    X(THREADGROUP_MEMORY, "threadgroup_memory", "threadgroup memory is busy or its data are not there") \
    X(BARRIER, "barrier", "waits for other simdgroups at a barrier") \
    X(INSTRUCTION_FETCH, "instruction_fetch", "the instruction cache waits for the next line") \
    X(LAUNCH, "launch", "threadgroups are being started, or none is left (tail)")
/* clang-format on */

enum gpu_stall {
#define X(name, key, text) GPU_STALL_##name,
    GPU_STALL_TABLE(X)
#undef X
        GPU_STALL_COUNT
};
const char *gpu_stall_name(enum gpu_stall stall);

/* The source of the instructions of resident threadgroups: the executing side, through sim. */
struct gpu_source {
    void *context;
    /* Gives the next threadgroup to (core, slot). Returns its number of simdgroups, 0 when none is left; sets *ok to false on a
     * fault. */
    unsigned (*start)(void *context, unsigned core, unsigned slot, bool *ok);
    /* Called when the trace of a simdgroup is read to its end: runs it (and, at a barrier, its neighbours) further. False when it
     * has stopped or on a fault (*ok false). */
    bool (*refill)(void *context, unsigned core, unsigned slot, unsigned simdgroup, bool *ok);
    struct gpu_trace *(*trace)(void *context, unsigned core, unsigned slot, unsigned simdgroup);
};

struct gpu_timing_launch {
    const struct gpu_program *program;
    struct gpu_source source;
    uint32_t threads_per_group, simdgroups_per_group;
    uint32_t register_halves;          /* per thread, as allocated */
    uint32_t threadgroup_memory_bytes; /* per threadgroup */
    uint64_t code_address;             /* for the instruction cache */
};

struct gpu_timing;

/* ports: one per core. NULL when memory is out. */
struct gpu_timing *gpu_timing_create(const struct gpu_params *params, struct mem_port *const *ports);
void gpu_timing_free(struct gpu_timing *timing);

/* The number of threadgroups of a launch that one core holds at a time, and what limits it ("registers", "threadgroup memory",
 * ...). */
unsigned gpu_timing_occupancy(const struct gpu_params *params, const struct gpu_timing_launch *launch, const char **limit);

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

/* Cycles of a core since the launch began, by reason; they add up to *total. */
void gpu_timing_stalls(const struct gpu_timing *timing, unsigned core, double cycles[GPU_STALL_COUNT], double *total);
void gpu_timing_take_activity(struct gpu_timing *timing, struct activity *into);

#endif
