/* Recurrent layers: one matrix for each gate becomes the gates of one matrix, in ONNX's order. Values before an activation are
 * clipped to [-50, 50] by Core ML, beyond which sigmoid and tanh are flat in single precision. */
#include "sim/network/coreml/layer.h"

#include <string.h>

enum { RNN_IN = 1, RNN_OUT = 2, RNN_ACTIVATIONS = 10, RNN_SEQUENCE = 15, RNN_REVERSE = 100 };
enum { ACT_TANH = 30, ACT_SIGMOID = 40 };

/* All activations of a list are the usual ones: sigmoid for gates, tanh behind them. */
static void usual_activations(struct layer *l, unsigned field, unsigned gates)
{
    struct pb body = l->body;
    unsigned at = 0;
    for (struct pb_field f; pb_next(&body, &f);) {
        if (f.number != field || !f.is_bytes)
            continue;
        if (!pb_has(f.body, at < gates ? ACT_SIGMOID : ACT_TANH))
            coreml_fail(l->c, ORCH_UNMODELLED, "activation %u is not the usual one (sigmoid for gates, tanh behind them)", at);
        at++;
    }
}

/* Weights of several fields, [1, rows, columns] each, below one another. */
static net_id stacked(struct layer *l, struct pb body, const unsigned *field, size_t gates, int64_t rows, int64_t columns)
{
    net_id part[4];
    const int64_t matrix[3] = {1, rows, columns}, vector[2] = {1, rows};
    for (size_t k = 0; k < gates; k++)
        part[k] = coreml_weights(l->c, body, field[k], columns ? matrix : vector, columns ? 3 : 2);
    struct net_node *const node = coreml_node(l->c, "Concat", 1, part, gates);
    coreml_set_int(l->c, node, "axis", 1);
    return coreml_add(l->c, node, NULL);
}

static net_id zeros(struct layer *l, int64_t count)
{
    const int64_t shape[2] = {1, count};
    return coreml_two(l->c, "Expand", coreml_number(l->c, 0), coreml_ints(l->c, shape, 2));
}

static net_id joined(struct layer *l, net_id a, net_id b, int64_t axis)
{
    const net_id both[2] = {a, b};
    struct net_node *const node = coreml_node(l->c, "Concat", 1, both, 2);
    coreml_set_int(l->c, node, "axis", axis);
    return coreml_add(l->c, node, NULL);
}

/* [sequence, channels, 1, 1] as [sequence, 1, channels], and a state [.., channels, ..] as [1, 1, channels]. */
static net_id as_steps(struct layer *l, net_id x, int64_t size)
{
    const int64_t shape[3] = {-1, 1, size};
    return coreml_reshape(l->c, x, shape, 3);
}

static net_id as_image(struct layer *l, net_id x)
{
    const int64_t shape[4] = {-1, coreml_dim(l->c, x, -1), 1, 1};
    return coreml_reshape(l->c, x, shape, 4);
}

static bool sizes(struct layer *l, int64_t *in, int64_t *out)
{
    *in = layer_int(l, RNN_IN, 0);
    *out = layer_int(l, RNN_OUT, 0);
    if (*in < 1 || *out < 1 || *in > 1 << 24 || *out > 1 << 24)
        coreml_fail(l->c, ORCH_USAGE, "%lld inputs and %lld outputs", (long long)*in, (long long)*out);
    return !l->c->failed;
}

static struct net_node *recurrent(struct layer *l, const char *op, const net_id *in, size_t inputs, int64_t size, bool backward)
{
    struct net_node *const node = coreml_node(l->c, op, strcmp(op, "LSTM") == 0 ? 3 : 2, in, inputs);
    coreml_set_int(l->c, node, "hidden_size", size);
    if (backward)
        coreml_set_text(l->c, node, "direction", "reverse");
    return node;
}

/* ---- LSTM ---- */

struct direction {
    struct pb weights;
    net_id h, c; /* given states or NET_NONE */
    bool backward;
};

