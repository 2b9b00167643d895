#include "sim/ask/sweep/sweep_model.h"

#include "sim/ask/sweep/kriging.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The quantities that are interpolated. */
enum part { BUSY, REST, JOULES, CELSIUS, BYTES, THROTTLED, PART_TOTAL };

struct sweep_model {
    size_t dimensions, columns, count, learned_at; /* columns: numbers of a place */
    const double *place;
    const struct sweep_answer *const *answer;
    const struct sweep_price *price; /* NULL = nobody can be asked */
    struct sweep_priced *priced;     /* at the points of the fit */
    size_t priced_count;             /* of these points, each has a price */
    bool by_price;                   /* joules are interpolated by their ratio to the price */
    struct part_model {
        struct kriging *kriging; /* NULL when the quantity is constant or absent */
        double constant;         /* the constant; NAN = absent */
        bool logarithm;
        double *y;
    } part[PART_TOTAL];
};

struct sweep_model *sweep_model_create(size_t dimensions, bool kinds)
{
    struct sweep_model *const model = calloc(1, sizeof *model);
    if (model) {
        model->dimensions = dimensions;
        model->columns = dimensions + kinds;
    }
    return model;
}

void sweep_model_free(struct sweep_model *model)
{
    for (int p = 0; model && p < PART_TOTAL; p++) {
        kriging_free(model->part[p].kriging);
        free(model->part[p].y);
    }
    if (model)
        free(model->priced);
    free(model);
}

void sweep_model_set_price(struct sweep_model *model, const struct sweep_price *price)
{
    model->price = price;
}

bool sweep_model_suits(const struct sweep_answer *const *answer, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (answer[i]->status != SWEEP_DONE || !(answer[i]->response[SWEEP_seconds] > 0))
            return false;
        for (int r = 0; r < SWEEP_RESPONSE_COUNT; r++)
            if (isnan(answer[i]->response[r]) != isnan(answer[0]->response[r]))
                return false;
    }
    return count > 0;
}

static double part_of(const struct sweep_answer *answer, enum part part)
{
    const double *const r = answer->response;
    switch (part) {
    case BUSY: return isnan(r[SWEEP_device_seconds]) ? r[SWEEP_seconds] : r[SWEEP_device_seconds];
    case REST: return isnan(r[SWEEP_device_seconds]) ? 0 : r[SWEEP_seconds] - r[SWEEP_device_seconds];
    case JOULES: return r[SWEEP_joules];
    case CELSIUS: return r[SWEEP_celsius_max];
    case BYTES: return r[SWEEP_dram_bytes];
    default: return r[SWEEP_throttled_seconds];
    }
}

/* ---- prices ---- */

/* Finds the prices of points that came since the last fit. */
static bool find_prices(struct sweep_model *m, const size_t *index, struct orch_error *error)
{
    m->by_price = false;
    if (!m->price || !m->price->work.known)
        return true;
    struct sweep_priced *const grown = reallocarray(m->priced, m->count, sizeof *grown);
    if (!grown)
        return orch_no_memory(error);
    m->priced = grown;
    while (m->priced_count < m->count &&
           sweep_price_of(m->price, index[m->priced_count], m->answer[m->priced_count], &m->priced[m->priced_count]))
        m->priced_count++;
    m->by_price = m->priced_count >= m->count;
    return true;
}

/* How far joules are off, relative, because the times and the traffic that they are priced by are off by so much. */
static double price_error(const struct sweep_priced *at, const double off[SWEEP_PRICE_PARTS])
{
    double sum = 0;
    for (int part = 0; part < SWEEP_PRICE_PARTS; part++)
        sum += isnan(at->by[part]) || isnan(off[part]) ? 0 : at->by[part] * off[part];
    return sum;
}

/* ---- fit ---- */

static bool fit_part(struct sweep_model *m, enum part which, const double *noise, struct orch_error *error)
{
    struct part_model *const p = &m->part[which];
    double least = INFINITY, most = -INFINITY;
    for (size_t i = 0; i < m->count; i++) {
        p->y[i] = part_of(m->answer[i], which) / (which == JOULES && m->by_price ? m->priced[i].joules : 1);
        least = fmin(least, p->y[i]);
        most = fmax(most, p->y[i]);
    }
    p->constant = isnan(p->y[0]) ? (double)NAN : most - least <= 1e-12 * fabs(most) ? p->y[0] : (double)NAN;
    if (isnan(p->y[0]) || !isnan(p->constant)) {
        kriging_free(p->kriging);
        p->kriging = NULL;
        return true;
    }
    p->logarithm = least > 0;
    for (size_t i = 0; i < m->count && p->logarithm; i++)
        p->y[i] = log(p->y[i]);
    if (!p->kriging)
        p->kriging = m->columns > m->dimensions ? kriging_create_with_kinds(m->dimensions, 1) : kriging_create(m->dimensions, 1);
    if (!p->kriging)
        return orch_no_memory(error);
    return kriging_fit_noisy(p->kriging, m->place, p->y, noise, m->count, 1, m->count >= m->learned_at, error);
}

