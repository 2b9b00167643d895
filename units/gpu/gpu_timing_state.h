/* The inside of struct gpu_timing, for its own files: plan (what an instruction costs), core (schedulers), memory, launch.
 *
 * Times are cycles of the GPU clock since the launch began. A scheduler jumps from event to event: it issues for a simdgroup that
 * can go, and when none can, it sleeps until one can.
 */
#ifndef ORCHARD_UNITS_GPU_GPU_TIMING_STATE_H
#define ORCHARD_UNITS_GPU_GPU_TIMING_STATE_H

#include "units/gpu/gpu_timing.h"

#include <math.h>
#include <string.h>

#define GPU_WORDS       AGX_REGISTERS
#define GPU_SIMDS_MAX   32 /* resident simdgroups of one scheduler */
#define GPU_READS_MAX   8
#define GPU_READS_USUAL 4 /* always checked, whether used or not */
#define GPU_WINDOW_MAX  8 /* of gpu_params.register_window */
#define GPU_NEVER       INFINITY
#define GPU_ICACHE_LINE 128
#define GPU_HOST_LINE   64

/* The pipe that executes an instruction. Pipes of a scheduler come first, those of the core after GPU_PIPE_SHARED. */
enum gpu_pipe {
    GPU_PIPE_NONE,
    GPU_PIPE_F32,
    GPU_PIPE_F16,
    GPU_PIPE_INT,
    GPU_PIPE_SHARED,
    GPU_PIPE_COMPLEX = GPU_PIPE_SHARED,
    GPU_PIPE_MEMORY,
    GPU_PIPE_GROUP_MEMORY,
    GPU_PIPE_COUNT
};
#define GPU_PIPES 8 /* room for all: a vector */
enum gpu_act {
    GPU_DO_ARITHMETIC,
    GPU_DO_GROUP_MEMORY,
    GPU_DO_LOAD,
    GPU_DO_STORE,
    GPU_DO_ATOMIC,
    GPU_DO_WAIT,
    GPU_DO_BARRIER,
    GPU_DO_STOP,
    GPU_DO_LAP
};
/* The delay that readers of a result suffer (gpu_params.stall_*). */
enum gpu_stall_kind { GPU_HOLD_NONE, GPU_HOLD_16, GPU_HOLD_32, GPU_HOLD_FMA32, GPU_HOLD_COUNT };

/* Places of struct gpu_simd.ready: first those that stand for no register read and none written, then the registers. */
enum { GPU_PLACE_READ_NONE, GPU_PLACE_WRITE_NONE, GPU_PLACE_WORDS };

/* What an instruction of the program costs at one of its sites, that is, after what went before. One line of the host's cache. */
struct gpu_plan {
    float issue_cycles, pipe_cycles, latency_cycles;
    float port_cycles;      /* reading its operands: issue time lost to register ports */
    double hold_cycles;     /* and how long that delays the simdgroup */
    uint64_t write_bits[2]; /* the same registers as a set */
    uint32_t icache_line;
    uint8_t pipe, act, hold;     /* hold: enum gpu_stall_kind of its result */
    uint8_t reads, cached;       /* cached: bit i = read[i] comes from the register cache */
    uint8_t read[GPU_READS_MAX]; /* places of 32-bit registers */
    uint8_t write, writes;       /* the first written register and their number */
    uint8_t half_width;          /* 16-bit operation */
    uint8_t two_words;           /* reads two different registers from the file */
    uint8_t slot;
    uint8_t lane_bytes; /* memory instructions: bytes per lane */
    uint8_t group_atomic;
};

struct gpu_tally {
    uint64_t issues, lanes;
};
/* Both counts in one number: issues above, lanes below. There is room for the issues of GPU_TALLY_QUANTA. */
#define GPU_TALLY_LANE_BITS 38
#define GPU_TALLY_QUANTA    256

struct gpu_site {
    uint32_t instruction, next; /* next: another site of the instruction; 0 = none */
};
struct gpu_site_memo;

/* The latest instructions of a simdgroup whose sites have been found. */
struct gpu_history {
    uint32_t recent[GPU_WINDOW_MAX]; /* UINT32_MAX = none */
    uint32_t at;                     /* place of the latest one */
    uint32_t straight;               /* how many, up to the latest one, are consecutive in the program */
};

