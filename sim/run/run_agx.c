/* A launch of GPU machine code: executed for its results, timed for its duration. Executing never depends on time, so results
 * are those of the threadgroups in grid order, whatever the chip and the number of host threads. */
#include "sim/agx/gpu_job.h"
#include "sim/agx/gpu_sample.h"
#include "sim/checksum.h"
#include "sim/chip/chip_units.h"
#include "sim/run/run_internal.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool run_agx_target(const struct chip *chip, struct abi_target *target, enum gpu_generation *generation, struct orch_error *error)
{
    static const char *const one[] = {"g13g", "g14g", "g15"}, *const several[] = {"g13x", "g14x", "g15"}; /* by generation */
    double clusters = 1, dies = 1;
    if (!chip_gpu_generation(chip, generation, error))
        return false;
    chip_map_number(chip, "gpu_clusters", "clusters", &clusters);
    chip_number(chip, "dies", &dies, NULL);
    *target = (struct abi_target){clusters > 1 ? several[*generation] : one[*generation],
                                  dies > 1 || (*generation == GPU_G13 && clusters > 1)};
    return true;
}

static unsigned repeats(const struct run_launch *l)
{
    return l->run->request->repeat ? l->run->request->repeat : 1;
}

/* ---- results ---- */

static bool add_remark(struct run_launch *l, const char *text)
{
    struct run *run = l->run;
    char (*grown)[sizeof *run->remark] = realloc(run->remark, (run->remarks + 1) * sizeof *grown);
    if (!grown)
        return orch_fail(l->error, ORCH_INTERNAL, "out of memory");
    run->remark = grown;
    snprintf(grown[run->remarks++], sizeof *grown, "%.60s: %s", l->setup->kernel->name, text);
    return true;
}

/* Every finding is a remark, and the run a fault of the program. */
static bool judge_findings(struct run_launch *l, const struct gpu_findings *found)
{
    for (size_t i = 0; i < found->count; i++)
        if (!add_remark(l, found->text[i]))
            return false;
    return !found->count || orch_fail(l->error, ORCH_FAULT, "%.200s: --sanitize found %zu %s in the program", l->setup->kernel->path,
                                      found->count, found->count == 1 ? "thing" : "things");
}

bool run_launch_execute(struct run_launch *l)
{
    const struct run_request *q = l->run->request;
    struct run_gpu *g = &l->m->gpu;
    struct gpu_findings found = {.text = NULL};
    double cores = 1;
    chip_number(q->chip, "gpu_cores", &cores, NULL);
    const struct gpu_functional options = {
        .threads = q->threads, .cores = (unsigned)cores, .work = g->work, .findings = &found,
        .checks = {.sanitize = q->sanitize, .poison = q->sanitize, .instruction_limit = GPU_WATCHDOG_INSTRUCTIONS}};
    bool ok = true;
    for (unsigned i = 0; ok && i < repeats(l); i++) {
        gpu_findings_free(&found);
        gpu_setup_restore(l->setup);
        const double begin = run_host_seconds();
        ok = gpu_functional_run(l->setup, &options, &g->totals, l->error);
        l->m->host_seconds += run_host_seconds() - begin;
    }
    ok = ok && judge_findings(l, &found);
    gpu_findings_free(&found);
    return ok;
}

static bool save_output(const struct run_launch *l, unsigned arg)
{
    const struct abi_arg *a = &l->setup->kernel->arg[arg];
    const char *folder = l->run->request->output_folder;
    char path[4096];
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return orch_fail(l->error, ORCH_USAGE, "--output %s: %s", folder, strerror(errno));
    snprintf(path, sizeof path, "%s/%s.npy", folder, a->name);
    struct npy_array array = {.type = abi_type_npy(a->type), .dims = 1, .shape = {a->count}, .data = gpu_setup_bytes(l->setup, arg)};
    return npy_measure(&array) && npy_save(path, &array, l->error);
}

/* A buffer that cannot have changed is no output: it is expected to stay, and told so when it did not. */
static bool hand_over(struct run_launch *l, struct run_result *r)
{
    const struct abi_kernel *k = l->setup->kernel;
    unsigned files = 0;
    bool ok = true;
    for (unsigned i = 0; ok && i < k->args; i++) {
        if (!k->arg[i].buffer || k->arg[i].unchanged)
            continue;
        ok = run_checksum_add(&r->checksum, k->arg[i].name, checksum_fnv1a64(gpu_setup_bytes(l->setup, i), k->arg[i].bytes)) ||
             orch_fail(l->error, ORCH_INTERNAL, "out of memory for the result");
        if (ok && l->run->request->output_folder) {
            ok = save_output(l, i);
            files++;
        }
    }
    return ok && (!files || run_values_add(&r->counters, RUN_COUNTER_FILES, files));
}

