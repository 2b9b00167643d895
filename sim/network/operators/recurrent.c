/* LSTM, GRU, RNN. */
#include "sim/network/operators/families.h"
#include "sim/network/operators/quantise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool net_rule_recurrent(struct net_infer *i)
{
    const struct net_shape *const x = &i->in[0].shape, *const r = &i->in[2].shape;
    const bool batch_first = net_attr_int(i->node, "layout", 0) != 0;
    for (size_t k = 0; k < i->outputs; k++)
        net_state(i, k, i->in[0].type, NULL);
    if (!x->known || !r->known)
        return true;
    if (x->dims != 3 || r->dims != 3)
        return net_refuse(i->error, "X has %u dimensions and R %u; both must have 3", x->dims, r->dims);
    const int64_t time = x->dim[batch_first ? 1 : 0], batch = x->dim[batch_first ? 0 : 1], directions = r->dim[0],
                  hidden = r->dim[2];
    const int64_t stated = net_attr_int(i->node, "hidden_size", hidden);
    if (hidden >= 0 && stated != hidden)
        return net_refuse(i->error, "hidden_size is %lld, R has %lld", (long long)stated, (long long)hidden);
    const int64_t y[4] = {batch_first ? batch : time, batch_first ? time : directions, batch_first ? directions : batch, hidden};
    const int64_t last[3] = {batch_first ? batch : directions, batch_first ? directions : batch, hidden};
    const struct net_shape all = net_shape_of(y, 4), end = net_shape_of(last, 3);
    net_state(i, 0, i->in[0].type, &all);
    net_state(i, 1, i->in[0].type, &end);
    net_state(i, 2, i->in[0].type, &end);
    return true;
}

enum { GATES_MAX = 4, ACTIVATIONS = 3 };

struct recurrent {
    char kind; /* L, G, R */
    int64_t time, batch, inputs, hidden, directions, gates;
    bool batch_first, couple, reset_after, rounded; /* rounded: states, before their product */
    double clip;
    const double *x, *w, *r, *b, *p; /* of all directions; NULL = zeros */
    struct net_activation act[ACTIVATIONS];
};

static const char *const default_activations[3][ACTIVATIONS] = {
    {"Sigmoid", "Tanh", "Tanh"}, {"Sigmoid", "Tanh", "Tanh"}, {"Tanh", "Tanh", "Tanh"}};

static bool read_activations(const struct net_call *call, struct recurrent *s, int64_t direction)
{
    const struct net_attribute *const names = net_attribute(call->node, "activations");
    const struct net_attribute *const alpha = net_attribute(call->node, "activation_alpha");
    const struct net_attribute *const beta = net_attribute(call->node, "activation_beta");
    const size_t each = s->kind == 'L' ? 3 : s->kind == 'G' ? 2 : 1, kind = s->kind == 'L' ? 0 : s->kind == 'G' ? 1 : 2;
    for (size_t k = 0; k < each; k++) {
        const size_t at = (size_t)direction * each + k;
        const bool given = names && names->kind == NET_ATTR_TEXTS && at < names->count;
        const char *const name = given ? names->texts[at] : default_activations[kind][k];
        if (!net_activation_find(name, &s->act[k]))
            return orch_fail(call->error, ORCH_UNMODELLED, "activation %.40s", name);
        if (given && alpha && alpha->kind == NET_ATTR_REALS && at < alpha->count)
            s->act[k].parameter[0] = alpha->reals[at];
        if (given && beta && beta->kind == NET_ATTR_REALS && at < beta->count)
            s->act[k].parameter[1] = beta->reals[at];
    }
    return true;
}

static double dot(const double *a, const double *b, int64_t n)
{
    double sum = 0;
    for (int64_t k = 0; k < n; k++)
        sum += a[k] * b[k];
    return sum;
}

static double activate(const struct recurrent *s, unsigned which, double x)
{
    if (s->clip > 0)
        x = fmax(-s->clip, fmin(s->clip, x));
    net_activate(&s->act[which], &x, 1);
    return x;
}

/* W x + bias of one gate and unit; R h is apart, since GRU may reset it. */
static double from_input(const struct recurrent *s, int64_t d, int64_t gate, int64_t unit, const double *x)
{
    const int64_t row = (d * s->gates + gate) * s->hidden + unit;
    const double bias = s->b ? s->b[2 * d * s->gates * s->hidden + gate * s->hidden + unit] : 0;
    return dot(s->w + row * s->inputs, x, s->inputs) + bias;
}

