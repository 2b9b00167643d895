#include "units/ane/kernels/ane_function.h"

#include "isa/ane/ane_half.h"

#include <math.h>

/* Functions that are one table of the MAC engines: nonlinear(x * scale), followed by scale and bias of the planar engine where
 * they are not 1 and 0. Chains and constants: eiln/ane kernels. */
static const struct table_row {
    const char *table;
    double alpha;        /* the default */
    float scale;         /* before the table */
    float after, offset; /* after it */
} tables[ANE_FUNCTION_COUNT] = {
    [ANE_FUNCTION_RELU6] = {"relu6", 0, 1, 1, 0},
    [ANE_FUNCTION_LEAKY_RELU] = {"leaky_relu", 0.01, 1, 1, 0},
    [ANE_FUNCTION_GELU] = {"gelu", 0, 1, 1, 0},
    [ANE_FUNCTION_GELU_TANH] = {"gelu", 0, 1, 1, 0}, /* closer to it than the table is to gelu */
    [ANE_FUNCTION_SIGMOID] = {"sigmoid_half", 0, 1, 1, 0.5F},
    [ANE_FUNCTION_TANH] = {"tanh", 0, 1, 1, 0},
    [ANE_FUNCTION_ELU] = {"elu", 1, 1, 1, 0},
    [ANE_FUNCTION_SELU] = {"selu", 0, 1, 1, 0},
    [ANE_FUNCTION_SOFTPLUS] = {"softplus", 0, 1, 1, 0},
    [ANE_FUNCTION_SOFTSIGN] = {"softsign", 0, 1, 1, 0},
    [ANE_FUNCTION_MISH] = {"mish", 0, 1, 1, 0},
    [ANE_FUNCTION_HARD_SIGMOID] = {"hardsigmoid", 1.0 / 6, 1, 1, 0},
    [ANE_FUNCTION_HARDTANH] = {"hardtanh", 1, 1, 1, 0},
    [ANE_FUNCTION_EXP] = {"exp2", 0, 1.4423828125F /* log2 e in fp16 */, 1, 0},
    [ANE_FUNCTION_EXP2] = {"exp2", 0, 1, 1, 0},
    [ANE_FUNCTION_LOG] = {"log2", 0, 1, 0.693359375F /* ln 2 in fp16 */, 0},
    [ANE_FUNCTION_LOG2] = {"log2", 0, 1, 1, 0},
    [ANE_FUNCTION_LOG10] = {"log2", 0, 1, 0.301025390625F /* log10 2 in fp16 */, 0},
    [ANE_FUNCTION_SQRT] = {"sqrt", 0, 1, 1, 0},
    [ANE_FUNCTION_RSQRT] = {"rsqrt", 0, 1, 1, 0},
    [ANE_FUNCTION_RCP] = {"reciprocal", 0, 1, 1, 0},
    [ANE_FUNCTION_ERF] = {"erf", 0, 1, 1, 0},
    [ANE_FUNCTION_SIGN] = {"sign", 0, 1, 1, 0},
    [ANE_FUNCTION_TRUNC] = {"integer", 0, 1, 1, 0},
    [ANE_FUNCTION_FRAC] = {"fraction", 0, 1, 1, 0},
};

bool ane_function_is_binary(enum ane_function function)
{
    return function >= ANE_FUNCTION_ADD;
}

bool ane_function_takes_relu(enum ane_function function, bool number)
{
    if (number && (function == ANE_FUNCTION_MAX || function == ANE_FUNCTION_MIN))
        return false; /* a table, not the planar engine */
    return ane_function_is_binary(function) && function != ANE_FUNCTION_DIV && function != ANE_FUNCTION_POW;
}

static struct ane_view like(struct ane_builder *b, const struct ane_view *view, bool next_alone)
{
    return next_alone ? ane_build_ring(b, view->channels, view->height, view->width)
                      : ane_build_between(b, view->channels, view->height, view->width);
}

static void write_table(struct ane_builder *b, const struct table_row *row, double alpha, struct ane_view x,
                        struct ane_view result)
{
    const struct ane_element element = {.table = row->table,
                                        .alpha = alpha != 0        ? alpha
                                                 : row->alpha != 0 ? row->alpha
                                                                   : (double)NAN,
                                        .scale = row->scale};
    if (row->after == 1 && row->offset == 0) {
        ane_build_element(b, &element, x, result);
        return;
    }
    const struct ane_planar behind = {.op = ANE_PE_ADD, .scale = row->after, .bias = row->offset};
    const struct ane_view ring = like(b, &result, true);
    ane_build_element(b, &element, x, ring);
    ane_build_planar(b, &behind, ring, NULL, result);
}

