#include "sim/machine/thermal/device_closed.h"

#include "sim/machine/sustain/sustain.h"

#include <math.h>
#include <string.h>

/* Time at which the line between two points of the curve crosses a height. */
static double crossing(const struct device_curve *c, size_t i, double height)
{
    return c->time_s[i] + (c->time_s[i + 1] - c->time_s[i]) * (height - c->watts[i]) / (c->watts[i + 1] - c->watts[i]);
}

static bool find_load(const struct device_curve *c, double *begin_s, double *end_s, struct orch_error *error)
{
    double most = 0;
    size_t first = 0, last = 0;
    for (size_t i = 0; i < c->count; i++)
        most = fmax(most, c->watts[i]);
    for (size_t i = 0; i < c->count; i++)
        if (c->watts[i] >= most / 2) {
            first = last ? first : i;
            last = i;
        }
    if (most <= 0 || first == 0 || last + 1 >= c->count || last <= first)
        return orch_fail(error, ORCH_USAGE, "the curve does not show a load that begins and ends");
    *begin_s = crossing(c, first - 1, most / 2);
    *end_s = crossing(c, last, most / 2);
    return true;
}

/* Mean power of the curve over a stretch of time. */
static double measured_w(const struct device_curve *c, double from_s, double to_s)
{
    double sum = 0, n = 0;
    for (size_t i = 0; i < c->count; i++)
        if (c->time_s[i] >= from_s && c->time_s[i] <= to_s) {
            sum += c->watts[i];
            n++;
        }
    return n > 0 ? sum / n : NAN;
}

struct stretch {
    double p_w, p_mhz, chip_w;
};

static struct stretch mean_of(const struct sustain_result *r, double from_s, double to_s)
{
    struct stretch mean = {0, 0, 0};
    double n = 0;
    for (size_t i = 0; i < r->samples; i++) {
        const struct sustain_sample *const s = &r->sample[i];
        if (s->time_s <= from_s || s->time_s > to_s)
            continue;
        mean.p_w += s->watts[POWER_P_CPU] + s->watts[POWER_AMX];
        mean.p_mhz += s->mhz[POWER_P_CPU];
        for (enum power_domain d = 0; d < POWER_DOMAIN_COUNT; d++)
            mean.chip_w += s->watts[d];
        n++;
    }
    return n > 0 ? (struct stretch){mean.p_w / n, mean.p_mhz / n, mean.chip_w / n} : (struct stretch){NAN, NAN, NAN};
}

static void compare(const struct device_curve *c, const struct sustain_result *r, double sample_s,
                    struct device_closed_score *score)
{
    double squares = 0, sum = 0, n = 0;
    for (size_t i = 1; i < c->count; i++) {
        const double place = (c->time_s[i] - c->time_s[0]) / sample_s - 1; /* sample k lies at the end of stretch k */
        const size_t k = (size_t)fmax(0, floor(place));
        if (k + 1 >= r->samples)
            continue;
        const double share = fmin(1, fmax(0, place - (double)k));
        const double off = r->sample[k].mean_c + share * (r->sample[k + 1].mean_c - r->sample[k].mean_c) - c->celsius[i];
        squares += off * off;
        sum += off;
        n++;
    }
    score->rmse_k = sqrt(squares / n);
    score->bias_k = sum / n;
}

bool device_closed_score(const struct device_curve *curve, const struct chip *chip, const struct device *device,
                         const struct power_profile *load, struct device_closed_score *score, struct orch_error *error)
{
    struct sustain_result r;
    const double zero = curve->time_s[0];
    memset(score, 0, sizeof *score);
    if (!find_load(curve, &score->begin_s, &score->end_s, error))
        return false;
    const struct sustain_setup setup = {
        .chip = chip,
        .device = device,
        .ambient_c = NAN,
        .start_c = curve->celsius[0],
        .profile = {load},
        .profiles = 1,
        .begin_s = score->begin_s - zero,
        .duration_s = score->end_s - zero,
        .end_s = curve->time_s[curve->count - 1] - zero,
        .policy = GOVERNOR_PERFORMANCE,
        .battery_percent = 100,
        .sample_s = 1,
    };
    if (!sustain_run(&setup, &r, error))
        return false;
    const struct stretch first = mean_of(&r, setup.begin_s + 25, setup.begin_s + 35),
                         last = mean_of(&r, setup.duration_s - 11, setup.duration_s - 1);
    score->onset_s = r.onset_s - setup.begin_s;
    score->first_w = first.p_w;
    score->first_mhz = first.p_mhz;
    score->chip_first_w = first.chip_w;
    score->last_w = last.p_w;
    score->last_mhz = last.p_mhz;
    score->chip_last_w = last.chip_w;
    score->measured_first_w = measured_w(curve, score->begin_s + 25, score->begin_s + 35);
    score->measured_last_w = measured_w(curve, score->end_s - 25, score->end_s - 5);
    compare(curve, &r, setup.sample_s, score);
    sustain_result_free(&r);
    return true;
}
