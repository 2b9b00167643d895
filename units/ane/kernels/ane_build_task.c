/* Descriptors: one function per kind of work. */
#include "isa/list_grow.h"
#include "isa/rounding.h"
#include "isa/array_count.h"
#include "units/ane/kernels/ane_build.h"
#include "units/ane/kernels/ane_constants.h"

#include <stdlib.h>
#include <string.h>

/* Output channels that an engine takes at once: at most 32 in small source mode, otherwise 16 (joshuaswarren/mil-hwx-compiler).
 */
enum {
    ENGINES = 16,
    OCG_MOST_LOG2 = 4,
    OCG_MOST_SMALL_LOG2 = 5,
    GROUPS_MAX = 8191,
    CHAIN_ROWS = 16,
    PLANAR_ROWS = 32 /* eiln/ane kernels */
};

/* Makes room for one more descriptor; NULL when the builder failed. */
static struct ane_task *next_task(struct ane_builder *b)
{
    if (b->failed)
        return NULL;
    struct ane_task *const grown = list_grow(b->task, b->count, &b->room, sizeof *grown);
    if (!grown) {
        ane_build_fail(b, "out of memory");
        return NULL;
    }
    b->task = grown;
    struct ane_task *task = &b->task[b->count++];
    *task = (struct ane_task){.post_scale = 1,
                              .pe_pre_scale = 1,
                              .pe_scale = 1,
                              .pe_final_scale = 1,
                              .groups = 1,
                              .kernel_width = 1,
                              .kernel_height = 1,
                              .stride_x = 1,
                              .stride_y = 1,
                              .step_x = 1,
                              .step_y = 1,
                              .kernel_format = ANE_KERNEL_F16};
    return task;
}

static struct ane_operand operand_of(const struct ane_view *view)
{
    return (struct ane_operand){.place = view->place,
                                .format = ANE_F16,
                                .bar = view->bar,
                                .base = view->base,
                                .row = view->row,
                                .plane = view->plane,
                                .depth = view->channels * view->plane,
                                .group = view->channels * view->plane,
                                .broadcast_width = view->broadcast_width,
                                .interleave = 1};
}

static void set_shapes(struct ane_builder *b, struct ane_task *task, const struct ane_view *source, const struct ane_view *result)
{
    const uint32_t most = b->request->limits.channels_max,
                   channels = source->channels > result->channels ? source->channels : result->channels;
    if (channels > most)
        ane_build_limit(b, "%u channels: %s has at most %u", (unsigned)channels, ane_build_generation(b), (unsigned)most);
    task->width_in = source->width;
    task->height_in = source->height;
    task->channels_in = source->channels;
    task->width_out = result->width;
    task->height_out = result->height;
    task->channels_out = result->channels;
    task->source = operand_of(source);
    task->result = operand_of(result);
}

/* Adds a descriptor with source and result; NULL when the builder failed. */
static struct ane_task *shaped_task(struct ane_builder *b, const struct ane_view *source, const struct ane_view *result)
{
    struct ane_task *task = next_task(b);
    if (task)
        set_shapes(b, task, source, result);
    return task;
}

/* Tile memory for tiles. The second source of a product that the engines' own memory does not hold passes through half of it. */
static uint64_t room_for_tiles(const struct ane_builder *b, const struct ane_task *task)
{
    const uint64_t room = ane_build_room(b), factors = (uint64_t)task->channels_in * task->channels_out * ANE_HALF_BYTES;
    const bool passes = task->ne_op == ANE_NE_MATMUL && task->second.place == ANE_PLACE_DRAM;
    return passes && factors > (uint64_t)ENGINES * ANE_COEFFICIENT_BYTES ? room / 2 : room;
}

/* Rows of the result per tile: what a tile reads and writes in memory fills the tile memory that has no residents. Tiles are
 * even, so that none is a small rest. (Re-streamed weights of large products on M1 and M2, ANEForge: 4096 x 4096 x 4096 takes as
 * long as 32 passes, not 64.) */
