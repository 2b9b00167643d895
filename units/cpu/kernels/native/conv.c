/* conv2d as products of matrices, sums in f32; compiled for each type of elements.
 *
 * Weights are packed once into panels of 8 output channels. Whoever works on a block of 48 pixels packs what their taps see into
 * panels of 12 pixels, taps outside the image as zeros, and runs the tiles of gemm_tile.h over all channels. */
#include "units/cpu/kernels/native/conv.h"
#include "units/cpu/kernels/native/gemm_tile.h"

typedef float packed, sum;
enum { GROUP = 1 };
#define PACK     NAME(neon_conv_pack)
#define CONV     NAME(neon_conv)
#define run_tile neon_tile_f32
#include "units/cpu/kernels/native/conv_drive.h"

/* Items are panels of output channels of all groups. */
void PACK(const struct conv *v, uint64_t first, uint64_t end, uint64_t thread)
{
    const int64_t panels = (v->group_k + TILE_ROWS - 1) / TILE_ROWS, taps = v->r * v->s, depth = taps * v->group_c;
    (void)thread;
    for (int64_t at = (int64_t)first; at < (int64_t)end; at++) {
        const int64_t channel = at % panels * TILE_ROWS;
        const element *const weights = v->weights + (at / panels * v->group_k + channel) * depth;
        float *to = v->panels + at * depth * TILE_ROWS;
        for (int64_t tap = 0; tap < taps; tap++)
            for (int64_t c = 0; c < v->group_c; c++)
                for (int64_t i = 0; i < TILE_ROWS; i++)
                    *to++ = channel + i < v->group_k ? load1(weights + i * depth + c * taps + tap) : 0;
    }
}

/* What the taps of twelve pixels see: [tap][channel][12]. */
static void pack_pixels(const struct conv *v, const element *x, int64_t pixel, int64_t used, float *to)
{
    for (int64_t i = 0; i < v->r; i++)
        for (int64_t j = 0; j < v->s; j++) {
            const element *plane = x;
            struct tap t;
            find_tap(v, pixel, used, i, j, &t);
            for (int64_t c = 0; c < v->group_c; c++, plane += v->h * v->w, to += TILE_COLUMNS) {
                if (t.together) {
                    const element *const at = plane + t.at[0];
                    vst1q_f32(to, load4(at));
                    vst1q_f32(to + 4, load4(at + 4));
                    vst1q_f32(to + 8, load4(at + 8));
                } else {
                    for (int p = 0; p < TILE_COLUMNS; p++)
                        to[p] = t.at[p] < 0 ? 0 : load1(plane + t.at[p]);
                }
            }
        }
}

/* Eight channels of a block of pixels. */
static void write_channels(const struct conv *v, int64_t image, int64_t channel, int64_t channels, int64_t pixel, int64_t pixels,
                           const sum (*tile)[TILE_ROWS * TILE_COLUMNS])
{
    for (int64_t i = 0; i < channels; i++) {
        float run[BLOCK];
        for (int64_t p = 0; p < PANELS; p++)
            for (int64_t j = 0; j < TILE_COLUMNS; j++)
                run[p * TILE_COLUMNS + j] = tile[p][i * TILE_COLUMNS + j];
        finish_run(v, v->out + (image * v->k + channel + i) * v->out_h * v->out_w + pixel, run, pixels, channel + i);
    }
}
