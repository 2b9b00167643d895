#include "sim/ask/study/uncertainty.h"

#include "sim/run/interval.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_multifit.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- moving a parameter ---- */

/* Writes "KEY=" and the value times a factor, within the bounds of the key. Counts are rounded; lists by active cores move as a
 * whole. *moved is the factor after that. */
static void moved_value(const struct chip_value *v, double factor, char *text, size_t size, double *moved)
{
    const struct chip_key *const k = v->key;
    size_t used = 0;
    const bool list = v->key->type == CHIP_CORES && v->count > 1;
    if (list)
        used = (size_t)snprintf(text, size, "[");
    for (size_t i = 0; i < (list ? v->count : 1) && used < size; i++) {
        double value = (list ? v->list[i] : v->number) * factor;
        if (k->highest > k->lowest)
            value = fmin(fmax(value, k->lowest), k->highest);
        value = k->type == CHIP_INT ? rint(value) : value;
        if (i == 0)
            *moved = value / (list ? v->list[0] : v->number);
        used += (size_t)snprintf(text + used, size - used, "%s%.17g", i ? "," : "", value);
    }
    if (list && used < size)
        snprintf(text + used, size - used, "]");
}

static bool can_move(const struct chip_value *v)
{
    return v && v->known && v->number > 0 && v->uncertainty > 0 &&
           (v->key->type == CHIP_REAL || v->key->type == CHIP_INT || v->key->type == CHIP_CORES);
}

static bool set_moved(struct study_setting *setting, const struct chip_value *v, double factor, double *moved,
                      struct orch_error *error)
{
    char text[512];
    moved_value(v, factor, text, sizeof text, moved);
    return study_setting_set(setting, v->key->name, text) || orch_no_memory(error);
}

static bool seconds_at(struct study *study, const struct study_setting *setting, double *seconds, struct orch_error *error)
{
    struct study_answer answer;
    study_answer_init(&answer);
    const bool ok = study_evaluate(study, setting, &answer, error);
    *seconds = answer.result.seconds;
    study_answer_free(&answer);
    return ok;
}

bool uncertainty_elasticity(struct study *study, const struct chip *chip, const struct study_setting *setting, const char *key,
                            double step, double *elasticity, struct orch_error *error)
{
    const struct chip_value *const v = chip_value(chip, key);
    double moved[2] = {1, 1}, seconds[2] = {1, 1};
    if (!v || !v->known || !(v->number > 0))
        return orch_fail(error, ORCH_USAGE, "%.60s: not a number that can be moved", key);
    for (int i = 0; i < 2; i++) {
        struct study_setting at = {NULL, NULL, 0};
        const bool ok = (study_setting_copy(&at, setting) || orch_no_memory(error)) &&
                        set_moved(&at, v, i ? 1 + step : 1 / (1 + step), &moved[i], error) &&
                        seconds_at(study, &at, &seconds[i], error);
        study_setting_free(&at);
        if (!ok)
            return false;
    }
    const double distance = log(moved[1] / moved[0]);
    *elasticity = distance > 0 ? log(seconds[1] / seconds[0]) / distance : 0;
    return true;
}

/* ---- the hypercube ---- */

struct cube {
    const struct chip_value *value[UNCERTAINTY_PARAMETERS_MOST];
    size_t parameters;
    unsigned runs, active; /* active: busy cores of a cluster */
    double *factor;        /* logarithms, by run and parameter */
    double *seconds;       /* logarithms, relative to the run with nothing moved */
};

static double weight_of(const struct chip *chip, const struct interval_shares *shares, size_t i)
{
    const struct chip_value *const v = chip_value(chip, shares->item[i].key);
    return can_move(v) ? shares->item[i].share * chip_value_uncertainty(v, shares->active) : 0;
}

/* Share of the largest contribution. Parameters that move the time by less would be lost in the nonlinearity of the others. */
#define LEAST_CONTRIBUTION 0.1

/* Chooses the parameters that contribute most by the cheap estimate, at most half as many as there are runs. */
static void choose(struct cube *c, const struct chip *chip, const struct interval_shares *shares)
{
    bool taken[INTERVAL_SHARES_MAX] = {false};
    double first = 0;
    const size_t most = c->runs / 2 < UNCERTAINTY_PARAMETERS_MOST ? c->runs / 2 : UNCERTAINTY_PARAMETERS_MOST;
    while (c->parameters < most) {
        size_t best = shares->count;
        for (size_t i = 0; i < shares->count; i++)
            if (!taken[i] && weight_of(chip, shares, i) > 0 &&
                (best == shares->count || weight_of(chip, shares, i) > weight_of(chip, shares, best)))
                best = i;
        if (best == shares->count || (c->parameters && weight_of(chip, shares, best) < LEAST_CONTRIBUTION * first))
            return;
        first = c->parameters ? first : weight_of(chip, shares, best);
        taken[best] = true;
        c->value[c->parameters++] = chip_value(chip, shares->item[best].key);
    }
}

/* Latin hypercube: each parameter takes each of `runs` equally likely parts of its lognormal distribution once, in an order of
 * its own. */
static bool fill(struct cube *c, uint64_t seed)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    size_t *const order = malloc(c->runs * sizeof *order);
    const bool ok = rng && order;
    if (ok)
        gsl_rng_set(rng, (unsigned long)seed);
    for (size_t p = 0; ok && p < c->parameters; p++) {
        const double u = chip_value_uncertainty(c->value[p], c->active), sd = sqrt(log1p(u * u));
        for (unsigned i = 0; i < c->runs; i++)
            order[i] = i;
        gsl_ran_shuffle(rng, order, c->runs, sizeof *order);
        for (unsigned i = 0; i < c->runs; i++)
            c->factor[i * c->parameters + p] =
                sd * gsl_cdf_ugaussian_Pinv(((double)order[i] + gsl_rng_uniform_pos(rng)) / c->runs);
    }
    if (rng)
        gsl_rng_free(rng);
    free(order);
    return ok;
}

