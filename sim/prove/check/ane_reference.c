#include "sim/prove/check/ane_reference.h"

#include "isa/ane/ane_coefficients.h"
#include "isa/array_count.h"
#include "sim/workload/element_type.h"

#include <math.h>
#include <string.h>

/* ---- element by element ---- */

static bool run_elements(const struct ane_reference *self, struct ane_reference_case *c)
{
    if (c->results != c->count[0] || (self->inputs > 1 && c->results != c->count[1]))
        return false;
    for (uint64_t i = 0; i < c->results; i++) {
        c->want[i] = self->one(c->input[0][i], self->inputs > 1 ? c->input[1][i] : 0, c->operation->alpha, c->operation->bias);
        c->allowed[i] = self->relative * fabs(c->want[i]) + self->absolute;
    }
    return true;
}

/* Arguments that an operation does not have are NAN. */
static double or_else(double argument, double usual)
{
    return isnan(argument) ? usual : argument;
}

#define ONE(name, value)                                                                                                         \
    static double one_##name(double x, double y, double alpha, double bias)                                                      \
    {                                                                                                                            \
        (void)y;                                                                                                                 \
        (void)alpha;                                                                                                             \
        (void)bias;                                                                                                              \
        return value;                                                                                                            \
    }

ONE(copy, x)
ONE(scale, x *or_else(alpha, 1) + or_else(bias, 0))
ONE(abs, fabs(x))
ONE(add, x + y)
ONE(sub, x - y)
ONE(mul, x *y)
ONE(div, x / y)
ONE(max, fmax(x, y))
ONE(min, fmin(x, y))
ONE(average, (x + y) / 2)
ONE(square, x *x)
ONE(cube, x *x *x)
ONE(relu, fmax(x, 0))
ONE(relu6, fmin(fmax(x, 0), 6))
ONE(leaky, x >= 0 ? x : x * or_else(alpha, 0.01))
ONE(elu, x >= 0 ? x : or_else(alpha, 1) * expm1(x))
/* the standard constants (Klambauer et al., Self-normalizing neural networks) */
ONE(selu, 1.0507009873554805 * (x >= 0 ? x : 1.6732632423543772 * expm1(x)))
ONE(hardtanh, fmin(fmax(x, -or_else(alpha, 1)), or_else(alpha, 1)))
ONE(hardsigmoid, fmin(fmax(or_else(alpha, 0.2) * x + 0.5, 0), 1))
ONE(hardswish, x *fmin(fmax(or_else(alpha, 1.0 / 6) * x + 0.5, 0), 1))
ONE(tanh, tanh(x))
ONE(erf, erf(x))
ONE(sigmoid, 1 / (1 + exp(-x)))
ONE(sigmoid_half, 1 / (1 + exp(-x)) - 0.5)
ONE(silu, x / (1 + exp(-x)))
ONE(softplus, log1p(exp(x)))
ONE(mish, x *tanh(log1p(exp(x))))
ONE(softsign, x / (1 + fabs(x)))
ONE(gelu, x / 2 * (1 + erf(x * M_SQRT1_2)))
ONE(exp, exp(x))
ONE(exp2, exp2(x))
ONE(log, log(x))
ONE(log2, log2(x))
ONE(log10, log10(x))
ONE(sqrt, sqrt(x))
ONE(rsqrt, 1 / sqrt(x + or_else(alpha, 0)))
ONE(reciprocal, 1 / (x + or_else(alpha, 0)))
ONE(sign, (x > 0) - (x < 0))
ONE(step, x > 0)
ONE(atan, atan(x))
ONE(ceil, ceil(x))
ONE(integer, trunc(x))
ONE(fraction, x - trunc(x))
/* eiln/ane frac.bin: y is the integer part of |x|, computed by another task */
ONE(frac, x - y * ((x > 0) - (x < 0)))

/* ---- rows ---- */

