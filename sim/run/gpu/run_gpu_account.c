/* Turns the measure of a GPU launch into the numbers of its result. */
#include "sim/run/run_internal.h"
#include "sim/run/gpu/run_launch.h"

#include "sim/chip/chip_units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- counters ---- */

bool run_gpu_counters(const struct gpu_setup *setup, const struct run_measure *m, struct run_result *r, struct orch_error *error)
{
    const struct gpu_totals *t = &m->gpu.totals;
    bool ok = run_values_add(&r->counters, "gpu.simdgroup_instructions", (double)t->instructions) &&
              run_values_add(&r->counters, "gpu.active_lane_instructions", (double)t->active_lanes) &&
              run_values_add(&r->counters, "gpu.threadgroups", (double)m->gpu.groups);
    for (uint32_t i = 0; ok && i < gpu_program_count(setup->program); i++) {
        char name[64];
        if (!t->issues[i])
            continue;
        snprintf(name, sizeof name, "gpu.%s", agx_form_mnemonic(gpu_program_inst(setup->program, i)->form));
        ok = run_values_add(&r->counters, name, (double)t->issues[i]);
    }
    return ok || orch_no_memory(error);
}

bool run_tell_packed(struct run_result *r)
{
    const double gpu = run_values_get(&r->counters, RUN_COUNTER_PACKED);
    const double cores = run_values_get(&r->counters, RUN_COUNTER_CORE_PACKED);
    const double bytes = (isnan(gpu) ? 0 : gpu) + (isnan(cores) ? 0 : cores);
    char text[160];
    if (!(bytes > 0))
        return true;
    snprintf(text, sizeof text,
             "%.4g MB of constant weights were brought into the layout of their kernels when they were loaded: it is no part of "
             "the run",
             1e-6 * bytes);
    return run_assumption_add(&r->assumptions, "packing", "inferred", text);
}

/* ---- stalls ---- */

/* Adds the overheads of the command buffer, then the cycles of the core that was busy longest. */
static bool add_stalls(const struct run_measure *m, struct run_result *r)
{
    const struct run_gpu *g = &m->gpu;
    double cycles = 0, largest = m->end_ns > 0 ? g->overhead_ns / m->end_ns : 0;
    bool ok = run_result_set_text(&r->bound_by, "launch") && (largest <= 0 || run_values_add(&r->stalls, "launch", largest));
    for (int i = 0; i < GPU_STALL_COUNT; i++)
        cycles += g->stalls[i];
    for (int i = 0; i < GPU_STALL_COUNT; i++) {
        char name[48];
        const double share = cycles > 0 && m->end_ns > 0 ? g->stalls[i] / cycles * g->device_ns / m->end_ns : 0;
        if (share <= 0)
            continue;
        snprintf(name, sizeof name, "gpu.%s", gpu_stall_name((enum gpu_stall)i));
        ok &= run_values_add(&r->stalls, name, share);
        if (share > largest) {
            largest = share;
            ok &= run_result_set_text(&r->bound_by, name);
        }
    }
    return ok;
}

static bool tell_sample(const struct run_gpu *g, struct run_result *r)
{
    char text[240], replayed[80] = "";
    if (g->replayed_share > 0)
        snprintf(replayed, sizeof replayed, "; %.3g %% of what was run for that was replayed, not executed",
                 100 * g->replayed_share);
    snprintf(text, sizeof text,
             "%llu of %llu threadgroups and %.2g %% of all instructions were timed, the rest goes on at their pace%s",
             (unsigned long long)g->groups_timed, (unsigned long long)g->groups, 100 * g->timed_share, replayed);
    return run_assumption_add(&r->assumptions, "detail", "inferred", text);
}

/* ---- numbers ---- */

/* A library kernel counts as the operation that was asked for; counters show what its program did beyond that. */
static void count_operation(const struct run *run, struct run_result *r)
{
    if (!run->kind->operation)
        return;
    const struct run_operation asked = run->kind->operation(run);
    if (asked.flops > 0)
        r->flops = run_repeats(run) * asked.flops;
    if (asked.macs > 0)
        r->macs = run_repeats(run) * asked.macs;
}

static void add_numbers(const struct run *run, const struct run_measure *m, struct run_result *r)
{
    const uint64_t *n = m->activity.count;
    const struct run_gpu *g = &m->gpu;
    const double matrix = (double)(n[ACT_GPU_MATRIX_F32_FLOPS] + n[ACT_GPU_MATRIX_F16_FLOPS]);
    const double flops = (double)(n[ACT_GPU_F32_FLOPS] + n[ACT_GPU_F16_FLOPS]);
    const double lanes = (double)(n[ACT_GPU_F32_LANE_OPS] + n[ACT_GPU_F16_LANE_OPS]);
    double peak;
    r->device_seconds = g->device_ns * 1e-9;
    r->overhead_seconds = g->overhead_ns * 1e-9;
    r->seconds = m->end_ns * 1e-9;
    r->cycles = rint(g->device_ns * g->params.clock_ghz);
    r->flops = flops + matrix;
    r->macs = fmax(0, flops - lanes) + matrix / 2; /* an fma is one lane operation and two flops */
    count_operation(run, r);
    r->gflops = r->seconds > 0 ? r->flops / r->seconds * 1e-9 : NAN;
    r->dram_bytes = (double)(n[ACT_DRAM_READ_BYTES] + n[ACT_DRAM_WRITE_BYTES]);
    r->dram_gbps = r->seconds > 0 ? r->dram_bytes / r->seconds * 1e-9 : NAN;
    r->native_mac_share = r->macs > 0 ? 1 : NAN;
    r->utilisation[PART_GPU] = m->end_ns > 0 ? g->issue_share * g->device_ns / m->end_ns : NAN;
    if (chip_number(run->request->chip, "memory_peak_GBps", &peak, NULL))
        r->utilisation[PART_DRAM] = r->dram_gbps / peak;
}

bool run_gpu_account(struct run *run, const struct run_measure *m, struct run_result *r, struct orch_error *error)
{
    const struct run_gpu *g = &m->gpu;
    r->host_seconds = m->host_seconds;
    if (run->request->mode == RUN_FUNCTIONAL)
        return true;
    add_numbers(run, m, r);
    const bool whole = strcmp(run->detail, "instr") == 0;
    const bool ok = run_result_set_text(&r->detail, run->detail) && add_stalls(m, r) &&
                    run_values_add(&r->counters, "gpu.threadgroups_per_core", g->occupancy) && (whole || tell_sample(g, r)) &&
                    run_add_activity(&m->activity, &r->counters) && run_add_memory(run->request->chip, &m->memory, &r->counters);
    if (!ok)
        return orch_no_memory(error);
    struct interval_shares shares = {.count = 0};
    run_gpu_shares(run->request->chip, m, &shares);
    return run_set_interval(run, &shares, m->gpu.scale_uncertainty * m->gpu.device_ns / fmax(m->end_ns, 1e-9), r, error);
}
