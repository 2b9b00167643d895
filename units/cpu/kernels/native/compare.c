/* Comparisons of numbers, and conversions between numbers and whole ones as C has them; compiled for each type of numbers. */
#include "units/cpu/kernels/native/whole.h"

void NAME(neon_compare)(const struct pair_call *c, uint64_t first, uint64_t end, uint64_t thread);
void NAME(neon_cast)(const struct cast_call *c, uint64_t first, uint64_t end, uint64_t thread);

#define AS_NUMBER(x) load1(&(x))
COMPARISON(compare, element, AS_NUMBER)

void NAME(neon_compare)(const struct pair_call *c, uint64_t first, uint64_t end, uint64_t thread)
{
    (void)thread;
    compare(c, (int64_t)first * BLOCK, least((int64_t)end * BLOCK, c->count));
}

static void from_number(const struct cast_call *c, int64_t i, int64_t end)
{
    const element *const x = c->x;
    if (c->to == OF_U8)
        CASTS(uint8_t, (uint8_t)(int32_t)load1(x + i))
    else if (c->to == OF_I32)
        CASTS(int32_t, (int32_t)load1(x + i))
    else if (c->to == OF_I64)
        CASTS(int64_t, (int64_t)load1(x + i))
    else if (c->to == OF_F32)
        CASTS(float, load1(x + i))
    else
        CASTS(uint8_t, load1(x + i) != 0)
}

static void to_number(const struct cast_call *c, int64_t i, int64_t end)
{
    const uint8_t *const bytes = c->x;
    const int32_t *const words = c->x;
    const int64_t *const longs = c->x;
    const float *const singles = c->x;
    element *const out = c->out;
    if (c->from == OF_U8)
        INDEPENDENT for (; i < end; i++) store1(out + i, (float)bytes[i]);
    else if (c->from == OF_I32)
        INDEPENDENT for (; i < end; i++) store1(out + i, (float)words[i]);
    else if (c->from == OF_F32)
        INDEPENDENT for (; i < end; i++) store1(out + i, singles[i]);
    else
        INDEPENDENT for (; i < end; i++) store1(out + i, (float)longs[i]);
}

void NAME(neon_cast)(const struct cast_call *c, uint64_t first, uint64_t end, uint64_t thread)
{
    (void)thread;
    (c->from == OF_NUMBER ? from_number : to_number)(c, (int64_t)first * BLOCK, least((int64_t)end * BLOCK, c->count));
}
