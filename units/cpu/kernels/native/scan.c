/* Running sums along rows, in f32, or modulo 2^32 of whole numbers; compiled for each type of elements. Rows are cut into parts
 * of 4096 elements whose sums are known first, so that threads share long rows, too; parts do not depend on their number, and nor
 * do the bytes. */
#include "units/cpu/kernels/native/neon.h"

#if defined ELEMENT_I32 || defined ELEMENT_U32
#ifdef ELEMENT_I32
#define NAME(x) x##_i32
#else
#define NAME(x) x##_u32
#endif
typedef uint32_t element, number;
typedef uint32x4_t vector;
#define load4         vld1q_u32
#define store4        vst1q_u32
#define spread        vdupq_n_u32
#define plus          vaddq_u32
#define behind        vextq_u32
#define lane          vgetq_lane_u32
#define load1(at)     (*(at))
#define store1(at, x) (*(at) = (x))
#else
typedef float number;
typedef float32x4_t vector;
#define spread vdupq_n_f32
#define plus   vaddq_f32
#define behind vextq_f32
#define lane   vgetq_lane_f32
#endif

/* ORDER: cpu_kernel_scan.c. */
struct scan {
    const element *x;
    element *out;
    number *sums; /* of each part */
    int64_t columns, exclusive;
};
void NAME(neon_scan_sums)(const struct scan *s, uint64_t first, uint64_t end, uint64_t thread);
void NAME(neon_scan)(const struct scan *s, uint64_t first, uint64_t end, uint64_t thread);

enum { PART = 4096 };

/* Sums of one, two, three and four of the vector. */
static inline vector running(vector x)
{
    const vector zero = spread(0), pairs = plus(x, behind(zero, x, 3));
    return plus(pairs, behind(zero, pairs, 2));
}

/* Scans up to a part and returns its sum with `before`; out NULL = only that. */
static number scan_part(const element *x, element *out, int64_t count, number before, bool exclusive)
{
    vector carry = spread(before);
    int64_t i = 0;
    for (; i + 4 <= count; i += 4) {
        const vector sums = plus(carry, running(load4(x + i)));
        if (out)
            store4(out + i, exclusive ? behind(carry, sums, 3) : sums);
        carry = spread(lane(sums, 3));
    }
    number sum = lane(carry, 0);
    for (; i < count; i++) {
        const number next = sum + load1(x + i);
        if (out)
            store1(out + i, exclusive ? sum : next);
        sum = next;
    }
    return sum;
}

static int64_t parts_of(const struct scan *s)
{
    return (s->columns + PART - 1) / PART;
}

/* Items are parts of rows. */
void NAME(neon_scan_sums)(const struct scan *s, uint64_t first, uint64_t end, uint64_t thread)
{
    const int64_t parts = parts_of(s);
    (void)thread;
    for (int64_t at = (int64_t)first; at < (int64_t)end; at++) {
        const int64_t from = at % parts * PART;
        s->sums[at] = scan_part(s->x + at / parts * s->columns + from, 0, least(PART, s->columns - from), 0, false);
    }
}

void NAME(neon_scan)(const struct scan *s, uint64_t first, uint64_t end, uint64_t thread)
{
    const int64_t parts = parts_of(s);
    (void)thread;
    for (int64_t at = (int64_t)first; at < (int64_t)end; at++) {
        const int64_t from = at % parts * PART, place = at / parts * s->columns + from;
        number before = 0;
        for (int64_t i = at - at % parts; i < at; i++)
            before += s->sums[i];
        scan_part(s->x + place, s->out + place, least(PART, s->columns - from), before, s->exclusive != 0);
    }
}
