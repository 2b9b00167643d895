/* Interval and assumptions of a run's result. */
#include "sim/run/run_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Group of residuals: whatever is mostly launch is like all else that is. */
static const char *work_of(const struct run *run, const struct run_result *r)
{
    return r->overhead_seconds > 0.5 * r->seconds ? RESIDUAL_LAUNCH : run->kind->work(run, r);
}

/* ---- assumptions ---- */

struct told {
    const char *key, *kind;
    double share, uncertainty, part; /* of the variance */
};

static int larger_part_first(const void *a, const void *b)
{
    const struct told *x = a, *y = b;
    return x->part != y->part ? (x->part < y->part) - (x->part > y->part) : strcmp(x->key, y->key);
}

static bool tell_parameter(struct run_result *r, const struct told *t)
{
    char effect[128];
    snprintf(effect, sizeof effect, "decides %.0f %% of the time, known to %.0f %%: %.0f %% of the interval", 100 * t->share,
             100 * t->uncertainty, 100 * t->part);
    return run_assumption_add(&r->assumptions, t->key, t->kind, effect);
}

static bool tell_residual(struct run_result *r, const struct residual *residual, const struct interval *interval)
{
    char effect[240], of[64];
    if (!*residual->part)
        snprintf(of, sizeof of, "all");
    else
        snprintf(of, sizeof of, "%.20s%s%.20s", residual->part, *residual->work ? " " : "", residual->work);
    snprintf(effect, sizeof effect,
             "hardware took %.2f to %.2f of the predicted time in 90 %% of %u published measurements (%s): %.0f %% of the "
             "interval",
             exp(residual->low), exp(residual->high), residual->rows, of, 100 * (1 - interval->parameters));
    return run_assumption_add(&r->assumptions, "model", "residual", effect);
}

/* Lists parameters by their part of the variance and the residual among them. Parameters that decide neither the time nor the
 * interval are left out. */
static bool tell(const struct chip *chip, const struct interval_shares *shares, const struct residual *residual,
                 const struct interval *interval, struct run_result *r)
{
    struct told told[INTERVAL_SHARES_MAX];
    const double sd = interval_parameters(chip, shares);
    size_t count = 0;
    bool ok = true, residual_told = false;
    for (size_t i = 0; i < shares->count; i++) {
        const struct chip_value *v = chip_value(chip, shares->item[i].key);
        if (!v || !v->known)
            continue;
        const double uncertainty = chip_value_uncertainty(v, shares->active);
        const double of_sd = sd > 0 ? shares->item[i].share * uncertainty / sd : 0, part = of_sd * of_sd * interval->parameters;
        if (part >= 0.005 || shares->item[i].share >= 0.1)
            told[count++] = (struct told){shares->item[i].key, chip_kind_name(v->kind), shares->item[i].share, uncertainty, part};
    }
    qsort(told, count, sizeof told[0], larger_part_first);
    for (size_t i = 0; ok && i <= count; i++) {
        if (!residual_told && (i == count || told[i].part < 1 - interval->parameters)) {
            ok = tell_residual(r, residual, interval);
            residual_told = true;
        }
        ok = ok && (i == count || tell_parameter(r, &told[i]));
    }
    return ok;
}

double run_parameters_sd(const struct run *run)
{
    return run->parameters_sd;
}

bool run_set_interval(struct run *run, const struct interval_shares *cheap, double other_sd, struct run_result *r,
                      struct orch_error *error)
{
    const struct run_request *q = run->request;
    const struct residual *residual = residual_of(run->begin.unit, work_of(run, r));
    struct interval_shares shares = *cheap;
    double low = interval_parameters(q->chip, &shares), high = low;
    run->parameters_sd = hypot(low, other_sd);
    if (q->uncertainty && !q->uncertainty->sample(q->uncertainty->context, q, &shares, &low, &high, error))
        return false;
    const struct interval interval = interval_of(residual, hypot(low, other_sd), hypot(high, other_sd));
    r->seconds_low = run->slept_s + (r->seconds - run->slept_s) * interval.low;
    r->seconds_high = run->slept_s + (r->seconds - run->slept_s) * interval.high;
    return tell(q->chip, &shares, residual, &interval, r) || orch_no_memory(error);
}

/* ---- shares of each unit ---- */

static unsigned clusters_of(const struct run_measure *m)
{
    unsigned count = 0;
    for (unsigned i = 0; i < m->core_count; i++) {
        unsigned earlier = 0;
        while (earlier < i && m->cores[earlier]->cluster != m->cores[i]->cluster)
            earlier++;
        count += earlier == i;
    }
    return count;
}

static unsigned active_of(const struct run_measure *m)
{
    unsigned count = 0;
    for (unsigned i = 0; i < m->core_count; i++)
        count += m->cores[i]->cluster == m->critical->cluster;
    return count;
}

void run_cpu_shares(const struct chip *chip, const struct run_measure *m, struct interval_shares *shares)
{
    const struct interval_cpu cpu = {m->stalls,      m->end_ns,    interval_traffic_of(&m->activity, m->end_ns),
                                     clusters_of(m), active_of(m), m->critical->performance};
    interval_add_cpu(shares, chip, &cpu);
}

double interval_of_cores(struct soc *soc, struct soc_core *const *cores, unsigned count, double end_ns)
{
    struct run_measure m = {.soc = soc, .core_count = count, .end_ns = end_ns};
    struct interval_shares shares = {.count = 0};
    memcpy(m.cores, cores, count * sizeof m.cores[0]);
    run_measure_finish(&m);
    run_cpu_shares(soc_chip(soc), &m, &shares);
    return interval_parameters(soc_chip(soc), &shares);
}

void run_gpu_shares(const struct chip *chip, const struct run_measure *m, struct interval_shares *shares)
{
    const struct run_gpu *g = &m->gpu;
    double cycles = 0;
    for (int i = 0; i < GPU_STALL_COUNT; i++)
        cycles += g->stalls[i];
    if (!(m->end_ns > 0) || !(g->device_ns > 0))
        return;
    interval_add_launch(shares, &g->params, g->overhead_ns / m->end_ns);
    const struct interval_traffic traffic = interval_traffic_of(&m->activity, g->device_ns);
    interval_add_gpu(shares, chip, g->stalls, cycles * m->end_ns / g->device_ns, &traffic);
}

void run_ane_shares(const struct run_measure *m, struct interval_shares *shares)
{
    double cycles = 0;
    for (int i = 0; i < ANE_STALL_COUNT; i++)
        cycles += m->ane.timed.cycles_by[i];
    interval_add_ane(shares, m->ane.timed.cycles_by, cycles);
}
