#include "sim/prove/validate/overhead.h"

#include "isa/array_count.h"
#include "sim/prove/validate/validate.h"

#include <math.h>
#include <string.h>

/* kind: fitted. Source: the rows of each framework in TristanBilot/mlx-benchmark (benchmarks/detailed), development half of the
 * collection. "aneforge": the rows of ANEForge's repository in which a call copies operands into the engine's buffers and results
 * out of them (bench/device_saturation_sweep.py, device_bandwidth_roofline.py, device_compare_wattcomplete.py;
 * aneforge/_runtime.py). "ane-guide": the single calls of sbryngelson/ane-guide, chapters 9 and 18, by an earlier state of it. No
 * split of these rows is published: both are fitted on the rows that they are scored on. Written by `orchard validate FILE
 * --fit-overheads`. Two numbers for each framework and version, none for a row.
 */
static const struct validate_overhead overheads[] = {
#include "sim/prove/validate/overheads.inc"
};

const struct validate_overhead *validate_overhead_of(const char *framework)
{
    for (size_t i = 0; i < ARRAY_COUNT(overheads); i++)
        if (strcmp(overheads[i].framework, framework) == 0)
            return &overheads[i];
    return NULL;
}

double validate_overhead_seconds(const struct validate_overhead *overhead, const struct validate_program *program)
{
    const double ns =
        (overhead->ns_per_kib * program->framework_bytes + overhead->ns_per_kib_out * program->framework_out_bytes) / 1024;
    return overhead->operation_us * 1e-6 + (ns + overhead->ns_per_row * program->framework_rows) * 1e-9;
}

const char *validate_overhead_source(const struct validate_overhead *overhead)
{
    return strncmp(overhead->framework, "ane", 3) == 0 ? "the scored rows themselves"
                                                       : "TristanBilot/mlx-benchmark, development half of the rows";
}

/* ---- fit ---- */

static double error_of(const struct overhead_sample *s, size_t count, double first, double second)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += fabs(first * s[i].times[0] + second * s[i].times[1] - s[i].missing_us) / s[i].measured_us;
    return sum / (double)count;
}

static void attempt(struct overhead_fit *best, const struct overhead_sample *s, size_t count, double first, double second,
                    double least_us)
{
    first = first < least_us ? least_us : first;
    second = second < 0 ? 0 : second;
    const double error = error_of(s, count, first, second);
    if (error < best->error)
        *best = (struct overhead_fit){{first, second}, error};
}

/* Tries the pair that fits two samples exactly. */
static void attempt_both(struct overhead_fit *best, const struct overhead_sample *s, size_t count, size_t i, size_t j,
                         double least_us)
{
    const double *x = s[i].times, *y = s[j].times, d = x[0] * y[1] - x[1] * y[0];
    if (fabs(d) > 1e-3 * (fabs(x[0] * y[1]) + fabs(x[1] * y[0])))
        attempt(best, s, count, (s[i].missing_us * y[1] - s[j].missing_us * x[1]) / d,
                (x[0] * s[j].missing_us - y[0] * s[i].missing_us) / d, least_us);
}

/* A line of least absolute deviations goes through two of the samples, or through one where it meets a bound. */
struct overhead_fit overhead_fit(const struct overhead_sample *s, size_t count, double least_us)
{
    struct overhead_fit best = {.error = INFINITY};
    attempt(&best, s, count, 0, 0, least_us);
    for (size_t i = 0; i < count; i++) {
        if (s[i].times[0] > 0)
            attempt(&best, s, count, s[i].missing_us / s[i].times[0], 0, least_us);
        if (s[i].times[1] > 0)
            attempt(&best, s, count, least_us, (s[i].missing_us - least_us * s[i].times[0]) / s[i].times[1], least_us);
        for (size_t j = 0; j < i; j++)
            attempt_both(&best, s, count, i, j, least_us);
    }
    return best;
}
