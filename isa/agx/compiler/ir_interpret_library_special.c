/* Library functions that are handled as a whole: conversions, vectors in memory, atomics, geometry, sub-groups. */
#include "isa/agx/compiler/ir_interpret_library.h"

#include <string.h>

static struct slots one(struct library *l, uint32_t slot)
{
    const struct slots out = decode_slots(l->d, 1);
    out.slot[0] = slot;
    return out;
}

static struct slots refuse(struct library *l)
{
    decode_refuse(l->d, "the library function %s is not supported by the interpreter", l->call.text);
    return decode_library_nothing(l);
}

static uint32_t pure(struct library *l, pure_function *f, unsigned bits, unsigned from, uint32_t a, uint32_t b, uint32_t c)
{
    const uint32_t slot = decode_pure(l->d, f, bits, from, a, b, c);
    if (!l->d->failed)
        l->d->program->step[l->d->program->steps - 1].flush = l->d->launch->flush_subnormals;
    return slot;
}

/* ---- convert_TYPE[_sat][_rtX] ---- */

static struct slots rounded_first(struct library *l, const char *rounding)
{
    const unsigned builtin = rounding[3] == 'e'   ? IR_B_RINT
                             : rounding[3] == 'p' ? IR_B_CEIL
                             : rounding[3] == 'n' ? IR_B_FLOOR
                                                  : IR_B_TRUNCATE;
    const unsigned bits = decode_library_bits(decode_library_operand(l, 0)->type);
    const struct slots out = decode_slots(l->d, l->in[0].count);
    for (uint32_t i = 0; i < out.count && !l->d->failed; i++)
        out.slot[i] = pure(l, pure_of_builtin(builtin), bits, bits, l->in[0].slot[i], CONSTANT_SLOT, CONSTANT_SLOT);
    return out;
}

struct slots decode_library_convert(struct library *l)
{
    const char *const to = strncmp(l->call.text, "convert_", 8) == 0 ? l->call.text + 8 : NULL;
    if (!to)
        return strncmp(l->call.text, "as_", 3) == 0 ? l->in[0] : refuse(l);
    const bool from_float = l->call.parameter[0].is_float, to_float = type_part(l->v->type, 0).type->kind == IR_FLOAT;
    const bool from_signed = l->call.parameter[0].is_signed, to_signed = to[0] != 'u';
    const char *const rounding = strstr(to, "_rt");
    if (from_float && !to_float) {
        if (rounding)
            l->in[0] = rounded_first(l, rounding);
        return decode_library_each(l, pure_of_op(to_signed ? IR_FPTOSI : IR_FPTOUI), 0, 0);
    }
    if (to_float && rounding && rounding[3] != 'e')
        return refuse(l);
    if (to_float)
        return decode_library_each(l, pure_of_op(from_float ? IR_FPEXT : from_signed ? IR_SITOFP : IR_UITOFP), 0, 0);
    if (strstr(to, "_sat"))
        return decode_library_each(l, pure_saturate_integer, 0,
                                   (from_signed ? LIBRARY_SIGNED : 0) | (to_signed ? LIBRARY_TO_SIGNED : 0));
    return decode_library_each(l, pure_of_op(from_signed ? IR_SEXT : IR_ZEXT), 0, 0);
}

/* ---- vloadN, vstoreN: elements one after another, three without a hole ---- */

/* Halves in memory, other floats in registers. */
static uint32_t of_half(struct library *l, uint32_t slot, bool store, unsigned bits)
{
    return store ? pure(l, pure_of_op(IR_FPTRUNC), 16, bits, slot, CONSTANT_SLOT, CONSTANT_SLOT)
                 : pure(l, pure_of_op(IR_FPEXT), bits, 16, slot, CONSTANT_SLOT, CONSTANT_SLOT);
}

