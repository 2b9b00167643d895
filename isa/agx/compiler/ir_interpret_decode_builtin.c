/* Decodes what every target knows: positions, barriers, atomics, functions of simdgroups, arithmetic. */
#include "isa/agx/compiler/ir_interpret_decode.h"

static struct slots one(struct decoder *d, uint32_t slot)
{
    const struct slots out = decode_slots(d, 1);
    out.slot[0] = slot;
    return out;
}

static bool is_position(unsigned builtin)
{
    return builtin <= IR_B_SIMDGROUP_COUNT;
}

/* A position, whose dimension is a constant; beyond the third one sizes are 1, places 0. */
static struct slots position(struct decoder *d, const struct ir_value *v, unsigned builtin, unsigned first_operand)
{
    uint64_t dimension = 0;
    if (ir_builtin_operands(builtin) == 1 && v->operands > first_operand &&
        !decode_number(v->operand[first_operand], &dimension)) {
        decode_refuse(d, "the dimension of %s must be a constant", ir_builtin_name(builtin));
        return one(d, CONSTANT_SLOT);
    }
    if (dimension > 2)
        return one(d, decode_bits(d, builtin == IR_B_GLOBAL_SIZE || builtin == IR_B_LOCAL_SIZE || builtin == IR_B_GROUP_COUNT));
    return one(d, decode_special(d, (enum ir_builtin)builtin, (unsigned)dimension));
}

void decode_atomic(struct decoder *d, uint32_t result, unsigned bits, enum ir_atomic atomic, const struct ir_value *pointer,
                   uint32_t address, uint32_t value)
{
    struct step *const step = decode_step(d, STEP_ATOMIC);
    step->which = (uint8_t)atomic;
    step->bits = (uint8_t)bits;
    step->mask = mask_of(bits);
    step->space = (uint8_t)pointer->type->space;
    step->d = result;
    step->a = address;
    step->b = value;
    if (bits != 32 && bits != 64)
        decode_refuse(d, "an atomic operation on %u bits is not supported", bits);
}

static unsigned scalar_bits(const struct ir_type *type)
{
    const struct ir_type *const part = type_part(type, 0).type;
    return part->kind == IR_POINTER ? 64 : part->bits;
}

static struct slots exchange_if(struct decoder *d, const struct frame *frame, const struct ir_value *v, unsigned first)
{
    const struct slots out = decode_new_slots(d, v->type->kind == IR_STRUCT ? 2 : 1);
    const uint32_t address = decode_scalar(d, frame, v->operand[first]),
                   expected = decode_scalar(d, frame, v->operand[first + 1]),
                   wanted = decode_scalar(d, frame, v->operand[first + 2]);
    const unsigned bits = scalar_bits(v->operand[first + 1]->type);
    if (bits != 32 && bits != 64)
        decode_refuse(d, "an atomic operation on %u bits is not supported", bits);
    struct step *const step = decode_step(d, STEP_EXCHANGE_IF);
    step->bits = (uint8_t)bits;
    step->mask = mask_of(bits);
    step->space = (uint8_t)v->operand[first]->type->space;
    step->d = out.slot[0];
    step->a = address;
    step->b = expected;
    step->c = wanted;
    step->target = out.count == 2 ? out.slot[1] : NO_SLOT;
    return out;
}

static struct slots cross(struct decoder *d, const struct frame *frame, const struct ir_value *v, unsigned builtin,
                          unsigned first, unsigned list)
{
    struct slots in[2] = {{NULL, 0}, {NULL, 0}};
    for (unsigned i = 0; i < 2 && first + i < v->operands; i++)
        in[i] = decode_operand(d, frame, v->operand[first + i]);
    const struct slots out = decode_new_slots(d, type_parts(v->type));
    for (uint32_t i = 0; i < out.count && !d->failed; i++) {
        const uint32_t a = in[0].slot ? slot_at(&in[0], i) : CONSTANT_SLOT, b = in[1].slot ? slot_at(&in[1], i) : CONSTANT_SLOT;
        struct step *const step = decode_step(d, STEP_CROSS);
        step->which = (uint8_t)builtin;
        step->list = (uint8_t)list;
        step->bits = (uint8_t)scalar_bits(v->type);
        step->mask = mask_of(step->bits);
        step->flush = d->launch->flush_subnormals;
        step->a = a;
        step->b = b;
        step->d = out.slot[i];
    }
    return out;
}

