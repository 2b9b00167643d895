/* Products of bytes that are unsigned or lie around other numbers than zero, which dynamic quantisation makes, as products of
 * signed ones, which kernels know. With x' = x - 128 (unsigned) and w' in the same way, zero points that are moved as far, sum (x
 * - zx) (w - zw) = sum x' w' - zw' sum x' - zx' sum (w' - zw'). Behind a border of a convolution nothing is added, which the last
 * sum of a convolution knows: it is one of ones, and of a single channel, since every channel is the same there. */
#include "sim/network/passes/match.h"
#include "sim/network/passes/passes.h"

#include <string.h>

enum { IMAGE_MOST = 1 << 26 };                               /* elements: whose ones are written out */
enum { EXACT_IN_SINGLE = 1 << 24 };                          /* integers up to here */
enum { MIDDLE = 128, X = 0, W = 1, X_ZERO = 2, W_ZERO = 3 }; /* ORDER: inputs of both operators */

struct place {
    struct net_match *m;
    const struct net_node *node;
    size_t at; /* where the next node goes */
    bool conv;
    const struct net_array *w, *zero; /* zero: of the weights; NULL = none */
};

static net_id put(struct place *p, const char *op, net_id a, net_id b, enum net_type type)
{
    struct net_node *const node = net_put(p->m, p->node, &p->at, op, (const net_id[]){a, b}, b == NET_NONE ? 1 : 2, 1, type);
    net_must(p->m, node && (strcmp(op, "Cast") != 0 || net_set_int(node, "to", net_type_to_onnx(type))));
    return node ? node->output[0] : NET_NONE;
}

/* A product of these integers as the node has it, its windows among them. */
static net_id put_product(struct place *p, net_id a, net_id b, net_id zero_b)
{
    const net_id in[4] = {a, b, NET_NONE, zero_b};
    struct net_node *const node = net_put(p->m, p->node, &p->at, p->node->op, in, zero_b == NET_NONE ? 2 : 4, 1, NET_I32);
    net_must(p->m, node && (!p->conv || net_copy_windows(p->node, node)));
    return node ? node->output[0] : NET_NONE;
}

static net_id constant(struct place *p, struct net_array *array)
{
    const net_id id = array ? net_constant_add(p->m->model, p->node->name, array) : NET_NONE;
    net_must(p->m, id != NET_NONE);
    return id;
}

static net_id ones(struct place *p, const int64_t *shape, unsigned dims)
{
    struct net_array *const a = net_array_new(NET_I8, shape, dims, NULL);
    if (a)
        memset(a->data, 1, (size_t)a->count);
    return constant(p, a);
}

/* Integers of the weights or their zero points, less 128 where they are unsigned, in another type. */
static struct net_array *moved(const struct net_array *from, enum net_type type, const int64_t *shape, unsigned dims)
{
    struct net_array *const to = net_array_new(type, shape, dims, NULL);
    const int64_t less = from->type == NET_U8 ? MIDDLE : 0;
    for (int64_t k = 0; to && k < from->count; k++) {
        const int64_t number = net_array_integer(from, k) - less;
        net_write_integers(type, to->data, k, 1, &number);
    }
    return to;
}

/* A number for each result's channel beside sums of the product's shape. */
static struct net_array *by_channel(const struct place *p)
{
    const int64_t shape[3] = {p->zero->count, 1, 1};
    return moved(p->zero, NET_I32, shape, p->zero->count == 1 ? 0 : p->conv ? 3 : 1);
}

static bool has_zero(const struct place *p)
{
    const int64_t at_rest = p->w->type == NET_U8 ? MIDDLE : 0;
    if (!p->zero)
        return at_rest != 0; /* 0 is then -128 */
    for (int64_t k = 0; k < p->zero->count; k++)
        if (net_array_integer(p->zero, k) != at_rest)
            return true;
    return false;
}