struct slots decode_library_vector_memory(struct library *l)
{
    struct decoder *const d = l->d;
    const char *text = l->call.text;
    const bool store = strncmp(text, "vstore", 6) == 0;
    text += store ? 6 : 5;
    const bool aligned = text[0] == 'a', half = strncmp(text + aligned, "_half", 5) == 0;
    text += half ? 5U + aligned : 0;
    const size_t digits = strspn(text, "0123456789");
    if (l->operands != (store ? 3U : 2U) || (!half && aligned) || (text[digits] && strcmp(text + digits, "_rte") != 0))
        return refuse(l);
    const struct ir_type *const type = store ? decode_library_operand(l, 0)->type : l->v->type;
    const struct ir_value *const pointer = decode_library_operand(l, store ? 2 : 1);
    const uint32_t count = type_parts(type), each = aligned && count == 3 ? 4 : count;
    const unsigned bits = decode_library_bits(type), bytes = half ? 2 : bits / 8;
    const uint32_t at = pure(l, pure_gep, 64, 64, l->in[store ? 2 : 1].slot[0], l->in[store ? 1 : 0].slot[0], CONSTANT_SLOT);
    if (d->failed)
        return decode_library_nothing(l);
    d->program->step[d->program->steps - 1].imm = (uint64_t)each * bytes;
    const struct slots out = decode_new_slots(d, store ? 0 : count);
    for (uint32_t i = 0; i < count && !d->failed; i++) {
        const uint32_t value = store && half ? of_half(l, slot_at(&l->in[0], i), true, bits) : slot_at(&l->in[0], i);
        struct step *const step = decode_step(d, store ? STEP_STORE : STEP_LOAD);
        step->a = store ? value : at;
        step->b = store ? at : CONSTANT_SLOT;
        step->d = store ? 0 : out.slot[i];
        step->bits = (uint8_t)(8 * bytes);
        step->mask = mask_of(8 * bytes);
        step->imm = (uint64_t)i * bytes;
        step->align = bytes;
        step->space = (uint8_t)pointer->type->space;
        if (!store && half)
            out.slot[i] = of_half(l, out.slot[i], false, bits);
    }
    return out;
}

/* ---- atomics ---- */

static void part_step(struct library *l, bool store, unsigned pointer, const struct ir_type *type, uint32_t value,
                      uint32_t result)
{
    struct step *const step = decode_step(l->d, store ? STEP_STORE : STEP_LOAD);
    const uint32_t address = l->in[pointer].slot[0];
    step->a = store ? value : address;
    step->b = store ? address : CONSTANT_SLOT;
    step->d = result;
    step->bits = (uint8_t)decode_library_bits(type);
    step->mask = mask_of(step->bits);
    step->align = step->bits / 8U;
    step->space = (uint8_t)decode_library_operand(l, pointer)->type->space;
}

/* What was found goes to where the expected value came from, whether or not it was equal. */
static struct slots compare_exchange(struct library *l)
{
    const struct ir_type *const type = decode_library_operand(l, 2)->type;
    const uint32_t expected = decode_new(l->d), found = decode_new(l->d), equal = decode_new(l->d);
    part_step(l, false, 1, type, 0, expected);
    struct step *const step = decode_step(l->d, STEP_EXCHANGE_IF);
    step->bits = (uint8_t)decode_library_bits(type);
    step->mask = mask_of(step->bits);
    step->space = (uint8_t)decode_library_operand(l, 0)->type->space;
    step->a = l->in[0].slot[0];
    step->b = expected;
    step->c = l->in[2].slot[0];
    step->d = found;
    step->target = equal;
    part_step(l, true, 1, type, found, 0);
    return one(l, equal);
}

static struct slots atomic_call(struct library *l, enum ir_special special)
{
    struct decoder *const d = l->d;
    const struct slots out = decode_new_slots(d, type_parts(l->v->type));
    const struct ir_value *const pointer = decode_library_operand(l, 0);
    const uint32_t address = l->in[0].slot[0];
    switch (special) {
    case IR_S_ATOMIC_INC:
    case IR_S_ATOMIC_DEC:
        decode_atomic(d, out.slot[0], decode_library_bits(l->v->type), special == IR_S_ATOMIC_INC ? IR_ATOMIC_ADD : IR_ATOMIC_SUB,
                      pointer, address, decode_bits(d, 1));
        return out;
    case IR_S_ATOMIC_LOAD: part_step(l, false, 0, l->v->type, 0, out.slot[0]); return out;
    case IR_S_ATOMIC_STORE:
    case IR_S_ATOMIC_INIT: part_step(l, true, 0, decode_library_operand(l, 1)->type, l->in[1].slot[0], 0); return out;
    case IR_S_ATOMIC_CMPXCHG: return decode_builtin_of(d, l->frame, l->v, IR_B_ATOMIC_CMPXCHG, 1, 0);
    case IR_S_ATOMIC_COMPARE_EXCHANGE: return compare_exchange(l);
    default: return refuse(l);
    }
}

