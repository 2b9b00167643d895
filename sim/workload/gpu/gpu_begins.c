#include "sim/workload/gpu/gpu_begins.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

/* The slope of the line counts as far as its square exceeds what only one sample in twenty would reach by chance. Three windows
 * leave one degree of freedom, which says next to nothing: their slope must be 6.3 times its standard error. */
#define SURE 0.95

void gpu_begins_add(struct gpu_begins *b, double per_instruction, double ns)
{
    b->least_ns = b->windows > 0 ? fmin(b->least_ns, ns) : ns;
    b->most_ns = fmax(b->most_ns, ns);
    b->windows++;
    b->x += per_instruction;
    b->y += ns;
    b->xx += per_instruction * per_instruction;
    b->xy += per_instruction * ns;
    b->yy += ns * ns;
}

double gpu_begins_ns(const struct gpu_begins *b)
{
    const double n = b->windows, xx = b->xx - b->x * b->x / n, xy = b->xy - b->x * b->y / n, yy = b->yy - b->y * b->y / n;
    if (n < 3 || xx <= 0 || xy <= 0)
        return 0;
    const double ns = xy / xx, variance = fmax(0, yy - ns * xy) / (n - 2) / xx, least = gsl_cdf_tdist_Pinv(SURE, n - 2);
    return fmax(0, ns - least * least * variance / ns);
}

double gpu_begins_add_ns(const struct gpu_begins *b, double beginnings, double instructions)
{
    const double most = (b->most_ns - b->least_ns) * instructions;
    return fmax(-most, fmin(most, gpu_begins_ns(b) * beginnings));
}
