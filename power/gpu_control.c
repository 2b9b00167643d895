#include "power/gpu_control.h"

#include <math.h>

/* Steps grow to seconds while nothing changes; an error that appears in such a step has not lasted for all of it. */
#define LONGEST_DIE_S   0.02
#define LONGEST_POWER_S 0.1

void gpu_control_init(struct gpu_control *c, const struct gpu_control_params *params)
{
    *c = (struct gpu_control){.params = *params};
}

/* A proportional and integral controller: what it leaves of the range. The integral does not grow beyond the range. */
static double controlled(const struct gpu_control *c, double kp, double ki, double error, double *integral, double seconds)
{
    const double deepest = c->params.min_duty - 1;

    *integral = fmin(fmax(*integral + ki * error * seconds / 100, 0), 1 - deepest);
    return fmin(fmax(1 - kp * error / 100 - *integral, deepest), 1);
}

double gpu_control_step(struct gpu_control *c, double seconds, double die_c, double watts, double limit_w)
{
    const struct gpu_control_params *const p = &c->params;
    const double die =
        controlled(c, p->die_kp, p->die_ki, die_c - p->die_target_c, &c->die_integral, fmin(seconds, LONGEST_DIE_S));

    c->filtered_w += (watts - c->filtered_w) * (1 - exp(-seconds / (p->power_filter_ms * 1e-3)));
    if (limit_w <= 0)
        return die;
    return fmin(die, controlled(c, p->power_kp, p->power_ki, c->filtered_w - limit_w, &c->power_integral,
                                fmin(seconds, LONGEST_POWER_S)));
}
