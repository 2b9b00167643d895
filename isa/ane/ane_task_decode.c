/* Descriptors to tasks. */
#include "isa/float_bits.h"
#include "isa/ane/ane_half.h"
#include "isa/ane/ane_task_parts.h"
#include "isa/array_count.h"

#include <string.h>

static float half_at(const struct ane_td *td, enum ane_field field)
{
    return (float)ane_half_value((uint16_t)ane_get(td, field));
}

/* ---- operands ---- */

static struct ane_layout layout_at(const struct ane_td *td, const struct ane_layout_fields *fields)
{
    return (struct ane_layout){ane_get_bytes(td, fields->base), ane_get_bytes(td, fields->row), ane_get_bytes(td, fields->plane),
                               ane_get_bytes(td, fields->depth), ane_get_bytes(td, fields->group)};
}

static void decode_layouts(const struct ane_td *td, enum ane_side side, struct ane_operand *operand)
{
    const struct ane_layout dram = layout_at(td, &ane_dram_fields[side]), l2 = layout_at(td, &ane_l2_fields[side]);
    const struct ane_layout *at = operand->place == ANE_PLACE_DRAM ? &dram : &l2;
    operand->base = at->base;
    operand->row = at->row;
    operand->plane = at->plane;
    operand->depth = at->depth;
    operand->group = at->group;
    operand->other = operand->place == ANE_PLACE_DRAM ? l2 : dram;
}

static void decode_bar(const struct ane_td *td, struct ane_operand *operand, enum ane_field bar, enum ane_field enable)
{
    operand->bar = (uint8_t)ane_get(td, bar);
    operand->named = operand->place != ANE_PLACE_DRAM && ane_get(td, enable);
}

static void decode_hints(const struct ane_td *td, struct ane_operand *source, enum ane_field first)
{
    source->dependency = (uint8_t)ane_get(td, (enum ane_field)(first + 3));
    if (source->place != ANE_PLACE_DRAM)
        return;
    source->cache_hint = (uint8_t)ane_get(td, first);
    source->cache_reuse = (uint8_t)ane_get(td, (enum ane_field)(first + 1));
    source->cache_no_reuse = (uint8_t)ane_get(td, (enum ane_field)(first + 2));
}

static uint8_t decode_alias(const struct ane_td *td, enum ane_field conv_source, enum ane_field planar_source)
{
    return (uint8_t)((ane_get(td, conv_source) ? ANE_ALIAS_CONVOLUTION_SOURCE : 0u) |
                     (ane_get(td, (enum ane_field)(conv_source + 1)) ? ANE_ALIAS_CONVOLUTION_RESULT : 0u) |
                     (ane_get(td, planar_source) ? ANE_ALIAS_PLANAR_SOURCE : 0u) |
                     (ane_get(td, (enum ane_field)(planar_source + 1)) ? ANE_ALIAS_PLANAR_RESULT : 0u));
}

static enum ane_place place_of(uint32_t code)
{
    static const enum ane_place places[4] = {ANE_PLACE_L2, ANE_PLACE_NONE, ANE_PLACE_DRAM, ANE_PLACE_CHAIN};
    return places[code & 3];
}

static void decode_source(const struct ane_td *td, struct ane_operand *source)
{
    source->place = place_of(ane_get(td, ANE_L2_SOURCE_CFG_SOURCE_TYPE));
    source->format = (enum ane_format)ane_get(td, ANE_COMMON_CH_CFG_IN_FMT);
    source->broadcast_width = ane_get(td, ANE_COMMON_BROADCAST_FIRST_WIDTH);
    source->interleave = (uint8_t)ane_get(td, ANE_SRC_FMT_INTERLEAVE);
    source->l2_dependent = (uint8_t)ane_get(td, ANE_L2_SOURCE_CFG_DEPENDENT);
    source->alias = decode_alias(td, ANE_L2_SOURCE_CFG_ALIAS_CONV_SRC, ANE_L2_SOURCE_CFG_ALIAS_PLANAR_SRC);
    decode_bar(td, source, ANE_H8_RBASE0, ANE_H8_RBE0);
    decode_hints(td, source, ANE_SRC_DMACONFIG_CACHE_HINT);
    decode_layouts(td, ANE_SIDE_SOURCE, source);
}

/* Both sources share one field for the interleave. */
static void decode_second(const struct ane_td *td, struct ane_operand *second)
{
    second->place = ane_get(td, ANE_L2_SOURCE_CFG_SEC_SOURCE) ? ANE_PLACE_DRAM : ANE_PLACE_L2;
    second->format = (enum ane_format)ane_get(td, ANE_COMMON_CH_CFG_SEC_FMT);
    second->broadcast_width = ane_get(td, ANE_COMMON_BROADCAST_SEC_WIDTH);
    second->interleave = 1;
    decode_bar(td, second, ANE_H8_RBASE1, ANE_H8_RBE1);
    second->named = false;
    decode_hints(td, second, ANE_SRC_SEC_DMACONFIG_CACHE_HINT);
    decode_layouts(td, ANE_SIDE_SECOND, second);
}

