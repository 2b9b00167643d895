/* Addresses: what the hardware adds up by itself, and the arithmetic for the rest. */
#include "isa/agx/compiler/agx_select_address.h"

enum { GROUP_BYTES_MAX = 32 << 10, ADD_SHIFT_MAX = 4 /* of a term of iadd: beyond, there is nothing left of it */ };

/* The place of a variable in threadgroup memory, or of an ALLOCA in the stack, given on first use. */
struct agx_ref agx_variable_address(struct agx_compiler *c, const struct ir_value *variable)
{
    if (variable->op == IR_ALLOCA) {
        struct agx_note *const note = agx_note_of(c, variable);
        uint64_t count = 1;
        if (variable->operands && !agx_is_constant(variable->operand[0], &count))
            agx_refuse(c, variable, "a private array of variable size");
        if (!note->reg) {
            note->reg = c->stack_bytes + 1;
            c->stack_bytes += (uint32_t)((variable->held->bytes * count + 3) & ~UINT64_C(3));
        }
        return agx_number(note->reg - 1, 32);
    }
    for (unsigned i = 0; i < c->group_variables; i++)
        if (c->group_memory[i].global == variable)
            return agx_number(c->group_memory[i].offset, 32);
    struct agx_group_memory *const grown = agx_alloc(c, (c->group_variables + 1) * sizeof *grown);
    for (unsigned i = 0; i < c->group_variables; i++)
        grown[i] = c->group_memory[i];
    c->group_memory = grown;
    const uint64_t align = variable->held->align > 16 ? variable->held->align : 16;
    const uint64_t offset = (c->group_bytes + align - 1) / align * align;
    if (offset + variable->held->bytes > GROUP_BYTES_MAX)
        agx_refuse(c, variable, "more than %d bytes of threadgroup memory", GROUP_BYTES_MAX);
    grown[c->group_variables++] = (struct agx_group_memory){variable, (uint32_t)offset};
    c->group_bytes = (uint32_t)(offset + variable->held->bytes);
    return agx_number((uint32_t)offset, 32);
}

static unsigned log2_of(uint64_t bytes)
{
    return bytes >= 8 ? 3 : bytes >= 4 ? 2 : bytes >= 2 ? 1 : 0;
}

/* An index without what the hardware does by itself: its extension, and a shift that cannot lose bits. */
struct index {
    const struct ir_value *value; /* NULL = only `offset` */
    bool is_signed;
    unsigned shift;
    int64_t offset; /* in elements */
};

static struct index index_of(const struct ir_value *gep)
{
    const struct ir_value *v = gep->operand[1];
    const unsigned element = log2_of(gep->held->bytes), most = element + 2 > ADD_SHIFT_MAX ? ADD_SHIFT_MAX - element : 2;
    struct index index = {.value = v, .is_signed = !gep->exact, .offset = gep->offset};
    uint64_t bits;
    if (agx_is_constant(v, &bits)) {
        index.offset += v->type->bits == 64 ? (int64_t)bits : gep->exact ? (int64_t)(uint32_t)bits : (int32_t)bits;
        index.value = NULL;
        return index;
    }
    if (v->op == IR_SHL && v->type->bits == 64 && agx_is_constant(v->operand[1], &bits) && bits <= most &&
        (v->operand[0]->op == IR_ZEXT || v->operand[0]->op == IR_SEXT)) {
        index.shift = (unsigned)bits;
        index.value = v = v->operand[0];
    }
    if ((v->op == IR_ZEXT || (v->op == IR_SEXT && v->type->bits == 64)) && v->operand[0]->type->bits <= 32 &&
        v->operand[0]->type->bits > 1) {
        index.is_signed = v->op == IR_SEXT;
        index.value = v = v->operand[0];
    }
    if (!index.shift && !index.is_signed && v->op == IR_SHL && v->exact && agx_is_constant(v->operand[1], &bits) &&
        bits <= most) {
        index.shift = (unsigned)bits;
        index.value = v->operand[0];
    }
    return index;
}

static struct agx_ref base_of(struct agx_compiler *c, const struct ir_value *v, const struct ir_value *pointer)
{
    const struct agx_ref base = agx_exact(c, pointer);
    if (base.count != 2)
        agx_refuse(c, v, "an address that is a constant");
    return base.kind == AGX_REF_UNIFORM && base.index >= 256 ? agx_in_register(c, pointer) : base;
}

