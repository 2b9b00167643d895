/* Whether a task makes sense: shapes, windows, spans of operands, places. */
#include "isa/ane/ane_task_parts.h"
#include "isa/array_count.h"

static unsigned byte_of(enum ane_field field)
{
    return ane_field_info(field)->byte;
}

void ane_operand_span(const struct ane_task *task, const struct ane_operand *operand, uint64_t *from, uint64_t *to)
{
    const bool result = operand == &task->result;
    const bool reduced = task->pe_reduce == ANE_REDUCE_SUM || task->pe_reduce == ANE_REDUCE_MAX;
    /* The second source of a product is a matrix, whose rows (output channels) are planes and whose columns run along the width.
     */
    const bool matrix = operand == &task->second && task->engine == ANE_ENGINE_NE && task->ne_op == ANE_NE_MATMUL;
    const uint64_t channels = result || matrix ? task->channels_out : task->channels_in;
    const uint64_t height = matrix ? 1 : result ? task->height_out : task->height_in;
    uint64_t width = matrix ? task->channels_in / (task->groups ? task->groups : 1) : result ? task->width_out : task->width_in;
    if (operand->broadcast_width || (result && task->engine == ANE_ENGINE_PE && reduced))
        width = 1;
    uint64_t last = (channels - 1) * operand->plane + (height - 1) * operand->row;
    if (task->engine == ANE_ENGINE_PE && reduced)
        last += (uint64_t)(task->groups - 1) * operand->group;
    *from = operand->base;
    *to = *from + last + width * ane_format_bytes(operand->format);
}

static bool check_span(const struct ane_task *task, enum ane_side side, const struct ane_operand *operand, const char *name,
                       struct isa_error *error)
{
    const bool dram = operand->place == ANE_PLACE_DRAM;
    const struct ane_layout_fields *fields = dram ? &ane_dram_fields[side] : &ane_l2_fields[side];
    const uint64_t limit = dram ? UINT64_C(1) << 32 : ANE_L2_BYTES;
    uint64_t from, to;
    if (operand->place != ANE_PLACE_DRAM && operand->place != ANE_PLACE_L2)
        return true; /* rings hold a few rows of the tensor at a time */
    ane_operand_span(task, operand, &from, &to);
    if (to > limit)
        return ane_fail(error, byte_of(fields->base), "%s reaches to 0x%llx, beyond %s", name, (unsigned long long)to,
                        dram ? "the 4 GB that addresses have" : "the 2 MB of tile memory");
    return true;
}

static bool check_shape(const struct ane_task *task, struct isa_error *error)
{
    const struct {
        uint32_t value;
        enum ane_field field;
    } positive[] = {
        {task->width_in, ANE_COMMON_IN_DIM_WIN},
        {task->height_in, ANE_COMMON_IN_DIM_HIN},
        {task->channels_in, ANE_COMMON_CIN_CIN},
        {task->channels_out, ANE_COMMON_COUT_COUT},
        {task->width_out, ANE_COMMON_OUT_DIM_WOUT},
        {task->height_out, ANE_COMMON_OUT_DIM_HOUT},
        {task->groups, ANE_COMMON_GROUP_CONV_CFG_NUM_GROUPS},
        {task->tile_height, ANE_COMMON_TILE_CFG_TILE_HEIGHT},
        {task->kernel_width, ANE_COMMON_CONV_CFG_KW},
        {task->kernel_height, ANE_COMMON_CONV_CFG_KH},
        {task->stride_x, ANE_COMMON_CONV_CFG_SX},
        {task->stride_y, ANE_COMMON_CONV_CFG_SY},
        {task->step_x, ANE_COMMON_CONV_CFG_OX},
        {task->step_y, ANE_COMMON_CONV_CFG_OY},
    };
    for (size_t i = 0; i < ARRAY_COUNT(positive); i++)
        if (positive[i].value == 0)
            return ane_fail(error, byte_of(positive[i].field), "%s is 0, at least 1 is needed",
                            ane_field_info(positive[i].field)->name);
    return true;
}

/* The last window must start inside the padded input. */
static bool check_window(const struct ane_task *task, struct isa_error *error)
{
    const uint64_t x = (uint64_t)(task->width_out - 1) * task->stride_x;
    const uint64_t y = (uint64_t)(task->height_out - 1) * task->stride_y;
    if (x >= ((uint64_t)task->width_in + task->pad_left) * task->step_x)
        return ane_fail(error, byte_of(ANE_COMMON_OUT_DIM_WOUT), "%u output columns do not fit an input of %u columns",
                        task->width_out, task->width_in);
    if (y >= ((uint64_t)task->height_in + task->pad_top) * task->step_y)
        return ane_fail(error, byte_of(ANE_COMMON_OUT_DIM_HOUT), "%u output rows do not fit an input of %u rows",
                        task->height_out, task->height_in);
    return true;
}

