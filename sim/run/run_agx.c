/* A launch of GPU machine code: executed for its results, timed for its duration. Executing never depends on time, so results
 * are those of the threadgroups in grid order, whatever the chip and the number of host threads. */
#include "sim/workload/gpu/gpu_job.h"
#include "sim/base/checksum.h"
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

unsigned run_launch_repeats(const struct run_launch *l)
{
    return l->run->request->repeat ? l->run->request->repeat : 1;
}

/* ---- results ---- */

static bool add_remark(struct run_launch *l, const char *text)
{
    struct run *run = l->run;
    char(*grown)[sizeof *run->remark] = realloc(run->remark, (run->remarks + 1) * sizeof *grown);
    if (!grown)
        return orch_no_memory(l->error);
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
    return !found->count || orch_fail(l->error, ORCH_FAULT, "%.200s: " ORCH_OPTION("sanitize") " found %zu %s in the program",
                                      l->setup->kernel->path, found->count, found->count == 1 ? "thing" : "things");
}

/* Whether results are the same whenever and wherever threadgroups run. */
static bool any_order(const struct run_launch *l)
{
    return gpu_program_order_free(l->setup->program) && !gpu_program_reads_core(l->setup->program);
}

bool run_launch_leaves_results(const struct run_launch *l)
{
    return l->way != RUN_WAY_SAMPLE && any_order(l);
}

/* The warm-up executes everything once: its results are the launch's. When it fails, nothing has happened: who executes in the
 * order of the grid finds the fault again. */
static bool execute_warming(struct run_launch *l)
{
    const struct run_request *q = l->run->request;
    struct orch_error *error = l->error, unused = {0};
    struct gpu_totals all = {0};
    if (l->way != RUN_WAY_WARM || q->cold || q->sanitize || run_launch_repeats(l) > 1 || !any_order(l))
        return false;
    const double begin = run_host_seconds();
    l->error = &unused;
    l->warmed = gpu_totals_init(&all, l->setup->program, l->error) && run_launch_warm(l, &all);
    l->error = error;
    l->m->host_seconds += run_host_seconds() - begin;
    if (l->warmed)
        gpu_totals_merge(&l->m->gpu.totals, &all, l->setup->program);
    gpu_totals_free(&all);
    return l->warmed;
}

