/* A launch of GPU machine code is executed for its results and timed for its duration. Executing never depends on time, so the
 * results are those of the threadgroups in grid order, whatever the chip and the number of host threads. */
#include "sim/run/gpu/run_launch.h"

#include "sim/base/host_time.h"
#include "sim/chip/chip_units.h"
#include "sim/run/run_internal.h"
#include "sim/workload/gpu/gpu_functional.h"
#include "sim/workload/gpu/gpu_job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the code that a chip runs ---- */

bool run_gpu_target(const struct chip *chip, struct abi_target *target, enum gpu_generation *generation, struct orch_error *error)
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

bool run_gpu_generation(const struct run *run, enum gpu_generation *generation, struct run_result *result,
                        struct orch_error *error)
{
    struct abi_target target;
    if (!run_gpu_target(run->request->chip, &target, generation, error))
        return false;
    if (*generation != GPU_G15)
        return true;
    *generation = GPU_G14;
    return run_assumption_add(
               &result->assumptions, "gpu_family", "guess",
               "the G15 instruction set is not published: this chip is taken to run G13/G14 code at its own pace") ||
           orch_no_memory(error);
}

/* ---- executing ---- */

bool run_launch_remark(struct run_launch *l, const char *text)
{
    char line[RUN_REMARK_BYTES];
    snprintf(line, sizeof line, "%.60s: %s", l->setup->kernel->name, text);
    return run_add_remark(l->run, line, l->error);
}

/* Reports every finding as a remark; with any, the run ends as a fault of the program. */
static bool judge_findings(struct run_launch *l, const struct gpu_findings *found)
{
    for (size_t i = 0; i < found->count; i++)
        if (!run_launch_remark(l, found->text[i]))
            return false;
    return !found->count || orch_fail(l->error, ORCH_FAULT, "%.200s: " ORCH_OPTION("sanitize") " found %zu %s in the program",
                                      l->setup->kernel->path, found->count, found->count == 1 ? "thing" : "things");
}

bool run_launch_fault(struct run_launch *l, const struct unit_fault *fault)
{
    return fault->kind == UNIT_FAULT_NONE ? orch_no_memory(l->error) : gpu_setup_explain(l->setup, fault, l->error);
}

bool run_launch_keeps_memory(const struct run_launch *l)
{
    return !gpu_program_steered_by_memory(l->setup->program);
}

void run_launch_rewind(const struct run_launch *l)
{
    if (!run_launch_keeps_memory(l))
        gpu_setup_restore(l->setup);
}

bool run_launch_execute(struct run_launch *l)
{
    const struct run_request *q = l->run->request;
    struct run_gpu *g = &l->m->gpu;
    struct gpu_findings found = {.text = NULL};
    double cores = 1;
    chip_number(q->chip, "gpu_cores", &cores, NULL);
    const struct gpu_functional options = {.threads = q->threads,
                                           .cores = (unsigned)cores,
                                           .findings = &found,
                                           .checks = {.sanitize = q->sanitize, .poison = q->sanitize}};
    bool ok = true;
    for (unsigned i = 0; ok && i < run_repeats(l->run); i++) {
        gpu_findings_free(&found);
        gpu_setup_restore(l->setup);
        const double begin = host_seconds();
        ok = gpu_functional_run(l->setup, &options, &g->totals, l->error);
        l->m->host_seconds += host_seconds() - begin;
    }
    ok = ok && judge_findings(l, &found);
    gpu_findings_free(&found);
    return ok;
}

/* ---- timing ---- */

/* Fills the caches as a pass finds them. */
static bool warm_up(struct run_launch *l)
{
    const struct gpu_selection all = {0};
    run_launch_restart(l, false);
    if (l->run->request->cold)
        return true;
    if (l->way == RUN_WAY_WARM)
        return run_launch_warm(l);
    if (l->way == RUN_WAY_TOUCH)
        return run_launch_touch(l);
    run_launch_rewind(l);
    return run_launch_pass(l, &all, NULL, NULL);
}

/* Times passes over all threadgroups. */
static bool time_all(struct run_launch *l)
{
    const struct gpu_selection all = {0};
    struct run_gpu *g = &l->m->gpu;
    struct run_part part;
    if (!warm_up(l))
        return false;
    gpu_timing_set_watch(l->gpu->timing, l->run->request->watch);
    for (unsigned i = 0; i < run_repeats(l->run); i++) {
        if (!run_launch_measure(l, &all, !l->run->request->evict, &part, run_launch_totals(l)))
            return false;
        run_launch_count(l, &part.beside);
        g->device_ns += part.ns;
        g->groups_timed += l->setup->group_count - part.skipped;
        g->timed_share = part.timed_share;
        g->scale_uncertainty = part.uncertainty;
    }
    return true;
}

/* Arguments that point into one buffer, at several places, all reach to its end. One of them may point behind it. */
uint64_t run_launch_buffer(const struct run_launch *l, unsigned number)
{
    const struct abi_kernel *k = l->setup->kernel;
    const uint64_t bytes = k->arg[number].bytes, end = l->setup->address[number] + bytes;
    if (bytes > ABI_BUFFERS_MAX)
        return 0;
    for (unsigned i = 0; i < k->args; i++) {
        const uint64_t its = k->arg[i].bytes;
        if (i != number && l->setup->address[i] + its == end && its <= ABI_BUFFERS_MAX &&
            (its > bytes || (its == bytes && i < number)))
            return 0;
    }
    return bytes;
}

double run_launch_buffer_bytes(const struct run_launch *l)
{
    double bytes = 0;
    for (unsigned i = 0; i < l->setup->kernel->args; i++)
        bytes += (double)run_launch_buffer(l, i);
    return bytes;
}

bool run_launch_open(struct run_launch *l)
{
    struct run_gpu *g = &l->m->gpu;
    l->gpu = run_soc_open(l->run, l->m, l->error) ? soc_gpu(l->m->soc, l->error) : NULL;
    if (!l->gpu)
        return false;
    g->params = l->gpu->params;
    g->occupancy = gpu_job_slots(l->setup, &g->params, &l->run->occupancy_limit, l->error);
    if (!g->occupancy)
        return false;
    const unsigned buffers = l->run->request->one_buffer ? 1 : run_repeats(l->run);
    g->overhead_ns = 1e3 * buffers * (g->params.submit_us + g->params.round_trip_us);
    return true;
}

/* Times windows, and the whole launch where they do not tell its time. */
static bool time_windows(struct run_launch *l)
{
    bool sure;
    if (!run_launch_forward(l, &sure))
        return false;
    if (sure)
        return true;
    l->way = l->whole_way;
    gpu_profile_free(&l->profile);
    gpu_crowd_free(l->crowd); /* its threadgroups are where the windows left them */
    l->crowd = gpu_crowd_create(l->setup, l->m->gpu.params.cores, l->m->gpu.occupancy, l->gpu->port);
    if (!l->crowd)
        return orch_no_memory(l->error);
    gpu_crowd_set_replay(l->crowd, l->replay);
    return run_launch_begin_profile(l) && time_all(l);
}

bool run_launch_time(struct run_launch *l)
{
    struct run_gpu *g = &l->m->gpu;
    if (!run_launch_begin_profile(l) || !(l->way == RUN_WAY_FORWARD ? time_windows(l) : time_all(l)))
        return false;
    l->m->end_ns = g->device_ns + g->overhead_ns;
    return run_result_set_text(&l->run->detail, g->timed_share < 1 ? "sampled" : "instr") || orch_no_memory(l->error);
}
