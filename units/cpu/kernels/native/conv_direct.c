/* conv2d of groups of one input channel, element by element; compiled for each type of elements. Sixteen neighbours of a row are
 * summed together as long as their taps lie in the image. */
#include "units/cpu/kernels/native/conv.h"

enum { RUN = 64 };

void NAME(neon_conv_direct)(const struct conv *v, uint64_t first, uint64_t end, uint64_t thread);

static inline float32x4_t load_apart(const element *at, int64_t stride)
{
    if (stride == 1)
        return load4(at);
    float32x4_t x = vdupq_n_f32(load1(at));
    x = vsetq_lane_f32(load1(at + stride), x, 1);
    x = vsetq_lane_f32(load1(at + 2 * stride), x, 2);
    return vsetq_lane_f32(load1(at + 3 * stride), x, 3);
}

struct row {
    const element *plane, *weights;
    int64_t top; /* of the first tap, may be outside */
};

/* `vectors` times four neighbours from column `left` of the image on, all inside. */
static inline void sum_inside(const struct conv *v, const struct row *y, int64_t left, int vectors, float *to)
{
    float32x4_t sum[4];
    for (int k = 0; k < vectors; k++)
        sum[k] = vdupq_n_f32(0);
    for (int64_t i = 0; i < v->r; i++) {
        const int64_t row = y->top + i * v->dilation;
        if (row < 0 || row >= v->h)
            continue;
        for (int64_t j = 0; j < v->s; j++) {
            const float32x4_t weight = vdupq_n_f32(load1(y->weights + i * v->s + j));
            const element *const at = y->plane + row * v->w + left + j * v->dilation;
            for (int k = 0; k < vectors; k++)
                sum[k] = vfmaq_f32(sum[k], load_apart(at + 4 * k * v->stride, v->stride), weight);
        }
    }
    for (int k = 0; k < vectors; k++)
        vst1q_f32(to + 4 * k, sum[k]);
}

static float sum_one(const struct conv *v, const struct row *y, int64_t left)
{
    float sum = 0;
    for (int64_t i = 0; i < v->r; i++)
        for (int64_t j = 0; j < v->s; j++) {
            const int64_t row = y->top + i * v->dilation, column = left + j * v->dilation;
            if (row >= 0 && row < v->h && column >= 0 && column < v->w)
                sum = __builtin_fmaf(load1(y->plane + row * v->w + column), load1(y->weights + i * v->s + j), sum);
        }
    return sum;
}

/* Items are rows of the result. */
void NAME(neon_conv_direct)(const struct conv *v, uint64_t first, uint64_t end, uint64_t thread)
{
    const int64_t reach = (v->s - 1) * v->dilation;
    (void)thread;
    for (int64_t at = (int64_t)first; at < (int64_t)end; at++) {
        const int64_t plane = at / v->out_h, k = plane % v->k, image = plane / v->k;
        const struct row y = {v->x + (image * v->c + k / v->group_k) * v->h * v->w, v->weights + k * v->r * v->s,
                              at % v->out_h * v->stride - v->pad};
        for (int64_t run = 0; run < v->out_w; run += RUN) {
            const int64_t count = least(RUN, v->out_w - run);
            float to[RUN];
            for (int64_t o = 0; o < count;) {
                const int64_t left = (run + o) * v->stride - v->pad;
                const bool four_fit = o + 4 <= count && left >= 0 && left + 3 * v->stride + reach < v->w;
                if (four_fit && o + 16 <= count && left + 15 * v->stride + reach < v->w) {
                    sum_inside(v, &y, left, 4, to + o);
                    o += 16;
                } else if (four_fit) {
                    sum_inside(v, &y, left, 1, to + o);
                    o += 4;
                } else {
                    to[o++] = sum_one(v, &y, left);
                }
            }
            finish_run(v, v->out + at * v->out_w + run, to, count, k);
        }
    }
}