static bool fit_parts(struct sweep_model *model, const double *noise, enum part end, struct orch_error *error)
{
    const size_t count = model->count;
    for (int p = 0; p < (int)end; p++) {
        double *const y = reallocarray(model->part[p].y, count, sizeof *y);
        if (!y)
            return orch_no_memory(error);
        model->part[p].y = y;
        if (!fit_part(model, (enum part)p, noise, error))
            return false;
    }
    if (count >= model->learned_at)
        model->learned_at = count + count / 4 + 1; /* the covariance changes slowly as points are added */
    return true;
}

static void take_over(struct sweep_model *model, const double *place, const struct sweep_answer *const *answer, size_t count)
{
    model->place = place;
    model->answer = answer;
    model->count = count;
}

bool sweep_model_fit(struct sweep_model *model, const double *place, const struct sweep_answer *const *answer,
                     const size_t *index, const double *noise, size_t count, struct orch_error *error)
{
    take_over(model, place, answer, count);
    return find_prices(model, index, error) && fit_parts(model, noise, PART_TOTAL, error);
}

bool sweep_model_fit_seconds(struct sweep_model *model, const double *place, const struct sweep_answer *const *answer,
                             const double *noise, size_t count, struct orch_error *error)
{
    take_over(model, place, answer, count);
    return fit_parts(model, noise, JOULES, error);
}

/* ---- errors ---- */

static double natural(const struct part_model *p, double value)
{
    return p->logarithm ? exp(value) : value;
}

/* Value of a quantity, or of its ratio to the price, at point i, predicted from the other points. */
static double left_out_value(const struct sweep_model *m, enum part which, size_t i)
{
    const struct part_model *const p = &m->part[which];
    if (!p->kriging)
        return p->constant;
    return natural(p, p->y[i] + kriging_left_out(p->kriging, i, 0, NULL));
}

/* What left-out parts of the time and left-out traffic are off by, relative. */
static double left_out_price_error(const struct sweep_model *m, size_t i)
{
    static const enum part parts[SWEEP_PRICE_PARTS] = {BUSY, REST, BYTES};
    double off[SWEEP_PRICE_PARTS];
    for (int part = 0; part < SWEEP_PRICE_PARTS; part++) {
        const double truth = part_of(m->answer[i], parts[part]);
        off[part] = truth > 0 ? left_out_value(m, parts[part], i) / truth - 1 : 0;
    }
    return price_error(&m->priced[i], off);
}

static double left_out_joules(const struct sweep_model *m, size_t i)
{
    const double value = left_out_value(m, JOULES, i);
    return m->by_price ? value * m->priced[i].joules * (1 + left_out_price_error(m, i)) : value;
}

static double relative(double value, double truth)
{
    return truth == 0 || isnan(truth) ? 0 : fabs(value / truth - 1);
}

double sweep_model_left_out_at(const struct sweep_model *m, size_t i)
{
    return relative(left_out_value(m, BUSY, i) + left_out_value(m, REST, i), m->answer[i]->response[SWEEP_seconds]);
}

struct sweep_left_out sweep_model_left_out(const struct sweep_model *model, const bool *skip)
{
    size_t count = 0;
    double squares[3] = {0}, greatest = 0;
    for (size_t i = 0; i < model->count; i++) {
        if (skip && skip[i])
            continue;
        count++;
        const double *const truth = model->answer[i]->response;
        const double error[3] = {sweep_model_left_out_at(model, i), relative(left_out_joules(model, i), truth[SWEEP_joules]),
                                 relative(left_out_value(model, CELSIUS, i), truth[SWEEP_celsius_max])};
        for (int e = 0; e < 3; e++) {
            squares[e] += error[e] * error[e];
            greatest = fmax(greatest, error[e]);
        }
    }
    for (int e = 0; e < 3; e++)
        squares[e] = sqrt(squares[e] / fmax((double)count, 1));
    return (struct sweep_left_out){fmax(squares[0], fmax(squares[1], squares[2])), greatest, squares[0], count};
}

/* ---- answers ---- */

static double predict(const struct sweep_model *m, enum part which, const double *place, double *deviation)
{
    const struct part_model *const p = &m->part[which];
    double value, spread;
    *deviation = 0;
    if (!p->kriging)
        return p->constant;
    kriging_predict(p->kriging, place, &value, &spread);
    value = natural(p, value);
    *deviation = p->logarithm ? value * spread : spread;
    return value;
}

static size_t nearest(const struct sweep_model *m, const double *place)
{
    const struct kriging *const k = m->part[BUSY].kriging;
    double least = INFINITY;
    size_t best = 0;
    for (size_t i = 0; k && i < m->count; i++) {
        const double distance = kriging_distance(k, place, m->place + i * m->columns);
        best = distance < least ? i : best;
        least = fmin(least, distance);
    }
    return best;
}