static double largest(const double *row, uint64_t n)
{
    double best = row[0];
    for (uint64_t i = 1; i < n; i++)
        best = fmax(best, row[i]);
    return best;
}

/* Sign -1 gives softmin. */
static void softmax_row(const double *x, double *y, uint64_t n, double sign)
{
    double sum = 0, top = -INFINITY;
    for (uint64_t i = 0; i < n; i++)
        top = fmax(top, sign * x[i]);
    for (uint64_t i = 0; i < n; i++)
        sum += y[i] = exp(sign * x[i] - top);
    for (uint64_t i = 0; i < n; i++)
        y[i] /= sum;
}

static void log_softmax_row(const double *x, double *y, uint64_t n)
{
    const double top = largest(x, n);
    double sum = 0;
    for (uint64_t i = 0; i < n; i++)
        sum += exp(x[i] - top);
    for (uint64_t i = 0; i < n; i++)
        y[i] = x[i] - top - log(sum);
}

/* Scales the row to length 1. */
static void norm_row(const double *x, double *y, uint64_t n)
{
    double squares = 0;
    for (uint64_t i = 0; i < n; i++)
        squares += x[i] * x[i];
    for (uint64_t i = 0; i < n; i++)
        y[i] = x[i] / sqrt(squares);
}

/* Errors of a row are relative to its largest result, since all share the same sum. */
static bool run_rows(const struct ane_reference *self, struct ane_reference_case *c)
{
    if (c->results != c->count[0] || !c->width || c->results % c->width)
        return false;
    for (uint64_t at = 0; at < c->results; at += c->width) {
        const double *const x = c->input[0] + at;
        double *y = c->want + at, top = 0;
        if (strcmp(self->name, "logsoftmax") == 0)
            log_softmax_row(x, y, c->width);
        else if (strcmp(self->name, "norm") == 0)
            norm_row(x, y, c->width);
        else
            softmax_row(x, y, c->width, strcmp(self->name, "softmin") == 0 ? -1 : 1);
        for (uint64_t i = 0; i < c->width; i++)
            top = fmax(top, fabs(y[i]));
        for (uint64_t i = 0; i < c->width; i++)
            c->allowed[at + i] = self->relative * top + self->absolute;
    }
    return true;
}

/* Reduces each row to one result. */
static bool run_reduction(const struct ane_reference *self, struct ane_reference_case *c)
{
    const double alpha = strcmp(self->name, "reduce_sum") == 0 ? 1 : or_else(c->operation->alpha, 1.0 / (double)c->width);
    if (!c->width || c->count[0] != c->results * c->width)
        return false;
    for (uint64_t row = 0; row < c->results; row++) {
        const double *const x = c->input[0] + row * c->width;
        double sum = 0, magnitude = 0;
        for (uint64_t i = 0; i < c->width; i++) {
            sum += x[i] * alpha;
            magnitude += fabs(x[i] * alpha);
        }
        const bool max = strcmp(self->name, "reduce_max") == 0;
        c->want[row] = max ? largest(x, c->width) : sum;
        c->allowed[row] = self->relative * (max ? fabs(c->want[row]) : magnitude) + self->absolute;
    }
    return true;
}

/* ---- convolution ---- */

struct convolution {
    const struct ane_task *t;
    const struct ane_reference_case *c;
    const struct ane_weights *weights; /* NULL when weights are read from the banks as they are */
    const uint8_t *banks;
    uint32_t channels; /* inputs per output channel */
};

/* fp16 denormals count as zero if the generation says so. */
static double operand(const struct convolution *v, double x)
{
    return v->c->numeric->mac_flush_denormals && fabs(x) < 0x1p-14 ? 0 : x;
}

/* With one output channel per bank the order is known: the bias, then input channels, rows, columns. */
static double weight(const struct convolution *v, uint32_t out, uint64_t number)
{
    if (v->weights)
        return element_read(ELEMENT_F16, (const uint8_t *)(v->weights->weight + out * v->weights->per_channel + number));
    return element_read(ELEMENT_F16, v->banks + v->t->bank[out].base + 2 * (number + v->t->bias));
}

