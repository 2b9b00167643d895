/* What kernels ask of their target: positions, functions, barriers, atomics. */
#include "isa/agx/compiler/agx_select_address.h"

static const char *const atomic_names[] = {
    [IR_ATOMIC_ADD] = "add",   [IR_ATOMIC_SUB] = "sub",   [IR_ATOMIC_XCHG] = "xchg", [IR_ATOMIC_UMIN] = "umin",
    [IR_ATOMIC_SMIN] = "imin", [IR_ATOMIC_UMAX] = "umax", [IR_ATOMIC_SMAX] = "imax", [IR_ATOMIC_AND] = "and",
    [IR_ATOMIC_OR] = "or",     [IR_ATOMIC_XOR] = "xor"};

static unsigned dimension(const struct ir_value *v)
{
    uint64_t bits = 0;
    if (v->operands)
        agx_is_constant(v->operand[0], &bits);
    return bits > 2 ? 0 : (unsigned)bits;
}

static void special(struct agx_compiler *c, const struct ir_value *v, unsigned number)
{
    AGX_EMIT(c, agx_text(c, "get_sr %%d, sr%u", number), agx_to(c, v), agx_number(0, 32));
}

/* Of a threadgroup whose size the source does not state. */
static void simdgroup_count(struct agx_compiler *c, const struct ir_value *v)
{
    struct agx_ref threads = agx_number(1, 32);
    for (unsigned d = 0; d < 3; d++) {
        const struct agx_ref size = agx_new(c, 32, 1), product = agx_new(c, 32, 1);
        AGX_EMIT(c, agx_text(c, "get_sr %%d, sr%u", 4 + d), size, agx_number(0, 32));
        if (d)
            AGX_EMIT(c, "imadd %d, %0, %1, 0", product, threads, size);
        threads = d ? product : size;
    }
    const struct agx_ref up = agx_new(c, 32, 1);
    AGX_EMIT(c, "iadd %d, %0, 31", up, threads);
    AGX_EMIT(c, "bfeil %d, 0, %0, 5", agx_to(c, v), up);
}

static bool position(struct agx_compiler *c, const struct ir_value *v)
{
    const unsigned d = dimension(v);
    const uint32_t *const size = c->f->group_size;
    switch (v->builtin) {
    case IR_B_GLOBAL_ID: special(c, v, 80 + d); return true;
    case IR_B_LOCAL_ID: special(c, v, 48 + d); return true;
    case IR_B_GROUP_ID: special(c, v, d); return true;
    case IR_B_LOCAL_SIZE: special(c, v, 4 + d); return true;
    case IR_B_LOCAL_INDEX: special(c, v, 51); return true;
    case IR_B_LANE: special(c, v, 52); return true;
    case IR_B_SIMDGROUP: special(c, v, 53); return true;
    case IR_B_GLOBAL_SIZE:
    case IR_B_GROUP_COUNT: agx_emit_copy(c, agx_to(c, v), agx_implicit_of(c, v)); return true;
    case IR_B_SIMDGROUP_COUNT:
        if (!size[0]) {
            simdgroup_count(c, v);
            return true;
        }
        agx_emit_copy(c, agx_to(c, v),
                      agx_constant(c, (size[0] * (size[1] ? size[1] : 1) * (size[2] ? size[2] : 1) + 31) / 32, 32));
        return true;
    default: return false;
    }
}

/* A barrier is for threadgroup memory; for device memory a fence stands in front of it. */
static void barrier(struct agx_compiler *c, const struct ir_value *v)
{
    if (v->builtin == IR_B_FENCE)
        AGX_EMIT(c, "memory_barrier 1, 2, 9", (struct agx_ref){0}, agx_number(0, 32))->kind = AGX_DO_BARRIER;
    if (v->builtin == IR_B_BARRIER)
        AGX_EMIT(c, "threadgroup_barrier", (struct agx_ref){0}, agx_number(0, 32))->kind = AGX_DO_BARRIER;
}

/* Both new and expected value, in this order (agx-abi.md section 6: read off compiled code). */
static struct agx_ref exchange_pair(struct agx_compiler *c, const struct ir_value *v)
{
    const struct agx_ref pair = agx_new(c, 32, 2), now = agx_exact(c, v->operand[2]), expected = agx_exact(c, v->operand[1]);
    struct agx_step *const both = agx_emit_copies(c, 2);
    both->copy[0] = (struct agx_copy){agx_part(pair, 0, 32), now};
    both->copy[1] = (struct agx_copy){agx_part(pair, 1, 32), expected};
    return pair;
}

