#include "sim/run/interval.h"
#include "isa/array_count.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void interval_share_add(struct interval_shares *shares, const char *key, double share)
{
    size_t at = 0;
    if (!(share > 0))
        return;
    while (at < shares->count && strcmp(shares->item[at].key, key) != 0)
        at++;
    if (at == INTERVAL_SHARES_MAX)
        return;
    if (at == shares->count)
        shares->item[shares->count++] = (struct interval_share){key, 0};
    shares->item[at].share += share;
}

/* ---- bandwidth and latency ---- */

/* Where several things limit a stream, its time is the power mean of what it would take at each of them alone: near 1 of
 * a limit it decides nearly everything, at half of it next to nothing. Chosen so that simulated elasticities of streams on M1
 * come out (tests/sim/ask/test_uncertainty.c compares). */
#define MEAN_POWER 8

struct interval_traffic interval_traffic_of(const struct activity *activity, double ns)
{
    if (!(ns > 0))
        return (struct interval_traffic){0, 0};
    return (struct interval_traffic){(double)activity->count[ACT_DRAM_READ_BYTES] / ns,
                                     (double)activity->count[ACT_DRAM_WRITE_BYTES] / ns};
}

static double nearness(double gbps, double limit_gbps)
{
    return limit_gbps > 0 ? pow(fmin(1, gbps / limit_gbps), MEAN_POWER) : 0;
}

static double number(const struct chip *chip, const char *key)
{
    const struct chip_value *v = chip_value(chip, key);
    return v && v->known ? v->number : 0;
}

/* About the share of DRAM's peak that streams reach; which share exactly does not matter here. */
#define STREAM_SHARE 0.9

/* Divides a share of the time between the bandwidth of DRAM, that of the way there (NULL = none) and latency, which is returned.
 * How DRAM turns its bus decides with reads and writes in turn; each direction has its own way. */
static double divide(struct interval_shares *shares, const struct chip *chip, const struct interval_traffic *traffic,
                     const char *way, double ways, double share)
{
    const double gbps = traffic->read_gbps + traffic->write_gbps;
    if (!(gbps > 0))
        return share;
    const double mixed = fmin(1, 2 * fmin(traffic->read_gbps, traffic->write_gbps) / gbps);
    const double dram = nearness(gbps, number(chip, "memory_peak_GBps") * STREAM_SHARE);
    const double there = way ? nearness(fmax(traffic->read_gbps, traffic->write_gbps), ways * number(chip, way)) : 0;
    const double scale = share / fmax(1, dram + there);
    interval_share_add(shares, "memory_peak_GBps", scale * dram);
    interval_share_add(shares, "dram.read_window", scale * dram * (1 - mixed));
    interval_share_add(shares, "dram.write_high", scale * dram * mixed);
    if (way)
        interval_share_add(shares, way, scale * there);
    return share - fmin(share, scale * (dram + there));
}

/* ---- cores and their AMX blocks ---- */

/* Parameters that decide how long a reason lasts. */
#define REASON_KEYS      3
#define AMX_REASON(name) (CPU_STALL_COUNT + AMX_STALL_##name)
static const struct {
    int reason;
    const char *key[REASON_KEYS];
} cpu_reasons[] = {
    {AMX_REASON(ARRAY), {"amx.clock_ghz", "amx.array_f32_cycles"}},
    {AMX_REASON(SHARED), {"amx.clock_ghz", "amx.array_clock_ghz", "amx.array_width"}},
    {AMX_REASON(Z_DEPENDENCY), {"amx.clock_ghz", "amx.z_latency_cycles"}},
    {AMX_REASON(LOAD_DATA), {"amx.load_latency_cycles", "amx.clock_ghz"}},
    {AMX_REASON(LOAD_PORT), {"amx.load_request_cycles", "amx.load_issue_cycles", "amx.clock_ghz"}},
    {AMX_REASON(STORE), {"amx.store_issue_cycles", "amx.store_bytes_per_cycle", "amx.clock_ghz"}},
    {AMX_REASON(ISSUE), {"amx.issue_per_cycle", "amx.clock_ghz"}},
    {AMX_REASON(SETCLR), {"amx.set_cycles", "amx.clr_cycles"}},
    {CPU_STALL_DISPATCH, {"cpu_p.dispatch_width", "p_max_mhz"}},
    {CPU_STALL_PORTS, {"p_max_mhz"}},
    {CPU_STALL_DEPENDENCY, {"cpu_p.fp_fma.latency_cycles", "p_max_mhz"}},
    {CPU_STALL_L1, {"mem.p_l1_latency_cycles", "p_max_mhz"}},
    {CPU_STALL_L2, {"mem.p_l2_latency_cycles", "p_max_mhz"}},
    {CPU_STALL_SLC, {"mem.slc_latency_ns"}},
    {CPU_STALL_BRANCH, {"cpu_p.mispredict_cycles", "p_max_mhz"}},
};

