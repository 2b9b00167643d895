/* Decodes operations: arithmetic scalar by scalar, what moves elements about without a step, addresses, loads and stores. */
#include "isa/agx/compiler/ir_interpret_decode.h"

#include <string.h>

static unsigned scalar_bits(const struct ir_type *type)
{
    return type->kind == IR_POINTER ? 64 : type->bits;
}

/* ---- scalar by scalar ---- */

struct slots decode_plain(struct decoder *d, const struct frame *frame, const struct ir_value *v, pure_function *pure)
{
    struct slots in[3] = {{NULL, 0}, {NULL, 0}, {NULL, 0}};
    for (unsigned i = 0; i < v->operands && i < 3; i++)
        in[i] = decode_operand(d, frame, v->operand[i]);
    const struct slots out = decode_slots(d, type_parts(v->type));
    for (uint32_t i = 0; i < out.count && !d->failed; i++) {
        const unsigned bits = scalar_bits(type_part(v->type, i).type);
        const unsigned from = v->operands ? scalar_bits(type_part(v->operand[0]->type, i).type) : bits;
        uint32_t operand[3] = {CONSTANT_SLOT, CONSTANT_SLOT, CONSTANT_SLOT};
        for (unsigned k = 0; k < 3; k++)
            operand[k] = in[k].slot ? slot_at(&in[k], i) : CONSTANT_SLOT;
        out.slot[i] = decode_pure(d, pure, bits, from, operand[0], operand[1], operand[2]);
        if (d->failed)
            break;
        struct step *const step = &d->program->step[d->program->steps - 1];
        step->which = v->condition;
        step->flush = d->launch->flush_subnormals;
    }
    return out;
}

/* ---- elements that only change places ---- */

static struct slots slice(struct decoder *d, const struct slots *whole, uint32_t first, uint32_t count)
{
    if (first + count > whole->count) {
        decode_refuse(d, "an element outside its vector or structure");
        return (struct slots){&d->spare_slot, 1};
    }
    return (struct slots){whole->slot + first, count};
}

static struct slots extract(struct decoder *d, const struct frame *frame, const struct ir_value *v)
{
    const struct slots vector = decode_operand(d, frame, v->operand[0]);
    uint64_t index;
    if (decode_number(v->operand[1], &index) && index < vector.count)
        return slice(d, &vector, (uint32_t)index, 1);
    const uint32_t at = decode_scalar(d, frame, v->operand[1]);
    const struct slots out = decode_slots(d, 1);
    /* An index outside selects nothing: poison. */
    uint32_t so_far = decode_bits(d, POISON & mask_of(scalar_bits(v->type)));
    for (uint32_t i = 0; i < vector.count && !d->failed; i++)
        so_far = decode_pure(d, pure_pick, 64, i, at, vector.slot[i], so_far);
    out.slot[0] = so_far;
    return out;
}

static struct slots insert(struct decoder *d, const struct frame *frame, const struct ir_value *v)
{
    const struct slots vector = decode_operand(d, frame, v->operand[0]);
    const uint32_t element = decode_scalar(d, frame, v->operand[1]), at = decode_scalar(d, frame, v->operand[2]);
    const struct slots out = decode_slots(d, vector.count);
    uint64_t index = 0;
    const bool known = decode_number(v->operand[2], &index);
    for (uint32_t i = 0; i < out.count && !d->failed; i++) {
        if (known)
            out.slot[i] = i == index ? element : vector.slot[i];
        else
            out.slot[i] = decode_pure(d, pure_pick, 64, i, at, element, vector.slot[i]);
    }
    return out;
}

static struct slots shuffle(struct decoder *d, const struct frame *frame, const struct ir_value *v)
{
    const struct slots a = decode_operand(d, frame, v->operand[0]), b = decode_operand(d, frame, v->operand[1]);
    const struct slots out = decode_slots(d, v->lists);
    for (uint32_t i = 0; i < v->lists && !d->failed; i++) {
        const uint32_t lane = v->list[i];
        const uint64_t poison = POISON & mask_of(scalar_bits(v->type->element));
        out.slot[i] = lane == IR_NO_LANE || lane >= a.count + b.count ? decode_bits(d, poison)
                      : lane < a.count                                ? a.slot[lane]
                                                                      : b.slot[lane - a.count];
    }
    return out;
}