static bool run_point(const struct cube *c, struct study *study, double *factor, double *seconds, struct orch_error *error)
{
    struct study_setting setting = {NULL, NULL, 0};
    bool ok = true;
    for (size_t p = 0; ok && p < c->parameters; p++) {
        double moved = 1;
        ok = set_moved(&setting, c->value[p], exp(factor[p]), &moved, error);
        factor[p] = log(moved);
    }
    ok = ok && seconds_at(study, &setting, seconds, error);
    study_setting_free(&setting);
    return ok;
}

static bool run_all(struct cube *c, struct study *study, struct orch_error *error)
{
    const struct study_setting unmoved = {NULL, NULL, 0};
    double nominal = 0, seconds = 0;
    if (!seconds_at(study, &unmoved, &nominal, error))
        return false;
    for (unsigned i = 0; i < c->runs; i++) {
        if (!run_point(c, study, &c->factor[i * c->parameters], &seconds, error))
            return false;
        c->seconds[i] = log(seconds / nominal);
    }
    return true;
}

/* ---- what the times say ---- */

/* Fits ln seconds = constant + sum of elasticity * ln factor by least squares. An elasticity within two standard errors of 0 is
 * NAN. */
static bool regress(const struct cube *c, double elasticity[])
{
    const size_t n = c->runs, p = c->parameters + 1;
    gsl_matrix *const x = gsl_matrix_alloc(n, p), *const covariance = gsl_matrix_alloc(p, p);
    gsl_vector *const y = gsl_vector_alloc(n), *const found = gsl_vector_alloc(p);
    gsl_multifit_linear_workspace *work = gsl_multifit_linear_alloc(n, p);
    double chi2;
    const bool ok = x && covariance && y && found && work;
    for (size_t i = 0; ok && i < n; i++) {
        gsl_vector_set(y, i, c->seconds[i]);
        gsl_matrix_set(x, i, 0, 1);
        for (size_t k = 1; k < p; k++)
            gsl_matrix_set(x, i, k, c->factor[i * c->parameters + k - 1]);
    }
    if (ok)
        gsl_multifit_linear(x, y, found, covariance, &chi2, work);
    for (size_t k = 1; ok && k < p; k++) {
        const double e = gsl_vector_get(found, k), error = sqrt(gsl_matrix_get(covariance, k, k));
        elasticity[k - 1] = fabs(e) > 2 * error ? e : NAN;
    }
    gsl_multifit_linear_free(work);
    gsl_matrix_free(x);
    gsl_matrix_free(covariance);
    gsl_vector_free(y);
    gsl_vector_free(found);
    return ok;
}

/* Deviations below and above the unmoved time, since times need not fall as far as they rise: on each side, that of a symmetrical
 * distribution with that side. */
static void deviations(const struct cube *c, double *sd_low, double *sd_high)
{
    double low = 0, high = 0;
    for (unsigned i = 0; i < c->runs; i++) {
        const double x = c->seconds[i];
        low += x < 0 ? x * x : 0;
        high += x > 0 ? x * x : 0;
    }
    *sd_low = sqrt(2 * low / c->runs);
    *sd_high = sqrt(2 * high / c->runs);
}

/* Parameters that were not moved keep their cheap estimate; those without a measurable effect get none. */
static void put_back(const struct cube *c, const double elasticity[], struct interval_shares *shares)
{
    for (size_t p = 0; p < c->parameters; p++)
        for (size_t i = 0; i < shares->count; i++)
            if (strcmp(shares->item[i].key, c->value[p]->key->name) == 0)
                shares->item[i].share = isnan(elasticity[p]) ? 0 : fabs(elasticity[p]);
}

static bool sample(void *context, const struct run_request *request, struct interval_shares *shares, double *sd_low,
                   double *sd_high, struct orch_error *error)
{
    struct uncertainty *const u = context;
    struct study_base base = {
        .chips = u->chips, .sets = u->sets, .request = *request, .chip = chip_id(request->chip), .ambient_c = NAN};
    struct cube c = {.runs = u->runs, .active = shares->active};
    double elasticity[UNCERTAINTY_PARAMETERS_MOST] = {0};
    base.request.uncertainty = NULL;
    base.request.program_output = NULL;
    base.request.output_folder = NULL;
    choose(&c, request->chip, shares);
    if (c.parameters == 0)
        return true;
    c.factor = calloc(c.runs * (c.parameters + 1), sizeof *c.factor);
    c.seconds = c.factor ? c.factor + c.runs * c.parameters : NULL;
    struct study *const study = c.factor ? study_create(&base, u->db, error) : NULL;
    bool ok = study || orch_no_memory(error);
    ok = ok && (fill(&c, u->seed) || orch_no_memory(error)) && run_all(&c, study, error);
    ok = ok && (regress(&c, elasticity) || orch_no_memory(error));
    if (ok) {
        deviations(&c, sd_low, sd_high);
        put_back(&c, elasticity, shares);
    }
    study_free(study);
    free(c.factor);
    return ok;
}

struct run_uncertainty uncertainty_as_run(struct uncertainty *u)
{
    return (struct run_uncertainty){sample, u, u->runs};
}
