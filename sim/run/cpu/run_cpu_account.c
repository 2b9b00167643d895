/* Numbers of a run on CPU cores and their AMX blocks. */
#include "isa/array_count.h"
#include "sim/run/run_internal.h"
#include "sim/run/cpu/run_programs.h"

#include "sim/chip/chip_units.h"

#include <math.h>
#include <stdio.h>

static void reason_name(int reason, char *text, size_t size)
{
    if (reason < CPU_STALL_COUNT)
        snprintf(text, size, "cpu.%s", cpu_stall_name((enum cpu_stall)reason));
    else
        snprintf(text, size, "amx.%s", amx_stall_name((enum amx_stall)(reason - CPU_STALL_COUNT)));
}

static bool add_stalls(const struct run_measure *m, struct run_result *result)
{
    double sum = 0, largest = -1;
    bool ok = true;
    for (int i = 0; i < CPU_STALL_COUNT + AMX_STALL_COUNT; i++)
        sum += m->stalls[i];
    for (int i = 0; i < CPU_STALL_COUNT + AMX_STALL_COUNT; i++) {
        char name[48];
        if (m->stalls[i] <= 0)
            continue;
        reason_name(i, name, sizeof name);
        ok &= run_values_add(&result->stalls, name, m->stalls[i] / sum);
        if (m->stalls[i] > largest) {
            largest = m->stalls[i];
            ok &= run_result_set_text(&result->bound_by, name);
        }
    }
    return ok;
}

static bool add_counters(const struct run_measure *m, struct run_values *counters)
{
    char name[64];
    bool ok = run_values_add(counters, "cpu.instructions", (double)m->cpu_instructions);
    ok &= run_values_add(counters, "amx.instructions", (double)m->amx_instructions);
    for (unsigned op = 0; op < AMX_OP_COUNT; op++) {
        if (!m->amx_counts[op])
            continue;
        snprintf(name, sizeof name, "amx.%s", op == AMX_SETCLR ? "set_clr" : amx_op_name(op, 0));
        ok &= run_values_add(counters, name, (double)m->amx_counts[op]);
    }
    return ok && run_add_activity(&m->activity, counters);
}

/* Cycles of the unit that the workload is for. There is no such number when a program used both the core and its block. */
static double unit_cycles(const struct run *run, const struct run_measure *m)
{
    if (run->kind->part == PART_AMX)
        return rint(m->end_ns * m->critical->amx_clock_ghz);
    return m->amx_instructions ? NAN : rint(m->end_ns * m->critical->clock_ghz);
}

/* The share of the time in which the arrays of the blocks that took part multiplied. It follows from their products, each at the
 * rate of a full instruction of its type; vector instructions fill an array only in part. */
static double array_share(const struct run *run, const struct run_measure *m)
{
    const uint64_t *n = m->activity.count;
    const struct soc_core *core = m->critical;
    struct amx_params p;
    unsigned blocks = 0;
    if (!core->amx || m->end_ns <= 0 ||
        !chip_amx_params(run->request->chip, core->performance ? CHIP_P_CORE : CHIP_E_CORE, 1, &p, NULL))
        return 0;
    for (unsigned i = 0; i < m->core_count; i++) {
        unsigned earlier = 0;
        while (earlier < i && m->cores[earlier]->amx != m->cores[i]->amx)
            earlier++;
        blocks += earlier == i;
    }
    const double cycles =
        (double)n[ACT_AMX_F64_MACS] / 64 * p.array_f64_cycles + (double)n[ACT_AMX_F32_MACS] / 256 * p.array_f32_cycles +
        (double)n[ACT_AMX_F16_MACS] / 1024 * p.array_f16_cycles + (double)n[ACT_AMX_INT_MACS] / 1024 * p.array_i16_cycles;
    return fmin(1, cycles / (m->end_ns * core->amx_clock_ghz) / blocks);
}

/* The share of the dispatch slots, over the cores that took part, that instructions filled. */
static double dispatch_share(const struct run *run, const struct run_measure *m)
{
    const struct soc_core *core = m->critical;
    struct cpu_params p;
    if (m->end_ns <= 0 || !chip_cpu_params(run->request->chip, core->performance ? CHIP_P_CORE : CHIP_E_CORE, 1, &p, NULL))
        return 0;
    return fmin(1, (double)m->cpu_instructions / (m->end_ns * core->clock_ghz * p.dispatch_width * m->core_count));
}

static void add_numbers(const struct run *run, const struct run_measure *m, struct run_result *r)
{
    const uint64_t *n = m->activity.count;
    const double seconds = m->end_ns * 1e-9;
    const struct run_operation asked = run->kind->operation ? run->kind->operation(run) : (struct run_operation){0, 0};
    const double fp_macs = (double)(n[ACT_AMX_F64_MACS] + n[ACT_AMX_F32_MACS] + n[ACT_AMX_F16_MACS]);
    double peak;
    r->seconds = seconds;
    r->device_seconds = seconds - m->slept_ns * 1e-9;
    r->overhead_seconds = 0; /* a core starts a program and uses its block without any launch */
    r->cycles = unit_cycles(run, m);
    r->macs = asked.macs > 0 ? asked.macs * run_repeats(run) : fp_macs + (double)n[ACT_AMX_INT_MACS];
    r->flops = run->kind->operation ? asked.flops * run_repeats(run) : 2 * fp_macs + (double)n[ACT_CPU_FP_LANE_OPS];
    r->gflops = seconds > 0 ? r->flops / seconds * 1e-9 : NAN;
    r->dram_bytes = (double)(n[ACT_DRAM_READ_BYTES] + n[ACT_DRAM_WRITE_BYTES]);
    r->dram_gbps = seconds > 0 ? r->dram_bytes / seconds * 1e-9 : NAN;
    r->native_mac_share = r->macs > 0 ? 1 : NAN;
    r->utilisation[PART_AMX] = array_share(run, m);
    r->utilisation[PART_CPU] = dispatch_share(run, m);
    if (chip_number(run->request->chip, "memory_peak_GBps", &peak, NULL))
        r->utilisation[PART_DRAM] = r->dram_gbps / peak;
}

bool run_account(struct run *run, const struct run_measure *m, struct run_result *r, struct orch_error *error)
{
    r->host_seconds = m->host_seconds;
    if (run->request->mode == RUN_FUNCTIONAL) {
        bool counted = run_result_set_text(&r->detail, "instr") &&
                       run_values_add(&r->counters, "cpu.instructions", (double)m->cpu_instructions) &&
                       run_values_add(&r->counters, "amx.instructions", (double)m->amx_instructions);
        return counted || orch_no_memory(error);
    }
    add_numbers(run, m, r);
    if (!run_sample_tell(run, m, r) || !add_stalls(m, r) || !add_counters(m, &r->counters) ||
        !run_add_memory(run->request->chip, &m->memory, &r->counters))
        return orch_no_memory(error);
    struct interval_shares shares = {.count = 0};
    run_cpu_shares(run->request->chip, m, &shares);
    run->slept_s = m->slept_ns * 1e-9;
    return run_set_interval(run, &shares, m->sampled.sd_ns / fmax(m->end_ns, 1e-9), r, error);
}