static void decode_result(const struct ane_td *td, struct ane_operand *result)
{
    result->place = place_of(ane_get(td, ANE_L2_RESULT_CFG_RESULT_TYPE));
    result->format = (enum ane_format)ane_get(td, ANE_COMMON_CH_CFG_OUT_FMT);
    result->interleave = (uint8_t)ane_get(td, ANE_DST_FMT_INTERLEAVE);
    result->alias = decode_alias(td, ANE_L2_RESULT_CFG_ALIAS_CONV_SRC, ANE_L2_RESULT_CFG_ALIAS_PLANAR_SRC);
    result->dependency = (uint8_t)ane_get(td, ANE_DST_DMACONFIG_DEPENDENCY_MODE);
    result->dependency_scope = (uint8_t)ane_get(td, ANE_DST_DMACONFIG_DEPENDENCY_SCOPE);
    decode_bar(td, result, ANE_H8_WBASE, ANE_H8_WBE);
    decode_layouts(td, ANE_SIDE_RESULT, result);
    if (result->place == ANE_PLACE_DRAM)
        result->cache_hint = (uint8_t)ane_get(td, ANE_DST_DMACONFIG_CACHE_HINT);
    if (result->place == ANE_PLACE_DRAM || result->named)
        result->keep_padding = !ane_get(td, ANE_DST_FMT_ZERO_PAD_LAST);
}

/* ---- header and shapes ---- */

static void decode_header(const struct ane_td *td, struct ane_task *task)
{
    task->id = (uint16_t)ane_get(td, ANE_H0_TID);
    task->last = ane_get(td, ANE_H0_EON);
    task->next = ane_get(td, ANE_H7_NEXT_POINTER);
    task->priority = (uint16_t)ane_get(td, ANE_H6_NEXT_PRIORITY);
    task->queue = (uint16_t)ane_get(td, ANE_COMMON_TASK_INFO_TASK_Q);
    task->exe_cycles = (uint16_t)ane_get(td, ANE_H1_EXE_CYCLES);
    task->debug_log_events = ane_get(td, ANE_H4_DEBUG_LOG_EVENTS);
    task->newer_compiler = ane_get(td, ANE_H2_LOG_EVENTS) & ANE_NEWER_EVENT;
    task->command_bar = (uint8_t)ane_get(td, ANE_H8_TBASE);
}

/* Must come after the operands, which imply the usual flags. */
static void decode_flags(const struct ane_td *td, struct ane_task *task)
{
    uint32_t flags = 0;
    for (unsigned i = 0; i < 8; i++)
        flags |= ane_get(td, (enum ane_field)(ANE_H6_DISALLOW_ABORT + i)) << i;
    task->unusual_flags = (uint8_t)(flags ^ ane_task_flags(task));
}

static void decode_common(const struct ane_td *td, struct ane_task *task)
{
    task->width_in = ane_get(td, ANE_COMMON_IN_DIM_WIN);
    task->height_in = ane_get(td, ANE_COMMON_IN_DIM_HIN);
    task->channels_in = ane_get(td, ANE_COMMON_CIN_CIN);
    task->width_out = ane_get(td, ANE_COMMON_OUT_DIM_WOUT);
    task->height_out = ane_get(td, ANE_COMMON_OUT_DIM_HOUT);
    task->channels_out = ane_get(td, ANE_COMMON_COUT_COUT);
    task->groups = ane_get(td, ANE_COMMON_GROUP_CONV_CFG_NUM_GROUPS);
    task->unicast_channels = ane_get(td, ANE_COMMON_GROUP_CONV_CFG_UNICAST_CIN);
    task->tile_height = ane_get(td, ANE_COMMON_TILE_CFG_TILE_HEIGHT);
    task->kernel_width = ane_get(td, ANE_COMMON_CONV_CFG_KW);
    task->kernel_height = ane_get(td, ANE_COMMON_CONV_CFG_KH);
    task->channel_group_log2 = ane_get(td, ANE_COMMON_CONV_CFG_OCGSIZE);
    task->stride_x = ane_get(td, ANE_COMMON_CONV_CFG_SX);
    task->stride_y = ane_get(td, ANE_COMMON_CONV_CFG_SY);
    task->pad_left = ane_get(td, ANE_COMMON_CONV_CFG_PX);
    task->pad_top = ane_get(td, ANE_COMMON_CONV_CFG_PY);
    task->step_x = ane_get(td, ANE_COMMON_CONV_CFG_OX);
    task->step_y = ane_get(td, ANE_COMMON_CONV_CFG_OY);
    task->padding_mode = (uint8_t)ane_get(td, ANE_L2_L2_CFG_PADDING_MODE);
    task->input_relu = ane_get(td, ANE_L2_L2_CFG_INPUT_RE_LU);
    task->pixel_offset = (uint16_t)ane_get_at(td, ANE_SRC_PIXEL_OFFSET_OFFSET, 0);
    task->kernel_dependency = (uint8_t)ane_get(td, ANE_NE_KERNEL_CFG_DEPENDENCY);
}