/* sum x', for each window or row. */
static net_id sums_of_x(struct place *p, net_id x)
{
    int64_t shape[NET_DIMS_MAX];
    memcpy(shape, p->w->shape, sizeof shape);
    if (!p->conv)
        shape[1] = 1;
    else if (net_attr_int(p->node, "group", 1) == 1)
        shape[0] = 1;
    return put_product(p, x, ones(p, shape, p->w->dims), NET_NONE);
}

/* w' - zw' summed up over the channels of each filter, as numbers: what a filter adds up over a window of ones. NULL = the sums
 * are larger than what single precision has exactly, or there is no memory. */
static struct net_array *filters_of_w(const struct net_array *w, const struct net_array *zero)
{
    const int64_t filters = w->shape[0], channels = w->shape[1], window = net_extent(w->shape, 2, w->dims);
    int64_t shape[NET_DIMS_MAX];
    memcpy(shape, w->shape, sizeof shape);
    shape[1] = 1;
    if (channels * window > EXACT_IN_SINGLE / (2 * MIDDLE))
        return NULL;
    struct net_array *const to = net_array_new(NET_F32, shape, w->dims, NULL);
    for (int64_t k = 0; to && k < filters; k++)
        for (int64_t at = 0; at < window; at++) {
            double sum = zero ? -(double)(channels * net_array_integer(zero, zero->count == 1 ? 0 : k)) : 0;
            for (int64_t c = 0; c < channels; c++)
                sum += (double)net_array_integer(w, (k * channels + c) * window + at);
            net_write_doubles(NET_F32, to->data, k * window + at, 1, &sum);
        }
    return to;
}

/* sum (w' - zw') for each result of a convolution of one image, from its filters: a convolution of a single channel of ones. */
static net_id sums_of_filters(struct place *p, struct net_array *filters)
{
    int64_t shape[NET_DIMS_MAX] = {1, 1};
    const struct net_shape *const x = net_value_shape(p->m, p->node->input[X]);
    memcpy(shape + 2, x->dim + 2, (x->dims - 2) * sizeof *shape);
    struct net_array *const image = net_array_new(NET_F32, shape, x->dims, NULL);
    for (int64_t k = 0; image && k < image->count; k++)
        ((float *)image->data)[k] = 1;
    const net_id in[2] = {constant(p, image), constant(p, filters)};
    struct net_node *const node = net_put(p->m, p->node, &p->at, "Conv", in, 2, 1, NET_F32);
    net_must(p->m, node && net_copy_windows(p->node, node) && net_set_int(node, "group", 1));
    return node ? put(p, "Cast", node->output[0], NET_NONE, NET_I32) : NET_NONE;
}

/* sum (w' - zw'), for each result of a convolution of one image, or each column. */
static net_id sums_of_w(struct place *p, net_id w, net_id zero)
{
    int64_t shape[NET_DIMS_MAX] = {1, p->w->shape[0]};
    const struct net_shape *const x = net_value_shape(p->m, p->node->input[X]);
    struct net_array *const filters =
        p->conv && !p->m->starved ? filters_of_w(net_constant(p->m, w), zero == NET_NONE ? NULL : net_constant(p->m, zero))
                                  : NULL;
    if (filters)
        return sums_of_filters(p, filters);
    for (unsigned d = 1; p->conv && d < x->dims; d++)
        shape[d] = x->dim[d];
    return put_product(p, ones(p, shape, p->conv ? x->dims : 2), w, zero);
}