/* The key of the same parameter of an E core. */
static const char *key_of(const char *key, bool performance)
{
    static const char *const names[][2] = {
        {"cpu_p.", "cpu_e."}, {"mem.p_", "mem.e_"}, {"p_max_mhz", "e_max_mhz"}, {"amx.", "amx_e."}};
    char text[64];
    for (size_t i = 0; !performance && i < ARRAY_COUNT(names); i++) {
        const size_t length = strlen(names[i][0]);
        if (strncmp(key, names[i][0], length) != 0)
            continue;
        snprintf(text, sizeof text, "%s%.40s", names[i][1], key + length);
        const struct chip_key *found = chip_key_find(text);
        return found ? found->name : key;
    }
    return key;
}

void interval_add_cpu(struct interval_shares *shares, const struct chip *chip, const struct interval_cpu *cpu)
{
    if (!(cpu->whole > 0))
        return;
    shares->active = cpu->active;
    for (size_t i = 0; i < ARRAY_COUNT(cpu_reasons); i++)
        for (int k = 0; k < REASON_KEYS && cpu_reasons[i].key[k]; k++)
            interval_share_add(shares, key_of(cpu_reasons[i].key[k], cpu->performance),
                               cpu->stalls[cpu_reasons[i].reason] / cpu->whole);
    const double latency = divide(shares, chip, &cpu->traffic, key_of("mem.p_fabric_gbps", cpu->performance), cpu->clusters,
                                  cpu->stalls[CPU_STALL_DRAM] / cpu->whole);
    interval_share_add(shares, "dram.latency_ns", latency);
    interval_share_add(shares, key_of("mem.p_outstanding", cpu->performance), latency);
}

/* ---- GPU ---- */

static const struct {
    enum gpu_stall reason;
    const char *key[REASON_KEYS];
} gpu_reasons[] = {
    {GPU_STALL_ISSUE, {"gpu_max_mhz", "gpu.issue_per_cycle", NULL}},
    {GPU_STALL_ALU, {"gpu_max_mhz", "gpu.complex_issue_cycles", NULL}},
    {GPU_STALL_DEPENDENCY, {"gpu.latency_32_cycles", "gpu_max_mhz", NULL}},
    {GPU_STALL_REGISTER_CACHE, {"gpu.stall_fma32_cycles", "gpu_max_mhz", NULL}},
    {GPU_STALL_MEMORY_QUEUE, {"gpu.l1_bytes_per_cycle", "gpu_max_mhz", NULL}},
    {GPU_STALL_THREADGROUP_MEMORY, {"gpu.threadgroup_pass_cycles", "gpu_max_mhz", NULL}},
    {GPU_STALL_BARRIER, {"gpu.barrier_cycles", NULL, NULL}},
    {GPU_STALL_LAUNCH, {"gpu.simdgroup_launch_cycles", "gpu_max_mhz", NULL}},
};

/* Below the limit of DRAM, waiting for memory is waiting for latencies. The GPU's own clock decides the near part of them. */
void interval_add_gpu(struct interval_shares *shares, const struct chip *chip, const double stalls[GPU_STALL_COUNT], double whole,
                      const struct interval_traffic *traffic)
{
    if (!(whole > 0))
        return;
    for (size_t i = 0; i < ARRAY_COUNT(gpu_reasons); i++)
        for (int k = 0; k < REASON_KEYS && gpu_reasons[i].key[k]; k++)
            interval_share_add(shares, gpu_reasons[i].key[k], stalls[gpu_reasons[i].reason] / whole);
    const double latency = divide(shares, chip, traffic, NULL, 0, stalls[GPU_STALL_MEMORY] / whole);
    const double dram_ns = number(chip, "dram.latency_ns"), slc_ns = number(chip, "mem.slc_latency_ns"),
                 way_ns = number(chip, "gpu.fabric_latency_ns"),
                 l2_ns = number(chip, "gpu.l2_latency_cycles") / fmax(1e-3 * number(chip, "gpu_max_mhz"), 0.1);
    const double far = traffic->read_gbps > 0.01 * number(chip, "memory_peak_GBps") ? dram_ns : 0,
                 all = far + slc_ns + way_ns + l2_ns;
    if (!(all > 0))
        return;
    interval_share_add(shares, "dram.latency_ns", latency * far / all);
    interval_share_add(shares, "mem.slc_latency_ns", latency * slc_ns / all);
    interval_share_add(shares, "gpu.fabric_latency_ns", latency * way_ns / all);
    interval_share_add(shares, "gpu.l2_latency_cycles", latency * l2_ns / all);
    interval_share_add(shares, "gpu_max_mhz", latency * l2_ns / all);
}

