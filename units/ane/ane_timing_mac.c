/* The MAC engines: cycles of a convolution, a matrix product or an element-wise task, from its shape.
 *
 * An engine has 256 multiplier lanes (key ane.macs_per_engine). In a cycle it takes one input channel and one tap, and the lanes
 * are 256 pixels of one output channel or, with a small source, 64 pixels of 4 or 32 pixels of 8 output channels
 * (sbryngelson/ane-guide, chapter 20: 1, 4 or 8 output channels per accumulator, depending on the size of the source).
 */
#include "units/ane/ane_timing_internal.h"

#define SHAPES 3
static const struct {
    uint32_t channels, share; /* output channels at once; pixels = lanes / share */
} shapes[SHAPES] = {{1, 1}, {4, 4}, {8, 8}};

static uint32_t max_u32(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* Work units do not cross tiles. */
static double pixel_units(uint32_t height, uint32_t width, uint32_t tile_height, uint32_t pixels)
{
    const uint32_t rows = tile_height && tile_height < height ? tile_height : height;
    if (rows == 0)
        return 0;
    const uint64_t whole = height / rows, rest = height % rows;
    return (double)(whole * ane_ceil_div((uint64_t)rows * width, pixels) + ane_ceil_div((uint64_t)rest * width, pixels));
}

static uint32_t engines_of(const struct ane_params *params, const struct ane_task *task)
{
    const uint32_t asked = max_u32(task->engines, 1);
    return asked < params->engines ? asked : params->engines;
}

/* The least cycles over the shapes that the task allows, and the work units of that shape. */
static double unit_cycles(const struct ane_params *params, const struct ane_task *task, uint64_t channels, uint32_t engines,
                          double steps, double *units)
{
    double least = 0;
    const unsigned count = task->small_source ? SHAPES : 1;
    for (unsigned i = 0; i < count; i++) {
        const uint32_t pixels = max_u32(params->macs_per_engine / shapes[i].share, 1);
        const double here = pixel_units(task->height_out, task->width_out, task->tile_height, pixels) *
                            (double)ane_ceil_div(channels, (uint64_t)engines * shapes[i].channels);
        if (i == 0 || here < least)
            least = here;
    }
    *units = least;
    return least * steps;
}

static double at_least(double a, double b)
{
    return a > b ? a : b;
}

static void convolution(const struct ane_params *params, const struct ane_task *task, struct ane_demand *demand)
{
    const uint64_t groups = max_u32(task->groups, 1);
    const bool single = task->depthwise || task->ne_op == ANE_NE_ELEMENT;
    const uint64_t in = single ? 1 : ane_ceil_div(task->channels_in, groups);
    const uint64_t out = single ? task->channels_out : ane_ceil_div(task->channels_out, groups);
    const uint64_t taps =
        task->ne_op == ANE_NE_CONVOLUTION ? (uint64_t)max_u32(task->kernel_width, 1) * max_u32(task->kernel_height, 1) : 1;
    /* A transposed convolution of step s meets one tap in s in each direction. */
    const uint64_t spread = (uint64_t)max_u32(task->step_x, 1) * max_u32(task->step_y, 1);
    const uint64_t repeats = single ? 1 : groups;
    const uint64_t rate = demand->int8 ? max_u32(params->int8_rate, 1) : 1;
    const uint64_t pixels = (uint64_t)task->height_out * task->width_out;

    demand->engines = engines_of(params, task);
    demand->macs = task->ne_op == ANE_NE_ELEMENT ? 0 : in * ane_ceil_div(taps, spread) * out * repeats * pixels;
    /* Products of one output are added in steps (of four: golden.csv of tinygrad's extra/accel/ane gives 4 cycles for 3
     * channels). An engine that reads a channel of its own per output has no others to add. */
    const uint64_t step = single || task->ne_op == ANE_NE_ELEMENT ? 1 : max_u32(params->mac_step, 1);
    const uint64_t steps = ane_ceil_div(in * ane_ceil_div(taps, spread), step) * step;
    double units = 0;
    double cycles = unit_cycles(params, task, out, demand->engines, (double)ane_ceil_div(steps, rate), &units) * (double)repeats;
    if (!task->double_buffer)
        cycles += units * (double)repeats * params->post_cycles;
    demand->mac_full = (double)demand->macs / ((double)params->engines * params->macs_per_engine * (double)rate);

    /* Tile memory feeds one image to all engines, again for each group of output channels; single channels once. */
    const uint64_t group_channels = (uint64_t)demand->engines << task->channel_group_log2;
    const uint64_t rereads = single ? 1 : ane_ceil_div(out, group_channels ? group_channels : 1);
    const uint64_t read = ane_elements_in(task) * ane_format_bytes(task->source.format) * rereads;
    const uint64_t written = ane_elements_out(task) * ane_format_bytes(task->result.format);
    demand->tile_read += read;
    demand->tile_write += written;
    demand->mac = at_least(cycles, (double)(read + written) / params->l2_bytes_per_cycle);
}

void ane_demand_mac(const struct ane_params *params, const struct ane_task *task, struct ane_demand *demand)
{
    demand->int8 = task->source.format != ANE_F16 && task->ne_op == ANE_NE_CONVOLUTION && task->kernel_format != ANE_KERNEL_F16;
    demand->table = task->nonlinear == ANE_TABLE;
    demand->elements = ane_elements_out(task);
    convolution(params, task, demand);
    if (task->ne_op == ANE_NE_MATMUL) {
        /* The second source goes from tile memory to the place of the coefficients. */
        const uint64_t factors = (uint64_t)task->channels_in * task->channels_out * ane_format_bytes(task->second.format);
        demand->tile_read += factors;
        demand->mac += (double)factors / params->l2_bytes_per_cycle;
    }
}