static double bias(const struct convolution *v, uint32_t out)
{
    if (!v->t->bias)
        return 0;
    return v->weights ? element_read(ELEMENT_F16, (const uint8_t *)(v->weights->bias + out))
                      : element_read(ELEMENT_F16, v->banks + v->t->bank[out].base);
}

static void one_result(const struct convolution *v, uint32_t out, uint32_t y, uint32_t x, double *sum, double *scale)
{
    const struct ane_task *const t = v->t;
    const uint32_t first = t->depthwise ? out : out / (t->channels_out / t->groups) * v->channels;
    *sum = bias(v, out);
    *scale = fabs(*sum);
    for (uint32_t k = 0; k < v->channels; k++)
        for (uint32_t r = 0; r < t->kernel_height; r++)
            for (uint32_t s = 0; s < t->kernel_width; s++) {
                const int64_t row = (int64_t)y * t->stride_y + r - t->pad_top,
                              column = (int64_t)x * t->stride_x + s - t->pad_left;
                if (row < 0 || column < 0 || row >= t->height_in || column >= t->width_in)
                    continue;
                const uint64_t at = ((uint64_t)(first + k) * t->height_in + (uint64_t)row) * t->width_in + (uint64_t)column;
                const double product = operand(v, v->c->input[0][at]) *
                                       operand(v, weight(v, out, ((uint64_t)k * t->kernel_height + r) * t->kernel_width + s));
                *sum += product;
                *scale += fabs(product);
            }
    *sum = (*sum + t->acc_bias) * t->post_scale;
    *scale *= fabs((double)t->post_scale);
}

static void convolve(const struct ane_reference *self, const struct convolution *v, struct ane_reference_case *c)
{
    const struct ane_task *const t = v->t;
    uint64_t at = 0;
    for (uint32_t out = 0; out < t->channels_out; out++)
        for (uint32_t y = 0; y < t->height_out; y++)
            for (uint32_t x = 0; x < t->width_out; x++, at++) {
                double scale;
                one_result(v, out, y, x, &c->want[at], &scale);
                c->allowed[at] = self->relative * scale + self->absolute;
            }
}

static bool banks_are_plain(const struct ane_task *t)
{
    if (t->channels_out > ANE_BANKS || t->kernel_format != ANE_KERNEL_F16 || t->palette_bits || t->sparse)
        return false;
    for (uint32_t i = 0; i < t->channels_out; i++)
        if (!t->bank[i].enabled)
            return false;
    return true;
}

static bool run_convolution(const struct ane_reference *self, struct ane_reference_case *c)
{
    const struct ane_program *const p = c->program;
    const struct ane_task *const t = &p->task[c->operation->task];
    struct convolution v = {.t = t, .c = c, .banks = p->bytes + p->const_offset};
    struct ane_weights weights = {.weight = NULL};
    struct isa_error unused;
    if (t->engine != ANE_ENGINE_NE || t->ne_op != ANE_NE_CONVOLUTION || t->step_x > 1 || t->step_y > 1 || !t->groups ||
        t->channels_out % t->groups || c->results != (uint64_t)t->channels_out * t->height_out * t->width_out ||
        c->count[0] != (uint64_t)t->channels_in * t->height_in * t->width_in)
        return false;
    if (t->depthwise && t->channels_in != t->channels_out)
        return false;
    v.channels = t->depthwise ? 1 : t->channels_in / t->groups;
    const uint64_t bytes = 2 * ((uint64_t)v.channels * t->kernel_height * t->kernel_width + t->bias);
    for (uint32_t i = 0; i < t->channels_out && banks_are_plain(t); i++)
        if (t->bank[i].base + bytes > p->const_bytes)
            return false;
    if (!banks_are_plain(t)) {
        if (!ane_weights_unpack(t, v.banks, p->const_bytes, &weights, &unused))
            return false;
        v.weights = &weights;
    }
    convolve(self, &v, c);
    ane_weights_free(&weights);
    return true;
}

