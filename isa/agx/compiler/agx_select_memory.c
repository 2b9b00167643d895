/* Loads, stores and addresses. Device memory: a 64-bit base, and an index of 32 bits that is shifted by up to 2. Threadgroup
 * memory: a base of 16 bits, which holds what is constant, and an index of 16 bits. Private memory: byte offsets in the stack. */
#include "isa/agx/compiler/agx_select_address.h"

static const char *const masks[] = {"", "x", "xy", "xyz", "xyzw"};

/* What one access moves: registers of `part` bits, `count` of them, in memory as `format`. */
struct access {
    const char *format;
    unsigned bytes, count;
};

static bool access_of(struct agx_compiler *c, const struct ir_value *v, const struct ir_type *type, struct access *a)
{
    const struct ir_type *const one = type->kind == IR_VECTOR ? type->element : type;
    unsigned bits = agx_bits(one);
    if (v->held && v->held->kind == IR_INT && v->held->bits <= 8)
        bits = 8;
    else if (v->held && v->held->kind == IR_VECTOR && v->held->element->bits == 8)
        bits = 8;
    a->count = agx_lanes(type) * (bits == 64 ? 2 : 1);
    a->bytes = bits == 64 ? 4 : bits / 8;
    a->format = bits == 8 ? "i8" : bits == 16 ? "i16" : "i32";
    if (a->count > 4)
        return agx_refuse(c, v, "a load or store of %u components at a time", a->count);
    return true;
}

static enum ir_space space_of(const struct ir_value *pointer)
{
    return pointer->type->space;
}

/* ---- device ---- */

static void device(struct agx_compiler *c, const struct ir_value *v, const struct access *a, const struct ir_value *pointer,
                   struct agx_ref data, bool store)
{
    const struct agx_device_address at = agx_device_address(c, v, pointer, a->bytes, 2);
    struct agx_step *op;
    const char *const sign = at.is_signed ? "signed" : "unsigned", *const shift = at.shift == 0   ? ""
                                                                                  : at.shift == 1 ? ", lsl 1"
                                                                                                  : ", lsl 2";
    if (store) {
        op = AGX_EMIT(c, agx_text(c, "device_store %%s, %s, %s, %%0, %%1, %%2, %s%s, 0", a->format, masks[a->count], sign, shift),
                      (struct agx_ref){0}, data, at.base, at.index);
        op->kind = AGX_DO_STORE;
        op->slot = 1;
        return;
    }
    op = AGX_EMIT(c, agx_text(c, "device_load %%s, %s, %s, %%d, %%0, %%1, %s%s", a->format, masks[a->count], sign, shift), data,
                  at.base, at.index);
    op->kind = AGX_DO_LOAD;
}

/* ---- threadgroup and private ---- */

static void group(struct agx_compiler *c, const struct access *a, const struct ir_value *pointer, struct agx_ref data, bool store)
{
    const struct agx_group_address at = agx_group_address(c, pointer, a->bytes);
    if (store)
        AGX_EMIT(c, agx_text(c, "threadgroup_store %s, %s, %%0, %%1, %%2", a->format, masks[a->count]), (struct agx_ref){0}, data,
                 at.base, at.index);
    else
        AGX_EMIT(c, agx_text(c, "threadgroup_load %s, %s, %%d, %%0, %%1", a->format, masks[a->count]), data, at.base, at.index);
}

static struct agx_step *stack_halves(struct agx_compiler *c, struct agx_ref data, struct agx_ref at, bool store)
{
    struct agx_step *const op = store ? AGX_EMIT(c, "stack_store i16, 1, 0, x, 4, %0, %1, %s", (struct agx_ref){0}, data, at)
                                      : AGX_EMIT(c, "stack_load %d, i16, 1, 0, x, 4, %0, %s", data, at);
    op->kind = store ? AGX_DO_STORE : AGX_DO_LOAD;
    op->slot = store;
    return op;
}

