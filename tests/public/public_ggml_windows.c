/* References of ggml's operations over windows, positions and sequences. */
#include "tests/public/public_reference.h"

#include "isa/array_count.h"

/* The number at x, y of a plane, 0 outside. */
static double pixel(const struct public_tensor *t, double x, double y, uint64_t i2, uint64_t i3)
{
    const bool in = x >= 0 && y >= 0 && x < (double)t->ne[0] && y < (double)t->ne[1];
    return in ? public_at(t, (uint64_t)x, (uint64_t)y, i2, i3) : 0;
}

static double input_at(const struct public_op *op, uint64_t o, uint64_t k, unsigned dimension)
{
    static const char *const names[2][3] = {{"s0", "p0", "d0"}, {"s1", "p1", "d1"}};
    const char *const *const n = names[dimension];
    return (double)o * public_of(op, n[0], 1) - public_of(op, n[1], 0) + (double)k * public_of(op, n[2], 1);
}

static void im2col(const struct public_op *op)
{
    const uint64_t kw = (uint64_t)public_of(op, "KW", 1), kh = (uint64_t)public_of(op, "KH", 1);
    FOR_EACH_ROW(op->out, ow, oh, n)
    for (uint64_t i = 0; i < op->out->ne[0]; i++) {
        const double x = input_at(op, ow, i % kw, 0), y = input_at(op, oh, i / kw % kh, 1);
        op->to[public_row(op->out, ow, oh, n) + i] = pixel(op->b, x, y, i / (kw * kh), n);
    }
}

static double window(const struct public_op *op, const uint64_t o[4], uint64_t channel, uint64_t image)
{
    double sum = 0;
    for (uint64_t y = 0; y < op->a->ne[1]; y++)
        for (uint64_t x = 0; x < op->a->ne[0]; x++)
            sum += public_at(op->a, x, y, channel, image) *
                   pixel(op->b, input_at(op, o[0], x, 0), input_at(op, o[1], y, 1), channel, o[3]);
    return sum;
}

static void conv_2d(const struct public_op *op)
{
    FOR_EACH_ROW(op->out, oh, oc, n)
    for (uint64_t ow = 0; ow < op->out->ne[0]; ow++) {
        double sum = 0;
        for (uint64_t ic = 0; ic < op->a->ne[2]; ic++)
            sum += window(op, (const uint64_t[4]){ow, oh, oc, n}, ic, oc);
        op->to[public_row(op->out, oh, oc, n) + ow] = sum;
    }
}

/* Every channel has a window of its own. */
static void conv_2d_dw(const struct public_op *op)
{
    struct public_tensor kernels = *op->a;
    struct public_op own = *op;
    kernels.ne[2] = kernels.ne[3];
    kernels.ne[3] = 1;
    own.a = &kernels;
    FOR_EACH_ROW(op->out, oh, c, n)
    for (uint64_t ow = 0; ow < op->out->ne[0]; ow++)
        op->to[public_row(op->out, oh, c, n) + ow] = window(&own, (const uint64_t[4]){ow, oh, c, n}, c, 0);
}

/* src0 is K, OC, IC; src1 is L, IC. */
static void conv_transpose_1d(const struct public_op *op)
{
    memset(op->to, 0, op->out->count * sizeof *op->to);
    for (uint64_t oc = 0; oc < op->out->ne[1]; oc++)
        for (uint64_t ic = 0; ic < op->b->ne[1]; ic++)
            for (uint64_t x = 0; x < op->b->ne[0]; x++)
                for (uint64_t k = 0; k < op->a->ne[0]; k++)
                    op->to[oc * op->out->ne[0] + x * (uint64_t)public_of(op, "s0", 1) + k] +=
                        public_at(op->a, k, oc, ic, 0) * public_at(op->b, x, ic, 0, 0);
}