/* What is interpolated at a place, and the standard deviation of each. */
struct between {
    size_t near; /* the nearest point of the fit */
    double value[PART_TOTAL], deviation[PART_TOTAL];
};

static struct between between(const struct sweep_model *m, const double *place)
{
    struct between b = {.near = nearest(m, place)};
    for (int p = 0; p < PART_TOTAL; p++)
        b.value[p] = predict(m, (enum part)p, place, &b.deviation[p]);
    return b;
}

static double ratio(double deviation, double value)
{
    return value > 0 ? deviation / value : 0;
}

static double expected_of_seconds(const struct between *b)
{
    return hypot(b->deviation[BUSY], b->deviation[REST]) / (b->value[BUSY] + b->value[REST]);
}

static double expected_of_joules(const struct sweep_model *m, const struct between *b)
{
    static const enum part parts[SWEEP_PRICE_PARTS] = {BUSY, REST, BYTES};
    double sum = ratio(b->deviation[JOULES], b->value[JOULES]);
    for (int part = 0; m->by_price && part < SWEEP_PRICE_PARTS; part++) {
        const double by = m->priced[b->near].by[part], off = ratio(b->deviation[parts[part]], b->value[parts[part]]);
        sum = isnan(by) || isnan(off) ? sum : hypot(sum, by * off);
    }
    return sum;
}

double sweep_model_expected(const struct sweep_model *model, const double *place)
{
    const struct between b = between(model, place);
    const double celsius = ratio(b.deviation[CELSIUS], b.value[CELSIUS]), joules = expected_of_joules(model, &b);
    return fmax(expected_of_seconds(&b), fmax(joules, celsius));
}

void sweep_model_answer(const struct sweep_model *model, const double *place, size_t index, struct sweep_answer *answer)
{
    const struct between b = between(model, place);
    const double *const n = model->answer[b.near]->response;
    double *const r = answer->response;
    *answer = *model->answer[b.near]; /* takes over bound_by and what is absent from the nearest answer */
    answer->method = SWEEP_INTERPOLATED;
    answer->expected_error = expected_of_seconds(&b);
    r[SWEEP_seconds] = b.value[BUSY] + b.value[REST];
    r[SWEEP_device_seconds] = isnan(n[SWEEP_device_seconds]) ? (double)NAN : b.value[BUSY];
    r[SWEEP_celsius_max] = b.value[CELSIUS];
    r[SWEEP_dram_bytes] = isnan(n[SWEEP_dram_bytes]) ? (double)NAN : fmax(b.value[BYTES], 0);
    r[SWEEP_throttled_seconds] = isnan(n[SWEEP_throttled_seconds]) ? (double)NAN : fmax(b.value[THROTTLED], 0);
    const struct run_timing_took took = {r[SWEEP_seconds], r[SWEEP_device_seconds], r[SWEEP_dram_bytes]};
    r[SWEEP_joules] = b.value[JOULES] * (model->by_price ? sweep_price_joules(model->price, index, &took) : 1);
    const double scale = r[SWEEP_seconds] / n[SWEEP_seconds];
    r[SWEEP_seconds_low] = n[SWEEP_seconds_low] * scale;
    r[SWEEP_seconds_high] = n[SWEEP_seconds_high] * scale;
    r[SWEEP_gflops] = n[SWEEP_gflops] / scale;
    r[SWEEP_dram_gbps] = isnan(n[SWEEP_dram_gbps]) ? (double)NAN : r[SWEEP_dram_bytes] / r[SWEEP_seconds] / 1e9;
    r[SWEEP_watts_avg] = isnan(n[SWEEP_watts_avg]) ? (double)NAN : r[SWEEP_joules] / r[SWEEP_seconds];
}

/* Energy and heat follow time, so the quantity with the greatest relative error decides where to look. */
size_t sweep_model_choose(const struct sweep_model *model, const double *candidate, size_t count, size_t wanted, size_t *chosen)
{
    const struct kriging *best = NULL;
    double worst = -1;
    for (int p = BUSY; p <= CELSIUS; p++) {
        double squares = 0;
        if (!model->part[p].kriging)
            continue;
        for (size_t i = 0; i < model->count; i++) {
            const double whole =
                p == REST || p == BUSY ? model->answer[i]->response[SWEEP_seconds] : part_of(model->answer[i], (enum part)p);
            const double value = p == JOULES ? left_out_joules(model, i) : left_out_value(model, (enum part)p, i);
            const double error = value - part_of(model->answer[i], (enum part)p);
            squares += whole > 0 ? error / whole * error / whole : 0;
        }
        best = squares > worst ? model->part[p].kriging : best;
        worst = fmax(worst, squares);
    }
    return best ? kriging_choose(best, candidate, count, wanted, chosen) : 0;
}
