/* What decoding, encoding and checking of tasks share. */
#include "isa/ane/ane_task_parts.h"

#include <stdarg.h>
#include <stdio.h>

const struct ane_layout_fields ane_dram_fields[ANE_SIDES] = {
    {ANE_SRC_BASE_ADDR_ADDR, ANE_SRC_ROW_STRIDE_STRIDE, ANE_SRC_PLANE_STRIDE_PLANE_STRIDE, ANE_SRC_DEPTH_STRIDE_STRIDE,
     ANE_SRC_GROUP_STRIDE_STRIDE},
    {ANE_SRC_SEC_BASE_ADDR_ADDR, ANE_SRC_SEC_ROW_STRIDE_STRIDE, ANE_SRC_SEC_PLANE_STRIDE_PLANE_STRIDE,
     ANE_SRC_SEC_DEPTH_STRIDE_STRIDE, ANE_SRC_SEC_GROUP_STRIDE_STRIDE},
    {ANE_DST_BASE_ADDR_ADDR, ANE_DST_ROW_STRIDE_ROW_STRIDE, ANE_DST_PLANE_STRIDE_PLANE_STRIDE, ANE_DST_DEPTH_STRIDE_DEPTH_STRIDE,
     ANE_DST_GROUP_STRIDE_GROUP_STRIDE},
};
const struct ane_layout_fields ane_l2_fields[ANE_SIDES] = {
    {ANE_L2_SOURCE_BASE_ADDR, ANE_L2_SOURCE_ROW_STRIDE_STRIDE, ANE_L2_SOURCE_CHANNEL_STRIDE_STRIDE,
     ANE_L2_SOURCE_DEPTH_STRIDE_STRIDE, ANE_L2_SOURCE_GROUP_STRIDE_STRIDE},
    {ANE_L2_SEC_BASE_ADDR, ANE_L2_SEC_ROW_STRIDE_STRIDE, ANE_L2_SEC_CHANNEL_STRIDE_STRIDE, ANE_L2_SEC_DEPTH_STRIDE_STRIDE,
     ANE_L2_SEC_GROUP_STRIDE_STRIDE},
    {ANE_L2_RESULT_BASE_ADDR, ANE_L2_CONV_RESULT_ROW_STRIDE_STRIDE, ANE_L2_CONV_RESULT_CHANNEL_STRIDE_STRIDE,
     ANE_L2_RESULT_DEPTH_STRIDE_STRIDE, ANE_L2_RESULT_GROUP_STRIDE_STRIDE},
};

bool ane_fail(struct isa_error *error, unsigned long offset, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    error->line = 0;
    error->offset = offset;
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    return false;
}

unsigned ane_format_bytes(enum ane_format format)
{
    return format == ANE_F16 ? 2 : 1;
}

struct ane_layout ane_operand_layout(const struct ane_operand *operand)
{
    return (struct ane_layout){operand->base, operand->row, operand->plane, operand->depth, operand->group};
}

bool ane_task_has_second(const struct ane_task *task)
{
    return task->second.place != ANE_PLACE_NONE;
}

bool ane_task_reduces_rows(const struct ane_task *task)
{
    return task->engine == ANE_ENGINE_PE && (task->pe_reduce == ANE_REDUCE_SUM || task->pe_reduce == ANE_REDUCE_MAX);
}

uint32_t ane_task_groups(const struct ane_task *task)
{
    return task->engine == ANE_ENGINE_NE && task->ne_op != ANE_NE_ELEMENT && task->groups ? task->groups : 1;
}

bool ane_task_reads_dram(const struct ane_task *task)
{
    return task->source.place == ANE_PLACE_DRAM || task->second.place == ANE_PLACE_DRAM;
}

bool ane_task_coefficients(const struct ane_task *task)
{
    for (unsigned i = 0; i < ANE_BANKS; i++)
        if (task->bank[i].enabled)
            return true;
    return false;
}

uint32_t ane_task_path(const struct ane_task *task)
{
    const uint32_t mask = (task->source.place == ANE_PLACE_DRAM ? 1u : 0u) | (task->second.place == ANE_PLACE_DRAM ? 2u : 0u);
    return ane_task_has_second(task) && mask ? mask : 1;
}

uint32_t ane_task_flags(const struct ane_task *task)
{
    return (ane_task_reads_dram(task) ? 0x08u : 0u) | (task->result.place == ANE_PLACE_DRAM ? 0x90u : 0u);
}

bool ane_task_buffers_result(const struct ane_task *task)
{
    const struct ane_layout *tile = &task->result.other;
    return task->result.place == ANE_PLACE_DRAM && !(tile->row | tile->plane | tile->depth | tile->group);
}
