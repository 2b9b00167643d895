/* The parts of a layer. */
#include "sim/language/decoder_internal.h"
#include "sim/language/rotation.h"

#include <math.h>
#include <string.h>

void decoder_multiply(struct decoder *d, const struct decoder_matrix *matrix, uint64_t row_offset, uint64_t rows,
                      const float *from, float *to)
{
    for (uint64_t r = 0; r < rows; r++) {
        double sum = matrix->bias ? matrix->bias[row_offset + r] : 0;
        weight_row(matrix->tensor, matrix->first_row + row_offset + r, d->row);
        for (unsigned i = 0; i < matrix->columns; i++)
            sum += (double)d->row[i] * from[i];
        to[r] = (float)sum;
    }
}

void decoder_normalise(const struct decoder *d, const struct decoder_norm *norm, const float *from, unsigned count, float *to)
{
    double mean = 0, squares = 0;
    for (unsigned i = 0; i < count && norm->shift; i++) /* only layer norms are centred */
        mean += from[i];
    mean /= count;
    for (unsigned i = 0; i < count; i++)
        squares += (from[i] - mean) * (from[i] - mean);
    const double scale = 1 / sqrt(squares / count + d->shape.epsilon);
    for (unsigned i = 0; i < count; i++)
        to[i] = (float)((from[i] - mean) * scale * norm->scale[i] + (norm->shift ? norm->shift[i] : 0));
}

void decoder_rotate(const struct decoder *d, unsigned position, float *head)
{
    const unsigned pairs = d->shape.rope_size / 2;
    const bool neighbours = d->shape.rope == SHAPE_ROPE_INTERLEAVED;
    const double scale = rotation_attention(&d->shape);
    for (unsigned i = 0; i < pairs; i++) {
        float *const a = &head[neighbours ? 2 * i : i], *const b = &head[neighbours ? 2 * i + 1 : i + pairs];
        const double angle = position * d->frequency[i], c = scale * cos(angle), s = scale * sin(angle), x = *a, y = *b;
        *a = (float)(x * c - y * s);
        *b = (float)(x * s + y * c);
    }
}

static void softmax(float *value, unsigned count)
{
    float most = -INFINITY;
    double sum = 0;
    for (unsigned i = 0; i < count; i++)
        most = fmaxf(most, value[i]);
    for (unsigned i = 0; i < count; i++)
        sum += value[i] = (float)exp((double)value[i] - most);
    for (unsigned i = 0; i < count; i++)
        value[i] = (float)(value[i] / sum);
}

/* One head over the tokens from `first` to the present one, and over a logit without a value where there is one. */
static void attend_head(const struct decoder *d, const struct decoder_layer *layer, unsigned head, unsigned first)
{
    const struct language_shape *const s = &d->shape;
    const unsigned size = s->head_size, stride = s->kv_heads * size, at = head / (s->heads / s->kv_heads) * size;
    const unsigned count = d->position + 1 - first;
    const float *const query = d->queries + head * size;
    for (unsigned i = 0; i < count; i++) {
        const float *const key = layer->keys + (size_t)(first + i) * stride + at;
        double sum = 0;
        for (unsigned k = 0; k < size; k++)
            sum += (double)query[k] * key[k];
        d->scores[i] = (float)(sum / sqrt(size));
    }
    if (layer->sinks)
        d->scores[count] = layer->sinks[head];
    softmax(d->scores, count + (layer->sinks != NULL));
    for (unsigned k = 0; k < size; k++) {
        double sum = 0;
        for (unsigned i = 0; i < count; i++)
            sum += (double)d->scores[i] * layer->values[(size_t)(first + i) * stride + at + k];
        d->gathered[head * size + k] = (float)sum;
    }
}