static double from_state(const struct recurrent *s, int64_t d, int64_t gate, int64_t unit, const double *h, bool bias)
{
    const int64_t row = (d * s->gates + gate) * s->hidden + unit;
    const double own = dot(s->r + row * s->hidden, h, s->hidden);
    return own + (bias && s->b ? s->b[(2 * d + 1) * s->gates * s->hidden + gate * s->hidden + unit] : 0);
}

static double peephole(const struct recurrent *s, int64_t d, int64_t gate, int64_t unit, double c)
{
    return s->p ? s->p[(3 * d + gate) * s->hidden + unit] * c : 0;
}

/* What eight bits say of a state. */
static const double *round_state(const double *h, int64_t count, double *to)
{
    float low = 0, high = 0;
    for (int64_t k = 0; k < count; k++) {
        low = fminf(low, (float)h[k]);
        high = fmaxf(high, (float)h[k]);
    }
    const struct net_eight_bits bits = net_eight_bits_of(low, high);
    for (int64_t k = 0; k < count; k++)
        to[k] = (double)(bits.scale * (float)(net_quantised((float)h[k] / bits.divisor, bits.zero, NET_U8) - bits.zero));
    return to;
}

static void lstm_step(const struct recurrent *s, int64_t d, const double *x, const double *h, double *c, double *next)
{
    for (int64_t u = 0; u < s->hidden; u++) {
        double in[GATES_MAX]; /* i o f c */
        for (int64_t g = 0; g < 4; g++)
            in[g] = from_input(s, d, g, u, x) + from_state(s, d, g, u, h, true);
        const double i = activate(s, 0, in[0] + peephole(s, d, 0, u, c[u]));
        const double f = s->couple ? 1 - i : activate(s, 0, in[2] + peephole(s, d, 2, u, c[u]));
        const double cell = f * c[u] + i * activate(s, 1, in[3]);
        const double o = activate(s, 0, in[1] + peephole(s, d, 1, u, cell));
        c[u] = cell;
        double out = cell;
        net_activate(&s->act[2], &out, 1);
        next[u] = o * out;
    }
}

static void gru_step(const struct recurrent *s, int64_t d, const double *x, const double *h, double *scratch, double *next)
{
    double *const reset = scratch, *const state = scratch + s->hidden;
    for (int64_t u = 0; u < s->hidden; u++) {
        reset[u] = activate(s, 0, from_input(s, d, 1, u, x) + from_state(s, d, 1, u, h, true));
        state[u] = reset[u] * h[u];
    }
    for (int64_t u = 0; u < s->hidden; u++) {
        const double z = activate(s, 0, from_input(s, d, 0, u, x) + from_state(s, d, 0, u, h, true));
        const double bias = s->b ? s->b[(2 * d + 1) * 3 * s->hidden + 2 * s->hidden + u] : 0;
        const double old =
            s->reset_after ? reset[u] * from_state(s, d, 2, u, h, true) : from_state(s, d, 2, u, state, false) + bias;
        const double n = activate(s, 1, from_input(s, d, 2, u, x) + old);
        next[u] = (1 - z) * n + z * h[u];
    }
}

static void rnn_step(const struct recurrent *s, int64_t d, const double *x, const double *h, double *next)
{
    for (int64_t u = 0; u < s->hidden; u++)
        next[u] = activate(s, 0, from_input(s, d, 0, u, x) + from_state(s, d, 0, u, h, true));
}

/* Initial states are laid out as the final ones. */
static int64_t state_at(const struct recurrent *s, int64_t d, int64_t b)
{
    return (s->batch_first ? b * s->directions + d : d * s->batch + b) * s->hidden;
}

static void store(struct net_array *out, int64_t at, const double *from, int64_t count)
{
    if (out)
        net_write_doubles(out->type, out->data, at, (size_t)count, from);
}

