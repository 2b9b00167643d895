/* Calls of library functions: most are one step for each scalar. */
#include "isa/agx/compiler/ir_interpret_library.h"

#include <string.h>

unsigned decode_library_bits(const struct ir_type *type)
{
    const struct ir_type *const part = type_part(type, 0).type;
    return part->kind == IR_POINTER ? 64 : part->bits;
}

const struct ir_value *decode_library_operand(const struct library *l, unsigned index)
{
    return l->v->operand[index + 1];
}

struct slots decode_library_nothing(struct library *l)
{
    return (struct slots){&l->d->spare_slot, 0};
}

static bool is_float(const struct ir_type *type)
{
    return type_part(type, 0).type->kind == IR_FLOAT;
}

struct slots decode_library_each(struct library *l, pure_function *pure, unsigned which, unsigned list)
{
    const struct ir_type *const type = l->v->type;
    const struct slots out = decode_slots(l->d, type_parts(type));
    const unsigned bits = decode_library_bits(type),
                   from = l->operands ? decode_library_bits(decode_library_operand(l, 0)->type) : bits;
    for (uint32_t i = 0; i < out.count && !l->d->failed; i++) {
        uint32_t operand[3] = {CONSTANT_SLOT, CONSTANT_SLOT, CONSTANT_SLOT};
        for (unsigned k = 0; k < 3 && k < l->operands; k++)
            operand[k] = slot_at(&l->in[k], i);
        out.slot[i] = decode_pure(l->d, pure, bits, from, operand[0], operand[1], operand[2]);
        if (l->d->failed)
            break;
        struct step *const step = &l->d->program->step[l->d->program->steps - 1];
        step->which = (uint8_t)which;
        step->list = (uint8_t)(list | (type->kind == IR_VECTOR ? LIBRARY_VECTOR : 0));
        step->flush = l->d->launch->flush_subnormals;
    }
    return out;
}

/* select(a, b, c) is c ? b : a. */
static struct slots select_call(struct library *l)
{
    const struct slots a = l->in[0];
    const bool vector = l->v->type->kind == IR_VECTOR;
    const unsigned from = decode_library_bits(decode_library_operand(l, 2)->type);
    l->in[0] = l->in[2];
    l->in[2] = a;
    const struct slots out = decode_slots(l->d, type_parts(l->v->type));
    for (uint32_t i = 0; i < out.count && !l->d->failed; i++)
        out.slot[i] = decode_pure(l->d, vector ? pure_select_sign : pure_select_nonzero, 64, from, slot_at(&l->in[0], i),
                                  slot_at(&l->in[1], i), slot_at(&l->in[2], i));
    return out;
}

static struct slots expand(struct library *l, unsigned expansion)
{
    if (expansion == IR_X_SELECT)
        return select_call(l);
    const struct ir_type *const first = decode_library_operand(l, 0)->type;
    const bool number = is_float(first);
    const bool integers = expansion == IR_X_ABS || expansion == IR_X_ABS_DIFF || expansion == IR_X_BITSELECT ||
                          expansion == IR_X_CLAMP || expansion == IR_X_HADD || expansion == IR_X_RHADD ||
                          expansion == IR_X_MAD24 || expansion == IR_X_MAD_HI || expansion == IR_X_MAD_SAT ||
                          expansion == IR_X_ROTATE || expansion == IR_X_UPSAMPLE || expansion == IR_X_NAN;
    if (!number && !integers) {
        decode_refuse(l->d, "the function %s on integers is not known", l->call.text);
        return decode_library_nothing(l);
    }
    return decode_library_each(l, number ? pure_expand_float : pure_expand_integer, expansion,
                               l->call.parameter[0].is_signed ? LIBRARY_SIGNED : 0);
}

static unsigned code_of(const struct library *l)
{
    const struct ir_library_name *const name = l->call.name;
    /* Behind the pointer of an atomic operation stands its value. */
    const unsigned value = l->operands > 1 && l->call.parameter[0].is_pointer ? 1 : 0;
    if (is_float(l->operands ? decode_library_operand(l, value)->type : l->v->type))
        return name->code_float;
    return l->call.parameter[0].is_signed ? name->code_signed : name->code;
}

static struct slots named(struct library *l)
{
    const struct ir_library_name *const name = l->call.name;
    struct decoder *const d = l->d;
    const unsigned code = l->operands || name->kind == IR_LIBRARY_COUNT ? code_of(l) : name->code;
    switch (name->kind) {
    case IR_LIBRARY_ID:
    case IR_LIBRARY_COUNT: return decode_builtin_of(d, l->frame, l->v, code, 1, 0);
    case IR_LIBRARY_OP: return decode_library_each(l, pure_of_op(code), 0, 0);
    case IR_LIBRARY_BUILTIN:
        return pure_of_builtin(code) ? decode_library_each(l, pure_of_builtin(code), 0, 0)
                                     : decode_builtin_of(d, l->frame, l->v, code, 1, 0);
    case IR_LIBRARY_EXPAND: return expand(l, code);
    case IR_LIBRARY_SIMD: return decode_builtin_of(d, l->frame, l->v, name->detail, 1, code);
    case IR_LIBRARY_ATOMIC:
        if (is_float(decode_library_operand(l, 1)->type) && code != IR_ATOMIC_XCHG)
            decode_refuse(d, "%s on floating-point numbers is not supported", l->call.text);
        return decode_builtin_of(d, l->frame, l->v, IR_B_ATOMIC, 1, code);
    default: return decode_library_special(l);
    }
}

/* ---- a builtin by its name ---- */

static struct slots by_builtin(struct library *l)
{
    enum ir_builtin builtin;
    unsigned kind;
    bool has_kind;
    if (ir_builtin_by_name(l->call.text, l->operands, &builtin, &kind, &has_kind))
        return decode_builtin_of(l->d, l->frame, l->v, builtin, 1, kind);
    decode_refuse(l->d, "the builtin %s with %u operands is not known", l->call.text, l->operands);
    return decode_library_nothing(l);
}

struct slots decode_library(struct decoder *d, const struct frame *frame, const struct ir_value *v, const char *name)
{
    struct library l = {.d = d, .frame = frame, .v = v, .operands = v->operands - 1};
    if (strncmp(name, "llvm.", 5) == 0)
        return decode_library_intrinsic(&l, name + 5);
    const bool found = ir_library_find(name, &l.call), own = found && strncmp(l.call.text, IR_OWN, strlen(IR_OWN)) == 0;
    if (!found || l.operands > 8 || (!own && l.operands != l.call.parameters)) {
        decode_refuse(d, "the function %s is neither defined nor a library function that is known", name);
        return decode_library_nothing(&l);
    }
    for (unsigned i = 0; i < l.operands && !d->failed; i++)
        l.in[i] = decode_operand(d, frame, v->operand[i + 1]);
    if (d->failed)
        return decode_library_nothing(&l);
    if (l.call.name)
        return named(&l);
    if (own)
        return by_builtin(&l);
    return l.call.text[0] == 'v' ? decode_library_vector_memory(&l) : decode_library_convert(&l);
}