void decoder_attend(struct decoder *d, struct decoder_layer *layer, const float *from, float *to)
{
    const struct language_shape *const s = &d->shape;
    const unsigned size = s->head_size, width = s->kv_heads * size;
    float *const key = layer->keys + (size_t)d->position * width, *const value = layer->values + (size_t)d->position * width;
    decoder_multiply(d, &layer->query, 0, (uint64_t)s->heads * size, from, d->queries);
    decoder_multiply(d, &layer->key, 0, width, from, key);
    decoder_multiply(d, &layer->value, 0, width, from, value);
    for (unsigned h = 0; h < s->heads + s->kv_heads; h++) {
        const bool of_key = h >= s->heads;
        float *const head = of_key ? key + (h - s->heads) * size : d->queries + h * size;
        if (s->family->qk_norm)
            decoder_normalise(d, of_key ? &layer->key_norm : &layer->query_norm, head, size, head);
        if (s->rope != SHAPE_ROPE_NONE)
            decoder_rotate(d, d->position, head);
    }
    if (d->round) {
        d->round(key, width);
        d->round(value, width);
    }
    const unsigned window = shape_window_of(s, (unsigned)(layer - d->layer));
    const unsigned first = window && d->position >= window ? d->position + 1 - window : 0;
    for (unsigned h = 0; h < s->heads; h++)
        attend_head(d, layer, h, first);
    decoder_multiply(d, &layer->output, 0, s->width, d->gathered, to);
}

/* ---- feed-forward ---- */

static double activate(enum shape_activation activation, double x)
{
    switch (activation) {
    case SHAPE_SILU: return x / (1 + exp(-x));
    case SHAPE_RELU: return fmax(x, 0);
    case SHAPE_GELU: return 0.5 * x * (1 + erf(x * M_SQRT1_2));
    case SHAPE_GELU_TANH: return 0.5 * x * (1 + tanh(sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    }
    return x;
}

static double gate_of(const struct shape_family *f, double gate, double up)
{
    const double limit = (double)DECODER_GATE_LIMIT, low = fmin(gate, limit);
    if (!f->clamped_gate)
        return activate(f->activation, gate) * up;
    return low / (1 + exp(-(double)DECODER_GATE_SLOPE * low)) * (fmin(fmax(up, -limit), limit) + 1);
}

/* One network, or one of the experts. */
static void feed(struct decoder *d, const struct decoder_layer *layer, unsigned expert, const float *from, float *to)
{
    const struct language_shape *const s = &d->shape;
    const uint64_t rows = s->feed_forward;
    decoder_multiply(d, &layer->up, expert * rows, rows, from, d->inner);
    if (s->family->gated) {
        decoder_multiply(d, &layer->gate, expert * rows, rows, from, d->gated);
        for (unsigned i = 0; i < s->feed_forward; i++)
            d->inner[i] = (float)gate_of(s->family, d->gated[i], d->inner[i]);
    } else {
        for (unsigned i = 0; i < s->feed_forward; i++)
            d->inner[i] = (float)activate(s->family->activation, d->inner[i]);
    }
    decoder_multiply(d, &layer->down, (uint64_t)expert * s->width, s->width, d->inner, to);
}

/* The best experts of a token, weighed by the softmax over these alone. */
static void feed_experts(struct decoder *d, const struct decoder_layer *layer, const float *from, float *to)
{
    const struct language_shape *const s = &d->shape;
    unsigned chosen[EXPERTS_MAX];
    float weight[EXPERTS_MAX];
    decoder_multiply(d, &layer->router, 0, s->experts, from, d->scores);
    for (unsigned i = 0; i < s->experts_used; i++) {
        chosen[i] = 0;
        for (unsigned e = 1; e < s->experts; e++)
            if (d->scores[e] > d->scores[chosen[i]])
                chosen[i] = e;
        weight[i] = d->scores[chosen[i]];
        d->scores[chosen[i]] = -INFINITY;
    }
    softmax(weight, s->experts_used);
    memset(to, 0, s->width * sizeof *to);
    for (unsigned i = 0; i < s->experts_used; i++) {
        feed(d, layer, chosen[i], from, d->mixed);
        for (unsigned k = 0; k < s->width; k++)
            to[k] += weight[i] * d->mixed[k];
    }
}

void decoder_feed_forward(struct decoder *d, const struct decoder_layer *layer, const float *from, float *to)
{
    if (d->shape.experts)
        feed_experts(d, layer, from, to);
    else
        feed(d, layer, 0, from, to);
}
