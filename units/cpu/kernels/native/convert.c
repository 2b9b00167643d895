/* Numbers from and to integers with scales; compiled for each type of numbers. Sixteen elements at a time, whose parameters are
 * the same, or follow one another where each element of a row has its own. */
#include "units/cpu/kernels/native/neon.h"

/* ORDER: cpu_kernel_convert.c. */
struct convert {
    const void *x;
    void *out;
    const float *scale, *bias;
    const int32_t *zero, *offset;
    int64_t from, to, channels, inner, has_bias;
};
void NAME(neon_convert)(const struct convert *c, uint64_t first, uint64_t end, uint64_t thread);

/* ORDER: ROUTINE_CONVERT_WORDS. */
enum { NUMBER, U8, I8, I32, LANES = 16, BLOCK = 4096 };

/* Of sixteen elements. */
struct values {
    float32x4_t f[4];
    int32x4_t i[4];
};

/* Parameters of sixteen elements. */
struct points {
    float32x4_t scale[4], bias[4];
    int32x4_t zero[4], offset[4];
};

static inline __attribute__((always_inline)) void load_bytes(struct values *v, const uint8_t *at, bool is_signed)
{
    const uint8x16_t bytes = vld1q_u8(at);
    const int8x16_t own = vreinterpretq_s8_u8(bytes);
    const int16x8_t low = is_signed ? vmovl_s8(vget_low_s8(own)) : vreinterpretq_s16_u16(vmovl_u8(vget_low_u8(bytes)));
    const int16x8_t high = is_signed ? vmovl_high_s8(own) : vreinterpretq_s16_u16(vmovl_high_u8(bytes));
    v->i[0] = vmovl_s16(vget_low_s16(low));
    v->i[1] = vmovl_high_s16(low);
    v->i[2] = vmovl_s16(vget_low_s16(high));
    v->i[3] = vmovl_high_s16(high);
}

static inline __attribute__((always_inline)) void load(struct values *v, const struct convert *c, int64_t from, int64_t at)
{
    if (from == U8 || from == I8)
        load_bytes(v, (const uint8_t *)c->x + at, from == I8);
    for (int k = 0; k < 4; k++) {
        if (from == I32)
            v->i[k] = vld1q_s32((const int32_t *)c->x + at + 4 * k);
        if (from == NUMBER)
            v->f[k] = load4((const element *)c->x + at + 4 * k);
    }
}

static inline __attribute__((always_inline)) void store(const struct values *v, const struct convert *c, int64_t to, int64_t at)
{
    for (int k = 0; k < 4 && to == NUMBER; k++)
        store4((element *)c->out + at + 4 * k, v->f[k]);
    for (int k = 0; k < 4 && to == I32; k++)
        vst1q_s32((int32_t *)c->out + at + 4 * k, v->i[k]);
    if (to == NUMBER || to == I32)
        return;
    const int16x8_t low = vqmovn_high_s32(vqmovn_s32(v->i[0]), v->i[1]), high = vqmovn_high_s32(vqmovn_s32(v->i[2]), v->i[3]);
    if (to == U8)
        vst1q_u8((uint8_t *)c->out + at, vqmovun_high_s16(vqmovun_s16(low), high));
    else
        vst1q_s8((int8_t *)c->out + at, vqmovn_high_s16(vqmovn_s16(low), high));
}

static inline __attribute__((always_inline)) void compute(struct values *v, const struct points *p, int64_t from, int64_t to,
                                                          bool has_bias)
{
    for (int k = 0; k < 4; k++) {
        const float32x4_t number = from == NUMBER ? v->f[k] : vcvtq_f32_s32(vsubq_s32(v->i[k], p->zero[k]));
        const float32x4_t x = from == NUMBER ? vdivq_f32(number, p->scale[k])
                              : has_bias     ? vfmaq_f32(p->bias[k], number, p->scale[k])
                                             : vmulq_f32(number, p->scale[k]);
        v->f[k] = x;
        if (to != NUMBER)
            v->i[k] = vqaddq_s32(vcvtnq_s32_f32(x), p->offset[k]);
    }
}

