/* Tasks to descriptors. */
#include "isa/float_bits.h"
#include "isa/ane/ane_half.h"
#include "isa/ane/ane_task_parts.h"

/* The first value that has no encoding stops the encoder. */
struct encoder {
    struct ane_td *td;
    struct isa_error *error;
    bool ok;
};

static void refuse(struct encoder *e, enum ane_field field, unsigned element, uint32_t value)
{
    const struct ane_field_info *info = ane_field_info(field);
    const unsigned long long most = ((1ull << info->width) - 1) << info->shift;
    const unsigned long offset = info->byte + 4ul * element;
    e->ok = info->shift ? ane_fail(e->error, offset, "%s = 0x%x: a multiple of %u up to 0x%llx is needed", info->name, value,
                                   1u << info->shift, most)
                        : ane_fail(e->error, offset, "%s = %u: at most %llu", info->name, value, most);
}

static void put_at(struct encoder *e, enum ane_field field, unsigned element, uint32_t value)
{
    if (e->ok && !ane_set_at(e->td, field, element, value))
        refuse(e, field, element, value);
}

static void put(struct encoder *e, enum ane_field field, uint32_t value)
{
    put_at(e, field, 0, value);
}

static void put_bytes_at(struct encoder *e, enum ane_field field, unsigned element, uint32_t bytes)
{
    const unsigned shift = ane_field_info(field)->shift;
    if (e->ok && ((bytes & ((1u << shift) - 1)) || !ane_set_at(e->td, field, element, bytes >> shift)))
        refuse(e, field, element, bytes);
}

static void put_bytes(struct encoder *e, enum ane_field field, uint32_t bytes)
{
    put_bytes_at(e, field, 0, bytes);
}

static void put_half(struct encoder *e, enum ane_field field, float value)
{
    const uint16_t bits = ane_half_bits((double)value);
    if (e->ok && !(ane_half_value(bits) == (double)value))
        e->ok = ane_fail(e->error, ane_field_info(field)->byte, "%s = %.9g is no fp16 value; the nearest is %.9g",
                         ane_field_info(field)->name, (double)value, ane_half_value(bits));
    put(e, field, bits);
}

static void put_layout(struct encoder *e, const struct ane_layout_fields *fields, const struct ane_layout *layout)
{
    put_bytes(e, fields->base, layout->base);
    put_bytes(e, fields->row, layout->row);
    put_bytes(e, fields->plane, layout->plane);
    put_bytes(e, fields->depth, layout->depth);
    put_bytes(e, fields->group, layout->group);
}

/* Writes both layouts of an operand: the one in the memory where it lives, and the other. */
static void put_layouts(struct encoder *e, enum ane_side side, const struct ane_operand *operand)
{
    const struct ane_layout at = ane_operand_layout(operand);
    const bool dram = operand->place == ANE_PLACE_DRAM;
    put_layout(e, &ane_dram_fields[side], dram ? &at : &operand->other);
    put_layout(e, &ane_l2_fields[side], dram ? &operand->other : &at);
}

/* ---- header ---- */

static bool uses_bar(const struct ane_operand *operand)
{
    return operand->place == ANE_PLACE_DRAM || operand->named;
}

static void put_bar(struct encoder *e, const struct ane_operand *operand, enum ane_field bar, enum ane_field enable)
{
    put(e, bar, uses_bar(operand) ? operand->bar : 0u);
    put(e, enable, uses_bar(operand));
}

static void put_flags(struct encoder *e, const struct ane_task *task)
{
    const uint32_t flags = ane_task_flags(task) ^ task->unusual_flags;
    for (unsigned i = 0; i < 8; i++)
        put(e, (enum ane_field)(ANE_H6_DISALLOW_ABORT + i), flags >> i & 1);
    put(e, ANE_H6_NEXT_PRIORITY, task->priority);
    put(e, ANE_H6_SRC_LOC, ane_task_reads_dram(task));
    put(e, ANE_H6_DST_LOC, task->result.place == ANE_PLACE_DRAM);
}

static unsigned engines_log2(const struct ane_task *task)
{
    unsigned n = 0;
    while (task->engines >> (n + 1))
        n++;
    return n;
}