struct gpu_slot_queue {
    double done;                        /* completion of everything in it */
    double entry[GPU_SLOT_ENTRIES_MAX]; /* completion of the latest ones; the next one takes place `next` */
    uint32_t next;
};

/* What every instruction needs lies in two lines of the host's cache. */
struct gpu_simd {
    _Alignas(GPU_HOST_LINE) const struct gpu_trace_record *at; /* the rest of the trace after `record` */
    const struct gpu_trace_record *end;
    double *ready;                  /* by place: when the latest result of a register is ready */
    struct gpu_trace_record record; /* the next instruction; it names the site */
    double next;                    /* when the simdgroup may issue again */
    uint32_t icache_line;           /* + 1 */
    uint8_t scheduler, place;
    uint8_t group_slot; /* of its threadgroup in the core */
    uint8_t index;      /* number in it */
    bool at_barrier;
    uint64_t from_group_memory[2]; /* registers whose latest result comes from threadgroup memory */
    struct gpu_trace *trace;
    struct gpu_slot_queue slot[2];
    struct gpu_history history;
};

struct gpu_resident_group {
    unsigned simds, live, arrived; /* live: not ended */
    double release, end;
    bool used;
    uint16_t simd[32]; /* numbers in the core */
};

#define GPU_REASON_OPERANDS 0x80
#define GPU_INVERSE_BITS    32

struct gpu_scheduler {
    /* By place, oldest first: when the next instruction of a simdgroup is ready. Places from `count` on are never ready. */
    double ready[GPU_SIMDS_MAX];
    uint8_t pipe_bit[GPU_SIMDS_MAX], reason[GPU_SIMDS_MAX]; /* reason: with GPU_REASON_OPERANDS, unless an operand is later */
    uint16_t simd[GPU_SIMDS_MAX];                           /* number in the core */
    uint32_t site[GPU_SIMDS_MAX];                           /* of the next instruction */
    double time;                                            /* everything up to here is accounted for */
    double pipe_free[GPU_PIPES];                            /* its own: below GPU_PIPE_SHARED */
    uint32_t issued;
    uint64_t count_inverse; /* 2^GPU_INVERSE_BITS / count, rounded up: gives exact quotients of 24-bit numbers */
    uint32_t waiting;       /* instruction that it belongs to; only where launches are profiled */
    uint8_t why;            /* reason for the time from `time` to its next event */
    uint8_t count;
    double stall[GPU_STALL_COUNT];
};

struct gpu_core_timing {
    struct gpu_timing *timing;
    struct mem_port *port;
    unsigned number, last_scheduler;
    struct gpu_scheduler scheduler[GPU_SCHEDULERS_MAX];
    double wake[GPU_SCHEDULERS_MAX]; /* next events; GPU_NEVER = parked */
    double pipe_free[GPU_PIPES];     /* shared ones */
    double pipe_ahead[GPU_PIPES];    /* how long before it is free a pipe takes work */
    double launch_free;              /* threadgroups are started one after another */
    struct gpu_simd *simd;           /* schedulers x GPU_SIMDS_MAX */
    double *ready;                   /* registers of all simdgroups, gpu_timing.words each */
    struct gpu_laps *laps;           /* by simdgroup */
    uint16_t *free_simd;
    unsigned free_count;
    struct gpu_resident_group *group; /* by slot */
    unsigned groups;                  /* running */
    double *line_ready;               /* instruction cache: by line of the program; GPU_NEVER = absent */
    uint32_t *line_used;
    uint32_t lines_present, line_clock;
    double end; /* last threadgroup, stores visible */
};

