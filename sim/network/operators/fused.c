/* Operators that only passes make, of domain "orchard": Attention, FusedAdd, RotaryEmbedding, SwiGLU. The others that passes
 * make, FusedConv, FusedMatMul and RMSNormalization, are computed where their plain forms are. */
#include "sim/network/operators/families.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- attention: softmax(scale Q K^T + mask) V ---- */

/* Q is [..., M, D], K [..., N, D] or with the attribute transK [..., D, N], V [..., N, E]; leading dimensions of K and V
 * broadcast. */
bool net_rule_attention(struct net_infer *i)
{
    const struct net_shape *const q = &i->in[0].shape, *const v = &i->in[2].shape;
    struct net_shape to = *q;
    net_state(i, 0, i->in[0].type, NULL);
    if (!q->known || !v->known)
        return true;
    if (q->dims < 2 || v->dims < 2 || v->dims > q->dims)
        return net_refuse(i->error, "queries of %u and values of %u dimensions", q->dims, v->dims);
    to.dim[to.dims - 1] = v->dim[v->dims - 1];
    net_state(i, 0, i->in[0].type, &to);
    return true;
}

/* The matrix of an operand that belongs to batch `at` of the queries. */
static int64_t matrix_of(const struct net_array *x, const struct net_array *q, int64_t at)
{
    const int64_t matrix = net_extent(x->shape, x->dims - 2, x->dims);
    int64_t place = 0, step = matrix;
    for (unsigned d = 2; d < q->dims; d++) {
        const int64_t length = q->shape[q->dims - 1 - d], own = d < x->dims ? x->shape[x->dims - 1 - d] : 1;
        place += own == 1 ? 0 : at % length * step;
        at /= length;
        step *= own;
    }
    return place;
}

static double mask_at(const struct net_array *mask, const struct net_array *q, int64_t batch, int64_t row, int64_t column)
{
    if (!mask)
        return 0;
    const int64_t rows = mask->dims > 1 ? mask->shape[mask->dims - 2] : 1, columns = mask->dims ? mask->shape[mask->dims - 1] : 1;
    const int64_t at = mask->dims > 1 ? matrix_of(mask, q, batch) : 0;
    return net_array_double(mask, at + (rows == 1 ? 0 : row) * columns + (columns == 1 ? 0 : column));
}

struct attention {
    const double *q, *k, *v; /* of the batch */
    int64_t keys, depth, width;
    bool k_turned;
    double scale;
};

static void attend(const struct attention *a, const double *q, double *score, double *result)
{
    double top = -INFINITY, sum = 0;
    for (int64_t n = 0; n < a->keys; n++)
        top = fmax(top, score[n]);
    memset(result, 0, (size_t)a->width * sizeof *result);
    for (int64_t n = 0; n < a->keys; n++)
        sum += score[n] = exp(score[n] - top);
    for (int64_t n = 0; n < a->keys; n++)
        for (int64_t e = 0; e < a->width; e++)
            result[e] += score[n] / sum * a->v[n * a->width + e];
    (void)q;
}

static void attend_batch(struct net_call *call, const struct attention *a, int64_t batch, int64_t rows, double *work)
{
    double *const score = work, *const result = work + a->keys;
    for (int64_t row = 0; row < rows; row++) {
        const double *const q = a->q + row * a->depth;
        for (int64_t n = 0; n < a->keys; n++) {
            double sum = 0;
            for (int64_t d = 0; d < a->depth; d++)
                sum += q[d] * a->k[a->k_turned ? d * a->keys + n : n * a->depth + d];
            score[n] = a->scale * sum + mask_at(net_in(call, 3), call->in[0], batch, row, n);
        }
        attend(a, q, score, result);
        net_write_doubles(call->out[0]->type, call->out[0]->data, (batch * rows + row) * a->width, (size_t)a->width, result);
    }
}

