/* One GPU launch at work: executed for its results, timed for its duration. For the kinds that launch, and the files
 * run_launch*.c. */
#ifndef ORCHARD_SIM_RUN_GPU_RUN_LAUNCH_H
#define ORCHARD_SIM_RUN_GPU_RUN_LAUNCH_H

#include "sim/run/kind.h"
#include "sim/workload/gpu/gpu_job.h"

/* How a launch is timed: all its threadgroups behind a warm-up that times all of them too; all behind a warm-up that executes
 * most and times the end, or that only executes; or from windows. */
/* Data that are in the caches when the launch begins with empty ones. */
struct run_range {
    uint64_t address, bytes;
};

enum run_way { RUN_WAY_ALL, RUN_WAY_WARM, RUN_WAY_TOUCH, RUN_WAY_FORWARD };

struct run_launch {
    struct run *run;
    struct gpu_setup *setup;
    struct run_measure *m;
    struct soc_gpu *gpu;
    struct orch_error *error;
    enum run_way way, whole_way; /* whole_way: where windows turn out not to tell the time */
    struct gpu_work work;        /* of threadgroups; zeros where neither the way nor the time depends on it */
    struct gpu_crowd *crowd; /* executes some threadgroups for `work`, then windows and what lies between them; NULL = no work */
    struct gpu_replay *replay;       /* plays threadgroups of the crowd; NULL = they are executed */
    double l2_lines, slc_lines;      /* of the whole GPU, of the chip; known with the work */
    double dram_over_issue;          /* the least time of its data in DRAM over the least time of issuing; known with the work */
    const struct run_range *present; /* what is in caches that are emptied otherwise */
    unsigned presents;
    bool skips;                 /* threadgroups are skipped where the pace is steady */
    bool empty;                 /* the caches: nothing has run since they were emptied */
    bool *lap;                  /* jumps of long loops, whose laps are leapt over where that is possible; NULL = none */
    struct activity taken;      /* of the present pass, so far */
    struct gpu_profile profile; /* of the passes that count; row NULL = nobody asked */
    double idle_beside;         /* cycles of a core without a simdgroup in laps that were leapt over */
};

/* The variant of machine code that a chip wants, and its GPU's generation; false names what is not known. */
bool run_gpu_target(const struct chip *chip, struct abi_target *target, enum gpu_generation *generation,
                    struct orch_error *error);
/* Finds the generation whose code runs. G15 code is not published: such a chip runs G14 code, and an assumption says so. */
bool run_gpu_generation(const struct run *run, enum gpu_generation *generation, struct run_result *result,
                        struct orch_error *error);

/* Opens the chip, unless the measure has one, and its GPU; what one command buffer costs goes into the measure. */
bool run_launch_open(struct run_launch *l);
/* After opening, before executing: chooses the way. */
bool run_launch_prepare(struct run_launch *l);
/* Frees what it found. */
void run_launch_close(struct run_launch *l);
/* Executes for results and counts; the start contents are put back before. */
bool run_launch_execute(struct run_launch *l);
/* Times, whole or sampled. Passes execute only what steers: memory stays as it is, unless its values steer (a gather, a sort);
 * then it is undefined afterwards. */
bool run_launch_time(struct run_launch *l);
bool run_launch_keeps_memory(const struct run_launch *l);
/* Before a pass: puts the start contents back where their values steer. */
void run_launch_rewind(const struct run_launch *l);
/* The bytes of the buffer that an argument stands for: from where it points to the end; 0 when another argument stands for more
 * of it, or when it stands for none. */
uint64_t run_launch_buffer(const struct run_launch *l, unsigned number);
double run_launch_buffer_bytes(const struct run_launch *l);
/* Remarks something about the kernel of the launch, with its name in front. */
bool run_launch_remark(struct run_launch *l, const char *text);

/* False, and explains a fault; without one, memory ran out. */
bool run_launch_fault(struct run_launch *l, const struct unit_fault *fault);

/* ---- run_launch_forward.c ---- */

/* Times the launch from windows of it. When *sure becomes false, the launch has few waves and its windows differ too much to
 * stand for them: nothing is told then, and the launch is to be timed whole. */
