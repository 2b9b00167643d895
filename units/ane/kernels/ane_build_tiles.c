/* Convolutions that exceed one descriptor: parts of the output channels, strips of columns. */
#include "units/ane/kernels/ane_build.h"

enum { ENGINES = 16, STRIP = ANE_ROW_BYTES / ANE_HALF_BYTES /* strips begin at multiples of 64 bytes */ };

/* Coefficients that a descriptor may stream through the engines' memory: sbryngelson/ane-guide, table 0x210. */
#define STREAM_BYTES (UINT64_C(16) << 20)

static uint32_t least(uint64_t a, uint64_t b)
{
    return (uint32_t)(a < b ? a : b);
}

/* ---- columns ---- */

/* True when the smallest tile fits: the rows that one row of results needs, and that row, depending on where they come from and
 * go to. */
static bool tile_fits(const struct ane_builder *b, const struct ane_conv *conv, const struct ane_view *source,
                      const struct ane_view *result, uint64_t columns_in, uint64_t columns_out)
{
    const uint64_t rows = least(conv->kernel_height, source->height);
    const uint64_t in = source->place == ANE_PLACE_L2 ? 0 : rows * columns_in * source->channels * ANE_HALF_BYTES;
    const uint64_t out = result->place == ANE_PLACE_L2 ? 0 : columns_out * result->channels * ANE_HALF_BYTES;
    return in + out <= ane_build_room(b);
}

/* Columns that a strip reads for so many results. */
static uint64_t columns_for(const struct ane_conv *conv, uint64_t columns_out)
{
    return (columns_out - 1) * conv->stride_x + conv->kernel_width;
}

/* A strip other than the first begins 32 results too far left. Because of their padding its first results lack neighbours; the
 * strip to the left, which comes later, writes them again. */
static uint32_t lead_of(const struct ane_conv *conv, uint32_t first)
{
    return conv->pad_left && first ? STRIP : 0;
}

static void write_strip(struct ane_builder *b, const struct ane_conv *conv, struct ane_view source, struct ane_view result,
                        uint32_t first, uint32_t end)
{
    const uint32_t from = first - lead_of(conv, first), skipped = from * conv->stride_x;
    source.base += skipped * ANE_HALF_BYTES;
    result.base += from * ANE_HALF_BYTES;
    result.width = end - from;
    source.width = least(source.width - skipped, columns_for(conv, result.width) - conv->pad_left);
    ane_build_conv_task(b, conv, source, result);
}

/* The widest strips of which a tile fits; 0 = none. */
static uint32_t strip_width(const struct ane_builder *b, const struct ane_conv *conv, const struct ane_view *source,
                            const struct ane_view *result)
{
    uint32_t width = result->width / STRIP * STRIP;
    for (; width; width -= STRIP) {
        const uint64_t columns = width + lead_of(conv, 1);
        if (tile_fits(b, conv, source, result, columns_for(conv, columns), columns))
            break;
    }
    return width;
}

/* Consecutive pixels as rows of `width`: for a convolution of single pixels only the number of pixels matters. */
static bool fold_to(const struct ane_builder *b, struct ane_view *view, uint64_t pixels, uint32_t width)
{
    if (pixels % width || pixels / width > b->request->limits.dimension_max || view->broadcast_width ||
        (view->place != ANE_PLACE_DRAM && view->place != ANE_PLACE_L2) ||
        (view->height > 1 && view->row != view->width * ANE_HALF_BYTES))
        return false;
    view->width = width;
    view->height = (uint32_t)(pixels / width);
    view->row = width * ANE_HALF_BYTES;
    return true;
}

/* Tiles are whole rows, so rows too long for a tile become shorter ones: of the 256 pixels that an engine takes at once, or
 * fewer.
 */
static bool fold_rows(const struct ane_builder *b, const struct ane_conv *conv, struct ane_view *source, struct ane_view *result)
{
    enum { WORK_UNIT = 256 };
    if (conv->kernel_width != 1 || conv->kernel_height != 1 || conv->stride_x != 1 || conv->stride_y != 1 || conv->step > 1 ||
        conv->pad_left || conv->pad_top || source->width != result->width || source->height != result->height)
        return false;
    const uint64_t pixels = (uint64_t)source->width * source->height;
    for (uint32_t width = WORK_UNIT; width >= STRIP; width /= 2) {
        struct ane_view in = *source, out = *result;
        if (width >= source->width || !fold_to(b, &in, pixels, width) || !fold_to(b, &out, pixels, width) ||
            !tile_fits(b, conv, &in, &out, width, width))
            continue;
        *source = in;
        *result = out;
        return true;
    }
    return false;
}

static void write_columns(struct ane_builder *b, const struct ane_conv *conv, struct ane_view source, struct ane_view result)
{
    if (tile_fits(b, conv, &source, &result, source.width, result.width) || fold_rows(b, conv, &source, &result)) {
        ane_build_conv_task(b, conv, source, result);
        return;
    }
    const bool plain = conv->step <= 1 && source.place == ANE_PLACE_DRAM && result.place == ANE_PLACE_DRAM;
    const uint32_t strip = plain ? strip_width(b, conv, &source, &result) : 0;
    if (strip == 0) {
        ane_build_limit(
            b, "%u rows of %u elements in %u channels and %u results in %u channels do not fit the %u bytes of tile memory",
            (unsigned)conv->kernel_height, (unsigned)least(source.width, STRIP), (unsigned)source.channels,
            (unsigned)least(result.width, STRIP), (unsigned)result.channels, (unsigned)b->request->limits.l2_bytes);
        return;
    }
    for (uint32_t first = (result.width - 1) / strip * strip; !b->failed; first -= strip) {
        write_strip(b, conv, source, result, first, least(result.width, (uint64_t)first + strip));
        if (first == 0)
            break;
    }
}

/* ---- channels ---- */

/* Output channels whose weights one descriptor may stream, in whole rounds of the engines, and of which a row fits beside the
 * source. */
static uint32_t channels_at_once(const struct ane_builder *b, const struct ane_conv *conv, const struct ane_view *source,
                                 const struct ane_view *result)
{
    const uint64_t each = (uint64_t)source->channels * conv->kernel_width * conv->kernel_height * ANE_HALF_BYTES;
    uint64_t at_once = STREAM_BYTES / each / ENGINES * ENGINES;
    if (conv->groups > 1 || conv->depthwise)
        return result->channels;
    if (at_once > b->request->limits.channels_max)
        at_once = b->request->limits.channels_max / ENGINES * ENGINES;
    while (at_once > ENGINES) { /* strips first, then channels: results beyond half of the tile memory */
        const uint64_t columns = least(result->width, 2 * STRIP);
        if (result->place == ANE_PLACE_L2 || columns * at_once * ANE_HALF_BYTES <= b->request->limits.l2_bytes / 2)
            break;
        at_once = at_once / 2 / ENGINES * ENGINES;
    }
    return at_once < ENGINES ? ENGINES : least(at_once, result->channels);
}

void ane_build_conv(struct ane_builder *b, const struct ane_conv *conv, struct ane_view source, struct ane_view result)
{
    if (b->failed)
        return;
    const uint32_t step = channels_at_once(b, conv, &source, &result);
    const uint64_t each = (uint64_t)source.channels * conv->kernel_width * conv->kernel_height;
    for (uint32_t first = 0; first < result.channels && !b->failed; first += step) {
        struct ane_conv part = *conv;
        if (first) {
            part.weight += first * each;
            part.bias = conv->bias ? conv->bias + first : NULL;
        }
        write_columns(b, &part, source, ane_view_channels(result, first, least(step, result.channels - first)));
    }
}
