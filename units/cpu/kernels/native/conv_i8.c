/* conv2d with signed bytes and 32-bit sums, by dot products of four channels; otherwise as conv.c. */
#include <stdint.h>

typedef int8_t element, packed;
typedef int32_t sum;
enum { GROUP = 4 };
#define PACK     neon_conv_pack_i8
#define CONV     neon_conv_i8
#define run_tile neon_tile_i8
#include "units/cpu/kernels/native/conv_drive.h"

/* Items are panels of output channels of all groups: [tap][four channels][8][4]. */
void PACK(const struct conv *v, uint64_t first, uint64_t end, uint64_t thread)
{
    const int64_t panels = (v->group_k + TILE_ROWS - 1) / TILE_ROWS, taps = v->r * v->s, depth = taps * v->group_c;
    (void)thread;
    for (int64_t at = (int64_t)first; at < (int64_t)end; at++) {
        const int64_t channel = at % panels * TILE_ROWS;
        const int8_t *const weights = v->weights + (at / panels * v->group_k + channel) * depth;
        int8_t *to = (int8_t *)v->panels + at * steps_of(v) * GROUP * TILE_ROWS;
        for (int64_t tap = 0; tap < taps; tap++)
            for (int64_t c = 0; c < v->group_c; c += GROUP)
                for (int64_t i = 0; i < TILE_ROWS; i++)
                    for (int64_t d = c; d < c + GROUP; d++)
                        *to++ = channel + i < v->group_k && d < v->group_c ? weights[i * depth + d * taps + tap] : 0;
    }
}

/* Four planes at the same twelve places; the last eight of them are written over the first ones. */
static void pack_together(const int8_t *at, int64_t plane, int8_t *to)
{
    for (int i = 0; i <= 4; i += 4) {
        const int8x8x4_t four = {
            {vld1_s8(at + i), vld1_s8(at + plane + i), vld1_s8(at + 2 * plane + i), vld1_s8(at + 3 * plane + i)}};
        vst4_s8(to + GROUP * i, four);
    }
}

static void pack_pixels(const struct conv *v, const int8_t *x, int64_t pixel, int64_t used, int8_t *to)
{
    const int64_t plane = v->h * v->w;
    for (int64_t i = 0; i < v->r; i++)
        for (int64_t j = 0; j < v->s; j++) {
            struct tap t;
            find_tap(v, pixel, used, i, j, &t);
            for (int64_t c = 0; c < v->group_c; c += GROUP, to += GROUP * TILE_COLUMNS) {
                if (t.together && c + GROUP <= v->group_c) {
                    pack_together(x + c * plane + t.at[0], plane, to);
                    continue;
                }
                for (int p = 0; p < TILE_COLUMNS; p++)
                    for (int64_t d = 0; d < GROUP; d++)
                        to[GROUP * p + d] = t.at[p] < 0 || c + d >= v->group_c ? 0 : x[(c + d) * plane + t.at[p]];
            }
        }
}

static void write_channels(const struct conv *v, int64_t image, int64_t channel, int64_t channels, int64_t pixel, int64_t pixels,
                           const int32_t (*tile)[TILE_ROWS * TILE_COLUMNS])
{
    const int32_t *const bias = (const int32_t *)(const void *)v->bias;
    for (int64_t i = 0; i < channels; i++) {
        int32_t *const out = (int32_t *)(void *)v->out + (image * v->k + channel + i) * v->out_h * v->out_w + pixel;
        const uint32_t more = v->has_bias ? (uint32_t)bias[channel + i] : 0;
        for (int64_t p = 0; p < pixels; p++)
            out[p] = (int32_t)((uint32_t)tile[p / TILE_COLUMNS][i * TILE_COLUMNS + p % TILE_COLUMNS] + more);
    }
}
