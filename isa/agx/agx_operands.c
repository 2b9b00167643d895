#include "isa/agx/agx_decode_parts.h"
#include "isa/agx/agx_minifloat.h"
#include "isa/agx/agx_table.h"

/* An operand being read: its fields, and where what it means goes. */
struct reader {
    struct agx_inst *inst;
    const struct agx_operand_row *row;
    uint32_t v, t, m;
};

static void reject(struct agx_inst *inst, const char *why)
{
    if (!inst->invalid)
        inst->invalid = why;
}

static struct agx_operand register_operand(enum agx_place place, unsigned half, unsigned count)
{
    const unsigned whole = place == AGX_PLACE_HALF || place == AGX_PLACE_UNIFORM_HALF ? half : half & ~1u;
    return (struct agx_operand){.place = place, .index = (uint16_t)whole, .count = (uint8_t)count};
}

static struct agx_operand immediate_operand(int32_t value)
{
    return (struct agx_operand){.place = AGX_PLACE_IMMEDIATE, .count = 1, .immediate = value};
}

static struct agx_operand other_operand(unsigned raw)
{
    return (struct agx_operand){.place = AGX_PLACE_OTHER, .count = 1, .index = (uint16_t)raw};
}

static void check_range(struct agx_inst *inst, const struct agx_operand *operand)
{
    const unsigned end = operand->index + agx_place_halves(operand->place) * operand->count;
    if (operand->place >= AGX_PLACE_HALF && operand->place <= AGX_PLACE_PAIR && end > AGX_HALVES)
        reject(inst, "a register beyond r127");
    if (operand->place >= AGX_PLACE_UNIFORM_HALF && operand->place <= AGX_PLACE_UNIFORM_PAIR && end > AGX_UNIFORM_HALVES)
        reject(inst, "a uniform beyond u255");
}

static void put_dst(struct agx_inst *inst, struct agx_operand operand)
{
    check_range(inst, &operand);
    inst->dst = operand;
}

static void put_source(struct agx_inst *inst, unsigned index, struct agx_operand operand)
{
    check_range(inst, &operand);
    inst->source[index] = operand;
    if (inst->source_count <= index)
        inst->source_count = (uint8_t)(index + 1);
}

static unsigned source_index(enum agx_field_id name)
{
    switch (name) {
    case AGX_F_B: return 1;
    case AGX_F_C:
    case AGX_F_X: return 2;
    case AGX_F_Y: return 3;
    default: return 0;
    }
}

static void read_alu_dst(struct reader *r)
{
    const bool word = r->t & 2 && r->row->max >= 32, pair = word && r->row->max == 64 && r->v & 1;
    const enum agx_place place = pair ? AGX_PLACE_PAIR : word ? AGX_PLACE_WORD : AGX_PLACE_HALF;
    struct agx_operand dst = register_operand(place, r->v, r->row->extra ? 2 : 1);
    dst.hint = r->t & 1 ? AGX_HINT_CACHE : AGX_HINT_NONE;
    r->inst->saturate = r->row->m && r->m;
    put_dst(r->inst, dst);
}

/* Registers and uniforms of the 4-bit type; the caller has dealt with immediates. */
static struct agx_operand typed_source(struct reader *r)
{
    const unsigned count = r->row->extra ? 2 : 1, size = r->t >> 2, max = r->row->max;
    if (size == 1) {
        const bool word = r->t & 2;
        if (r->row->extra)
            reject(r->inst, "a uniform as a matrix");
        if (word && max == 16)
            reject(r->inst, "a 32-bit uniform in a 16-bit operand");
        return register_operand(word ? AGX_PLACE_UNIFORM_WORD : AGX_PLACE_UNIFORM_HALF, r->v | (r->t & 1) << 8, count);
    }
    if ((r->t & 3) == 0)
        reject(r->inst, "a source register with hint 0");
    enum agx_place place = AGX_PLACE_HALF;
    if (size != 0 && max > 16)
        place = size == 3 && max == 64 ? AGX_PLACE_PAIR : AGX_PLACE_WORD;
    struct agx_operand source = register_operand(place, r->v, count);
    source.hint = (r->t & 3) > 1 ? (enum agx_hint)((r->t & 3) - 1) : AGX_HINT_NONE;
    return source;
}