/* ---- geometry: products added in order, each step rounded once ---- */

static uint32_t dot(struct library *l, const struct slots *a, const struct slots *b)
{
    const unsigned bits = decode_library_bits(decode_library_operand(l, 0)->type);
    uint32_t sum = pure(l, pure_of_op(IR_FMUL), bits, bits, a->slot[0], b->slot[0], CONSTANT_SLOT);
    for (uint32_t i = 1; i < a->count && !l->d->failed; i++)
        sum = pure(l, pure_of_op(IR_FMA), bits, bits, a->slot[i], slot_at(b, i), sum);
    return sum;
}

static struct slots geometry(struct library *l, enum ir_special special)
{
    const unsigned bits = decode_library_bits(decode_library_operand(l, 0)->type);
    pure_function *const minus = pure_of_op(IR_FSUB), *const root = pure_of_builtin(IR_B_SQRT),
                         *const times = pure_of_op(IR_FMUL);
    struct slots a = l->in[0];
    if (special == IR_S_DOT)
        return one(l, dot(l, &a, &l->in[1]));
    const struct slots out = decode_slots(l->d, a.count);
    if (special == IR_S_CROSS) {
        for (uint32_t i = 0; i < out.count && !l->d->failed; i++) {
            const uint32_t j = (i + 1) % 3, k = (i + 2) % 3;
            const uint32_t yes = pure(l, times, bits, bits, a.slot[j], l->in[1].slot[k], CONSTANT_SLOT);
            const uint32_t no = pure(l, times, bits, bits, a.slot[k], l->in[1].slot[j], CONSTANT_SLOT);
            out.slot[i] = i < 3 ? pure(l, minus, bits, bits, yes, no, CONSTANT_SLOT) : decode_bits(l->d, 0);
        }
        return out;
    }
    const bool distance = special == IR_S_DISTANCE || special == IR_S_FAST_DISTANCE;
    for (uint32_t i = 0; i < a.count && distance && !l->d->failed; i++)
        out.slot[i] = pure(l, minus, bits, bits, a.slot[i], l->in[1].slot[i], CONSTANT_SLOT);
    a = distance ? out : a;
    const uint32_t length = pure(l, root, bits, bits, dot(l, &a, &a), CONSTANT_SLOT, CONSTANT_SLOT);
    if (special != IR_S_NORMALIZE && special != IR_S_FAST_NORMALIZE)
        return one(l, length);
    for (uint32_t i = 0; i < out.count && !l->d->failed; i++)
        out.slot[i] = pure(l, pure_of_op(IR_FDIV), bits, bits, a.slot[i], length, CONSTANT_SLOT);
    return out;
}

/* ---- sub-groups ---- */

static uint32_t cross(struct library *l, enum ir_builtin builtin, unsigned list, unsigned bits, uint32_t a, uint32_t b)
{
    const uint32_t out = decode_new(l->d);
    struct step *const step = decode_step(l->d, STEP_CROSS);
    step->which = (uint8_t)builtin;
    step->list = (uint8_t)list;
    step->bits = (uint8_t)bits;
    step->mask = mask_of(bits);
    step->flush = l->d->launch->flush_subnormals;
    step->a = a;
    step->b = b;
    step->d = out;
    return out;
}

/* The exclusive prefix with the lane's own value. */
static struct slots inclusive(struct library *l)
{
    static const struct {
        const char *text;
        uint8_t reduction, reduction_signed, reduction_float;
    } kinds[] = {
        {"_add", IR_REDUCE_ADD, IR_REDUCE_ADD, IR_REDUCE_FADD},   {"_min", IR_REDUCE_UMIN, IR_REDUCE_SMIN, IR_REDUCE_FMIN},
        {"_max", IR_REDUCE_UMAX, IR_REDUCE_SMAX, IR_REDUCE_FMAX}, {"_and", IR_REDUCE_AND, IR_REDUCE_AND, IR_REDUCE_AND},
        {"_or", IR_REDUCE_OR, IR_REDUCE_OR, IR_REDUCE_OR},        {"_xor", IR_REDUCE_XOR, IR_REDUCE_XOR, IR_REDUCE_XOR}};
    const unsigned bits = decode_library_bits(l->v->type);
    const char *const end = strrchr(l->call.text, '_');
    for (unsigned i = 0; end && i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(end, kinds[i].text) == 0) {
            const unsigned reduction = l->call.parameter[0].is_float    ? kinds[i].reduction_float
                                       : l->call.parameter[0].is_signed ? kinds[i].reduction_signed
                                                                        : kinds[i].reduction;
            const uint32_t own = l->in[0].slot[0], before = cross(l, IR_B_SIMD_PREFIX, reduction, bits, own, CONSTANT_SLOT);
            return one(l, pure(l, reduction_pair(reduction), bits, bits, before, own, CONSTANT_SLOT));
        }
    return refuse(l);
}

