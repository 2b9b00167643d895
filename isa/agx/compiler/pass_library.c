/* Calls of library functions and of LLVM's intrinsics to operations and builtins. What works lane by lane is expanded for scalars
 * and applied to every lane. */
#include "isa/agx/compiler/pass_library.h"
#include "isa/array_count.h"

#include <math.h>
#include <string.h>

static struct ir_value *library_pick(struct build *b, struct ir_value *v, unsigned lane)
{
    return v && v->type->kind == IR_VECTOR ? build_extract(b, v, lane) : v;
}

struct ir_value *lower_lanes(struct library_whole *w, const struct ir_type *type, bool is_signed, library_one *one, unsigned code)
{
    struct library_lane l = {.p = w->p, .b = w->b, .type = type, .is_signed = is_signed};
    struct ir_value *in[3] = {NULL, NULL, NULL}, *lane[16];
    for (unsigned i = 0; i < w->operands && i < 3; i++)
        in[i] = w->operand[i];
    if (type->kind != IR_VECTOR) {
        l.x = in[0], l.y = in[1], l.z = in[2];
        return one(&l, code);
    }
    l.is_vector = true;
    l.type = type->element;
    for (unsigned i = 0; i < type->count && i < ARRAY_COUNT(lane); i++) {
        l.x = library_pick(&l.b, in[0], i), l.y = library_pick(&l.b, in[1], i), l.z = library_pick(&l.b, in[2], i);
        lane[i] = one(&l, code);
        if (!lane[i])
            return NULL;
    }
    return build_vector(&w->b, lane, (unsigned)type->count);
}

static struct ir_value *one_op(struct library_lane *l, unsigned code)
{
    struct ir_value *const operand[] = {l->x, l->y, l->z};
    return build_any(&l->b, (enum ir_op)code, l->type, operand, l->z ? 3 : l->y ? 2 : 1);
}

static struct ir_value *one_builtin(struct library_lane *l, unsigned code)
{
    struct ir_value *const operand[] = {l->x, l->y, l->z};
    return build_builtin(&l->b, (enum ir_builtin)code, l->type, operand, ir_builtin_operands(code));
}

static struct ir_value *one_expansion(struct library_lane *l, unsigned code)
{
    struct ir_value *r = lower_integer(l, (enum ir_expansion)code);
    if (!r)
        r = lower_relation(l, (enum ir_expansion)code);
    if (!r)
        r = lower_rounding(l, (enum ir_expansion)code);
    if (r)
        return r;
    /* The others are computed in single precision. */
    struct library_lane wide = *l;
    const struct ir_type *f32 = ir_float(l->p->m, 32);
    const bool half = l->type->kind == IR_FLOAT && l->type->bits == 16;
    if (half) {
        wide.type = f32;
        for (struct ir_value **at = &wide.x; at <= &wide.z; at++)
            if (*at && (*at)->type->kind == IR_FLOAT)
                *at = build_convert(&wide.b, IR_FPEXT, *at, f32);
    }
    r = lower_math(&wide, (enum ir_expansion)code);
    if (!r)
        r = lower_trigonometry(&wide, (enum ir_expansion)code);
    return r && half ? build_convert(&wide.b, IR_FPTRUNC, r, l->type) : r;
}

/* ---- positions ---- */

static struct ir_value *library_id(struct library_whole *w)
{
    const enum ir_builtin builtin = (enum ir_builtin)w->call->name->code;
    const struct ir_type *i32 = ir_int(w->p->m, 32);
    if (!ir_builtin_operands(builtin))
        return build_resize(&w->b, build_builtin(&w->b, builtin, i32, NULL, 0), w->v->type, false);
    struct ir_value *dimension = w->operand[0];
    const bool is_size = builtin == IR_B_GLOBAL_SIZE || builtin == IR_B_LOCAL_SIZE || builtin == IR_B_GROUP_COUNT;
    struct ir_value *result = build_i32(&w->b, is_size);
    uint64_t number = 3;
    const bool fixed = pass_is_constant(dimension, &number);
    for (uint32_t i = 0; i < 3; i++) {
        struct ir_value *which = build_i32(&w->b, i);
        if (fixed && number == i)
            result = build_builtin(&w->b, builtin, i32, &which, 1);
        else if (!fixed)
            result = build_select(&w->b, build_icmpn(&w->b, IR_EQ, dimension, i), build_builtin(&w->b, builtin, i32, &which, 1),
                                  result);
    }
    return build_resize(&w->b, result, w->v->type, false);
}

static struct ir_value *with_list(struct build *b, enum ir_builtin builtin, unsigned kind, const struct ir_type *type,
                                  struct ir_value *const *operand, unsigned operands)
{
    struct ir_value *v = build_builtin(b, builtin, type, operand, operands);
    v->list = ir_alloc(b->m, sizeof *v->list);
    v->list[0] = kind;
    v->lists = 1;
    return v;
}

/* Numbers to integers that have their order, and back. */
static struct ir_value *ordered(struct build *b, struct ir_value *bits)
{
    return build_2(b, IR_XOR, bits, build_2n(b, IR_LSHR, build_2n(b, IR_ASHR, bits, 31), 1));
}