static uint32_t rows_per_tile(const struct ane_builder *b, const struct ane_task *task)
{
    const uint64_t room = room_for_tiles(b, task), reach = task->kernel_height;
    const uint64_t in = task->source.place == ANE_PLACE_L2 ? 0 : (uint64_t)task->width_in * task->channels_in * ANE_HALF_BYTES;
    const uint64_t out = task->result.place == ANE_PLACE_L2 ? 0 : (uint64_t)task->width_out * task->channels_out * ANE_HALF_BYTES;
    const uint64_t per_row = in * task->stride_y / task->step_y + out;
    const uint64_t whole = in * task->height_in + out * task->height_out;
    const uint64_t fixed = in * (reach > task->stride_y ? reach - task->stride_y : 0);
    if (whole <= room)
        return task->height_out;
    const uint64_t rows = room > fixed ? (room - fixed) / (per_row ? per_row : 1) : 0;
    const uint64_t tiles = rows > 1 ? (task->height_out + rows - 1) / rows : task->height_out;
    return tiles ? (uint32_t)((task->height_out + tiles - 1) / tiles) : 1;
}

static uint32_t log2_up(uint32_t value)
{
    uint32_t log2 = 0;
    while (log2 < 31 && (uint32_t)1 << log2 < value)
        log2++;
    return log2;
}

static uint32_t log2_down(uint32_t value)
{
    uint32_t log2 = 0;
    while (value >> log2 > 1)
        log2++;
    return log2;
}

static uint32_t engines_for(uint32_t channels)
{
    return channels >= ENGINES ? ENGINES : (uint32_t)1 << log2_up(channels);
}

/* Checks that every window begins inside the image or the padding before it. */
static void check_windows(struct ane_builder *b, const struct ane_task *task)
{
    if ((uint64_t)(task->width_out - 1) * task->stride_x >= ((uint64_t)task->width_in + task->pad_left) * task->step_x ||
        (uint64_t)(task->height_out - 1) * task->stride_y >= ((uint64_t)task->height_in + task->pad_top) * task->step_y)
        ane_build_limit(b, "windows that begin beyond the image of %ux%u: a descriptor has none", (unsigned)task->height_in,
                        (unsigned)task->width_in);
}

/* Scales are fp16; 0 stands for 1. */
static float half_or_one(float scale)
{
    return scale != 0 ? ane_constant_half(scale) : 1;
}

/* ---- the MAC engines ---- */

static bool is_ring(const struct ane_view *view)
{
    return view->place == ANE_PLACE_CHAIN;
}

/* Small images: an engine takes 64 pixels of 4 channels or 32 of 8 instead of 256 of one when that is less work for a tile
 * (sbryngelson/ane-guide, chapter 20), and always for up to 64 pixels (conv and gemm of tinygrad). */
static bool is_small(const struct ane_task *task)
{
    const uint64_t pixels = (uint64_t)task->width_out * task->tile_height,
                   channels = task->channels_out / (task->depthwise ? 1 : task->groups);
    const uint64_t wide = divide_up(pixels, 256) * divide_up(channels, task->engines);
    const uint64_t small = divide_up(pixels, 64) * divide_up(channels, 4 * (uint64_t)task->engines);
    const uint64_t tiny = divide_up(pixels, 32) * divide_up(channels, 8 * (uint64_t)task->engines);
    return pixels <= 64 || small < wide || tiny < wide;
}

/* As Apple's compiler does on M1 (joshuaswarren/mil-hwx-compiler): the largest power of two that gives every engine a whole group
 * of channels; one where every output has an input channel of its own. */
static uint32_t channel_group_log2(const struct ane_task *task, uint32_t channels)
{
    const uint32_t log2 = log2_down(channels / task->engines), most = task->small_source ? OCG_MOST_SMALL_LOG2 : OCG_MOST_LOG2;
    return task->depthwise ? 0 : log2 < most ? log2 : most;
}

