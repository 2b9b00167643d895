/* conv2d with 3 x 3 taps, stride 1, by Winograd's F(4 x 4, 3 x 3): 16 results of a channel take 36 products instead of 144. Sums
 * in f32; compiled for each type of elements.
 *
 * Weights are transformed once. Whoever works on twelve tiles of 4 x 4 results transforms what they see of each channel into 36
 * points, lanes being tiles, and runs the tiles of gemm_tile.h at every point over all channels; sums of eight channels are
 * turned back and written. The points are those of Lavin and Gray (arXiv:1509.09308): 0, 1, -1, 2, -2 and infinity. */
#include "units/cpu/kernels/native/conv.h"
#include "units/cpu/kernels/native/gemm_tile.h"

enum { SIDE = 4, SEEN = 6, POINTS = SEEN * SEEN, QUADS = TILE_COLUMNS / 4 };

void NAME(neon_winograd_weights)(const struct conv *v, uint64_t first, uint64_t end, uint64_t thread);
void NAME(neon_winograd)(const struct conv *v, uint64_t first, uint64_t end, uint64_t thread);

/* ---- weights: G g G^T ---- */

static void weight_points(const float g[3], float to[SEEN])
{
    const float ends = (g[0] + g[2]) * (1 / 6.0F), far = g[0] * (1 / 24.0F) + g[2] * (1 / 6.0F), middle = g[1] * (1 / 6.0F);
    to[0] = g[0] * 0.25F;
    to[1] = -ends - middle;
    to[2] = -ends + middle;
    to[3] = far + middle * 0.5F;
    to[4] = far - middle * 0.5F;
    to[5] = g[2];
}

/* Items are panels of 8 output channels: [panel][point][channel][8]. */
void NAME(neon_winograd_weights)(const struct conv *v, uint64_t first, uint64_t end, uint64_t thread)
{
    (void)thread;
    for (int64_t at = (int64_t)first; at < (int64_t)end; at++)
        for (int64_t c = 0; c < v->c; c++)
            for (int64_t i = 0; i < TILE_ROWS; i++) {
                float *const to = v->panels + (at * POINTS * v->c + c) * TILE_ROWS + i, rows[3][SEEN], point[SEEN];
                const int64_t k = at * TILE_ROWS + i;
                for (int64_t row = 0; row < 3; row++) {
                    float g[3] = {0, 0, 0};
                    for (int64_t j = 0; k < v->k && j < 3; j++)
                        g[j] = load1(v->weights + ((k * v->c + c) * 3 + row) * 3 + j);
                    weight_points(g, rows[row]);
                }
                for (int64_t j = 0; j < SEEN; j++) {
                    const float column[3] = {rows[0][j], rows[1][j], rows[2][j]};
                    weight_points(column, point);
                    for (int64_t row = 0; row < SEEN; row++)
                        to[(row * SEEN + j) * v->c * TILE_ROWS] = point[row];
                }
            }
}

/* ---- images: B^T d B ---- */

static inline void image_points(const float32x4_t d[SEEN], float32x4_t to[SEEN])
{
    const float32x4_t even = vfmsq_n_f32(d[4], d[2], 4), odd = vfmsq_n_f32(d[3], d[1], 4);
    const float32x4_t near = vsubq_f32(d[4], d[2]), twice = vmulq_n_f32(vsubq_f32(d[3], d[1]), 2);
    to[0] = vfmaq_n_f32(vfmsq_n_f32(d[4], d[2], 5), d[0], 4);
    to[1] = vaddq_f32(even, odd);
    to[2] = vsubq_f32(even, odd);
    to[3] = vaddq_f32(near, twice);
    to[4] = vsubq_f32(near, twice);
    to[5] = vfmaq_n_f32(vfmsq_n_f32(d[5], d[3], 5), d[1], 4);
}

/* What twelve tiles from `tile` on see of a plane: [row][column][12], zeros outside. */
static void take_plane(const struct conv *v, const element *plane, int64_t tile, int64_t used, float *to)
{
    const int64_t wide = (v->out_w + SIDE - 1) / SIDE;
    for (int64_t p = 0; p < TILE_COLUMNS; p++) {
        const int64_t top = (tile + p) / wide * SIDE - v->pad, left = (tile + p) % wide * SIDE - v->pad;
        for (int64_t i = 0; i < SEEN; i++)
            for (int64_t j = 0; j < SEEN; j++) {
                const int64_t row = top + i, column = left + j;
                const bool inside = p < used && row >= 0 && row < v->h && column >= 0 && column < v->w;
                to[(i * SEEN + j) * TILE_COLUMNS + p] = inside ? load1(plane + row * v->w + column) : 0;
            }
    }
}