/* ---- products of two inputs ---- */

/* x has channels of pixels; y has a channel of x along its width and an output channel per plane. */
static bool run_product(const struct ane_reference *self, struct ane_reference_case *c)
{
    const struct ane_task *const t = &c->program->task[c->operation->task];
    const uint64_t k = t->channels_in, pixels = (uint64_t)t->height_in * t->width_in, m = t->channels_out;
    const bool flush = c->numeric->mac_flush_denormals != 0;
    if (c->count[0] != k * pixels || c->count[1] != k * m || c->results != m * pixels)
        return false;
    for (uint64_t out = 0; out < m; out++)
        for (uint64_t p = 0; p < pixels; p++) {
            double sum = 0, scale = 0;
            for (uint64_t i = 0; i < k; i++) {
                const double x = c->input[0][i * pixels + p], y = c->input[1][out * k + i];
                const double product = flush && (fabs(x) < 0x1p-14 || fabs(y) < 0x1p-14) ? 0 : x * y;
                sum += product;
                scale += fabs(product);
            }
            c->want[out * pixels + p] = sum * (double)t->post_scale;
            c->allowed[out * pixels + p] = self->relative * scale * fabs((double)t->post_scale) + self->absolute;
        }
    return true;
}

/* ---- two inputs in one output ---- */

/* In the order of their places in the output. */
static bool run_concat(const struct ane_reference *self, struct ane_reference_case *c)
{
    uint64_t base[2] = {0, 0};
    (void)self;
    for (size_t i = 0; i < c->program->count; i++)
        for (unsigned k = 0; k < 2; k++)
            if (c->program->task[i].source.bar == c->operation->input[k])
                base[k] = c->program->task[i].result.base;
    const unsigned first = base[1] < base[0];
    if (c->operation->inputs != 2 || c->results != c->count[0] + c->count[1])
        return false;
    memcpy(c->want, c->input[first], c->count[first] * sizeof *c->want);
    memcpy(c->want + c->count[first], c->input[1 - first], c->count[1 - first] * sizeof *c->want);
    memset(c->allowed, 0, c->results * sizeof *c->allowed);
    return true;
}

/* ---- windows ---- */

static bool run_pool(const struct ane_reference *self, struct ane_reference_case *c)
{
    const struct ane_task *const t = &c->program->task[c->operation->task];
    const double sign = strcmp(self->name, "minpool") == 0 ? -1 : 1;
    if (c->count[0] != (uint64_t)t->channels_in * t->height_in * t->width_in || t->channels_in != t->channels_out ||
        c->results != (uint64_t)t->channels_out * t->height_out * t->width_out)
        return false;
    for (uint64_t at = 0; at < c->results; at++) {
        const uint32_t x = (uint32_t)(at % t->width_out), y = (uint32_t)(at / t->width_out % t->height_out);
        const double *const plane = c->input[0] + at / t->width_out / t->height_out * t->height_in * t->width_in;
        double best = -INFINITY;
        for (uint32_t r = 0; r < t->kernel_height; r++)
            for (uint32_t s = 0; s < t->kernel_width; s++) {
                const int64_t row = (int64_t)y * t->stride_y + r - t->pad_top,
                              column = (int64_t)x * t->stride_x + s - t->pad_left;
                if (row >= 0 && column >= 0 && row < t->height_in && column < t->width_in)
                    best = fmax(best, sign * plane[row * t->width_in + column]);
            }
        c->want[at] = sign * best;
        c->allowed[at] = self->relative * fabs(best) + self->absolute;
    }
    return true;
}

/* ---- the table ---- */

/* A result rounded once to fp16 is within 2^-11, and each further operation adds as much. Tables are piecewise linear: they
 * differ from the function by spacing^2 / 8 times its largest second derivative. */