/* One direction: all outputs [sequence, 1, channels], the last output and the last cell [1, 1, channels]. */
static void lstm(struct layer *l, const struct direction *d, int64_t in, int64_t size, net_id *result)
{
    static const unsigned w[4] = {1, 4, 2, 3}, r[4] = {20, 23, 21, 22}, b[4] = {40, 43, 41, 42}, p[3] = {60, 62, 61};
    const struct pb params = pb_message(l->body, 15);
    const bool biased = pb_integer(params, 20, 0), forget = pb_integer(params, 30, 0);
    if (pb_integer(params, 50, 0))
        coreml_fail(l->c, ORCH_UNMODELLED, "input and forget gates that are coupled");
    net_id bias = biased ? stacked(l, d->weights, b, 4, size, 0) : forget ? zeros(l, 4 * size) : NET_NONE;
    if (forget) {
        const net_id one = coreml_two(l->c, "Add", zeros(l, size), coreml_number(l->c, 1));
        bias = coreml_two(l->c, "Add", bias, joined(l, joined(l, zeros(l, 2 * size), one, 1), zeros(l, size), 1));
    }
    if (bias != NET_NONE)
        bias = joined(l, bias, zeros(l, 4 * size), 1);
    const net_id operand[8] = {as_steps(l, l->in[0], in),
                               stacked(l, d->weights, w, 4, size, in),
                               stacked(l, d->weights, r, 4, size, size),
                               bias,
                               NET_NONE,
                               d->h == NET_NONE ? NET_NONE : as_steps(l, d->h, size),
                               d->c == NET_NONE ? NET_NONE : as_steps(l, d->c, size),
                               pb_integer(params, 40, 0) ? stacked(l, d->weights, p, 3, size, 0) : NET_NONE};
    coreml_add(l->c, recurrent(l, "LSTM", operand, 8, size, d->backward), result);
    const int64_t second = 1; /* of [sequence, direction, 1, channels] */
    result[0] = coreml_axes(l->c, "Squeeze", result[0], &second, 1);
}

void layer_lstm(struct layer *l)
{
    const bool both = strcmp(l->op, "both") == 0, sequence = pb_integer(pb_message(l->body, 15), 10, 0);
    int64_t in, size;
    net_id result[2][3];
    struct pb body = l->body;
    unsigned found = 0;
    usual_activations(l, RNN_ACTIVATIONS, 1);
    if (both)
        usual_activations(l, 11, 1);
    if (!sizes(l, &in, &size))
        return;
    for (struct pb_field f; pb_next(&body, &f) && found < 2;) {
        if (f.number != 20 || !f.is_bytes)
            continue;
        const bool given = l->inputs > 2 * found + 2;
        const struct direction d = {f.body, given ? l->in[2 * found + 1] : NET_NONE, given ? l->in[2 * found + 2] : NET_NONE,
                                    both ? found == 1 : layer_int(l, RNN_REVERSE, 0) != 0};
        lstm(l, &d, in, size, result[found++]);
    }
    if (found != 1U + both) {
        coreml_fail(l->c, ORCH_USAGE, "weights of %u directions", found);
        return;
    }
    const unsigned which = sequence ? 0 : 1;
    l->out[0] = as_image(l, both ? joined(l, result[0][which], result[1][which], 2) : result[0][which]);
    for (unsigned k = 0; k < 2U * (1U + both); k++)
        l->out[1 + k] = as_image(l, result[k / 2][1 + k % 2]);
}

/* ---- GRU and the simple one ---- */

static void finish(struct layer *l, struct net_node *node)
{
    net_id result[2];
    const int64_t second = 1;
    coreml_add(l->c, node, result);
    l->out[0] = as_image(l, layer_int(l, RNN_SEQUENCE, 0) ? coreml_axes(l->c, "Squeeze", result[0], &second, 1) : result[1]);
    l->out[1] = as_image(l, result[1]);
}

void layer_gru(struct layer *l)
{
    static const unsigned w[3] = {30, 31, 32}, r[3] = {50, 51, 52}, b[3] = {70, 71, 72};
    int64_t in, size;
    usual_activations(l, RNN_ACTIVATIONS, 1);
    if (!sizes(l, &in, &size))
        return;
    const net_id bias = layer_int(l, 20, 0) ? joined(l, stacked(l, l->body, b, 3, size, 0), zeros(l, 3 * size), 1) : NET_NONE;
    const net_id operand[6] = {as_steps(l, l->in[0], in),
                               stacked(l, l->body, w, 3, size, in),
                               stacked(l, l->body, r, 3, size, size),
                               bias,
                               NET_NONE,
                               l->inputs > 1 ? as_steps(l, l->in[1], size) : NET_NONE};
    finish(l, recurrent(l, "GRU", operand, 6, size, layer_int(l, RNN_REVERSE, 0)));
}

void layer_rnn(struct layer *l)
{
    static const unsigned w = 30, r = 31, b = 32;
    int64_t in, size;
    usual_activations(l, RNN_ACTIVATIONS, 0);
    if (!sizes(l, &in, &size))
        return;
    const net_id bias = layer_int(l, 20, 0) ? joined(l, stacked(l, l->body, &b, 1, size, 0), zeros(l, size), 1) : NET_NONE;
    const net_id operand[6] = {as_steps(l, l->in[0], in),
                               stacked(l, l->body, &w, 1, size, in),
                               stacked(l, l->body, &r, 1, size, size),
                               bias,
                               NET_NONE,
                               l->inputs > 1 ? as_steps(l, l->in[1], size) : NET_NONE};
    finish(l, recurrent(l, "RNN", operand, 6, size, layer_int(l, RNN_REVERSE, 0)));
}