static void write_named(struct ane_builder *b, const char *table, float scale, struct ane_view x, struct ane_view result)
{
    const struct ane_element element = {.table = table, .alpha = (double)NAN, .scale = scale};
    ane_build_element(b, &element, x, result);
}

static void write_op(struct ane_builder *b, enum ane_pe_op op, float pre, bool relu, struct ane_view x, struct ane_view y,
                     struct ane_view result)
{
    const struct ane_planar planar = {.op = op, .pre = pre, .relu = relu};
    ane_build_planar(b, &planar, x, &y, result);
}

/* x times a function of x that has a table. */
static void write_gated(struct ane_builder *b, enum ane_function gate, struct ane_view x, struct ane_view result)
{
    const uint32_t mark = ane_build_mark(b);
    const struct ane_view g = like(b, &result, false);
    write_table(b, &tables[gate], 0, x, g);
    write_op(b, ANE_PE_MUL, 1, false, x, g, result);
    ane_build_release(b, mark);
}

static void write_cube(struct ane_builder *b, struct ane_view x, struct ane_view result)
{
    const uint32_t mark = ane_build_mark(b);
    const struct ane_view square = like(b, &result, false);
    write_op(b, ANE_PE_MUL, 1, false, x, x, square);
    write_op(b, ANE_PE_MUL, 1, false, square, x, result);
    ane_build_release(b, mark);
}

/* trunc(x), and a step where the fraction has the deciding sign: ceil adds 1 above 0, floor subtracts 1 below. */
static void write_whole(struct ane_builder *b, bool up, struct ane_view x, struct ane_view result)
{
    const uint32_t mark = ane_build_mark(b);
    const struct ane_view fraction = like(b, &result, false), step = like(b, &result, false), whole = like(b, &result, false);
    write_named(b, "fraction", 1, x, fraction);
    write_named(b, "step", up ? 1 : -1, fraction, step);
    write_named(b, "integer", 1, x, whole);
    write_op(b, ANE_PE_ADD, up ? 1 : -1, false, step, whole, result);
    ane_build_release(b, mark);
}

static void write_quotient(struct ane_builder *b, struct ane_view x, struct ane_view y, struct ane_view result)
{
    const uint32_t mark = ane_build_mark(b);
    const struct ane_view inverse = like(b, &result, false);
    write_named(b, "reciprocal", 1, y, inverse);
    write_op(b, ANE_PE_MUL, 1, false, inverse, x, result);
    ane_build_release(b, mark);
}

/* 2^(y log2 x) */
static void write_power(struct ane_builder *b, struct ane_view x, struct ane_view y, struct ane_view result)
{
    const uint32_t mark = ane_build_mark(b);
    const struct ane_view log = like(b, &result, false), product = like(b, &result, false);
    write_named(b, "log2", 1, x, log);
    write_op(b, ANE_PE_MUL, 1, false, log, y, product);
    write_named(b, "exp2", 1, product, result);
    ane_build_release(b, mark);
}

/* The larger or smaller of x and a number: a table of tails alone, whose clamp is the number. */
static void write_bound(struct ane_builder *b, bool largest, float number, struct ane_view x, struct ane_view result)
{
    const uint16_t bits = ane_half_bits((double)number), one = ane_half_bits(1), endless = ane_half_bits((double)INFINITY);
    const struct ane_table table = {.low = largest ? bits : endless | 0x8000,
                                    .below = largest ? bits : endless | 0x8000,
                                    .high = largest ? endless : bits,
                                    .above = largest ? endless : bits,
                                    .left_slope = one,
                                    .right_slope = one,
                                    .spacing_log2 = 0x40,
                                    .mode = ANE_TABLE_CENTRED};
    const struct ane_element element = {.own = &table};
    ane_build_element(b, &element, x, result);
}

static void write_number(struct ane_builder *b, const struct ane_function_call *call, struct ane_view x, struct ane_view result)
{
    struct ane_planar planar = {.op = ANE_PE_ADD, .scale = 1, .relu = call->then_relu};
    switch (call->function) {
    case ANE_FUNCTION_ADD: planar.bias = call->number; break;
    case ANE_FUNCTION_SUB: planar.bias = -call->number; break;
    case ANE_FUNCTION_MUL: planar.scale = call->number; break;
    case ANE_FUNCTION_DIV: planar.scale = 1 / call->number; break;
    case ANE_FUNCTION_MAX:
    case ANE_FUNCTION_MIN: write_bound(b, call->function == ANE_FUNCTION_MAX, call->number, x, result); return;
    default: ane_build_fail(b, "pow takes no number, but a second array"); return;
    }
    planar.constant = planar.scale == 0;
    ane_build_planar(b, &planar, x, NULL, result);
}

