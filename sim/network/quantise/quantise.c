/* Weights and activations of products as integers with scales. */
#include "sim/network/quantise/quantise.h"

#include "sim/network/operators/operator.h"
#include "sim/network/operators/quantise.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GROUP = 32 };

struct job {
    struct net_model *model;
    enum net_quantise_to to;
    const struct net_ranges *ranges;
    struct net_quantised_count *count;
    net_id *instead; /* by value: what takes its place in products; NET_NONE = nothing yet */
    size_t values;
    struct orch_error *error;
};

size_t net_weights_of(const struct net_model *model, const struct net_node *node)
{
    const bool product = strcmp(node->op, "Conv") == 0 || strcmp(node->op, "MatMul") == 0 || strcmp(node->op, "Gemm") == 0;
    const net_id id = net_input(node, 1);
    const struct net_array *const w = product && !*node->domain && id != NET_NONE ? model->value[id].constant : NULL;
    const bool plain = w && w->type == NET_F32 && w->dims >= 2 && (strcmp(node->op, "Conv") == 0 || w->dims == 2);
    return plain ? 1 : 0;
}

/* The dimension of the outputs, and of a matrix the one that is summed over. */
static unsigned output_axis(const struct net_node *node)
{
    return strcmp(node->op, "Conv") == 0 || net_attr_int(node, "transB", 0) ? 0 : 1;
}

/* ---- nodes ---- */

static net_id no_memory(struct job *j)
{
    orch_no_memory(j->error);
    return NET_NONE;
}

/* A node of one output before position `at`, which moves on. */
static net_id insert(struct job *j, size_t *at, const char *op, const char *name, const net_id *in, size_t inputs, int64_t axis,
                     int64_t block)
{
    struct net_node *const node = net_node_new(name, op, "", inputs, 1);
    if (!node)
        return no_memory(j);
    memcpy(node->input, in, inputs * sizeof *in);
    node->version = 21;
    node->row = net_operator_find(op, "");
    node->output[0] = net_value_add(j->model, name);
    const bool ok = node->output[0] != NET_NONE && (axis < 0 || net_set_int(node, "axis", axis)) &&
                    (block <= 0 || net_set_int(node, "block_size", block)) &&
                    (strcmp(op, "Cast") != 0 || net_set_int(node, "to", 1));
    const net_id made = node->output[0];
    if (!ok) {
        net_node_free(node);
        return no_memory(j);
    }
    if (!net_graph_insert(j->model->graph, (*at)++, node))
        return no_memory(j);
    return made;
}

static net_id constant(struct job *j, const char *name, const char *what, struct net_array *array)
{
    char text[200];
    snprintf(text, sizeof text, "%.150s.%s", name, what);
    const net_id id = array ? net_constant_add(j->model, text, array) : NET_NONE;
    return id == NET_NONE ? no_memory(j) : id;
}

/* ---- weights ---- */

/* Weights with one scale for each slice, or for each block of `block` along the sum. */
struct slices {
    unsigned axis; /* of the scales */
    int64_t block; /* 0 = a scale for each place of the axis */
    int64_t shape[NET_DIMS_MAX];
    unsigned dims;
    double most; /* of the integers */
    enum net_type type;
};

static int64_t slice_of(const struct slices *s, const struct net_array *w, int64_t at)
{
    const int64_t inner = net_extent(w->shape, s->axis + 1, w->dims), length = w->shape[s->axis], place = at / inner % length;
    return s->block ? (at / (inner * length) * s->shape[s->axis] + place / s->block) * inner + at % inner : place;
}

static void plan(enum net_quantise_to to, const struct net_node *node, const struct net_array *w, struct slices *s)
{
    const bool matrix = strcmp(node->op, "Conv") != 0, four = to == NET_TO_INT4;
    const unsigned out = output_axis(node);
    *s = (struct slices){.axis = out, .most = four ? 7 : 127, .type = four ? NET_I4 : NET_I8, .dims = 1};
    s->shape[0] = w->shape[out];
    if (!four || !matrix)
        return;
    s->axis = 1 - out;
    s->block = GROUP;
    s->dims = 2;
    s->shape[out] = w->shape[out];
    s->shape[s->axis] = (w->shape[s->axis] + GROUP - 1) / GROUP;
}

static void find_scales(const struct slices *s, const struct net_array *w, float *of, int64_t scales)
{
    for (int64_t k = 0; k < w->count; k++)
        of[slice_of(s, w, k)] = fmaxf(of[slice_of(s, w, k)], fabsf(((const float *)w->data)[k]));
    for (int64_t k = 0; k < scales; k++)
        of[k] = of[k] > 0 ? of[k] / (float)s->most : 1;
}

static net_id integer_weights(struct job *j, const struct net_node *node, const struct net_array *w, size_t *at)
{
    struct slices s;
    plan(j->to, node, w, &s);
    struct net_array *const scale = net_array_new(NET_F32, s.shape, s.dims, j->error);
    struct net_array *const q = scale ? net_array_new(s.type, w->shape, w->dims, j->error) : NULL;
    if (!q) {
        net_array_release(scale);
        return NET_NONE;
    }
    float *const of = scale->data;
    find_scales(&s, w, of, scale->count);
    for (int64_t k = 0; k < w->count; k++) {
        const int64_t number = net_quantised((double)(((const float *)w->data)[k] / of[slice_of(&s, w, k)]), 0, s.type);
        net_write_integers(s.type, q->data, k, 1, &number);
    }
    j->count->bytes_after += net_array_bytes(scale) + (s.type == NET_I4 ? ((uint64_t)q->count + 1) / 2 : net_array_bytes(q));
    const net_id in[2] = {constant(j, node->name, "weights", q), constant(j, node->name, "weight_scales", scale)};
    return in[0] == NET_NONE || in[1] == NET_NONE
               ? NET_NONE
               : insert(j, at, "DequantizeLinear", node->name, in, 2, (int64_t)s.axis, s.block);
}