static bool compare(struct run_launch *l, struct run_result *r)
{
    unsigned expected, right;
    char text[320];
    gpu_setup_compare(l->setup, &expected, &right, text, sizeof text);
    if (text[0] && !add_remark(l, text))
        return false;
    return !expected || (run_values_add(&r->counters, RUN_COUNTER_EXPECTED, expected) &&
                         run_values_add(&r->counters, RUN_COUNTER_AS_EXPECTED, right));
}

/* ---- time ---- */

/* The core that was busy longest: the others had their last threadgroup before. */
static void read_stalls(struct run_launch *l)
{
    struct run_gpu *g = &l->m->gpu;
    double best[GPU_STALL_COUNT] = {0}, least_idle = INFINITY, issue = 0, all = 0;
    for (unsigned core = 0; core < g->params.cores; core++) {
        double cycles[GPU_STALL_COUNT], total;
        gpu_timing_stalls(l->gpu->timing, core, cycles, &total);
        issue += cycles[GPU_STALL_ISSUE];
        all += total;
        if (cycles[GPU_STALL_LAUNCH] >= least_idle)
            continue;
        least_idle = cycles[GPU_STALL_LAUNCH];
        memcpy(best, cycles, sizeof best);
    }
    for (int i = 0; i < GPU_STALL_COUNT; i++)
        g->stalls[i] += best[i];
    g->issue_share = all > 0 ? issue / all : 0;
}

/* One pass over the selected threadgroups. `totals` (may be NULL) gets what they executed. */
static bool one_pass(struct run_launch *l, const struct gpu_selection *selection, struct gpu_part *part, struct gpu_totals *totals)
{
    struct gpu_totals own = {0};
    struct engine *engine = engine_create();
    struct gpu_job *job = gpu_job_create(l->setup, &l->gpu->params, l->gpu->timing, selection, l->error);
    double end_ns;
    bool ok = job && gpu_totals_init(&own, l->setup->program, l->error);
    if (ok && !engine)
        ok = orch_fail(l->error, ORCH_INTERNAL, "out of memory for the engine");
    if (ok) {
        const struct engine_task task = gpu_job_task(job);
        gpu_setup_restore(l->setup);
        ok = (engine_add(engine, &task, NULL, 0) >= 0 || orch_fail(l->error, ORCH_INTERNAL, "out of memory for the engine")) &&
             engine_run(engine, &end_ns, l->error);
    }
    if (ok) {
        gpu_job_add_totals(job, &own);
        *part = (struct gpu_part){gpu_job_end_ns(job) - gpu_job_begin_ns(job), (double)own.instructions};
        if (totals)
            gpu_job_add_totals(job, totals);
    }
    gpu_totals_free(&own);
    gpu_job_free(job);
    engine_free(engine);
    return ok;
}

/* The border between two passes. */
static void restart(struct run_launch *l, bool keep_caches)
{
    struct activity unused = {{0}};
    soc_take_activity(l->m->soc, &unused);
    soc_restart(l->m->soc, keep_caches);
}

/* The same from a clean border, with what it did in the memory system and why it waited. */
static bool measured_pass(struct run_launch *l, const struct gpu_selection *selection, bool keep_caches, struct gpu_part *part,
                          struct gpu_totals *totals)
{
    struct mem_counters memory;
    restart(l, keep_caches);
    const double begin = run_host_seconds();
    if (!one_pass(l, selection, part, totals))
        return false;
    l->m->host_seconds += run_host_seconds() - begin;
    soc_take_activity(l->m->soc, &l->m->activity);
    mem_system_counters(soc_memory(l->m->soc), &memory);
    run_memory_add(&l->m->memory, &memory);
    read_stalls(l);
    return true;
}

static struct gpu_totals *timed_totals(const struct run_launch *l)
{
    return l->run->request->mode == RUN_TIMING ? &l->m->gpu.totals : NULL;
}