void interval_add_launch(struct interval_shares *shares, const struct gpu_params *gpu, double share)
{
    const double submit = gpu->submit_us, trip = gpu->round_trip_us;
    if (!(submit + trip > 0))
        return;
    interval_share_add(shares, "gpu.submit_us", share * submit / (submit + trip));
    interval_share_add(shares, "gpu.round_trip_us", share * trip / (submit + trip));
}

double interval_gpu_stalls(const struct gpu_timing *timing, unsigned cores, double cycles[GPU_STALL_COUNT])
{
    double least_idle = INFINITY, issue = 0, all = 0;
    memset(cycles, 0, GPU_STALL_COUNT * sizeof cycles[0]);
    for (unsigned core = 0; core < cores; core++) {
        double own[GPU_STALL_COUNT], total;
        gpu_timing_stalls(timing, core, own, &total);
        issue += own[GPU_STALL_ISSUE];
        all += total;
        if (own[GPU_STALL_LAUNCH] >= least_idle)
            continue;
        least_idle = own[GPU_STALL_LAUNCH];
        memcpy(cycles, own, sizeof own);
    }
    return all > 0 ? issue / all : 0;
}

/* ---- Neural Engine ---- */

static const struct {
    enum ane_stall reason;
    const char *key;
} ane_reasons[] = {
    {ANE_STALL_MAC, "ane.clock_ghz"},         {ANE_STALL_UTILISATION, "ane.clock_ghz"}, {ANE_STALL_PLANAR, "ane.clock_ghz"},
    {ANE_STALL_COEFFICIENTS, "ane.dma_GBps"}, {ANE_STALL_TILE_DMA, "ane.dma_GBps"},     {ANE_STALL_TASK, "ane.handover_cycles"},
    {ANE_STALL_REQUEST, "ane.request_us"},    {ANE_STALL_WAKE, "ane.wake_us"},
};

void interval_add_ane(struct interval_shares *shares, const double stalls[ANE_STALL_COUNT], double whole)
{
    for (size_t i = 0; whole > 0 && i < ARRAY_COUNT(ane_reasons); i++)
        interval_share_add(shares, ane_reasons[i].key, stalls[ane_reasons[i].reason] / whole);
}

/* ---- the interval ---- */

double interval_parameters(const struct chip *chip, const struct interval_shares *shares)
{
    double sum = 0;
    for (size_t i = 0; i < shares->count; i++) {
        const struct chip_value *v = chip_value(chip, shares->item[i].key);
        const double part = v && v->known ? shares->item[i].share * chip_value_uncertainty(v, shares->active) : 0;
        sum += part * part;
    }
    return sqrt(sum);
}

struct side {
    double reach, parameters; /* squares, of the logarithm of the time */
};

/* Of the spread that rows of this kind showed, a part came from parameters of just these rows; it is taken out before the
 * parameters of this run are put in. It is believed to be at most half of the variance: where the stated uncertainties say more,
 * the measurements do not bear them out, and they count for less. */
static struct side side_of(double spread, double typical, double sd, double *belief)
{
    const double own = INTERVAL_90 * typical, bound = spread * M_SQRT1_2;
    *belief = own > bound && own > 0 ? bound / own : 1;
    const double model = spread * spread - *belief * *belief * own * own, part = *belief * INTERVAL_90 * sd;
    return (struct side){fmax(0, model) + part * part, part * part};
}

/* The prediction is inside its interval, even where all measured runs of a kind were on one side of it. */
#define LEAST_SPREAD 0.02

struct interval interval_of(const struct residual *r, double sd_low, double sd_high)
{
    double belief[2];
    const struct side down = side_of(fmax(-r->low, LEAST_SPREAD), r->parameter, sd_low, &belief[0]),
                      up = side_of(fmax(r->high, LEAST_SPREAD), r->parameter, sd_high, &belief[1]);
    const double all = down.reach + up.reach;
    return (struct interval){.low = exp(-sqrt(down.reach)),
                             .high = exp(sqrt(up.reach)),
                             .belief = (belief[0] + belief[1]) / 2,
                             .parameters = all > 0 ? (down.parameters + up.parameters) / all : 0};
}
