/* Heads that may look at nothing (gpt-oss): a logit of each head takes part in the softmax and has no value. Kernels of the units
 * know biases of scores, so this logit is the bias of one more key, whose elements are zeros as are those of its value: it stands
 * in front of the tokens in the cache. Keys beyond a window have a bias that no weight survives; a token by itself reads those of
 * its window alone, and finds the key of zeros behind them.
 */
#include "sim/run/language/language_step_internal.h"
#include "units/ane/ane_numeric.h"

/* Rows of the table of biases. HIDDEN is far below all scores, and a number in f16. */
enum bias_row { BIAS_NONE, BIAS_HIDDEN, BIAS_SINK, BIAS_ROWS };
#define HIDDEN (-60000.0f)

static void put(const struct language_stepper *s, const struct language_buffer *to, uint64_t at, float value)
{
    if (s->value_bytes == sizeof(float))
        ((float *)to->host)[at] = value;
    else
        ((uint16_t *)to->host)[at] = ane_float_to_half(value);
}

bool language_place_sinks(struct language_stepper *s, const struct decoder_layer *l, struct language_buffer *to)
{
    const unsigned heads = s->shape->heads;
    if (!l->sinks)
        return true;
    if (!language_unit_place(s->unit, NULL, (uint64_t)s->value_bytes * BIAS_ROWS * heads, to, s->error))
        return false;
    for (unsigned h = 0; h < heads; h++) {
        put(s, to, (uint64_t)BIAS_HIDDEN * heads + h, HIDDEN);
        put(s, to, (uint64_t)BIAS_SINK * heads + h, l->sinks[h]);
    }
    return true;
}

bool language_place_gate(struct language_stepper *s)
{
    const struct language_shape *const p = s->shape;
    static const float numbers[] = {DECODER_GATE_LIMIT, -DECODER_GATE_LIMIT, 1, DECODER_GATE_SLOPE};
    const uint64_t keys = (uint64_t)s->batch * (s->context + LANGUAGE_SINK_ROWS), each = s->value_bytes;
    if (p->family->clamped_gate &&
        (!language_unit_place(s->unit, NULL, each * sizeof numbers / sizeof *numbers, &s->gate_numbers, s->error) ||
         !language_unit_place(s->unit, NULL, each * s->batch * p->feed_forward, &s->swish, s->error)))
        return false;
    for (unsigned i = 0; p->family->clamped_gate && i < sizeof numbers / sizeof *numbers; i++)
        put(s, &s->gate_numbers, i, numbers[i]);
    return !p->family->sinks || (language_unit_place(s->unit, NULL, each * keys * p->heads, &s->bias, s->error) &&
                                 language_unit_place(s->unit, NULL, sizeof(uint32_t) * keys, &s->numbers, s->error));
}

/* Which row of the table each query has for each key; `first` is the place of the first query among the tokens. */
static void number_biases(const struct language_stepper *s, unsigned first, unsigned keys, unsigned window)
{
    uint32_t *const number = s->numbers.host;
    for (unsigned q = 0; q < s->count; q++)
        for (unsigned k = 0; k < keys; k++)
            number[(uint64_t)q * keys + k] = k == 0 ? BIAS_SINK : window && k + window <= first + q + 1 ? BIAS_HIDDEN : BIAS_NONE;
}

/* Rows of the cache from so many in front of a token on. */
static struct language_buffer rows_from(const struct language_stepper *s, const struct language_buffer *rows, unsigned token,
                                        unsigned before, unsigned count)
{
    const uint64_t row = language_cached_row(s), at = language_cached(s, rows, token, 1).address - rows->address;
    return language_part(rows, at - before * row, row * count);
}

/* What stands in front of the tokens, behind the last one as well. */
static bool repeat_zeros(struct language_stepper *s, const struct language_buffer *rows, unsigned end)
{
    const uint64_t row = language_cached_row(s);
    const struct language_buffer from = rows_from(s, rows, 0, 1, 1), to = language_cached(s, rows, end, 1);
    const struct language_call call = {.title = "sink",
                                       .precision = "f16", /* whose elements are moved, whatever they are */
                                       .part = language_rest_part(s),
                                       .input = {&from},
                                       .inputs = 1,
                                       .result = &to,
                                       .result_place = 1};
    return language_unit_call(s->unit, &call, s->sum, s->error, "slice:1x%u,h=1,w=%u", (unsigned)(row / 2), (unsigned)(row / 2));
}

bool language_look_back_at_sinks(struct language_stepper *s, const struct placed_layer *l, const struct language_buffer *query,
                                 const struct language_buffer *attended)
{
    const struct language_shape *const p = s->shape;
    const unsigned window = shape_window_of(p, (unsigned)(l - s->layer)), end = s->position + s->count;
    const bool alone = s->count == 1 && window && end > window;
    const unsigned seen = 1 + (alone ? window : end);
    const struct language_buffer keys = rows_from(s, &l->keys, alone ? end - window : 0, !alone, seen),
                                 values = rows_from(s, &l->values, alone ? end - window : 0, !alone, seen);
    const struct language_attention a = {.title = "attention",
                                         .query = query,
                                         .keys = &keys,
                                         .values = &values,
                                         .to = attended,
                                         .queries = s->count,
                                         .seen = seen,
                                         .all = alone,
                                         .biased = true,
                                         .kept = true};
    number_biases(s, s->position, seen, alone ? 0 : window);
    if (alone) {
        ((uint32_t *)s->numbers.host)[0] = BIAS_NONE;
        ((uint32_t *)s->numbers.host)[window] = BIAS_SINK;
    }
    return (!alone || (repeat_zeros(s, &l->keys, end) && repeat_zeros(s, &l->values, end))) &&
           language_gather(s, "sink", &l->sinks, BIAS_ROWS, p->heads, (uint64_t)s->count * seen, &s->bias) &&
           language_attend(s, &a);
}
