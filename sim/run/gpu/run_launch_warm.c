/* How a launch is timed, by what some of its threadgroups execute; and untimed passes that bring the caches into the state in
 * which a launch leaves them: most threadgroups are executed only, those that end the launch are timed as well. */
#include "sim/chip/chip_units.h"
#include "sim/run/run_internal.h"
#include "sim/run/gpu/run_launch.h"
#include "sim/workload/gpu/gpu_loops.h"
#include "sim/workload/gpu/gpu_warm.h"
#include "units/mem/cache.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Number of waves at the end of a launch that are timed: the loads and stores of the last wave come in another order than those
 * of single threadgroups. They begin in step, and it takes some waves until they have fallen out of it as far as at the end of a
 * launch that is timed whole; how far decides how many of the lines in L2 are dirty. */
#define END_WAVES 4

/* A launch with fewer waves, or with fewer simdgroup instructions, is timed as a whole: that takes hardly longer, and the last
 * wave, whose end may shift by a percent for any reason, is a large part of it. */
#define LEAST_WAVES 8
#define LEAST_WORK  0x1p16

/* Threadgroups whose simdgroups execute more instructions each, and access the memory more often, come forward at one pace, on a
 * core and on all cores: executing them turn by turn leaves the caches as timing them does. Others spend their lives waiting for
 * what they load at their beginning, and when each of them is done waiting only timing tells. */
#define LONG_LIFE     400
#define MANY_ACCESSES 16
/* That holds for launches which compute. Products of matrices issue at an eighth of the highest pace where their pipes are full,
 * so data that would take longer than that in DRAM make a launch wait for memory (a product of a matrix and a vector: 25 times),
 * and then its time hangs on what exactly it finds in which cache. Launches with fewer instructions cost next to nothing anyhow.
 */
#define COMPUTING    8.0
#define TOUCHED_WORK 0x1p17

/* What is accessed before the last so many times the size of the SLC is taken to have left the caches at the end of a launch. */
#define LEFT_SLCS 3.0

/* Launches with more instructions may leap over laps. */
#define LEAPT_WORK 0x1p21

/* Threadgroups fall out of step over many waves, which laps that are leapt over do not show. */
#define LEAP_WAVES 12

/* Launches with more instructions may skip threadgroups, when simdgroups of them execute fewer than so many. */
#define SKIPPED_WORK 0x1p21
#define SHORT_LIFE   1600
/* Data up to so many times the size of the SLC are found there in part by the next run, and where differs along the launch. That
 * counts unless issuing takes longer than the data would in DRAM. */
#define MOST_KEPT 2.0
#define ISSUING   1.0

/* Launches with more instructions may be timed from a part of them; this many take a second of simulation or two. Where data
 * take more than so many times as long in DRAM as instructions take to issue, a pace is that of the DRAM, steady enough for
 * smaller launches. */
#define LARGE_WORK   0x1p24
#define LARGE_STREAM 0x1p22
#define STREAMING    2.0
/* Learning how threadgroups are alike executes some fifteen of them: it takes a small part of launches with so many. */
#define LEARNED_GROUPS 256
/* Where laps may be leapt over instead, windows in vain cost half as much again: leaps of smaller launches cost little. */
#define LARGE_LOOPS 0x1p25

uint64_t run_launch_wave(const struct run_launch *l)
{
    return (uint64_t)l->m->gpu.occupancy * l->m->gpu.params.cores;
}

unsigned run_launch_simdgroups(const struct run_launch *l)
{
    return gpu_job_launch(&l->setup->launch).simdgroups_per_group;
}

double run_launch_mean_simdgroups(const struct run_launch *l)
{
    return gpu_job_mean_simdgroups(&l->setup->launch);
}

double run_launch_work(const struct run_launch *l)
{
    return gpu_work_before(&l->work, l->setup->group_count) * run_launch_mean_simdgroups(l);
}

/* ---- the caches at the end of a launch ---- */

