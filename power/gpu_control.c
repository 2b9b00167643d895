#include "power/gpu_control.h"

#include <math.h>

/* Steps grow to seconds while nothing moves: an error that appears in such a step has not been there throughout. */
#define LONGEST_DIE_S   0.02
#define LONGEST_POWER_S 0.1

void gpu_control_init(struct gpu_control *c, const struct gpu_control_params *params)
{
    *c = (struct gpu_control){.params = *params, .die = 1, .power = 1, .die_before_k = NAN, .power_before_w = NAN};
}

static double limited(const struct gpu_control *c, double x)
{
    return fmin(fmax(x, c->params.min_duty - 1), 1);
}

/* Proportional and integral, as changes: what is beyond the range is not kept. */
static double moved(double x, double kp, double ki, double error, double *before, double seconds)
{
    const double change = isnan(*before) ? 0 : error - *before;

    *before = error;
    return x - (kp * change + ki * error * seconds) / 100;
}

double gpu_control_step(struct gpu_control *c, double seconds, double die_c, double watts, double limit_w)
{
    const struct gpu_control_params *const p = &c->params;

    c->die = limited(c, moved(c->die, p->die_kp, p->die_ki, die_c - p->die_target_c, &c->die_before_k, fmin(seconds, LONGEST_DIE_S)));
    c->filtered_w += (watts - c->filtered_w) * (1 - exp(-seconds / (p->power_filter_ms * 1e-3)));
    if (limit_w > 0)
        c->power = limited(c, moved(c->power, p->power_kp, p->power_ki, c->filtered_w - limit_w, &c->power_before_w, fmin(seconds, LONGEST_POWER_S)));
    else
        c->power = 1;
    return fmin(c->die, c->power);
}