static struct slots sub_group(struct library *l, enum ir_special special)
{
    struct decoder *const d = l->d;
    const uint32_t zero = decode_bits(d, 0), first = l->operands ? l->in[0].slot[0] : zero;
    const unsigned bits = l->operands ? decode_library_bits(decode_library_operand(l, 0)->type) : 1;
    uint32_t vote = 0;
    if (special == IR_S_SUB_GROUP_ANY || special == IR_S_SUB_GROUP_ALL || special == IR_S_SUB_GROUP_BALLOT) {
        vote = decode_pure(d, pure_of_op(IR_ICMP), 1, bits, first, zero, CONSTANT_SLOT);
        if (!d->failed)
            d->program->step[d->program->steps - 1].which = IR_NE;
    }
    switch (special) {
    case IR_S_SUB_GROUP_ANY: return one(l, cross(l, IR_B_SIMD_REDUCE, IR_REDUCE_OR, 1, vote, zero));
    case IR_S_SUB_GROUP_ALL: return one(l, cross(l, IR_B_SIMD_REDUCE, IR_REDUCE_AND, 1, vote, zero));
    case IR_S_SUB_GROUP_ELECT: return one(l, cross(l, IR_B_SIMD_FIRST, 0, 1, zero, zero));
    case IR_S_SUB_GROUP_BALLOT: {
        const struct slots out = decode_slots(d, type_parts(l->v->type));
        for (uint32_t i = 0; i < out.count && !d->failed; i++)
            out.slot[i] = i ? zero : cross(l, IR_B_SIMD_BALLOT, 0, 32, vote, zero);
        return out;
    }
    case IR_S_SUB_GROUP_BROADCAST_FIRST: {
        /* The number of the first lane that is here: the least of all. */
        const uint32_t lane = decode_special(d, IR_B_LANE, 0), from = cross(l, IR_B_SIMD_REDUCE, IR_REDUCE_UMIN, 32, lane, zero);
        return one(l, cross(l, IR_B_SIMD_SHUFFLE, 0, bits, first, from));
    }
    default: return refuse(l);
    }
}

/* ---- the others ---- */

static struct slots vote_of_signs(struct library *l, bool all)
{
    const unsigned bits = decode_library_bits(decode_library_operand(l, 0)->type);
    uint32_t so_far = l->in[0].slot[0];
    for (uint32_t i = 1; i < l->in[0].count && !l->d->failed; i++)
        so_far = pure(l, pure_of_op(all ? IR_AND : IR_OR), bits, bits, so_far, l->in[0].slot[i], CONSTANT_SLOT);
    return one(l, pure(l, pure_of_op(IR_LSHR), bits, bits, so_far, decode_bits(l->d, bits - 1), CONSTANT_SLOT));
}

/* A sine with a cosine stored, a fraction with the whole part stored, a significand with its exponent stored. */
static struct slots with_pointer(struct library *l, enum ir_special special)
{
    struct slots first = decode_library_each(l, pure_expand_float, IR_X_SIN, 0),
                 second = decode_library_each(l, pure_expand_float, IR_X_COS, 0);
    const unsigned bits = decode_library_bits(l->v->type);
    pure_function *const rest = special == IR_S_FREXP ? pure_significand : special == IR_S_MODF ? pure_rest : pure_fraction;
    for (uint32_t i = 0; i < first.count && special != IR_S_SINCOS && !l->d->failed; i++) {
        const uint32_t x = slot_at(&l->in[0], i);
        const unsigned whole = special == IR_S_FRACT ? IR_B_FLOOR : IR_B_TRUNCATE;
        second.slot[i] = special == IR_S_FREXP ? pure(l, pure_exponent, 32, bits, x, CONSTANT_SLOT, CONSTANT_SLOT)
                                               : pure(l, pure_of_builtin(whole), bits, bits, x, CONSTANT_SLOT, CONSTANT_SLOT);
        first.slot[i] = pure(l, rest, bits, bits, x, CONSTANT_SLOT, CONSTANT_SLOT);
    }
    if (special == IR_S_FREXP && bits != 32) /* exponents have 32 bits, as if they were floats */
        return refuse(l);
    decode_store_parts(l->d, l->v->type, NULL, &second, l->in[1].slot[0], decode_library_operand(l, 1)->type->space, 0);
    return first;
}

