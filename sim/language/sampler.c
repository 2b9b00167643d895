#include "sim/language/sampler.h"

#include "sim/base/splitmix64.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct candidate {
    double logit, probability;
    uint32_t token;
};

struct sampler {
    struct sampler_params params;
    unsigned vocabulary;
    uint64_t state;
    struct candidate *candidate; /* likeliest first, after a choice by chance */
    size_t candidates;
    bool *seen;
};

static bool in_range(double value, double low, double high, const char *name, struct orch_error *error)
{
    return (value >= low && value <= high) || orch_fail(error, ORCH_USAGE, "%s %g: expected %g to %g", name, value, low, high);
}

struct sampler *sampler_create(const struct sampler_params *params, unsigned vocabulary, uint64_t seed, struct orch_error *error)
{
    if (!in_range(params->temperature, 0, 100, "temperature", error) || !in_range(params->top_p, 0, 1, "top-p", error) ||
        !in_range(params->min_p, 0, 1, "min-p", error) ||
        !in_range(params->repetition_penalty, 0, 100, "repetition penalty", error))
        return NULL;
    struct sampler *const s = calloc(1, sizeof *s);
    if (s) {
        *s = (struct sampler){.params = *params, .vocabulary = vocabulary, .state = seed};
        s->candidate = calloc(vocabulary, sizeof *s->candidate);
        s->seen = calloc(vocabulary, sizeof *s->seen);
    }
    if (s && s->candidate && s->seen)
        return s;
    sampler_free(s);
    orch_no_memory(error);
    return NULL;
}

void sampler_free(struct sampler *sampler)
{
    if (!sampler)
        return;
    free(sampler->seen);
    free(sampler->candidate);
    free(sampler);
}

/* Each recent token once, however often it came (Keskar et al. 2019, CTRL, section 4.1). */
static void penalise(struct sampler *s, const uint32_t *history, size_t count)
{
    const double penalty = s->params.repetition_penalty;
    const size_t recent = count < s->params.repetition_last ? count : s->params.repetition_last;
    if (penalty <= 0 || penalty == 1)
        return;
    for (size_t i = count - recent; i < count; i++) {
        struct candidate *const c = history[i] < s->vocabulary ? &s->candidate[history[i]] : NULL;
        if (!c || s->seen[history[i]])
            continue;
        s->seen[history[i]] = true;
        c->logit = c->logit > 0 ? c->logit / penalty : c->logit * penalty;
    }
    for (size_t i = count - recent; i < count; i++)
        if (history[i] < s->vocabulary)
            s->seen[history[i]] = false;
}

static uint32_t largest(const struct sampler *s)
{
    size_t best = 0;
    for (size_t i = 1; i < s->vocabulary; i++)
        if (s->candidate[i].logit > s->candidate[best].logit)
            best = i;
    return (uint32_t)best;
}

static int likeliest_first(const void *a, const void *b)
{
    const struct candidate *const x = a, *const y = b;
    if (x->logit != y->logit)
        return x->logit > y->logit ? -1 : 1;
    return x->token < y->token ? -1 : x->token > y->token;
}

/* Probabilities of the candidates that are left, at a temperature. */
static void weigh(struct sampler *s, double temperature)
{
    double sum = 0;
    for (size_t i = 0; i < s->candidates; i++)
        sum += s->candidate[i].probability = exp((s->candidate[i].logit - s->candidate[0].logit) / temperature);
    for (size_t i = 0; i < s->candidates; i++)
        s->candidate[i].probability /= sum;
}

/* Leaves the likely candidates; at least one stays. */
static void cut(struct sampler *s)
{
    const struct sampler_params *const p = &s->params;
    if (p->top_k && p->top_k < s->candidates)
        s->candidates = p->top_k;
    weigh(s, 1);
    if (p->top_p > 0 && p->top_p < 1) {
        double sum = 0;
        size_t kept = 0;
        while (kept < s->candidates && sum < p->top_p)
            sum += s->candidate[kept++].probability;
        s->candidates = kept;
    }
    while (s->candidates > 1 && s->candidate[s->candidates - 1].probability < p->min_p * s->candidate[0].probability)
        s->candidates--;
}

static uint32_t draw(struct sampler *s)
{
    double left = (double)(splitmix64_next(&s->state) >> 11) * 0x1p-53;
    for (size_t i = 0; i + 1 < s->candidates; i++) {
        if (left < s->candidate[i].probability)
            return s->candidate[i].token;
        left -= s->candidate[i].probability;
    }
    return s->candidate[s->candidates - 1].token;
}

uint32_t sampler_next(struct sampler *sampler, const float *logits, const uint32_t *history, size_t count)
{
    struct sampler *const s = sampler;
    s->candidates = s->vocabulary;
    for (uint32_t i = 0; i < s->vocabulary; i++) /* NaN counts as impossible */
        s->candidate[i] = (struct candidate){isnan(logits[i]) ? -INFINITY : (double)logits[i], 0, i};
    penalise(s, history, count);
    if (s->params.temperature <= 0) {
        const uint32_t best = largest(s);
        s->candidate[0] = (struct candidate){s->candidate[best].logit, 1, best};
        s->candidates = 1;
        return best;
    }
    qsort(s->candidate, s->candidates, sizeof *s->candidate, likeliest_first);
    if (!isfinite(s->candidate[0].logit)) { /* all are impossible, or one is certain */
        s->candidates = 1;
        s->candidate[0].probability = 1;
        return s->candidate[0].token;
    }
    cut(s);
    weigh(s, s->params.temperature);
    return draw(s);
}

void sampler_probabilities(const struct sampler *sampler, double *probability)
{
    memset(probability, 0, sampler->vocabulary * sizeof *probability);
    for (size_t i = 0; i < sampler->candidates; i++)
        probability[sampler->candidate[i].token] = sampler->candidate[i].probability;
}