/* Passes over everything. */
static bool time_all(struct run_launch *l)
{
    const struct gpu_selection all = {0};
    const bool cold = l->run->request->cold;
    struct run_gpu *g = &l->m->gpu;
    struct gpu_part part;
    restart(l, false);
    if (!cold && !one_pass(l, &all, &part, NULL))
        return false;
    for (unsigned i = 0; i < repeats(l); i++) {
        if (!measured_pass(l, &all, true, &part, timed_totals(l)))
            return false;
        g->device_ns += part.ns;
        g->groups_timed += l->setup->group_count;
    }
    return true;
}

/* ---- time from a sample ---- */

static double buffer_bytes(const struct run_launch *l)
{
    double bytes = 0;
    for (unsigned i = 0; i < l->setup->kernel->args; i++)
        bytes += (double)l->setup->kernel->arg[i].bytes;
    return bytes;
}

/* Threadgroups that the GPU holds at a time. */
static uint64_t wave_of(const struct run_launch *l)
{
    return (uint64_t)l->m->gpu.occupancy * l->m->gpu.params.cores;
}

static uint64_t times(uint64_t count, double factor)
{
    return (uint64_t)llround((double)count * factor);
}

/* Counts of the sample stand for the whole, `factor` times as much. */
static void scale_counts(struct run_launch *l, double factor)
{
    struct run_measure *m = l->m;
    struct mem_counters *c = &m->memory;
    for (int i = 0; i < ACT_COUNT; i++)
        m->activity.count[i] = times(m->activity.count[i], factor);
    for (int level = 0; level < MEM_LEVEL_COUNT; level++) {
        c->hits[level] = times(c->hits[level], factor);
        c->misses[level] = times(c->misses[level], factor);
        c->writebacks[level] = times(c->writebacks[level], factor);
    }
    c->tlb_misses = times(c->tlb_misses, factor);
    if (!timed_totals(l))
        return;
    m->gpu.totals.instructions = times(m->gpu.totals.instructions, factor);
    m->gpu.totals.active_lanes = times(m->gpu.totals.active_lanes, factor);
    for (uint32_t i = 0; i < gpu_program_count(l->setup->program); i++)
        m->gpu.totals.issues[i] = times(m->gpu.totals.issues[i], factor);
}

/* Runs threadgroups for what they leave in the caches. */
static bool warm(struct run_launch *l, struct gpu_warmer *warmer, uint64_t first, uint64_t end)
{
    struct unit_fault fault = {0};
    if (gpu_warmer_run(warmer, first, end, 0, &fault))
        return true;
    if (fault.kind == UNIT_FAULT_NONE)
        return orch_fail(l->error, ORCH_INTERNAL, "out of memory for a sample of threadgroups");
    return gpu_setup_explain(l->setup, &fault, l->error);
}

/* Caches behind the GPU's cores, lines. */
struct reach {
    double l2_lines, slc_lines;
    bool fits;              /* what the launch touches stays in the SLC as a whole */
    uint64_t l2, slc;       /* threadgroups after which nothing is left in the cache of what was there before */
};

/* The SLC scatters pages over its sets: below this share of it hardly any set overflows. */
#define FILLED_SHARE 0.75
/* And after so many lines for each of its places hardly any place has its old line. */
#define RENEWED 1.5

static bool cache_lines(const struct run_launch *l, struct reach *r)
{
    struct mem_params memory;
    unsigned first = 0;
    if (!chip_mem_params(l->run->request->chip, NULL, &memory, l->error) ||
        !chip_gpu_memory(l->run->request->chip, &memory, &first, l->error))
        return false;
    *r = (struct reach){.slc_lines = 1024.0 * memory.slc.kib * memory.dies / MEM_LINE_BYTES};
    for (unsigned c = first; c < memory.cluster_count; c++)
        r->l2_lines += 1024.0 * memory.cluster[c].l2.kib / MEM_LINE_BYTES;
    return true;
}

/* How far back what is in the caches can come from: runs threadgroups from the middle of the launch on. */
static bool find_reach(struct run_launch *l, struct gpu_warmer *warmer, struct reach *r)
{
    const uint64_t groups = l->setup->group_count, turn = l->m->gpu.params.cores;
    const double lines = buffer_bytes(l) / MEM_LINE_BYTES;
    if (!cache_lines(l, r))
        return false;
    r->fits = !l->run->request->cold && lines < FILLED_SHARE * r->slc_lines;
    r->l2 = r->slc = groups;
    restart(l, false);
    const struct gpu_warmed start = gpu_warmer_counts(warmer);
    /* Data that cannot renew the SLC need not be tried. */
    const uint64_t most = r->fits || lines >= 2 * RENEWED * r->slc_lines ? groups / 2 : 0;
    for (uint64_t done = 0; done < most;) {
        const uint64_t end = done + turn < most ? done + turn : most;
        if (!warm(l, warmer, groups / 2 + done, groups / 2 + end))
            return false;
        done = end;
        const struct gpu_warmed now = gpu_warmer_counts(warmer);
        if (r->l2 == groups && (double)(now.into_l2 - start.into_l2) >= RENEWED * r->l2_lines)
            r->l2 = done;
        if ((double)(now.into_slc - start.into_slc) >= RENEWED * r->slc_lines)
            r->slc = done;
        if (r->slc < groups || (r->fits && r->l2 < groups))
            break;
    }
    return true;
}