bool run_launch_forward(struct run_launch *l, bool *sure);
/* Leaves the caches as the launch does: the last of its threadgroups are executed side by side, and none is timed. */
bool run_launch_touch(struct run_launch *l);
/* Tells whether a launch of so many instructions of simdgroups is so large that windows stand for it. */
bool run_launch_forward_worthwhile(const struct run_launch *l, double work);
/* The SLC scatters pages over its sets: below this share of it hardly any set overflows. */
#define RUN_SLC_FILLED 0.75
/* ---- run_launch_warm.c ---- */

/* How many threadgroups the GPU holds at a time. */
uint64_t run_launch_wave(const struct run_launch *l);
/* How many simdgroups a threadgroup has. */
unsigned run_launch_simdgroups(const struct run_launch *l);
/* The same in the mean: threadgroups at the edges of the grid may have fewer. */
double run_launch_mean_simdgroups(const struct run_launch *l);
/* The instructions of all simdgroups of the launch, by the work of its threadgroups. */
double run_launch_work(const struct run_launch *l);
/* Executes some threadgroups of the crowd for `work` (run_launch_work.c). */
bool run_launch_find_work(struct run_launch *l);
/* Leaves the caches as the launch does; most of its threadgroups are executed only. */
bool run_launch_warm(struct run_launch *l);

/* ---- run_launch_pass.c: timed passes ---- */

/* What a pass took. */
struct run_part {
    double ns;
    double timed_share;        /* of the instructions */
    uint64_t skipped;          /* threadgroups */
    double uncertainty;        /* standard deviation of the time, as a share of it */
    struct gpu_counted beside; /* what is taken to count in the parts that were not timed */
};
/* A pass over the selected threadgroups from memory as it is; `totals` gets what they executed. `part` and `totals` may be NULL.
 */
bool run_launch_pass(struct run_launch *l, const struct gpu_selection *selection, struct run_part *part,
                     struct gpu_totals *totals);
/* The border between two passes. */
void run_launch_restart(struct run_launch *l, bool keep_caches);
/* A pass from a border and the start contents; run_launch_count says what it did in the memory system and why it waited. */
bool run_launch_measure(struct run_launch *l, const struct gpu_selection *selection, bool keep_caches, struct run_part *part,
                        struct gpu_totals *totals);
/* Adds what the latest pass counted, and `beside` it, to the measure. */
void run_launch_count(struct run_launch *l, const struct gpu_counted *beside);
/* Where totals belong when timing is all that runs; NULL otherwise. */
struct gpu_totals *run_launch_totals(const struct run_launch *l);

/* ---- run_launch_watch.c ---- */

/* While a pass runs, whoever waits for the run is told what it draws and moves, from what it has counted so far. */
struct launch_watch {
    struct work_progress work;
    const struct work_progress *told; /* NULL = nobody waits */
    struct run_launch *l;
    double begin_ns; /* of the pass; NAN = it has not begun */
};
void run_launch_watch(struct launch_watch *watch, struct run_launch *l);
void run_launch_unwatch(const struct launch_watch *watch);

/* ---- run_launch_profile.c ---- */

/* Before timing, when the request asks for a profile. */
bool run_launch_begin_profile(struct run_launch *l);
/* After it, while the program is there: adds the launch to the profile of the result, with what its table of lines says, and
 * warnings. Does nothing when nobody asked. */
bool run_launch_end_profile(struct run_launch *l, struct run_result *result);

/* ---- run_warnings.c ---- */

/* Adds what a performance engineer would say to the kernel that was added to the profile last. */
bool run_warnings(const struct run_launch *l, struct line_profile *profile, struct orch_error *error);

/* ---- for the kinds ---- */

/* Counts by mnemonic, while the program is there. */
bool run_gpu_counters(const struct gpu_setup *setup, const struct run_measure *m, struct run_result *result,
                      struct orch_error *error);
/* Adds the assumption that says which weights were packed before the run, if there are such (RUN_COUNTER_PACKED). False = out of
 * memory. */
bool run_tell_packed(struct run_result *result);
bool run_gpu_account(struct run *run, const struct run_measure *m, struct run_result *result, struct orch_error *error);
void run_gpu_explain(FILE *out, const struct run *run, const struct run_result *result);

#endif
