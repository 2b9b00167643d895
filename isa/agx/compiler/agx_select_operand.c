/* Values as operands: registers, uniforms, numbers, constants, and what can be read without an instruction. */
#include "isa/agx/compiler/agx_select_address.h"

#include "isa/agx/agx_minifloat.h"

#include <string.h>

struct agx_note *agx_note_of(struct agx_compiler *c, const struct ir_value *v)
{
    return &c->note[v->id < c->notes ? v->id : 0];
}

bool agx_is_constant(const struct ir_value *v, uint64_t *bits)
{
    if (v->op != IR_CONSTANT)
        return false;
    *bits = v->type->bits >= 64 || v->type->kind == IR_POINTER ? v->bits : v->bits & ((UINT64_C(1) << v->type->bits) - 1);
    return true;
}

bool agx_takes_over(struct agx_compiler *c, const struct ir_value *user, const struct ir_value *v)
{
    return v->home && user->home && agx_note_of(c, v)->uses == 1 && c->block_loop[v->home->id] == c->block_loop[user->home->id];
}

struct agx_ref agx_to(struct agx_compiler *c, const struct ir_value *v)
{
    struct agx_note *const note = agx_note_of(c, v);
    const unsigned bits = agx_bits(v->type), lanes = agx_lanes(v->type);
    const uint8_t words = bits == 64 ? 2 : 1;
    note->whole = note->whole || (!c->wants_half && c->what != v);
    if (!note->reg) {
        const struct agx_ref made = agx_new(c, bits, lanes);
        note->reg = made.index + 1;
        return made;
    }
    return (struct agx_ref){.kind = AGX_REF_REGISTER,
                            .part = bits == 16 || note->half ? 16 : 32,
                            .count = (uint8_t)(lanes * words),
                            .index = note->reg - 1};
}

void agx_halve(struct agx_compiler *c, const struct ir_value *v)
{
    struct agx_note *const note = agx_note_of(c, v);
    const bool low_first = v->op == IR_ADD || v->op == IR_SUB || v->op == IR_MUL || v->op == IR_SHL || v->op == IR_AND ||
                           v->op == IR_OR || v->op == IR_XOR;
    if (!note->reg || note->whole || !low_first || v->type->kind != IR_INT || v->type->bits != 32)
        return;
    note->half = true;
    c->reg[note->reg - 1].halves = 1;
    c->reg[note->reg - 1].even = false;
}

struct agx_ref agx_argument(struct agx_compiler *c, const struct ir_value *v)
{
    const unsigned bits = agx_bits(v->type);
    return (struct agx_ref){.kind = AGX_REF_UNIFORM,
                            .part = bits == 16 ? 16 : 32,
                            .count = bits == 64 ? 2 : 1,
                            .index = c->argument_offset[v->bits] / 2};
}

struct agx_ref agx_implicit_of(struct agx_compiler *c, const struct ir_value *v)
{
    uint64_t dimension = 0;
    agx_is_constant(v->operand[0], &dimension);
    const unsigned which = (dimension > 2 ? 0 : (unsigned)dimension) + (v->builtin == IR_B_GROUP_COUNT ? 3 : 0);
    if (!c->implicit[which]) {
        c->argument_bytes = (c->argument_bytes + 3) & ~3u;
        c->implicit[which] = c->argument_bytes / 2 + 1;
        c->argument_bytes += 4;
    }
    return (struct agx_ref){.kind = AGX_REF_UNIFORM, .part = 32, .count = 1, .index = c->implicit[which] - 1};
}

/* Where a value is: in a uniform or in its register. */
static struct agx_ref own_place(struct agx_compiler *c, const struct ir_value *v)
{
    struct agx_ref ref;
    return agx_result(c, v, &ref) ? ref : agx_to(c, v);
}

/* Reads the low 16 bits of a 32-bit operand, or its low word of 64. */
static struct agx_ref narrow(struct agx_compiler *c, struct agx_ref ref, unsigned first, unsigned part)
{
    if (ref.kind == AGX_REF_CONSTANT && part == 16)
        return agx_constant(c, c->constant[ref.index].bits >> 16 * first, 16);
    return ref.part == part && ref.count == 1 ? ref : agx_part(ref, first, part);
}

static bool is_splittable(struct agx_ref ref)
{
    return ref.kind == AGX_REF_REGISTER || ref.kind == AGX_REF_UNIFORM;
}

static struct agx_ref see(struct agx_compiler *c, const struct ir_value *v, bool exact);