/* The first threadgroup of which lines may be left in the caches when this one begins. */
static uint64_t first_left(const struct run_launch *l, uint64_t end)
{
    const double slcs = run_launch_buffer_bytes(l) / MEM_LINE_BYTES / l->slc_lines;
    return l->skips && slcs > LEFT_SLCS ? (uint64_t)((1 - LEFT_SLCS / slcs) * (double)end) : 0;
}

bool run_launch_warm(struct run_launch *l)
{
    struct unit_fault fault = {0};
    const uint64_t wave = run_launch_wave(l);
    const struct gpu_selection end = {.first = l->setup->group_count - END_WAVES * wave};
    const struct gpu_warming before = {.first = first_left(l, end.first),
                                       .end = end.first,
                                       .resident = wave,
                                       .cores = l->m->gpu.params.cores,
                                       .replay = l->replay};
    run_launch_rewind(l);
    if (!gpu_warm(l->setup, l->gpu->port, &before, &fault))
        return run_launch_fault(l, &fault);
    run_launch_restart(l, true);
    return run_launch_pass(l, &end, NULL, NULL);
}

/* ---- how a launch is timed ---- */

/* Executes some threadgroups for how much they execute. */
static bool find_work(struct run_launch *l)
{
    l->crowd = gpu_crowd_create(l->setup, l->m->gpu.params.cores, l->m->gpu.occupancy, l->gpu->port);
    return l->crowd ? run_launch_find_work(l) : orch_no_memory(l->error);
}

/* The least time that the data of the launch take in DRAM, over the least time of issuing. */
static double dram_over_issue(const struct run_launch *l, const struct mem_params *memory, double work)
{
    const struct gpu_params *gpu = &l->m->gpu.params;
    const double dram_ns = run_launch_buffer_bytes(l) / (memory->dram_peak_gbps * memory->dies);
    return dram_ns / (work / (gpu->cores * gpu->schedulers * gpu->issue_per_cycle * gpu->clock_ghz));
}

/* Tells whether the answer may follow from a part of the launch. */
static bool may_extend(const struct run_launch *l)
{
    const char *detail = l->run->request->detail;
    return !detail || strcmp(detail, "instr") != 0;
}

/* Tells whether threadgroups may be skipped: there are many waves of them. */
static bool may_skip(const struct run_launch *l, double work)
{
    const double groups = (double)l->setup->group_count, life = work / groups / run_launch_mean_simdgroups(l);
    const double slcs = run_launch_buffer_bytes(l) / MEM_LINE_BYTES / l->slc_lines;
    const bool kept = !l->run->request->cold && slcs >= RUN_SLC_FILLED && slcs < MOST_KEPT;
    if (kept && l->dram_over_issue > ISSUING)
        return false;
    return may_extend(l) && work >= SKIPPED_WORK && life < SHORT_LIFE &&
           groups >= (double)(gpu_job_least_waves(life) * run_launch_wave(l));
}

/* The share of accesses to memory in the instructions that were executed for the work; 0 when host memory ran out. */
static double access_share(const struct run_launch *l)
{
    const struct gpu_program *program = l->setup->program;
    const uint32_t count = gpu_program_count(program);
    uint64_t *issues = calloc(count, sizeof *issues);
    double sum = 0;
    const struct gpu_group *group = gpu_crowd_group(l->crowd, 0);
    if (issues)
        gpu_group_issue_counts(group, issues);
    for (uint32_t i = 0; issues && i < count; i++) {
        const enum agx_class of = gpu_program_effect(program, i)->unit_class;
        sum += of == AGX_CLASS_DEVICE_LOAD || of == AGX_CLASS_DEVICE_STORE ? (double)issues[i] : 0;
    }
    free(issues);
    return sum / (double)gpu_group_counts(group).instructions;
}

/* Tells whether executing alone warms the caches up. */
static bool may_touch(const struct run_launch *l, double work)
{
    const double life = work / (double)l->setup->group_count / run_launch_mean_simdgroups(l);
    return may_extend(l) && !l->skips && work >= TOUCHED_WORK && life >= LONG_LIFE && access_share(l) * life >= MANY_ACCESSES &&
           l->dram_over_issue < COMPUTING && run_launch_keeps_memory(l);
}