static bool check_same_shape(const struct ane_task *task, struct isa_error *error)
{
    if (task->width_in != task->width_out || task->height_in != task->height_out)
        return ane_fail(error, byte_of(ANE_COMMON_OUT_DIM_WOUT), "element operation from %u x %u to %u x %u: shapes differ",
                        task->width_in, task->height_in, task->width_out, task->height_out);
    if (task->channels_in != task->channels_out)
        return ane_fail(error, byte_of(ANE_COMMON_COUT_COUT), "element operation from %u to %u channels", task->channels_in,
                        task->channels_out);
    return true;
}

static bool check_ne(const struct ane_task *task, struct isa_error *error)
{
    const bool matmul = task->ne_op == ANE_NE_MATMUL;
    if (task->ne_op > ANE_NE_MATMUL || task->nonlinear > ANE_TABLE || task->kernel_format > ANE_KERNEL_F16)
        return ane_fail(error, byte_of(ANE_NE_MACCFG_OP_MODE), "no such operation of the NE");
    if (task->engines == 0 || task->engines > ANE_BANKS || (task->engines & (task->engines - 1)))
        return ane_fail(error, byte_of(ANE_COMMON_CFG_ACTIVE_NE), "%u engines; 1, 2, 4, 8 or 16 can work", task->engines);
    if (ane_task_has_second(task) != matmul)
        return ane_fail(error, byte_of(ANE_L2_SOURCE_CFG_SOURCE_TYPE), "%s",
                        matmul ? "a matmul without second source" : "only a matmul of the NE has a second source");
    if (task->ne_op == ANE_NE_ELEMENT)
        return check_same_shape(task, error);
    if (task->channels_in % task->groups || task->channels_out % task->groups)
        return ane_fail(error, byte_of(ANE_COMMON_GROUP_CONV_CFG_NUM_GROUPS), "%u groups do not divide %u and %u channels",
                        task->groups, task->channels_in, task->channels_out);
    if (task->ne_op == ANE_NE_CONVOLUTION && !ane_task_coefficients(task))
        return ane_fail(error, byte_of(ANE_KERNEL_COEFF_DMACONFIG_EN), "a convolution without coefficient banks");
    return check_window(task, error);
}

static bool check_pe(const struct ane_task *task, struct isa_error *error)
{
    if (task->pe_op > ANE_PE_MIN || task->pe_reduce > ANE_POOL_MIN)
        return ane_fail(error, byte_of(ANE_PE_CFG_KIND), "no such operation of the planar engine");
    if (task->engines != 0 || ane_task_coefficients(task))
        return ane_fail(error, byte_of(ANE_COMMON_CFG_ACTIVE_NE), "planar task with MAC engines or coefficients");
    if (task->pe_reduce != ANE_REDUCE_NONE && (ane_task_has_second(task) || task->pe_op != ANE_PE_ADD))
        return ane_fail(error, byte_of(ANE_PE_CFG_OP_MODE), "a reduction has one source and no element operation");
    if (task->pe_subtract_second && !ane_task_has_second(task))
        return ane_fail(error, byte_of(ANE_PE_CFG_SEC_SRC), "no second source to subtract");
    if (task->pe_reduce >= ANE_POOL_AVERAGE)
        return check_window(task, error);
    return check_same_shape(task, error);
}

bool ane_task_check(const struct ane_task *task, struct isa_error *error)
{
    if (task->engine != ANE_ENGINE_NE && task->engine != ANE_ENGINE_PE)
        return ane_fail(error, 0, "no such engine");
    if (task->source.place == ANE_PLACE_NONE || task->source.place > ANE_PLACE_CHAIN)
        return ane_fail(error, byte_of(ANE_L2_SOURCE_CFG_SOURCE_TYPE), "the task has no source");
    if (task->result.place == ANE_PLACE_NONE || task->result.place > ANE_PLACE_CHAIN)
        return ane_fail(error, byte_of(ANE_L2_RESULT_CFG_RESULT_TYPE), "the task has no result");
    if (task->second.place > ANE_PLACE_L2)
        return ane_fail(error, byte_of(ANE_L2_SEC_BASE_ADDR), "a second source lives in DRAM or tile memory");
    return check_shape(task, error) && (task->engine == ANE_ENGINE_NE ? check_ne(task, error) : check_pe(task, error)) &&
           check_span(task, ANE_SIDE_SOURCE, &task->source, "the source", error) &&
           check_span(task, ANE_SIDE_SECOND, &task->second, "the second source", error) &&
           check_span(task, ANE_SIDE_RESULT, &task->result, "the result", error);
}