/* A truth that is in a register anyway is 0 or 1 there, of 16 bits. */
static bool is_kept_truth(const struct ir_value *v)
{
    const struct ir_value *const from = v->operand[0];
    return from->type->bits == 1 && agx_bits(v->type) == 16 && (from->op == IR_PHI || from->op == IR_LOAD);
}

static struct agx_ref see_extension(struct agx_compiler *c, const struct ir_value *v)
{
    const struct ir_value *const from = v->operand[0];
    if (agx_bits(v->type) == 64 || from->op == IR_ICMP || from->op == IR_FCMP)
        return own_place(c, v);
    return see(c, from, false);
}

/* x >> 16 and x & 0xffff are halves of x. */
static struct agx_ref see_half(struct agx_compiler *c, const struct ir_value *v, uint64_t wanted, unsigned first)
{
    uint64_t bits;
    if (v->type->bits != 32 || !agx_is_constant(v->operand[1], &bits) || bits != wanted)
        return own_place(c, v);
    const bool wants_half = c->wants_half;
    c->wants_half = wants_half && !first;
    const struct agx_ref whole = see(c, v->operand[0], true);
    c->wants_half = wants_half;
    return is_splittable(whole) && whole.part == 32 ? agx_part(whole, first, 16) : own_place(c, v);
}

static struct agx_ref see_cast(struct agx_compiler *c, const struct ir_value *v, bool exact)
{
    const unsigned from = agx_bits(v->operand[0]->type), to = agx_bits(v->type);
    if (agx_lanes(v->type) != agx_lanes(v->operand[0]->type))
        return own_place(c, v);
    if (from == to)
        return see(c, v->operand[0], exact);
    return own_place(c, v);
}

static struct agx_ref variable(struct agx_compiler *c, struct agx_ref number)
{
    return agx_constant(c, number.index, 32);
}

static struct agx_ref wide_constant(struct agx_compiler *c, uint64_t bits)
{
    const struct agx_ref made = agx_new(c, 64, 1);
    struct agx_step *const op = agx_emit_copies(c, 2);
    op->copy[0] = (struct agx_copy){agx_part(made, 0, 32), agx_number((uint32_t)bits, 32)};
    op->copy[1] = (struct agx_copy){agx_part(made, 1, 32), agx_number((uint32_t)(bits >> 32), 32)};
    return made;
}

static struct agx_ref see(struct agx_compiler *c, const struct ir_value *v, bool exact)
{
    uint64_t bits;
    struct agx_ref result;
    const unsigned width = agx_bits(v->type);
    if (agx_is_constant(v, &bits))
        return width == 64 ? wide_constant(c, bits) : agx_constant(c, (uint32_t)bits, width);
    switch (v->op) {
    case IR_UNDEFINED: return width == 64 ? wide_constant(c, 0) : agx_number(0, width);
    case IR_ARGUMENT: return agx_argument(c, v);
    case IR_GLOBAL:
        if (v->type->space != IR_THREADGROUP)
            return agx_table(c, v);
        return variable(c, agx_variable_address(c, v));
    case IR_ALLOCA: return variable(c, agx_variable_address(c, v));
    case IR_FREEZE: return see(c, v->operand[0], exact);
    case IR_BITCAST:
    case IR_PTRTOINT:
    case IR_INTTOPTR:
    case IR_SPACECAST: return see_cast(c, v, exact);
    case IR_TRUNC:
        if (v->type->bits == 1)
            return own_place(c, v);
        if (agx_bits(v->operand[0]->type) == 64)
            return narrow(c, agx_low(c, v->operand[0]), 0, width);
        return narrow(c, see(c, v->operand[0], true), 0, width);
    case IR_ZEXT: return exact && !is_kept_truth(v) ? own_place(c, v) : see_extension(c, v);
    case IR_LSHR: return exact ? own_place(c, v) : see_half(c, v, 16, 1);
    case IR_AND: return exact ? own_place(c, v) : see_half(c, v, 0xffff, 0);
    case IR_BUILTIN:
        return v->builtin == IR_B_GLOBAL_SIZE || v->builtin == IR_B_GROUP_COUNT ? agx_implicit_of(c, v) : own_place(c, v);
    case IR_EXTRACT:
        if (agx_result(c, v, &result)) /* false, too, where there is no room for it: then it stays a part of its vector */
            return result;
        if (agx_is_constant(v->operand[1], &bits) && v->operand[0]->op != IR_UNDEFINED)
            return agx_bits(v->type) == 64 ? own_place(c, v) : agx_part(agx_to(c, v->operand[0]), (unsigned)bits, width);
        return own_place(c, v);
    default: return own_place(c, v);
    }
}

