/* softmax and normalisations, one row at a time: a row is widened to float32 in the thread's own memory, where the passes over it
 * find it in the first cache. Sums run in sixteen lanes. Compiled for each type of elements. */
#include "units/cpu/kernels/native/arguments.h"
#include "units/cpu/kernels/native/neon_math.h"

void NAME(neon_softmax)(const struct softmax *s, uint64_t first, uint64_t end, uint64_t thread);
void NAME(neon_norm)(const struct norm *n, uint64_t first, uint64_t end, uint64_t thread);
void NAME(neon_batchnorm)(const struct batchnorm *b, uint64_t first, uint64_t end, uint64_t thread);

enum { LANES = 16 };

static float sum_lanes(const float32x4_t s[4])
{
    return vaddvq_f32(vaddq_f32(vaddq_f32(s[0], s[1]), vaddq_f32(s[2], s[3])));
}

/* ---- softmax ---- */

static float find_most(const float *row, int64_t count)
{
    float32x4_t most[4] = {vld1q_f32(row), vld1q_f32(row + 4), vld1q_f32(row + 8), vld1q_f32(row + 12)};
    for (int64_t i = LANES; i < count; i += LANES)
        for (int k = 0; k < 4; k++)
            most[k] = vmaxq_f32(most[k], vld1q_f32(row + i + 4 * k));
    return vmaxvq_f32(vmaxq_f32(vmaxq_f32(most[0], most[1]), vmaxq_f32(most[2], most[3])));
}

/* Turns the row into powers and adds them; the logarithm keeps the row. */
static float add_powers(float *row, int64_t count, float most, bool keep)
{
    float32x4_t sum[4] = {four(0), four(0), four(0), four(0)};
    for (int64_t i = 0; i < count; i += LANES)
        for (int k = 0; k < 4; k++) {
            const float32x4_t power = exp4(vsubq_f32(vld1q_f32(row + i + 4 * k), four(most)));
            sum[k] = vaddq_f32(sum[k], power);
            if (!keep)
                vst1q_f32(row + i + 4 * k, power);
        }
    return sum_lanes(sum);
}

static void write_softmax(const struct softmax *s, element *out, const float *row, float most, float sum)
{
    const float32x4_t less = four(most), log_sum = log4(four(sum)), share = vdivq_f32(four(1), four(sum));
    for (int64_t i = 0; i < s->columns; i += 4) {
        float32x4_t x = vld1q_f32(row + i);
        x = s->log ? vsubq_f32(vsubq_f32(x, less), log_sum) : vmulq_f32(x, share);
        if (i + 4 <= s->columns)
            store4(out + i, x);
        else
            store_part(out + i, x, s->columns - i);
    }
}

/* Items are rows. */
void NAME(neon_softmax)(const struct softmax *s, uint64_t first, uint64_t end, uint64_t thread)
{
    float *const row = own_floats(s->own, s->own_bytes, thread);
    for (int64_t i = (int64_t)first; i < (int64_t)end; i++) {
        take_row(row, s->x + i * s->columns, s->columns, LANES, -__builtin_inff());
        const float most = find_most(row, s->columns), sum = add_powers(row, s->columns, most, s->log);
        write_softmax(s, s->out + i * s->columns, row, most, sum);
    }
}

/* ---- rows that are centred and scaled ---- */

static float mean_of(const float *row, int64_t count)
{
    float32x4_t sum[4] = {four(0), four(0), four(0), four(0)};
    for (int64_t i = 0; i < count; i += LANES)
        for (int k = 0; k < 4; k++)
            sum[k] = vaddq_f32(sum[k], vld1q_f32(row + i + 4 * k));
    return sum_lanes(sum) / (float)count;
}