bool net_eval_attention(struct net_call *call)
{
    const struct net_array *const q = call->in[0], *const k = call->in[1], *const v = call->in[2];
    struct attention a = {.keys = v->shape[v->dims - 2], .depth = q->shape[q->dims - 1], .width = v->shape[v->dims - 1]};
    a.k_turned = net_attr_int(call->node, "transK", 0) != 0;
    a.scale = net_attr_real(call->node, "scale", 1);
    const int64_t rows = q->shape[q->dims - 2], batches = net_extent(q->shape, 0, q->dims - 2);
    if (k->dims < 2 || k->shape[k->dims - (a.k_turned ? 1 : 2)] != a.keys || k->shape[k->dims - (a.k_turned ? 2 : 1)] != a.depth)
        return net_refuse(call->error, "queries, keys and values do not fit");
    double *const all_q = net_doubles(q, call->error), *const all_k = net_doubles(k, call->error),
                  *const all_v = net_doubles(v, call->error);
    double *const work = malloc(((size_t)(a.keys + a.width) + 1) * sizeof *work);
    const bool ok = all_q && all_k && all_v && work;
    for (int64_t b = 0; ok && b < batches; b++) {
        a.q = all_q + b * rows * a.depth;
        a.k = all_k + matrix_of(k, q, b);
        a.v = all_v + matrix_of(v, q, b);
        attend_batch(call, &a, b, rows, work);
    }
    free(all_q);
    free(all_k);
    free(all_v);
    free(work);
    return ok || orch_no_memory(call->error);
}

/* ---- rotary embedding: x cos + rotate_half(x) sin; inputs x, cos, sin ---- */

bool net_eval_rotary(struct net_call *call)
{
    const struct net_array *const x = call->in[0];
    const int64_t width = x->dims ? x->shape[x->dims - 1] : 0, half = width / 2;
    struct net_walk walk;
    int64_t offset[3];
    if (width == 0 || width % 2)
        return net_refuse(call->error, "rows of %lld", (long long)width);
    if (!net_walk_broadcast(&walk, call->out[0], call->in, 3, call->error))
        return false;
    const int64_t row = walk.shape[walk.dims - 1], rows = net_extent(walk.shape, 0, walk.dims - 1);
    for (int64_t r = 0; r < rows; r++) {
        net_walk_row(&walk, r, offset);
        for (int64_t k = 0; k < row; k++) {
            const int64_t place = k % width;
            const double other =
                place < half ? -net_array_double(x, offset[0] + k + half) : net_array_double(x, offset[0] + k - half);
            const double c = net_array_double(call->in[1], offset[1] + k * walk.stride[1][walk.dims - 1]);
            const double s = net_array_double(call->in[2], offset[2] + k * walk.stride[2][walk.dims - 1]);
            const double y = net_array_double(x, offset[0] + k) * c + other * s;
            net_write_doubles(x->type, call->out[0]->data, r * row + k, 1, &y);
        }
    }
    net_walk_free(&walk);
    return true;
}

/* ---- a sum of two, and an activation ---- */

bool net_eval_fused_add(struct net_call *call)
{
    const struct net_array *const out = call->out[0];
    struct net_activation activation;
    struct net_walk walk;
    int64_t offset[2];
    if (!net_activation_of(call->node, &activation))
        return net_refuse(call->error, "an activation that is not known");
    if (!net_walk_broadcast(&walk, out, call->in, 2, call->error))
        return false;
    const int64_t row = walk.shape[walk.dims - 1], rows = net_extent(walk.shape, 0, walk.dims - 1);
    for (int64_t r = 0; r < rows; r++) {
        net_walk_row(&walk, r, offset);
        for (int64_t k = 0; k < row; k++) {
            double y = 0;
            for (unsigned i = 0; i < 2; i++)
                y += net_array_double(call->in[i], offset[i] + k * walk.stride[i][walk.dims - 1]);
            net_activate(&activation, &y, 1);
            net_write_doubles(out->type, out->data, r * row + k, 1, &y);
        }
    }
    net_walk_free(&walk);
    return true;
}

/* ---- swish(gate) up ---- */

bool net_eval_swiglu(struct net_call *call)
{
    const struct net_array *const gate = call->in[0], *const up = call->in[1];
    if (gate->count != up->count)
        return net_refuse(call->error, "%lld and %lld elements", (long long)gate->count, (long long)up->count);
    for (int64_t k = 0; k < gate->count; k++) {
        const double g = net_array_double(gate, k), y = g / (1 + exp(-g)) * net_array_double(up, k);
        net_write_doubles(gate->type, call->out[0]->data, k, 1, &y);
    }
    return true;
}