static void set_engines(const struct ane_builder *b, struct ane_task *task)
{
    const uint32_t channels = task->channels_out / (task->depthwise ? 1 : task->groups); /* that work at the same time */
    task->engine = ANE_ENGINE_NE;
    task->engines = engines_for(channels);
    task->tile_height = rows_per_tile(b, task);
    task->small_source = is_small(task);
    task->channel_group_log2 = channel_group_log2(task, channels);
    task->double_buffer = divide_up(channels, task->engines) <= 4; /* 8 accumulators: two sets of four */
}

static bool check_conv(struct ane_builder *b, const struct ane_conv *conv)
{
    const struct ane_limits *limits = &b->request->limits;
    const char *generation = ane_build_generation(b);
    if (conv->kernel_width > limits->kernel_max || conv->kernel_height > limits->kernel_max)
        ane_build_limit(b, "kernel %ux%u: %s convolves at most %ux%u", (unsigned)conv->kernel_height,
                        (unsigned)conv->kernel_width, generation, (unsigned)limits->kernel_max, (unsigned)limits->kernel_max);
    if (conv->stride_x > 3 || conv->stride_y > 3)
        ane_build_limit(b, "stride %ux%u: a descriptor has two bits for each, at most 3", (unsigned)conv->stride_y,
                        (unsigned)conv->stride_x);
    if (conv->pad_left > 31 || conv->pad_top > 31)
        ane_build_limit(b, "padding of %u and %u: a descriptor has five bits for each, at most 31", (unsigned)conv->pad_top,
                        (unsigned)conv->pad_left);
    if (conv->step > 3)
        ane_build_limit(b, "transposed convolution by %u: a descriptor has two bits, at most 3", (unsigned)conv->step);
    if (conv->groups > GROUPS_MAX)
        ane_build_limit(b, "%u groups: a descriptor has 13 bits, at most %d", (unsigned)conv->groups, GROUPS_MAX);
    return !b->failed;
}

static void set_kernel(struct ane_task *task, const struct ane_conv *conv)
{
    task->ne_op = ANE_NE_CONVOLUTION;
    task->kernel_width = conv->kernel_width;
    task->kernel_height = conv->kernel_height;
    task->stride_x = conv->stride_x;
    task->stride_y = conv->stride_y;
    task->pad_left = conv->pad_left;
    task->pad_top = conv->pad_top;
    task->step_x = task->step_y = conv->step ? conv->step : 1;
    task->groups = conv->groups;
    if (conv->groups > 1) { /* strides between groups (joshuaswarren/mil-hwx-compiler) */
        task->source.group = task->source.plane * (task->channels_in / conv->groups);
        task->result.group = task->result.plane * (task->channels_out / conv->groups);
    }
    task->depthwise = conv->depthwise;
    task->bias = conv->bias != NULL;
    task->nonlinear = conv->relu ? ANE_RELU : ANE_LINEAR;
    task->post_scale = half_or_one(conv->scale);
}

/* Coefficients are packed by engines and groups of channels, which follow from the shape of the image, too. */
static bool share_coefficients(const struct ane_builder *b, const struct ane_conv *conv, struct ane_task *task)
{
    const struct ane_task *const other = conv->same_as ? &b->task[conv->same_as - 1] : NULL;
    if (!other || other->engines != task->engines || other->channel_group_log2 != task->channel_group_log2 ||
        other->small_source != task->small_source)
        return false;
    memcpy(task->bank, other->bank, sizeof task->bank);
    task->kernel_format = other->kernel_format;
    task->palette_bits = other->palette_bits;
    task->sparse = other->sparse;
    task->post_scale = other->post_scale;
    return true;
}

