#include "power/governor.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

const char *thermal_pressure_name(enum thermal_pressure pressure)
{
    static const char *const names[PRESSURE_COUNT] = {"nominal", "moderate", "heavy", "trapping", "sleeping"};
    return pressure < PRESSURE_COUNT ? names[pressure] : NULL;
}

void governor_init(struct governor *governor, const struct governor_params *params, enum governor_policy policy)
{
    *governor = (struct governor){.params = *params, .policy = policy, .cap_share = 1, .sensor_share = 1, .temperature_share = 1};
}

static double clamp(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

static const enum power_domain clocked[] = {POWER_P_CPU, POWER_E_CPU, POWER_GPU, POWER_ANE};
enum { CLOCKED = sizeof clocked / sizeof clocked[0] };

static double highest_mhz(const struct governor_demand *d)
{
    const double last = d->table->point[d->table->count - 1].mhz;
    return d->limit_mhz > 0 && d->limit_mhz < last ? d->limit_mhz : last;
}

/* The clock that the policy wants, before temperature and power limit it. */
static double wanted_mhz(const struct governor *g, const struct governor_demand *d, const struct governor_limits *limits)
{
    const struct governor_policy_row *const policy = governor_policy_row(g->policy);
    const double top = highest_mhz(d);
    double mhz = policy->wanted_mhz(&g->params, d, top);

    if (limits->low_power && policy->kind != GOVERNOR_FREE)
        mhz = fmin(mhz, top * g->params.low_power_share);
    return fmax(mhz, d->table->point[0].mhz);
}

/* The share of the clock that the mean temperature leaves. */
static double temperature_share(struct governor *g, double seconds, double mean_c, double target_c)
{
    const struct governor_params *const p = &g->params;
    const double over = mean_c - target_c, fall = fmax(over + p->band_k, 0) * p->fall_per_k;

    g->integral = clamp(g->integral + over * p->integral_per_ks * seconds, 0, 1);
    return clamp(1 - fall - g->integral, 0, 1);
}

/* A slow servo on a limit. It falls fast and recovers slowly, so that it does not oscillate. Power is about proportional to the
 * cube of the clock, so steps longer than `longest_s` would make it oscillate too. */
static double servo(const struct governor *g, double share, double excess, double seconds)
{
    const double gain = excess > 0 ? g->params.limit_fall_per_s : g->params.limit_rise_per_s, longest_s = 0.02;
    return clamp(share - gain * excess * fmin(seconds, longest_s), g->params.min_duty - 1, 1);
}

void governor_set_gpu(struct governor *g, const struct gpu_control_params *params)
{
    gpu_control_init(&g->gpu, params);
    g->gpu_known = true;
}

/* The cores slow down this much before the GPU does. */
#define BEFORE_GPU_K 1.0

double governor_first_limit_c(const struct governor *g, bool gpu_busy)
{
    const double own = g->params.sensor_limit_c;
    return g->gpu_known && gpu_busy ? fmin(own, g->gpu.params.die_target_c - BEFORE_GPU_K) : own;
}

static enum thermal_pressure pressure_of(const struct governor *g, double share, bool emergency)
{
    if (emergency)
        return PRESSURE_SLEEPING;
    if (share <= 0)
        return PRESSURE_TRAPPING;
    if (share < g->params.heavy_share)
        return PRESSURE_HEAVY;
    return share < 1 ? PRESSURE_MODERATE : PRESSURE_NOMINAL;
}

static double limited_mhz(const struct governor_demand *d, double wanted, double share)
{
    const double lowest = d->table->point[0].mhz;
    return fmin(wanted, lowest + fmax(share, 0) * (highest_mhz(d) - lowest));
}

/* What temperature (`share`), hot spots and caps leave of the range of a domain. */
static double left_of(const struct governor *g, enum power_domain domain, double share, double gpu_share)
{
    if (domain == POWER_P_CPU)
        return fmin(g->cap_share, fmin(share, g->sensor_share));
    if (domain != POWER_GPU)
        return fmax(g->cap_share, 0);
    if (g->gpu_known)
        return gpu_share;
    return fmin(g->cap_share, fmin(clamp(g->params.gpu_grace * share, 0, 1), clamp(g->params.gpu_grace * g->sensor_share, 0, 1)));
}

void governor_tick(struct governor *g, double seconds, const struct governor_demand demand[POWER_DOMAIN_COUNT],
                   const struct governor_sensors *sensors, const struct governor_limits *limits, struct governor_answer *answer)
{
    const bool gpu_busy = demand[POWER_GPU].table && demand[POWER_GPU].running > 0.05;
    const double target = gpu_busy ? g->params.target_gpu_c : g->params.target_c;
    const bool free_running = governor_policy_row(g->policy)->kind == GOVERNOR_FREE;
    double share = 1, lowest = 1;

    memset(answer, 0, sizeof *answer);
    answer->emergency = sensors->hottest_c >= g->params.critical_c;
    if (!free_running)
        share = g->temperature_share = temperature_share(g, seconds, sensors->mean_c, target);
    g->sensor_share = servo(g, g->sensor_share, (sensors->hottest_c - governor_first_limit_c(g, gpu_busy)) / 10, seconds);
    g->cap_share = limits->watts > 0 ? servo(g, g->cap_share, (sensors->watts - limits->watts) / limits->watts, seconds) : 1;
    const double gpu_share = g->gpu_known ? gpu_control_step(&g->gpu, seconds, sensors->gpu_c, sensors->watts, limits->watts) : 1;
    for (unsigned i = 0; i < CLOCKED; i++) {
        const enum power_domain domain = clocked[i];
        const struct governor_demand *const d = &demand[domain];
        answer->duty[domain] = 1;
        if (!d->table)
            continue;
        const double wanted = wanted_mhz(g, d, limits);
        /* The P cores slow down first, and the GPU only when they are near their lowest point. Temperature does not throttle the
         * E cores and the Neural Engine (ThomasKaiser: E clusters stay at their highest clock). */
        const double least = domain == POWER_GPU && g->gpu_known ? g->gpu.params.min_duty : g->params.min_duty;
        const double left = answer->emergency ? least - 1 : left_of(g, domain, share, gpu_share);
        answer->mhz[domain] = limited_mhz(d, wanted, left);
        answer->duty[domain] = fmin(1, 1 + left);
        if (d->running > 0 && (answer->mhz[domain] < wanted - 0.5 || answer->duty[domain] < 1))
            answer->throttled = true;
        if (d->running > 0 && left < lowest)
            lowest = left;
    }
    answer->pressure = pressure_of(g, lowest, answer->emergency);
}