#define ROUNDED 0x1p-11
#define TINY    0x1p-24
#define E(name, inputs, low, high, low2, high2, relative, absolute, function)                                                    \
    {                                                                                                                            \
        name, inputs, {{low, high}, {low2, high2}}, relative, absolute, run_elements, one_##function                             \
    }
#define ONE_INPUT(name, low, high, relative, absolute, function) E(name, 1, low, high, 0, 0, relative, absolute, function)

static const struct ane_reference references[] = {
    ONE_INPUT("copy", -8, 8, 0, 0, copy),
    ONE_INPUT("scale", -8, 8, 2 * ROUNDED, 8 * ROUNDED, scale),
    ONE_INPUT("abs", -8, 8, 0, 0, abs),
    E("add", 2, -4, 4, -4, 4, ROUNDED, TINY, add),
    E("sub", 2, -4, 4, -4, 4, ROUNDED, TINY, sub),
    E("mul", 2, -4, 4, -4, 4, ROUNDED, TINY, mul),
    E("div", 2, -4, 4, 0.5, 4, 4 * ROUNDED, TINY, div),
    E("max", 2, -4, 4, -4, 4, 0, 0, max),
    E("min", 2, -4, 4, -4, 4, 0, 0, min),
    E("ave", 2, -4, 4, -4, 4, 2 * ROUNDED, TINY, average),
    ONE_INPUT("square", -4, 4, ROUNDED, TINY, square),
    ONE_INPUT("cube", -4, 4, 2 * ROUNDED, 2 * TINY, cube),
    ONE_INPUT("relu", -4, 4, 0, 0, relu),
    ONE_INPUT("relu6", -8, 8, ROUNDED, 0, relu6),
    ONE_INPUT("leaky_relu", -4, 4, 3 * ROUNDED, 0x1p-20, leaky),
    ONE_INPUT("elu", -4, 4, 2 * ROUNDED, 0.0085, elu),   /* knots at distance 1/4, second derivative at most 1 */
    ONE_INPUT("selu", -4, 4, 2 * ROUNDED, 0.0145, selu), /* 1/4, 1.76 */
    ONE_INPUT("hardtanh", -4, 4, ROUNDED, 0, hardtanh),
    ONE_INPUT("hardsigmoid", -4, 4, 2 * ROUNDED, ROUNDED, hardsigmoid),
    ONE_INPUT("hardswish", -4, 4, 4 * ROUNDED, 4 * ROUNDED, hardswish),
    ONE_INPUT("tanh", -6, 6, ROUNDED, 2e-3, tanh),         /* 1/8, 0.77 */
    ONE_INPUT("erf", -4, 4, ROUNDED, 2.5e-3, erf),         /* 1/8, 0.97 */
    ONE_INPUT("sigmoid", -8, 8, ROUNDED, 3.5e-3, sigmoid), /* 1/2 in older compilers, 0.096 */
    ONE_INPUT("sigmoid_half", -8, 8, ROUNDED, 1e-3, sigmoid_half),
    ONE_INPUT("silu", -8, 8, 2 * ROUNDED, 1.8e-2, silu),         /* 1/2, 0.5 */
    ONE_INPUT("softplus", -8, 8, 2 * ROUNDED, 1e-2, softplus),   /* 1/2, 0.25 */
    ONE_INPUT("mish", -6, 6, 2 * ROUNDED, 1e-2, mish),           /* 1/4, 0.65 */
    ONE_INPUT("softsign", -6, 6, 2 * ROUNDED, 1.8e-2, softsign), /* 1/4, 2 */
    ONE_INPUT("gelu", -4, 4, 2 * ROUNDED, 8e-3, gelu),           /* 1/4, 0.8 */
    ONE_INPUT("exp", -4, 4, 8 * ROUNDED, 1e-5, exp),
    ONE_INPUT("exp2", -6, 6, 2 * ROUNDED, 1e-5, exp2),
    ONE_INPUT("log", 0.05, 16, 2 * ROUNDED, 1e-3, log),
    ONE_INPUT("log2", 0.05, 16, 2 * ROUNDED, 1e-3, log2),
    ONE_INPUT("log10", 0.05, 16, 3 * ROUNDED, 1e-3, log10),
    ONE_INPUT("sqrt", 0.01, 64, 2 * ROUNDED, 1e-4, sqrt),
    ONE_INPUT("rsqrt", 0.25, 64, 3 * ROUNDED, 1e-4, rsqrt),
    ONE_INPUT("reciprocal", 0.25, 16, 3 * ROUNDED, 1e-4, reciprocal),
    ONE_INPUT("sign", -4, 4, 0, 0, sign),
    ONE_INPUT("step", -4, 4, 0, 0, step),
    ONE_INPUT("atan", -8, 8, 2 * ROUNDED, 4e-2, atan), /* 2 beyond |x| = 2 (eiln/ane atan.bin) */
    ONE_INPUT("ceil", -8, 8, 0, 0, ceil),
    ONE_INPUT("integer", -8, 8, 0, 0, integer),
    ONE_INPUT("fraction", -8, 8, ROUNDED, 1e-3, fraction),
    E("frac", 2, -8, 8, 0, 8, ROUNDED, TINY, frac),
    {"softmax", 1, {{-4, 4}, {0, 0}}, 16 * ROUNDED, 1e-6, run_rows, NULL},
    {"softmin", 1, {{-4, 4}, {0, 0}}, 16 * ROUNDED, 1e-6, run_rows, NULL},
    {"logsoftmax", 1, {{-4, 4}, {0, 0}}, 8 * ROUNDED, 1e-3, run_rows, NULL},
    {"norm", 1, {{-4, 4}, {0, 0}}, 16 * ROUNDED, TINY, run_rows, NULL},
    {"reduce_sum", 1, {{-1, 1}, {0, 0}}, 4 * ROUNDED, TINY, run_reduction, NULL},
    {"reduce_mean", 1, {{-1, 1}, {0, 0}}, 4 * ROUNDED, TINY, run_reduction, NULL},
    {"reduce_max", 1, {{-4, 4}, {0, 0}}, 0, 0, run_reduction, NULL},
    {"concat", 2, {{-4, 4}, {-4, 4}}, 0, 0, run_concat, NULL},
    {"maxpool", 1, {{-4, 4}, {0, 0}}, 0, 0, run_pool, NULL},
    {"minpool", 1, {{-4, 4}, {0, 0}}, 0, 0, run_pool, NULL},
    /* Products are added in groups of four by a short adder (sbryngelson/ane-guide, chapter 3): twelve bits of the largest in the
     * group. */
    {"conv2d", 1, {{-1, 1}, {0, 0}}, 8 * ROUNDED, TINY, run_convolution, NULL},
    {"matmul", 2, {{-1, 1}, {-1, 1}}, 8 * ROUNDED, TINY, run_product, NULL},
};

const struct ane_reference *ane_reference_find(const char *operation)
{
    for (size_t i = 0; i < ARRAY_COUNT(references); i++)
        if (strcmp(operation, references[i].name) == 0)
            return &references[i];
    return NULL;
}

/* The slope of activations is at most 1.7 (selu), so errors before them grow by no more than that. */
static bool run_activation(struct ane_reference_case *c)
{
    const struct ane_operation *const o = c->operation;
    const struct ane_reference *const r = ane_reference_find(o->activation);
    if (!r || !r->one || r->inputs > 1)
        return false;
    for (uint64_t i = 0; i < c->results; i++) {
        c->want[i] = r->one(c->want[i], 0, o->activation_alpha, 0);
        c->allowed[i] = 1.8 * c->allowed[i] + r->relative * fabs(c->want[i]) + r->absolute;
    }
    return true;
}

bool ane_reference_run(const struct ane_reference *r, struct ane_reference_case *c)
{
    return r->run(r, c) && (!c->operation->activation || run_activation(c));
}
