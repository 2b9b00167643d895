/* Pooling and resizing of images; compiled for each type of elements. Items are rows of the result, of all planes. */
#include "units/cpu/kernels/native/neon.h"
#include "units/cpu/kernels/native/neon_math.h"

/* ORDER: cpu_kernel_image.c. */
struct pool {
    const element *x;
    element *out;
    int64_t h, w, out_h, out_w, r, s, stride, pad, average, include_pad;
};
struct resize {
    const element *x;
    element *out;
    int64_t h, w, out_h, out_w, align;
};
void NAME(neon_pool)(const struct pool *p, uint64_t first, uint64_t end, uint64_t thread);
void NAME(neon_resize_nearest)(const struct resize *z, uint64_t first, uint64_t end, uint64_t thread);
void NAME(neon_resize_bilinear)(const struct resize *z, uint64_t first, uint64_t end, uint64_t thread);

/* ---- pool ---- */

/* Four elements that are `stride` apart. */
static inline float32x4_t load_apart(const element *at, int64_t stride)
{
    if (stride == 1)
        return load4(at);
    float32x4_t x = four(load1(at));
    x = vsetq_lane_f32(load1(at + stride), x, 1);
    x = vsetq_lane_f32(load1(at + 2 * stride), x, 2);
    return vsetq_lane_f32(load1(at + 3 * stride), x, 3);
}

/* Four neighbouring results whose windows lie in the image from left to right. */
static float32x4_t four_windows(const struct pool *p, const element *x, int64_t top, int64_t bottom, int64_t left)
{
    float32x4_t all = four(p->average ? 0 : -__builtin_inff());
    for (int64_t i = top; i < bottom; i++)
        for (int64_t j = 0; j < p->s; j++) {
            const float32x4_t v = load_apart(x + i * p->w + left + j, p->stride);
            all = p->average ? vaddq_f32(all, v) : vmaxq_f32(all, v);
        }
    return all;
}

/* In all lanes. The largest is found by an instruction, as above: a comparison of scalars becomes a branch that hangs on values.
 */
static float32x4_t one_window(const struct pool *p, const element *x, int64_t top, int64_t bottom, int64_t left, int64_t *count)
{
    const int64_t from = left < 0 ? 0 : left, to = least(left + p->s, p->w);
    float32x4_t all = four(p->average ? 0 : -__builtin_inff());
    for (int64_t i = top; i < bottom; i++)
        for (int64_t j = from; j < to; j++) {
            const float32x4_t v = four(load1(x + i * p->w + j));
            all = p->average ? vaddq_f32(all, v) : vmaxq_f32(all, v);
        }
    *count = (bottom - top) * (to - from);
    return all;
}

void NAME(neon_pool)(const struct pool *p, uint64_t first, uint64_t end, uint64_t thread)
{
    (void)thread;
    for (int64_t at = (int64_t)first; at < (int64_t)end; at++) {
        const int64_t y = at % p->out_h * p->stride - p->pad, top = y < 0 ? 0 : y, bottom = least(y + p->r, p->h);
        const element *const x = p->x + at / p->out_h * p->h * p->w;
        element *const out = p->out + at * p->out_w;
        for (int64_t o = 0; o < p->out_w;) {
            const int64_t left = o * p->stride - p->pad;
            if (left >= 0 && o + 4 <= p->out_w && left + 3 * p->stride + p->s <= p->w) {
                const int64_t count = p->include_pad ? p->r * p->s : (bottom - top) * p->s;
                const float32x4_t all = four_windows(p, x, top, bottom, left);
                store4(out + o, p->average ? vdivq_f32(all, four((float)count)) : all);
                o += 4;
                continue;
            }
            int64_t count;
            const float all = vgetq_lane_f32(one_window(p, x, top, bottom, left, &count), 0);
            if (p->include_pad)
                count = p->r * p->s;
            store1(out + o, p->average ? all / (float)count : all);
            o++;
        }
    }
}

/* ---- resize ---- */

void NAME(neon_resize_nearest)(const struct resize *z, uint64_t first, uint64_t end, uint64_t thread)
{
    (void)thread;
    for (int64_t at = (int64_t)first; at < (int64_t)end; at++) {
        const int64_t y = at % z->out_h * z->h / z->out_h;
        const element *const row = z->x + (at / z->out_h * z->h + y) * z->w;
        element *const out = z->out + at * z->out_w;
        int64_t x = 0, rest = 0; /* o * w = x * out_w + rest */
        const int64_t step = z->w / z->out_w, part = z->w % z->out_w;
        for (int64_t o = 0; o < z->out_w; o++) {
            out[o] = row[x];
            x += step;
            rest += part;
            if (rest >= z->out_w) {
                rest -= z->out_w;
                x++;
            }
        }
    }
}

struct place {
    int64_t low, high;
    float weight;
};

/* Places along a side are fractions of whole numbers, so that they are exact. */
static struct place place_of(int64_t o, int64_t in, int64_t out, bool align)
{
    int64_t numerator = align ? o * (in - 1) : (2 * o + 1) * in - out;
    const int64_t denominator = !align ? 2 * out : out > 1 ? out - 1 : 1;
    if (numerator < 0 || (align && out == 1))
        numerator = 0;
    const int64_t low = numerator / denominator;
    return (struct place){low, least(low + 1, in - 1), (float)(numerator % denominator) / (float)denominator};
}

void NAME(neon_resize_bilinear)(const struct resize *z, uint64_t first, uint64_t end, uint64_t thread)
{
    (void)thread;
    for (int64_t at = (int64_t)first; at < (int64_t)end; at++) {
        const struct place y = place_of(at % z->out_h, z->h, z->out_h, z->align);
        const element *const plane = z->x + at / z->out_h * z->h * z->w;
        const element *const low = plane + y.low * z->w, *const high = plane + y.high * z->w;
        element *const out = z->out + at * z->out_w;
        for (int64_t o = 0; o < z->out_w; o += 4) {
            float a[4], b[4], c[4], d[4], weight[4];
            for (int64_t k = 0; k < 4; k++) {
                const struct place x = place_of(least(o + k, z->out_w - 1), z->w, z->out_w, z->align);
                a[k] = load1(low + x.low), b[k] = load1(low + x.high);
                c[k] = load1(high + x.low), d[k] = load1(high + x.high);
                weight[k] = x.weight;
            }
            const float32x4_t wx = vld1q_f32(weight), top = vld1q_f32(a), bottom = vld1q_f32(c);
            const float32x4_t upper = vfmaq_f32(top, vsubq_f32(vld1q_f32(b), top), wx);
            const float32x4_t lower = vfmaq_f32(bottom, vsubq_f32(vld1q_f32(d), bottom), wx);
            const float32x4_t all = vfmaq_f32(upper, vsubq_f32(lower, upper), four(y.weight));
            if (o + 4 <= z->out_w)
                store4(out + o, all);
            else
                store_part(out + o, all, z->out_w - o);
        }
    }
}