struct agx_ref agx_exact(struct agx_compiler *c, const struct ir_value *v)
{
    return see(c, v, true);
}

struct agx_ref agx_view(struct agx_compiler *c, const struct ir_value *v)
{
    return see(c, v, false);
}

struct agx_ref agx_in_register(struct agx_compiler *c, const struct ir_value *v)
{
    const struct agx_ref ref = see(c, v, true);
    if (ref.kind == AGX_REF_REGISTER)
        return ref;
    const struct agx_ref made = agx_new(c, ref.count == 2 ? 64 : ref.part, 1);
    for (unsigned i = 0; i < ref.count; i++)
        agx_emit_copy(c, agx_part(made, i, ref.part), agx_part(ref, i, ref.part));
    if (ref.count == 2) { /* both words at once, so that the pair begins to live once */
        struct agx_step *const second = c->pending.last;
        struct agx_step *first = c->pending.first;
        while (first->next != second && first->next)
            first = first->next;
        first->copy[1] = second->copy[0];
        first->copies = 2;
        first->next = NULL;
        c->pending.last = first;
    }
    return made;
}

struct agx_ref agx_word_register(struct agx_compiler *c, struct agx_ref ref)
{
    if (ref.kind == AGX_REF_REGISTER && ref.part == 32)
        return ref;
    const struct agx_ref made = agx_new(c, 32, 1);
    AGX_EMIT(c, ref.kind == AGX_REF_NUMBER ? "mov_imm %d, %0" : "mov %d, %0", made, ref);
    return made;
}

static struct agx_ref float_constant(struct agx_compiler *c, uint32_t value, unsigned bits)
{
    uint8_t code;
    float number;
    if (bits == 32) {
        memcpy(&number, &value, sizeof number);
        if (agx_minifloat_find(number, &code))
            return (struct agx_ref){.kind = AGX_REF_FLOAT, .part = 32, .count = 1, .index = value};
        return agx_pooled(c, value, 32);
    }
    /* Halves that are immediates: the same value as a float32 of five significant bits. */
    const uint32_t exponent = value >> 10 & 31, wide = (value & 0x8000) << 16 | (exponent + 112) << 23 | (value & 0x3ff) << 13;
    const uint32_t word = (value & 0x7fff) == 0 ? (value & 0x8000) << 16 : wide;
    memcpy(&number, &word, sizeof number);
    if (((value & 0x7fff) == 0 || (exponent && exponent != 31)) && agx_minifloat_find(number, &code))
        return (struct agx_ref){.kind = AGX_REF_FLOAT, .part = 32, .count = 1, .index = word};
    return agx_pooled(c, value, 16);
}

struct agx_ref agx_float_source(struct agx_compiler *c, const struct ir_value *v, unsigned bits)
{
    bool negate = false, absolute = false;
    uint64_t constant;
    for (;; v = v->operand[0]) {
        if (v->op == IR_FNEG)
            negate = negate != !absolute;
        else if (v->op == IR_BUILTIN && v->builtin == IR_B_FABS)
            absolute = true;
        else if (!(v->op == IR_FPEXT && bits == 32) && v->op != IR_FREEZE)
            break;
    }
    struct agx_ref ref = agx_is_constant(v, &constant) ? float_constant(c, (uint32_t)constant, v->type->bits) : agx_exact(c, v);
    ref.negate = negate;
    ref.absolute = absolute;
    return ref;
}

struct agx_ref agx_low(struct agx_compiler *c, const struct ir_value *v)
{
    uint64_t bits;
    if (agx_is_constant(v, &bits))
        return agx_constant(c, (uint32_t)bits, 32);
    if (v->op == IR_ZEXT && agx_bits(v->operand[0]->type) == 32)
        return agx_exact(c, v->operand[0]);
    if (v->op == IR_SEXT && agx_bits(v->operand[0]->type) == 32)
        return agx_exact(c, v->operand[0]);
    const struct agx_ref ref = agx_exact(c, v);
    return ref.count == 2 ? agx_part(ref, 0, 32) : ref;
}

struct agx_ref agx_high(struct agx_compiler *c, const struct ir_value *v)
{
    uint64_t bits;
    if (agx_is_constant(v, &bits))
        return agx_constant(c, (uint32_t)(bits >> 32), 32);
    if (v->op == IR_ZEXT && agx_bits(v->operand[0]->type) == 32)
        return agx_number(0, 32);
    const struct agx_ref ref = agx_exact(c, v);
    return ref.count == 2 ? agx_part(ref, 1, 32) : agx_number(0, 32);
}
