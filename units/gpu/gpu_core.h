/* GPU, executing: one threadgroup at a time; a simdgroup is 32 lanes, one pc and one mask. Exact; knows nothing of time.
 *
 * A threadgroup is started at a position of the grid. Its simdgroups run one after another, each to a barrier or to its end; when
 * all have arrived, the barrier opens. On request, records of what was executed go to a gpu_trace per simdgroup. Facts:
 * dougallj/applegpu, Mesa src/asahi.
 */
#ifndef ORCHARD_UNITS_GPU_GPU_CORE_H
#define ORCHARD_UNITS_GPU_GPU_CORE_H

#include "units/gpu/gpu_program.h"
#include "units/gpu/gpu_trace.h"
#include "units/mem/mem_space.h"

#define GPU_LANES          32
#define GPU_SIMDGROUPS_MAX 32 /* of a threadgroup: 1024 threads */

/* A range of device addresses that the program is supposed to touch. */
struct gpu_buffer {
    const char *name;
    uint64_t address, bytes;
};

/* Everything one launch needs. Pointers stay the caller's and must outlive the launch's groups. */
struct gpu_launch {
    const struct gpu_program *program;
    const uint16_t *uniforms; /* AGX_UNIFORM_HALVES halves, after the preamble */
    uint32_t grid_threads[3]; /* total threads; edge groups may be smaller */
    uint32_t group_threads[3];
    uint32_t threadgroup_memory_bytes;
    uint32_t stack_bytes_per_thread;
    uint32_t register_halves; /* given to the program; using more is a fault. 0 = 256 */
    bool holds_more;          /* see struct gpu_timing_launch */
    struct mem_space *space;  /* device addresses */
    const struct gpu_buffer
        *buffer; /* for checks.sanitize: reports accesses outside all of them; without any, accesses are not checked */
    size_t buffer_count;
};

/* Runs a preamble with one active lane until it stops. Its uniform_store instructions write into uniforms[AGX_UNIFORM_HALVES]. */
bool gpu_preamble_run(const struct gpu_program *preamble, struct mem_space *space, uint16_t *uniforms, struct unit_fault *fault);

/* Options of execution. A zeroed struct selects plain, fast execution. */
struct gpu_checks {
    bool sanitize;  /* out-of-bounds, races in threadgroup memory, barrier divergence, loads read before their wait */
    bool poison;    /* registers and threadgroup memory start with a pattern instead of zeros */
    bool reference; /* plain handlers, one lane at a time, for tests */
    bool steer;     /* executes only what decides on the way and on addresses (gpu_program_steers); all other values are
                     * undefined, and nothing that no address depends on is stored */
    uint64_t instruction_limit; /* per simdgroup, 0 = none: endless loops become a TRAP fault */
};

struct gpu_group; /* a threadgroup in flight; reusable for one after another */

/* NULL when memory is out, for a threadgroup of no threads or of more than 1024, and for more than 256 register halves. Uniforms
 * are read here, once: a group whose uniforms change must be created anew. */
struct gpu_group *gpu_group_create(const struct gpu_launch *launch, const struct gpu_checks *checks);
/* The same with the handlers of one host instruction set: "avx512", "avx2" or "portable". NULL also when the host cannot run it.
 */
struct gpu_group *gpu_group_create_named(const struct gpu_launch *launch, const struct gpu_checks *checks, const char *vectors);
/* Another group for the same launch and checks (no `sanitize`) that shares with `first` what is bound to the launch and counted
 * by instruction, so that many groups which take turns find it in the host's caches. It must run on the same host thread and not
 * outlive `first`, which gpu_group_issue_counts asks for both. */
struct gpu_group *gpu_group_create_beside(const struct gpu_group *first);
void gpu_group_free(struct gpu_group *group);
/* Number of threadgroups in x, y, z. */
void gpu_launch_groups(const struct gpu_launch *launch, uint32_t groups[3]);
/* Begins the threadgroup at `position`; core_index is what get_sr reads from GPU_SPECIAL_CORE. */
void gpu_group_start(struct gpu_group *group, const uint32_t position[3], uint32_t core_index);
unsigned gpu_group_simdgroups(const struct gpu_group *group);

