/* Scales and offsets by channel behind a convolution: BatchNormalization, Mul and Add become part of its weights and bias. */
#include "sim/network/passes/match.h"
#include "sim/network/passes/passes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* y = factor x + offset, by channel. */
struct affine {
    double *factor, *offset;
    int64_t channels;
};

/* A constant that has one number for each channel of a result of `dims` dimensions, or one for all. */
static bool by_channel(const struct net_array *a, unsigned dims, int64_t channels)
{
    if (!a || a->dims > dims || (a->count != 1 && a->count != channels))
        return false;
    if (a->count == 1)
        return true;
    const int axis = (int)a->dims - (int)dims + 1; /* where the channels stand in the constant */
    return axis >= 0 && a->shape[axis] == channels;
}

/* What the node does to its input, if it is of that kind; *convolved is that input. */
static bool affine_of(const struct net_match *m, const struct net_node *node, net_id *convolved, struct affine *a)
{
    const bool norm = net_is(node, "BatchNormalization"), product = net_is(node, "Mul"), sum = net_is(node, "Add");
    if (norm) {
        *convolved = node->input[0];
        for (size_t k = 1; k < 5; k++)
            if (!net_constant(m, node->input[k]) || net_constant(m, node->input[k])->count != a->channels)
                return false;
        for (int64_t c = 0; c < a->channels; c++) {
            double p[5];
            for (size_t k = 1; k < 5; k++)
                p[k] = net_array_double(net_constant(m, node->input[k]), c);
            a->factor[c] = p[1] / sqrt(p[4] + net_attr_real(node, "epsilon", 1e-5));
            a->offset[c] = p[2] - p[3] * a->factor[c];
        }
        return true;
    }
    for (size_t k = 0; (product || sum) && k < 2; k++) {
        const struct net_array *const constant = net_constant(m, node->input[k]);
        if (!by_channel(constant, net_value_shape(m, node->input[1 - k])->dims, a->channels))
            continue;
        *convolved = node->input[1 - k];
        for (int64_t c = 0; c < a->channels; c++) {
            const double number = net_array_double(constant, constant->count == 1 ? 0 : c);
            a->factor[c] = product ? number : 1;
            a->offset[c] = sum ? number : 0;
        }
        return true;
    }
    return false;
}

/* For new contents of this shape, which nobody writes when the old ones are blank. */
static struct net_array *like(const struct net_array *old)
{
    return (old->blank ? net_array_blank : net_array_new)(old->type, old->shape, old->dims, NULL);
}

/* New weights and bias. Weights of a Conv have the channels of the result first, of a ConvTranspose second. */
static bool apply(struct net_match *m, struct net_node *conv, const struct affine *a)
{
    const struct net_array *const w = net_constant(m, conv->input[1]), *const b = net_constant(m, net_input(conv, 2));
    const bool transposed = net_is(conv, "ConvTranspose");
    const int64_t taps = net_extent(w->shape, 2, w->dims), inner = transposed ? taps : taps * w->shape[1];
    struct net_array *const weights = like(w);
    struct net_array *const bias = net_array_new(w->type, &a->channels, 1, NULL);
    for (int64_t k = 0; weights && bias && !w->blank && k < w->count; k++) {
        const double number = net_array_double(w, k) * a->factor[k / inner % a->channels];
        net_write_doubles(w->type, weights->data, k, 1, &number);
    }
    for (int64_t c = 0; weights && bias && c < a->channels; c++) {
        const double number = (b ? net_array_double(b, c) : 0) * a->factor[c] + a->offset[c];
        net_write_doubles(w->type, bias->data, c, 1, &number);
    }
    if (!weights || !bias) {
        net_array_release(weights);
        net_array_release(bias);
        return false;
    }
    const net_id new_weights = net_constant_add(m->model, m->model->value[conv->input[1]].name, weights);
    const net_id new_bias = net_constant_add(m->model, m->model->value[conv->output[0]].name, bias);
    if (new_weights == NET_NONE || new_bias == NET_NONE || (conv->inputs < 3 && !net_node_inputs(conv, 3)))
        return false;
    conv->input[1] = new_weights;
    conv->input[2] = new_bias;
    return true;
}

/* A normalisation that stands alone takes scales and offsets behind it into its own. */
static bool apply_to_norm(struct net_match *m, struct net_node *norm, const struct affine *a)
{
    for (size_t k = 1; k < 3; k++) {
        const struct net_array *const old = net_constant(m, norm->input[k]);
        struct net_array *const new = like(old);
        for (int64_t c = 0; new && !old->blank &&c < a->channels; c++) {
            const double number = net_array_double(old, c) * a->factor[c] + (k == 2 ? a->offset[c] : 0);
            net_write_doubles(new->type, new->data, c, 1, &number);
        }
        norm->input[k] = net_constant_add(m->model, m->model->value[norm->input[k]].name, new);
        if (norm->input[k] == NET_NONE)
            return false;
    }
    return true;
}

static struct net_node *normalisation(const struct net_match *m, net_id value)
{
    struct net_node *const node = net_made_by(m, value, "BatchNormalization", true);
    return node && net_constant(m, net_input(node, 1)) && net_constant(m, net_input(node, 2)) ? node : NULL;
}

static struct net_node *convolution(const struct net_match *m, net_id value)
{
    struct net_node *node = net_made_by(m, value, "Conv", true);
    if (!node)
        node = net_made_by(m, value, "ConvTranspose", true);
    const struct net_array *const w = node ? net_constant(m, net_input(node, 1)) : NULL;
    const bool bias_known = node && (net_input(node, 2) == NET_NONE || net_constant(m, node->input[2]));
    if (!w || !bias_known || (net_is(node, "ConvTranspose") && net_attr_int(node, "group", 1) != 1))
        return NULL;
    return node;
}

static bool absorb(struct net_match *m, struct net_node *node)
{
    if (!net_is(node, "BatchNormalization") && !net_is(node, "Mul") && !net_is(node, "Add"))
        return false;
    for (size_t k = 0; k < 2 && k < node->inputs; k++) {
        struct net_node *const norm = normalisation(m, node->input[k]);
        struct net_node *const conv = norm ? norm : convolution(m, node->input[k]);
        struct affine a = {.channels = 0};
        net_id convolved = NET_NONE;
        if (!conv)
            continue;
        const struct net_array *const w = net_constant(m, conv->input[1]);
        a.channels = norm ? w->count : w->shape[net_is(conv, "ConvTranspose") ? 1 : 0];
        a.factor = calloc((size_t)a.channels + 1, sizeof *a.factor);
        a.offset = calloc((size_t)a.channels + 1, sizeof *a.offset);
        bool ok = a.factor && a.offset && affine_of(m, node, &convolved, &a) && convolved == node->input[k];
        if (ok) {
            ok = norm ? apply_to_norm(m, norm, &a) : apply(m, conv, &a);
            net_must(m, ok);
        }
        if (ok)
            net_retire(m, node, conv->output[0]);
        free(a.factor);
        free(a.offset);
        return ok;
    }
    return false;
}

bool net_pass_batch_norm(struct net_model *model, unsigned *changes, struct orch_error *error)
{
    return net_rewrite(model, absorb, changes, error);
}
