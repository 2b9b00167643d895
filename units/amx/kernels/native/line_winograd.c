/* conv2d with 3 x 3 taps, stride 1, on the AMX block by Winograd's F(2 x 2), F(4 x 4) and F(6 x 6): a tile of 4, 16 or 36 results
 * of a channel takes 16, 36 or 64 products instead of 36, 144 or 324. Sums in f32; compiled for each type of elements.
 *
 * Weights are transformed once. Whoever works on 64 tiles transforms what they see of each channel, lanes being tiles; at every
 * point, outer products of 16 output channels x 64 tiles sum over the channels in all of Z, as in line_conv.c; the core turns the
 * sums back, and the block applies the activation. */
#include "units/amx/kernels/native/line_winograd.h"
#include "units/amx/kernels/native/line_elements.h"
#include "units/amx/kernels/native/line_function.h"
#include "units/amx/kernels/native/line_outer.h"
#include "units/cpu/kernels/native/arguments.h"

/* Parts of memory for the points of a tile follow one another at distances that are no power of two, so that they do not fall
 * into the same sets of a cache. */
enum { QUADS = VARIABLE / 4, ASIDE = 32, SUMS = OUTER * VARIABLE + ASIDE };

/* Over rows and columns of a tile, whose number is a constant: so its elements stay in registers. */
#define EACH(i, count) _Pragma("GCC unroll 8") for (int i = 0; i < (count); i++)

LINE_INLINE int seen_of(const int side)
{
    return side + 2;
}

/* ---- weights: [panel of 16 channels][point][channel][16] ---- */

LINE_INLINE int64_t weights_apart(const struct conv *v)
{
    return v->c * OUTER + ASIDE;
}

/* A channel of a panel: taps are [tap][16]. */
LINE_INLINE void transform_taps(const int side, const float *taps, float *to, int64_t apart)
{
    const int seen = seen_of(side);
    for (int q = 0; q < OUTER / 4; q++) {
        float32x4_t rows[3][MOST_SEEN], point[MOST_SEEN], g[3];
        EACH(row, 3)
        {
            EACH(j, 3) g[j] = vld1q_f32(taps + (3 * row + j) * OUTER + 4 * q);
            winograd_weights(side, g, rows[row]);
        }
        EACH(j, seen)
        {
            EACH(row, 3) g[row] = rows[row][j];
            winograd_weights(side, g, point);
            EACH(i, seen) vst1q_f32(to + (i * seen + j) * apart + 4 * q, point[i]);
        }
    }
}

LINE_INLINE void transform_weights(const int side, const struct conv *v, uint64_t first, uint64_t end)
{
    const int64_t points = (int64_t)seen_of(side) * seen_of(side), apart = weights_apart(v);
    float taps[9 * OUTER] __attribute__((aligned(64)));
    for (int64_t at = (int64_t)first; at < (int64_t)end; at++)
        for (int64_t c = 0; c < v->c; c++) {
            for (int64_t i = 0; i < OUTER; i++)
                for (int64_t tap = 0; tap < 9; tap++)
                    taps[tap * OUTER + i] =
                        at * OUTER + i < v->k ? load1(v->weights + ((at * OUTER + i) * v->c + c) * 9 + tap) : 0;
            transform_taps(side, taps, v->panels + at * points * apart + c * OUTER, apart);
        }
}

/* ---- images ---- */

/* What a tile sees of a row: elements outside are zeros. Neighbours are a variable apart. */
LINE_INLINE void see_row(const int side, const struct conv *v, const element *plane, int64_t row, int64_t left, float *to)
{
    const bool inside = row >= 0 && row < v->h;
    if (inside && left >= 0 && left + seen_of(side) <= v->w) {
        EACH(j, seen_of(side))
        to[j * VARIABLE] = load1(plane + row * v->w + left + j);
        return;
    }
    EACH(j, seen_of(side))
    to[j * VARIABLE] = inside && left + j >= 0 && left + j < v->w ? load1(plane + row * v->w + left + j) : 0;
}

/* What tiles see of a plane: [row][column][tile]. */
LINE_INLINE void see_plane(const int side, const struct conv *v, const element *plane, int64_t tile, int64_t used, float *to)
{
    const int64_t wide = (v->out_w + side - 1) / side;
    int64_t top = tile / wide * side - v->pad, left = tile % wide * side - v->pad;
    const int64_t left_end = wide * side - v->pad;
    for (int64_t p = 0; p < VARIABLE; p++, left += side) {
        if (left == left_end) {
            left = -v->pad;
            top += side;
        }
        for (int i = 0; i < seen_of(side); i++)
            see_row(side, v, plane, p < used ? top + i : -1, left, to + i * seen_of(side) * VARIABLE + p);
    }
}

LINE_INLINE int64_t points_apart(const struct conv *v)
{
    return v->c * VARIABLE + ASIDE;
}

/* points: [point][channel][tile] */
LINE_INLINE void transform_plane(const int side, const struct conv *v, const float *taken, float *points)
{
    const int seen = seen_of(side);
    for (int q = 0; q < QUADS; q++) {
        float32x4_t half[MOST_SEEN][MOST_SEEN], line_of[MOST_SEEN], point[MOST_SEEN];
        EACH(i, seen)
        {
            EACH(j, seen)
            line_of[j] = vld1q_f32(taken + (i * seen + j) * VARIABLE + 4 * q);
            winograd_image(side, line_of, half[i]);
        }
        EACH(j, seen)
        {
            EACH(i, seen)
            line_of[i] = half[i][j];
            winograd_image(side, line_of, point);
            EACH(i, seen)
            vst1q_f32(points + (i * seen + j) * points_apart(v) + 4 * q, point[i]);
        }
    }
}