struct agx_device_address agx_device_address(struct agx_compiler *c, const struct ir_value *v, const struct ir_value *pointer,
                                             unsigned bytes, unsigned most_shift)
{
    struct agx_device_address at = {.index = agx_number(0, 32), .is_signed = true};
    while (pointer->op == IR_FREEZE || pointer->op == IR_SPACECAST)
        pointer = pointer->operand[0];
    const unsigned element = pointer->op == IR_GEP ? log2_of(pointer->held->bytes) : 0, component = log2_of(bytes);
    const struct index index = pointer->op == IR_GEP ? index_of(pointer) : (struct index){.shift = 9};
    if (index.value && agx_is_result(c, pointer)) {
        at.base = base_of(c, v, pointer);
        return at;
    }
    if (!index.value && pointer->op == IR_GEP) {
        const int64_t distance = index.offset * (INT64_C(1) << element);
        if (distance % bytes == 0 && distance / bytes >= INT16_MIN && distance / bytes <= INT16_MAX) {
            at.base = base_of(c, v, pointer->operand[0]);
            at.index = agx_number((uint32_t)(distance / bytes), 32);
            return at;
        }
    }
    const bool narrow = index.value && agx_bits(index.value->type) <= 32;
    /* Offsets are added to the index, which must not pass 2^32 by that: no object has so many elements. */
    const bool adds = index.offset > 0 && !index.is_signed && !index.shift && index.offset <= INT32_MAX;
    if (!narrow || element < component || element - component + index.shift > most_shift || (index.offset && !adds)) {
        at.base = base_of(c, v, pointer);
        return at;
    }
    at.base = base_of(c, v, pointer->operand[0]);
    at.is_signed = index.is_signed;
    at.shift = element - component + index.shift;
    if (index.is_signed && agx_bits(index.value->type) == 16) {
        struct agx_ref half = agx_exact(c, index.value);
        half.sign_extend = true;
        at.index = agx_new(c, 32, 1);
        AGX_EMIT(c, "iadd %d, 0, %0", at.index, half);
    } else if (index.offset) {
        at.index = agx_new(c, 32, 1);
        AGX_EMIT(c, "iadd %d, %0, %1", at.index, agx_view(c, index.value), agx_constant(c, (uint32_t)index.offset, 32));
    } else {
        at.index = agx_word_register(c, agx_view(c, index.value));
    }
    return at;
}

/* ---- threadgroup ---- */

static bool is_variable(const struct ir_value *v)
{
    return v->op == IR_GLOBAL || v->op == IR_ALLOCA;
}

static struct agx_ref half_of(struct agx_compiler *c, const struct ir_value *v)
{
    c->wants_half = true;
    struct agx_ref ref = agx_bits(v->type) == 64 ? agx_low(c, v) : agx_view(c, v);
    c->wants_half = false;
    if (ref.kind != AGX_REF_REGISTER) {
        const struct agx_ref made = agx_new(c, 16, 1);
        agx_emit_copy(c, made, ref.part == 16 ? ref : agx_part(ref, 0, 16));
        return made;
    }
    return ref.part == 16 ? ref : agx_part(ref, 0, 16);
}

/* Constants in an index that cannot wrap move to the base. */
static const struct ir_value *without_constant(const struct ir_value *v, int64_t *elements)
{
    uint64_t bits;
    while ((v->op == IR_ZEXT || (v->op == IR_ADD && v->exact)) && v->type->bits > 1) {
        if (v->op == IR_ADD && (!agx_is_constant(v->operand[1], &bits) || bits > GROUP_BYTES_MAX))
            break;
        if (v->op == IR_ADD)
            *elements += (int64_t)bits;
        if (v->op == IR_ZEXT && v->operand[0]->type->bits == 1)
            break;
        v = v->operand[0];
    }
    return v;
}

static struct agx_ref moved_index(struct agx_compiler *c, const struct ir_value *index, int64_t elements)
{
    const struct agx_ref sum = agx_new(c, 16, 1), from = half_of(c, index);
    if (elements < 0)
        AGX_EMIT(c, "isub %d, %0, %1", sum, from, agx_constant(c, (uint32_t)-elements, 16));
    else
        AGX_EMIT(c, "iadd %d, %0, %1", sum, from, agx_constant(c, (uint32_t)elements, 16));
    return sum;
}

