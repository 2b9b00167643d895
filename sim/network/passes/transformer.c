/* What transformers are made of: normalisation of rows, rotary embeddings, attention. */
#include "sim/network/passes/match.h"
#include "sim/network/passes/passes.h"

#include <math.h>
#include <string.h>

/* ---- normalisation ---- */

/* The x of ReduceMean(x) over the last dimension, kept. */
static net_id mean_of(const struct net_match *m, net_id value)
{
    const struct net_node *const mean = net_made_by(m, value, "ReduceMean", false);
    double axis;
    if (!mean || !net_attr_int(mean, "keepdims", 1) || !net_scalar(m, net_input(mean, 1), &axis))
        return NET_NONE;
    const struct net_shape *const x = net_value_shape(m, mean->input[0]);
    return axis == -1 || (x->known && axis == (double)x->dims - 1) ? mean->input[0] : NET_NONE;
}

/* The x of x^2, as Pow or Mul. */
static net_id square_of(const struct net_match *m, net_id value)
{
    const struct net_node *const power = net_made_by(m, value, "Pow", false), *const product =
                                                                                  net_made_by(m, value, "Mul", false);
    if (power && net_is_number(m, power->input[1], 2))
        return power->input[0];
    return product && product->input[0] == product->input[1] ? product->input[0] : NET_NONE;
}

/* The x of sqrt(mean(x^2) + epsilon). */
static net_id root_of(const struct net_match *m, net_id value, double *epsilon)
{
    const struct net_node *const root = net_made_by(m, value, "Sqrt", false);
    const struct net_node *const sum = root ? net_made_by(m, root->input[0], "Add", false) : NULL;
    const net_id mean = sum ? net_beside_scalar(m, sum, epsilon) : NET_NONE;
    const net_id square = mean == NET_NONE ? NET_NONE : mean_of(m, mean);
    return square == NET_NONE ? NET_NONE : square_of(m, square);
}

/* The x of x / sqrt(mean(x^2) + epsilon), in the ways in which that is written. */
static net_id normalised(const struct net_match *m, const struct net_node *node, double *epsilon)
{
    if (net_is(node, "Div") && root_of(m, node->input[1], epsilon) == node->input[0])
        return node->input[0];
    for (size_t k = 0; net_is(node, "Mul") && k < 2; k++) {
        const struct net_node *const inverse = m->uses.producer[node->input[k] == NET_NONE ? 0 : node->input[k]];
        double one;
        net_id root = NET_NONE;
        if (!inverse || net_output(inverse, 0) != node->input[k])
            continue;
        if (net_is(inverse, "Reciprocal"))
            root = inverse->input[0];
        else if (net_is(inverse, "Div") && net_scalar(m, inverse->input[0], &one) && one == 1)
            root = inverse->input[1];
        else if (net_is(inverse, "Pow") && net_is_number(m, inverse->input[1], -0.5)) {
            const struct net_node *const sum = net_made_by(m, inverse->input[0], "Add", false);
            const net_id mean = sum ? net_beside_scalar(m, sum, epsilon) : NET_NONE;
            const net_id square = mean == NET_NONE ? NET_NONE : mean_of(m, mean);
            if (square != NET_NONE && square_of(m, square) == node->input[1 - k])
                return node->input[1 - k];
        }
        if (root != NET_NONE && root_of(m, root, epsilon) == node->input[1 - k])
            return node->input[1 - k];
    }
    return NET_NONE;
}

/* A vector of the length of the rows: a scale or an offset. */
static bool is_row(const struct net_match *m, net_id value, net_id x)
{
    const struct net_array *const a = net_constant(m, value);
    const struct net_shape *const shape = net_value_shape(m, x);
    return a && shape->known && shape->dims && a->count == shape->dim[shape->dims - 1] &&
           (a->dims == 1 || a->shape[a->dims - 1] == a->count);
}