/* ---- results ---- */

/* sums: [point][channel][tile]; result: [row][column][tile] */
LINE_INLINE void turn_back(const int side, const float *sums, int64_t channel, float bias, float *result)
{
    const int seen = seen_of(side);
    for (int q = 0; q < QUADS; q++) {
        float32x4_t half[MOST_SEEN][MOST_SIDE], m[MOST_SEEN], y[MOST_SIDE];
        EACH(i, seen)
        {
            EACH(j, seen)
            m[j] = vld1q_f32(sums + (i * seen + j) * SUMS + channel * VARIABLE + 4 * q);
            winograd_results(side, m, half[i]);
        }
        EACH(j, side)
        {
            EACH(i, seen)
            m[i] = half[i][j];
            winograd_results(side, m, y);
            EACH(i, side)
            vst1q_f32(result + (i * side + j) * VARIABLE + 4 * q, vaddq_f32(y[i], vdupq_n_f32(bias)));
        }
    }
}

LINE_INLINE void write_tiles(const int side, const struct conv *v, const float *result, int64_t tile, int64_t used,
                             element *plane)
{
    const int64_t wide = (v->out_w + side - 1) / side;
    int64_t top = tile / wide * side, left = tile % wide * side;
    for (int64_t p = 0; p < used; p++, left += side) {
        if (left >= v->out_w) {
            left = 0;
            top += side;
        }
        element *const to = plane + top * v->out_w + left;
        const int64_t rows = least(side, v->out_h - top), columns = least(side, v->out_w - left);
        if (rows == side && columns == side) {
            EACH(i, side)
            EACH(j, side)
            store1(to + i * v->out_w + j, result[(i * side + j) * VARIABLE + p]);
            continue;
        }
        for (int64_t i = 0; i < rows; i++)
            for (int64_t j = 0; j < columns; j++)
                store1(to + i * v->out_w + j, result[(i * side + j) * VARIABLE + p]);
    }
}

LINE_INLINE void activate(const int side, const struct conv *v, float *result)
{
    static const line no_slope = EVERYWHERE(0.01F);
    for (int i = 0; i < side * side; i++) {
        line_load(0, result + i * VARIABLE);
        line_function((uint64_t)v->act, no_slope);
        line_store(result + i * VARIABLE, 0);
    }
}

LINE_INLINE void sum_panel(const int side, const struct conv *v, const float *points, const float *weights, float *sums)
{
    for (int64_t point = 0; point < seen_of(side) * seen_of(side); point++) {
        line_outer(points + point * points_apart(v), weights + point * weights_apart(v), v->c);
        for (unsigned i = 0; i < OUTER; i++)
            line_store(sums + point * SUMS + i * VARIABLE, i);
    }
}

/* Items are blocks of 64 tiles of an image. own: points, then sums, then what the tiles see of a plane. */
LINE_INLINE void convolve(const int side, const struct conv *v, uint64_t first, uint64_t end, uint64_t thread)
{
    const int64_t count = (int64_t)seen_of(side) * seen_of(side), panels = (v->k + OUTER - 1) / OUTER;
    const int64_t tiles = ((v->out_h + side - 1) / side) * ((v->out_w + side - 1) / side);
    const int64_t blocks = (tiles + VARIABLE - 1) / VARIABLE;
    float *const points = own_floats(v->own, v->own_bytes, thread), *const sums = points + count * points_apart(v);
    float *const taken = sums + count * SUMS;
    float result[MOST_SIDE * MOST_SIDE * VARIABLE] __attribute__((aligned(64)));
    line_enter();
    for (int64_t at = (int64_t)first; at < (int64_t)end; at++) {
        const int64_t image = at / blocks, tile = at % blocks * VARIABLE, used = least(VARIABLE, tiles - tile);
        for (int64_t c = 0; c < v->c; c++) {
            see_plane(side, v, v->x + (image * v->c + c) * v->h * v->w, tile, used, taken);
            transform_plane(side, v, taken, points + c * VARIABLE);
        }
        for (int64_t panel = 0; panel < panels; panel++) {
            sum_panel(side, v, points, v->panels + panel * count * weights_apart(v), sums);
            for (int64_t i = 0; i < least(OUTER, v->k - panel * OUTER); i++) {
                const int64_t channel = panel * OUTER + i;
                turn_back(side, sums, i, v->has_bias ? load1(v->bias + channel) : 0, result);
                if (v->act >= 0)
                    activate(side, v, result);
                write_tiles(side, v, result, tile, used, v->out + (image * v->k + channel) * v->out_h * v->out_w);
            }
        }
    }
    line_leave();
}

#define WINOGRAD(side)                                                                                                           \
    void NAME(amx_winograd##side##_weights)(const struct conv *v, uint64_t first, uint64_t end, uint64_t thread);                \
    void NAME(amx_winograd##side)(const struct conv *v, uint64_t first, uint64_t end, uint64_t thread);                          \
    void NAME(amx_winograd##side##_weights)(const struct conv *v, uint64_t first, uint64_t end, uint64_t thread)                 \
    {                                                                                                                            \
        (void)thread;                                                                                                            \
        transform_weights(side, v, first, end);                                                                                  \
    }                                                                                                                            \
    void NAME(amx_winograd##side)(const struct conv *v, uint64_t first, uint64_t end, uint64_t thread)                           \
    {                                                                                                                            \
        convolve(side, v, first, end, thread);                                                                                   \
    }
WINOGRAD(2)
WINOGRAD(4)
WINOGRAD(6)