struct gpu_timing {
    struct gpu_params params;
    const struct gpu_core_set *cores;
    struct gpu_timing_launch launch;
    const struct unit_watch *watch; /* NULL = no observer */
    struct gpu_plan *plan;          /* by site; the first ones are the instructions in straight code */
    struct gpu_site *site;
    struct gpu_site_memo *site_memo;
    uint32_t site_count, site_room;
    struct agx_effect *effect;              /* a copy: counts may be settled after the program is gone */
    uint64_t *tally;                        /* by site */
    unsigned quanta;                        /* since the launch began */
    uint32_t icache_lines, icache_capacity; /* lines of the program; lines that the cache holds */
    uint32_t words;                         /* of struct gpu_simd.ready */
    unsigned window;                        /* of gpu_params */
    double hold_cycles[GPU_HOLD_COUNT];
    double begin_ns, now; /* now: cycles */
    double ns_per_cycle, interval;
    unsigned occupancy, running; /* threadgroups in flight */
    bool active, none_left, failed;
    struct gpu_profile profile; /* row NULL = the launch is not profiled */
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

/* gpu_timing_plan.c: makes the plan of one instruction; the counting side of a tally. */
void gpu_plan_make(struct gpu_plan *plan, const struct gpu_params *params, const struct agx_inst *inst,
                   const struct agx_effect *effect, uint32_t pc);
/* Adds the cost of reading its operands after these instructions (recent[0] = the latest one; UINT32_MAX = none; window - 1 of
 * them). */
void gpu_plan_operands(const struct gpu_timing *timing, const struct gpu_plan *plan, const uint32_t *recent, double *hold_cycles,
                       float *port_cycles);
/* Does so for an instruction that follows its predecessors in the program. */
void gpu_plan_straight(struct gpu_timing *timing, uint32_t instruction);
/* gpu_timing_site.c: allocates the plans of a program; turns the instructions of a trace's new records into sites. */
bool gpu_sites_create(struct gpu_timing *timing, uint32_t instructions);
void gpu_sites_free(struct gpu_timing *timing);
void gpu_sites_enter(struct gpu_timing *timing, struct gpu_history *history, struct gpu_trace *trace);
/* gpu_timing_activity.c: adds the events of `tally` issues of an instruction. */
void gpu_activity_add(struct activity *activity, const struct agx_effect *effect, const struct gpu_tally *tally);

/* Sets the time at which the registers that an instruction writes are ready. */
static inline void gpu_set_results(struct gpu_simd *simd, const struct gpu_plan *plan, double ready, bool from_group_memory)
{
    const uint64_t all = from_group_memory ? UINT64_MAX : 0;
    simd->ready[plan->write] = ready;
    for (unsigned i = 1; i < plan->writes; i++)
        simd->ready[plan->write + i] = ready;
    simd->from_group_memory[0] = (simd->from_group_memory[0] & ~plan->write_bits[0]) | (plan->write_bits[0] & all);
    simd->from_group_memory[1] = (simd->from_group_memory[1] & ~plan->write_bits[1]) | (plan->write_bits[1] & all);
}

/* gpu_timing_memory.c: the memory half of an instruction that issues at `now`; takes its lines from the trace. */
void gpu_memory_access(struct gpu_core_timing *core, struct gpu_simd *simd, const struct gpu_plan *plan,
                       const struct gpu_trace_record *record, double now);
/* Returns when the line of an instruction is in the instruction cache. */
double gpu_memory_fetch(struct gpu_core_timing *core, uint32_t line, double now);

/* gpu_timing_core.h, once per host instruction set; all give the same times. */
struct gpu_core_set {
    /* Runs the core's schedulers for events before `until`. */
    void (*run)(struct gpu_core_timing *core, double until);
    /* Makes the host fetch what those simdgroups of a core will read that are ready before `until`, in two steps: with `near`,
     * their state is present and their traces are fetched. Running one core after another touches more memory than the host's
     * inner caches hold. */
    void (*fetch)(const struct gpu_core_timing *core, double until, bool near);
    /* Puts a threadgroup of `simds` into a slot; its simdgroups may issue from `start` on. */
    bool (*place)(struct gpu_core_timing *core, unsigned slot, unsigned simds, double start);
};
extern const struct gpu_core_set gpu_cores_portable, gpu_cores_profiled;
#if defined(__x86_64__)
extern const struct gpu_core_set gpu_cores_avx2, gpu_cores_avx512;
#endif

/* gpu_timing.c: up to when the cycles of a core are accounted for. */
double gpu_core_now(const struct gpu_timing *timing, unsigned core);

/* gpu_timing_profile.c: cycles of a scheduler that belong to an instruction. Those of launches belong to none. */
static inline void gpu_profile_charge(struct gpu_timing *timing, uint32_t instruction, enum gpu_stall why, double cycles)
{
    if (why == GPU_STALL_LAUNCH)
        timing->profile.idle_cycles += cycles;
    else
        timing->profile.row[instruction].cycles[why] += cycles;
}
/* Begins to count for a launch, or not; false when memory is out. */
bool gpu_profile_begin(struct gpu_timing *timing);

/* gpu_timing.c: the slot of a core is free at `now`; it takes the next threadgroup if there is one. */
void gpu_launch_next(struct gpu_core_timing *core, unsigned slot, double now);

#endif