struct agx_group_address agx_group_address(struct agx_compiler *c, const struct ir_value *pointer, unsigned bytes)
{
    struct agx_group_address at = {.index = agx_number(0, 32)};
    int64_t constant = 0;
    const struct ir_value *base = pointer, *index = NULL;
    while (base->op == IR_GEP || base->op == IR_FREEZE) { /* constant ones, and one that varies */
        uint64_t bits;
        int64_t elements = base->op == IR_GEP ? base->offset : 0;
        const bool fixed = base->op == IR_FREEZE || agx_is_constant(base->operand[1], &bits);
        if (!fixed && (index || base->held->bytes != bytes))
            break;
        if (fixed && base->op == IR_GEP)
            elements += index_of(base).offset - base->offset;
        else if (!fixed)
            index = without_constant(base->operand[1], &elements);
        if (base->op == IR_GEP)
            constant += elements * (int64_t)base->held->bytes;
        base = base->operand[0];
    }
    if (base->op == IR_GLOBAL) {
        constant += agx_variable_address(c, base).index;
        if (index && (constant < 0 || constant > GROUP_BYTES_MAX)) { /* a negative distance: no base can hold it */
            at.index = moved_index(c, index, constant / (int64_t)bytes);
            constant %= (int64_t)bytes;
        }
        constant &= 0xffff; /* where it is outside, nobody may come */
        at.base = constant ? agx_pooled(c, (uint32_t)constant, 16) : agx_number(0, 16);
        if (at.base.kind == AGX_REF_REGISTER)
            at.base.part = 16;
    } else if (constant >= 0 && constant < 256 && constant) {
        at.base = agx_new(c, 16, 1);
        AGX_EMIT(c, "iadd %d, %0, %1", at.base, half_of(c, base), agx_number((uint32_t)constant, 16));
    } else if (constant) {
        at.base = agx_new(c, 16, 1);
        AGX_EMIT(c, "iadd %d, %0, %1", at.base, half_of(c, base), agx_pooled(c, (uint32_t)constant & 0xffff, 16));
    } else {
        const struct agx_ref start = agx_exact(c, base);
        at.base = start.kind == AGX_REF_UNIFORM ? agx_part(start, 0, 16) : half_of(c, base);
    }
    if (index && at.index.kind != AGX_REF_REGISTER)
        at.index = half_of(c, index);
    return at;
}

/* ---- pointers as values ---- */

static void short_pointer(struct agx_compiler *c, const struct ir_value *v)
{
    const unsigned element = log2_of(v->held->bytes);
    const struct ir_value *const from = v->operand[0];
    const struct agx_ref base = is_variable(from) ? agx_variable_address(c, from) : agx_exact(c, from);
    const struct index index = index_of(v);
    const int64_t distance = index.offset * (INT64_C(1) << element);
    struct agx_ref start = base;
    if (base.kind == AGX_REF_NUMBER)
        start = agx_constant(c, (uint32_t)(base.index + distance), 32);
    else if (distance) {
        start = agx_new(c, 32, 1);
        AGX_EMIT(c, "iadd %d, %0, %1", start, base, agx_constant(c, (uint32_t)distance, 32));
    }
    if (!index.value) {
        agx_emit_copy(c, agx_to(c, v), start);
        return;
    }
    struct agx_ref by = agx_bits(index.value->type) == 64 ? agx_low(c, index.value) : agx_exact(c, index.value);
    by.sign_extend = index.is_signed && by.part == 16;
    AGX_EMIT(c, agx_text(c, "iadd %%d, %%0, %%1, lsl %u", element + index.shift), agx_to(c, v), start, by);
}

static void device_pointer(struct agx_compiler *c, const struct ir_value *v)
{
    const unsigned element = log2_of(v->held->bytes);
    const struct index index = index_of(v);
    const int64_t distance = index.offset * (INT64_C(1) << element);
    const bool less = distance < 0;
    const struct agx_ref from = agx_exact(c, v->operand[0]), to = agx_to(c, v);
    const bool uniform = from.kind == AGX_REF_UNIFORM; /* of the pair only the low word is added at first */
    const struct agx_ref start = uniform ? agx_part(from, 0, 32) : from;
    struct agx_ref sum = start;
    if ((less ? -distance : distance) > UINT32_MAX)
        agx_refuse(c, v, "an address more than 4 GiB from its base");
    if (!index.value && !distance) {
        struct agx_step *const both = agx_emit_copies(c, 2);
        both->copy[0] = (struct agx_copy){agx_part(to, 0, 32), agx_part(from, 0, 32)};
        both->copy[1] = (struct agx_copy){agx_part(to, 1, 32), agx_part(from, 1, 32)};
        return;
    }
    if (index.value) {
        struct agx_ref by = agx_bits(index.value->type) == 64 ? agx_in_register(c, index.value) : agx_exact(c, index.value);
        by.sign_extend = index.is_signed && by.count == 1 && by.kind != AGX_REF_NUMBER;
        sum = distance ? agx_new(c, 64, 1) : to;
        AGX_EMIT(c, agx_text(c, "iadd %%d, %%0, %%1, lsl %u", element + index.shift), sum, start, by);
    }
    if (distance)
        AGX_EMIT(c, less ? "isub %d, %0, %1" : "iadd %d, %0, %1", to, sum,
                 agx_constant(c, (uint32_t)(less ? -distance : distance), 32));
    if (uniform)
        agx_emit_part(c, "iadd %d, %0, %1", to, 1, agx_part(from, 1, 32));
}

void agx_select_pointer(struct agx_compiler *c, const struct ir_value *v)
{
    if (agx_bits(v->type) == 32)
        short_pointer(c, v);
    else
        device_pointer(c, v);
}
