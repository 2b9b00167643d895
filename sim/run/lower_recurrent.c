/* One step of an LSTM: products, sums and functions of gates. */
#include "sim/run/lowering.h"

#include <string.h>

enum { INPUT, WEIGHTS, RECURRENT, BIAS, LENGTHS, HIDDEN, CELL, PEEPHOLES };

struct lstm {
    int64_t batch, input, hidden;
    const struct net_array *bias, *h, *c;
};

static const struct net_array *input_of(const struct lowering *l, size_t k)
{
    return k < l->node->inputs ? l->in[k] : NULL;
}

static bool read_lstm(struct lowering *l, struct lstm *s)
{
    const struct net_array *const x = l->in[INPUT], *const w = l->in[WEIGHTS];
    *s = (struct lstm){.bias = input_of(l, BIAS), .h = input_of(l, HIDDEN), .c = input_of(l, CELL)};
    if (strcmp(net_attr_text(l->node, "direction", "forward"), "forward") != 0 || net_attr_int(l->node, "layout", 0) ||
        net_attr_int(l->node, "input_forget", 0) || net_attr_real(l->node, "clip", 0) != 0 ||
        net_attribute(l->node, "activations") || input_of(l, LENGTHS) || input_of(l, PEEPHOLES))
        return lowering_leave(l, "another form than the plain one, forward");
    if (x->dims != 3 || x->shape[0] != 1 || w->dims != 3)
        return lowering_leave(l, "%lld steps of time; one is lowered", (long long)(x->dims ? x->shape[0] : 0));
    s->batch = x->shape[1];
    s->input = x->shape[2];
    s->hidden = w->shape[1] / 4;
    return true;
}

static float *pair(struct lowering *l, const char *word, const float *a, const float *b, int64_t count, int64_t period, float *to)
{
    struct lowered_step *const step =
        lowering_step(l, to, count, "elementwise:%lld,op=%s,period=%lld", (long long)count, word, (long long)period);
    lowering_read(step, a, count);
    lowering_read(step, b, period ? period : count);
    return to;
}

static float *function(struct lowering *l, const char *word, const float *from, int64_t count, float *to)
{
    lowering_read(lowering_step(l, to, count, "elementwise:%lld,op=%s", (long long)count, word), from, count);
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

static float *product(struct lowering *l, const struct lstm *s, const float *x, int64_t depth, size_t weights)
{
    const struct lowering_product p = {.batch = 1,
                                       .m = s->batch,
                                       .n = 4 * s->hidden,
                                       .k = depth,
                                       .tb = true,
                                       .b_known = lowering_is_constant(l, weights),
                                       .alpha = 1};
    float *const to = lowering_scratch(l, p.m * p.n);
    lowering_add_product(l, &p, x, l->in[weights]->data, NULL, to);
    return to;
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
    if (!read_lstm(l, &s))
        return false;
    const int64_t count = s.batch * s.hidden;
    const float *const sum = sum_gates(l, &s);
    float *const gates = cut(l, sum, &s, 4, 0, 3), *const new = cut(l, sum, &s, 4, 3, 1);
    function(l, "sigmoid", gates, 3 * count, gates);
    function(l, "tanh", new, count, new);
    float *const cell = pair(l, "mul", cut(l, gates, &s, 3, 0, 1), new, count, 0, lowering_scratch(l, count));
    if (s.c) {
        float *const kept = cut(l, gates, &s, 3, 2, 1);
        pair(l, "add", cell, pair(l, "mul", kept, s.c->data, count, 0, kept), count, 0, cell);
    }
    float *const hidden = function(l, "tanh", cell, count, lowering_scratch(l, count));
    pair(l, "mul", cut(l, gates, &s, 3, 1, 1), hidden, count, 0, hidden);
    copy_to(l, hidden, count, 0);
    copy_to(l, hidden, count, 1);
    copy_to(l, cell, count, 2);
    return lowering_holds(l);
}
