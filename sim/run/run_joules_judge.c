/* How sure the joules of a run are: which parameters they rest on, how far these are known, and the 90 % interval. */
#include "sim/run/run_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what the energy depends on ---- */

struct share {
    char key[112];
    double joules;
    bool event;                     /* counted: does not change when the run takes longer */
    const struct chip_value *value; /* NULL = the chip has no such key */
};

static int larger_first(const void *a, const void *b)
{
    const struct share *x = a, *y = b;
    return x->joules < y->joules ? 1 : x->joules > y->joules ? -1 : strcmp(x->key, y->key);
}

static void add_share(struct share *list, size_t *count, const char *key, const char *name, double joules)
{
    if (joules <= 0)
        return;
    snprintf(list[*count].key, sizeof list[0].key, "power.%s%s%s", key, *name ? "." : "", name);
    list[*count].event = *name != 0;
    list[(*count)++].joules = joules;
}

enum { SHARES_MAX = ACT_COUNT + 2 * POWER_DOMAIN_COUNT, TOLD = 2 };
#define TOLD_SHARE 0.15 /* of the energy */

/* Joules of one kind of event, priced where each was counted: the events of an E core cost less. */
static double event_joules(const struct energy_model *model, const struct run *run, const struct run_measure *m,
                           enum activity_event event)
{
    const bool cores = run->kind->part == PART_CPU || run->kind->part == PART_AMX;
    double joules[POWER_DOMAIN_COUNT] = {0}, sum = 0;

    for (enum power_domain d = 0; d < POWER_DOMAIN_COUNT; d++) {
        struct activity one = {{0}};
        one.count[event] = cores ? m->by[d].count[event] : d == run->energy.profile.driver ? m->activity.count[event] : 0;
        power_price(&model->params, &one, d, joules);
    }
    for (enum power_domain d = 0; d < POWER_DOMAIN_COUNT; d++)
        sum += joules[d];
    return sum;
}

static size_t list_shares(const struct energy_model *model, const struct run *run, const struct energy_report *report,
                          const struct run_measure *m, struct share *list)
{
    size_t count = 0;
    for (enum activity_event event = 0; event < ACT_COUNT; event++)
        add_share(list, &count, "pj", activity_name(event), event_joules(model, run, m, event));
    for (enum power_domain d = 0; d < POWER_DOMAIN_COUNT; d++) {
        char key[80];
        snprintf(key, sizeof key, "%s.clock_nf", power_domain_name(d));
        add_share(list, &count, key, "", report->domain[d].clock_j);
        snprintf(key, sizeof key, "%s.leakage_w", power_domain_name(d));
        add_share(list, &count, key, "", report->domain[d].leakage_j);
    }
    for (size_t i = 0; i < count; i++)
        list[i].value = chip_value(run->request->chip, list[i].key);
    qsort(list, count, sizeof *list, larger_first);
    return count;
}

static bool tell_shares(const struct energy_report *report, const struct share *list, size_t count, struct run_result *r)
{
    bool ok = true;
    for (size_t i = 0; ok && i < count && i < TOLD && list[i].joules >= TOLD_SHARE * report->joules; i++) {
        const struct chip_value *const v = list[i].value;
        char text[96];
        if (!v || !v->known)
            continue;
        snprintf(text, sizeof text, "decides %.0f %% of the energy, known to %.0f %%", 100 * list[i].joules / report->joules,
                 100 * v->uncertainty);
        ok = run_assumption_add(&r->assumptions, list[i].key, chip_kind_name(v->kind), text);
    }
    return ok;
}

/* ---- fits ---- */

/* Shares whose values are off together: those of another family of chips, made in another process, and those that have the same
 * source. A guess is off by itself. */
struct fit {
    const struct chip_value *value; /* of the largest share */
    double joules, sd_joules;       /* sd_joules: one standard deviation */
    size_t values;
};

static bool of_fit(const struct fit *fit, const struct chip_value *v)
{
    if (fit->value->adopted || v->adopted)
        return fit->value->adopted && v->adopted;
    return fit->value->kind != CHIP_GUESS && v->kind != CHIP_GUESS && strcmp(fit->value->source, v->source) == 0;
}