/* ---- the engines ---- */

static void decode_banks(const struct ane_td *td, struct ane_task *task)
{
    for (unsigned i = 0; i < ANE_BANKS; i++) {
        struct ane_bank *bank = &task->bank[i];
        bank->enabled = ane_get_at(td, ANE_KERNEL_COEFF_DMACONFIG_EN, i);
        if (!bank->enabled)
            continue;
        bank->base = ane_get_at(td, ANE_KERNEL_COEFF_BASE_ADDR_ADDR, i) << 6;
        bank->bytes = ane_get_at(td, ANE_KERNEL_COEFF_BFR_SIZE_MEM_BFR_SIZE, i) << 6;
    }
}

static void decode_ne(const struct ane_td *td, struct ane_task *task)
{
    const bool palette = ane_get(td, ANE_NE_KERNEL_CFG_PALETTIZED_EN);
    task->ne_op = ane_get(td, ANE_NE_MACCFG_KERNEL_MODE)    ? ANE_NE_ELEMENT
                  : ane_get(td, ANE_NE_MACCFG_OP_MODE) == 1 ? ANE_NE_MATMUL
                                                            : ANE_NE_CONVOLUTION;
    task->engines = 1u << ane_get(td, ANE_COMMON_CFG_ACTIVE_NE);
    task->depthwise = task->ne_op != ANE_NE_ELEMENT && ane_get(td, ANE_COMMON_GROUP_CONV_CFG_UNICAST_EN);
    task->small_source = ane_get(td, ANE_COMMON_CFG_SMALL_SOURCE_MODE);
    task->double_buffer = ane_get(td, ANE_COMMON_CFG_ACC_DOUBLE_BUF_EN);
    task->shape_preferred = (uint8_t)ane_get(td, ANE_COMMON_CFG_SH_PREF);
    task->shape_least = (uint8_t)ane_get(td, ANE_COMMON_CFG_SH_MIN);
    task->shape_most = (uint8_t)ane_get(td, ANE_COMMON_CFG_SH_MAX);
    task->kernel_format = (enum ane_kernel_format)ane_get(td, ANE_NE_KERNEL_CFG_KERNEL_FMT);
    task->palette_bits = palette ? ane_get(td, ANE_NE_KERNEL_CFG_PALETTIZED_BITS) : 0;
    task->sparse = ane_get(td, ANE_NE_KERNEL_CFG_SPARSE_FMT);
    task->bias = ane_get(td, ANE_NE_MACCFG_BIAS_MODE);
    task->binary_point = (uint8_t)ane_get(td, ANE_NE_MACCFG_BINARY_POINT);
    task->nonlinear = (enum ane_nonlinear)ane_get(td, ANE_NE_MACCFG_NONLINEAR_MODE);
    task->acc_bias = half_at(td, ANE_NE_ACC_BIAS_ACC_BIAS);
    task->post_scale = half_at(td, ANE_NE_POST_SCALE_POST_SCALE);
    task->post_shift = ane_get(td, ANE_NE_POST_SCALE_POST_RIGHT_SHIFT);
    task->coefficient_bar = (uint8_t)ane_get(td, ANE_H9_KBASE0);
    task->channels_in *= ane_task_groups(task); /* 17 and 13 bits */
    task->channels_out *= ane_task_groups(task);
    decode_banks(td, task);
}

static enum ane_pe_reduce pe_reduce(const struct ane_td *td)
{
    static const enum ane_pe_reduce pools[4] = {ANE_REDUCE_NONE, ANE_POOL_AVERAGE, ANE_POOL_MAX, ANE_POOL_MIN};
    const uint32_t kind = ane_get(td, ANE_PE_CFG_KIND);
    if (ane_get(td, ANE_COMMON_CFG_PLANAR) != 1)
        return ANE_REDUCE_NONE;
    if (ane_get(td, ANE_COMMON_CFG_REDUCE))
        return kind == 2 ? ANE_REDUCE_MAX : ANE_REDUCE_SUM;
    return pools[kind];
}