/* Weights are known, and zero points as kernels may have them: one for all of x; one for all or each column or filter of w. */
static bool fits(const struct net_match *m, const struct net_node *node, struct place *p)
{
    if (node->inputs < 2 || node->input[X] == NET_NONE || (!p->conv && !net_is(node, "MatMulInteger")) ||
        net_constant(m, node->input[X])) /* which is folded */
        return false;
    const enum net_type type = m->model->value[node->input[X]].type;
    const struct net_shape *const x = net_value_shape(m, node->input[X]);
    p->w = net_constant(m, node->input[W]);
    p->zero = net_constant(m, net_input(node, W_ZERO));
    if ((type != NET_U8 && type != NET_I8) || !p->w || !p->w->data || (p->w->type != NET_I8 && p->w->type != NET_U8) ||
        (net_input(node, W_ZERO) != NET_NONE && !p->zero) || !x->known || x->dims < 2)
        return false;
    if (p->conv ? p->w->dims != x->dims || p->w->dims < 3 : p->w->dims != 2)
        return false;
    int64_t image = 1;
    for (unsigned d = 1; p->conv && d < x->dims; d++) {
        if (x->dim[d] < 1 || x->dim[d] > IMAGE_MOST / image)
            return false;
        image *= x->dim[d];
    }
    if (p->zero && p->zero->count != 1 && p->zero->count != p->w->shape[p->conv ? 0 : 1])
        return false;
    const int64_t group = net_attr_int(node, "group", 1);
    if (p->conv && has_zero(p) && group != 1 && group != p->w->shape[0])
        return false;
    if (net_input(node, X_ZERO) == NET_NONE)
        return true;
    const struct net_shape *const zero = net_value_shape(m, node->input[X_ZERO]);
    return zero->known && (zero->dims == 0 || (zero->dims == 1 && zero->dim[0] == 1));
}

/* Kernels know these as they are: signed and around zero. */
static bool is_plain(const struct net_match *m, const struct net_node *node, const struct place *p)
{
    double zero = 0;
    const bool around = net_input(node, X_ZERO) == NET_NONE || (net_scalar(m, node->input[X_ZERO], &zero) && zero == 0);
    return m->model->value[node->input[X]].type == NET_I8 && p->w->type == NET_I8 && around && !has_zero(p);
}

/* -zx': 128 less the zero point of unsigned operands, that of others changed in its sign. */
static net_id shift_of(struct place *p, bool flips)
{
    const net_id zero = net_input(p->node, X_ZERO);
    const net_id middle = constant(p, net_array_of_scalar(NET_I32, flips ? MIDDLE : 0, NULL));
    return zero == NET_NONE ? middle : put(p, "Sub", middle, put(p, "Cast", zero, NET_NONE, NET_I32), NET_I32);
}

static bool change(struct net_match *m, struct net_node *node)
{
    struct place p = {.m = m, .node = node, .conv = net_is(node, "ConvInteger")};
    if (!fits(m, node, &p) || is_plain(m, node, &p))
        return false;
    const bool flips = m->model->value[node->input[X]].type == NET_U8, offset = has_zero(&p);
    p.at = m->uses.position[node->output[0]];
    const net_id flip = flips ? constant(&p, net_array_of_scalar(NET_U8, MIDDLE, NULL)) : NET_NONE;
    const net_id x =
        flips ? put(&p, "Cast", put(&p, "BitwiseXor", node->input[X], flip, NET_U8), NET_NONE, NET_I8) : node->input[X];
    const net_id w = constant(&p, moved(p.w, NET_I8, p.w->shape, p.w->dims));
    struct net_array *const none = p.zero ? NULL : net_array_of_scalar(p.w->type, 0, NULL);
    p.zero = p.zero ? p.zero : none;
    const net_id zero = offset ? constant(&p, moved(p.zero, NET_I8, &p.zero->count, p.zero->count > 1)) : NET_NONE;
    net_id y = put_product(&p, x, w, NET_NONE);
    y = put(&p, "Add", y, put(&p, "Mul", sums_of_w(&p, w, zero), shift_of(&p, flips), NET_I32), NET_I32);
    if (offset)
        y = put(&p, "Sub", y, put(&p, "Mul", sums_of_x(&p, x), constant(&p, by_channel(&p)), NET_I32), NET_I32);
    net_array_release(none);
    if (m->starved)
        return false;
    net_retire(m, node, y);
    return true;
}

bool net_pass_unsigned(struct net_model *model, unsigned *changes, struct orch_error *error)
{
    return net_rewrite(model, change, changes, error);
}
