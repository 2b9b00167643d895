/* Numbers from and to integers with scales: what quantised networks do between products. */
#include "units/routines/operations.h"

#include <math.h>

enum routine_type operation_convert_type(const struct routine_request *r, int parameter)
{
    /* ORDER: ROUTINE_CONVERT_WORDS */
    const enum routine_type types[] = {r->type, ROUTINE_U8, ROUTINE_I8, ROUTINE_I32};
    return types[r->value[parameter]];
}

static bool is_whole(enum routine_type type)
{
    return routine_type_epsilon(type) == 0;
}

/* Integers on both sides have a zero point each, the second of which is called offset. */
static void add_points(struct routine_work *w, bool from, bool to, uint64_t channels)
{
    routine_add_operand(w, "scale", ROUTINE_F32, ROUTINE_INPUT, ROUTINE_DIMS(channels));
    routine_set_range(w, 0.01, 0.05);
    if (from) {
        routine_add_operand(w, "zero", ROUTINE_I32, ROUTINE_INPUT, ROUTINE_DIMS(channels));
        routine_set_range(w, -9, 10);
    }
    if (to) {
        routine_add_operand(w, "offset", ROUTINE_I32, ROUTINE_INPUT, ROUTINE_DIMS(channels));
        routine_set_range(w, -9, 10);
    }
}

static bool operands(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    const enum routine_type from = operation_convert_type(r, CONVERT_FROM), to = operation_convert_type(r, CONVERT_TO);
    const uint64_t count = (uint64_t)r->value[CONVERT_N], channels = (uint64_t)r->value[CONVERT_CHANNELS];
    const uint64_t inner = (uint64_t)r->value[CONVERT_INNER];
    const bool bias = r->value[CONVERT_BIAS] != 0;
    if (from == to && !is_whole(from))
        return kernel_refuse(error, "convert: from=u8|i8|i32 or to=u8|i8|i32 is missing");
    if (bias && is_whole(to))
        return kernel_refuse(error, "convert: bias=1 is for results that are no integers");
    if (!routine_check_count("convert", ROUTINE_DIMS(channels, inner), error) || count % (channels * inner))
        return kernel_refuse(error, "convert: n must be a multiple of channels times inner");
    routine_add_operand(w, "x", from, ROUTINE_INPUT, ROUTINE_DIMS(count));
    routine_set_range(w,
                      from == ROUTINE_U8 ? 0
                      : is_whole(from)   ? -128
                                         : -4,
                      from == ROUTINE_U8 ? 256
                      : is_whole(from)   ? 128
                                         : 4);
    add_points(w, is_whole(from), is_whole(to), channels);
    if (bias)
        routine_add_operand(w, "bias", ROUTINE_F32, ROUTINE_INPUT, ROUTINE_DIMS(channels));
    routine_add_operand(w, "out", to, ROUTINE_OUTPUT, ROUTINE_DIMS(count));
    w->flops = 2 * (double)count;
    w->min_bytes = (double)routine_type_bytes(from, count) + (double)routine_type_bytes(to, count);
    return true;
}

static double limited(double value, enum routine_type type)
{
    const double low = type == ROUTINE_U8 ? 0 : type == ROUTINE_I8 ? -128 : -0x1p31;
    const double high = type == ROUTINE_U8 ? 255 : type == ROUTINE_I8 ? 127 : 0x1p31 - 1;
    return value < low ? low : value > high ? high : value;
}

/* Numbers are divided by their scale, integers multiplied; what lies half way between two integers may become either where
 * float32 is not exact. */
static void reference(const struct routine_request *r, const double *const *operand, const struct routine_truth *t)
{
    const enum routine_type from = operation_convert_type(r, CONVERT_FROM), to = operation_convert_type(r, CONVERT_TO);
    const int64_t channels = r->value[CONVERT_CHANNELS], inner = r->value[CONVERT_INNER];
    const double *const offset = operand[2 + is_whole(from)], *const bias = offset;
    for (int64_t i = 0; i < r->value[CONVERT_N]; i++) {
        const int64_t c = i / inner % channels;
        const double x = operand[0][i], scale = operand[1][c];
        const double value = is_whole(from) ? (x - operand[2][c]) * scale : x / scale;
        const double small = 0x1p-22 * (fabs(value) + 1);
        if (is_whole(to)) {
            t->value[i] = limited(nearbyint(value) + offset[c], to);
            t->error[i] = fabs(fabs(value - floor(value)) - 0.5) < small ? 1 : 0;
        } else {
            t->value[i] = value + (r->value[CONVERT_BIAS] ? bias[c] : 0);
            t->error[i] = small;
        }
    }
}

const struct routine_operation operation_convert = {
    .name = "convert", .positional = 1, .operands = operands, .reference = reference};