static void spread(const struct public_op *op, uint64_t oc, uint64_t ic, uint64_t x, uint64_t y)
{
    const uint64_t stride = (uint64_t)public_of(op, "s0", 1);
    for (uint64_t ky = 0; ky < op->a->ne[1]; ky++)
        for (uint64_t kx = 0; kx < op->a->ne[0]; kx++)
            op->to[public_row(op->out, y * stride + ky, oc, 0) + x * stride + kx] +=
                public_at(op->a, kx, ky, oc, ic) * public_at(op->b, x, y, ic, 0);
}

static void conv_transpose_2d(const struct public_op *op)
{
    memset(op->to, 0, op->out->count * sizeof *op->to);
    for (uint64_t oc = 0; oc < op->out->ne[2]; oc++)
        FOR_EACH_ROW(op->b, y, ic, unused)
    for (uint64_t x = 0; x < op->b->ne[0]; x++)
        spread(op, oc, ic, x, y);
}

/* op 0 the largest, 1 the mean of windows that do not overlap the edge. */
static void pool_2d(const struct public_op *op)
{
    const uint64_t k0 = (uint64_t)public_of(op, "k0", 1), k1 = (uint64_t)public_of(op, "k1", 1);
    const uint64_t s0 = (uint64_t)public_of(op, "s0", 1), s1 = (uint64_t)public_of(op, "s1", 1);
    FOR_EACH_ROW(op->out, y, c, n)
    for (uint64_t x = 0; x < op->out->ne[0]; x++) {
        double most = -INFINITY, sum = 0;
        for (uint64_t i = 0; i < k0 * k1; i++) {
            const double v = public_at(op->a, x * s0 + i % k0, y * s1 + i / k0, c, n);
            most = v > most ? v : most;
            sum += v;
        }
        op->to[public_row(op->out, y, c, n) + x] = public_of(op, "op", 0) == 0 ? most : sum / (double)(k0 * k1);
    }
}

/* ---- positions ---- */

static void pad(const struct public_op *op)
{
    const uint64_t *const n = op->a->ne;
    FOR_EACH_ROW(op->out, i1, i2, i3)
    for (uint64_t i0 = 0; i0 < op->out->ne[0]; i0++) {
        const bool in = i0 < n[0] && i1 < n[1] && i2 < n[2] && i3 < n[3];
        op->to[public_row(op->out, i1, i2, i3) + i0] = in ? public_at(op->a, i0, i1, i2, i3) : 0;
    }
}

static void roll(const struct public_op *op)
{
    const uint64_t *const n = op->a->ne;
    const uint64_t s[4] = {(uint64_t)public_of(op, "s0", 0), (uint64_t)public_of(op, "s1", 0), (uint64_t)public_of(op, "s2", 0),
                           (uint64_t)public_of(op, "s3", 0)};
    FOR_EACH_ROW(op->out, i1, i2, i3)
    for (uint64_t i0 = 0; i0 < n[0]; i0++)
        op->to[public_row(op->out, i1, i2, i3) + i0] =
            public_at(op->a, i0 + n[0] - s[0], i1 + n[1] - s[1], i2 + n[2] - s[2], i3 + n[3] - s[3]);
}

static void diag(const struct public_op *op)
{
    FOR_EACH_ROW(op->out, i1, i2, i3)
    for (uint64_t i0 = 0; i0 < op->out->ne[0]; i0++)
        op->to[public_row(op->out, i1, i2, i3) + i0] = i0 == i1 ? public_at(op->a, i0, 0, i2, i3) : 0;
}

static void arange(const struct public_op *op)
{
    for (uint64_t i = 0; i < op->out->count; i++)
        op->to[i] = public_of(op, "start", 0) + (double)i * public_of(op, "step", 1);
}

static void timestep(const struct public_op *op)
{
    const uint64_t dim = op->out->ne[0], middle = dim / 2;
    for (uint64_t row = 0; row < op->out->ne[1]; row++)
        for (uint64_t i = 0; i < dim; i++) {
            const double rate = exp(-log(public_of(op, "max_period", 1)) * (double)(i % middle) / (double)middle);
            const double angle = op->a->value[row] * rate;
            op->to[row * dim + i] = i < middle ? cos(angle) : sin(angle);
        }
}