/* One direction of one sequence. `work` has room for five states. */
static void run_sequence(const struct net_call *call, const struct recurrent *s, int64_t d, int64_t b, int64_t length,
                         bool backwards, double *work)
{
    double *h = work, *next = work + s->hidden;
    double *const c = work + 2 * s->hidden, *const scratch = work + 3 * s->hidden;
    const struct net_array *const h0 = net_in(call, 5), *const c0 = s->kind == 'L' ? net_in(call, 6) : NULL;
    memset(work, 0, 5 * (size_t)s->hidden * sizeof *work);
    if (h0)
        net_read_doubles(h0->type, h0->data, state_at(s, d, b), 1, (size_t)s->hidden, h);
    if (c0)
        net_read_doubles(c0->type, c0->data, state_at(s, d, b), 1, (size_t)s->hidden, c);
    for (int64_t step = 0; step < length; step++) {
        const int64_t t = backwards ? length - 1 - step : step;
        const double *const x = s->x + (s->batch_first ? b * s->time + t : t * s->batch + b) * s->inputs;
        if (s->kind == 'L')
            lstm_step(s, d, x, s->rounded ? round_state(h, s->hidden, scratch) : h, c, next);
        else if (s->kind == 'G')
            gru_step(s, d, x, h, scratch, next);
        else
            rnn_step(s, d, x, h, next);
        const int64_t at = s->batch_first ? (b * s->time + t) * s->directions + d : (t * s->directions + d) * s->batch + b;
        store(net_out(call, 0), at * s->hidden, next, s->hidden);
        double *const swap = h;
        h = next;
        next = swap;
    }
    store(net_out(call, 1), state_at(s, d, b), h, s->hidden);
    store(net_out(call, 2), state_at(s, d, b), c, s->hidden);
}

static bool run_all(struct net_call *call, struct recurrent *s)
{
    const char *const direction = net_attr_text(call->node, "direction", "forward");
    const struct net_array *const lengths = net_in(call, 4);
    double *const work = calloc(5 * (size_t)s->hidden + 1, sizeof *work);
    bool ok = work || orch_no_memory(call->error);
    for (int64_t d = 0; ok && d < s->directions; d++) {
        ok = read_activations(call, s, d);
        for (int64_t b = 0; ok && b < s->batch; b++) {
            const int64_t length = lengths ? net_array_integer(lengths, b) : s->time;
            if (length < 0 || length > s->time)
                ok = net_refuse(call->error, "a sequence of %lld", (long long)length);
            else
                run_sequence(call, s, d, b, length, d == 1 || strcmp(direction, "reverse") == 0, work);
        }
    }
    free(work);
    return ok;
}

static bool fits(const struct net_call *call, size_t input, int64_t count)
{
    const struct net_array *const a = net_in(call, input);
    return !a || a->count == count ||
           net_refuse(call->error, "input %zu has %lld elements, not %lld", input, (long long)a->count, (long long)count);
}

static bool read_sizes(const struct net_call *call, struct recurrent *s)
{
    const struct net_array *const x = call->in[0], *const w = call->in[1], *const r = call->in[2];
    s->kind = *call->node->op;
    s->gates = s->kind == 'L' ? 4 : s->kind == 'G' ? 3 : 1;
    s->batch_first = net_attr_int(call->node, "layout", 0) != 0;
    s->time = x->shape[s->batch_first ? 1 : 0];
    s->batch = x->shape[s->batch_first ? 0 : 1];
    s->inputs = x->shape[2];
    s->directions = r->shape[0];
    s->hidden = r->shape[2];
    s->couple = net_attr_int(call->node, "input_forget", 0) != 0;
    s->reset_after = net_attr_int(call->node, "linear_before_reset", 0) != 0;
    s->rounded = net_attr_int(call->node, NET_ROUNDED_STATE, 0) != 0;
    s->clip = net_attr_real(call->node, "clip", 0);
    if (s->rounded && s->batch > 1) /* one range is that of all sequences together */
        return net_refuse(call->error, "rounded states of %lld sequences, whose steps are not known one by one",
                          (long long)s->batch);
    const int64_t states = s->directions * s->batch * s->hidden, rows = s->directions * s->gates * s->hidden;
    if (s->directions < 1 || s->directions > 2 || w->count != rows * s->inputs || r->count != rows * s->hidden)
        return net_refuse(call->error, "weights do not fit");
    return fits(call, 3, 2 * rows) && fits(call, 4, s->batch) && fits(call, 5, states) &&
           (s->kind != 'L' || (fits(call, 6, states) && fits(call, 7, 3 * s->directions * s->hidden)));
}

bool net_eval_recurrent(struct net_call *call)
{
    struct recurrent s = {.kind = 0};
    if (!read_sizes(call, &s))
        return false;
    const struct net_array *const from[5] = {call->in[0], call->in[1], call->in[2], net_in(call, 3),
                                             s.kind == 'L' ? net_in(call, 7) : NULL};
    double *number[5] = {NULL};
    bool ok = true;
    for (size_t k = 0; k < 5 && ok; k++)
        ok = !from[k] || (number[k] = net_doubles(from[k], call->error)) != NULL;
    s.x = number[0];
    s.w = number[1];
    s.r = number[2];
    s.b = number[3];
    s.p = number[4];
    ok = ok && run_all(call, &s);
    for (size_t k = 0; k < 5; k++)
        free(number[k]);
    return ok;
}
