/* From fields to modifiers (conditions, shifts, formats, reductions ...), and whether the whole has a known meaning. */
#include "isa/agx/agx_decode_parts.h"

static uint8_t field8(const struct agx_inst *inst, enum agx_field_id id)
{
    return (uint8_t)agx_get(inst, id);
}

static bool has_kind(const struct agx_form *form, enum agx_operand_kind kind)
{
    for (unsigned i = 0; i < form->operand_count; i++)
        if (form->operands[i].kind == kind)
            return true;
    return false;
}

/* Bits 44..46 of device memory operations and atomics. */
static uint8_t coherency(const struct agx_inst *inst)
{
    switch (inst->op) {
    case AGX_OP_DEVICE_LOAD: return 4;
    case AGX_OP_DEVICE_LOAD_OTHER: return field8(inst, AGX_F_u4);
    case AGX_OP_DEVICE_STORE: return (uint8_t)(4 | agx_get(inst, AGX_F_u6));
    case AGX_OP_DEVICE_STORE_OTHER: return (uint8_t)(agx_get(inst, AGX_F_u6) | agx_get(inst, AGX_F_u4) << 1);
    case AGX_OP_ATOMIC: return (uint8_t)(agx_get(inst, AGX_F_u4) >> 2 | agx_get(inst, AGX_F_u5) << 1);
    case AGX_OP_STACK_LOAD:
    case AGX_OP_STACK_STORE: return field8(inst, AGX_F_i5);
    default: return 0;
    }
}

static uint8_t slot(const struct agx_inst *inst)
{
    if (inst->op == AGX_OP_WAIT)
        return field8(inst, AGX_F_i);
    if (inst->op == AGX_OP_STACK_LOAD || inst->op == AGX_OP_STACK_STORE)
        return field8(inst, AGX_F_i6);
    return field8(inst, AGX_F_g);
}

/* Reductions are told by bits 26..41 and 47 of the word, which are constants of the row or, for simd_op, fields. */
static void read_reduction(struct agx_inst *inst)
{
    const uint64_t bits = agx_forms[inst->form].value | (uint64_t)agx_get(inst, AGX_F_op2) << 26 |
                          (uint64_t)(inst->op == AGX_OP_SIMD_OP ? agx_get(inst, AGX_F_op1) : 0) << 47;
    inst->reduction = (uint8_t)((bits >> 28 & 1) | (bits >> 38 & 7) << 1 | (bits >> 47 & 1) << 4);
    inst->whole_simdgroup = bits >> 29 & 1;
    inst->prefix = bits >> 30 & 1;
    const uint32_t known = 1u << AGX_REDUCE_AND | 1u << AGX_REDUCE_FADD | 1u << AGX_REDUCE_OR | 1u << AGX_REDUCE_FMUL |
                           1u << AGX_REDUCE_XOR | 1u << AGX_REDUCE_FMIN | 1u << AGX_REDUCE_FMAX | 1u << AGX_REDUCE_IADD |
                           1u << AGX_REDUCE_SMIN | 1u << AGX_REDUCE_SMAX | 1u << AGX_REDUCE_UMIN | 1u << AGX_REDUCE_UMAX;
    const uint64_t unused = UINT64_C(0x23f8c000000); /* bits 26, 27, 31..37, 41 */
    if (!(known >> inst->reduction & 1) || bits & unused)
        agx_reject(inst, "a reduction without a known meaning");
}