static void put_header(struct encoder *e, const struct ane_task *task)
{
    const bool coefficients = ane_task_coefficients(task);
    put(e, ANE_H0_TID, task->id);
    put(e, ANE_H0_LNID, task->id != 0);
    put(e, ANE_H0_EON, task->last);
    put(e, ANE_H1_EXE_CYCLES, task->exe_cycles);
    put(e, ANE_H1_NEXT_SIZE, task->next ? ANE_TD_WORDS - 1u : 0u);
    put(e, ANE_H2_LOG_EVENTS, (task->last ? 0x422u : 0x400u) | (task->newer_compiler ? ANE_NEWER_EVENT : 0));
    put(e, ANE_H4_DEBUG_LOG_EVENTS, task->debug_log_events);
    put_flags(e, task);
    put(e, ANE_H7_NEXT_POINTER, task->next);
    put_bar(e, &task->source, ANE_H8_RBASE0, ANE_H8_RBE0);
    put_bar(e, &task->second, ANE_H8_RBASE1, ANE_H8_RBE1);
    put_bar(e, &task->result, ANE_H8_WBASE, ANE_H8_WBE);
    put(e, ANE_H8_TBASE, task->next ? task->command_bar : 0u);
    put(e, ANE_H8_TBE, task->next != 0);
    put(e, ANE_H8_ENE, task->engine == ANE_ENGINE_NE ? engines_log2(task) + 1 : 0);
    put(e, ANE_H9_KBASE0, coefficients ? task->coefficient_bar : 0u);
    put(e, ANE_H9_KBE0, coefficients);
}

/* ---- kernel DMA, of the NE only ---- */

static void put_kernel_dma(struct encoder *e, const struct ane_task *task)
{
    put(e, ANE_KERNEL_PREFETCH_EN, ane_task_coefficients(task));
    put(e, ANE_KERNEL_PREFETCH_SPARSE, task->sparse);
    for (unsigned i = 0; i < ANE_BANKS; i++) {
        const struct ane_bank *bank = &task->bank[i];
        put_at(e, ANE_KERNEL_COEFF_DMACONFIG_EN, i, bank->enabled);
        put_at(e, ANE_KERNEL_COEFF_DMACONFIG_CACHE_HINT, i, 2);
        put_bytes_at(e, ANE_KERNEL_COEFF_BASE_ADDR_ADDR, i, bank->enabled ? bank->base : 0);
        put_bytes_at(e, ANE_KERNEL_COEFF_BFR_SIZE_MEM_BFR_SIZE, i, bank->enabled ? bank->bytes : 0x40);
    }
    for (unsigned i = 0; i < 4; i++) {
        put_bytes_at(e, ANE_KERNEL_TAIL_SIZE, i, 0x80);
        put_bytes_at(e, ANE_KERNEL_TAIL_FURTHER, i, task->newer_compiler ? 0x40 : 0);
    }
}

/* ---- common ---- */

static void put_shape(struct encoder *e, const struct ane_task *task)
{
    put(e, ANE_COMMON_IN_DIM_WIN, task->width_in);
    put(e, ANE_COMMON_IN_DIM_HIN, task->height_in);
    put(e, ANE_COMMON_CIN_CIN, task->channels_in / ane_task_groups(task));
    put(e, ANE_COMMON_COUT_COUT, task->channels_out / ane_task_groups(task));
    put(e, ANE_COMMON_OUT_DIM_WOUT, task->width_out);
    put(e, ANE_COMMON_OUT_DIM_HOUT, task->height_out);
    put(e, ANE_COMMON_CH_CFG_IN_FMT, task->source.format);
    put(e, ANE_COMMON_CH_CFG_SEC_FMT, ane_task_has_second(task) ? task->second.format : 0u);
    put(e, ANE_COMMON_CH_CFG_OUT_FMT, task->result.format);
}

static void put_convolution(struct encoder *e, const struct ane_task *task)
{
    put(e, ANE_COMMON_CONV_CFG_KW, task->kernel_width);
    put(e, ANE_COMMON_CONV_CFG_KH, task->kernel_height);
    put(e, ANE_COMMON_CONV_CFG_OCGSIZE, task->channel_group_log2);
    put(e, ANE_COMMON_CONV_CFG_SX, task->stride_x);
    put(e, ANE_COMMON_CONV_CFG_SY, task->stride_y);
    put(e, ANE_COMMON_CONV_CFG_PX, task->pad_left);
    put(e, ANE_COMMON_CONV_CFG_PY, task->pad_top);
    put(e, ANE_COMMON_CONV_CFG_OX, task->step_x);
    put(e, ANE_COMMON_CONV_CFG_OY, task->step_y);
    put(e, ANE_COMMON_GROUP_CONV_CFG_NUM_GROUPS, task->groups);
    put(e, ANE_COMMON_GROUP_CONV_CFG_UNICAST_CIN, task->unicast_channels);
    put(e, ANE_COMMON_TILE_CFG_TILE_HEIGHT, task->tile_height);
}

