/* Nodes of older operator sets in the form of the newest one. A row names the operator, the first set that has the new form, and
 * what makes the old form into it. */
#include "sim/network/onnx/onnx_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct step {
    struct net_model *model;
    struct net_node *node;
    struct orch_error *error;
};

/* ---- attributes that became inputs ---- */

static bool set_input(struct step *s, size_t index, struct net_array *array, const char *what)
{
    char name[256];
    if (!array)
        return false;
    snprintf(name, sizeof name, "%.150s.%s", s->node->name, what);
    if (s->node->inputs <= index && !net_node_inputs(s->node, index + 1)) {
        net_array_release(array);
        return orch_no_memory(s->error);
    }
    s->node->input[index] = net_constant_add(s->model, name, array);
    return s->node->input[index] != NET_NONE || orch_no_memory(s->error);
}

static bool ints_to_input(struct step *s, const char *name, size_t index)
{
    size_t count;
    const int64_t *const list = net_attr_ints(s->node, name, &count);
    if (!list)
        return true;
    if (!set_input(s, index, net_array_of_integers(NET_I64, list, count, s->error), name))
        return false;
    net_attr_remove(s->node, name);
    return true;
}

static bool real_to_input(struct step *s, const char *name, size_t index)
{
    const struct net_attribute *const a = net_attribute(s->node, name);
    if (!a || a->kind != NET_ATTR_REAL)
        return true;
    if (!set_input(s, index, net_array_of_scalar(NET_F32, a->real, s->error), name))
        return false;
    net_attr_remove(s->node, name);
    return true;
}

static bool axes(struct step *s)
{
    return ints_to_input(s, "axes", 1);
}

static bool reshape(struct step *s)
{
    return ints_to_input(s, "shape", 1);
}

static bool split(struct step *s)
{
    return ints_to_input(s, "split", 1);
}

static bool slice(struct step *s)
{
    return ints_to_input(s, "starts", 1) && ints_to_input(s, "ends", 2) && ints_to_input(s, "axes", 3);
}

static bool clip(struct step *s)
{
    return real_to_input(s, "min", 1) && real_to_input(s, "max", 2);
}

static bool pad(struct step *s)
{
    return ints_to_input(s, "pads", 1) && real_to_input(s, "value", 2);
}

static bool top_k(struct step *s)
{
    const struct net_attribute *const a = net_attribute(s->node, "k");
    const int64_t k = a ? a->integer : 0;
    if (!a)
        return true;
    net_attr_remove(s->node, "k");
    return set_input(s, 1, net_array_of_integers(NET_I64, &k, 1, s->error), "k");
}

/* ---- renamed and changed ---- */

static bool flat_softmax(struct step *s)
{
    return (net_set_int(s->node, "axis", net_attr_int(s->node, "axis", 1)) && net_set_int(s->node, "flat", 1)) ||
           orch_no_memory(s->error);
}

static bool reals_to_input(struct step *s, const char *name, size_t index)
{
    const struct net_attribute *const a = net_attribute(s->node, name);
    if (!a || a->kind != NET_ATTR_REALS)
        return true;
    const int64_t count = (int64_t)a->count;
    struct net_array *const array = net_array_new(NET_F32, &count, 1, s->error);
    if (array)
        net_write_doubles(NET_F32, array->data, 0, a->count, a->reals);
    if (!set_input(s, index, array, name))
        return false;
    net_attr_remove(s->node, name);
    return true;
}

/* Upsample, and Resize before opset 11, scale from the corner and round down. Inputs become X, region, scales. */
static bool old_resize(struct step *s)
{
    const bool scaled_by_input = s->node->inputs > 1;
    const net_id scales = net_input(s->node, 1);
    if (!scaled_by_input && !reals_to_input(s, "scales", 2))
        return false;
    if (!net_node_inputs(s->node, 3))
        return orch_no_memory(s->error);
    if (scaled_by_input) {
        s->node->input[1] = NET_NONE;
        s->node->input[2] = scales;
    }
    const char *const mode = net_attr_text(s->node, "mode", "nearest");
    if (strcmp(mode, "bilinear") == 0 && !net_set_text(s->node, "mode", "linear"))
        return orch_no_memory(s->error);
    return (net_set_text(s->node, "coordinate_transformation_mode", "asymmetric") &&
            net_set_text(s->node, "nearest_mode", "floor") && net_node_rename(s->node, "Resize", "")) ||
           orch_no_memory(s->error);
}

static bool scatter(struct step *s)
{
    return net_node_rename(s->node, "ScatterElements", "") || orch_no_memory(s->error);
}

