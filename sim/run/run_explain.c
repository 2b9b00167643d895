#include "sim/run/run_explain.h"

#include "isa/array_count.h"
#include "sim/chip/chip_units.h"
#include "sim/base/format.h"
#include "sim/run/run_internal.h"

#include <math.h>
#include <string.h>

/* What each reason means for somebody who wants to change it. */
static const struct {
    const char *reason, *meaning;
} meanings[] = {
    {"amx.array", "the outer-product array of the AMX block is busy: this is its peak for the element type"},
    {"amx.z_dependency", "one accumulator waits for its own previous result: more accumulators would help"},
    {"amx.load_port", "the AMX load path is full: wider loads or more reuse of X and Y would help"},
    {"amx.load_data", "AMX waits for operands from the caches"},
    {"amx.store", "results leave Z slowly: fewer stores per product would help"},
    {"amx.setclr", "enabling and disabling AMX: only long work hides it"},
    {"amx.cpu", "the CPU core does not send AMX instructions fast enough"},
    {"amx.drain", "latency of the last instructions"},
    {"cpu.dispatch", "the core dispatches as many instructions as it can"},
    {"cpu.ports", "the execution ports of one instruction class are full"},
    {"cpu.dependency", "a chain of dependent instructions"},
    {"cpu.l1", "waits for the L1 data cache"},
    {"cpu.l2", "waits for the cluster's L2"},
    {"cpu.slc", "waits for the system-level cache"},
    {"cpu.dram", "waits for DRAM"},
    {"cpu.branch", "mispredicted branches"},
    {"launch", "submission and completion of the command buffer: only longer work hides it"},
    {"gpu.issue", "the schedulers issue as fast as they can: fewer instructions would help"},
    {"gpu.alu", "the pipe of multiplies, shifts, conversions and special functions is full"},
    {"gpu.dependency", "chains of dependent instructions: more threads or independent work would help"},
    {"gpu.register_cache", "operands come from the register file instead of the register cache"},
    {"gpu.memory", "waits for device memory: more threads in flight, or more reuse, would help"},
    {"gpu.memory_queue", "the load/store path is full: wider or fewer accesses would help"},
    {"gpu.threadgroup_memory", "threadgroup memory: bank conflicts, or too many accesses per calculation"},
    {"gpu.barrier", "simdgroups wait for one another at barriers"},
    {"gpu.instruction_fetch", "the program does not fit the instruction cache"},
    {"ane.mac", "the MAC engines multiply as fast as they can: this is their peak"},
    {"ane.utilisation", "MAC lanes idle: channels in multiples of 16 and larger images fill them"},
    {"ane.planar", "the planar engine works: fewer passes over the data would help"},
    {"ane.coefficients", "waits for weights: smaller weights (palette, sparse, int8) or more reuse would help"},
    {"ane.tile_dma", "waits for data from or to memory: what stays in the 2 MB tile memory would help"},
    {"ane.task", "starts of descriptors: fewer and larger ones would help"},
    {"ane.request", "host and firmware build, send and complete the request: only longer work hides it"},
    {"ane.wake", "power domains wake up: requests that follow one another would help"},
    {"gpu.launch", "threadgroups are being started, or too few are left for all cores"},
};

const char *run_reason_meaning(const char *reason)
{
    for (size_t i = 0; reason && i < ARRAY_COUNT(meanings); i++)
        if (strcmp(meanings[i].reason, reason) == 0)
            return meanings[i].meaning;
    return "";
}

/* Array cycles of one full matrix instruction of the kind, and its multiply-accumulates. */
static double peak_gflops(const struct kernel_call *call, const struct amx_params *p, double ghz)
{
    switch (call->kind) {
    case GEMM_F64: return 2 * 64 / p->array_f64_cycles * ghz;
    case GEMM_F32: return 2 * 256 / p->array_f32_cycles * ghz;
    case GEMM_F16: return 2 * 1024 / p->array_f16_cycles * ghz;
    case GEMM_F16_F32:
    case GEMM_BF16_F32: return 2 * 1024 / p->array_f16_f32_cycles * ghz;
    default: return 2 * 1024 / p->array_i16_cycles * ghz;
    }
}