/* Begins at the multiplication by the scale; an offset behind it comes later. */
static bool layer_norm(struct net_match *m, struct net_node *node)
{
    double epsilon = 0;
    for (size_t k = 0; net_is(node, "Mul") && k < 2; k++) {
        const struct net_node *const inner = node->input[k] == NET_NONE ? NULL : m->uses.producer[node->input[k]];
        const net_id d = inner && m->uses.count[node->input[k]] == 1 ? normalised(m, inner, &epsilon) : NET_NONE;
        if (d == NET_NONE || !is_row(m, node->input[1 - k], d))
            continue;
        const struct net_node *const centred = net_made_by(m, d, "Sub", false);
        const bool layer = centred && mean_of(m, centred->input[1]) == centred->input[0];
        const net_id input[2] = {layer ? centred->input[0] : d, node->input[1 - k]};
        if (net_become(m, node, layer ? "LayerNormalization" : "RMSNormalization", "", input, 2))
            net_must(m, net_set_int(node, "axis", -1) && net_set_real(node, "epsilon", epsilon));
        return true;
    }
    for (size_t k = 0; net_is(node, "Add") && k < 2; k++) {
        const struct net_node *const norm = net_made_by(m, node->input[k], "LayerNormalization", true);
        if (!norm || net_input(norm, 2) != NET_NONE || net_output(norm, 1) != NET_NONE ||
            !is_row(m, node->input[1 - k], norm->input[0]))
            continue;
        const net_id input[3] = {norm->input[0], norm->input[1], node->input[1 - k]};
        const int64_t axis = net_attr_int(norm, "axis", -1);
        const double small = net_attr_real(norm, "epsilon", 1e-5);
        if (net_become(m, node, "LayerNormalization", "", input, 3))
            net_must(m, net_set_int(node, "axis", axis) && net_set_real(node, "epsilon", small));
        return true;
    }
    return false;
}

bool net_pass_layer_norm(struct net_model *model, unsigned *changes, struct orch_error *error)
{
    return net_rewrite(model, layer_norm, changes, error);
}

/* ---- rotary embedding: x cos + concat(-x[half:], x[:half]) sin ---- */

/* Slice of the last dimension from `start` to `end` of x. */
static bool is_slice(const struct net_match *m, const struct net_node *node, net_id x, int64_t start, int64_t end)
{
    double from, to, axis;
    const struct net_shape *const shape = net_value_shape(m, x);
    if (!node || node->input[0] != x || !net_scalar(m, net_input(node, 1), &from) || !net_scalar(m, net_input(node, 2), &to) ||
        !net_scalar(m, net_input(node, 3), &axis))
        return false;
    if (net_input(node, 4) != NET_NONE && !net_is_number(m, node->input[4], 1))
        return false;
    const double length = (double)shape->dim[shape->dims - 1];
    const double first = from < 0 ? from + length : from, last = to < 0 ? to + length : to > length ? length : to;
    return (axis == -1 || axis == (double)shape->dims - 1) && first == (double)start && last == (double)end;
}

/* The two halves of a Split are slices, too. */
static bool is_half(const struct net_match *m, net_id value, net_id x, bool second)
{
    const struct net_shape *const shape = net_value_shape(m, x);
    const int64_t width = shape->dims ? shape->dim[shape->dims - 1] : 0;
    const struct net_node *const split = net_made_by(m, value, "Split", false);
    if (split && split->input[0] == x && split->outputs == 2 && split->output[second] == value) {
        const int64_t axis = net_attr_int(split, "axis", 0);
        const struct net_shape *const half = net_value_shape(m, value);
        return (axis == -1 || axis == (int64_t)shape->dims - 1) && half->known && half->dim[half->dims - 1] * 2 == width;
    }
    return is_slice(m, net_made_by(m, value, "Slice", false), x, second ? width / 2 : 0, second ? width : width / 2);
}

/* The x of concat(-x[half:], x[:half]). */
static bool is_turned(const struct net_match *m, net_id value, net_id x)
{
    const struct net_node *const both = net_made_by(m, value, "Concat", true);
    const struct net_shape *const shape = net_value_shape(m, x);
    if (!both || both->inputs != 2 || !shape->known || !shape->dims || shape->dim[shape->dims - 1] < 2 ||
        shape->dim[shape->dims - 1] % 2)
        return false;
    const int64_t axis = net_attr_int(both, "axis", 0);
    const struct net_node *const negative = net_made_by(m, both->input[0], "Neg", true);
    return negative && (axis == -1 || axis == (int64_t)shape->dims - 1) && is_half(m, negative->input[0], x, true) &&
           is_half(m, both->input[1], x, false);
}

