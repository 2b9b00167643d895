#include "sim/network/quantise/prune.h"

#include "sim/network/quantise/quantise.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct weight {
    float magnitude;
    int64_t at;
};

static int by_magnitude(const void *a, const void *b)
{
    const struct weight *const x = a, *const y = b;
    return x->magnitude < y->magnitude ? -1 : x->magnitude > y->magnitude ? 1 : x->at < y->at ? -1 : x->at > y->at;
}

/* The weights of one output: every `stride`-th row of `length` from `first` on. */
struct slice {
    int64_t first, length, stride, rows;
};

static void prune_slice(float *w, const struct slice *s, double share, struct weight *room)
{
    int64_t count = 0;
    for (int64_t r = 0; r < s->rows; r++)
        for (int64_t k = 0; k < s->length; k++) {
            const int64_t at = s->first + r * s->stride + k;
            room[count++] = (struct weight){fabsf(w[at]), at};
        }
    qsort(room, (size_t)count, sizeof *room, by_magnitude);
    for (int64_t k = 0; k < (int64_t)(share * (double)count); k++)
        w[room[k].at] = 0;
}

/* Convolutions and transposed matrices have an output's weights in one piece, other matrices in a column. */
static bool prune_array(const struct net_node *node, struct net_array *w, double share, struct orch_error *error)
{
    const bool pieces = strcmp(node->op, "Conv") == 0 || net_attr_int(node, "transB", 0);
    const int64_t outputs = w->shape[pieces ? 0 : 1], each = outputs > 0 ? w->count / outputs : 0;
    struct weight *const room = malloc(((size_t)each + 1) * sizeof *room);
    if (!room)
        return orch_no_memory(error);
    for (int64_t o = 0; o < outputs; o++) {
        const struct slice piece = {o * each, each, each, 1}, column = {o, 1, outputs, each};
        prune_slice(w->data, pieces ? &piece : &column, share, room);
    }
    free(room);
    return true;
}

static void count_weights(const struct net_array *w, struct net_pruned_count *count)
{
    uint64_t zeros = 0;
    for (int64_t k = 0; k < w->count; k++)
        zeros += ((const float *)w->data)[k] == 0;
    count->products++;
    count->weights += (uint64_t)w->count;
    count->zeros += zeros;
    count->bytes_before += 4 * (uint64_t)w->count;
    count->bytes_after += 4 * ((uint64_t)w->count - zeros) + ((uint64_t)w->count + 7) / 8;
}

/* Other nodes may have the same weights: the pruned ones are a constant of their own. */
static bool prune_node(struct net_model *model, struct net_node *node, size_t input, double share, struct net_pruned_count *count,
                       struct orch_error *error)
{
    const struct net_value *const v = &model->value[node->input[input]];
    struct net_array *const pruned = net_array_new(NET_F32, v->constant->shape, v->constant->dims, error);
    char name[200];
    if (!pruned)
        return false;
    memcpy(pruned->data, v->constant->data, net_array_bytes(pruned));
    snprintf(name, sizeof name, "%.150s.pruned", v->name);
    if (!prune_array(node, pruned, share, error)) {
        net_array_release(pruned);
        return false;
    }
    count_weights(pruned, count);
    node->input[input] = net_constant_add(model, name, pruned);
    return node->input[input] != NET_NONE || orch_no_memory(error);
}

bool net_prune(struct net_model *model, double share, struct net_pruned_count *count, struct orch_error *error)
{
    *count = (struct net_pruned_count){.products = 0};
    for (size_t k = 0; k < model->graph->nodes; k++) {
        struct net_node *const node = model->graph->node[k];
        const size_t input = net_weights_of(model, node);
        if (input && !prune_node(model, node, input, share, count, error))
            return false;
    }
    return count->products ||
           orch_fail(error, ORCH_USAGE, "%s: no Conv, MatMul or Gemm with constant weights in f32", model->path);
}