void ane_build_conv_task(struct ane_builder *b, const struct ane_conv *conv, struct ane_view source, struct ane_view result)
{
    struct ane_task *task = check_conv(b, conv) ? shaped_task(b, &source, &result) : NULL;
    if (!task)
        return;
    set_kernel(task, conv);
    set_engines(b, task);
    check_windows(b, task);
    if (b->failed || share_coefficients(b, conv, task))
        return;
    ane_constants_pack(b, conv, task);
}

void ane_build_matmul(struct ane_builder *b, struct ane_view source, struct ane_view second, float scale, struct ane_view result)
{
    struct ane_task *task = shaped_task(b, &source, &result);
    if (!task)
        return;
    task->second = operand_of(&second);
    task->ne_op = ANE_NE_MATMUL;
    task->post_scale = half_or_one(scale);
    set_engines(b, task);
}

/* Places a table in the coefficients; tables that are already there are shared. */
static bool place_table(struct ane_builder *b, const struct ane_element *element, struct ane_bank *bank)
{
    struct ane_table table = {.mode = 0};
    uint8_t bytes[2 * ANE_TABLE_HALVES];
    if (element->own) {
        table = *element->own;
    } else if (!ane_table_make(element->table, element->alpha, &table)) {
        ane_build_fail(b, "no table for %s", element->table);
        return false;
    }
    ane_table_write(&table, bytes);
    *bank = (struct ane_bank){.enabled = true, .bytes = sizeof bytes};
    for (unsigned i = 0; i < b->tables; i++)
        if (memcmp(b->table[i].bytes, bytes, sizeof bytes) == 0) {
            bank->base = b->table[i].base;
            return true;
        }
    bank->base = (uint32_t)b->pack.used;
    if (b->tables < ARRAY_COUNT(b->table)) {
        b->table[b->tables].base = bank->base;
        memcpy(b->table[b->tables++].bytes, bytes, sizeof bytes);
    }
    return ane_constants_append(b, bytes, sizeof bytes);
}

void ane_build_element(struct ane_builder *b, const struct ane_element *element, struct ane_view source, struct ane_view result)
{
    struct ane_task *task = shaped_task(b, &source, &result);
    if (!task)
        return;
    task->ne_op = ANE_NE_ELEMENT;
    task->depthwise = true;
    task->acc_bias = ane_constant_half(element->before);
    task->post_scale = half_or_one(element->scale);
    task->nonlinear = element->table || element->own ? ANE_TABLE : element->relu ? ANE_RELU : ANE_LINEAR;
    set_engines(b, task);
    if ((is_ring(&source) || is_ring(&result)) && task->tile_height > CHAIN_ROWS)
        task->tile_height = CHAIN_ROWS;
    if (task->nonlinear == ANE_TABLE && place_table(b, element, &task->bank[0]))
        for (unsigned i = 1; i < task->engines; i++)
            task->bank[i] = task->bank[0];
}

/* ---- the planar engine ---- */

/* Rows of a tile: 32 in the public programs, 16 between neighbours of a chain. */
static uint32_t planar_rows(const struct ane_task *task, bool chained)
{
    const uint32_t rows = chained ? CHAIN_ROWS : PLANAR_ROWS;
    return rows < task->height_out ? rows : task->height_out;
}

void ane_build_planar(struct ane_builder *b, const struct ane_planar *planar, struct ane_view first,
                      const struct ane_view *second, struct ane_view result)
{
    struct ane_task *task = shaped_task(b, &result, &result); /* with broadcast operands the shape is that of the result */
    if (!task)
        return;
    task->source = operand_of(&first);
    if (second)
        task->second = operand_of(second);
    task->engine = ANE_ENGINE_PE;
    task->pe_op = planar->op;
    task->pe_absolute = planar->absolute;
    task->pe_relu = planar->relu;
    task->pe_subtract_second = planar->subtract;
    task->pe_pre_scale = half_or_one(planar->pre);
    task->pe_scale = planar->constant ? 0 : half_or_one(planar->scale);
    task->pe_bias = ane_constant_half(planar->bias);
    task->tile_height = planar_rows(task, is_ring(&first) || is_ring(&result));
}