static void read_alu_src(struct reader *r)
{
    struct agx_operand source = r->t ? typed_source(r) : immediate_operand((int32_t)r->v);
    source.sign_extend = r->m & 1;
    put_source(r->inst, source_index(r->row->v), source);
}

static void read_float_src(struct reader *r)
{
    struct agx_operand source;
    if (r->row->kind == AGX_KIND_FLOAT16_SRC && r->t >= 4) {
        if (r->t & 2)
            reject(r->inst, "a 32-bit uniform in a 16-bit operand");
        source = register_operand(AGX_PLACE_UNIFORM_HALF, r->v | (r->t & 1) << 8, 1);
    } else if (r->t) {
        source = typed_source(r);
    } else {
        source = immediate_operand((int32_t)agx_minifloat_bits((uint8_t)r->v));
        source.count = r->row->extra ? 2 : 1;
    }
    source.absolute = r->m & 1;
    source.negate = r->m >> 1 & 1;
    put_source(r->inst, source_index(r->row->v), source);
}

static void read_select_src(struct reader *r)
{
    const bool word = agx_get(r->inst, AGX_F_Dt) & 2;
    struct agx_operand source;
    if (r->t == 4) {
        put_source(r->inst, source_index(r->row->v), immediate_operand((int32_t)r->v));
        return;
    }
    if (r->t == 0 || r->t == 5)
        reject(r->inst, "a selected operand of an unknown type");
    if (word && r->v & 1)
        reject(r->inst, "a 32-bit selected operand at an odd half");
    if (r->t >= 6) {
        source = register_operand(word ? AGX_PLACE_UNIFORM_WORD : AGX_PLACE_UNIFORM_HALF, r->v | (r->t & 1) << 8, 1);
    } else {
        source = register_operand(word ? AGX_PLACE_WORD : AGX_PLACE_HALF, r->v, 1);
        source.hint = r->t == 2 ? AGX_HINT_CACHE : r->t == 3 ? AGX_HINT_DISCARD : AGX_HINT_NONE;
    }
    put_source(r->inst, source_index(r->row->v), source);
}

static bool is_store(const struct agx_inst *inst)
{
    switch (agx_forms[inst->form].effect.unit_class) {
    case AGX_CLASS_DEVICE_STORE:
    case AGX_CLASS_GROUP_STORE:
    case AGX_CLASS_STACK_STORE:
    case AGX_CLASS_UNIFORM_STORE: return true;
    default: return false;
    }
}

static unsigned data_count(const struct agx_inst *inst)
{
    if (inst->op == AGX_OP_THREADGROUP_ATOMIC)
        return 1;
    if (inst->format == AGX_FORMAT_RGB10A2)
        return 4; /* packed formats fill all their components, whatever the mask says */
    if (inst->format >= AGX_FORMAT_RG11B10F && inst->op != AGX_OP_TEXTURE_SAMPLE && inst->op != AGX_OP_TEXTURE_LOAD)
        return 3;
    return (unsigned)__builtin_popcount(inst->component_mask);
}

static void read_data(struct reader *r)
{
    if (r->row->extra && !agx_get(r->inst, r->row->extra))
        return;
    const unsigned count = data_count(r->inst);
    const struct agx_operand data = register_operand(r->t ? AGX_PLACE_WORD : AGX_PLACE_HALF, r->v, count);
    if (count == 0)
        reject(r->inst, "a memory operation without components");
    if (is_store(r->inst))
        put_source(r->inst, 0, data);
    else
        put_dst(r->inst, data);
}

static void read_base(struct reader *r)
{
    if (r->v & 1)
        reject(r->inst, "a base address at an odd half");
    put_source(r->inst, 1, register_operand(r->t ? AGX_PLACE_UNIFORM_PAIR : AGX_PLACE_PAIR, r->v, 1));
}