/* Every line of every buffer, from begin to end and all buffers side by side. */
static void sweep(struct run_launch *l)
{
    const struct abi_kernel *k = l->setup->kernel;
    uint64_t longest = 0;
    for (unsigned i = 0; i < k->args; i++)
        longest = k->arg[i].bytes > longest ? k->arg[i].bytes : longest;
    for (uint64_t at = 0; at < longest; at += MEM_LINE_BYTES)
        for (unsigned i = 0; i < k->args; i++)
            if (at < k->arg[i].bytes)
                mem_port_warm(l->gpu->port[at / MEM_LINE_BYTES % l->gpu->params.cores], 0, l->setup->address[i] + at, MEM_LINE_BYTES,
                              MEM_ACCESS_LOAD);
}

/* The caches as the launch leaves them. */
static bool leave_caches(struct run_launch *l, struct gpu_warmer *warmer, const struct reach *r)
{
    const uint64_t groups = l->setup->group_count, last = r->fits ? r->l2 : r->slc;
    restart(l, false);
    if (l->run->request->cold)
        return true;
    if (r->fits)
        sweep(l);
    gpu_setup_restore(l->setup);
    return warm(l, warmer, groups - last, groups);
}

static bool time_sample(struct run_launch *l, struct gpu_warmer *warmer)
{
    struct run_gpu *g = &l->m->gpu;
    struct gpu_sample s;
    struct gpu_part part;
    struct reach reach;
    const double begin = run_host_seconds();
    gpu_setup_restore(l->setup);
    if (!find_reach(l, warmer, &reach) || !leave_caches(l, warmer, &reach))
        return false;
    l->m->host_seconds += run_host_seconds() - begin;
    gpu_sample_choose(l->setup->group_count, wave_of(l), reach.fits ? reach.l2 : reach.slc, &s);
    const struct gpu_selection selection = {s.stretch, s.stretches, warmer, s.progress};
    if (!measured_pass(l, &selection, true, &part, timed_totals(l)))
        return false;
    const struct gpu_part whole = gpu_sample_scale(&s, part, g->work, &g->scale_uncertainty);
    g->device_ns = repeats(l) * whole.ns;
    g->groups_timed = s.groups_timed;
    scale_counts(l, repeats(l) * whole.work / part.work);
    return true;
}

/* Above so many instructions of simdgroups `--detail auto` times a sample: some seconds of simulation. */
#define AUTO_INSTRUCTIONS 0x1p24

/* Whether `auto` finds the launch big enough to be sampled, from a few threadgroups of it. */
static bool is_big(struct run_launch *l, struct gpu_warmer *warmer, bool *big)
{
    enum { TRIED = 8 };
    const uint64_t groups = l->setup->group_count, before = gpu_warmer_counts(warmer).work;
    gpu_setup_restore(l->setup);
    for (uint64_t i = 0; i < TRIED; i++) {
        const uint64_t group = groups * (2 * i + 1) / (2 * TRIED);
        if (!warm(l, warmer, group, group + 1))
            return false;
    }
    *big = (double)(gpu_warmer_counts(warmer).work - before) / TRIED * (double)groups > AUTO_INSTRUCTIONS;
    return true;
}

/* *done is false when the launch is to be timed as a whole. */
static bool sampled(struct run_launch *l, bool *done)
{
    const char *detail = l->run->request->detail;
    *done = false;
    if ((detail && strcmp(detail, "instr") == 0) || !gpu_sample_worthwhile(l->setup->group_count, wave_of(l)))
        return true;
    struct gpu_warmer *warmer = gpu_warmer_create(l->setup, l->gpu->port, l->m->gpu.params.cores);
    bool ok = warmer || orch_fail(l->error, ORCH_INTERNAL, "out of memory for a sample of threadgroups");
    *done = true;
    if (ok && (!detail || strcmp(detail, "auto") == 0))
        ok = is_big(l, warmer, done);
    if (ok && *done)
        ok = time_sample(l, warmer);
    gpu_warmer_free(warmer);
    return ok;
}

