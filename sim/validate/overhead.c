#include "sim/validate/overhead.h"

#include "sim/validate/validate.h"

#include <math.h>
#include <string.h>

/* kind: fitted. Source: the rows of each framework in TristanBilot/mlx-benchmark (benchmarks/detailed), development half of the
 * collection; of aneforge the rows of ANEForge's repository and of sbryngelson/ane-guide whose requests copy operands to and from
 * the engine's buffers; written by `orchard validate FILE --fit-overheads`. Two numbers for each framework and version, none for a row.
 */
static const struct validate_overhead overheads[] = {
#include "sim/validate/overheads.inc"
};

const struct validate_overhead *validate_overhead_of(const char *framework)
{
    for (size_t i = 0; i < sizeof overheads / sizeof overheads[0]; i++)
        if (strcmp(overheads[i].framework, framework) == 0)
            return &overheads[i];
    return NULL;
}

double validate_overhead_seconds(const struct validate_overhead *overhead, const struct validate_program *program)
{
    return overhead->operation_us * 1e-6 + overhead->ns_per_kib * 1e-9 * program->framework_bytes / 1024;
}

/* ---- fit ---- */

static double error_of(const struct overhead_sample *s, size_t count, double us, double ns_per_kib)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += fabs(us + 1e-3 * ns_per_kib * s[i].kib - s[i].missing_us) / s[i].measured_us;
    return sum / (double)count;
}

static void attempt(struct overhead_fit *best, const struct overhead_sample *s, size_t count, double us, double ns_per_kib,
                    double least_us)
{
    us = us < least_us ? least_us : us;
    ns_per_kib = ns_per_kib < 0 ? 0 : ns_per_kib;
    const double error = error_of(s, count, us, ns_per_kib);
    if (error < best->error)
        *best = (struct overhead_fit){us, ns_per_kib, error};
}

/* A line of least absolute deviations goes through two of the samples, or through one where it meets a bound. */
struct overhead_fit overhead_fit(const struct overhead_sample *s, size_t count, double least_us)
{
    struct overhead_fit best = {0, 0, INFINITY};
    attempt(&best, s, count, 0, 0, least_us);
    for (size_t i = 0; i < count; i++) {
        attempt(&best, s, count, s[i].missing_us, 0, least_us);
        if (s[i].kib > 0)
            attempt(&best, s, count, least_us, 1e3 * (s[i].missing_us - least_us) / s[i].kib, least_us);
        for (size_t j = 0; j < i; j++) {
            const double kib = s[i].kib - s[j].kib;
            if (fabs(kib) < 1)
                continue;
            const double slope_us = (s[i].missing_us - s[j].missing_us) / kib;
            attempt(&best, s, count, s[i].missing_us - slope_us * s[i].kib, 1e3 * slope_us, least_us);
        }
    }
    return best;
}
