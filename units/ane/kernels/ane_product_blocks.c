/* A tile of a descriptor has all input and output channels of its pixels, so that where both are many it has few pixels, and the
 * weights, which no engine's memory holds, are streamed for each tile. Blocks of pixels that stay in tile memory, with parts of
 * the output channels one after the other, stream them for each block, and the results of a part are there for the function
 * behind it.
 */
#include "units/ane/kernels/ane_product_blocks.h"

#include "isa/rounding.h"

#include <stdlib.h>

enum { ENGINES = 16 };

struct blocks {
    uint32_t rows; /* of the folded pixels, at once */
    uint32_t step; /* output channels at once */
    uint32_t parts;
    uint64_t beside_source, beside_result; /* bytes of tile memory that stay free beside them */
    bool whole;                            /* one block has all pixels, whose weights are more than one descriptor may stream */
    size_t *first;                         /* descriptor that has the coefficients of a part, from 1 */
};

/* Coefficients that a descriptor may stream through the engines' memory: sbryngelson/ane-guide, table 0x210. */
#define STREAM_BYTES (UINT64_C(16) << 20)

/* A block is copied first, which a fiftieth fewer bytes do not make up for where tile memory has room for source and results. */
#define BYTES_THAT_PAY 0.98

static uint64_t bytes_of(const struct ane_view *view, uint64_t channels)
{
    return (uint64_t)view->width * view->height * channels * ANE_HALF_BYTES;
}

static uint64_t descriptors_for(uint64_t depth, uint64_t channels)
{
    return divide_up(depth * channels * ANE_HALF_BYTES, STREAM_BYTES);
}

/* A block of pixels takes half of the tile memory, results a quarter. Where all pixels take up to three quarters and weights are
 * streamed by several descriptors, each of which would load the pixels again, they are one block, and results take an eighth. */
static struct blocks choose_blocks(const struct ane_builder *b, struct ane_view x, uint32_t channels)
{
    const uint64_t l2 = b->request->limits.l2_bytes, row = (uint64_t)x.width * x.channels * ANE_HALF_BYTES;
    const uint64_t streamed = STREAM_BYTES / ((uint64_t)x.channels * ANE_HALF_BYTES);
    const bool whole = streamed < channels && row * x.height > l2 / 2 && row * x.height <= l2 / 4 * 3;
    const uint64_t rows = whole ? x.height : l2 / 2 / row, pixels = (rows < x.height ? rows : x.height) * x.width;
    struct blocks blocks = {.rows = (uint32_t)(rows < x.height ? rows : x.height),
                            .beside_source = whole ? l2 / 4 : l2 / 2,
                            .beside_result = whole ? l2 / 8 : l2 / 4,
                            .whole = whole};
    uint64_t step = pixels ? blocks.beside_result / (pixels * ANE_HALF_BYTES) / ENGINES * ENGINES : 0;
    if (step > streamed)
        step = streamed / ENGINES * ENGINES;
    blocks.step = step < channels ? (uint32_t)step : channels;
    blocks.parts = blocks.step ? (uint32_t)divide_up(channels, blocks.step) : 0;
    return blocks;
}

/* Bytes to and from memory, in tiles of all channels. Each descriptor of those that stream the weights loads the pixels. A
 * function behind results that do not fit reads and writes them again. */
static double tiled_bytes(const struct ane_builder *b, struct ane_view x, uint32_t channels, bool function)
{
    const double pixel = (double)(x.channels + channels) * ANE_HALF_BYTES, pixels = (double)x.width * x.height;
    const double most = (double)b->request->limits.l2_bytes / pixel, tiles = most >= 1 ? pixels / most : pixels;
    const double weights = (double)x.channels * channels * ANE_HALF_BYTES;
    return (double)descriptors_for(x.channels, channels) * (double)bytes_of(&x, x.channels) + weights * (tiles > 1 ? tiles : 1) +
           (function ? 3 : 1) * (double)bytes_of(&x, channels);
}

static double blocked_bytes(const struct blocks *blocks, struct ane_view x, uint32_t channels)
{
    const double weights = (double)x.channels * channels * ANE_HALF_BYTES;
    return (double)bytes_of(&x, x.channels) + weights * (double)divide_up(x.height, blocks->rows) +
           (double)bytes_of(&x, channels);
}

static bool blocks_pay(const struct ane_builder *b, const struct blocks *blocks, struct ane_view x, uint32_t channels,
                       bool function)
{
    const uint64_t bank = divide_up(channels, ENGINES) * x.channels * ANE_HALF_BYTES;
    const uint64_t whole = bytes_of(&x, (uint64_t)x.channels + channels);
    if (blocks->whole && blocks->step)
        return true;
    const bool fits = whole <= b->request->limits.l2_bytes;
    if (!blocks->rows || !blocks->step || (fits && descriptors_for(x.channels, channels) == 1) || bank <= ANE_COEFFICIENT_BYTES)
        return false;
    return blocked_bytes(blocks, x, channels) < (fits ? BYTES_THAT_PAY : 1) * tiled_bytes(b, x, channels, function);
}

static void write_block(struct ane_builder *b, const struct blocks *blocks, const struct ane_conv *conv, int64_t activation,
                        struct ane_view x, struct ane_view out)
{
    const uint32_t mark = ane_build_mark(b);
    const struct ane_view inside = ane_build_between_beside(b, blocks->beside_source, x.channels, x.height, x.width);
    ane_build_copy(b, x, inside);
    for (uint32_t part = 0; part < blocks->parts && !b->failed; part++) {
        const uint32_t first = part * blocks->step, left = out.channels - first;
        struct ane_conv own = *conv;
        own.weight += (size_t)first * x.channels;
        own.bias = conv->bias ? conv->bias + first : NULL;
        own.same_as = blocks->first[part];
        if (!own.same_as)
            blocks->first[part] = b->count + 1;
        ane_build_activated_beside(b, blocks->beside_result, &own, activation, inside,
                                   ane_view_channels(out, first, left < blocks->step ? left : blocks->step));
    }
    ane_build_release(b, mark);
}

static void write_part(struct ane_builder *b, const struct blocks *blocks, const struct ane_conv *conv, int64_t activation,
                       struct ane_view x, struct ane_view out)
{
    for (uint32_t row = 0; row < x.height && !b->failed; row += blocks->rows) {
        const uint32_t count = x.height - row < blocks->rows ? x.height - row : blocks->rows;
        write_block(b, blocks, conv, activation, ane_view_rows(x, row, count), ane_view_rows(out, row, count));
    }
}

void ane_build_product(struct ane_builder *b, const struct ane_conv *conv, int64_t activation, const struct ane_fold *fold,
                       struct ane_view x, struct ane_view out)
{
    struct blocks blocks = choose_blocks(b, x, out.channels);
    const bool blocked = !b->failed && blocks_pay(b, &blocks, x, out.channels, activation > ANE_ACTIVATION_RELU);
    if (blocked && !(blocks.first = calloc(blocks.parts, sizeof *blocks.first)))
        ane_build_fail(b, "out of memory");
    for (unsigned i = 0; i < fold->parts && !b->failed; i++)
        if (blocked)
            write_part(b, &blocks, conv, activation, ane_fold_view(fold, i, x), ane_fold_view(fold, i, out));
        else
            ane_build_activated(b, conv, activation, ane_fold_view(fold, i, x), ane_fold_view(fold, i, out));
    free(blocks.first);
}
