/* The part of conv2d as products that does not depend on types. Who includes this has defined
 *     element, packed, sum   types of the image, in panels, of a tile's sums
 *     GROUP                  channels that a step of a tile takes
 *     PACK, CONV             names of the functions
 *     run_tile               a tile of gemm_tile.h
 * and defines what is declared here.
 */
#include "units/cpu/kernels/native/conv_args.h"
#include "units/cpu/kernels/native/gemm_tile.h"
#include "units/cpu/kernels/native/neon.h"

enum { PANELS = 4, BLOCK = PANELS * TILE_COLUMNS };

void PACK(const struct conv *v, uint64_t first, uint64_t end, uint64_t thread);
void CONV(const struct conv *v, uint64_t first, uint64_t end, uint64_t thread);

/* What the taps of twelve pixels see: [tap][group of channels][12][GROUP]. */
static void pack_pixels(const struct conv *v, const element *x, int64_t pixel, int64_t used, packed *to);
/* Eight channels of a block of pixels. */
static void write_channels(const struct conv *v, int64_t image, int64_t channel, int64_t channels, int64_t pixel, int64_t pixels,
                           const sum (*tile)[TILE_ROWS * TILE_COLUMNS]);

static inline int64_t steps_of(const struct conv *v)
{
    return v->r * v->s * ((v->group_c + GROUP - 1) / GROUP);
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

static void block(const struct conv *v, int64_t image, int64_t group, int64_t pixel, int64_t chunk, packed *own)
{
    const int64_t steps = steps_of(v), panels = (v->group_k + TILE_ROWS - 1) / TILE_ROWS;
    const int64_t pixels = least(BLOCK, v->out_h * v->out_w - pixel), parts = (pixels + TILE_COLUMNS - 1) / TILE_COLUMNS;
    const element *const x = v->x + (image * v->c + group * v->group_c) * v->h * v->w;
    for (int64_t p = 0; p < parts; p++)
        pack_pixels(v, x, pixel + p * TILE_COLUMNS, least(TILE_COLUMNS, pixels - p * TILE_COLUMNS),
                    own + p * steps * GROUP * TILE_COLUMNS);
    for (int64_t panel = panels * chunk / v->chunks; panel < panels * (chunk + 1) / v->chunks; panel++) {
        const packed *const a = (const packed *)(const void *)v->panels + (group * panels + panel) * steps * GROUP * TILE_ROWS;
        const int64_t channel = panel * TILE_ROWS;
        sum tile[PANELS][TILE_ROWS * TILE_COLUMNS];
        for (int64_t l = 0; l < steps; l += BLOCK_K)
            for (int64_t p = 0; p < parts; p++)
                run_tile(least(BLOCK_K, steps - l), a + l * GROUP * TILE_ROWS, own + (p * steps + l) * GROUP * TILE_COLUMNS,
                         tile[p], l > 0);
        write_channels(v, image, group * v->group_k + channel, least(TILE_ROWS, v->group_k - channel), pixel, pixels, tile);
    }
}

/* Items are chunks of channels of blocks of 48 pixels of groups of images. */
void CONV(const struct conv *v, uint64_t first, uint64_t end, uint64_t thread)
{
    const int64_t blocks = (v->out_h * v->out_w + BLOCK - 1) / BLOCK;
    packed *const own = (packed *)(void *)own_floats(v->own, v->own_bytes, thread);
    for (int64_t at = (int64_t)first; at < (int64_t)end; at++) {
        const int64_t place = at / v->chunks, group = place / blocks;
        block(v, group / v->groups, group % v->groups, place % blocks * BLOCK, at % v->chunks, own);
    }
}
