/* The roofline and the occupancy of a GPU run. They cover the time in which the GPU was busy; overheads are reported apart. */
#include "sim/base/format.h"
#include "sim/run/gpu/run_launch.h"

#include <math.h>

void run_gpu_explain(FILE *out, const struct run *run, const struct run_result *r)
{
    const struct chip *chip = run->request->chip;
    const double bytes = run->gpu_bytes;
    double cores, mhz, rate, bandwidth;
    char a[FORMAT_SIZE], b[FORMAT_SIZE], c[FORMAT_SIZE];
    if (!chip_number(chip, "gpu_cores", &cores, NULL) || !chip_number(chip, "gpu_max_mhz", &mhz, NULL) ||
        !chip_number(chip, "gpu_f32_flop_per_cycle_per_core", &rate, NULL) ||
        !chip_number(chip, "memory_peak_GBps", &bandwidth, NULL))
        return;
    const unsigned repeat = run_repeats(run);
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
    if (!run->gpu_group_threads) /* an answer of before */
        return;
    fprintf(out, "occupancy    %.0f threadgroups of %u threads per core%s%s\n", held, run->gpu_group_threads,
            run->occupancy_limit ? ", limited by " : "", run->occupancy_limit ? run->occupancy_limit : "");
}