/* Elements of one or two vectors, by the low bits of a third. */
static struct slots shuffle(struct library *l, unsigned sources)
{
    const struct slots mask = l->in[sources], out = decode_slots(l->d, mask.count);
    const unsigned bits = decode_library_bits(decode_library_operand(l, sources)->type);
    const uint32_t lanes = l->in[0].count, most = decode_bits(l->d, lanes * sources - 1);
    for (uint32_t i = 0; i < out.count && !l->d->failed; i++) {
        const uint32_t which = pure(l, pure_of_op(IR_AND), bits, bits, mask.slot[i], most, CONSTANT_SLOT);
        out.slot[i] = slot_at(&l->in[0], 0);
        for (uint32_t k = 1; k < lanes * sources && !l->d->failed; k++)
            out.slot[i] = decode_pure(l->d, pure_pick, 64, k, which, slot_at(&l->in[k / lanes], k % lanes), out.slot[i]);
    }
    return out;
}

static struct slots linear_id(struct library *l)
{
    uint32_t id = decode_special(l->d, IR_B_GLOBAL_ID, 2);
    for (unsigned i = 2; i-- > 0;) {
        id = pure(l, pure_of_op(IR_MUL), 64, 64, id, decode_special(l->d, IR_B_GLOBAL_SIZE, i), CONSTANT_SLOT);
        id = pure(l, pure_of_op(IR_ADD), 64, 64, id, decode_special(l->d, IR_B_GLOBAL_ID, i), CONSTANT_SLOT);
    }
    return one(l, id);
}

struct slots decode_library_special(struct library *l)
{
    const enum ir_special special = (enum ir_special)l->call.name->code;
    switch (special) {
    case IR_S_BARRIER: return decode_builtin_of(l->d, l->frame, l->v, IR_B_BARRIER, 1, 0);
    case IR_S_SUB_GROUP_BARRIER: return decode_builtin_of(l->d, l->frame, l->v, IR_B_SIMD_BARRIER, 1, 0);
    case IR_S_FENCE: return decode_library_nothing(l);
    case IR_S_ALL:
    case IR_S_ANY: return vote_of_signs(l, special == IR_S_ALL);
    case IR_S_CROSS:
    case IR_S_DISTANCE:
    case IR_S_DOT:
    case IR_S_FAST_DISTANCE:
    case IR_S_FAST_LENGTH:
    case IR_S_FAST_NORMALIZE:
    case IR_S_LENGTH:
    case IR_S_NORMALIZE: return geometry(l, special);
    case IR_S_FRACT:
    case IR_S_FREXP:
    case IR_S_MODF:
    case IR_S_SINCOS: return with_pointer(l, special);
    case IR_S_GET_GLOBAL_LINEAR_ID: return linear_id(l);
    case IR_S_GET_GLOBAL_OFFSET: return one(l, decode_bits(l->d, 0));
    case IR_S_GET_MAX_SUB_GROUP_SIZE:
    case IR_S_GET_SUB_GROUP_SIZE: return one(l, decode_bits(l->d, LANES));
    case IR_S_GET_WORK_DIM: return one(l, decode_bits(l->d, 3));
    case IR_S_SCAN_INCLUSIVE: return inclusive(l);
    case IR_S_SHUFFLE: return shuffle(l, 1);
    case IR_S_SHUFFLE2: return shuffle(l, 2);
    case IR_S_LGAMMA:
    case IR_S_PRINTF: return refuse(l);
    default: break;
    }
    return strncmp(l->call.text, "atom", 4) == 0 ? atomic_call(l, special) : sub_group(l, special);
}
