/* conv2d as products of matrices, sums in f32; compiled for each type of elements.
 *
 * Weights are packed once into panels of 8 output channels. Whoever works on a block of 48 pixels packs what their taps see into
 * panels of 12 pixels, taps outside the image as zeros, and runs the tiles of gemm_tile.h over all channels. */
#include "units/cpu/kernels/native/conv.h"
#include "units/cpu/kernels/native/gemm_tile.h"

enum { PANELS = 4, BLOCK = PANELS * TILE_COLUMNS };

void NAME(neon_conv_pack)(const struct conv *v, uint64_t first, uint64_t end, uint64_t thread);
void NAME(neon_conv)(const struct conv *v, uint64_t first, uint64_t end, uint64_t thread);

/* Items are panels of output channels of all groups. */
void NAME(neon_conv_pack)(const struct conv *v, uint64_t first, uint64_t end, uint64_t thread)
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

/* Where twelve pixels find one tap in a plane; -1 = outside. */
struct tap {
    int64_t at[TILE_COLUMNS];
    bool together; /* all inside, side by side */
};

static void find_tap(const struct conv *v, int64_t pixel, int64_t used, int64_t i, int64_t j, struct tap *t)
{
    int64_t y = pixel / v->out_w, x = pixel % v->out_w;
    t->together = used == TILE_COLUMNS;
    for (int64_t p = 0; p < TILE_COLUMNS; p++) {
        const int64_t row = y * v->stride - v->pad + i * v->dilation, column = x * v->stride - v->pad + j * v->dilation;
        const bool inside = p < used && row >= 0 && row < v->h && column >= 0 && column < v->w;
        t->at[p] = inside ? row * v->w + column : -1;
        t->together = t->together && inside && t->at[p] == t->at[0] + p;
        if (++x == v->out_w) {
            x = 0;
            y++;
        }
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
                           const float (*tile)[TILE_ROWS * TILE_COLUMNS])
{
    for (int64_t i = 0; i < channels; i++) {
        float run[BLOCK];
        for (int64_t p = 0; p < PANELS; p++)
            for (int64_t j = 0; j < TILE_COLUMNS; j++)
                run[p * TILE_COLUMNS + j] = tile[p][i * TILE_COLUMNS + j];
        finish_run(v, v->out + (image * v->k + channel + i) * v->out_h * v->out_w + pixel, run, pixels, channel + i);
    }
}

static void block(const struct conv *v, int64_t image, int64_t group, int64_t pixel, int64_t chunk, float *own)
{
    const int64_t depth = v->r * v->s * v->group_c, panels = (v->group_k + TILE_ROWS - 1) / TILE_ROWS;
    const int64_t pixels = least(BLOCK, v->out_h * v->out_w - pixel), parts = (pixels + TILE_COLUMNS - 1) / TILE_COLUMNS;
    const element *const x = v->x + (image * v->c + group * v->group_c) * v->h * v->w;
    for (int64_t p = 0; p < parts; p++)
        pack_pixels(v, x, pixel + p * TILE_COLUMNS, least(TILE_COLUMNS, pixels - p * TILE_COLUMNS),
                    own + p * depth * TILE_COLUMNS);
    for (int64_t panel = panels * chunk / v->chunks; panel < panels * (chunk + 1) / v->chunks; panel++) {
        const float *const a = v->panels + (group * panels + panel) * depth * TILE_ROWS;
        const int64_t channel = panel * TILE_ROWS;
        float tile[PANELS][TILE_ROWS * TILE_COLUMNS];
        for (int64_t l = 0; l < depth; l += BLOCK_K)
            for (int64_t p = 0; p < parts; p++)
                neon_tile_f32(least(BLOCK_K, depth - l), a + l * TILE_ROWS, own + (p * depth + l) * TILE_COLUMNS, tile[p], l > 0);
        write_channels(v, image, group * v->group_k + channel, least(TILE_ROWS, v->group_k - channel), pixel, pixels, tile);
    }
}

/* Items are chunks of channels of blocks of 48 pixels of groups of images. */
void NAME(neon_conv)(const struct conv *v, uint64_t first, uint64_t end, uint64_t thread)
{
    const int64_t blocks = (v->out_h * v->out_w + BLOCK - 1) / BLOCK;
    float *const own = own_floats(v->own, v->own_bytes, thread);
    for (int64_t at = (int64_t)first; at < (int64_t)end; at++) {
        const int64_t place = at / v->chunks, group = place / blocks;
        block(v, group / v->groups, group % v->groups, place % blocks * BLOCK, at % v->chunks, own);
    }
}