/* The stack has no bytes: they are parts of halves, which a store has to read before. */
static void stack_byte(struct agx_compiler *c, const struct ir_value *pointer, struct agx_ref data, bool store)
{
    const struct agx_ref address = agx_exact(c, pointer), half = agx_new(c, 16, 1);
    struct agx_ref at = agx_number(address.index & ~1u, 32), shift = agx_number((address.index & 1) * 8, 32);
    if (address.kind != AGX_REF_NUMBER) {
        const struct agx_ref whole = agx_word_register(c, address), odd = agx_new(c, 32, 1);
        at = agx_new(c, 32, 1);
        shift = agx_new(c, 32, 1);
        AGX_EMIT(c, "and %d, %0, 1", odd, whole);
        AGX_EMIT(c, "bfi %d, 0, %0, 3", shift, odd);
        AGX_EMIT(c, "isub %d, %0, %1", at, whole, odd);
    }
    stack_halves(c, half, at, false);
    if (!store) {
        const struct agx_ref moved = agx_new(c, 32, 1);
        AGX_EMIT(c, "bfeil %d, 0, %0, %1", moved, half, shift);
        AGX_EMIT(c, "and %d, %0, 255", data, moved);
        return;
    }
    const struct agx_ref hole = agx_new(c, 32, 1), kept = agx_new(c, 32, 1), byte = agx_new(c, 32, 1), both = agx_new(c, 32, 1),
                         mask = agx_new(c, 32, 1), lost = agx_new(c, 32, 1), out = agx_new(c, 16, 1);
    AGX_EMIT(c, "mov_imm %d, %0", mask, agx_number(255, 32));
    AGX_EMIT(c, "bfi %d, 0, %0, %1", hole, mask, shift);
    AGX_EMIT(c, "and %d, %0, 255", byte, data);
    AGX_EMIT(c, "bfi %d, 0, %0, %1", both, byte, shift);
    AGX_EMIT(c, "and %d, %0, %1", lost, half, hole);
    AGX_EMIT(c, "xor %d, %0, %1", kept, half, lost);
    AGX_EMIT(c, "or %d, %0, %1", out, kept, both);
    stack_halves(c, out, at, true);
}

static void stack(struct agx_compiler *c, const struct ir_value *v, const struct access *a, const struct ir_value *pointer,
                  struct agx_ref data, bool store)
{
    struct agx_ref at = agx_exact(c, pointer);
    struct agx_step *op;
    if (a->bytes == 1 && a->count == 1) {
        stack_byte(c, pointer, data, store);
        return;
    }
    if (a->bytes == 1) {
        agx_refuse(c, v, "a load or store of %u bytes at a time in private memory", a->count);
        return;
    }
    if (at.kind != AGX_REF_NUMBER)
        at = agx_word_register(c, at);
    if (store)
        op = AGX_EMIT(c, agx_text(c, "stack_store %s, 1, 0, %s, 4, %%0, %%1, %%s", a->format, masks[a->count]),
                      (struct agx_ref){0}, data, at);
    else
        op = AGX_EMIT(c, agx_text(c, "stack_load %%d, %s, 1, 0, %s, 4, %%0, %%s", a->format, masks[a->count]), data, at);
    op->kind = store ? AGX_DO_STORE : AGX_DO_LOAD;
    op->slot = store;
}

static bool load_or_store(struct agx_compiler *c, const struct ir_value *v)
{
    const bool store = v->op == IR_STORE;
    const struct ir_value *const pointer = v->operand[store ? 1 : 0];
    struct access a;
    if (!access_of(c, v, store ? v->operand[0]->type : v->type, &a))
        return true;
    const struct agx_ref data = store ? agx_in_register(c, v->operand[0]) : agx_to(c, v);
    switch (space_of(pointer)) {
    case IR_DEVICE:
    case IR_CONSTANT_SPACE:
    case IR_CONSTANT_HOST: device(c, v, &a, pointer, data, store); break;
    case IR_THREADGROUP: group(c, &a, pointer, data, store); break;
    case IR_PRIVATE: stack(c, v, &a, pointer, data, store); break;
    default: agx_refuse(c, v, "a pointer whose address space is not known"); break;
    }
    return true;
}

/* ---- vectors ---- */

/* A chain of INSERTs becomes one set of copies. */
static bool insert(struct agx_compiler *c, const struct ir_value *v)
{
    const unsigned lanes = agx_lanes(v->type), bits = agx_bits(v->type);
    const struct ir_value *element[16] = {0}, *at = v;
    uint64_t lane;
    if (lanes > 16 || bits == 64)
        return agx_refuse(c, v, "a vector of %u elements of %u bits", lanes, bits);
    for (; at->op == IR_INSERT && (at == v || agx_takes_over(c, v, at)); at = at->operand[0]) {
        if (!agx_is_constant(at->operand[2], &lane) || lane >= lanes)
            return agx_refuse(c, v, "a vector element whose number is not constant");
        if (!element[lane])
            element[lane] = at->operand[1];
    }
    struct agx_ref from[16], to = agx_to(c, v);
    unsigned count = 0;
    for (unsigned i = 0; i < lanes; i++)
        if (element[i])
            from[i] = agx_exact(c, element[i]);
        else if (at->op != IR_UNDEFINED)
            from[i] = agx_part(agx_to(c, at), i, bits);
    struct agx_step *const op = agx_emit_copies(c, lanes);
    for (unsigned i = 0; i < lanes; i++)
        if (element[i] || at->op != IR_UNDEFINED)
            op->copy[count++] = (struct agx_copy){agx_part(to, i, bits), from[i]};
    op->copies = count;
    return true;
}

bool agx_select_memory(struct agx_compiler *c, const struct ir_value *v)
{
    switch (v->op) {
    case IR_LOAD:
    case IR_STORE: return load_or_store(c, v);
    case IR_GEP: agx_select_pointer(c, v); return true;
    case IR_INSERT: return insert(c, v) || c->failed;
    default: return false;
    }
}
