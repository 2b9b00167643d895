/* Fills in the fields of a task that may be left 0, with what most public programs have. */
#include "isa/ane/ane_task_parts.h"

static void default_hints(struct ane_operand *source)
{
    if (source->place == ANE_PLACE_DRAM && !(source->cache_hint | source->cache_reuse | source->cache_no_reuse)) {
        source->cache_hint = 2;
        source->cache_reuse = 14;
        source->cache_no_reuse = 12;
    }
}

static unsigned log2_up(uint32_t value)
{
    unsigned n = 0;
    while (n < 15 && (UINT32_C(1) << n) < value)
        n++;
    return n;
}

static unsigned log2_down(uint32_t value)
{
    const unsigned n = log2_up(value);
    return n && (UINT32_C(1) << n) > value ? n - 1 : n;
}

/* Tiles of the planar engine are at least 16 elements wide (64 channels of 1 x 1 in tinygrad's sum). A row of a tile in tile
 * memory holds the width of the tile and little more. */
static uint8_t default_planar_tile(const struct ane_task *task)
{
    const struct ane_operand *source = task->source.broadcast_width && ane_task_has_second(task) ? &task->second : &task->source;
    const uint32_t row = source->place == ANE_PLACE_DRAM ? source->other.row : source->row;
    uint32_t width = row / ane_format_bytes(source->format);
    if (width < 16 || width > task->width_in)
        width = task->width_in;
    return (uint8_t)(log2_up(task->tile_height) << 4 | (width < 16 ? 4 : log2_down(width)));
}

static void complete_ne(struct ane_task *task)
{
    if (!(task->shape_preferred | task->shape_least | task->shape_most))
        task->shape_preferred = task->shape_least = task->shape_most = task->small_source ? 4 : 1;
    if (task->kernel_format == ANE_KERNEL_F16 && task->binary_point == 0)
        task->binary_point = 28;
    if (task->coefficient_bar == 0 && ane_task_coefficients(task))
        task->coefficient_bar = 1;
}

static void complete_pe(struct ane_task *task)
{
    if (task->planar_tile == 0)
        task->planar_tile = default_planar_tile(task);
    if (task->padding_mode == 0 && (task->pe_reduce == ANE_REDUCE_MAX || task->pe_reduce == ANE_POOL_MAX))
        task->padding_mode = 1;
}

static void complete_interleave(struct ane_operand *operand)
{
    if (operand->place != ANE_PLACE_NONE && operand->interleave == 0)
        operand->interleave = 1;
}

void ane_task_complete(struct ane_task *task)
{
    default_hints(&task->source);
    default_hints(&task->second);
    if (task->result.place == ANE_PLACE_DRAM && task->result.cache_hint == 0)
        task->result.cache_hint = 3;
    complete_interleave(&task->source);
    complete_interleave(&task->second);
    complete_interleave(&task->result);
    if (task->debug_log_events == 0)
        task->debug_log_events = task->last ? 0xfff86a : 0xfff868;
    if (task->unicast_channels == 0)
        task->unicast_channels = 1;
    if (task->engine == ANE_ENGINE_NE)
        complete_ne(task);
    else
        complete_pe(task);
}
