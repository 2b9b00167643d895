/* Constant nodes: a tensor, or numbers as attributes. */
#include "sim/network/onnx/onnx_internal.h"
#include "sim/network/operators/operator.h"

#include <string.h>

bool onnx_take_constant(struct net_model *model, const struct net_node *node, bool *taken, struct orch_error *error)
{
    static const char *const names[] = {"value", "value_int", "value_float", "value_ints", "value_floats"};
    const struct net_attribute *a = NULL;
    *taken = strcmp(node->op, "Constant") == 0 && !*node->domain;
    if (!*taken)
        return true;
    for (size_t k = 0; k < sizeof names / sizeof *names && !a; k++)
        a = net_attribute(node, names[k]);
    if (!a || net_output(node, 0) == NET_NONE)
        return orch_fail(error, ORCH_UNMODELLED, "a constant without a tensor");
    struct net_array *array = NULL;
    const int64_t length = (int64_t)a->count;
    if (a->kind == NET_ATTR_ARRAY) {
        array = net_array_retain(a->array);
    } else if (a->kind == NET_ATTR_INT || a->kind == NET_ATTR_REAL) {
        array = net_array_new(a->kind == NET_ATTR_INT ? NET_I64 : NET_F32, NULL, 0, error);
        if (array && a->kind == NET_ATTR_INT)
            net_write_integers(NET_I64, array->data, 0, 1, &a->integer);
        else if (array)
            net_write_doubles(NET_F32, array->data, 0, 1, &a->real);
    } else if (a->kind == NET_ATTR_INTS) {
        array = net_array_of_integers(NET_I64, a->integers, a->count, error);
    } else if (a->kind == NET_ATTR_REALS) {
        array = net_array_new(NET_F32, &length, 1, error);
        if (array)
            net_write_doubles(NET_F32, array->data, 0, a->count, a->reals);
    } else {
        return orch_fail(error, ORCH_UNMODELLED, "a constant of text");
    }
    if (!array)
        return false;
    struct net_value *const v = &model->value[node->output[0]];
    v->constant = array;
    v->type = array->type;
    v->shape = net_shape_of(array->shape, array->dims);
    return true;
}