bool run_launch_execute(struct run_launch *l)
{
    if (execute_warming(l))
        return true;
    const struct run_request *q = l->run->request;
    struct run_gpu *g = &l->m->gpu;
    struct gpu_findings found = {.text = NULL};
    double cores = 1;
    chip_number(q->chip, "gpu_cores", &cores, NULL);
    const struct gpu_functional options = {
        .threads = q->threads,
        .cores = (unsigned)cores,
        .work = g->work,
        .findings = &found,
        .checks = {.sanitize = q->sanitize, .poison = q->sanitize, .instruction_limit = GPU_WATCHDOG_INSTRUCTIONS}};
    bool ok = true;
    for (unsigned i = 0; ok && i < run_launch_repeats(l); i++) {
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
        return orch_fail(l->error, ORCH_USAGE, ORCH_OPTION("output") " %s: %s", folder, strerror(errno));
    snprintf(path, sizeof path, "%s/%s.npy", folder, a->name);
    struct npy_array array = {
        .type = abi_type_npy(a->type), .dims = 1, .shape = {a->count}, .data = gpu_setup_bytes(l->setup, arg)};
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
             orch_no_memory(l->error);
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

static void read_stalls(struct run_launch *l)
{
    struct run_gpu *g = &l->m->gpu;
    double cycles[GPU_STALL_COUNT];
    g->issue_share = interval_gpu_stalls(l->gpu->timing, g->params.cores, cycles);
    for (int i = 0; i < GPU_STALL_COUNT; i++)
        g->stalls[i] += cycles[i];
}

bool run_launch_pass(struct run_launch *l, const struct gpu_selection *selection, struct gpu_part *part,
                     struct gpu_totals *totals)
{
    struct gpu_totals own = {0};
    struct engine *engine = engine_create();
    struct gpu_job *job = gpu_job_create(l->setup, &l->gpu->params, l->gpu->timing, selection, l->error);
    double end_ns;
    bool ok = job && gpu_totals_init(&own, l->setup->program, l->error);
    if (ok && !engine)
        ok = orch_no_memory(l->error);
    if (ok) {
        const struct engine_task task = gpu_job_task(job);
        ok = (engine_add(engine, &task, NULL, 0) >= 0 || orch_no_memory(l->error)) && engine_run(engine, &end_ns, l->error);
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

void run_launch_restart(struct run_launch *l, bool keep_caches)
{
    struct activity unused = {{0}};
    soc_take_activity(l->m->soc, &unused);
    soc_restart(l->m->soc, keep_caches);
}

bool run_launch_measure(struct run_launch *l, const struct gpu_selection *selection, bool keep_caches, struct gpu_part *part,
                        struct gpu_totals *totals)
{
    struct mem_counters memory;
    run_launch_restart(l, keep_caches);
    gpu_setup_restore(l->setup);
    const double begin = run_host_seconds();
    if (!run_launch_pass(l, selection, part, totals))
        return false;
    l->m->host_seconds += run_host_seconds() - begin;
    soc_take_activity(l->m->soc, &l->m->activity);
    mem_system_counters(soc_memory(l->m->soc), &memory);
    run_memory_add(&l->m->memory, &memory);
    read_stalls(l);
    return true;
}

struct gpu_totals *run_launch_totals(const struct run_launch *l)
{
    return l->run->request->mode == RUN_TIMING ? &l->m->gpu.totals : NULL;
}

/* Leaves the caches as a pass finds them. */
static bool warm_up(struct run_launch *l)
{
    const struct gpu_selection all = {0};
    struct gpu_part unused;
    if (l->warmed)
        return true;
    run_launch_restart(l, false);
    if (l->run->request->cold)
        return true;
    if (l->way == RUN_WAY_WARM)
        return run_launch_warm(l, NULL);
    gpu_setup_restore(l->setup);
    return run_launch_pass(l, &all, &unused, NULL);
}

/* Passes over everything. */
static bool time_all(struct run_launch *l)
{
    const struct gpu_selection all = {0};
    struct run_gpu *g = &l->m->gpu;
    struct gpu_part part;
    if (!warm_up(l))
        return false;
    gpu_timing_set_watch(l->gpu->timing, l->run->request->watch);
    for (unsigned i = 0; i < run_launch_repeats(l); i++) {
        if (!run_launch_measure(l, &all, true, &part, run_launch_totals(l)))
            return false;
        g->device_ns += part.ns;
        g->groups_timed += l->setup->group_count;
    }
    return true;
}

double run_launch_buffer_bytes(const struct run_launch *l)
{
    double bytes = 0;
    for (unsigned i = 0; i < l->setup->kernel->args; i++)
        bytes += (double)l->setup->kernel->arg[i].bytes;
    return bytes;
}

/* ---- the whole ---- */

bool run_launch_open(struct run_launch *l)
{
    struct run_gpu *g = &l->m->gpu;
    l->gpu = run_soc_open(l->run, l->m, l->error) ? soc_gpu(l->m->soc, l->error) : NULL;
    if (!l->gpu)
        return false;
    const struct gpu_timing_launch launch = gpu_job_launch(l->setup);
    g->params = l->gpu->params;
    g->occupancy = gpu_timing_occupancy(&g->params, &launch, &l->run->occupancy_limit);
    g->overhead_ns = 1e3 * run_launch_repeats(l) * (g->params.submit_us + g->params.round_trip_us);
    return true;
}

bool run_launch_time(struct run_launch *l)
{
    struct run_gpu *g = &l->m->gpu;
    const bool sampled = l->way == RUN_WAY_SAMPLE;
    if (!(sampled ? run_launch_sample(l) : time_all(l)))
        return false;
    if (l->run->paces.launches < RUN_PACES)
        l->run->paces.launches++;
    l->m->end_ns = g->device_ns + g->overhead_ns;
    return run_result_set_text(&l->run->detail, sampled ? "sampled" : "instr") || orch_no_memory(l->error);
}

/* Results last: timed passes leave only theirs in memory. */
static bool run_launch(struct run_launch *l, struct run_result *r)
{
    const enum run_mode mode = l->run->request->mode;
    struct run_measure *m = l->m;
    m->gpu.groups = l->setup->group_count;
    if (!gpu_totals_init(&m->gpu.totals, l->setup->program, l->error) || (mode != RUN_FUNCTIONAL && !run_launch_open(l)))
        return false;
    if ((mode != RUN_FUNCTIONAL && !run_launch_prepare(l)) ||
        (mode != RUN_TIMING && (!run_launch_execute(l) || !compare(l, r) || !hand_over(l, r))))
        return false;
    return mode == RUN_FUNCTIONAL || run_launch_time(l);
}

bool run_gpu_generation(const struct run *run, enum gpu_generation *generation, struct run_result *result,
                        struct orch_error *error)
{
    struct abi_target target;
    if (!run_agx_target(run->request->chip, &target, generation, error))
        return false;
    if (*generation != GPU_G15)
        return true;
    *generation = GPU_G14;
    return run_assumption_add(
               &result->assumptions, "gpu_family", "guess",
               "the G15 instruction set is not published: this chip is taken to run G13/G14 code at its own pace") ||
           orch_no_memory(error);
}

bool run_agx(struct run *run, struct run_measure *m, struct run_result *result, struct orch_error *error)
{
    const struct abi_kernel *k = &run->gpu_kernel;
    struct gpu_setup setup = {.program = NULL};
    struct run_launch l = {.run = run, .setup = &setup, .m = m, .error = error};
    enum gpu_generation generation;
    struct mem_space *space = run_space_create(run, error);
    bool ok = space != NULL;
    ok = ok && run_gpu_generation(run, &generation, result, error) && gpu_setup_open(&setup, k, generation, space, NULL, error) &&
         run_launch(&l, result) && run_gpu_counters(&setup, m, result, error);
    run->gpu_bytes = ok ? run_launch_buffer_bytes(&l) : 0;
    run->gpu_group_threads = k->group[0] * k->group[1] * k->group[2];
    if (ok)
        ok = run_placement_add(&result->placement, k->name, "gpu", k->code_name, "GPU machine code runs on the GPU");
    gpu_setup_close(&setup);
    run_space_free(space, run, m);
    return ok;
}