static void decode_pe(const struct ane_td *td, struct ane_task *task)
{
    const uint32_t final_scale = ane_get(td, ANE_PE_FINAL_SCALE_FINAL_SCALE);
    task->pe_op = (enum ane_pe_op)ane_get(td, ANE_PE_CFG_OP_MODE);
    task->pe_reduce = pe_reduce(td);
    task->pe_absolute = ane_get(td, ANE_PE_CFG_COND);
    task->pe_relu = ane_get(td, ANE_PE_CFG_RELU_EN);
    task->pe_reciprocal = ane_get(td, ANE_PE_CFG_RECIPROCAL);
    task->pe_subtract_second = ane_get(td, ANE_PE_CFG_SEC_SRC) == 3;
    task->pe_pre_scale = half_at(td, ANE_PE_PRE_SCALE_PRE_SCALE);
    task->pe_scale = half_at(td, ANE_PE_BIAS_SCALE_SCALE);
    task->pe_bias = half_at(td, ANE_PE_BIAS_SCALE_BIAS);
    task->pe_final_scale = f32_of_bits(final_scale);
    task->planar_tile =
        (uint8_t)(ane_get(td, ANE_COMMON_PLANAR_CFG_TILE_WIDTH_LOG2) | ane_get(td, ANE_COMMON_PLANAR_CFG_TILE_HEIGHT_LOG2) << 4);
}

/* ---- whether the descriptor is understood ---- */

static bool check_packets(const struct ane_td *td, struct isa_error *error)
{
    static const uint16_t packets[] = {0x028, 0x124, 0x168, 0x1dc, 0x228, 0x23c, 0x254};
    struct ane_td fresh;
    ane_td_init(&fresh);
    for (size_t i = 0; i < ARRAY_COUNT(packets); i++) {
        const unsigned word = packets[i] / 4u;
        if (td->word[word] != fresh.word[word])
            return ane_fail(error, packets[i], "packet word is %08x, descriptors of H13 have %08x here", td->word[word],
                            fresh.word[word]);
    }
    return true;
}

static bool check_formats(const struct ane_td *td, struct isa_error *error)
{
    static const enum ane_field formats[] = {ANE_COMMON_CH_CFG_IN_FMT, ANE_COMMON_CH_CFG_SEC_FMT, ANE_COMMON_CH_CFG_OUT_FMT,
                                             ANE_NE_KERNEL_CFG_KERNEL_FMT};
    for (size_t i = 0; i < ARRAY_COUNT(formats); i++)
        if (ane_get(td, formats[i]) == 3)
            return ane_fail(error, ane_field_info(formats[i])->byte, "%s = 3: no such format", ane_field_info(formats[i])->name);
    return true;
}

/* The field that holds bits of `mask` in a word; NULL when no name is known. */
static const struct ane_field_info *field_of(unsigned word, uint32_t mask)
{
    for (unsigned i = 0; i < ANE_FIELD_COUNT; i++) {
        const struct ane_field_info *info = ane_field_info((enum ane_field)i);
        const unsigned first = info->byte / 4u, low = info->byte % 4u * 8u + info->bit;
        if (word >= first && word < first + info->count && (mask >> low & ((UINT64_C(1) << info->width) - 1)))
            return info;
    }
    return NULL;
}

/* Bits that the task does not explain are set in no known program, or contradict others. */
static bool check_explained(const struct ane_td *td, const struct ane_task *task, struct isa_error *error)
{
    struct ane_td again;
    if (!ane_task_encode(task, &again, error))
        return false;
    for (unsigned i = 0; i < ANE_TD_WORDS; i++) {
        const uint32_t different = td->word[i] ^ again.word[i];
        if (!different)
            continue;
        const struct ane_field_info *info = field_of(i, different);
        return ane_fail(error, 4ul * i, "word %08x where the other fields ask for %08x: %s", td->word[i], again.word[i],
                        info ? info->name : "bits without a known meaning");
    }
    return true;
}

bool ane_task_decode(const struct ane_td *td, struct ane_task *task, struct isa_error *error)
{
    memset(task, 0, sizeof *task);
    if (!check_packets(td, error) || !check_formats(td, error))
        return false;
    const uint32_t planar = ane_get(td, ANE_COMMON_CFG_PLANAR);
    task->engine = planar ? ANE_ENGINE_PE : ANE_ENGINE_NE;
    decode_header(td, task);
    decode_common(td, task);
    decode_source(td, &task->source);
    decode_result(td, &task->result);
    if (task->engine == ANE_ENGINE_NE)
        decode_ne(td, task);
    else
        decode_pe(td, task);
    if (planar == 3 || (task->engine == ANE_ENGINE_NE && task->ne_op == ANE_NE_MATMUL))
        decode_second(td, &task->second);
    decode_flags(td, task);
    return check_explained(td, task, error);
}
