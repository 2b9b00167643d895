/* References of ggml's operations: the formulas of its operators, not its code. */
#include "tests/public/public_reference.h"

#include "isa/array_count.h"

/* ---- products ---- */

static void mul_mat(const struct public_op *op)
{
    const struct public_tensor *const a = op->a, *const b = op->b, *const o = op->out;
    const uint64_t r2 = b->ne[2] / a->ne[2], r3 = b->ne[3] / a->ne[3];
    FOR_EACH_ROW(o, i1, i2, i3)
    for (uint64_t i0 = 0; i0 < o->ne[0]; i0++) {
        double sum = 0;
        for (uint64_t k = 0; k < a->ne[0]; k++)
            sum += public_at(a, k, i0, i2 / r2, i3 / r3) * public_at(b, k, i1, i2, i3);
        op->to[public_row(o, i1, i2, i3) + i0] = sum;
    }
}

/* src2 says which matrix of src0 each of the rows of a token takes. */
static void mul_mat_id(const struct public_op *op)
{
    const struct public_tensor *const o = op->out;
    FOR_EACH_ROW(o, used, token, unused)
    for (uint64_t i0 = 0; i0 < o->ne[0]; i0++) {
        double sum = 0;
        for (uint64_t k = 0; k < op->a->ne[0]; k++)
            sum +=
                public_at(op->a, k, i0, (uint64_t)public_at(op->d, used, token, 0, 0), 0) * public_at(op->b, k, used, token, 0);
        op->to[public_row(o, used, token, unused) + i0] = sum;
    }
}

/* ---- rows ---- */

static void get_rows(const struct public_op *op)
{
    FOR_EACH_ROW(op->out, i1, i2, i3)
    for (uint64_t i0 = 0; i0 < op->out->ne[0]; i0++)
        op->to[public_row(op->out, i1, i2, i3) + i0] = public_at(op->a, i0, (uint64_t)public_at(op->b, i1, i2, i3, 0), i2, i3);
}

static void set_rows(const struct public_op *op)
{
    FOR_EACH_ROW(op->a, i1, i2, i3)
    for (uint64_t i0 = 0; i0 < op->a->ne[0]; i0++)
        op->to[public_row(op->out, (uint64_t)public_at(op->b, i1, i2, i3, 0), i2, i3) + i0] = public_at(op->a, i0, i1, i2, i3);
}

static void copy(const struct public_op *op)
{
    for (uint64_t i = 0; i < op->out->count; i++)
        op->to[i] = op->a->value[i];
}

static void copy_trunc(const struct public_op *op)
{
    for (uint64_t i = 0; i < op->out->count; i++)
        op->to[i] = trunc(op->a->value[i]);
}

static void repeat(const struct public_op *op)
{
    FOR_EACH_ROW(op->out, i1, i2, i3)
    for (uint64_t i0 = 0; i0 < op->out->ne[0]; i0++)
        op->to[public_row(op->out, i1, i2, i3) + i0] = public_at(op->a, i0, i1, i2, i3);
}

static void concat(const struct public_op *op)
{
    const unsigned d = (unsigned)public_of(op, "dim", 0);
    FOR_EACH_ROW(op->out, i1, i2, i3)
    for (uint64_t i0 = 0; i0 < op->out->ne[0]; i0++) {
        uint64_t at[4] = {i0, i1, i2, i3};
        const bool second = at[d] >= op->a->ne[d];
        at[d] -= second ? op->a->ne[d] : 0;
        op->to[public_row(op->out, i1, i2, i3) + i0] = public_at(second ? op->b : op->a, at[0], at[1], at[2], at[3]);
    }
}

/* ---- one element at a time ---- */

static double gelu(double x)
{
    return 0.5 * x * (1 + tanh(0.79788456080286535588 * x * (1 + 0.044715 * x * x)));
}

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

static double unary_low(const struct public_op *op, unsigned what, double x)
{
    const double low = public_of(op, "min", 0), high = public_of(op, "max", 0);
    switch (what) {
    case 10: return public_of(op, "scale", 0) * x + public_of(op, "bias", 0);
    case 11: return public_of(op, "val", 0);
    case 12: return x < low ? low : x > high ? high : x;
    case 13: return x * x;
    case 14: return sqrt(x);
    case 15: return sin(x);
    case 16: return cos(x);
    case 17: return log(x);
    default: return x > 0 ? x : x * public_of(op, "slope", 0);
    }
}

static double unary_high(unsigned what, double x)
{
    const double six = x + 3 < 0 ? 0 : x + 3 > 6 ? 6 : x + 3;
    switch (what) {
    case 111: return x > 0;
    case 112: return x * six / 6;
    case 113: return six / 6;
    case 114: return exp(x);
    case 115: return x > 20 ? x : log1p(exp(x));
    case 116: return expm1(x);
    case 117: return floor(x);
    case 118: return ceil(x);
    case 119: return round(x);
    default: return trunc(x);
    }
}