static struct slots matrix(struct decoder *d, const struct frame *frame, const struct ir_value *v, unsigned first)
{
    const struct slots all = decode_slots(d, 8), out = decode_new_slots(d, 2);
    if (v->operands != first + 3 || type_parts(v->type) != 2)
        decode_refuse(d, "a matrix product is of three pairs and gives a pair");
    for (unsigned i = 0; i < 3 && !d->failed; i++) {
        const struct slots pair = decode_operand(d, frame, v->operand[first + i]);
        all.slot[2 * i] = slot_at(&pair, 0);
        all.slot[2 * i + 1] = slot_at(&pair, 1);
    }
    if (d->failed)
        return out;
    all.slot[6] = out.slot[0];
    all.slot[7] = out.slot[1];
    struct step *const step = decode_step(d, STEP_MATRIX);
    step->extra = all.slot;
    step->bits = (uint8_t)scalar_bits(v->type);
    step->from = (uint8_t)scalar_bits(v->operand[first]->type);
    return out;
}

/* Arithmetic, scalar by scalar; an operand of one scalar goes with all of the others. */
static struct slots arithmetic(struct decoder *d, const struct frame *frame, const struct ir_value *v, unsigned builtin,
                               unsigned first)
{
    pure_function *const pure = pure_of_builtin(builtin);
    struct slots in[3] = {{NULL, 0}, {NULL, 0}, {NULL, 0}};
    if (!pure)
        decode_refuse(d, "%s is not supported by the interpreter", ir_builtin_name(builtin));
    for (unsigned i = 0; i < ir_builtin_operands(builtin) && first + i < v->operands && i < 3; i++)
        in[i] = decode_operand(d, frame, v->operand[first + i]);
    const struct slots out = decode_slots(d, type_parts(v->type));
    for (uint32_t i = 0; i < out.count && !d->failed; i++) {
        uint32_t operand[3];
        for (unsigned k = 0; k < 3; k++)
            operand[k] = in[k].slot ? slot_at(&in[k], i) : CONSTANT_SLOT;
        const unsigned from = v->operands > first ? scalar_bits(v->operand[first]->type) : 32;
        out.slot[i] = decode_pure(d, pure, from, from, operand[0], operand[1], operand[2]);
        if (!d->failed)
            d->program->step[d->program->steps - 1].flush = d->launch->flush_subnormals;
    }
    return out;
}

struct slots decode_builtin_of(struct decoder *d, const struct frame *frame, const struct ir_value *v, unsigned builtin,
                               unsigned first, unsigned list)
{
    if (is_position(builtin))
        return position(d, v, builtin, first);
    switch (builtin) {
    case IR_B_BARRIER:
    case IR_B_SIMD_BARRIER:
        decode_step(d, STEP_BARRIER)->which = builtin == IR_B_SIMD_BARRIER;
        return (struct slots){&d->spare_slot, 0};
    case IR_B_FENCE: return (struct slots){&d->spare_slot, 0};
    case IR_B_ATOMIC: {
        const struct slots out = decode_new_slots(d, 1);
        const struct ir_value *const pointer = v->operand[first];
        const uint32_t address = decode_scalar(d, frame, pointer), value = decode_scalar(d, frame, v->operand[first + 1]);
        decode_atomic(d, out.slot[0], scalar_bits(v->operand[first + 1]->type), (enum ir_atomic)list, pointer, address, value);
        return out;
    }
    case IR_B_ATOMIC_CMPXCHG: return exchange_if(d, frame, v, first);
    case IR_B_SIMD_REDUCE:
    case IR_B_SIMD_PREFIX:
    case IR_B_QUAD_REDUCE:
    case IR_B_SIMD_SHUFFLE:
    case IR_B_SIMD_SHUFFLE_XOR:
    case IR_B_SIMD_SHUFFLE_UP:
    case IR_B_SIMD_SHUFFLE_DOWN:
    case IR_B_SIMD_BROADCAST:
    case IR_B_SIMD_BALLOT:
    case IR_B_SIMD_FIRST: return cross(d, frame, v, builtin, first, list);
    case IR_B_MATRIX_FMA: return matrix(d, frame, v, first);
    default: return arithmetic(d, frame, v, builtin, first);
    }
}

struct slots decode_builtin(struct decoder *d, const struct frame *frame, const struct ir_value *v)
{
    return decode_builtin_of(d, frame, v, v->builtin, 0, v->lists ? v->list[0] : 0);
}