static bool grid_sample(struct step *s)
{
    const char *const mode = net_attr_text(s->node, "mode", "bilinear");
    const char *const now = strcmp(mode, "bilinear") == 0 ? "linear" : strcmp(mode, "bicubic") == 0 ? "cubic" : "nearest";
    return net_set_text(s->node, "mode", now) || orch_no_memory(s->error);
}

/* Until then corners of regions were whole pixels. */
static bool roi_align(struct step *s)
{
    return net_set_text(s->node, "coordinate_transformation_mode", "output_half_pixel") || orch_no_memory(s->error);
}

/* Further outputs are for training: the running mean and so on. */
static bool batch_norm(struct step *s)
{
    if (!net_attr_int(s->node, "spatial", 1))
        return orch_fail(s->error, ORCH_UNMODELLED, "spatial=0: a mean for each element");
    if (s->node->outputs > 1 && !net_attr_int(s->node, "training_mode", 0))
        s->node->outputs = 1;
    return true;
}

static bool dropout(struct step *s)
{
    net_attr_remove(s->node, "ratio");
    return true;
}

/* Functions of gates that are those that are meant when nothing is said. */
static bool usual_functions(struct step *s)
{
    static const char *const usual[] = {"Sigmoid", "Tanh", "Tanh"};
    const struct net_attribute *const a = net_attribute(s->node, "activations");
    const size_t each = strcmp(s->node->op, "LSTM") == 0 ? 3 : 2;
    bool same = a && a->kind == NET_ATTR_TEXTS && a->count > 0 && a->count % each == 0;
    for (size_t k = 0; same && k < a->count; k++)
        same = strcasecmp(a->texts[k], usual[k % each]) == 0;
    if (same)
        net_attr_remove(s->node, "activations");
    return true;
}

/* Operators in a form whose meaning is another one. */
static bool refuse(struct step *s)
{
    return orch_fail(s->error, ORCH_UNMODELLED, "the form of opset %lld", (long long)s->node->version);
}

/* Before opset 7 an operand could be laid along an axis in the middle. */
static bool broadcast(struct step *s)
{
    return net_attribute(s->node, "axis") ? refuse(s) : true;
}

static const struct {
    const char *op;
    int64_t until; /* INT64_MAX = always */
    bool (*change)(struct step *s);
} steps[] = {
    {"Add", 7, broadcast},
    {"And", 7, broadcast},
    {"BatchNormalization", INT64_MAX, batch_norm},
    {"Clip", 11, clip},
    {"Cast", 6, refuse},
    {"Div", 7, broadcast},
    {"Dropout", 12, dropout},
    {"Equal", 7, broadcast},
    {"GRU", 7, refuse},
    {"GRU", INT64_MAX, usual_functions},
    {"Greater", 7, broadcast},
    {"GridSample", 20, grid_sample},
    {"Hardmax", 13, flat_softmax},
    {"LSTM", 7, refuse},
    {"LSTM", INT64_MAX, usual_functions},
    {"Less", 7, broadcast},
    {"LogSoftmax", 13, flat_softmax},
    {"Mul", 7, broadcast},
    {"Or", 7, broadcast},
    {"PRelu", 7, refuse},
    {"Pad", 2, refuse},
    {"Pad", 11, pad},
    {"Pow", 7, broadcast},
    {"RNN", 7, refuse},
    {"ReduceL1", 18, axes},
    {"ReduceL2", 18, axes},
    {"ReduceLogSum", 18, axes},
    {"ReduceLogSumExp", 18, axes},
    {"ReduceMax", 18, axes},
    {"ReduceMean", 18, axes},
    {"ReduceMin", 18, axes},
    {"ReduceProd", 18, axes},
    {"ReduceSum", 13, axes},
    {"ReduceSumSquare", 18, axes},
    {"Reshape", 5, reshape},
    {"Resize", 11, old_resize},
    {"RoiAlign", 16, roi_align},
    {"Scan", 9, refuse},
    {"Scatter", INT64_MAX, scatter},
    {"Slice", 10, slice},
    {"Softmax", 13, flat_softmax},
    {"Split", 13, split},
    {"Squeeze", 13, axes},
    {"Sub", 7, broadcast},
    {"Tile", 6, refuse},
    {"TopK", 10, top_k},
    {"Unsqueeze", 13, axes},
    {"Upsample", 7, refuse},
    {"Upsample", INT64_MAX, old_resize},
    {"Xor", 7, broadcast},
};

bool onnx_normalise(struct net_model *model, struct net_node *node, struct orch_error *error)
{
    struct step s = {model, node, error};
    if (*node->domain)
        return true;
    for (size_t k = 0; k < sizeof steps / sizeof *steps; k++)
        if (strcmp(steps[k].op, node->op) == 0 && node->version < steps[k].until)
            return steps[k].change(&s);
    return true;
}