static double unary_of(const struct public_op *op, unsigned what, double x)
{
    switch (what) {
    case 100: return tanh(x);
    case 101: return x > 0 ? x : 0;
    case 102: return sigmoid(x);
    case 103: return gelu(x);
    case 104: return 0.5 * x * (1 + erf(x / sqrt(2)));
    case 105: return x * sigmoid(1.702 * x);
    case 106: return x * sigmoid(x);
    case 107: return x > 0 ? x : expm1(x);
    case 108: return -x;
    case 109: return fabs(x);
    case 110: return (x > 0) - (x < 0);
    default: return what < 100 ? unary_low(op, what, x) : unary_high(what, x);
    }
}

static void unary(const struct public_op *op)
{
    for (uint64_t i = 0; i < op->out->count; i++)
        op->to[i] = unary_of(op, (unsigned)public_of(op, "op", 0), op->a->value[i]);
}

static void binary(const struct public_op *op)
{
    const int what = (int)public_of(op, "op", 0);
    FOR_EACH_ROW(op->out, i1, i2, i3)
    for (uint64_t i0 = 0; i0 < op->out->ne[0]; i0++) {
        const double x = public_at(op->a, i0, i1, i2, i3), y = public_at(op->b, i0, i1, i2, i3);
        op->to[public_row(op->out, i1, i2, i3) + i0] = what == 0 ? x + y : what == 1 ? x - y : what == 2 ? x * y : x / y;
    }
}

/* Gates: 0 relu, 1 gelu, 2 silu, 3 silu with limits, 4 gelu by erf, 5 quick gelu; the gate is the first half. */
static void glu(const struct public_op *op)
{
    static const unsigned gate[] = {101, 103, 106, 0, 104, 105};
    const unsigned what = (unsigned)public_of(op, "op", 0);
    const double limit = public_of(op, "limit", 0);
    FOR_EACH_ROW(op->out, i1, i2, i3)
    for (uint64_t i0 = 0; i0 < op->out->ne[0]; i0++) {
        const double x = public_at(op->a, i0, i1, i2, i3), y = public_at(op->b, i0, i1, i2, i3);
        const double low = x < limit ? x : limit, in = y > limit ? limit : y < -limit ? -limit : y;
        op->to[public_row(op->out, i1, i2, i3) + i0] =
            what == 3 ? low * sigmoid(low * public_of(op, "alpha", 1)) * (in + 1) : unary_of(op, gate[what], x) * y;
    }
}

/* ---- over rows ---- */

struct moments {
    double sum, mean, square, variance, most;
    uint64_t at_most;
};

static struct moments moments_of(const struct public_tensor *t, uint64_t i1, uint64_t i2, uint64_t i3)
{
    struct moments m = {.most = -INFINITY};
    const double n = (double)t->ne[0];
    for (uint64_t i = 0; i < t->ne[0]; i++) {
        const double x = public_at(t, i, i1, i2, i3);
        m.sum += x;
        m.square += x * x;
        if (x > m.most) {
            m.most = x;
            m.at_most = i;
        }
    }
    m.mean = m.sum / n;
    for (uint64_t i = 0; i < t->ne[0]; i++)
        m.variance += (public_at(t, i, i1, i2, i3) - m.mean) * (public_at(t, i, i1, i2, i3) - m.mean) / n;
    return m;
}

/* op 0 the mean and deviation, 1 root of mean square, 2 length; with factors src1 and summands src2 where there are any. */
static void norm(const struct public_op *op)
{
    const int what = (int)public_of(op, "op", 0);
    const double eps = public_of(op, "eps", 0), n = (double)op->a->ne[0];
    FOR_EACH_ROW(op->out, i1, i2, i3)
    {
        const struct moments m = moments_of(op->a, i1, i2, i3);
        const double by = what == 0   ? 1 / sqrt(m.variance + eps)
                          : what == 1 ? 1 / sqrt(m.square / n + eps)
                                      : 1 / (sqrt(m.square) > eps ? sqrt(m.square) : eps);
        for (uint64_t i0 = 0; i0 < op->out->ne[0]; i0++) {
            const double x = (public_at(op->a, i0, i1, i2, i3) - (what == 0 ? m.mean : 0)) * by;
            op->to[public_row(op->out, i1, i2, i3) + i0] =
                x * (op->b ? public_at(op->b, i0, i1, i2, i3) : 1) + (op->d ? public_at(op->d, i0, i1, i2, i3) : 0);
        }
    }
}

static void group_norm(const struct public_op *op)
{
    const uint64_t groups = (uint64_t)public_of(op, "ngrp", 1), size = op->a->count / groups;
    for (uint64_t g = 0; g < groups; g++) {
        const struct public_tensor t = {.ne = {size, 1, 1, 1}, .value = op->a->value + g * size};
        const struct moments m = moments_of(&t, 0, 0, 0);
        for (uint64_t i = 0; i < size; i++)
            op->to[g * size + i] = (t.value[i] - m.mean) / sqrt(m.variance + public_of(op, "eps", 0));
    }
}