void agx_read_modifiers(struct agx_inst *inst, const struct agx_form *form)
{
    const uint32_t m = agx_get(inst, AGX_F_m);
    inst->condition = field8(inst, AGX_F_cc);
    inst->invert = agx_get(inst, AGX_F_ccn);
    inst->subtract = agx_get(inst, AGX_F_N);
    if (has_kind(form, AGX_KIND_SHIFT))
        inst->shift = field8(inst, AGX_F_s);
    if (has_kind(form, AGX_KIND_TRUTH))
        inst->truth = (uint8_t)(agx_get(inst, AGX_F_tt0) | agx_get(inst, AGX_F_tt1) << 1 | agx_get(inst, AGX_F_tt2) << 2 |
                                agx_get(inst, AGX_F_tt3) << 3);
    if (has_kind(form, AGX_KIND_LOW_BITS))
        inst->field_bits = m ? (uint8_t)m : 32;
    if (has_kind(form, AGX_KIND_MASK_DST))
        inst->nesting = field8(inst, AGX_F_n);
    inst->special = field8(inst, AGX_F_SR);
    inst->mode = inst->op == AGX_OP_CONVERT ? field8(inst, AGX_F_mode) : 0;
    inst->round = inst->op == AGX_OP_CONVERT ? field8(inst, AGX_F_round) : 0;
    inst->format = field8(inst, AGX_F_F);
    inst->component_mask = field8(inst, AGX_F_mask);
    inst->slot = slot(inst);
    if (inst->op == AGX_OP_ATOMIC || inst->op == AGX_OP_THREADGROUP_ATOMIC)
        inst->atomic = field8(inst, AGX_F_op);
    inst->coherency = coherency(inst);
    inst->zero_extend_offset = agx_get(inst, AGX_F_Ou);
    if ((form->value & 0x807f) == 0x806f && form->bytes_short == 6)
        read_reduction(inst);
}

static void check_memory(struct agx_inst *inst)
{
    if (inst->format == 9 || inst->format == 11)
        agx_reject(inst, "an unknown memory format");
    if (inst->format == AGX_FORMAT_I32 && !agx_get(inst, AGX_F_Rt))
        agx_reject(inst, "32-bit components in half registers");
}

/* Loads and stores outside the usual constants. To the program, coherent ones (bits 44..46 = 7) are plain loads and stores;
 * source: Mesa, agx_pack.c. */
static void check_variant(struct agx_inst *inst)
{
    const bool load = inst->op == AGX_OP_DEVICE_LOAD_OTHER;
    const bool known = agx_get(inst, AGX_F_u1) == 1 && agx_get(inst, AGX_F_u3) == 0 && agx_get(inst, AGX_F_u5) == 0;
    if (known && inst->coherency >= 4)
        inst->op = load ? AGX_OP_DEVICE_LOAD : AGX_OP_DEVICE_STORE;
    else
        agx_reject(inst, "a variant of a load or store without a known meaning");
}

/* All compiled examples store 16-bit components at an immediate index; no others are known to work. Source: Mesa, agx_pack.c. */
static void check_uniform_store(struct agx_inst *inst)
{
    if (inst->format != AGX_FORMAT_I16 || agx_get(inst, AGX_F_Rt) || !agx_get(inst, AGX_F_Ot) || inst->shift ||
        agx_get(inst, AGX_F_b) || agx_get(inst, AGX_F_unk) != 2)
        agx_reject(inst, "a variant of uniform_store without a known meaning");
}

void agx_check_meaning(struct agx_inst *inst, const struct agx_form *form)
{
    if (has_kind(form, AGX_KIND_INT_CONDITION) && (inst->condition & 3) == 3)
        agx_reject(inst, "an integer condition without a known meaning");
    if (has_kind(form, AGX_KIND_FLOAT_CONDITION) && inst->condition == 4)
        agx_reject(inst, "a float condition without a known meaning");
    switch (inst->op) {
    case AGX_OP_CONVERT:
        if (!agx_value_text(AGX_LIST_CONVERT, inst->mode) || inst->round > 1)
            agx_reject(inst, "a conversion without a known meaning");
        break;
    case AGX_OP_DEVICE_LOAD_OTHER:
    case AGX_OP_DEVICE_STORE_OTHER:
        check_variant(inst);
        check_memory(inst);
        break;
    case AGX_OP_DEVICE_LOAD:
    case AGX_OP_DEVICE_STORE:
    case AGX_OP_STACK_LOAD:
    case AGX_OP_STACK_STORE:
    case AGX_OP_THREADGROUP_LOAD:
    case AGX_OP_THREADGROUP_STORE: check_memory(inst); break;
    case AGX_OP_UNIFORM_STORE: check_uniform_store(inst); break;
    case AGX_OP_ATOMIC:
    case AGX_OP_THREADGROUP_ATOMIC:
        if (inst->atomic > AGX_ATOMIC_XOR)
            agx_reject(inst, "an atomic operation without a known meaning");
        break;
    default:
        if (form->effect.no_meaning)
            agx_reject(inst, "an operation without a known meaning");
    }
}
