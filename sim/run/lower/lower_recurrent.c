/* One step of an LSTM, a GRU or a plain RNN: products, sums and functions of gates. The pass `steps` makes such steps of
 * sequences. */
#include "sim/run/lower/lowering.h"

#include <string.h>

enum { INPUT, WEIGHTS, RECURRENT, BIAS, LENGTHS, HIDDEN, CELL, PEEPHOLES };

struct lstm {
    int64_t batch, input, hidden, gates;
    const struct net_array *bias, *h, *c;
};

static const struct net_array *input_of(const struct lowering *l, size_t k)
{
    return k < l->node->inputs ? l->in[k] : NULL;
}

static bool read_lstm(struct lowering *l, int64_t gates, struct lstm *s)
{
    const struct net_array *const x = l->in[INPUT], *const w = l->in[WEIGHTS];
    *s = (struct lstm){.gates = gates, .bias = input_of(l, BIAS), .h = input_of(l, HIDDEN), .c = input_of(l, CELL)};
    if (strcmp(net_attr_text(l->node, "direction", "forward"), "forward") != 0 || net_attr_int(l->node, "layout", 0) ||
        net_attr_int(l->node, "input_forget", 0) || net_attr_real(l->node, "clip", 0) != 0 ||
        (gates > 1 && net_attribute(l->node, "activations")) || input_of(l, LENGTHS) || input_of(l, PEEPHOLES))
        return lowering_leave(l, "another form than the plain one, forward");
    if (x->dims != 3 || x->shape[0] != 1 || w->dims != 3)
        return lowering_leave(l, "%lld steps of time; one is lowered", (long long)(x->dims ? x->shape[0] : 0));
    s->batch = x->shape[1];
    s->input = x->shape[2];
    s->hidden = w->shape[1] / gates;
    return true;
}

static float *pair(struct lowering *l, const char *word, const float *a, const float *b, int64_t count, int64_t period, float *to)
{
    if (!period) {
        lowering_add_pair(l, word, a, b, count, to);
        return to;
    }
    struct lowered_step *const step =
        lowering_step(l, to, count, "elementwise:%lld,op=%s,period=%lld", (long long)count, word, (long long)period);
    lowering_read(step, a, count);
    lowering_read(step, b, period);
    return to;
}

static float *cut(struct lowering *l, const float *from, const struct lstm *s, int64_t of, int64_t first, int64_t gates)
{
    float *const to = lowering_scratch(l, s->batch * gates * s->hidden);
    lowering_read(lowering_step(l, to, s->batch * gates * s->hidden, "slice:%lldx%lld,h=%lld,w=%lld,column=%lld",
                                (long long)s->batch, (long long)(of * s->hidden), (long long)s->batch,
                                (long long)(gates * s->hidden), (long long)(first * s->hidden)),
                  from, s->batch * of * s->hidden);
    return to;
}

/* x by the rows of some gates of the weights. */
static float *product_of(struct lowering *l, const struct lstm *s, const float *x, int64_t depth, size_t weights, int64_t first,
                         int64_t gates)
{
    const struct lowering_product p = {.batch = 1,
                                       .m = s->batch,
                                       .n = gates * s->hidden,
                                       .k = depth,
                                       .tb = true,
                                       .b_known = lowering_is_constant(l, weights),
                                       .alpha = 1};
    float *const to = lowering_scratch(l, p.m * p.n);
    lowering_add_product(l, &p, x, (const float *)l->in[weights]->data + first * s->hidden * depth, NULL, to);
    return to;
}

static float *product(struct lowering *l, const struct lstm *s, const float *x, int64_t depth, size_t weights)
{
    return product_of(l, s, x, depth, weights, 0, s->gates);
}

/* What all gates are functions of: i, o, f, c. */
static float *sum_gates(struct lowering *l, const struct lstm *s)
{
    const int64_t each = 4 * s->hidden, count = s->batch * each;
    float *const sum = product(l, s, l->in[INPUT]->data, s->input, WEIGHTS);
    if (s->h)
        pair(l, "add", sum, product(l, s, s->h->data, s->hidden, RECURRENT), count, 0, sum);
    for (int64_t part = 0; s->bias && part < 2; part++)
        pair(l, "add", sum, (const float *)s->bias->data + part * each, count, each, sum);
    return sum;
}

static void copy_to(struct lowering *l, const float *from, int64_t count, size_t output)
{
    if (output < l->node->outputs && l->out[output])
        lowering_read(
            lowering_step(l, l->out[output]->data, count, "slice:1x%lld,h=1,w=%lld", (long long)count, (long long)count), from,
            count);
}

