/* Tasks as builders write them, and an engine without overheads. */
#ifndef ORCHARD_TESTS_UNITS_ANE_TIMING_EXAMPLE_H
#define ORCHARD_TESTS_UNITS_ANE_TIMING_EXAMPLE_H

#include "units/ane/ane_timing.h"

#include <math.h>

/* An M1-like engine at 1 GHz, so that cycles are nanoseconds. */
static inline struct ane_params example_params(void)
{
    return (struct ane_params){.clock_ghz = 1,
                               .engines = 16,
                               .macs_per_engine = 256,
                               .int8_rate = 1,
                               .units = 2,
                               .l2_bytes = 2097152,
                               .coefficient_bytes = 65536,
                               .dma_GBps = 64,
                               .dma_slc_rate = 1,
                               .dma_both_ways = 1.5,
                               .mac_step = 4,
                               .post_cycles = 1,
                               .l2_bytes_per_cycle = 1024,
                               .planar_elements_per_cycle = 16,
                               .task_cycles = 44};
}

static inline struct ane_operand example_memory(uint8_t bar)
{
    return (struct ane_operand){.place = ANE_PLACE_DRAM, .format = ANE_F16, .bar = bar};
}
static inline struct ane_operand example_place(enum ane_place place)
{
    return (struct ane_operand){.place = place, .format = ANE_F16};
}

static inline struct ane_task example_task(uint32_t channels, uint32_t height, uint32_t width)
{
    return (struct ane_task){.engine = ANE_ENGINE_NE,
                             .width_in = width,
                             .height_in = height,
                             .channels_in = channels,
                             .width_out = width,
                             .height_out = height,
                             .channels_out = channels,
                             .groups = 1,
                             .tile_height = height,
                             .engines = 16,
                             .kernel_width = 1,
                             .kernel_height = 1,
                             .stride_x = 1,
                             .stride_y = 1,
                             .step_x = 1,
                             .step_y = 1,
                             .kernel_format = ANE_KERNEL_F16,
                             .double_buffer = true,
                             .source = example_memory(5),
                             .result = example_memory(4)};
}

/* Same padding, as many output as input channels, a bank per engine. */
static inline struct ane_task example_conv(uint32_t channels, uint32_t height, uint32_t width, uint32_t kernel)
{
    struct ane_task task = example_task(channels, height, width);
    task.kernel_width = task.kernel_height = kernel;
    while (task.channel_group_log2 < 5 && (uint32_t)16 << task.channel_group_log2 < channels)
        task.channel_group_log2++;
    const uint32_t bytes = (channels + 15) / 16 * channels * kernel * kernel * 2;
    for (unsigned i = 0; i < ANE_BANKS; i++)
        task.bank[i] = (struct ane_bank){true, i * bytes, bytes};
    return task;
}

static inline struct ane_task example_element(uint32_t channels, uint32_t height, uint32_t width)
{
    struct ane_task task = example_task(channels, height, width);
    task.ne_op = ANE_NE_ELEMENT;
    task.depthwise = true;
    return task;
}

static inline struct ane_task example_planar(uint32_t channels, uint32_t height, uint32_t width)
{
    struct ane_task task = example_task(channels, height, width);
    task.engine = ANE_ENGINE_PE;
    task.engines = 0;
    return task;
}

/* A request of `count` tasks on an idle engine. */
struct example_result {
    double ns, by[ANE_STALL_COUNT];
    struct ane_task_time task[8];
};

static inline struct example_result example_run_tasks(const struct ane_params *params, const struct ane_memory *memory,
                                                      const struct ane_task *task, size_t count)
{
    struct example_result r = {0};
    struct ane_timing *timing = ane_timing_create(params, memory);
    CU_ASSERT_PTR_NOT_NULL_FATAL(timing);
    r.ns = ane_timing_tasks(timing, task, count, 0, 0, r.task, r.by);
    ane_timing_free(timing);
    return r;
}

#endif