static void read_index(struct reader *r)
{
    const bool half = r->row->kind == AGX_KIND_GROUP_INDEX;
    if (r->t) {
        put_source(r->inst, 2, immediate_operand((int16_t)(uint16_t)r->v));
        return;
    }
    if (r->v > 255 || (!half && r->v & 1))
        reject(r->inst, "an offset that is no register");
    put_source(r->inst, 2, register_operand(half ? AGX_PLACE_HALF : AGX_PLACE_WORD, r->v & 255, 1));
}

static void read_group_base(struct reader *r)
{
    if (r->t == 2)
        put_source(r->inst, 1, immediate_operand(0));
    else if (r->t & 1)
        put_source(r->inst, 1, register_operand(AGX_PLACE_UNIFORM_HALF, r->v | (r->t >> 1) << 8, 1));
    else
        put_source(r->inst, 1, register_operand(AGX_PLACE_HALF, r->v, 1));
}

static void read_atomic_src(struct reader *r)
{
    if (r->v & 1)
        reject(r->inst, "atomic data at an odd half");
    const bool two = r->inst->atomic == AGX_ATOMIC_CMPXCHG;
    put_source(r->inst, 0, register_operand(AGX_PLACE_WORD, r->v, two ? 2 : 1));
}

static void read_number(struct reader *r)
{
    if (r->inst->op == AGX_OP_MOV_IMM && (r->row->v == AGX_F_imm16 || r->row->v == AGX_F_imm32))
        put_source(r->inst, 0, immediate_operand((int32_t)r->v));
}

static void read_word(struct reader *r)
{
    const unsigned half = r->row->kind == AGX_KIND_WORD ? 2 * r->v : r->v;
    const struct agx_operand word = register_operand(AGX_PLACE_WORD, half, 1);
    if (r->inst->op == AGX_OP_STACK_GET_PTR)
        put_dst(r->inst, word);
    else
        put_source(r->inst, 0, word);
}

static void read_graphics(struct reader *r)
{
    if (r->inst->source_count < AGX_MAX_SOURCES)
        put_source(r->inst, r->inst->source_count, other_operand(r->v));
}

static void read_operand(struct reader *r)
{
    switch ((enum agx_operand_kind)r->row->kind) {
    case AGX_KIND_MASK_DST:
        r->inst->dst = register_operand(AGX_PLACE_HALF, 0, 1);
        r->inst->dst.hint = r->t & 1 ? AGX_HINT_CACHE : AGX_HINT_NONE;
        break;
    case AGX_KIND_ALU_DST: read_alu_dst(r); break;
    case AGX_KIND_ALU_SRC: read_alu_src(r); break;
    case AGX_KIND_FLOAT_SRC:
    case AGX_KIND_FLOAT16_SRC: read_float_src(r); break;
    case AGX_KIND_SELECT_SRC: read_select_src(r); break;
    case AGX_KIND_DATA: read_data(r); break;
    case AGX_KIND_BASE: read_base(r); break;
    case AGX_KIND_INDEX:
    case AGX_KIND_GROUP_INDEX: read_index(r); break;
    case AGX_KIND_GROUP_BASE: read_group_base(r); break;
    case AGX_KIND_ATOMIC_DST:
        if (r->t)
            put_dst(r->inst, register_operand(AGX_PLACE_WORD, r->v, 1));
        break;
    case AGX_KIND_ATOMIC_SRC: read_atomic_src(r); break;
    case AGX_KIND_NUMBER: read_number(r); break;
    case AGX_KIND_SIGNED16: put_source(r->inst, 0, immediate_operand((int16_t)(uint16_t)r->v)); break;
    case AGX_KIND_WORD:
    case AGX_KIND_WORD_AT_HALF: read_word(r); break;
    case AGX_KIND_BRANCH: r->inst->branch_bytes = r->row->extra == 8 ? (int8_t)(uint8_t)r->v : (int32_t)r->v; break;
    case AGX_KIND_VARYING:
        put_dst(r->inst, register_operand(r->t ? AGX_PLACE_WORD : AGX_PLACE_HALF, r->v, (r->m ? r->m : 4) * r->row->extra));
        break;
    case AGX_KIND_TRUTH:
    case AGX_KIND_BITS:
    case AGX_KIND_ENUM:
    case AGX_KIND_INT_CONDITION:
    case AGX_KIND_FLOAT_CONDITION:
    case AGX_KIND_SHIFT:
    case AGX_KIND_LOW_BITS:
    case AGX_KIND_SPECIAL: break; /* plain fields, read below */
    default: read_graphics(r);
    }
}

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