bool lowering_lstm(struct lowering *l, const char *word)
{
    struct lstm s;
    (void)word;
    if (!read_lstm(l, 4, &s))
        return false;
    const int64_t count = s.batch * s.hidden;
    const float *const sum = sum_gates(l, &s);
    float *const gates = cut(l, sum, &s, 4, 0, 3), *const new = cut(l, sum, &s, 4, 3, 1);
    lowering_add_function(l, "sigmoid", gates, 3 * count, gates);
    lowering_add_function(l, "tanh", new, count, new);
    float *const cell = pair(l, "mul", cut(l, gates, &s, 3, 0, 1), new, count, 0, lowering_scratch(l, count));
    if (s.c) {
        float *const kept = cut(l, gates, &s, 3, 2, 1);
        pair(l, "add", cell, pair(l, "mul", kept, s.c->data, count, 0, kept), count, 0, cell);
    }
    float *const hidden = lowering_add_function(l, "tanh", cell, count, lowering_scratch(l, count));
    pair(l, "mul", cut(l, gates, &s, 3, 1, 1), hidden, count, 0, hidden);
    copy_to(l, hidden, count, 0);
    copy_to(l, hidden, count, 1);
    copy_to(l, cell, count, 2);
    return lowering_holds(l);
}

/* Half of the biases, those of the input or of the state, on sums of some gates. */
static void add_biases(struct lowering *l, const struct lstm *s, float *sum, int64_t half, int64_t first, int64_t gates)
{
    const int64_t each = gates * s->hidden;
    if (s->bias)
        pair(l, "add", sum, (const float *)s->bias->data + (half * s->gates + first) * s->hidden, s->batch * each, each, sum);
}

/* Gates z, r, h: h' = n + z (h - n), where n = tanh(x W + r (h R)) or tanh(x W + (r h) R). */
bool lowering_gru(struct lowering *l, const char *word)
{
    struct lstm s;
    (void)word;
    if (!read_lstm(l, 3, &s))
        return false;
    const bool after = net_attr_int(l->node, "linear_before_reset", 0) != 0;
    const int64_t count = s.batch * s.hidden, gates = after ? 3 : 2;
    const float *const h = s.h ? s.h->data : lowering_scratch(l, count);
    float *const x = product(l, &s, l->in[INPUT]->data, s.input, WEIGHTS);
    add_biases(l, &s, x, 0, 0, 3);
    float *const state = product_of(l, &s, h, s.hidden, RECURRENT, 0, gates);
    add_biases(l, &s, state, 1, 0, gates);
    float *const zr = cut(l, x, &s, 3, 0, 2);
    pair(l, "add", zr, after ? cut(l, state, &s, 3, 0, 2) : state, 2 * count, 0, zr);
    lowering_add_function(l, "sigmoid", zr, 2 * count, zr);
    float *const z = cut(l, zr, &s, 2, 0, 1), *const r = cut(l, zr, &s, 2, 1, 1), *const n = cut(l, x, &s, 3, 2, 1);
    pair(l, "mul", r, after ? cut(l, state, &s, 3, 2, 1) : h, count, 0, r);
    if (!after) {
        float *const turned = product_of(l, &s, r, s.hidden, RECURRENT, 2, 1);
        add_biases(l, &s, turned, 1, 2, 1);
        pair(l, "add", n, turned, count, 0, n);
    } else {
        pair(l, "add", n, r, count, 0, n);
    }
    lowering_add_function(l, "tanh", n, count, n);
    float *const left = pair(l, "sub", h, n, count, 0, lowering_scratch(l, count));
    pair(l, "mul", z, left, count, 0, z);
    pair(l, "add", n, z, count, 0, n);
    copy_to(l, n, count, 0);
    copy_to(l, n, count, 1);
    return lowering_holds(l);
}

/* h' = f(x W + h R), where f is tanh when nothing else is said. */
bool lowering_rnn(struct lowering *l, const char *word)
{
    const struct net_attribute *const names = net_attribute(l->node, "activations");
    const char *const named = names && names->kind == NET_ATTR_TEXTS && names->count ? names->texts[0] : "Tanh";
    const bool relu = strcmp(named, "Relu") == 0;
    struct lstm s;
    (void)word;
    if (!read_lstm(l, 1, &s))
        return false;
    if (!relu && strcmp(named, "Tanh") != 0)
        return lowering_leave(l, "the function %.40s", named);
    const int64_t count = s.batch * s.hidden;
    float *const h = product(l, &s, l->in[INPUT]->data, s.input, WEIGHTS);
    add_biases(l, &s, h, 0, 0, 1);
    if (s.h)
        pair(l, "add", h, product(l, &s, s.h->data, s.hidden, RECURRENT), count, 0, h);
    add_biases(l, &s, h, 1, 0, 1);
    lowering_add_function(l, relu ? "relu" : "tanh", h, count, h);
    copy_to(l, h, count, 0);
    copy_to(l, h, count, 1);
    return lowering_holds(l);
}