static void put_common_ne(struct encoder *e, const struct ane_task *task)
{
    put(e, ANE_COMMON_GROUP_CONV_CFG_UNICAST_EN, task->depthwise || task->ne_op == ANE_NE_ELEMENT);
    put(e, ANE_COMMON_CFG_SMALL_SOURCE_MODE, task->small_source);
    put(e, ANE_COMMON_CFG_SH_PREF, task->shape_preferred);
    put(e, ANE_COMMON_CFG_SH_MIN, task->shape_least);
    put(e, ANE_COMMON_CFG_SH_MAX, task->shape_most);
    put(e, ANE_COMMON_CFG_ACTIVE_NE, engines_log2(task));
    put(e, ANE_COMMON_CFG_ACC_DOUBLE_BUF_EN, task->double_buffer);
    put(e, ANE_COMMON_TASK_INFO_NID, 1);
    put(e, ANE_COMMON_DPE_CATEGORY, task->ne_op == ANE_NE_ELEMENT && ane_half_bits((double)task->acc_bias) != 0);
}

static void put_common_pe(struct encoder *e, const struct ane_task *task)
{
    const bool reduced = task->pe_reduce == ANE_REDUCE_SUM || task->pe_reduce == ANE_REDUCE_MAX;
    const uint32_t planar = task->pe_reduce != ANE_REDUCE_NONE ? 1u : ane_task_has_second(task) ? 3u : 2u;
    put(e, ANE_COMMON_PLANAR_CFG_TILE_WIDTH_LOG2, task->planar_tile & 15u);
    put(e, ANE_COMMON_PLANAR_CFG_TILE_HEIGHT_LOG2, task->planar_tile >> 4);
    put(e, ANE_COMMON_CFG_PLANAR, planar);
    put(e, ANE_COMMON_CFG_REDUCE, reduced);
}

static void put_common(struct encoder *e, const struct ane_task *task)
{
    put_shape(e, task);
    put_convolution(e, task);
    put(e, ANE_COMMON_BROADCAST_FIRST_WIDTH, task->source.broadcast_width);
    put(e, ANE_COMMON_BROADCAST_SEC_WIDTH, task->second.broadcast_width);
    put(e, ANE_COMMON_CFG_PATH, ane_task_path(task));
    put(e, ANE_COMMON_TASK_INFO_TASK_Q, task->queue);
    if (task->engine == ANE_ENGINE_NE)
        put_common_ne(e, task);
    else
        put_common_pe(e, task);
}

/* ---- tile DMA and tile memory ---- */

/* Idle channels have hint 2 three times. */
static void put_hints(struct encoder *e, const struct ane_operand *source, enum ane_field first)
{
    const bool dram = source->place == ANE_PLACE_DRAM;
    put(e, first, dram ? source->cache_hint : 2u);
    put(e, (enum ane_field)(first + 1), dram ? source->cache_reuse : 2u);
    put(e, (enum ane_field)(first + 2), dram ? source->cache_no_reuse : 2u);
    put(e, (enum ane_field)(first + 3), source->dependency);
}

static void put_source_dma(struct encoder *e, const struct ane_task *task)
{
    const bool first = uses_bar(&task->source), second = task->second.place == ANE_PLACE_DRAM;
    put(e, ANE_SRC_DMACONFIG_EN, ane_task_reads_dram(task));
    put_hints(e, &task->source, ANE_SRC_DMACONFIG_CACHE_HINT);
    put_hints(e, &task->second, ANE_SRC_SEC_DMACONFIG_CACHE_HINT);
    put(e, ANE_SRC_FMT_FMT_MODE, first || second);
    put(e, ANE_SRC_FMT_TRUNCATE, first ? 3 : 0);
    put(e, ANE_SRC_FMT_MEM_FMT, first ? task->source.format : 0u);
    put(e, ANE_SRC_FMT_INTERLEAVE, task->source.interleave);
    put(e, ANE_SRC_SEC_FMT_TRUNCATE, second ? 3 : 0);
    put(e, ANE_SRC_SEC_FMT_MEM_FMT, second ? task->second.format : 0u);
    put(e, ANE_SRC_GATE_EN, task->engine == ANE_ENGINE_NE || task->source.place != ANE_PLACE_DRAM);
    put_at(e, ANE_SRC_PIXEL_OFFSET_OFFSET, 0, task->pixel_offset);
}