/* Reductions: bits 26..41 and 47 of the word, from the row's constants or from simd_op's fields. */
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
        reject(inst, "a reduction without a known meaning");
}

static void read_modifiers(struct agx_inst *inst, const struct agx_form *form)
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
        reject(inst, "an unknown memory format");
    if (inst->format == AGX_FORMAT_I32 && !agx_get(inst, AGX_F_Rt))
        reject(inst, "32-bit components in half registers");
}

/* Loads and stores outside the usual constants. Coherent ones (bits 44..46 = 7) are plain loads and stores to the program;
 * source: Mesa, agx_pack.c. */
static void check_variant(struct agx_inst *inst)
{
    const bool load = inst->op == AGX_OP_DEVICE_LOAD_OTHER;
    const bool known = agx_get(inst, AGX_F_u1) == 1 && agx_get(inst, AGX_F_u3) == 0 && agx_get(inst, AGX_F_u5) == 0;
    if (known && inst->coherency >= 4)
        inst->op = load ? AGX_OP_DEVICE_LOAD : AGX_OP_DEVICE_STORE;
    else
        reject(inst, "a variant of a load or store without a known meaning");
}

/* All compiled examples look like this; only 16-bit components work. Source: Mesa, agx_pack.c. */
static void check_uniform_store(struct agx_inst *inst)
{
    if (inst->format != AGX_FORMAT_I16 || agx_get(inst, AGX_F_Rt) || !agx_get(inst, AGX_F_Ot) || inst->shift ||
        agx_get(inst, AGX_F_b) || agx_get(inst, AGX_F_unk) != 2)
        reject(inst, "a variant of uniform_store without a known meaning");
}

static void check_meaning(struct agx_inst *inst, const struct agx_form *form)
{
    if (has_kind(form, AGX_KIND_INT_CONDITION) && (inst->condition & 3) == 3)
        reject(inst, "an integer condition without a known meaning");
    if (has_kind(form, AGX_KIND_FLOAT_CONDITION) && inst->condition == 4)
        reject(inst, "a float condition without a known meaning");
    switch (inst->op) {
    case AGX_OP_CONVERT:
        if (!agx_value_text(AGX_LIST_CONVERT, inst->mode) || inst->round > 1)
            reject(inst, "a conversion without a known meaning");
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
            reject(inst, "an atomic operation without a known meaning");
        break;
    default:
        if (form->effect.no_meaning)
            reject(inst, "an operation without a known meaning");
    }
}

void agx_decode_operands(struct agx_inst *inst)
{
    const struct agx_form *form = &agx_forms[inst->form];
    read_modifiers(inst, form);
    for (unsigned i = 0; i < form->operand_count; i++) {
        const struct agx_operand_row *row = &form->operands[i];
        struct reader r = {
            .inst = inst, .row = row, .v = agx_get(inst, row->v), .t = agx_get(inst, row->t), .m = agx_get(inst, row->m)};
        read_operand(&r);
    }
    if (inst->op == AGX_OP_CALL || inst->op == AGX_OP_CALL_REGISTER)
        put_dst(inst, register_operand(AGX_PLACE_WORD, 2, 1)); /* the return address goes to r1 */
    check_meaning(inst, form);
}
