/* Turns the measure of requests to the Neural Engine into the numbers of their result. */
#include "sim/run/ane/run_ane.h"
#include "sim/run/run_internal.h"

#include "sim/chip/chip_units.h"

#include <math.h>
#include <stdio.h>

/* ---- counters ---- */

static bool add_counters(const struct run *run, const struct run_measure *m, struct run_values *c)
{
    const struct ane_timed *a = &m->ane.timed;
    bool ok = run_values_add(c, "ane.descriptors", (double)run_ane_workload(run)->kernel.program.count);
    if (run->request->mode != RUN_TIMING)
        ok &= run_values_add(c, "ane.macs", (double)m->ane.counts.macs) &&
              run_values_add(c, "ane.elements", (double)m->ane.counts.elements) &&
              run_values_add(c, "ane.table_lookups", (double)m->ane.counts.table_lookups) &&
              run_values_add(c, "ane.table_clamped", (double)m->ane.counts.table_clamped);
    if (run->request->mode != RUN_FUNCTIONAL)
        ok &= run_values_add(c, "ane.source_bytes", (double)a->source_bytes) &&
              run_values_add(c, "ane.result_bytes", (double)a->result_bytes) &&
              run_values_add(c, "ane.coefficient_bytes", (double)a->coefficient_bytes) &&
              run_values_add(c, "ane.l2_bytes", (double)a->l2_bytes);
    return ok;
}

/* ---- stalls ---- */

static bool add_stalls(const struct run_measure *m, struct run_result *r)
{
    double cycles = 0, largest = -1;
    bool ok = true;
    for (int i = 0; i < ANE_STALL_COUNT; i++)
        cycles += m->ane.timed.cycles_by[i];
    for (int i = 0; i < ANE_STALL_COUNT; i++) {
        char name[48];
        const double share = cycles > 0 ? m->ane.timed.cycles_by[i] / cycles : 0;
        if (share <= 0)
            continue;
        snprintf(name, sizeof name, "ane.%s", ane_stall_name((enum ane_stall)i));
        ok &= run_values_add(&r->stalls, name, share);
        if (share > largest) {
            largest = share;
            ok &= run_result_set_text(&r->bound_by, name);
        }
    }
    return ok;
}

/* ---- numbers ---- */

static void add_numbers(const struct run *run, const struct run_measure *m, struct run_result *r)
{
    const uint64_t *n = m->activity.count;
    const struct ane_timed *a = &m->ane.timed;
    const struct ane_kernel *kernel = &run_ane_workload(run)->kernel;
    const unsigned repeat = run_repeats(run);
    double peak, cycles = 0;
    for (int i = 0; i < ANE_STALL_COUNT; i++)
        cycles += a->cycles_by[i];
    r->device_seconds = a->device_ns * 1e-9;
    r->overhead_seconds = a->overhead_ns * 1e-9;
    r->seconds = m->end_ns * 1e-9;
    r->cycles = rint(a->device_ns * a->params.clock_ghz);
    /* A library kernel counts as the operation that was asked for. */
    r->macs = repeat * (kernel->macs > 0 ? kernel->macs : (double)a->macs);
    r->flops = kernel->flops > 0 ? repeat * kernel->flops : 2 * r->macs;
    r->gflops = r->seconds > 0 ? r->flops / r->seconds * 1e-9 : NAN;
    r->dram_bytes = (double)(n[ACT_DRAM_READ_BYTES] + n[ACT_DRAM_WRITE_BYTES]);
    r->dram_gbps = r->seconds > 0 ? r->dram_bytes / r->seconds * 1e-9 : NAN;
    r->native_mac_share = r->macs > 0 ? 1 : NAN;
    r->utilisation[PART_ANE] = cycles > 0 ? (a->cycles_by[ANE_STALL_MAC] + a->cycles_by[ANE_STALL_PLANAR]) / cycles : NAN;
    if (chip_number(run->request->chip, "memory_peak_GBps", &peak, NULL))
        r->utilisation[PART_DRAM] = r->dram_gbps / peak;
}

bool run_ane_account(struct run *run, const struct run_measure *m, struct run_result *r, struct orch_error *error)
{
    r->host_seconds = m->host_seconds;
    if (!add_counters(run, m, &r->counters))
        return orch_no_memory(error);
    if (run->request->mode == RUN_FUNCTIONAL)
        return true;
    add_numbers(run, m, r);
    if (!add_stalls(m, r) || !run_add_activity(&m->activity, &r->counters) ||
        !run_add_memory(run->request->chip, &m->memory, &r->counters))
        return orch_no_memory(error);
    struct interval_shares shares = {.count = 0};
    run_ane_shares(m, &shares);
    return run_set_interval(run, &shares, 0, r, error);
}
