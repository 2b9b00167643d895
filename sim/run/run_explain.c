#include "sim/run/run_explain.h"

#include "sim/chip/chip_units.h"
#include "sim/cli/format.h"
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
};

static const char *meaning_of(const char *reason)
{
    for (size_t i = 0; reason && i < sizeof meanings / sizeof meanings[0]; i++)
        if (strcmp(meanings[i].reason, reason) == 0)
            return meanings[i].meaning;
    return "";
}

/* Array cycles of one full matrix instruction of the kind, and its multiply-accumulates. */
static double peak_gflops(const struct kernel_call *call, const struct amx_params *p, double ghz)
{
    switch (call->kind) {
    case GEMM_F64:
        return 2 * 64 / p->array_f64_cycles * ghz;
    case GEMM_F32:
        return 2 * 256 / p->array_f32_cycles * ghz;
    case GEMM_F16:
        return 2 * 1024 / p->array_f16_cycles * ghz;
    case GEMM_F16_F32:
    case GEMM_BF16_F32:
        return 2 * 1024 / p->array_f16_f32_cycles * ghz;
    default:
        return 2 * 1024 / p->array_i16_cycles * ghz;
    }
}

static void roofline(FILE *out, const struct run *run, const struct run_result *r)
{
    const struct chip *chip = run->request->chip;
    struct amx_params amx;
    double ghz, bandwidth;
    char a[FORMAT_SIZE], b[FORMAT_SIZE], c[FORMAT_SIZE];
    if (!run->is_kernel || !chip_amx_params(chip, CHIP_P_CORE, 1, &amx, NULL) ||
        !chip_amx_clock_ghz(chip, CHIP_P_CORE, 1, &ghz, NULL) || !chip_number(chip, "memory_peak_GBps", &bandwidth, NULL))
        return;
    const double peak = peak_gflops(&run->call, &amx, ghz), intensity = kernel_flops(&run->call) / kernel_min_bytes(&run->call);
    const double roof = fmin(peak, intensity * bandwidth);
    fprintf(out, "roofline     %s at most: array peak %s (one block, %.4g GHz), DRAM %s x %.4g flop/byte\n",
            format_si(a, roof * 1e9, "FLOPS"), format_si(b, peak * 1e9, "FLOPS"), ghz, format_si(c, bandwidth * 1e9, "B/s"),
            intensity);
    fprintf(out, "             this run reaches %.1f %% of it\n", 100 * r->gflops / roof);
}

void run_explain(FILE *out, const struct run *run, const struct run_result *r)
{
    fprintf(out, "\nlimit        %s: %s\n", r->bound_by ? r->bound_by : "-", meaning_of(r->bound_by));
    if (run)
        roofline(out, run, r);
}
