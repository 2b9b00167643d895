/* Inside of struct gpu_timing, for its own files: plan (what an instruction costs), core (schedulers), memory, launch.
 *
 * Times are cycles of the GPU clock since the launch began. A scheduler jumps from event to event: it issues for a simdgroup
 * that can go, and when none can, sleeps until one can.
 */
#ifndef ORCHARD_UNITS_GPU_TIMING_STATE_H
#define ORCHARD_UNITS_GPU_TIMING_STATE_H

#include "units/gpu/gpu_timing.h"

#include <math.h>

#define GPU_WORDS AGX_REGISTERS
#define GPU_SIMDS_MAX 32       /* resident simdgroups of one scheduler */
#define GPU_READS_MAX 8
#define GPU_NEVER INFINITY
#define GPU_ICACHE_LINE 128

/* Where an instruction works. Pipes of a scheduler first, those of the core after GPU_PIPE_SHARED. */
enum gpu_pipe { GPU_PIPE_NONE, GPU_PIPE_F32, GPU_PIPE_F16, GPU_PIPE_INT, GPU_PIPE_SHARED,
                GPU_PIPE_COMPLEX = GPU_PIPE_SHARED, GPU_PIPE_MEMORY, GPU_PIPE_GROUP_MEMORY, GPU_PIPE_COUNT };
enum gpu_act { GPU_DO_ARITHMETIC, GPU_DO_GROUP_MEMORY, GPU_DO_LOAD, GPU_DO_STORE, GPU_DO_ATOMIC, GPU_DO_WAIT, GPU_DO_BARRIER,
               GPU_DO_STOP };
/* Which hold-up the readers of a result suffer (gpu_params.stall_*). */
enum gpu_stall_kind { GPU_HOLD_NONE, GPU_HOLD_16, GPU_HOLD_32, GPU_HOLD_FMA32, GPU_HOLD_COUNT };

/* What an instruction of the program costs: made once per launch. */
struct gpu_plan {
    float issue_cycles, pipe_cycles, latency_cycles;
    uint8_t pipe, act, hold;  /* hold: of its result */
    uint8_t reads, cached;    /* cached: bit i = read[i] comes from the register cache */
    uint8_t read[GPU_READS_MAX];
    uint8_t write, writes;    /* 32-bit registers */
    uint8_t half_width;       /* 16-bit operation */
    uint8_t two_words;        /* reads two different registers from the file */
    uint8_t slot;
    uint8_t lane_bytes;       /* memory: per lane */
    uint8_t group_atomic;
    uint32_t icache_line;
};

struct gpu_tally {
    uint64_t issues, lanes;
};

/* A register of a simdgroup. */
struct gpu_word {
    double ready;
    uint32_t sequence; /* of the instruction that wrote it */
    uint8_t hold, why;
};

struct gpu_slot_queue {
    double done;                          /* everything in it */
    double entry[GPU_SLOT_ENTRIES_MAX];   /* completion of the last ones; the next takes place `next` */
    uint32_t next;
};

struct gpu_simd {
    const struct gpu_trace_record *at, *end; /* what is left of the trace after `record` */
    const struct gpu_plan *plan;     /* of the next instruction */
    struct gpu_trace_record record;  /* the same */
    double next;                 /* the simdgroup may issue again */
    float port_cycles;           /* next instruction: issue time lost to register ports */
    uint32_t sequence;
    uint32_t icache_line;        /* + 1 */
    uint16_t group, index;       /* slot of its threadgroup in the core, number in it */
    uint8_t scheduler, place;
    bool at_barrier;
    struct gpu_trace *trace;
    struct gpu_slot_queue slot[2];
    struct gpu_word word[GPU_WORDS];
};

struct gpu_resident_group {
    unsigned simds, live, arrived; /* live: not ended */
    double release, end;
    bool used;
    uint16_t simd[32]; /* numbers in the core */
};