static void write_binary(struct ane_builder *b, const struct ane_function_call *call, struct ane_view x, struct ane_view y,
                         struct ane_view result)
{
    switch (call->function) {
    case ANE_FUNCTION_ADD: write_op(b, ANE_PE_ADD, 1, call->then_relu, x, y, result); break;
    case ANE_FUNCTION_SUB: write_op(b, ANE_PE_ADD, -1, call->then_relu, y, x, result); break;
    case ANE_FUNCTION_MUL: write_op(b, ANE_PE_MUL, 1, call->then_relu, x, y, result); break;
    case ANE_FUNCTION_MAX: write_op(b, ANE_PE_MAX, 1, call->then_relu, x, y, result); break;
    case ANE_FUNCTION_MIN: write_op(b, ANE_PE_MIN, 1, call->then_relu, x, y, result); break;
    case ANE_FUNCTION_DIV: write_quotient(b, x, y, result); break;
    default: write_power(b, x, y, result); break;
    }
}

static void write_unary(struct ane_builder *b, const struct ane_function_call *call, struct ane_view x, struct ane_view result)
{
    const struct ane_element relu = {.relu = true};
    const struct ane_planar absolute = {.op = ANE_PE_ADD, .absolute = true}, negative = {.op = ANE_PE_ADD, .scale = -1};
    switch (call->function) {
    case ANE_FUNCTION_RELU: ane_build_element(b, &relu, x, result); break;
    case ANE_FUNCTION_SILU: write_gated(b, ANE_FUNCTION_SIGMOID, x, result); break;
    case ANE_FUNCTION_HARD_SWISH: write_gated(b, ANE_FUNCTION_HARD_SIGMOID, x, result); break;
    case ANE_FUNCTION_ABS: ane_build_planar(b, &absolute, x, NULL, result); break;
    case ANE_FUNCTION_NEG: ane_build_planar(b, &negative, x, NULL, result); break;
    case ANE_FUNCTION_SQUARE: write_op(b, ANE_PE_MUL, 1, false, x, x, result); break;
    case ANE_FUNCTION_CUBE: write_cube(b, x, result); break;
    case ANE_FUNCTION_FLOOR: write_whole(b, false, x, result); break;
    case ANE_FUNCTION_CEIL: write_whole(b, true, x, result); break;
    case ANE_FUNCTION_SIN:
    case ANE_FUNCTION_COS:
        ane_build_limit(b,
                        b->request->limits.sin_cos ? "sin and cos: how descriptors of %s ask for them is not known"
                                                   : "sin and cos: %s has none, they come with H15",
                        ane_build_generation(b));
        break;
    default: write_table(b, &tables[call->function], call->alpha, x, result); break;
    }
}

void ane_build_function(struct ane_builder *b, const struct ane_function_call *call, struct ane_view x, const struct ane_view *y,
                        struct ane_view result)
{
    if (b->failed)
        return;
    if (!ane_function_is_binary(call->function))
        write_unary(b, call, x, result);
    else if (y)
        write_binary(b, call, x, *y, result);
    else
        write_number(b, call, x, result);
}

void ane_build_activated(struct ane_builder *b, const struct ane_conv *conv, int64_t activation, struct ane_view x,
                         struct ane_view result)
{
    ane_build_activated_beside(b, b->request->limits.l2_bytes / 2, conv, activation, x, result);
}

void ane_build_activated_beside(struct ane_builder *b, uint64_t beside, const struct ane_conv *conv, int64_t activation,
                                struct ane_view x, struct ane_view result)
{
    const struct ane_function_call call = {.function = (enum ane_function)(activation - 1)};
    const uint32_t mark = ane_build_mark(b);
    struct ane_conv own = *conv;
    own.relu = activation == ANE_ACTIVATION_RELU;
    if (activation <= ANE_ACTIVATION_RELU) {
        ane_build_conv(b, &own, x, result);
        return;
    }
    const struct ane_view sums = ane_build_between_beside(b, beside, result.channels, result.height, result.width);
    ane_build_conv(b, &own, x, sums);
    ane_build_function(b, &call, sums, NULL, result);
    ane_build_release(b, mark);
}