static uint32_t place_code(enum ane_place place)
{
    return place == ANE_PLACE_DRAM ? 2 : place == ANE_PLACE_CHAIN ? 3 : 0;
}

static void put_alias(struct encoder *e, const struct ane_operand *operand, enum ane_field conv_source,
                      enum ane_field planar_source)
{
    put(e, conv_source, (operand->alias & ANE_ALIAS_CONVOLUTION_SOURCE) != 0);
    put(e, (enum ane_field)(conv_source + 1), (operand->alias & ANE_ALIAS_CONVOLUTION_RESULT) != 0);
    put(e, planar_source, (operand->alias & ANE_ALIAS_PLANAR_SOURCE) != 0);
    put(e, (enum ane_field)(planar_source + 1), (operand->alias & ANE_ALIAS_PLANAR_RESULT) != 0);
}

static void put_l2(struct encoder *e, const struct ane_task *task)
{
    const bool dma = ane_task_reads_dram(task) || task->source.named;
    put(e, ANE_L2_L2_CFG_INPUT_RE_LU, task->input_relu);
    put(e, ANE_L2_L2_CFG_PADDING_MODE, task->padding_mode);
    put(e, ANE_L2_SOURCE_CFG_SOURCE_TYPE, place_code(task->source.place));
    put(e, ANE_L2_SOURCE_CFG_DEPENDENT, task->source.l2_dependent);
    put_alias(e, &task->source, ANE_L2_SOURCE_CFG_ALIAS_CONV_SRC, ANE_L2_SOURCE_CFG_ALIAS_PLANAR_SRC);
    put(e, ANE_L2_SOURCE_CFG_DMAFMT, dma);
    put(e, ANE_L2_SOURCE_CFG_DMAINTERLEAVE, task->source.interleave);
    put(e, ANE_L2_SOURCE_CFG_SEC_SOURCE, task->second.place == ANE_PLACE_DRAM);
    put(e, ANE_L2_RESULT_CFG_RESULT_TYPE, place_code(task->result.place));
    put(e, ANE_L2_RESULT_CFG_L2_BFR_MODE, ane_task_buffers_result(task));
    put_alias(e, &task->result, ANE_L2_RESULT_CFG_ALIAS_CONV_SRC, ANE_L2_RESULT_CFG_ALIAS_PLANAR_SRC);
    put(e, ANE_L2_RESULT_CFG_DMAINTERLEAVE, task->result.interleave);
}

static void put_result_dma(struct encoder *e, const struct ane_task *task)
{
    const struct ane_operand *result = &task->result;
    const bool dram = result->place == ANE_PLACE_DRAM, known = uses_bar(result);
    put(e, ANE_DST_DMACONFIG_EN, dram);
    put(e, ANE_DST_DMACONFIG_CACHE_HINT, dram ? result->cache_hint : 3u);
    put(e, ANE_DST_DMACONFIG_DEPENDENCY_MODE, result->dependency);
    put(e, ANE_DST_DMACONFIG_DEPENDENCY_SCOPE, result->dependency_scope);
    put(e, ANE_DST_DMACONFIG_L2_BFR_MODE, ane_task_buffers_result(task));
    put(e, ANE_DST_FMT_FMT_MODE, known);
    put(e, ANE_DST_FMT_TRUNCATE, known ? 3 : 0);
    put(e, ANE_DST_FMT_MEM_FMT, known ? result->format : 0u);
    put(e, ANE_DST_FMT_ZERO_PAD_LAST, known && !result->keep_padding);
    put(e, ANE_DST_FMT_ZERO_PAD_FIRST, known && !result->keep_padding);
    put(e, ANE_DST_FMT_INTERLEAVE, result->interleave);
}

/* ---- the engines ---- */