static void count_equal(const struct public_op *op)
{
    op->to[0] = 0;
    for (uint64_t i = 0; i < op->a->count; i++)
        op->to[0] += op->a->value[i] == op->b->value[i];
}

/* ---- sequences ---- */

/* src0 is time, channel, sequence; src1 taps, channel; the output channel, time, sequence. */
static void ssm_conv(const struct public_op *op)
{
    FOR_EACH_ROW(op->out, t, s, unused)
    for (uint64_t c = 0; c < op->out->ne[0]; c++) {
        double sum = 0;
        for (uint64_t k = 0; k < op->b->ne[0]; k++)
            sum += public_at(op->a, t + k, c, s, 0) * public_at(op->b, k, c, 0, 0);
        op->to[public_row(op->out, t, s, unused) + c] = sum;
    }
}

/* Walsh-Hadamard: the sign of a product is the parity of the bits that both indices have. */
static void fwht(const struct public_op *op)
{
    const uint64_t n = op->a->ne[0];
    for (uint64_t row = 0; row < op->a->ne[1]; row++)
        for (uint64_t i = 0; i < n; i++) {
            double sum = 0;
            for (uint64_t k = 0; k < n; k++)
                sum += __builtin_parityll(i & k) ? -public_at(op->a, k, row, 0, 0) : public_at(op->a, k, row, 0, 0);
            op->to[row * n + i] = sum / sqrt((double)n);
        }
}

/* One query of one head over all keys, with what the mask adds. */
static void attend(const struct public_op *op, uint64_t head, uint64_t token, uint64_t batch, double *to)
{
    const struct public_tensor *const q = op->a, *const k = op->b, *const v = op->d;
    const uint64_t keys = k->ne[1], group = head * k->ne[2] / q->ne[2];
    double *const weight = calloc(keys, sizeof *weight), most = -INFINITY, all = 0;
    for (uint64_t i = 0; i < keys; i++) {
        for (uint64_t d = 0; d < k->ne[0]; d++)
            weight[i] += public_at(q, d, token, head, batch) * public_at(k, d, i, group, batch);
        weight[i] = weight[i] * public_of(op, "scale", 1) + (op->e ? public_at(op->e, i, token, 0, 0) : 0);
        most = weight[i] > most ? weight[i] : most;
    }
    for (uint64_t i = 0; i < keys; i++)
        all += weight[i] = exp(weight[i] - most);
    for (uint64_t d = 0; d < v->ne[0]; d++) {
        to[d] = 0;
        for (uint64_t i = 0; i < keys; i++)
            to[d] += weight[i] / all * public_at(v, d, i, group, batch);
    }
    free(weight);
}

/* ggml's order of the output: dimension, head, token, batch. */
static void attention(const struct public_op *op)
{
    FOR_EACH_ROW(op->out, head, token, batch)
    attend(op, head, token, batch, op->to + public_row(op->out, head, token, batch));
}

static const struct public_formula formulas[] = {{"im2col", im2col},
                                                 {"conv_2d", conv_2d},
                                                 {"conv_2d_dw", conv_2d_dw},
                                                 {"conv_transpose_1d", conv_transpose_1d},
                                                 {"conv_transpose_2d", conv_transpose_2d},
                                                 {"pool_2d", pool_2d},
                                                 {"pad", pad},
                                                 {"roll", roll},
                                                 {"diag", diag},
                                                 {"arange", arange},
                                                 {"timestep", timestep},
                                                 {"count_equal", count_equal},
                                                 {"ssm_conv", ssm_conv},
                                                 {"fwht", fwht},
                                                 {"attention", attention}};

bool public_reference_windows(struct public_case *c, double *expected)
{
    return public_compute(formulas, ARRAY_COUNT(formulas), c, expected);
}
