/* Feed-forward networks: one for all tokens, or the best experts of each. */
#include "sim/run/language/language_step_internal.h"
#include "units/ane/ane_numeric.h"

#include <math.h>
#include <stdio.h>

/* gate = limited, by its own sigmoid (slope x), times the other half, limited and one more. */
static bool pass_gate(struct language_stepper *s, uint64_t count)
{
    const uint64_t each = s->value_bytes;
    const struct language_buffer up = language_values(s, &s->up, count), gate = language_values(s, &s->gate, count),
                                 swish = language_values(s, &s->swish, count);
    const struct language_buffer limit = language_part(&s->gate_numbers, 0, each),
                                 least = language_part(&s->gate_numbers, each, each),
                                 one = language_part(&s->gate_numbers, 2 * each, each),
                                 slope = language_part(&s->gate_numbers, 3 * each, each);
    const enum orch_part part = language_rest_part(s);
    const struct language_call calls[] = {
        {"ffn_act", s->values, part, {&up, &limit, &least, &one}, 4, &up, false, 4, 0},
        {"ffn_act", s->values, part, {&gate, &limit}, 2, &gate, false, 2, 0},
        {"ffn_act", s->values, part, {&gate, &slope}, 2, &swish, false, 2, 0},
        {"ffn_act", s->values, part, {&swish, &gate, &up}, 3, &gate, false, 3, 0},
    };
    static const char *const ops[] = {"min+max+add,period=1", "min,period=1", "mul+sigmoid,period=1", "mul+mul"};
    bool ok = true;
    for (size_t i = 0; ok && i < sizeof calls / sizeof *calls; i++)
        ok =
            language_unit_call(s->unit, &calls[i], s->sum, s->error, "elementwise:%llu,op=%s", (unsigned long long)count, ops[i]);
    return ok;
}

/* to = one network, or an expert, of from. */
static bool feed(struct language_stepper *s, const struct placed_layer *l, unsigned expert, unsigned tokens,
                 const struct language_buffer *from, const struct language_buffer *to)
{
    const struct shape_family *const f = s->shape->family;
    const uint64_t values = (uint64_t)tokens * s->shape->feed_forward;
    static const char *const names[] = {
        [SHAPE_SILU] = "silu", [SHAPE_GELU] = "gelu", [SHAPE_GELU_TANH] = "gelu_tanh", [SHAPE_RELU] = "relu"};
    const char *const function = names[f->activation];
    char op[32];
    snprintf(op, sizeof op, "%s%s", function, f->gated ? "+mul" : "");
    if (f->gated)
        return language_multiply(s, "ffn_gate", &l->gate, expert, tokens, from, &s->gate) &&
               language_multiply(s, "ffn_up", &l->up, expert, tokens, from, &s->up) &&
               (f->clamped_gate ? pass_gate(s, values)
                                : language_combine(s, "ffn_act", op, values, 0, &s->gate, &s->up, &s->gate)) &&
               language_multiply(s, "ffn_down", &l->down, expert, tokens, &s->gate, to);
    return language_multiply(s, "ffn_up", &l->up, expert, tokens, from, &s->up) &&
           language_combine(s, "ffn_act", op, values, 0, &s->up, NULL, &s->up) &&
           language_multiply(s, "ffn_down", &l->down, expert, tokens, &s->up, to);
}

/* ---- experts ---- */

static float value_at(const struct language_stepper *s, const struct language_buffer *b, uint64_t i)
{
    return s->value_bytes == sizeof(float) ? ((const float *)b->host)[i] : ane_half_to_float(((const uint16_t *)b->host)[i]);
}

/* The largest values of the router for a token, best first. */
static void choose(const struct language_stepper *s, unsigned token, unsigned *chosen)
{
    const unsigned experts = s->shape->experts, used = s->shape->experts_used;
    for (unsigned i = 0; i < used; i++) {
        float best = -INFINITY;
        chosen[i] = 0;
        for (unsigned e = 0; e < experts; e++) {
            const float value = value_at(s, &s->router, (uint64_t)token * experts + e);
            bool taken = false;
            for (unsigned k = 0; k < i; k++)
                taken |= chosen[k] == e;
            if (!taken && value > best) {
                best = value;
                chosen[i] = e;
            }
        }
    }
}

/* weights = softmax over the router's values of the chosen ones alone. */
static bool weigh(struct language_stepper *s, unsigned token, const unsigned *chosen)
{
    const unsigned experts = s->shape->experts, used = s->shape->experts_used;
    for (unsigned i = 0; i < used; i++) {
        const uint64_t at = (uint64_t)token * experts + chosen[i];
        if (s->value_bytes == sizeof(float))
            ((float *)s->chosen.host)[i] = ((const float *)s->router.host)[at];
        else
            ((uint16_t *)s->chosen.host)[i] = ((const uint16_t *)s->router.host)[at];
    }
    const struct language_call call = {.title = "expert_weights",
                                       .precision = s->values,
                                       .part = language_rest_part(s),
                                       .input = {&s->chosen},
                                       .inputs = 1,
                                       .result = &s->weights,
                                       .result_place = 1};
    return language_unit_call(s->unit, &call, s->sum, s->error, "softmax:1x%u", used);
}

/* Tokens choose different experts: each goes through its own, one after another. */
static bool feed_token(struct language_stepper *s, const struct placed_layer *l, unsigned token)
{
    enum { MOST = 64 };
    const unsigned width = s->shape->width, used = s->shape->experts_used;
    const uint64_t at = (uint64_t)s->value_bytes * token * width, bytes = (uint64_t)s->value_bytes * width;
    const struct language_buffer from = language_part(&s->normed, at, bytes), to = language_part(&s->mixed, at, bytes);
    unsigned chosen[MOST];
    if (used > MOST)
        return orch_fail(s->error, ORCH_UNMODELLED, "%u experts a token; up to %d are computed", used, (int)MOST);
    choose(s, token, chosen);
    bool ok = weigh(s, token, chosen);
    for (unsigned i = 0; ok && i < used; i++) {
        const struct language_buffer weight = language_part(&s->weights, (uint64_t)s->value_bytes * i, s->value_bytes);
        const struct language_buffer *const into = i ? &s->weighed : &to;
        ok = feed(s, l, chosen[i], 1, &from, &s->row) &&
             language_combine(s, "expert_weight", "mul", width, 1, &s->row, &weight, into) &&
             (i == 0 || language_combine(s, "expert_sum", "add", width, 0, &to, &s->weighed, &to));
    }
    return ok;
}

bool language_feed_forward(struct language_stepper *s, const struct placed_layer *l)
{
    if (!s->shape->experts)
        return feed(s, l, 0, s->count, &s->normed, &s->mixed);
    bool ok = language_multiply(s, "ffn_gate_inp", &l->router, 0, s->count, &s->normed, &s->router);
    for (unsigned t = 0; ok && t < s->count; t++)
        ok = feed_token(s, l, t);
    return ok;
}
