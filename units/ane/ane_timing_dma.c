/* What moves between memory and the engine: operands in tiles, coefficients in banks. */
#include "units/ane/ane_timing_internal.h"

/* DMA addresses memory in units of 64 bytes: the strides and bases of descriptors are given in them. */
#define DMA_GRANULE 64u

static uint64_t row_bytes(const struct ane_operand *operand, uint64_t width)
{
    const uint64_t bytes = (operand->broadcast_width ? 1 : width) * ane_format_bytes(operand->format);
    return ane_ceil_div(bytes, DMA_GRANULE) * DMA_GRANULE;
}

static void set_stream(struct ane_stream *stream, const struct ane_operand *operand, uint64_t width, uint64_t rows)
{
    if (operand->place != ANE_PLACE_DRAM)
        return;
    stream->bar = operand->bar;
    stream->offset = operand->base;
    stream->bytes = row_bytes(operand, width) * rows;
}

static uint32_t tiles_of(const struct ane_task *task)
{
    const uint64_t tiles = ane_ceil_div(task->height_out, task->tile_height ? task->tile_height : task->height_out);
    return tiles > 1 ? (uint32_t)tiles : 1;
}

/* The second source of a product takes the place of coefficients. What the engines' memory does not hold comes again for each
 * tile: from tile memory, if it has room beside the tiles, which take half, else from beyond. */
static void set_second_passes(const struct ane_params *params, const struct ane_task *task, struct ane_demand *demand)
{
    const uint64_t factors = (uint64_t)task->channels_in * task->channels_out * ane_format_bytes(task->second.format);
    demand->second_passes = task->second.place == ANE_PLACE_NONE ? 0 : 1;
    if (task->ne_op != ANE_NE_MATMUL || task->engine != ANE_ENGINE_NE ||
        (double)factors <= params->coefficient_bytes * demand->engines)
        return;
    const uint64_t again = factors * (tiles_of(task) - 1);
    if ((double)factors > params->l2_bytes / 2) {
        demand->second_passes = tiles_of(task);
        demand->tile_write += demand->second.bytes * (tiles_of(task) - 1);
    }
    demand->tile_read += again;
    demand->mac += (double)again / params->l2_bytes_per_cycle;
}

static void set_coefficients(const struct ane_params *params, const struct ane_task *task, struct ane_demand *demand)
{
    uint64_t lowest = UINT64_MAX, sum = 0, largest = 0;
    unsigned used = 0;
    for (unsigned i = 0; i < ANE_BANKS; i++) {
        const struct ane_bank *bank = &task->bank[i];
        if (!bank->enabled)
            continue;
        used++;
        sum += bank->bytes;
        lowest = bank->base < lowest ? bank->base : lowest;
        largest = bank->bytes > largest ? bank->bytes : largest;
    }
    if (used == 0)
        return;
    demand->coefficients.bytes = sum;
    demand->coefficients.offset = lowest;
    demand->coefficients.bar = task->coefficient_bar ? task->coefficient_bar : 1;
    demand->coefficient_bank = largest;
    /* Coefficients that an engine's memory can hold stay there for all tiles. */
    demand->passes = (double)largest > params->coefficient_bytes ? tiles_of(task) : 1;
    /* Work starts with the first group of output channels, or with one half of a double-buffered memory. */
    const double at_once = (double)((uint64_t)used << task->channel_group_log2);
    double first = task->channels_out > at_once ? at_once / task->channels_out : 1;
    const double half = params->coefficient_bytes / 2 / (double)largest;
    demand->coefficient_first = first < half ? first : half;
}

void ane_demand_dma(const struct ane_params *params, const struct ane_task *task, struct ane_demand *demand)
{
    const bool reduces = ane_task_reduces_rows(task);
    const uint64_t groups = reduces && task->groups > 1 ? task->groups : 1;
    const uint64_t rows_in = (uint64_t)task->height_in * task->channels_in * groups;
    const uint64_t rows_out = (uint64_t)task->height_out * task->channels_out * groups;
    set_stream(&demand->source, &task->source, task->width_in, rows_in);
    if (task->ne_op == ANE_NE_MATMUL && task->engine == ANE_ENGINE_NE)
        set_stream(&demand->second, &task->second, task->channels_out, task->channels_in);
    else
        set_stream(&demand->second, &task->second, task->width_in, rows_in);
    set_stream(&demand->result, &task->result, reduces ? 1 : task->width_out, rows_out);
    demand->tile_write += demand->source.bytes + demand->second.bytes;
    set_second_passes(params, task, demand);
    demand->tile_read += demand->result.bytes;

    /* Tiles as the descriptor says; what is larger than half of tile memory passes in parts nevertheless. */
    const uint64_t rows = reduces ? groups : task->height_out;
    double tiles = (double)ane_ceil_div(rows, task->tile_height ? task->tile_height : rows);
    const double parts = 2.0 * (double)(demand->source.bytes + demand->second.bytes + demand->result.bytes) / params->l2_bytes;
    tiles = tiles > parts ? tiles : parts;
    demand->tiles = tiles > 1 ? tiles : 1;
    demand->passes = 1;
    set_coefficients(params, task, demand);
}

void ane_stream_time(const struct ane_params *params, const struct ane_memory *memory, struct ane_stream *stream, bool write)
{
    if (stream->bytes == 0)
        return;
    uint64_t held = 0;
    const double there =
        memory->stream_ns ? memory->stream_ns(memory->context, stream->bar, stream->offset, stream->bytes, write, &held) : 0;
    const double near = write ? 0 : (double)held, far = (double)stream->bytes - near;
    const double own = (far + near / params->dma_slc_rate) / params->dma_GBps; /* GB/s = bytes/ns */
    stream->memory_ns += there;
    stream->ns += there > own ? there : own;
}