/* The first scalar of the member that the list names, and its type. */
static uint32_t member_first(const struct ir_value *v, const struct ir_type **type)
{
    uint32_t first = 0;
    *type = v->operand[0]->type;
    for (unsigned i = 0; i < v->lists; i++) {
        const struct ir_type *const whole = *type;
        if (whole->kind == IR_STRUCT) {
            for (uint32_t m = 0; m < v->list[i] && m < whole->count; m++)
                first += type_parts(whole->member[m]);
            *type = v->list[i] < whole->count ? whole->member[v->list[i]] : whole;
        } else {
            first += v->list[i] * type_parts(whole->element);
            *type = whole->element;
        }
    }
    return first;
}

static struct slots insert_value(struct decoder *d, const struct frame *frame, const struct ir_value *v)
{
    const struct slots whole = decode_operand(d, frame, v->operand[0]), member = decode_operand(d, frame, v->operand[1]);
    const struct slots out = decode_slots(d, whole.count);
    const struct ir_type *type;
    const uint32_t first = member_first(v, &type);
    for (uint32_t i = 0; i < out.count && !d->failed; i++)
        out.slot[i] = i >= first && i - first < member.count ? member.slot[i - first] : whole.slot[i];
    return out;
}

static struct slots extract_value(struct decoder *d, const struct frame *frame, const struct ir_value *v)
{
    const struct slots whole = decode_operand(d, frame, v->operand[0]);
    const struct ir_type *type;
    const uint32_t first = member_first(v, &type);
    return slice(d, &whole, first, type_parts(type));
}

/* A cast of bits between vectors of other elements: all bits in one row, cut anew. */
static struct slots bitcast(struct decoder *d, const struct frame *frame, const struct ir_value *v)
{
    const struct slots in = decode_operand(d, frame, v->operand[0]);
    const struct slots out = decode_slots(d, type_parts(v->type));
    if (d->failed)
        return out;
    const unsigned from = scalar_bits(type_part(v->operand[0]->type, 0).type), to = scalar_bits(type_part(v->type, 0).type);
    if (from == to)
        return in;
    const uint32_t ratio = to > from ? to / from : from / to;
    for (uint32_t i = 0; i < out.count && !d->failed; i++) {
        if (to < from) {
            const uint32_t shift = decode_bits(d, (uint64_t)to * (i % ratio));
            out.slot[i] = decode_pure(d, pure_of_op(IR_LSHR), to, from, slot_at(&in, i / ratio), shift, CONSTANT_SLOT);
            continue;
        }
        out.slot[i] = slot_at(&in, i * ratio);
        for (uint32_t k = 1; k < ratio && !d->failed; k++) {
            const uint32_t shift = decode_bits(d, (uint64_t)from * k);
            const uint32_t part = decode_pure(d, pure_of_op(IR_SHL), to, to, slot_at(&in, i * ratio + k), shift, CONSTANT_SLOT);
            out.slot[i] = decode_pure(d, pure_of_op(IR_OR), to, to, out.slot[i], part, CONSTANT_SLOT);
        }
    }
    return out;
}

static struct slots select_op(struct decoder *d, const struct frame *frame, const struct ir_value *v)
{
    const struct slots c = decode_operand(d, frame, v->operand[0]), a = decode_operand(d, frame, v->operand[1]),
                       b = decode_operand(d, frame, v->operand[2]);
    const struct slots out = decode_slots(d, type_parts(v->type));
    for (uint32_t i = 0; i < out.count && !d->failed; i++)
        out.slot[i] = decode_pure(d, pure_select, 64, 1, slot_at(&c, i), slot_at(&a, i), slot_at(&b, i));
    return out;
}