/* Of the GPU while it was busy: overheads are told apart. */
static void gpu_roofline(FILE *out, const struct run *run, const struct run_result *r)
{
    const struct chip *chip = run->request->chip;
    const double bytes = run->gpu_bytes;
    double cores, mhz, rate, bandwidth;
    char a[FORMAT_SIZE], b[FORMAT_SIZE], c[FORMAT_SIZE];
    if (!chip_number(chip, "gpu_cores", &cores, NULL) || !chip_number(chip, "gpu_max_mhz", &mhz, NULL) ||
        !chip_number(chip, "gpu_f32_flop_per_cycle_per_core", &rate, NULL) ||
        !chip_number(chip, "memory_peak_GBps", &bandwidth, NULL))
        return;
    const unsigned repeat = run->request->repeat ? run->request->repeat : 1;
    const double peak = cores * rate * mhz * 1e6, intensity = r->flops / repeat / bytes;
    const double roof = fmin(peak, intensity * bandwidth * 1e9), reached = r->flops / r->device_seconds;
    if (!(r->flops > 0 && bytes > 0))
        return;
    fprintf(out, "roofline     %s at most: f32 peak %s (%.4g cores, %.4g MHz), DRAM %s x %.4g flop/byte of its buffers\n",
            format_si(a, roof, "FLOPS"), format_si(b, peak, "FLOPS"), cores, mhz, format_si(c, bandwidth * 1e9, "B/s"),
            intensity);
    fprintf(out, "             while busy this run reaches %.3g %% of it%s\n", 100 * reached / roof,
            reached > roof ? ": caches brought what DRAM could not" : "");
    const double held = run_values_get(&r->counters, "gpu.threadgroups_per_core");
    fprintf(out, "occupancy    %.0f threadgroups of %u threads per core%s%s\n", held, run->gpu_group_threads,
            run->occupancy_limit ? ", limited by " : "", run->occupancy_limit ? run->occupancy_limit : "");
}

static void roofline(FILE *out, const struct run *run, const struct run_result *r)
{
    const struct chip *chip = run->request->chip;
    struct amx_params amx;
    double ghz, bandwidth;
    char a[FORMAT_SIZE], b[FORMAT_SIZE], c[FORMAT_SIZE];
    if (run->kind != RUN_KERNEL || !chip_amx_params(chip, CHIP_P_CORE, 1, &amx, NULL) ||
        !chip_amx_clock_ghz(chip, CHIP_P_CORE, 1, &ghz, NULL) || !chip_number(chip, "memory_peak_GBps", &bandwidth, NULL))
        return;
    const double peak = peak_gflops(&run->call, &amx, ghz), intensity = kernel_flops(&run->call) / kernel_min_bytes(&run->call);
    const double roof = fmin(peak, intensity * bandwidth);
    fprintf(out, "roofline     %s at most: array peak %s (one block, %.4g GHz), DRAM %s x %.4g flop/byte\n",
            format_si(a, roof * 1e9, "FLOPS"), format_si(b, peak * 1e9, "FLOPS"), ghz, format_si(c, bandwidth * 1e9, "B/s"),
            intensity);
    fprintf(out, "             this run reaches %.1f %% of it\n", 100 * r->gflops / roof);
}

/* Joules by domain and by what they went into, from the counters of the run. */
static void energy_table(FILE *out, const struct run_result *r)
{
    static const char *const kinds[] = {"dynamic", "clock", "leakage"};
    char text[FORMAT_SIZE];
    if (isnan(r->joules))
        return;
    fprintf(out, "energy       %-8s %10s %10s %10s %8s\n", "", kinds[0], kinds[1], kinds[2], "share");
    for (enum power_domain d = 0; d < POWER_DOMAIN_COUNT; d++) {
        double joules[3], sum = 0;
        for (int k = 0; k < 3; k++) {
            char name[64];
            snprintf(name, sizeof name, "energy.%s.%s", power_domain_name(d), kinds[k]);
            joules[k] = run_values_get(&r->counters, name);
            joules[k] = isnan(joules[k]) ? 0 : joules[k];
            sum += joules[k];
        }
        fprintf(out, "             %-8s", power_domain_name(d));
        for (int k = 0; k < 3; k++)
            format_right(out, format_si(text, joules[k], "J"), 11);
        fprintf(out, " %7.1f%%\n", 100 * sum / r->joules);
    }
}

void run_explain(FILE *out, const struct run *run, const struct run_result *r)
{
    fprintf(out, "\nlimit        %s: %s\n", r->bound_by ? r->bound_by : "-", run_reason_meaning(r->bound_by));
    if (run && run->kind == RUN_ANE)
        run_ane_explain(out, run, r);
    else if (run && (run->kind == RUN_AGX || run->kind == RUN_GPU_KERNEL))
        gpu_roofline(out, run, r);
    else if (run)
        roofline(out, run, r);
    energy_table(out, r);
}
