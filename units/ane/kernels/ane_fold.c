#include "units/ane/kernels/ane_fold.h"

enum { ROW_ELEMENTS = ANE_ROW_BYTES / ANE_HALF_BYTES };

/* The widest row that divides the elements and is at least half of the most; otherwise the most. */
static uint32_t row_width(uint64_t count, uint32_t most)
{
    for (uint32_t width = most; width >= most / 2 && width >= ROW_ELEMENTS; width -= ROW_ELEMENTS)
        if (count % width == 0)
            return width;
    return most;
}

static void add_part(struct ane_fold *fold, uint32_t first_row, uint32_t channels, uint32_t height, uint32_t width)
{
    if (height)
        fold->part[fold->parts++] = (struct ane_fold_part){first_row, channels, height, width};
}

struct ane_fold ane_fold_elements(uint64_t count, uint32_t width_max, uint32_t channels)
{
    struct ane_fold fold = {.parts = 0};
    if (count <= width_max && (channels <= 1 || count < 2 * ROW_ELEMENTS)) {
        fold.width = (uint32_t)count;
        fold.height = 1;
        add_part(&fold, 0, 1, 1, fold.width);
        return fold;
    }
    uint32_t most = width_max;
    while (channels > 1 && most > ROW_ELEMENTS && count / most < channels)
        most = most / 2 / ROW_ELEMENTS * ROW_ELEMENTS;
    fold.width = row_width(count, most);
    const uint32_t full = (uint32_t)(count / fold.width), rest = (uint32_t)(count % fold.width);
    const uint32_t even = channels > 1 ? full / channels : 0;
    fold.height = full + (rest > 0);
    add_part(&fold, 0, channels, even, fold.width);
    add_part(&fold, even * channels, 1, full - even * channels, fold.width);
    if (rest)
        add_part(&fold, full, 1, 1, rest);
    return fold;
}

struct ane_view ane_fold_view(const struct ane_fold *fold, unsigned index, struct ane_view whole)
{
    const struct ane_fold_part *part = &fold->part[index];
    whole.base += part->first_row * whole.row;
    whole.height = part->height;
    whole.width = part->width;
    if (part->channels > 1) {
        whole.channels = part->channels;
        whole.plane = part->height * whole.row;
    }
    return whole;
}