enum gpu_step { GPU_STEP_BARRIER, GPU_STEP_DONE, GPU_STEP_LIMIT, GPU_STEP_LAP, GPU_STEP_FAULT };
/* Runs one simdgroup until it waits at a barrier that is not open yet, is done, or has executed `limit` instructions (0 = no
 * limit). `trace` may be NULL. A simdgroup that is the last to arrive at a barrier opens it and goes on. */
enum gpu_step gpu_group_run(struct gpu_group *group, unsigned simdgroup, uint64_t limit, struct gpu_trace *trace,
                            struct unit_fault *fault);
/* From now on gpu_group_run returns GPU_STEP_LAP whenever it has executed one of these instructions (lap[gpu_program_count]),
 * which must be jumps. */
void gpu_group_mark_laps(struct gpu_group *group, const bool *lap);
/* The number of the instruction that a simdgroup executes next. */
uint32_t gpu_group_at(const struct gpu_group *group, unsigned simdgroup);
/* The number of instructions that it has executed in this threadgroup. */
uint64_t gpu_group_executed(const struct gpu_group *group, unsigned simdgroup);
/* Makes `to` the same threadgroup in the same state, apart from its counts. Both were created for the same launch and checks; no
 * `sanitize`. */
void gpu_group_copy(struct gpu_group *to, const struct gpu_group *from);
/* Runs the whole threadgroup to its end. traces: one per simdgroup, or NULL. */
bool gpu_group_finish(struct gpu_group *group, struct gpu_trace *traces, struct unit_fault *fault);

/* Dynamic counts since creation: issued instructions, and active lanes at issue. */
struct gpu_counts {
    uint64_t instructions, active_lanes;
};
struct gpu_counts gpu_group_counts(const struct gpu_group *group);
/* Adds the number of issues of each instruction of the program to counts[gpu_program_count]; nothing for a group beside another
 * one. */
void gpu_group_issue_counts(const struct gpu_group *group, uint64_t *counts);

/* What checks.sanitize found since creation, once per kind and instruction. Execution continues after a finding. */
enum gpu_finding_kind {
    GPU_FINDING_BOUNDS,       /* outside every buffer, or outside the requested threadgroup memory */
    GPU_FINDING_RACE,         /* threadgroup memory shared by simdgroups without a barrier in between */
    GPU_FINDING_BARRIER,      /* lanes or simdgroups that do not arrive together */
    GPU_FINDING_WAIT,         /* a loaded register used before its wait */
    GPU_FINDING_UNINITIALISED /* a register or threadgroup memory read before it was written */
};
struct gpu_finding {
    enum gpu_finding_kind kind;
    uint32_t instruction;
    uint64_t pc, address; /* address: device address, threadgroup byte, register half or lane mask, as the text says */
    uint64_t times;
    char text[320]; /* of the first occurrence */
};
/* Number of findings, which live until the next run or the end of the group. */
size_t gpu_group_findings(const struct gpu_group *group, const struct gpu_finding **findings);
const char *gpu_finding_name(enum gpu_finding_kind kind);

/* Register state, for test vectors and debuggers. word[register][lane]. */
struct gpu_lanes {
    uint32_t word[AGX_REGISTERS][GPU_LANES];
    uint32_t mask; /* active lanes */
};
void gpu_group_read_state(const struct gpu_group *group, unsigned simdgroup, struct gpu_lanes *out);
void gpu_group_write_state(struct gpu_group *group, unsigned simdgroup, const struct gpu_lanes *in);

/* Begins a threadgroup of launch->group_threads at position 0 with these registers and mask in all simdgroups, for running bare
 * instructions. */
void gpu_group_start_bare(struct gpu_group *group, const struct gpu_lanes *lanes);

#endif
