/* What evaluation shares: operands that are repeated over a common shape, strided copies, arrays as doubles. */
#include "sim/network/operators/operator.h"

#include <stdlib.h>
#include <string.h>

/* Merges dimension d with the next where every operand steps through both evenly. */
static bool mergeable(const struct net_walk *w, unsigned d)
{
    for (size_t k = 0; k < w->operands; k++)
        if (w->stride[k][d] != w->stride[k][d + 1] * w->shape[d + 1])
            return false;
    return true;
}

static void merge(struct net_walk *w)
{
    for (unsigned d = w->dims; d-- > 1;) {
        if (!mergeable(w, d - 1))
            continue;
        w->shape[d - 1] *= w->shape[d];
        for (size_t k = 0; k < w->operands; k++) {
            w->stride[k][d - 1] = w->stride[k][d];
            memmove(&w->stride[k][d], &w->stride[k][d + 1], (w->dims - d - 1) * sizeof(int64_t));
        }
        memmove(&w->shape[d], &w->shape[d + 1], (w->dims - d - 1) * sizeof(int64_t));
        w->dims--;
    }
}

bool net_walk_broadcast(struct net_walk *walk, const struct net_array *result, struct net_array *const *in, size_t operands,
                        struct orch_error *error)
{
    *walk = (struct net_walk){.dims = result->dims, .operands = operands};
    walk->stride = calloc(operands ? operands : 1, sizeof *walk->stride);
    if (!walk->stride)
        return orch_no_memory(error);
    memcpy(walk->shape, result->shape, sizeof walk->shape);
    for (size_t k = 0; k < operands; k++) {
        const struct net_array *const a = in[k];
        int64_t stride[NET_DIMS_MAX];
        if (!a)
            continue;
        if (a->dims > result->dims) {
            net_walk_free(walk);
            return net_refuse(error, "an input has more dimensions than the result");
        }
        net_strides(a->shape, a->dims, stride);
        for (unsigned d = 0; d < a->dims; d++) {
            const unsigned at = result->dims - a->dims + d;
            if (a->shape[d] != 1 && a->shape[d] != result->shape[at]) {
                net_walk_free(walk);
                return net_refuse(error, "an input does not broadcast to the result");
            }
            walk->stride[k][at] = a->shape[d] == 1 ? 0 : stride[d];
        }
    }
    if (walk->dims == 0) {
        walk->dims = 1;
        walk->shape[0] = 1;
    }
    merge(walk);
    return true;
}

void net_walk_free(struct net_walk *walk)
{
    free(walk->stride);
    walk->stride = NULL;
}

void net_walk_row(const struct net_walk *walk, int64_t row, int64_t *offset)
{
    for (size_t k = 0; k < walk->operands; k++)
        offset[k] = 0;
    for (unsigned d = walk->dims - 1; d-- > 0;) {
        const int64_t at = row % walk->shape[d];
        row /= walk->shape[d];
        for (size_t k = 0; k < walk->operands; k++)
            offset[k] += at * walk->stride[k][d];
    }
}

static void copy_row(const uint8_t *from, int64_t stride, uint8_t *to, int64_t count, size_t bytes)
{
    if (stride == 1) {
        memcpy(to, from, (size_t)count * bytes);
        return;
    }
    for (int64_t i = 0; i < count; i++)
        memcpy(to + (size_t)i * bytes, from + i * stride * (int64_t)bytes, bytes);
}

void net_copy_strided(const struct net_array *from, int64_t first, const int64_t *stride, const int64_t *shape, unsigned dims,
                      struct net_array *out, int64_t at)
{
    const size_t bytes = net_type_bytes(from->type);
    const int64_t row = dims ? shape[dims - 1] : 1, rows = dims ? net_extent(shape, 0, dims - 1) : 1;
    for (int64_t r = 0; row && r < rows; r++) {
        int64_t offset = first, left = r;
        for (unsigned d = dims ? dims - 1 : 0; d-- > 0;) {
            offset += left % shape[d] * stride[d];
            left /= shape[d];
        }
        copy_row((const uint8_t *)from->data + offset * (int64_t)bytes, dims ? stride[dims - 1] : 1,
                 (uint8_t *)out->data + (at + r * row) * (int64_t)bytes, row, bytes);
    }
}

bool net_make_output(struct net_call *call, size_t index, enum net_type type, const int64_t *shape, unsigned dims)
{
    if (index >= call->outputs || net_output(call->node, index) == NET_NONE)
        return true;
    net_array_release(call->out[index]);
    call->out[index] = net_array_new(type, shape, dims, call->error);
    return call->out[index] != NULL;
}

double *net_doubles(const struct net_array *array, struct orch_error *error)
{
    double *const number = malloc((array->count ? (size_t)array->count : 1) * sizeof *number);
    if (!number) {
        orch_no_memory(error);
        return NULL;
    }
    net_read_doubles(array->type, array->data, 0, 1, (size_t)array->count, number);
    return number;
}