/* The fits of the shares, which come with the largest first; how many. */
static size_t list_fits(const struct share *list, size_t count, struct fit *fits)
{
    size_t number = 0;
    for (size_t i = 0; i < count; i++) {
        const struct chip_value *const v = list[i].value;
        size_t at = 0;
        if (!v)
            continue;
        while (at < number && !of_fit(&fits[at], v))
            at++;
        if (at == number)
            fits[number++] = (struct fit){.value = v};
        fits[at].joules += list[i].joules;
        fits[at].sd_joules += list[i].joules * v->uncertainty;
        fits[at].values++;
    }
    return number;
}

/* ---- the interval ---- */

/* One relative standard deviation of the energy, as far as parameters decide it. */
static double parameters_sd(const struct fit *fits, size_t count, double joules)
{
    double variance = 0;
    for (size_t i = 0; i < count; i++)
        variance += fits[i].sd_joules * fits[i].sd_joules;
    return sqrt(variance) / joules;
}

/* A run that takes longer leaks longer and keeps its clocks running longer; its events stay what they are. */
static double with_time(double parameters, double share, double times)
{
    return times > 0 && isfinite(times) ? hypot(parameters, share * log(times) / INTERVAL_90) : parameters;
}

static void set_interval(const struct share *list, size_t count, double sd, struct run_result *r)
{
    double lasting = 0;
    for (size_t i = 0; i < count; i++)
        lasting += list[i].event ? 0 : list[i].joules / r->joules;
    r->joules_low = r->joules * exp(-INTERVAL_90 * with_time(sd, lasting, r->seconds / r->seconds_low));
    r->joules_high = r->joules * exp(INTERVAL_90 * with_time(sd, lasting, r->seconds_high / r->seconds));
}

/* ---- values of other chips ---- */

/* Most of the joules of an M3 are priced as those of an M1: said once, with the reason of the largest of them. */
static bool tell_adopted(const struct fit *fits, size_t count, struct run_result *r)
{
    size_t at = 0;
    while (at < count && !fits[at].value->adopted)
        at++;
    if (at == count || !(fits[at].joules > 0.5 * r->joules))
        return true;
    char text[200];
    snprintf(text, sizeof text, "%.140s: %.0f %% of the joules", fits[at].value->adopted, 100 * fits[at].joules / r->joules);
    return run_assumption_add(&r->assumptions, RUN_ENERGY_ADOPTED, chip_kind_name(CHIP_GUESS), text);
}

/* ---- breakdowns ---- */

#define FIT_SHARE 0.3 /* of the energy */

/* Watts of a whole rail give one factor; how it divides among events nobody has measured. Tells the largest such fit. */
static bool tell_fit(const struct fit *fits, size_t count, struct run_result *r)
{
    const struct fit *largest = NULL;
    for (size_t i = 0; i < count; i++)
        if (fits[i].values > 1 && !fits[i].value->adopted && (!largest || fits[i].joules > largest->joules))
            largest = &fits[i];
    if (!largest || !(largest->joules > FIT_SHARE * r->joules))
        return true;
    char text[240];
    snprintf(text, sizeof text, "%.0f %% of the joules rest on one source that tells their sum, not its parts (%.140s)",
             100 * largest->joules / r->joules, largest->value->source);
    return run_assumption_add(&r->assumptions, "energy breakdown", chip_kind_name(largest->value->kind), text);
}

bool run_joules_judge(const struct run *run, const struct energy_model *model, const struct energy_report *report,
                      const struct run_measure *m, struct run_result *r)
{
    struct share list[SHARES_MAX];
    struct fit fits[SHARES_MAX];
    if (!(r->joules > 0))
        return true;
    const size_t count = list_shares(model, run, report, m, list), number = list_fits(list, count, fits);
    set_interval(list, count, parameters_sd(fits, number, r->joules), r);
    return tell_shares(report, list, count, r) && tell_fit(fits, number, r) && tell_adopted(fits, number, r);
}
