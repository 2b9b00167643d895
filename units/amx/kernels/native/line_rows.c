/* softmax and normalisations on the AMX block, one row at a time: a row is widened to float32 in memory of its own, where the
 * passes over it find it in the first cache. Sums run in 64 lanes, which the core adds; division, root and logarithm of a row's
 * sums are the core's. Compiled for each type of elements. */
#include "units/amx/kernels/native/line_elements.h"
#include "units/amx/kernels/native/line_function.h"
#include "units/cpu/kernels/native/arguments.h"
#include "units/cpu/kernels/native/neon_math.h"

void NAME(amx_softmax)(const struct softmax *s, uint64_t first, uint64_t end, uint64_t thread);
void NAME(amx_norm)(const struct norm *n, uint64_t first, uint64_t end, uint64_t thread);
void NAME(amx_batchnorm)(const struct batchnorm *b, uint64_t first, uint64_t end, uint64_t thread);

enum { X, LATEST = 1, TOTAL = 8, QUARTERS = VARIABLE / 4 };

static float sum_of(unsigned variable, float *room)
{
    float32x4_t sum[4] = {four(0), four(0), four(0), four(0)};
    line_store(room, variable);
    for (int i = 0; i < QUARTERS; i++)
        sum[i % 4] = vaddq_f32(sum[i % 4], vld1q_f32(room + 4 * i));
    return vaddvq_f32(vaddq_f32(vaddq_f32(sum[0], sum[1]), vaddq_f32(sum[2], sum[3])));
}

static void spread(float *to, float x)
{
    for (int i = 0; i < LINE; i += 4)
        vst1q_f32(to + i, four(x));
}

/* ---- softmax ---- */

static float find_most(const float *row, int64_t count, float *room)
{
    line_load(TOTAL, row);
    for (int64_t i = VARIABLE; i < count; i += VARIABLE) {
        line_load(LATEST, row + i);
        line_max(TOTAL, LATEST);
    }
    line_store(room, TOTAL);
    float32x4_t most = vld1q_f32(room);
    for (int i = 1; i < QUARTERS; i++)
        most = vmaxq_f32(most, vld1q_f32(room + 4 * i));
    return vmaxvq_f32(most);
}

static const line nothing = EVERYWHERE(0);

/* Turns the row into powers and adds them; the logarithm keeps the row. */
static float add_powers(float *row, int64_t count, const float *most, bool keep, float *room)
{
    line_set(TOTAL, nothing);
    for (int64_t i = 0; i < count; i += VARIABLE) {
        line_load(X, row + i);
        line_sub_constant(X, most);
        line_exp();
        line_add(TOTAL, X);
        if (!keep)
            line_store(row + i, X);
    }
    return sum_of(TOTAL, room);
}

static void softmax_row(const struct softmax *s, float *row, const element *x, element *out, float *room)
{
    line most, factor;
    take_row(row, x, s->columns, VARIABLE, -__builtin_inff());
    spread(most, find_most(row, s->columns, room));
    const float sum = add_powers(row, s->columns, most, s->log, room);
    spread(factor, s->log ? vgetq_lane_f32(log4(four(sum)), 0) : 1 / sum);
    for (int64_t i = 0; i < s->columns; i += VARIABLE) {
        line_load(X, row + i);
        if (s->log) {
            line_sub_constant(X, most);
            line_sub_constant(X, factor);
        } else {
            line_scale(X, X, factor);
        }
        line_give(out + i, least(VARIABLE, s->columns - i), room);
    }
}

/* Items are rows. */
void NAME(amx_softmax)(const struct softmax *s, uint64_t first, uint64_t end, uint64_t thread)
{
    float room[VARIABLE] __attribute__((aligned(64)));
    line_enter();
    for (int64_t i = (int64_t)first; i < (int64_t)end; i++)
        softmax_row(s, own_floats(s->own, s->own_bytes, thread), s->x + i * s->columns, s->out + i * s->columns, room);
    line_leave();
}

/* ---- rows that are centred and scaled ---- */

static float mean_of(const float *row, int64_t count, float *room)
{
    line_set(TOTAL, nothing);
    for (int64_t i = 0; i < count; i += VARIABLE) {
        line_load(LATEST, row + i);
        line_add(TOTAL, LATEST);
    }
    return sum_of(TOTAL, room) / (float)count;
}

