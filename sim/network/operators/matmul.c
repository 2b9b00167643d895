/* MatMul, Gemm, MatMulInteger, QLinearMatMul, and the fused product. */
#include "sim/network/operators/matmul.h"

#include "sim/network/operators/families.h"
#include "sim/network/operators/quantise.h"

#include <stdlib.h>
#include <string.h>

void net_product_add(const double *a, int64_t row_stride, int64_t column_stride, const double *b, double *c, int64_t m, int64_t n,
                     int64_t k)
{
    for (int64_t i = 0; i < m; i++)
        for (int64_t p = 0; p < k; p++) {
            const double factor = a[i * row_stride + p * column_stride], *const from = b + p * n;
            double *const to = c + i * n;
            if (factor == 0)
                continue;
            for (int64_t j = 0; j < n; j++)
                to[j] += factor * from[j];
        }
}

/* ---- shapes ---- */

/* Batches broadcast; a vector on the left is a row, on the right a column, and is dropped from the result. */
static bool product_shape(struct net_infer *i, struct net_shape a, struct net_shape b, struct net_shape *to)
{
    const bool row = a.dims == 1, column = b.dims == 1;
    if (a.dims == 0 || b.dims == 0)
        return net_refuse(i->error, "a factor is a scalar");
    if (row)
        a = net_shape_of((const int64_t[]){1, a.dim[0]}, 2);
    if (column)
        b = net_shape_of((const int64_t[]){b.dim[0], 1}, 2);
    const int64_t m = a.dim[a.dims - 2], k = a.dim[a.dims - 1], k2 = b.dim[b.dims - 2], n = b.dim[b.dims - 1];
    if (k >= 0 && k2 >= 0 && k != k2)
        return net_refuse(i->error, "factors of %lld columns and %lld rows", (long long)k, (long long)k2);
    a.dims -= 2;
    b.dims -= 2;
    if (!net_broadcast_shapes(i, &a, &b, to))
        return false;
    if (to->dims + 2 > NET_DIMS_MAX)
        return net_refuse(i->error, "too many dimensions");
    if (!row)
        to->dim[to->dims++] = m;
    if (!column)
        to->dim[to->dims++] = n;
    return true;
}

static bool rule(struct net_infer *i, size_t b, enum net_type type)
{
    struct net_shape to = {.known = false}, x = i->in[0].shape, y = i->in[b].shape;
    if (x.known && y.known) {
        if (net_attr_int(i->node, "transA", 0) && x.dims > 1) {
            const int64_t swap = x.dim[x.dims - 1];
            x.dim[x.dims - 1] = x.dim[x.dims - 2];
            x.dim[x.dims - 2] = swap;
        }
        if (net_attr_int(i->node, "transB", 0) && y.dims > 1) {
            const int64_t swap = y.dim[y.dims - 1];
            y.dim[y.dims - 1] = y.dim[y.dims - 2];
            y.dim[y.dims - 2] = swap;
        }
        if (!product_shape(i, x, y, &to))
            return false;
    }
    net_state(i, 0, type, to.known ? &to : NULL);
    return true;
}

bool net_rule_matmul(struct net_infer *i)
{
    return rule(i, 1, i->in[0].type);
}

bool net_rule_matmul_integer(struct net_infer *i)
{
    return rule(i, 1, NET_I32);
}

bool net_rule_qlinear_matmul(struct net_infer *i)
{
    return rule(i, 3, i->in[7].type);
}

bool net_rule_gemm(struct net_infer *i)
{
    for (size_t k = 0; k < 2; k++)
        if (i->in[k].shape.known && i->in[k].shape.dims != 2)
            return net_refuse(i->error, "input %zu has %u dimensions, not 2", k, i->in[k].shape.dims);
    return rule(i, 1, i->in[0].type);
}

/* ---- the product ---- */

struct product {
    int64_t m, n, k, batches;
    unsigned batch_dims;
    int64_t a_batch[NET_DIMS_MAX], b_batch[NET_DIMS_MAX], shape[NET_DIMS_MAX];
    bool turn_a, turn_b; /* stored the other way round */
};

static void batch_strides(const struct net_array *x, const struct product *p, int64_t *stride)
{
    const unsigned own = x->dims > 2 ? x->dims - 2 : 0;
    int64_t step = x->dims > 1 ? x->shape[x->dims - 1] * x->shape[x->dims - 2] : x->count;
    memset(stride, 0, NET_DIMS_MAX * sizeof *stride);
    for (unsigned d = own; d-- > 0;) {
        stride[p->batch_dims - own + d] = x->shape[d] == 1 ? 0 : step;
        step *= x->shape[d];
    }
}

static struct product plan(const struct net_call *call, const struct net_array *a, const struct net_array *b)
{
    struct product p = {.turn_a = a->dims > 1 && net_attr_int(call->node, "transA", 0),
                        .turn_b = b->dims > 1 && net_attr_int(call->node, "transB", 0)};
    const int64_t a_rows = a->dims > 1 ? a->shape[a->dims - 2] : 1, a_columns = a->shape[a->dims - 1];
    const int64_t b_rows = b->dims > 1 ? b->shape[b->dims - 2] : b->shape[0], b_columns = b->dims > 1 ? b->shape[b->dims - 1] : 1;
    p.m = p.turn_a ? a_columns : a_rows;
    p.k = p.turn_a ? a_rows : a_columns;
    p.n = p.turn_b ? b_rows : b_columns;
    const unsigned matrix = (a->dims > 1) + (b->dims > 1);
    p.batch_dims = call->out[0]->dims - matrix;
    memcpy(p.shape, call->out[0]->shape, sizeof p.shape);
    p.batches = net_extent(p.shape, 0, p.batch_dims);
    batch_strides(a, &p, p.a_batch);
    batch_strides(b, &p, p.b_batch);
    return p;
}

