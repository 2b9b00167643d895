/* Chains of functions over arrays, in f32; compiled for each type of elements. Blocks of the arrays pass through the whole chain
 * while they lie in the first cache. */
#include "units/cpu/kernels/native/neon.h"
#include "units/cpu/kernels/native/neon_function.h"
#include "units/kernel_function.h"

enum { BLOCK = 512, CHAIN = 20, ARRAYS = 8 };

/* ORDER: cpu_kernel_elementwise.c. */
struct elementwise {
    element *out;
    const element *in[ARRAYS];
    int64_t count, period; /* period: elements of the further arrays when they repeat, otherwise 0 */
    double alpha;
    uint64_t length, function[CHAIN];
};
void NAME(neon_elementwise)(const struct elementwise *e, uint64_t first, uint64_t end, uint64_t thread);

/* Elements `at` .. of an array that repeats after less than a block. */
static const float *repeat(const element *from, int64_t at, int64_t count, int64_t period, float *room)
{
    int64_t i = 0, place = at % period;
    if (period == 1)
        for (const float32x4_t all = vdupq_n_f32(load1(from)); i + 4 <= count; i += 4)
            vst1q_f32(room + i, all);
    else if (period % 4 == 0 && place % 4 == 0)
        for (; i + 4 <= count; i += 4, place = place + 4 == period ? 0 : place + 4)
            vst1q_f32(room + i, load4(from + place));
    for (; i < count; i++, place = place + 1 == period ? 0 : place + 1)
        room[i] = load1(from + place);
    return room;
}

/* Elements `at` .. as float32: in place where they are, else in `room`. */
static const float *take(const element *from, int64_t at, int64_t count, int64_t period, float *room)
{
    if (period && period < BLOCK)
        return repeat(from, at, count, period, room);
    from += period ? at % period : at;
#ifdef ELEMENT_F32
    return from;
#else
    int64_t i = 0;
    for (; i + 4 <= count; i += 4)
        vst1q_f32(room + i, load4(from + i));
    for (; i < count; i++)
        room[i] = load1(from + i);
    return room;
#endif
}

/* Of arrays whose repetitions fill a block, every block takes the same: they are spread out once. */
typedef float spread[ARRAYS][BLOCK];

static int fills_blocks(const struct elementwise *e)
{
    return e->period && BLOCK % e->period == 0;
}

static void spread_out(const struct elementwise *e, int64_t count, spread rooms)
{
    for (uint64_t f = 0, next = 1; f < e->length; f++)
        if (e->function[f] >= KERNEL_FIRST_BINARY) {
            repeat(e->in[next], 0, count, e->period, rooms[next]);
            next++;
        }
}

static void block(const struct elementwise *e, int64_t at, int64_t count, spread rooms)
{
    float room[2][BLOCK];
#ifdef ELEMENT_F32
    float *const to = e->out + at;
#else
    float *const to = room[0];
#endif
    const float *x = take(e->in[0], at, count, 0, room[0]);
    for (uint64_t f = 0, next = 1; f < e->length; f++) {
        const float *y = x;
        if (e->function[f] >= KERNEL_FIRST_BINARY)
            y = fills_blocks(e) ? rooms[next] : take(e->in[next], at, count, e->period, room[1]);
        next += e->function[f] >= KERNEL_FIRST_BINARY;
        neon_function(e->function[f], to, x, y, count, (float)e->alpha);
        x = to;
    }
#ifndef ELEMENT_F32
    int64_t i = 0;
    for (; i + 4 <= count; i += 4)
        store4(e->out + at + i, vld1q_f32(to + i));
    for (; i < count; i++)
        store1(e->out + at + i, to[i]);
#endif
}

/* Items are blocks; one that meets the end of a long period is cut there. */
void NAME(neon_elementwise)(const struct elementwise *e, uint64_t first, uint64_t end, uint64_t thread)
{
    const int64_t last = least(e->count, (int64_t)end * BLOCK);
    spread rooms;
    (void)thread;
    if (fills_blocks(e))
        spread_out(e, least(BLOCK, last - (int64_t)first * BLOCK), rooms);
    for (int64_t at = (int64_t)first * BLOCK; at < last;) {
        int64_t count = least(BLOCK, last - at);
        if (e->period >= BLOCK)
            count = least(count, e->period - at % e->period);
        block(e, at, count, rooms);
        at += count;
    }
}