/* ---- memory ---- */

static void gep_index(struct decoder *d, const struct frame *frame, const struct ir_value *index, bool is_unsigned,
                      uint64_t stride, uint32_t *address, uint64_t *bytes)
{
    uint64_t number;
    if (decode_number(index, &number)) {
        const unsigned bits = index->type->bits;
        *bytes += stride * (is_unsigned ? number : (uint64_t)sign_extended(number, bits));
        return;
    }
    const uint32_t value = decode_scalar(d, frame, index);
    const unsigned from = is_unsigned ? 64 : index->type->bits;
    *address = decode_pure(d, pure_gep, 64, from, *address, value, CONSTANT_SLOT);
    if (!d->failed)
        d->program->step[d->program->steps - 1].imm = stride;
}

static struct slots gep(struct decoder *d, const struct frame *frame, const struct ir_value *v)
{
    const struct slots out = decode_slots(d, 1);
    if (d->failed || v->type->kind != IR_POINTER || !v->held || v->operands < 2) {
        decode_refuse(d, "an address of this form is not supported");
        return out;
    }
    uint32_t address = decode_scalar(d, frame, v->operand[0]);
    const struct ir_type *type = v->held;
    uint64_t bytes = (uint64_t)(int64_t)v->offset * type->bytes;
    gep_index(d, frame, v->operand[1], v->exact && v->operand[1]->type->bits == 32, type->bytes, &address, &bytes);
    for (unsigned i = 2; i < v->operands && !d->failed; i++) {
        uint64_t member;
        if (type->kind == IR_STRUCT) {
            if (!decode_number(v->operand[i], &member) || member >= type->count) {
                decode_refuse(d, "a member of a structure must be chosen by a constant");
                return out;
            }
            bytes += type->member_offset[member];
            type = type->member[member];
        } else if (type->kind == IR_ARRAY || type->kind == IR_VECTOR) {
            type = type->element;
            gep_index(d, frame, v->operand[i], false, type->bytes, &address, &bytes);
        } else {
            decode_refuse(d, "an index into what has no elements");
        }
    }
    if (bytes)
        address = decode_pure(d, pure_of_op(IR_ADD), 64, 64, address, decode_bits(d, bytes), CONSTANT_SLOT);
    out.slot[0] = address;
    return out;
}

/* What of a scalar lies in memory: `held` is the type there, or NULL. */
static struct part held_part(const struct ir_type *type, const struct ir_type *held, uint32_t index)
{
    struct part part = type_part(type, index);
    if (held && held->kind == IR_VECTOR) {
        part = type_part(held, index);
    } else if (held) {
        part.type = held;
        part.offset = index * held->bytes;
    }
    return part;
}

static void memory_part(struct decoder *d, struct step *step, const struct part *part, enum ir_space space, uint32_t align)
{
    const unsigned bits = scalar_bits(part->type);
    if (part->offset && type_parts(part->type) == 1 && bits < 8)
        decode_refuse(d, "a vector of i%u in memory is not supported", bits);
    step->bits = (uint8_t)((bits + 7) & ~7U);
    step->mask = mask_of(bits);
    step->imm = part->offset;
    step->space = (uint8_t)space;
    step->align = part->offset ? 0 : align;
}

void decode_load_parts(struct decoder *d, const struct ir_type *type, const struct ir_type *held, uint32_t pointer,
                       enum ir_space space, uint32_t align, struct slots *out)
{
    *out = decode_new_slots(d, type_parts(type));
    for (uint32_t i = 0; i < out->count && !d->failed; i++) {
        const struct part part = held_part(type, held, i);
        struct step *const step = decode_step(d, STEP_LOAD);
        memory_part(d, step, &part, space, align);
        step->a = pointer;
        step->d = out->slot[i];
    }
}