/* Cosines and sines repeat along x and do not widen it. */
static bool broadcasts_into(const struct net_match *m, net_id factor, net_id x)
{
    const struct net_shape *const f = net_value_shape(m, factor), *const s = net_value_shape(m, x);
    if (!f->known || !s->known || f->dims > s->dims)
        return false;
    for (unsigned k = 1; k <= f->dims; k++)
        if (f->dim[f->dims - k] != 1 && f->dim[f->dims - k] != s->dim[s->dims - k])
            return false;
    return true;
}

static bool rope(struct net_match *m, struct net_node *node)
{
    for (size_t k = 0; net_is(node, "Add") && k < 4; k++) {
        const struct net_node *const plain = net_made_by(m, node->input[k & 1], "Mul", true);
        const struct net_node *const turned = net_made_by(m, node->input[1 - (k & 1)], "Mul", true);
        const size_t which = k >> 1;
        if (!plain || !turned)
            continue;
        const net_id x = plain->input[which], cosine = plain->input[1 - which];
        for (size_t t = 0; t < 2; t++) {
            if (!is_turned(m, turned->input[t], x) || !broadcasts_into(m, cosine, x) ||
                !broadcasts_into(m, turned->input[1 - t], x))
                continue;
            const net_id input[3] = {x, cosine, turned->input[1 - t]};
            return net_become(m, node, "RotaryEmbedding", "orchard", input, 3);
        }
    }
    return false;
}

bool net_pass_rope(struct net_model *model, unsigned *changes, struct orch_error *error)
{
    return net_rewrite(model, rope, changes, error);
}

/* ---- attention ---- */

/* Takes a factor or divisor off a product; *scale collects it. */
static net_id unscaled(const struct net_match *m, net_id value, double *scale)
{
    const struct net_node *const node = value == NET_NONE ? NULL : m->uses.producer[value];
    double number;
    const net_id x = node && (net_is(node, "Mul") || net_is(node, "Div")) ? net_beside_scalar(m, node, &number) : NET_NONE;
    if (x == NET_NONE || m->uses.count[value] != 1 || (net_is(node, "Div") && x != node->input[0]) || number == 0)
        return value;
    *scale *= net_is(node, "Div") ? 1 / number : number;
    return x;
}

/* The keys as they were before their last two dimensions were swapped; NET_NONE when they were not. */
static net_id unturned(const struct net_match *m, net_id value)
{
    const struct net_node *const turn = net_made_by(m, value, "Transpose", false);
    size_t dims;
    const int64_t *const perm = turn ? net_attr_ints(turn, "perm", &dims) : NULL;
    if (!perm || dims < 2)
        return NET_NONE;
    for (size_t d = 0; d < dims; d++)
        if (perm[d] != (int64_t)(d + 2 < dims ? d : d + 2 == dims ? dims - 1 : dims - 2))
            return NET_NONE;
    return turn->input[0];
}

/* A mask that is a choice, where(keep, scores, very small), as numbers to add: every row of it must keep something, since rows
 * without anything are where the two differ. NET_NONE when it is none. */
static net_id chosen_mask(struct net_match *m, const struct net_node *where, bool *scores_second)
{
    double small;
    const struct net_array *const keep = net_constant(m, where->input[0]);
    *scores_second = net_scalar(m, where->input[2], &small);
    if (!keep || keep->dims == 0 || (!*scores_second && !net_scalar(m, where->input[1], &small)) || small > -1e4)
        return NET_NONE;
    const int64_t row = keep->shape[keep->dims - 1];
    struct net_array *const mask = net_array_new(NET_F32, keep->shape, keep->dims, NULL);
    bool whole = mask != NULL;
    for (int64_t at = 0; whole && at < keep->count; at += row) {
        int64_t kept = 0;
        for (int64_t k = 0; k < row; k++) {
            const bool stays = (net_array_integer(keep, at + k) != 0) == *scores_second;
            const double number = stays ? 0 : small;
            kept += stays;
            net_write_doubles(NET_F32, mask->data, at + k, 1, &number);
        }
        whole = kept > 0;
    }
    if (!whole) {
        net_array_release(mask);
        return NET_NONE;
    }
    return net_constant_add(m->model, where->name, mask);
}

struct scores {
    net_id q, k, mask;
    double scale;
    bool turned;
};

