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

/* ---- the interval ---- */

#define NORMAL_90 1.6449 /* standard deviations on either side of 90 % */

/* Values of one fit are off together: they have the same source. So are those of another family of chips, made in another
 * process. Guesses are off each by itself. */
static bool off_together(const struct chip_value *a, const struct chip_value *b)
{
    if (a->adopted && b->adopted)
        return true;
    return a->kind != CHIP_GUESS && b->kind != CHIP_GUESS && strcmp(a->source, b->source) == 0;
}

/* One relative standard deviation of the energy, as far as parameters decide it. */
static double parameters_sd(const struct share *list, size_t count, double joules)
{
    double variance = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; list[i].value && k < count; k++)
            if (list[k].value && (i == k || off_together(list[i].value, list[k].value)))
                variance += list[i].joules * list[i].value->uncertainty * list[k].joules * list[k].value->uncertainty;
    return sqrt(variance) / joules;
}

/* A run that takes longer leaks longer and keeps its clocks running longer; its events stay what they are. */
static double with_time(double parameters, double share, double times)
{
    return times > 0 && isfinite(times) ? hypot(parameters, share * log(times) / NORMAL_90) : parameters;
}

static void set_interval(const struct share *list, size_t count, struct run_result *r)
{
    double lasting = 0;
    for (size_t i = 0; i < count; i++)
        lasting += list[i].event ? 0 : list[i].joules / r->joules;
    const double sd = parameters_sd(list, count, r->joules);
    r->joules_low = r->joules * exp(-NORMAL_90 * with_time(sd, lasting, r->seconds / r->seconds_low));
    r->joules_high = r->joules * exp(NORMAL_90 * with_time(sd, lasting, r->seconds_high / r->seconds));
}

/* ---- values of other chips ---- */

/* Most of the joules of an M3 are priced as those of an M1: said once, with the reason of the largest of them. */
static bool tell_adopted(const struct share *list, size_t count, struct run_result *r)
{
    double adopted = 0;
    const char *why = NULL;
    for (size_t i = 0; i < count; i++) {
        if (!list[i].value || !list[i].value->adopted)
            continue;
        adopted += list[i].joules;
        why = why ? why : list[i].value->adopted;
    }
    if (!(adopted > 0.5 * r->joules))
        return true;
    char text[200];
    snprintf(text, sizeof text, "%.140s: %.0f %% of the joules", why, 100 * adopted / r->joules);
    return run_assumption_add(&r->assumptions, RUN_ENERGY_ADOPTED, chip_kind_name(CHIP_GUESS), text);
}

/* ---- breakdowns ---- */

#define FIT_SHARE 0.3 /* of the energy */

/* Watts of a whole rail give one factor; how it divides among events nobody has measured. Tells the largest such fit. */
static bool tell_fit(const struct share *list, size_t count, struct run_result *r)
{
    double most = 0;
    size_t largest = 0;
    for (size_t i = 0; i < count; i++) {
        double sum = 0;
        size_t values = 0;
        for (size_t k = 0; list[i].value && !list[i].value->adopted && k < count; k++) {
            const bool same = list[k].value && off_together(list[i].value, list[k].value);
            sum += same ? list[k].joules : 0;
            values += same;
        }
        if (values < 2 || sum <= most)
            continue;
        most = sum;
        largest = i;
    }
    if (!(most > FIT_SHARE * r->joules))
        return true;
    char text[240];
    snprintf(text, sizeof text, "%.0f %% of the joules rest on one source that tells their sum, not its parts (%.140s)",
             100 * most / r->joules, list[largest].value->source);
    return run_assumption_add(&r->assumptions, "energy breakdown", chip_kind_name(list[largest].value->kind), text);
}

bool run_joules_judge(const struct run *run, const struct energy_model *model, const struct energy_report *report,
                      const struct run_measure *m, struct run_result *r)
{
    struct share list[SHARES_MAX];
    const size_t count = list_shares(model, run, report, m, list);
    if (!(r->joules > 0))
        return true;
    set_interval(list, count, r);
    return tell_shares(report, list, count, r) && tell_fit(list, count, r) && tell_adopted(list, count, r);
}