static enum run_way whole_way_of(const struct run_launch *l, double work)
{
    if (may_touch(l, work))
        return RUN_WAY_TOUCH;
    return l->setup->group_count / run_launch_wave(l) >= LEAST_WAVES && work >= LEAST_WORK ? RUN_WAY_WARM : RUN_WAY_ALL;
}

static void forget_loops(struct run_launch *l)
{
    free(l->lap);
    l->lap = NULL;
}

/* Finds the long loops of a launch that is timed whole, so that their laps need not be. */
static bool find_loops(struct run_launch *l)
{
    struct unit_fault fault = {0};
    unsigned found;
    l->lap = calloc(gpu_program_count(l->setup->program) + 1, sizeof *l->lap);
    if (!l->lap)
        return orch_no_memory(l->error);
    if (!gpu_loops_find(l->setup, l->setup->group_count / 2, l->lap, &found, &fault))
        return run_launch_fault(l, &fault);
    if (!found)
        forget_loops(l);
    return true;
}

void run_launch_close(struct run_launch *l)
{
    forget_loops(l);
    gpu_crowd_free(l->crowd);
    l->crowd = NULL;
    gpu_replay_free(l->replay);
    l->replay = NULL;
    gpu_profile_free(&l->profile);
}

/* How the launch is timed where its time does not follow from windows. */
static bool prepare_whole(struct run_launch *l, double work)
{
    l->way = l->whole_way = whole_way_of(l, work);
    return !may_extend(l) || work <= LEAPT_WORK || l->setup->group_count / run_launch_wave(l) >= LEAP_WAVES || find_loops(l);
}

/* Launches with more instructions may be timed from windows. */
static double large_work(const struct run_launch *l)
{
    if (l->lap)
        return LARGE_LOOPS;
    return l->dram_over_issue > STREAMING ? LARGE_STREAM : LARGE_WORK;
}

/* Tells whether enough threadgroups are run to learn what they have in common. */
static bool worth_learning(const struct run_launch *l)
{
    return l->way == RUN_WAY_FORWARD || l->way == RUN_WAY_TOUCH || l->setup->group_count >= LEARNED_GROUPS;
}

/* Threadgroups are played where they are alike, but for passes that leap over laps (gpu_job.c). Where every instruction is asked
 * for, all are executed. */
static bool learn_replay(struct run_launch *l)
{
    if (!may_extend(l) || !worth_learning(l))
        return true;
    if (!gpu_replay_learn(l->setup, &l->replay))
        return orch_no_memory(l->error);
    gpu_crowd_set_replay(l->crowd, l->replay);
    return true;
}

bool run_launch_prepare(struct run_launch *l)
{
    struct orch_error *error = l->error, unused = {0};
    const bool full = l->run->request->mode == RUN_FULL;
    struct mem_params memory;
    l->way = l->whole_way = RUN_WAY_ALL;
    if (!may_extend(l) && l->setup->group_count / run_launch_wave(l) < LEAST_WAVES)
        return true;
    l->error = full ? &unused : error; /* executing all threadgroups in grid order finds a fault again */
    const bool known = find_work(l);
    l->error = error;
    if (!known)
        return full;
    double l2_kib = 0;
    if (!chip_mem_params(l->run->request->chip, NULL, &memory, l->error) ||
        !chip_number(l->run->request->chip, "gpu.l2_kib", &l2_kib, l->error))
        return false;
    l->l2_lines = 1024 * l2_kib / MEM_LINE_BYTES;
    l->slc_lines = 1024.0 * memory.slc.kib * memory.dies / MEM_LINE_BYTES;
    const double work = run_launch_work(l);
    l->dram_over_issue = dram_over_issue(l, &memory, work);
    l->skips = may_skip(l, work);
    if (!prepare_whole(l, work))
        return false;
    if (may_extend(l) && work > large_work(l) && !l->skips && run_launch_forward_worthwhile(l, work))
        l->way = RUN_WAY_FORWARD;
    return learn_replay(l);
}