/* ---- the whole ---- */

bool run_launch_open(struct run_launch *l)
{
    struct run_gpu *g = &l->m->gpu;
    if (!l->m->soc)
        l->m->soc = soc_create(l->run->request->chip, l->error);
    l->gpu = l->m->soc ? soc_gpu(l->m->soc, l->error) : NULL;
    if (!l->gpu)
        return false;
    const struct gpu_timing_launch launch = gpu_job_launch(l->setup);
    g->params = l->gpu->params;
    g->occupancy = gpu_timing_occupancy(&g->params, &launch, &l->run->occupancy_limit);
    g->overhead_ns = 1e3 * repeats(l) * (g->params.submit_us + g->params.round_trip_us);
    return true;
}

bool run_launch_time(struct run_launch *l)
{
    struct run_gpu *g = &l->m->gpu;
    bool done = false;
    if (!sampled(l, &done) || (!done && !time_all(l)))
        return false;
    l->m->end_ns = g->device_ns + g->overhead_ns;
    return run_result_set_text(&l->run->detail, done ? "sampled" : "instr") ||
           orch_fail(l->error, ORCH_INTERNAL, "out of memory for the result");
}

/* Per-threadgroup counts weigh a sample; they are gathered only where one is possible. */
bool run_launch_prepare(struct run_launch *l)
{
    const char *detail = l->run->request->detail;
    const uint64_t wave = wave_of(l);
    if (l->run->request->mode != RUN_FULL || (detail && strcmp(detail, "instr") == 0) ||
        !gpu_sample_worthwhile(l->setup->group_count, wave))
        return true;
    l->m->gpu.work = calloc(l->setup->group_count, sizeof *l->m->gpu.work);
    return l->m->gpu.work || orch_fail(l->error, ORCH_INTERNAL, "out of memory for the counts of %llu threadgroups",
                                       (unsigned long long)l->setup->group_count);
}

/* Results last: timed passes leave only theirs in memory. */
static bool run_launch(struct run_launch *l, struct run_result *r)
{
    const enum run_mode mode = l->run->request->mode;
    struct run_measure *m = l->m;
    m->gpu.groups = l->setup->group_count;
    if (!gpu_totals_init(&m->gpu.totals, l->setup->program, l->error) || (mode != RUN_FUNCTIONAL && !run_launch_open(l)))
        return false;
    if (mode != RUN_TIMING && (!run_launch_prepare(l) || !run_launch_execute(l) || !compare(l, r) || !hand_over(l, r)))
        return false;
    return mode == RUN_FUNCTIONAL || run_launch_time(l);
}

bool run_gpu_generation(const struct run *run, enum gpu_generation *generation, struct run_result *result, struct orch_error *error)
{
    struct abi_target target;
    if (!run_agx_target(run->request->chip, &target, generation, error))
        return false;
    if (*generation != GPU_G15)
        return true;
    *generation = GPU_G14;
    return run_assumption_add(&result->assumptions, "gpu_family", "guess",
                              "the G15 instruction set is not published: this chip is taken to run G13/G14 code at its own pace") ||
           orch_fail(error, ORCH_INTERNAL, "out of memory for the result");
}

bool run_agx(struct run *run, struct run_measure *m, struct run_result *result, struct orch_error *error)
{
    const struct abi_kernel *k = &run->gpu_kernel;
    struct gpu_setup setup = {.program = NULL};
    struct run_launch l = {.run = run, .setup = &setup, .m = m, .error = error};
    enum gpu_generation generation;
    struct mem_space *space = mem_space_create(0);
    bool ok = space || orch_fail(error, ORCH_INTERNAL, "no address space for the simulated memory");
    ok = ok && run_gpu_generation(run, &generation, result, error) && gpu_setup_open(&setup, k, generation, space, NULL, error) &&
         run_launch(&l, result) && run_gpu_counters(&setup, m, result, error);
    run->gpu_bytes = ok ? buffer_bytes(&l) : 0;
    run->gpu_group_threads = k->group[0] * k->group[1] * k->group[2];
    if (ok)
        ok = run_placement_add(&result->placement, k->name, "gpu", k->code_name, "GPU machine code runs on the GPU");
    gpu_setup_close(&setup);
    mem_space_free(space);
    return ok;
}
