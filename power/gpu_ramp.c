#include "power/gpu_ramp.h"

#include <math.h>

/* What the controller puts out at most (m1n1: 95.0 beside the number of states above the base one). */
#define MOST 95.0

static size_t base_of(const struct gpu_ramp *r)
{
    const size_t base = (size_t)r->params->base_state - 1;
    return base < r->table->count ? base : r->table->count - 1;
}

void gpu_ramp_wake(struct gpu_ramp *r, const struct gpu_control_params *params, const struct opp_table *table)
{
    *r = (struct gpu_ramp){.params = params, .table = table, .left_ms = params->use_first_ms};
    r->state = base_of(r);
    if (r->left_ms <= 0)
        r->left_ms = params->use_period_ms;
}

double gpu_ramp_mhz(const struct gpu_ramp *r)
{
    return r->table->point[r->state].mhz;
}

static void decide(struct gpu_ramp *r)
{
    const struct gpu_control_params *const p = r->params;
    const double above = 100 * r->busy_ms / p->use_period_ms - p->use_target;
    r->integral = fmin(fmax(r->integral + p->use_ki * above, 0), MOST);
    const double out = fmin(fmax(p->use_kp * above + r->integral, 0), MOST);
    const size_t base = base_of(r);
    r->state = base + (size_t)(out / MOST * (double)(r->table->count - 1 - base));
    r->left_ms = p->use_period_ms;
    r->busy_ms = 0;
}

/* Time goes on, no further than to the next decision. */
static void pass(struct gpu_ramp *r, double ms, bool busy)
{
    r->left_ms -= ms;
    r->busy_ms += busy ? ms : 0;
    if (r->left_ms <= 1e-9)
        decide(r);
}

double gpu_ramp_do(struct gpu_ramp *r, const struct gpu_ramp_work *work, double *mhz)
{
    double left = 1, all = 0, cycling = 0;
    while (left > 1e-12) {
        const double cycles_ms = work->mcycles / gpu_ramp_mhz(r), whole = work->fixed_ms + cycles_ms;
        if (!(whole > 0))
            break;
        const double now = fmin(left * whole, r->left_ms), share = now / whole;
        cycling += share * cycles_ms;
        left -= share;
        all += now;
        pass(r, now, true);
    }
    if (mhz)
        *mhz = cycling > 0 ? work->mcycles / cycling : gpu_ramp_mhz(r);
    return all;
}

void gpu_ramp_rest(struct gpu_ramp *r, double ms)
{
    if (ms > r->params->off_ms) {
        gpu_ramp_wake(r, r->params, r->table);
        return;
    }
    while (ms > 0) {
        const double now = fmin(ms, r->left_ms);
        ms -= now;
        pass(r, now, false);
    }
}