/* A product with a factor and keys as they are, as onnxruntime's optimizer writes it. */
static bool read_fused_product(const struct net_match *m, net_id product, struct scores *s)
{
    const struct net_node *const fused = net_made_by(m, product, ".FusedMatMul", true);
    if (!fused || net_input(fused, 2) != NET_NONE || net_attr_int(fused, "transA", 0) || net_attribute(fused, "activation"))
        return false;
    s->scale *= net_attr_real(fused, "alpha", 1);
    s->q = unscaled(m, fused->input[0], &s->scale);
    s->k = unscaled(m, fused->input[1], &s->scale);
    s->turned = !net_attr_int(fused, "transB", 0);
    return true;
}

/* scale Q K^T */
static bool read_product(const struct net_match *m, net_id value, struct scores *s)
{
    s->scale = 1;
    const net_id product = unscaled(m, value, &s->scale);
    const struct net_node *const matmul = product == NET_NONE ? NULL : net_made_by(m, product, "MatMul", true);
    if (!matmul)
        return product != NET_NONE && read_fused_product(m, product, s);
    s->q = unscaled(m, matmul->input[0], &s->scale);
    const net_id keys = unscaled(m, matmul->input[1], &s->scale), before = unturned(m, keys);
    s->turned = before == NET_NONE;
    s->k = s->turned ? keys : unscaled(m, before, &s->scale);
    return true;
}

/* softmax's argument: a product, with a mask added, or chosen by one, or without. */
static bool read_scores(struct net_match *m, net_id value, struct scores *s)
{
    const struct net_node *const sum = net_made_by(m, value, "Add", true), *const where = net_made_by(m, value, "Where", true);
    bool second;
    *s = (struct scores){.mask = NET_NONE};
    for (size_t k = 0; sum && k < 2; k++)
        if (read_product(m, sum->input[k], s)) {
            s->mask = sum->input[1 - k];
            return true;
        }
    for (size_t k = 1; where && k < 3; k++)
        if (read_product(m, where->input[k], s)) {
            s->mask = chosen_mask(m, where, &second);
            return s->mask != NET_NONE && second == (k == 1);
        }
    return !sum && !where && read_product(m, value, s);
}

/* Operands with at least two dimensions; those of V and the mask do not widen the result. */
static bool shapes_fit(const struct net_match *m, const struct scores *s, net_id v)
{
    const struct net_shape *const q = net_value_shape(m, s->q), *const k = net_value_shape(m, s->k),
                                  *const values = net_value_shape(m, v);
    const struct net_shape *const mask = s->mask == NET_NONE ? NULL : net_value_shape(m, s->mask);
    if (!q->known || !k->known || !values->known || q->dims < 2 || k->dims < 2 || values->dims < 2 || k->dims > q->dims ||
        values->dims > q->dims || (mask && (!mask->known || mask->dims > q->dims)))
        return false;
    for (unsigned d = 3; d <= q->dims; d++) {
        const struct net_shape *const other[3] = {k, values, mask};
        for (size_t o = 0; o < 3; o++)
            if (other[o] && d <= other[o]->dims && other[o]->dim[other[o]->dims - d] != 1 &&
                other[o]->dim[other[o]->dims - d] != q->dim[q->dims - d])
                return false;
    }
    return true;
}

static bool attention(struct net_match *m, struct net_node *node)
{
    struct scores s;
    const struct net_node *const softmax = net_is(node, "MatMul") ? net_made_by(m, node->input[0], "Softmax", true) : NULL;
    if (!softmax || net_attr_int(softmax, "flat", 0))
        return false;
    const struct net_shape *const shape = net_value_shape(m, softmax->input[0]);
    const int64_t axis = net_attr_int(softmax, "axis", -1);
    if (!shape->known || (axis != -1 && axis != (int64_t)shape->dims - 1) || !read_scores(m, softmax->input[0], &s) ||
        !shapes_fit(m, &s, node->input[1]))
        return false;
    const net_id input[4] = {s.q, s.k, node->input[1], s.mask};
    if (net_become(m, node, "Attention", "orchard", input, s.mask == NET_NONE ? 3 : 4))
        net_must(m, net_set_real(node, "scale", s.scale) && net_set_int(node, "transK", s.turned));
    return true;
}

bool net_pass_attention(struct net_model *model, unsigned *changes, struct orch_error *error)
{
    return net_rewrite(model, attention, changes, error);
}