/* points: [point][channel][12] */
static void transform_plane(const struct conv *v, const float *seen, float *points)
{
    for (int q = 0; q < QUADS; q++) {
        float32x4_t half[SEEN][SEEN];
        for (int i = 0; i < SEEN; i++) {
            float32x4_t row[SEEN];
            for (int j = 0; j < SEEN; j++)
                row[j] = vld1q_f32(seen + (i * SEEN + j) * TILE_COLUMNS + 4 * q);
            image_points(row, half[i]);
        }
        for (int j = 0; j < SEEN; j++) {
            const float32x4_t column[SEEN] = {half[0][j], half[1][j], half[2][j], half[3][j], half[4][j], half[5][j]};
            float32x4_t point[SEEN];
            image_points(column, point);
            for (int i = 0; i < SEEN; i++)
                vst1q_f32(points + (i * SEEN + j) * v->c * TILE_COLUMNS + 4 * q, point[i]);
        }
    }
}

/* ---- results: A^T m A ---- */

static inline void result_points(const float32x4_t m[SEEN], float32x4_t to[SIDE])
{
    const float32x4_t ones = vaddq_f32(m[1], m[2]), one = vsubq_f32(m[1], m[2]);
    const float32x4_t twos = vaddq_f32(m[3], m[4]), two = vsubq_f32(m[3], m[4]);
    to[0] = vaddq_f32(vaddq_f32(m[0], ones), twos);
    to[1] = vfmaq_n_f32(one, two, 2);
    to[2] = vfmaq_n_f32(ones, twos, 4);
    to[3] = vaddq_f32(vfmaq_n_f32(one, two, 8), m[5]);
}

/* One channel of twelve tiles: sums has its row of twelve at each point. */
static void write_tiles(const struct conv *v, const float (*sums)[TILE_ROWS * TILE_COLUMNS], int64_t row, int64_t tile,
                        int64_t used, int64_t channel, element *plane)
{
    const int64_t wide = (v->out_w + SIDE - 1) / SIDE;
    float result[TILE_COLUMNS][SIDE][SIDE];
    for (int q = 0; q < QUADS; q++) {
        float32x4_t half[SEEN][SIDE];
        for (int i = 0; i < SEEN; i++) {
            float32x4_t m[SEEN];
            for (int j = 0; j < SEEN; j++)
                m[j] = vld1q_f32(sums[i * SEEN + j] + row * TILE_COLUMNS + 4 * q);
            result_points(m, half[i]);
        }
        for (int j = 0; j < SIDE; j++) {
            const float32x4_t column[SEEN] = {half[0][j], half[1][j], half[2][j], half[3][j], half[4][j], half[5][j]};
            float32x4_t y[SIDE];
            result_points(column, y);
            for (int i = 0; i < SIDE; i++) {
                result[4 * q][i][j] = vgetq_lane_f32(y[i], 0);
                result[4 * q + 1][i][j] = vgetq_lane_f32(y[i], 1);
                result[4 * q + 2][i][j] = vgetq_lane_f32(y[i], 2);
                result[4 * q + 3][i][j] = vgetq_lane_f32(y[i], 3);
            }
        }
    }
    for (int64_t p = 0; p < used; p++) {
        const int64_t top = (tile + p) / wide * SIDE, left = (tile + p) % wide * SIDE;
        for (int64_t i = 0; i < least(SIDE, v->out_h - top); i++)
            finish_run(v, plane + (top + i) * v->out_w + left, result[p][i], least(SIDE, v->out_w - left), channel);
    }
}

/* Items are blocks of twelve tiles of an image. */
void NAME(neon_winograd)(const struct conv *v, uint64_t first, uint64_t end, uint64_t thread)
{
    const int64_t tiles = ((v->out_h + SIDE - 1) / SIDE) * ((v->out_w + SIDE - 1) / SIDE);
    const int64_t blocks = (tiles + TILE_COLUMNS - 1) / TILE_COLUMNS, panels = (v->k + TILE_ROWS - 1) / TILE_ROWS;
    float *const points = own_floats(v->own, v->own_bytes, thread), *const seen = points + POINTS * v->c * TILE_COLUMNS;
    for (int64_t at = (int64_t)first; at < (int64_t)end; at++) {
        const int64_t image = at / blocks, tile = at % blocks * TILE_COLUMNS, used = least(TILE_COLUMNS, tiles - tile);
        for (int64_t c = 0; c < v->c; c++) {
            take_plane(v, v->x + (image * v->c + c) * v->h * v->w, tile, used, seen);
            transform_plane(v, seen, points + c * TILE_COLUMNS);
        }
        for (int64_t panel = 0; panel < panels; panel++) {
            float sums[POINTS][TILE_ROWS * TILE_COLUMNS];
            for (int64_t point = 0; point < POINTS; point++)
                for (int64_t l = 0; l < v->c; l += BLOCK_K)
                    neon_tile_f32(least(BLOCK_K, v->c - l), v->panels + ((panel * POINTS + point) * v->c + l) * TILE_ROWS,
                                  points + (point * v->c + l) * TILE_COLUMNS, sums[point], l > 0);
            for (int64_t i = 0; i < least(TILE_ROWS, v->k - panel * TILE_ROWS); i++) {
                const int64_t channel = panel * TILE_ROWS + i;
                write_tiles(v, sums, i, tile, used, channel, v->out + (image * v->k + channel) * v->out_h * v->out_w);
            }
        }
    }
}