static void sum_rows(const struct public_op *op)
{
    FOR_EACH_ROW(op->a, i1, i2, i3)
    {
        const struct moments m = moments_of(op->a, i1, i2, i3);
        op->to[(i3 * op->a->ne[2] + i2) * op->a->ne[1] + i1] = public_of(op, "op", 10) == 10 ? m.sum : m.mean;
    }
}

static void sum(const struct public_op *op)
{
    op->to[0] = 0;
    for (uint64_t i = 0; i < op->a->count; i++)
        op->to[0] += op->a->value[i];
}

static void argmax(const struct public_op *op)
{
    for (uint64_t i = 0; i < op->a->ne[1]; i++)
        op->to[i] = (double)moments_of(op->a, i, 0, 0).at_most;
}

static void cumsum(const struct public_op *op)
{
    FOR_EACH_ROW(op->out, i1, i2, i3)
    {
        double so_far = 0;
        for (uint64_t i0 = 0; i0 < op->out->ne[0]; i0++)
            op->to[public_row(op->out, i1, i2, i3) + i0] = so_far += public_at(op->a, i0, i1, i2, i3);
    }
}

static void soft_max(const struct public_op *op)
{
    const double scale = public_of(op, "scale", 1);
    FOR_EACH_ROW(op->out, i1, i2, i3)
    {
        double most = -INFINITY, all = 0, *const to = op->to + public_row(op->out, i1, i2, i3);
        for (uint64_t i0 = 0; i0 < op->out->ne[0]; i0++) {
            to[i0] = scale * public_at(op->a, i0, i1, i2, i3) + (op->b ? public_at(op->b, i0, i1, i2, i3) : 0);
            most = to[i0] > most ? to[i0] : most;
        }
        for (uint64_t i0 = 0; i0 < op->out->ne[0]; i0++)
            all += to[i0] = exp(to[i0] - most);
        for (uint64_t i0 = 0; i0 < op->out->ne[0]; i0++)
            to[i0] /= all;
    }
}

/* Order of a row: the number of elements in front of each says its place. */
static void argsort(const struct public_op *op)
{
    const double sign = public_of(op, "op", 0) == 0 ? 1 : -1;
    FOR_EACH_ROW(op->a, i1, i2, i3)
    for (uint64_t i = 0; i < op->a->ne[0]; i++) {
        const double x = sign * public_at(op->a, i, i1, i2, i3);
        uint64_t place = 0;
        for (uint64_t n = 0; n < op->a->ne[0]; n++) {
            const double y = sign * public_at(op->a, n, i1, i2, i3);
            place += y < x || (y == x && n < i);
        }
        op->to[public_row(op->a, i1, i2, i3) + place] = (double)i;
    }
}

/* ---- positions ---- */

/* Pairs lie side by side (op 0) or half a row apart (op 1); the position of a row's token is in src1. */
static void rope(const struct public_op *op)
{
    const uint64_t dims = (uint64_t)public_of(op, "n_dims", 0);
    const bool apart = public_of(op, "op", 0) == 1;
    FOR_EACH_ROW(op->out, i1, i2, i3)
    {
        double *const to = op->to + public_row(op->out, i1, i2, i3);
        for (uint64_t i = 0; i < op->out->ne[0]; i++)
            to[i] = public_at(op->a, i, i1, i2, i3);
        for (uint64_t i = 0; i < dims / 2; i++) {
            const double base = public_of(op, "freq_base", 10000), position = public_at(op->b, i2, 0, 0, 0);
            const double angle = position * pow(base, -2.0 * (double)i / (double)dims) * public_of(op, "freq_scale", 1);
            const uint64_t first = apart ? i : 2 * i, second = apart ? i + dims / 2 : 2 * i + 1;
            const double x = to[first], y = to[second];
            to[first] = x * cos(angle) - y * sin(angle);
            to[second] = x * sin(angle) + y * cos(angle);
        }
    }
}

static const struct public_formula formulas[] = {{"mul_mat", mul_mat},
                                                 {"mul_mat_id", mul_mat_id},
                                                 {"get_rows", get_rows},
                                                 {"set_rows", set_rows},
                                                 {"copy", copy},
                                                 {"copy_trunc", copy_trunc},
                                                 {"repeat", repeat},
                                                 {"concat", concat},
                                                 {"unary", unary},
                                                 {"binary", binary},
                                                 {"glu", glu},
                                                 {"norm", norm},
                                                 {"group_norm", group_norm},
                                                 {"sum_rows", sum_rows},
                                                 {"sum", sum},
                                                 {"argmax", argmax},
                                                 {"cumsum", cumsum},
                                                 {"soft_max", soft_max},
                                                 {"argsort", argsort},
                                                 {"rope", rope}};

bool public_reference_ggml(struct public_case *c, double *expected)
{
    return public_compute(formulas, ARRAY_COUNT(formulas), c, expected);
}