/* The hardware has no prefix minimum and maximum of floats. */
static struct ir_value *float_prefix(struct build *b, unsigned kind, struct ir_value *x)
{
    const struct ir_type *i32 = ir_int(b->m, 32), *f32 = ir_float(b->m, 32);
    const bool least = kind == IR_REDUCE_FMIN;
    struct ir_value *bits = ordered(b, build_convert(b, IR_BITCAST, build_convert(b, IR_FPEXT, x, f32), i32));
    struct ir_value *r = with_list(b, IR_B_SIMD_PREFIX, least ? IR_REDUCE_SMIN : IR_REDUCE_SMAX, i32, &bits, 1);
    struct ir_value *none = build_icmpn(b, IR_EQ, r, least ? INT32_MAX : (uint64_t)1 << 31);
    r = build_convert(b, IR_BITCAST, ordered(b, r), f32);
    r = build_select(b, none, build_f32(b, least ? INFINITY : -INFINITY), r);
    return build_convert(b, IR_FPTRUNC, r, x->type);
}

struct ir_value *lower_with_kind(struct build *b, enum ir_builtin builtin, unsigned kind, const struct ir_type *type,
                                 struct ir_value *const *operand, unsigned operands)
{
    if (builtin == IR_B_SIMD_PREFIX && (kind == IR_REDUCE_FMIN || kind == IR_REDUCE_FMAX) && type->kind == IR_FLOAT)
        return float_prefix(b, kind, operand[0]);
    return with_list(b, builtin, kind, type, operand, operands);
}

/* ---- by name ---- */

struct ir_value *lower_by_builtin(struct library_whole *w)
{
    enum ir_builtin builtin;
    unsigned kind;
    bool has_kind;
    if (!ir_builtin_by_name(w->call->text, w->operands, &builtin, &kind, &has_kind))
        return NULL;
    struct ir_value *v = has_kind ? lower_with_kind(&w->b, builtin, kind, w->v->type, w->operand, w->operands)
                                  : build_builtin(&w->b, builtin, w->v->type, w->operand, w->operands);
    if (v->type->kind != IR_VOID)
        return v;
    ir_remove(w->v);
    return w->v;
}

static unsigned library_code(const struct ir_library_call *call, const struct ir_type *type)
{
    const struct ir_type *scalar = type->kind == IR_VECTOR ? type->element : type;
    if (scalar->kind == IR_FLOAT)
        return call->name->code_float;
    return call->parameter[0].is_signed ? call->name->code_signed : call->name->code;
}

static struct ir_value *library_named(struct library_whole *w)
{
    const struct ir_library_name *name = w->call->name;
    const struct ir_type *type = w->v->type;
    const bool is_signed = w->call->parameter[0].is_signed;
    const unsigned code =
        library_code(w->call, w->operands ? w->operand[w->operands > 1 && w->call->parameter[0].is_pointer]->type : type);
    struct ir_value *r;
    switch (name->kind) {
    case IR_LIBRARY_ID: return library_id(w);
    case IR_LIBRARY_COUNT:
        return build_resize(&w->b, build_builtin(&w->b, (enum ir_builtin)code, ir_int(w->p->m, 32), NULL, 0), type, false);
    case IR_LIBRARY_OP: return lower_lanes(w, type, is_signed, one_op, code);
    case IR_LIBRARY_BUILTIN: return lower_lanes(w, type, is_signed, one_builtin, code);
    case IR_LIBRARY_EXPAND: return lower_lanes(w, type, is_signed, one_expansion, code);
    case IR_LIBRARY_SIMD: return lower_with_kind(&w->b, (enum ir_builtin)name->detail, code, type, w->operand, 1);
    case IR_LIBRARY_ATOMIC: return lower_atomic_make(&w->b, code, w->operand[0], w->operand[1]);
    case IR_LIBRARY_SPECIAL:
        r = lower_special(w, (enum ir_special)code);
        if (!r)
            r = lower_atomic(w, (enum ir_special)code);
        if (!r)
            r = lower_geometry(w, (enum ir_special)code);
        if (!r)
            r = lower_async(w, (enum ir_special)code);
        if (!r && !w->p->failed)
            r = lower_group(w, (enum ir_special)code);
        return r ? r : lower_simd(w, (enum ir_special)code);
    default: return NULL;
    }
}

static struct ir_value *rewrite_call(struct pass *p, struct ir_value *v)
{
    if (v->op != IR_CALL)
        return NULL;
    const struct ir_value *callee = v->operand[0];
    if (callee->op != IR_FUNCTION)
        return pass_refuse(p, v, "a call through a pointer to a function is not supported");
    const char *name = callee->function->name;
    struct ir_library_call call = {0};
    struct library_whole w = {p, build_at(p, v), v, v->operand + 1, v->operands - 1, &call};
    struct ir_value *r = NULL;
    if (strncmp(name, "llvm.", 5) == 0)
        r = lower_intrinsic(&w, name + 5);
    else if (!ir_library_find(name, &call))
        return pass_refuse(p, v, "function %s is neither defined nor a library function known here", name);
    else if (call.name)
        r = library_named(&w);
    else if (strncmp(call.text, IR_OWN, strlen(IR_OWN)) == 0)
        r = lower_by_builtin(&w);
    else if (call.text[0] == 'v')
        r = lower_memory(&w);
    else
        r = lower_convert(&w);
    return r || p->failed ? r : pass_refuse(p, v, "library function %s is not supported", name);
}

bool pass_library(struct pass *p)
{
    return pass_rewrite(p, rewrite_call);
}