bool agx_select_atomic(struct agx_compiler *c, const struct ir_value *v)
{
    if (v->op != IR_BUILTIN || (v->builtin != IR_B_ATOMIC && v->builtin != IR_B_ATOMIC_CMPXCHG))
        return false;
    if (agx_bits(v->operand[1]->type) != 32)
        return agx_refuse(c, v, "an atomic operation of other than 32 bits");
    const bool exchange = v->builtin == IR_B_ATOMIC_CMPXCHG, wanted = agx_note_of(c, v)->reg;
    const char *const name = exchange ? "cmpxchg" : atomic_names[v->list[0]], *const result = wanted ? "%d" : "None";
    const struct agx_ref to = wanted ? agx_to(c, v) : (struct agx_ref){0};
    const struct agx_ref data = exchange ? exchange_pair(c, v) : agx_in_register(c, v->operand[1]);
    if (v->operand[0]->type->space == IR_THREADGROUP) {
        const struct agx_group_address at = agx_group_address(c, v->operand[0], 4);
        AGX_EMIT(c, agx_text(c, "threadgroup_atomic %s, %s, %%0, %%1, %%2, 0, 2, 128, 0", name, result), to, at.base, at.index,
                 data);
        return true;
    }
    const struct agx_device_address at = agx_device_address(c, v, v->operand[0], 4, 0);
    struct agx_step *const op = AGX_EMIT(
        c,
        agx_text(c, "atomic %s, %%s, %s, %%0, %%1, %s, %%2, 1, 0, 1, 4, 2", name, result, at.is_signed ? "signed" : "unsigned"),
        to, at.base, at.index, data);
    op->kind = wanted ? AGX_DO_LOAD : AGX_DO_STORE;
    op->slot = !wanted;
    return true;
}

/* ---- functions ---- */

static bool unary(struct agx_compiler *c, const struct ir_value *v)
{
    static const struct {
        uint16_t builtin;
        const char *format;
    } functions[] = {{IR_B_FLOOR, "floor %d, %0"}, {IR_B_CEIL, "ceil %d, %0"},  {IR_B_TRUNCATE, "trunc %d, %0"},
                     {IR_B_RINT, "rint %d, %0"},   {IR_B_EXP2, "exp2 %d, %0"},  {IR_B_LOG2, "log2 %d, %0"},
                     {IR_B_RCP, "rcp %d, %0"},     {IR_B_RSQRT, "rsqrt %d, %0"}};
    for (unsigned i = 0; i < sizeof functions / sizeof *functions; i++)
        if (functions[i].builtin == v->builtin) {
            AGX_EMIT(c, functions[i].format, agx_to(c, v), agx_float_source(c, v->operand[0], 32));
            return true;
        }
    if (v->builtin != IR_B_SQRT && v->builtin != IR_B_SINPI2)
        return false;
    const struct agx_ref x = agx_float_source(c, v->operand[0], 32), a = agx_new(c, 32, 1), b = agx_new(c, 32, 1);
    if (v->builtin == IR_B_SQRT) {
        AGX_EMIT(c, "rsqrt_special %d, %0", a, x);
        AGX_EMIT(c, "fmul32 %d, %0, %1", agx_to(c, v), x, a);
    } else {
        AGX_EMIT(c, "sin_pt_1 %d, %0", a, x);
        AGX_EMIT(c, "sin_pt_2 %d, %0", b, a);
        AGX_EMIT(c, "fmul32 %d, %0, %1", agx_to(c, v), a, b);
    }
    return true;
}

static bool least_or_most(struct agx_compiler *c, const struct ir_value *v)
{
    static const struct {
        uint16_t builtin;
        const char *format;
    } kinds[] = {{IR_B_FMIN, "fcmpsel ltn, %d, %0, %1, %2, %3"}, {IR_B_FMAX, "fcmpsel gtn, %d, %0, %1, %2, %3"},
                 {IR_B_UMIN, "icmpsel ult, %d, %0, %1, %2, %3"}, {IR_B_UMAX, "icmpsel ugt, %d, %0, %1, %2, %3"},
                 {IR_B_SMIN, "icmpsel slt, %d, %0, %1, %2, %3"}, {IR_B_SMAX, "icmpsel sgt, %d, %0, %1, %2, %3"}};
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].builtin == v->builtin) {
            const struct agx_ref x = agx_exact(c, v->operand[0]), y = agx_exact(c, v->operand[1]);
            const bool is_float = i < 2;
            const unsigned bits = agx_bits(v->type);
            if (bits == 64)
                return agx_refuse(c, v, "minimum and maximum of 64 bits");
            AGX_EMIT(c, kinds[i].format, agx_to(c, v),
                     is_float && x.kind != AGX_REF_REGISTER ? agx_float_source(c, v->operand[0], bits) : x,
                     is_float && y.kind != AGX_REF_REGISTER ? agx_float_source(c, v->operand[1], bits) : y, x, y);
            return true;
        }
    return false;
}

static bool saturating(struct agx_compiler *c, const struct ir_value *v)
{
    const bool subtract = v->builtin == IR_B_SUB_SAT_U || v->builtin == IR_B_SUB_SAT_S;
    const bool is_signed = v->builtin == IR_B_ADD_SAT_S || v->builtin == IR_B_SUB_SAT_S;
    if (!subtract && !is_signed && v->builtin != IR_B_ADD_SAT_U)
        return false;
    if (agx_bits(v->type) == 64)
        return agx_refuse(c, v, "saturating arithmetic of 64 bits");
    struct agx_ref a = agx_exact(c, v->operand[0]), b = agx_exact(c, v->operand[1]);
    if (is_signed && a.kind == AGX_REF_NUMBER)
        a = agx_in_register(c, v->operand[0]);
    if (is_signed && b.kind == AGX_REF_NUMBER)
        b = agx_in_register(c, v->operand[1]);
    a.sign_extend = b.sign_extend = is_signed;
    AGX_EMIT(c, subtract ? "isub.sat %d, %0, %1" : "iadd.sat %d, %0, %1", agx_to(c, v), a, b);
    return true;
}

