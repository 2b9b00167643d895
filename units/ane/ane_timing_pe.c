/* The planar engine: element-wise operations, reductions of rows, pooling. */
#include "units/ane/ane_timing_internal.h"

uint64_t ane_elements_in(const struct ane_task *task)
{
    const uint64_t image = (uint64_t)task->width_in * task->height_in * task->channels_in;
    return ane_task_reduces_rows(task) && task->groups > 1 ? image * task->groups : image;
}

uint64_t ane_elements_out(const struct ane_task *task)
{
    const uint64_t lines = (uint64_t)task->height_out * task->channels_out;
    /* Each row gives one value; the descriptor repeats the input's width there (eiln/ane, softmax and norm). */
    if (ane_task_reduces_rows(task))
        return lines * (task->groups > 1 ? task->groups : 1);
    return lines * task->width_out;
}

static bool pools(const struct ane_task *task)
{
    return task->pe_reduce == ANE_POOL_AVERAGE || task->pe_reduce == ANE_POOL_MAX || task->pe_reduce == ANE_POOL_MIN;
}

void ane_demand_planar(const struct ane_params *params, const struct ane_task *task, struct ane_demand *demand)
{
    const uint64_t in = ane_elements_in(task), out = ane_elements_out(task);
    uint64_t work = out;
    if (pools(task))
        work = out * (task->kernel_width ? task->kernel_width : 1) * (task->kernel_height ? task->kernel_height : 1);
    else if (ane_task_reduces_rows(task))
        work = in;
    demand->elements = work;
    demand->planar = (double)work / params->planar_elements_per_cycle;

    uint64_t read = in * ane_format_bytes(task->source.format);
    if (task->second.place != ANE_PLACE_NONE)
        read += in * ane_format_bytes(task->second.format);
    const uint64_t written = out * ane_format_bytes(task->result.format);
    demand->tile_read += read;
    demand->tile_write += written;
    const double memory = (double)(read + written) / params->l2_bytes_per_cycle;
    if (memory > demand->planar)
        demand->planar = memory;
}