void ane_build_copy(struct ane_builder *b, struct ane_view source, struct ane_view result)
{
    const struct ane_planar planar = {.op = ANE_PE_ADD};
    const struct ane_element element = {.scale = 1};
    if (result.channels >= ENGINES / 2) /* there is one planar engine; the MAC engines work on a channel each */
        ane_build_element(b, &element, source, result);
    else
        ane_build_planar(b, &planar, source, NULL, result);
}

void ane_build_copy_from(struct ane_builder *b, struct ane_view source, uint32_t skipped, struct ane_view result)
{
    ane_build_copy(b, source, result);
    if (!b->failed)
        b->task[b->count - 1].pixel_offset = (uint16_t)skipped;
}

/* Rows as groups: all rows of all channels when planes are contiguous, otherwise the rows of one channel, or the channels. */
static bool rows_of(struct ane_builder *b, const struct ane_view *view, uint32_t *rows, uint32_t *stride)
{
    *rows = view->channels * view->height;
    *stride = view->height == 1 ? view->plane : view->row;
    if (!is_ring(view) && view->channels > 1 && view->height > 1 && view->plane != view->row * view->height)
        ane_build_fail(b, "rows of a reduction are not evenly spaced");
    if (*rows > GROUPS_MAX)
        ane_build_fail(b, "%u rows in a reduction: a descriptor has 13 bits for them", (unsigned)*rows);
    return !b->failed;
}

void ane_build_reduce(struct ane_builder *b, enum ane_pe_reduce kind, bool reciprocal, float scale, float bias,
                      struct ane_view source, struct ane_view result)
{
    uint32_t rows, source_stride, result_rows, result_stride;
    if (b->failed || !rows_of(b, &source, &rows, &source_stride) || !rows_of(b, &result, &result_rows, &result_stride))
        return;
    struct ane_view row = source;
    row.channels = row.height = 1;
    struct ane_task *task = shaped_task(b, &row, &row);
    if (!task)
        return;
    task->engine = ANE_ENGINE_PE;
    task->groups = rows;
    task->source.group = source_stride;
    task->result = operand_of(&result);
    task->result.broadcast_width = false;
    task->result.group = result_stride;
    task->pe_reduce = kind;
    task->pe_reciprocal = reciprocal;
    task->pe_final_scale = scale; /* the only scale with 32 bits: 1 / width is not an fp16 value */
    task->pe_bias = ane_constant_half(bias / scale);
    task->tile_height = 1;
}

void ane_build_pool(struct ane_builder *b, const struct ane_pool *pool, struct ane_view source, struct ane_view result)
{
    const struct ane_limits *limits = &b->request->limits;
    if (pool->kernel_width > limits->pool_max || pool->kernel_height > limits->pool_max)
        ane_build_limit(b, "pooling over %ux%u: %s pools at most %ux%u", (unsigned)pool->kernel_height,
                        (unsigned)pool->kernel_width, ane_build_generation(b), (unsigned)limits->pool_max,
                        (unsigned)limits->pool_max);
    if (pool->stride_x > 3 || pool->stride_y > 3)
        ane_build_limit(b, "stride %ux%u: a descriptor has two bits for each, at most 3", (unsigned)pool->stride_y,
                        (unsigned)pool->stride_x);
    struct ane_task *task = shaped_task(b, &source, &result);
    if (!task)
        return;
    task->engine = ANE_ENGINE_PE;
    task->pe_reduce = pool->kind;
    task->kernel_width = pool->kernel_width;
    task->kernel_height = pool->kernel_height;
    task->stride_x = pool->stride_x;
    task->stride_y = pool->stride_y;
    task->pad_left = pool->pad_left;
    task->pad_top = pool->pad_top;
    task->pe_final_scale = pool->scale != 0 ? pool->scale : 1;
    check_windows(b, task);
    task->tile_height = rows_per_tile(b, task);
}