void decode_store_parts(struct decoder *d, const struct ir_type *type, const struct ir_type *held, const struct slots *value,
                        uint32_t pointer, enum ir_space space, uint32_t align)
{
    for (uint32_t i = 0; i < type_parts(type) && !d->failed; i++) {
        const struct part part = held_part(type, held, i);
        struct step *const step = decode_step(d, STEP_STORE);
        memory_part(d, step, &part, space, align);
        step->a = slot_at(value, i);
        step->b = pointer;
    }
}

static struct slots alloca_op(struct decoder *d, const struct frame *frame, const struct ir_value *v)
{
    const struct slots out = decode_slots(d, 1);
    uint64_t count = 1;
    (void)frame;
    if (v->operands && !decode_number(v->operand[0], &count))
        decode_refuse(d, "a variable whose size is not known before the kernel runs is not supported");
    if (count > PRIVATE_BYTES_MAX || v->held->bytes > PRIVATE_BYTES_MAX)
        decode_refuse(d, "a variable of so many bytes is not supported");
    if (!d->failed)
        out.slot[0] = decode_variable(d, count * v->held->bytes, v->align ? v->align : v->held->align);
    return out;
}

struct slots decode_memory(struct decoder *d, const struct frame *frame, const struct ir_value *v)
{
    const struct ir_type *const held = v->held && v->op != IR_ALLOCA && v->op != IR_GEP ? v->held : NULL;
    struct slots out = {&d->spare_slot, 0};
    switch (v->op) {
    case IR_ALLOCA: return alloca_op(d, frame, v);
    case IR_GEP: return gep(d, frame, v);
    case IR_LOAD: {
        const uint32_t pointer = decode_scalar(d, frame, v->operand[0]);
        decode_load_parts(d, v->type, held == v->type ? NULL : held, pointer, v->operand[0]->type->space, v->align, &out);
        return out;
    }
    default: {
        const struct slots value = decode_operand(d, frame, v->operand[0]);
        const uint32_t pointer = decode_scalar(d, frame, v->operand[1]);
        const struct ir_type *const type = v->operand[0]->type;
        decode_store_parts(d, type, held == type ? NULL : held, &value, pointer, v->operand[1]->type->space, v->align);
        return out;
    }
    }
}

/* Slots have 64 bits. */
static bool too_wide(const struct ir_type *type)
{
    while (type->kind == IR_VECTOR || type->kind == IR_ARRAY)
        type = type->element;
    return (type->kind == IR_INT || type->kind == IR_FLOAT) && type->bits > 64;
}

struct slots decode_instruction(struct decoder *d, const struct frame *frame, const struct ir_value *v)
{
    if (too_wide(v->type) || (v->operands && too_wide(v->operand[0]->type))) {
        decode_refuse(d, "numbers of more than 64 bits are not supported");
        return (struct slots){&d->spare_slot, 0};
    }
    switch (v->op) {
    case IR_FREEZE:
    case IR_PTRTOINT:
    case IR_INTTOPTR:
    case IR_SPACECAST:
        if (v->op == IR_PTRTOINT && v->type->bits < 64)
            break;
        return decode_operand(d, frame, v->operand[0]);
    case IR_BITCAST: return bitcast(d, frame, v);
    case IR_SELECT: return select_op(d, frame, v);
    case IR_EXTRACT: return extract(d, frame, v);
    case IR_INSERT: return insert(d, frame, v);
    case IR_SHUFFLE: return shuffle(d, frame, v);
    case IR_EXTRACT_VALUE: return extract_value(d, frame, v);
    case IR_INSERT_VALUE: return insert_value(d, frame, v);
    case IR_CALL: return decode_call(d, frame, v);
    case IR_BUILTIN: return decode_builtin(d, frame, v);
    default: break;
    }
    if (ir_op_kind(v->op) == IR_KIND_MEMORY)
        return decode_memory(d, frame, v);
    pure_function *const pure = pure_of_op(v->op == IR_PTRTOINT ? IR_TRUNC : v->op);
    if (pure)
        return decode_plain(d, frame, v, pure);
    decode_refuse(d, "%s is not supported by the interpreter", ir_op_name(v->op));
    return (struct slots){&d->spare_slot, 0};
}