static inline __attribute__((always_inline)) void take_points(struct points *p, const struct convert *c, int64_t at, bool spread)
{
    for (int k = 0; k < 4; k++) {
        const int64_t own = at + 4 * k;
        p->scale[k] = spread ? vdupq_n_f32(c->scale[at]) : vld1q_f32(c->scale + own);
        p->bias[k] = !c->has_bias ? vdupq_n_f32(0) : spread ? vdupq_n_f32(c->bias[at]) : vld1q_f32(c->bias + own);
        p->zero[k] = c->from == NUMBER ? vdupq_n_s32(0) : spread ? vdupq_n_s32(c->zero[at]) : vld1q_s32(c->zero + own);
        p->offset[k] = c->to == NUMBER ? vdupq_n_s32(0) : spread ? vdupq_n_s32(c->offset[at]) : vld1q_s32(c->offset + own);
    }
}

static inline __attribute__((always_inline)) void take_some(const struct convert *c, int64_t from, int64_t to, int64_t at,
                                                            const struct points *p)
{
    struct values v = {0};
    load(&v, c, from, at);
    compute(&v, p, from, to, c->has_bias != 0);
    store(&v, c, to, at);
}

/* What is left of a run, element by element. */
static void take_one(const struct convert *c, int64_t at, int64_t channel)
{
    const int32_t whole = c->from == U8    ? ((const uint8_t *)c->x)[at]
                          : c->from == I8  ? ((const int8_t *)c->x)[at]
                          : c->from == I32 ? ((const int32_t *)c->x)[at]
                                           : 0;
    const float number = c->from == NUMBER ? 0 : (float)(int32_t)((uint32_t)whole - (uint32_t)c->zero[channel]);
    const float x = c->from == NUMBER ? load1((const element *)c->x + at) / c->scale[channel]
                    : c->has_bias     ? __builtin_fmaf(number, c->scale[channel], c->bias[channel])
                                      : number * c->scale[channel];
    if (c->to == NUMBER) {
        store1((element *)c->out + at, x);
        return;
    }
    const int32_t y = vgetq_lane_s32(vqaddq_s32(vcvtnq_s32_f32(vdupq_n_f32(x)), vdupq_n_s32(c->offset[channel])), 0);
    if (c->to == I32)
        ((int32_t *)c->out)[at] = y;
    else if (c->to == U8)
        ((uint8_t *)c->out)[at] = (uint8_t)(y < 0 ? 0 : y > 255 ? 255 : y);
    else
        ((int8_t *)c->out)[at] = (int8_t)(y < -128 ? -128 : y > 127 ? 127 : y);
}

/* `count` elements from `at` on: of one channel, or of channels from 0 on. */
static inline __attribute__((always_inline)) void take_run(const struct convert *c, int64_t from, int64_t to, int64_t at,
                                                           int64_t count, int64_t channel, bool spread)
{
    struct points p;
    int64_t i = 0;
    if (spread)
        take_points(&p, c, channel, true);
    for (; i + LANES <= count; i += LANES) {
        if (!spread)
            take_points(&p, c, i, false);
        take_some(c, from, to, at + i, &p);
    }
    for (; i < count; i++)
        take_one(c, at + i, spread ? channel : i);
}

/* Items are runs of one channel, rows of all channels, or blocks of 4096 elements where all have one. */
static inline __attribute__((always_inline)) void take_items(const struct convert *c, int64_t from, int64_t to, int64_t first,
                                                             int64_t end)
{
    const bool rows = c->inner == 1 && c->channels > 1;
    for (int64_t item = first; item < end; item++) {
        if (rows)
            take_run(c, from, to, item * c->channels, c->channels, 0, false);
        else if (c->channels > 1)
            take_run(c, from, to, item * c->inner, c->inner, item % c->channels, true);
        else
            take_run(c, from, to, item * BLOCK, least(BLOCK, c->inner - item * BLOCK), 0, true);
    }
}

void NAME(neon_convert)(const struct convert *c, uint64_t first, uint64_t end, uint64_t thread)
{
    (void)thread;
#define ONE(x_type, y_type)                                                                                                      \
    if (c->from == (x_type) && c->to == (y_type))                                                                                \
        take_items(c, x_type, y_type, (int64_t)first, (int64_t)end);
#define ALL(x_type) ONE(x_type, U8) ONE(x_type, I8) ONE(x_type, I32)
    ALL(NUMBER)
    ALL(U8) ONE(U8, NUMBER) ALL(I8) ONE(I8, NUMBER) ALL(I32) ONE(I32, NUMBER)
}