/* Subtracts the mean from the row and returns the mean of squares. What lies behind the end stays zero. */
static float centre(float *row, int64_t count, const float *mean, float *room)
{
    const int64_t whole = count - count % VARIABLE;
    for (int64_t i = whole; i < count; i++)
        row[i] -= mean[0];
    line_set(TOTAL, nothing);
    for (int64_t i = 0; i < count; i += VARIABLE) {
        line_load(X, row + i);
        if (i < whole) {
            line_sub_constant(X, mean);
            line_store(row + i, X);
        }
        line_mul_add(TOTAL, X, X);
    }
    return sum_of(TOTAL, room) / (float)count;
}

/* Elements with a parameter each, as in layernorm. */
static void write_by_column(const struct norm *n, element *out, const float *row, const float *scale, float *room)
{
    for (int64_t i = 0; i < n->columns; i += VARIABLE) {
        const int64_t count = least(VARIABLE, n->columns - i);
        line_load(X, row + i);
        line_scale(X, X, scale);
        if (n->has_gamma) {
            line_take(LATEST, n->gamma + i, count, 0, room);
            line_mul(X, X, LATEST);
        }
        if (n->has_beta) {
            line_take(LATEST, n->beta + i, count, 0, room);
            line_add(X, LATEST);
        }
        line_give(out + i, count, room);
    }
}

/* Up to 64 numbers of a row; what comes behind them is any. */
static void take_part(const float *row, int64_t count, float *room)
{
    if (count < VARIABLE) {
        for (int64_t i = 0; i < count; i++)
            room[i] = row[i];
        row = room;
    }
    line_load(X, row);
}

/* Runs of elements that share a parameter, as in groupnorm. */
static void write_by_run(const struct norm *n, element *out, const float *row, float scale, int64_t parameter, float *room)
{
    line gamma, beta;
    for (int64_t at = 0; at < n->columns; at += n->each, parameter++) {
        spread(gamma, load1(n->gamma + parameter % n->parameters) * scale);
        spread(beta, load1(n->beta + parameter % n->parameters));
        for (int64_t i = 0; i < n->each; i += VARIABLE) {
            const int64_t count = least(VARIABLE, n->each - i);
            take_part(row + at + i, count, room);
            line_scale(X, X, gamma);
            line_add_constant(X, beta);
            line_give(out + at + i, count, room);
        }
    }
}

static void norm_row(const struct norm *n, float *row, int64_t i, float *room)
{
    line mean, scale;
    element *const out = n->out + i * n->columns;
    take_row(row, n->x + i * n->columns, n->columns, VARIABLE, 0);
    spread(mean, n->centred ? mean_of(row, n->columns, room) : 0);
    spread(scale, 1 / __builtin_sqrtf(centre(row, n->columns, mean, room) + (float)n->eps));
    if (n->by_run)
        write_by_run(n, out, row, scale[0], i * n->columns / n->each, room);
    else
        write_by_column(n, out, row, scale, room);
}

/* Items are rows. */
void NAME(amx_norm)(const struct norm *n, uint64_t first, uint64_t end, uint64_t thread)
{
    float room[VARIABLE] __attribute__((aligned(64)));
    line_enter();
    for (int64_t i = (int64_t)first; i < (int64_t)end; i++)
        norm_row(n, own_floats(n->own, n->own_bytes, thread), i, room);
    line_leave();
}

/* Items are planes. */
void NAME(amx_batchnorm)(const struct batchnorm *b, uint64_t first, uint64_t end, uint64_t thread)
{
    float room[VARIABLE] __attribute__((aligned(64)));
    line factor, shift;
    (void)thread;
    line_enter();
    for (int64_t p = (int64_t)first; p < (int64_t)end; p++) {
        const int64_t c = p % b->channels;
        const float scale = load1(b->gamma + c) / __builtin_sqrtf(load1(b->variance + c) + (float)b->eps);
        spread(factor, scale);
        spread(shift, load1(b->beta + c) - load1(b->mean + c) * scale);
        for (int64_t i = 0; i < b->pixels; i += VARIABLE) {
            const int64_t count = least(VARIABLE, b->pixels - i);
            line_take(X, b->x + p * b->pixels + i, count, 0, room);
            line_scale(X, X, factor);
            line_add_constant(X, shift);
            line_give(b->out + p * b->pixels + i, count, room);
        }
    }
    line_leave();
}