/* Elements in rows without gaps, whichever way round they are stored. */
static void load(const double *all, int64_t rows, int64_t columns, bool turned, double *to)
{
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < columns; c++)
            to[r * columns + c] = turned ? all[c * rows + r] : all[r * columns + c];
}

/* All of the result in double, from malloc; `a` and `b` are the elements of the arrays, whatever is subtracted from them. */
static double *multiply(const struct net_call *call, const struct product *p, const double *a, const double *b)
{
    double *const c = calloc((size_t)call->out[0]->count + 1, sizeof *c), *const matrix = malloc(((size_t)(p->k * p->n) + 1) *
                                                                                                 sizeof *matrix);
    int64_t loaded = -1;
    for (int64_t batch = 0; c && matrix && batch < p->batches; batch++) {
        int64_t from_a = 0, from_b = 0, left = batch;
        for (unsigned d = p->batch_dims; d-- > 0;) {
            from_a += left % p->shape[d] * p->a_batch[d];
            from_b += left % p->shape[d] * p->b_batch[d];
            left /= p->shape[d];
        }
        if (from_b != loaded)
            load(b + from_b, p->k, p->n, p->turn_b, matrix);
        loaded = from_b;
        net_product_add(a + from_a, p->turn_a ? 1 : p->k, p->turn_a ? p->m : 1, matrix, c + batch * p->m * p->n, p->m, p->n,
                        p->k);
    }
    free(matrix);
    if (!c)
        orch_no_memory(call->error);
    return c;
}

/* Adds a bias that is repeated over the result. */
static bool add_bias(const struct net_call *call, struct net_array *bias, double factor, double *c)
{
    struct net_walk walk;
    int64_t offset;
    if (!bias)
        return true;
    if (!net_walk_broadcast(&walk, call->out[0], &bias, 1, call->error))
        return false;
    const int64_t row = walk.shape[walk.dims - 1], rows = net_extent(walk.shape, 0, walk.dims - 1);
    for (int64_t r = 0; r < rows; r++) {
        net_walk_row(&walk, r, &offset);
        for (int64_t k = 0; k < row; k++)
            c[r * row + k] += factor * net_array_double(bias, offset + k * walk.stride[0][walk.dims - 1]);
    }
    net_walk_free(&walk);
    return true;
}

/* MatMul, Gemm and the fused product: alpha A B + beta C, activated. */
bool net_eval_matmul(struct net_call *call)
{
    const struct net_array *const a = call->in[0], *const b = call->in[1];
    const struct product p = plan(call, a, b);
    const double alpha = net_attr_real(call->node, "alpha", 1), beta = net_attr_real(call->node, "beta", 1);
    struct net_activation activation;
    if (!net_activation_of(call->node, &activation))
        return net_refuse(call->error, "unknown activation");
    double *const x = net_doubles(a, call->error), *const y = x ? net_doubles(b, call->error) : NULL;
    double *const c = y ? multiply(call, &p, x, y) : NULL;
    free(x);
    free(y);
    if (!c)
        return false;
    for (int64_t k = 0; alpha != 1 && k < call->out[0]->count; k++)
        c[k] *= alpha;
    const bool ok = add_bias(call, net_in(call, 2), beta, c);
    if (ok) {
        net_activate(&activation, c, (size_t)call->out[0]->count);
        net_write_doubles(call->out[0]->type, call->out[0]->data, 0, (size_t)call->out[0]->count, c);
    }
    free(c);
    return ok;
}

/* ---- integers ---- */

/* Elements less their zero points, which are one or one a row (of A) or column (of B). */
static double *centred(const struct net_call *call, const struct net_array *x, const struct net_array *zero, bool by_row)
{
    double *const number = net_doubles(x, call->error);
    const int64_t columns = x->dims ? x->shape[x->dims - 1] : 1, rows = x->dims > 1 ? x->shape[x->dims - 2] : 1;
    for (int64_t k = 0; number && zero && zero->count && k < x->count; k++) {
        const int64_t line = by_row ? k / columns % rows : k % columns;
        number[k] -= net_array_double(zero, zero->count == (by_row ? rows : columns) ? line : 0);
    }
    return number;
}

bool net_eval_matmul_integer(struct net_call *call)
{
    const struct product p = plan(call, call->in[0], call->in[1]);
    double *const x = centred(call, call->in[0], net_in(call, 2), true);
    double *const y = x ? centred(call, call->in[1], net_in(call, 3), false) : NULL, *const c =
                                                                                         y ? multiply(call, &p, x, y) : NULL;
    if (c)
        net_write_doubles(NET_I32, call->out[0]->data, 0, (size_t)call->out[0]->count, c);
    free(x);
    free(y);
    free(c);
    return c != NULL;
}

bool net_eval_qlinear_matmul(struct net_call *call)
{
    struct net_array *const *const in = call->in;
    const struct product p = plan(call, in[0], in[3]);
    double *const x = centred(call, in[0], in[2], true), *const y = x ? centred(call, in[3], in[5], false) : NULL;
    double *const c = y ? multiply(call, &p, x, y) : NULL;
    free(x);
    free(y);
    for (int64_t k = 0; c && k < call->out[0]->count; k++) {
        const double scale_a = net_array_double(in[1], in[1]->count == p.m ? k / p.n % p.m : 0);
        const double scale_b = net_array_double(in[4], in[4]->count == p.n ? k % p.n : 0);
        const int64_t q =
            net_quantised(c[k] * scale_a * scale_b / net_array_double(in[6], 0), net_array_integer(in[7], 0), call->out[0]->type);
        net_write_integers(call->out[0]->type, call->out[0]->data, k, 1, &q);
    }
    free(c);
    return c != NULL;
}