struct gpu_scheduler {
    double time;  /* accounted up to here */
    double wake;  /* next event; GPU_NEVER = parked */
    uint8_t why;  /* for the time from `time` to `wake` */
    uint8_t count;
    uint32_t issued;
    double pipe_free[GPU_PIPE_SHARED];
    /* By place, oldest first: what the next instruction of a simdgroup waits for. */
    double ready[GPU_SIMDS_MAX];
    uint8_t pipe[GPU_SIMDS_MAX], reason[GPU_SIMDS_MAX];
    uint8_t want[GPU_PIPE_COUNT]; /* how many of them want each pipe */
    uint16_t simd[GPU_SIMDS_MAX]; /* number in the core */
    double stall[GPU_STALL_COUNT];
};

struct gpu_core_timing {
    struct gpu_timing *timing;
    struct mem_port *port;
    unsigned number, last_scheduler;
    struct gpu_scheduler scheduler[GPU_SCHEDULERS_MAX];
    double pipe_free[GPU_PIPE_COUNT]; /* shared ones */
    double launch_free;               /* threadgroups are started one after another */
    struct gpu_simd *simd;            /* schedulers x GPU_SIMDS_MAX */
    uint16_t *free_simd;
    unsigned free_count;
    struct gpu_resident_group *group; /* by slot */
    unsigned groups;                  /* running */
    double *line_ready;               /* instruction cache: by line of the program; GPU_NEVER = absent */
    uint32_t *line_used;
    uint32_t lines_present, line_clock;
    double end;                       /* last threadgroup, stores visible */
};

struct gpu_timing {
    struct gpu_params params;
    struct gpu_timing_launch launch;
    struct gpu_plan *plan;
    struct agx_effect *effect; /* a copy: counts are settled when the program may be gone */
    struct gpu_tally *tally;
    uint32_t plan_count, icache_lines, icache_capacity; /* lines of the program; of the cache */
    double hold_cycles[GPU_HOLD_COUNT];
    double begin_ns, now; /* now: cycles */
    double ns_per_cycle, interval;
    unsigned occupancy, running; /* threadgroups in flight */
    bool active, none_left, failed;
    struct gpu_core_timing *core;
    struct activity activity;
};

static inline double gpu_later(double a, double b)
{
    return a > b ? a : b;
}

static inline double gpu_ns(const struct gpu_timing *timing, double cycles)
{
    return timing->begin_ns + cycles * timing->ns_per_cycle;
}

static inline double gpu_cycles(const struct gpu_timing *timing, double ns)
{
    return (ns - timing->begin_ns) / timing->ns_per_cycle;
}

/* gpu_timing_plan.c: one instruction; the counting side of a tally. */
void gpu_plan_make(struct gpu_plan *plan, const struct gpu_params *params, const struct agx_inst *inst,
                   const struct agx_effect *effect, uint32_t pc);
/* gpu_timing_activity.c: adds what `tally` issues of an instruction are. */
void gpu_activity_add(struct activity *activity, const struct agx_effect *effect, const struct gpu_tally *tally);

/* gpu_timing_memory.c: the memory half of an instruction that issues at `now`; lines are taken from the trace. */
void gpu_memory_access(struct gpu_core_timing *core, struct gpu_simd *simd, const struct gpu_plan *plan,
                       const struct gpu_trace_record *record, double now);
/* When the line of an instruction is in the instruction cache. */
double gpu_memory_fetch(struct gpu_core_timing *core, uint32_t line, double now);

/* gpu_timing_core.c. Runs the core's schedulers for events before `until`. */
void gpu_core_run(struct gpu_core_timing *core, double until);
double gpu_core_next(const struct gpu_core_timing *core);
/* Puts a threadgroup of `simds` into a slot; its simdgroups may issue from `start` on. */
bool gpu_core_place(struct gpu_core_timing *core, unsigned slot, unsigned simds, double start);

/* gpu_timing.c: the slot of a core is free at `now`; takes the next threadgroup if there is one. */
void gpu_launch_next(struct gpu_core_timing *core, unsigned slot, double now);

#endif