static bool bit_function(struct agx_compiler *c, const struct ir_value *v)
{
    const unsigned bits = agx_bits(v->type);
    if (v->builtin != IR_B_POPCOUNT && v->builtin != IR_B_CLZ && v->builtin != IR_B_CTZ && v->builtin != IR_B_BIT_REVERSE)
        return false;
    if (bits == 64)
        return agx_refuse(c, v, "%s of 64 bits", ir_builtin_name(v->builtin));
    struct agx_ref x = agx_view(c, v->operand[0]);
    const struct agx_ref turned = agx_new(c, 32, 1), place = agx_new(c, 32, 1);
    if (v->builtin == IR_B_POPCOUNT) {
        AGX_EMIT(c, "popcount %d, %0", agx_to(c, v), x);
        return true;
    }
    if (v->builtin == IR_B_BIT_REVERSE && bits == 32) {
        AGX_EMIT(c, "bitrev %d, %0", agx_to(c, v), x);
        return true;
    }
    if (v->builtin != IR_B_CLZ) {
        AGX_EMIT(c, "bitrev %d, %0", turned, x);
        x = turned;
    }
    if (v->builtin == IR_B_BIT_REVERSE) {
        agx_emit_copy(c, agx_to(c, v), agx_part(turned, 1, 16));
        return true;
    }
    AGX_EMIT(c, "ffs %d, %0", place, x); /* of the highest bit, -1 without any */
    AGX_EMIT(c, "isub %d, %0, %1", agx_to(c, v), agx_number(v->builtin == IR_B_CLZ ? bits - 1 : 31, 32), place);
    return true;
}

static bool funnel(struct agx_compiler *c, const struct ir_value *v)
{
    uint64_t by;
    if (v->builtin != IR_B_FUNNEL_LEFT && v->builtin != IR_B_FUNNEL_RIGHT)
        return false;
    if (agx_bits(v->type) != 32)
        return agx_refuse(c, v, "a funnel shift of other than 32 bits");
    const bool left = v->builtin == IR_B_FUNNEL_LEFT;
    const struct agx_ref high = agx_exact(c, v->operand[0]), low = agx_exact(c, v->operand[1]);
    if (agx_is_constant(v->operand[2], &by)) {
        by &= 31;
        const unsigned right = left ? 32 - (unsigned)by : (unsigned)by;
        AGX_EMIT(c, agx_text(c, "extr %%d, %%0, %%1, %u", right), agx_to(c, v), low, high);
        return true;
    }
    struct agx_ref amount = agx_new(c, 32, 1);
    AGX_EMIT(c, "and %d, %0, 31", amount, agx_view(c, v->operand[2]));
    if (left) {
        const struct agx_ref rest = agx_new(c, 32, 1);
        AGX_EMIT(c, "isub %d, 32, %0", rest, amount);
        amount = rest;
    }
    AGX_EMIT(c, "extr %d, %0, %1, %2", agx_to(c, v), low, high, amount);
    return true;
}

static bool high_product(struct agx_compiler *c, const struct ir_value *v)
{
    const bool is_signed = v->builtin == IR_B_MUL_HIGH_S;
    if (!is_signed && v->builtin != IR_B_MUL_HIGH_U)
        return false;
    if (agx_bits(v->type) != 32)
        return agx_refuse(c, v, "the high half of a product of other than 32 bits");
    const struct agx_ref product = agx_new(c, 64, 1);
    struct agx_ref a = is_signed ? agx_in_register(c, v->operand[0]) : agx_view(c, v->operand[0]);
    struct agx_ref b = is_signed ? agx_in_register(c, v->operand[1]) : agx_view(c, v->operand[1]);
    a.sign_extend = b.sign_extend = is_signed;
    AGX_EMIT(c, "imadd %d, %0, %1, 0", product, a, b);
    agx_emit_copy(c, agx_to(c, v), agx_part(product, 1, 32));
    return true;
}

bool agx_select_builtin(struct agx_compiler *c, const struct ir_value *v)
{
    if (v->op != IR_BUILTIN)
        return false;
    if (v->builtin == IR_B_BARRIER || v->builtin == IR_B_SIMD_BARRIER || v->builtin == IR_B_FENCE) {
        barrier(c, v);
        return true;
    }
    return position(c, v) || c->failed || unary(c, v) || least_or_most(c, v) || c->failed || saturating(c, v) || c->failed ||
           bit_function(c, v) || c->failed || funnel(c, v) || c->failed || high_product(c, v) || c->failed;
}
