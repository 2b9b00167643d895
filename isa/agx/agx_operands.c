/* From fields to operands: which registers, uniforms and immediates an instruction names. */
#include "isa/agx/agx_decode_parts.h"
#include "isa/agx/agx_minifloat.h"

/* An operand being read: its fields, and the instruction that receives its meaning. */
struct reader {
    struct agx_inst *inst;
    const struct agx_operand_row *row;
    uint32_t v, t, m;
};

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
        agx_reject(inst, "a register beyond r127");
    if (operand->place >= AGX_PLACE_UNIFORM_HALF && operand->place <= AGX_PLACE_UNIFORM_PAIR && end > AGX_UNIFORM_HALVES)
        agx_reject(inst, "a uniform beyond u255");
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

/* A register or uniform of the 4-bit type; the caller has dealt with immediates. */
static struct agx_operand typed_source(struct reader *r)
{
    const unsigned count = r->row->extra ? 2 : 1, size = r->t >> 2, max = r->row->max;
    if (size == 1) {
        const bool word = r->t & 2;
        if (r->row->extra)
            agx_reject(r->inst, "a uniform as a matrix");
        if (word && max == 16)
            agx_reject(r->inst, "a 32-bit uniform in a 16-bit operand");
        return register_operand(word ? AGX_PLACE_UNIFORM_WORD : AGX_PLACE_UNIFORM_HALF, r->v | (r->t & 1) << 8, count);
    }
    if ((r->t & 3) == 0)
        agx_reject(r->inst, "a source register with hint 0");
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
            agx_reject(r->inst, "a 32-bit uniform in a 16-bit operand");
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
        agx_reject(r->inst, "a selected operand of an unknown type");
    if (word && r->v & 1)
        agx_reject(r->inst, "a 32-bit selected operand at an odd half");
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
        agx_reject(r->inst, "a memory operation without components");
    if (is_store(r->inst))
        put_source(r->inst, 0, data);
    else
        put_dst(r->inst, data);
}

static void read_base(struct reader *r)
{
    if (r->v & 1)
        agx_reject(r->inst, "a base address at an odd half");
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
        agx_reject(r->inst, "an offset that is no register");
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
        agx_reject(r->inst, "atomic data at an odd half");
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
    case AGX_KIND_SPECIAL: break; /* plain fields, which agx_modifiers.c reads */
    default: read_graphics(r);
    }
}

void agx_decode_operands(struct agx_inst *inst)
{
    const struct agx_form *form = &agx_forms[inst->form];
    agx_read_modifiers(inst, form);
    for (unsigned i = 0; i < form->operand_count; i++) {
        const struct agx_operand_row *row = &form->operands[i];
        struct reader r = {
            .inst = inst, .row = row, .v = agx_get(inst, row->v), .t = agx_get(inst, row->t), .m = agx_get(inst, row->m)};
        read_operand(&r);
    }
    if (inst->op == AGX_OP_CALL || inst->op == AGX_OP_CALL_REGISTER)
        put_dst(inst, register_operand(AGX_PLACE_WORD, 2, 1)); /* the return address goes to r1 */
    agx_check_meaning(inst, form);
}
