/* Powers of any numbers: of magnitudes by the kernel, with the sign that whole powers give; of whole numbers by products. */
#include "sim/run/lower/lowering.h"

#include <math.h>
#include <string.h>

/* An operand of numbers or whole numbers as numbers in f32, as large as the result. */
static const float *as_numbers(struct lowering *l, const struct net_array *x)
{
    const struct net_array *const out = l->out[0];
    struct net_array number = *x;
    if (x->type == NET_U32 || x->type == NET_U64)
        for (int64_t i = 0; i < x->count; i++)
            if (net_array_double(x, i) >= 0x1p31) {
                lowering_leave(l, "powers of 2^31 and more");
                return NULL;
            }
    if (x->type != NET_F32) {
        const enum net_type type = x->type == NET_U32 ? NET_I32 : x->type == NET_U64 ? NET_I64 : x->type;
        number.type = NET_F32;
        number.data = lowering_scratch(l, x->count);
        lowering_add_cast(l, type, x->data, NET_F32, number.data, x->count);
    }
    return x->count == out->count ? number.data : lowering_repeat(l, out, &number, lowering_scratch(l, out->count));
}

/* to = 1, or -1 where y is odd: y/2 less the whole number below it is a half then. Beyond 2^25 all are even. */
static bool add_sign(struct lowering *l, const float *y, float *to)
{
    const float most[] = {-0x1p25F, 0x1p25F, 0.5F}, sign[] = {-4, 1};
    const int64_t count = l->out[0]->count;
    float *const half = lowering_scratch(l, count);
    return half && lowering_add_chain(l, "max+min+mul", most, 3, y, half, count) &&
           lowering_add_pair(l, "sub", half, lowering_add_function(l, "floor", half, l->out[0]->count, to), count, to) &&
           lowering_add_chain(l, "mul+add", sign, 2, to, to, count);
}

static bool add_any_power(struct lowering *l, const struct net_array *a, const struct net_array *b)
{
    const struct net_array *const out = l->out[0];
    const int64_t count = out->count;
    if (!lowering_is_repeated(l, out, a) || !lowering_is_repeated(l, out, b))
        return false;
    const float *const x = as_numbers(l, a), *const y = as_numbers(l, b);
    float *const size = lowering_scratch(l, count), *const other = lowering_scratch(l, count);
    float *const none = lowering_scratch(l, 1);
    void *const below = lowering_scratch(l, count), *const whole = lowering_scratch(l, count);
    if (!x || !y || !none ||
        !lowering_add_pair(l, "pow", lowering_add_function(l, "abs", x, l->out[0]->count, size), y, count, size) ||
        !add_sign(l, y, other) || !lowering_add_pair(l, "mul", size, other, count, other))
        return false;
    *none = NAN;
    float *const floored = lowering_scratch(l, count);
    const struct lowering_choice real = {.condition = whole, .a = other, .b = none, .one_b = true, .type = NET_F32};
    const struct lowering_choice signed_one = {.condition = below, .a = other, .b = size, .type = NET_F32};
    lowering_add_comparison(l, "eq", lowering_add_function(l, "floor", y, l->out[0]->count, floored), y, count, whole);
    lowering_add_test(l, "lt", x, 0, count, below);
    return lowering_add_choice(l, &real, count, other) && lowering_add_choice(l, &signed_one, count, out->data);
}

/* Halves do not hold the limits of its parts, and the Neural Engine compares nothing: cores compute it there. */
bool lowering_add_power(struct lowering *l, const struct net_array *a, const struct net_array *b)
{
    const struct lowering_cores before = lowering_begin_cores(l);
    const bool ok = add_any_power(l, a, b);
    lowering_end_cores(l, &before);
    return ok;
}

/* ---- whole numbers ---- */

static void add_whole(struct lowering *l, const char *kernel, const char *op, const void *a, const void *b, int64_t period,
                      void *to, bool truth)
{
    const enum net_type type = l->out[0]->type;
    const int64_t count = l->out[0]->count;
    struct lowered_step *const step = lowering_step(l, to, count, "%s:%lld,op=%s,of=%s%s", kernel, (long long)count, op,
                                                    type == NET_I64 ? "i64" : "i32", period ? ",period=1" : "");
    if (step)
        step->operands.result_bytes = (uint64_t)count * (truth ? 1 : net_type_bytes(type));
    lowering_read_elements(step, type, a, count);
    lowering_read_elements(step, type, b, period ? 1 : count);
}

static void *number_of(struct lowering *l, int64_t number)
{
    void *const own = lowering_scratch(l, 2);
    if (own)
        net_write_integers(l->out[0]->type, own, 0, 1, &number);
    return own;
}

/* The bits of the largest power; 0 = a power is negative. */
static unsigned bits_of(const struct net_array *power)
{
    unsigned bits = 1;
    for (int64_t i = 0; i < power->count; i++) {
        const int64_t number = net_array_integer(power, i);
        if (number < 0)
            return 0;
        while (bits < 63 && number >> bits)
            bits++;
    }
    return bits;
}

/* An operand in the type of the result, as large as it. */
static const void *in_type(struct lowering *l, const struct net_array *x)
{
    const struct net_array *const out = l->out[0];
    struct net_array own = *x;
    if (x->type != out->type) {
        own.type = out->type;
        own.data = lowering_scratch(l, 2 * x->count);
        lowering_add_cast(l, x->type, x->data, out->type, own.data, x->count);
    }
    return x->count == out->count ? own.data : lowering_repeat(l, out, &own, lowering_scratch(l, 2 * out->count));
}

/* Squares of squares, of which those are multiplied whose bit the power has. */
bool lowering_whole_power(struct lowering *l, const struct net_array *a, const struct net_array *b)
{
    const struct net_array *const out = l->out[0];
    const bool known = (a->type == NET_I32 || a->type == NET_I64) && (b->type == NET_I32 || b->type == NET_I64);
    const unsigned bits = known ? bits_of(b) : 0;
    const int64_t room = 2 * out->count;
    if (!known || out->type != a->type || !bits)
        return lowering_leave(l, known ? "a power below 0" : "the library's Pow has no version of these types");
    if (!lowering_is_repeated(l, out, a) || !lowering_is_repeated(l, out, b))
        return false;
    const void *base = in_type(l, a), *const power = in_type(l, b);
    void *const square = lowering_scratch(l, room), *const part = lowering_scratch(l, room),
                *const bit = lowering_scratch(l, room);
    const void *const one = number_of(l, 1), *const zero = number_of(l, 0);
    for (unsigned k = 0; k < bits; k++) {
        void *const factor = k ? part : out->data;
        if (k)
            add_whole(l, "integer", "mul", base, base, 0, square, false);
        base = k ? square : base;
        add_whole(l, "integer", "and", power, number_of(l, (int64_t)1 << k), 1, part, false);
        add_whole(l, "compare", "eq", part, zero, 1, bit, true);
        const struct lowering_choice choice = {.condition = bit, .a = one, .b = base, .one_a = true, .type = out->type};
        if (!lowering_add_choice(l, &choice, out->count, factor))
            return false;
        if (k)
            add_whole(l, "integer", "mul", out->data, part, 0, out->data, false);
    }
    return lowering_holds(l);
}