static net_id half_weights(struct job *j, const struct net_node *node, const struct net_array *w, size_t *at)
{
    struct net_array *const half = net_array_new(NET_F16, w->shape, w->dims, j->error);
    for (int64_t k = 0; half && k < w->count; k++) {
        const double number = net_array_double(w, k);
        net_write_doubles(NET_F16, half->data, k, 1, &number);
    }
    j->count->bytes_after += half ? net_array_bytes(half) : 0;
    const net_id id = half ? constant(j, node->name, "weights", half) : NET_NONE;
    return id == NET_NONE ? NET_NONE : insert(j, at, "Cast", node->name, &id, 1, -1, 0);
}

/* ---- activations ---- */

static net_id through_integers(struct job *j, net_id x, size_t *at)
{
    char name[200];
    const double most = x < j->ranges->count ? j->ranges->most[x] : 0;
    if (x < j->values && j->instead[x] != NET_NONE)
        return j->instead[x];
    snprintf(name, sizeof name, "%.150s", j->model->value[x].name);
    struct net_array *const scale = net_array_of_scalar(NET_F32, most > 0 ? most / 127 : 1, j->error);
    struct net_array *const zero = scale ? net_array_of_scalar(NET_I8, 0, j->error) : NULL;
    const net_id s = scale ? constant(j, name, "scale", scale) : NET_NONE, z = zero ? constant(j, name, "zero", zero) : NET_NONE;
    const net_id in[3] = {x, s, z};
    const net_id q = s == NET_NONE || z == NET_NONE ? NET_NONE : insert(j, at, "QuantizeLinear", name, in, 3, -1, 0);
    const net_id back[3] = {q, s, z};
    const net_id y = q == NET_NONE ? NET_NONE : insert(j, at, "DequantizeLinear", name, back, 3, -1, 0);
    if (x < j->values)
        j->instead[x] = y;
    return y;
}

static bool quantise_node(struct job *j, struct net_node *node, size_t *at)
{
    struct net_array *const w = net_array_retain(j->model->value[node->input[1]].constant);
    const net_id weights = j->to == NET_TO_F16 ? half_weights(j, node, w, at) : integer_weights(j, node, w, at);
    const net_id x = j->to == NET_TO_INT8 && weights != NET_NONE ? through_integers(j, node->input[0], at) : node->input[0];
    j->count->products++;
    j->count->weights++;
    j->count->bytes_before += net_array_bytes(w);
    net_array_release(w);
    if (weights == NET_NONE || x == NET_NONE)
        return false;
    node->input[1] = weights;
    node->input[0] = x;
    return true;
}

struct net_array *net_weights_in_bytes(const struct net_model *model, const struct net_node *node, struct orch_error *error)
{
    const struct net_array *const w = model->value[node->input[1]].constant;
    struct slices s;
    plan(NET_TO_INT8, node, w, &s);
    struct net_array *const scale = net_array_new(NET_F32, s.shape, s.dims, error);
    struct net_array *const made = scale ? net_array_new(NET_F32, w->shape, w->dims, error) : NULL;
    if (made)
        find_scales(&s, w, scale->data, scale->count);
    for (int64_t k = 0; made && k < w->count; k++) {
        const float of = ((const float *)scale->data)[slice_of(&s, w, k)];
        ((float *)made->data)[k] = (float)net_quantised((double)(((const float *)w->data)[k] / of), 0, s.type) * of;
    }
    net_array_release(scale);
    return made;
}

struct net_array *net_numbers_in_bytes(const struct net_array *numbers, double most, struct orch_error *error)
{
    struct net_array *const made = net_array_new(NET_F32, numbers->shape, numbers->dims, error);
    const float scale = (float)(most > 0 ? most / 127 : 1);
    for (int64_t k = 0; made && k < numbers->count; k++)
        ((float *)made->data)[k] = (float)net_quantised((double)(((const float *)numbers->data)[k] / scale), 0, NET_I8) * scale;
    return made;
}

bool net_quantise(struct net_model *model, enum net_quantise_to to, const struct net_ranges *ranges,
                  struct net_quantised_count *count, struct orch_error *error)
{
    return net_quantise_but(model, to, ranges, NULL, count, error);
}

bool net_quantise_but(struct net_model *model, enum net_quantise_to to, const struct net_ranges *ranges, const bool *whole,
                      struct net_quantised_count *count, struct orch_error *error)
{
    struct job j = {model, to, ranges, count, malloc((model->values + 1) * sizeof *j.instead), model->values, error};
    bool ok = j.instead || orch_no_memory(error);
    *count = (struct net_quantised_count){.products = 0};
    for (size_t id = 0; ok && id < j.values; id++)
        j.instead[id] = NET_NONE;
    for (size_t at = 0, before = 0; ok && at < model->graph->nodes; at++, before++) { /* `before`: the node's place at first */
        struct net_node *const node = model->graph->node[at];
        if (net_weights_of(model, node) && !(whole && whole[before]) && node->input[0] != NET_NONE &&
            !model->value[node->input[0]].constant)
            ok = quantise_node(&j, node, &at);
    }
    free(j.instead);
    return ok && (count->products || whole ||
                  orch_fail(error, ORCH_USAGE, "%s: no Conv, MatMul or Gemm with constant weights in f32", model->path));
}