/* Sum and maximum are from eiln softmax. Pools are our own choice: no public program pools. */
static uint32_t pe_kind(enum ane_pe_reduce reduce)
{
    switch (reduce) {
    case ANE_POOL_AVERAGE: return 1;
    case ANE_REDUCE_MAX:
    case ANE_POOL_MAX: return 2;
    case ANE_POOL_MIN: return 3;
    default: return 0;
    }
}

static void put_pe(struct encoder *e, const struct ane_task *task)
{
    put(e, ANE_PE_CFG_KIND, pe_kind(task->pe_reduce));
    put(e, ANE_PE_CFG_OP_MODE, task->pe_op);
    put(e, ANE_PE_CFG_RELU_EN, task->pe_relu);
    put(e, ANE_PE_CFG_COND, task->pe_absolute);
    put(e, ANE_PE_CFG_RECIPROCAL, task->pe_reciprocal);
    put(e, ANE_PE_CFG_SEC_SRC, !ane_task_has_second(task) ? 0 : task->pe_subtract_second ? 3 : 2);
    put_half(e, ANE_PE_BIAS_SCALE_BIAS, task->pe_bias);
    put_half(e, ANE_PE_BIAS_SCALE_SCALE, task->pe_scale);
    put_half(e, ANE_PE_PRE_SCALE_PRE_SCALE, task->pe_pre_scale);
    put(e, ANE_PE_FINAL_SCALE_FINAL_SCALE, f32_bits(task->pe_final_scale));
}

/* Elements go around the multipliers (mode 4) unless a bias is added first (mode 0 in eiln inv and rsqrt). Matmul is our own
 * choice. */
static uint32_t ne_op_mode(const struct ane_task *task)
{
    if (task->ne_op == ANE_NE_ELEMENT)
        return ane_half_bits((double)task->acc_bias) == 0 ? 4 : 0;
    return task->ne_op == ANE_NE_MATMUL ? 1 : 0;
}

static void put_ne(struct encoder *e, const struct ane_task *task)
{
    put(e, ANE_NE_KERNEL_CFG_KERNEL_FMT, task->kernel_format);
    put(e, ANE_NE_KERNEL_CFG_PALETTIZED_EN, task->palette_bits != 0);
    put(e, ANE_NE_KERNEL_CFG_PALETTIZED_BITS, task->palette_bits ? task->palette_bits : 8);
    put(e, ANE_NE_KERNEL_CFG_SPARSE_FMT, task->sparse);
    put(e, ANE_NE_MACCFG_OP_MODE, ne_op_mode(task));
    put(e, ANE_NE_MACCFG_KERNEL_MODE, task->ne_op == ANE_NE_ELEMENT);
    put(e, ANE_NE_MACCFG_BIAS_MODE, task->bias);
    put(e, ANE_NE_MACCFG_BINARY_POINT, task->binary_point);
    put(e, ANE_NE_MACCFG_NONLINEAR_MODE, task->nonlinear);
    put(e, ANE_NE_MACCFG_ALWAYS, 1);
    put_half(e, ANE_NE_ACC_BIAS_ACC_BIAS, task->acc_bias);
    put_half(e, ANE_NE_POST_SCALE_POST_SCALE, task->post_scale);
    put(e, ANE_NE_POST_SCALE_POST_RIGHT_SHIFT, task->post_shift);
}

bool ane_task_encode(const struct ane_task *given, struct ane_td *td, struct isa_error *error)
{
    struct ane_td fresh;
    struct ane_task task = *given;
    struct encoder e = {.td = &fresh, .error = error, .ok = true};
    ane_td_init(&fresh);
    ane_task_complete(&task);
    if (!ane_task_check(&task, error))
        return false;
    put_header(&e, &task);
    put_common(&e, &task);
    put_source_dma(&e, &task);
    put_layouts(&e, ANE_SIDE_SOURCE, &task.source);
    put_layouts(&e, ANE_SIDE_SECOND, &task.second);
    put_layouts(&e, ANE_SIDE_RESULT, &task.result);
    put_l2(&e, &task);
    put_result_dma(&e, &task);
    put(&e, ANE_NE_KERNEL_CFG_DEPENDENCY, task.kernel_dependency);
    if (task.engine == ANE_ENGINE_NE) {
        put_kernel_dma(&e, &task);
        put_ne(&e, &task);
    } else {
        put_pe(&e, &task);
    }
    if (e.ok)
        *td = fresh;
    return e.ok;
}