/* Subtracts the mean from the row and returns the mean of squares. What lies behind the end stays zero. */
static float centre(float *row, int64_t count, float mean)
{
    float32x4_t sum[4] = {four(0), four(0), four(0), four(0)};
    int64_t i = 0;
    for (; i + LANES <= count; i += LANES)
        for (int k = 0; k < 4; k++) {
            const float32x4_t x = vsubq_f32(vld1q_f32(row + i + 4 * k), four(mean));
            sum[k] = vfmaq_f32(sum[k], x, x);
            vst1q_f32(row + i + 4 * k, x);
        }
    for (int64_t j = i; j < count; j++)
        row[j] -= mean;
    for (int k = 0; i < count && k < 4; k++)
        sum[k] = vfmaq_f32(sum[k], vld1q_f32(row + i + 4 * k), vld1q_f32(row + i + 4 * k));
    return sum_lanes(sum) / (float)count;
}

/* Elements with a parameter each, as in layernorm. */
static void write_by_column(const struct norm *n, element *out, const float *row, float scale)
{
    for (int64_t i = 0; i < n->columns; i += 4) {
        const int64_t used = least(4, n->columns - i);
        float32x4_t x = vmulq_f32(vld1q_f32(row + i), four(scale));
        if (n->has_gamma)
            x = vmulq_f32(x, used == 4 ? load4(n->gamma + i) : load_part(n->gamma + i, used));
        if (n->has_beta)
            x = vaddq_f32(x, used == 4 ? load4(n->beta + i) : load_part(n->beta + i, used));
        if (used == 4)
            store4(out + i, x);
        else
            store_part(out + i, x, used);
    }
}

/* Runs of elements that share a parameter, as in groupnorm. */
static void write_by_run(const struct norm *n, element *out, const float *row, float scale, int64_t parameter)
{
    for (int64_t at = 0; at < n->columns; at += n->each, parameter++) {
        const float32x4_t gamma = four(load1(n->gamma + parameter % n->parameters) * scale);
        const float32x4_t beta = four(load1(n->beta + parameter % n->parameters));
        for (int64_t i = 0; i < n->each; i += 4) {
            const float32x4_t x = vfmaq_f32(beta, vld1q_f32(row + at + i), gamma);
            if (i + 4 <= n->each)
                store4(out + at + i, x);
            else
                store_part(out + at + i, x, n->each - i);
        }
    }
}

void NAME(neon_norm)(const struct norm *n, uint64_t first, uint64_t end, uint64_t thread)
{
    float *const row = own_floats(n->own, n->own_bytes, thread);
    for (int64_t i = (int64_t)first; i < (int64_t)end; i++) {
        element *const out = n->out + i * n->columns;
        take_row(row, n->x + i * n->columns, n->columns, LANES, 0);
        const float squares = centre(row, n->columns, n->centred ? mean_of(row, n->columns) : 0);
        const float scale = 1 / __builtin_sqrtf(squares + (float)n->eps);
        if (n->by_run)
            write_by_run(n, out, row, scale, i * n->columns / n->each);
        else
            write_by_column(n, out, row, scale);
    }
}

/* ---- batchnorm: items are planes ---- */

void NAME(neon_batchnorm)(const struct batchnorm *b, uint64_t first, uint64_t end, uint64_t thread)
{
    (void)thread;
    for (int64_t p = (int64_t)first; p < (int64_t)end; p++) {
        const int64_t c = p % b->channels;
        const float scale = load1(b->gamma + c) / __builtin_sqrtf(load1(b->variance + c) + (float)b->eps);
        const float shift = load1(b->beta + c) - load1(b->mean + c) * scale;
        const element *const x = b->x + p * b->pixels;
        element *const out = b->out + p * b->pixels;
        for (int64_t i = 0; i < b->pixels; i += 4) {
            const int64_t used = least(4, b->pixels - i);
            const float32x4_t y = vfmaq_f32(four(shift), used == 4 ? load4(x + i) : load_part(x + i, used), four(scale));
            if (used == 4)
                store4(out + i, y);
            else
                store_part(out + i, y, used);
        }
    }
}
