/* Addresses to the form the hardware computes: a base, one index times the size of an element, and a constant.
 *
 * An address is taken apart into its root, terms of a value times a number of bytes, and a constant; then one getelementptr is
 * made of them that counts elements of what is loaded or stored there. Threadgroup and private memory is so small that their
 * indices are computed in 32 bits: whatever wraps on the way, the address is right when it is one of that memory. */
#include "isa/agx/compiler/pass_fold.h"

#define MOST_TERMS 8

struct term {
    struct ir_value *value; /* of 64 bits, or of 32 and extended */
    uint64_t scale;         /* bytes; a negative one is its complement */
    bool is_signed;         /* how a value of 32 bits is extended */
};

struct address {
    struct ir_value *root;
    struct term term[MOST_TERMS];
    unsigned terms;
    uint64_t constant; /* bytes, modulo 2^64 */
    bool small;        /* computed in 32 bits */
};

static bool add_term(struct build *b, struct address *a, struct ir_value *value, uint64_t scale, bool is_signed)
{
    uint64_t c;
    for (;;) {
        if (pass_is_constant(value, &c)) {
            const unsigned up = 64 - value->type->bits;
            c = is_signed ? (uint64_t)((int64_t)(c << up) >> up) : c << up >> up;
            a->constant += c * scale;
            return true;
        }
        const bool whole = value->type->bits == 64 || a->small;
        if (value->op == IR_ADD && pass_is_constant(value->operand[1], &c) && (whole || (value->exact && !is_signed))) {
            const unsigned up = 64 - value->type->bits;
            a->constant += (whole ? (uint64_t)((int64_t)(c << up) >> up) : c) * scale;
        } else if (whole && value->op == IR_SHL && pass_is_constant(value->operand[1], &c) && c < 32) {
            scale <<= c;
        } else if (whole && value->op == IR_MUL && pass_is_constant(value->operand[1], &c) && c < 65536) {
            scale *= c;
        } else if (value->type->bits == 64 && a->small) {
            value = fold_low_bits(b, value, ir_int(b->m, 32));
            is_signed = true;
            continue;
        } else if (value->type->bits == 64 && (value->op == IR_ZEXT || value->op == IR_SEXT) &&
                   value->operand[0]->type->bits == 32) {
            is_signed = value->op == IR_SEXT;
        } else {
            break;
        }
        value = value->operand[0];
    }
    if (value->type->bits < 32)
        value = build_resize(b, value, ir_int(b->m, 32), is_signed);
    for (unsigned i = 0; i < a->terms; i++)
        if (a->term[i].value == value && a->term[i].is_signed == is_signed) {
            a->term[i].scale += scale;
            return true;
        }
    if (a->terms == MOST_TERMS)
        return false;
    a->term[a->terms++] = (struct term){value, scale, is_signed};
    return true;
}

static bool add_indices(struct build *b, struct address *a, const struct ir_value *gep)
{
    const struct ir_type *type = gep->held;
    a->constant += (uint64_t)((int64_t)gep->offset * (int64_t)type->bytes);
    for (unsigned i = 1; i < gep->operands; i++) {
        uint64_t c;
        if (i == 1) {
            if (!add_term(b, a, gep->operand[i], type->bytes, !gep->exact))
                return false;
        } else if (type->kind == IR_STRUCT) {
            if (!pass_is_constant(gep->operand[i], &c) || c >= type->count)
                return false;
            a->constant += type->member_offset[c];
            type = type->member[c];
        } else {
            type = type->element;
            if (!add_term(b, a, gep->operand[i], type->bytes, true))
                return false;
        }
    }
    return true;
}

static bool take_apart(struct build *b, struct address *a, struct ir_value *pointer)
{
    *a = (struct address){.root = pointer};
    a->small = pointer->type->space == IR_THREADGROUP || pointer->type->space == IR_PRIVATE;
    while (a->root->op == IR_GEP) {
        if (a->terms > MOST_TERMS / 2)
            return true; /* enough: what is left is a base of its own */
        if (!add_indices(b, a, a->root))
            return false;
        a->root = a->root->operand[0];
    }
    return true;
}

/* ---- putting together ---- */

static struct ir_value *times(struct build *b, struct ir_value *x, uint64_t by)
{
    if (by == 1)
        return x;
    if (by == 0 - UINT64_C(1))
        return build_2(b, IR_SUB, build_like(b, x, 0), x);
    return (by & (by - 1)) == 0 ? build_2n(b, IR_SHL, x, (unsigned)__builtin_ctzll(by)) : build_2n(b, IR_MUL, x, by);
}

/* Whether the sum of all terms, each unsigned, fits in 32 bits. */
static bool fits_32(const struct pass *p, const struct address *a, uint64_t size)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < a->terms; i++) {
        uint64_t most, by = a->term[i].scale / size;
        if (a->term[i].value->type->bits != 32 || by > UINT32_MAX)
            return false;
        most = pass_most(p, a->term[i].value);
        if (a->term[i].is_signed && most > INT32_MAX)
            return false;
        sum += most * by;
        if (most * by / by != most || sum > UINT32_MAX)
            return false;
    }
    return true;
}

static struct ir_value *sum_terms(struct build *b, const struct address *a, uint64_t size, unsigned bits)
{
    const struct ir_type *type = ir_int(b->m, bits);
    struct ir_value *sum = NULL;
    for (unsigned i = 0; i < a->terms; i++) {
        const struct term *t = &a->term[i];
        struct ir_value *one =
            times(b, build_resize(b, t->value, type, t->is_signed), (uint64_t)((int64_t)t->scale / (int64_t)size));
        sum = sum ? build_2(b, IR_ADD, sum, one) : one;
    }
    return sum;
}

static bool is_counter(const struct ir_value *v)
{
    for (unsigned i = 0; i < 2; i++, v = v->operand[0])
        if (v->op == IR_PHI || pass_is_value(v) || !v->operands)
            return v->op == IR_PHI;
    return false;
}

/* A sum of 64 bits becomes a base, and one word that the hardware adds by itself: a loop's counter when there is one, so that the
 * base stays the same in the loop. */
static void split_index(struct build *b, struct address *a, uint64_t size)
{
    unsigned best = a->terms;
    for (unsigned i = 0; i < a->terms; i++) {
        const uint64_t by = a->term[i].scale / size;
        if (a->term[i].value->type->bits == 32 && (by == 1 || by == 2 || by == 4) &&
            (best == a->terms || is_counter(a->term[i].value) || !is_counter(a->term[best].value)))
            best = i;
    }
    if (a->terms < 2 || best == a->terms ||
        (a->root->type->space != IR_DEVICE && a->root->type->space != IR_CONSTANT_SPACE &&
         a->root->type->space != IR_CONSTANT_HOST))
        return;
    const struct term last = a->term[best];
    a->term[best] = a->term[--a->terms];
    const bool one = a->terms == 1 && a->term[0].value->type->bits == 32 && a->term[0].scale == size;
    struct ir_value *const index = one ? a->term[0].value : sum_terms(b, a, size, 64);
    a->root = build_gep(b, a->root, ir_int(b->m, 8 * (unsigned)size), index, 0);
    a->root->exact = one && !a->term[0].is_signed;
    a->term[0] = last;
    a->terms = 1;
}

static struct ir_value *put_together(struct pass *p, struct build *b, struct address *a, uint64_t size)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < a->terms; i++)
        if (a->term[i].scale)
            a->term[kept++] = a->term[i];
    a->terms = kept;
    if (!a->terms && !a->constant)
        return a->root;
    while (size > 1) {
        bool fits = a->constant % size == 0;
        for (unsigned i = 0; i < a->terms; i++)
            fits = fits && a->term[i].scale % size == 0;
        if (fits)
            break;
        size /= 2;
    }
    int64_t offset = (int64_t)a->constant / (int64_t)size;
    if (!a->small && !fits_32(p, a, size))
        split_index(b, a, size);
    const bool one = a->terms == 1 && a->term[0].value->type->bits == 32 && a->term[0].scale == size;
    const bool short_index = a->small || !a->terms || one || fits_32(p, a, size);
    const bool is_unsigned = !a->small && (!one || !a->term[0].is_signed);
    struct ir_value *index = a->terms ? sum_terms(b, a, size, short_index ? 32 : 64) : build_i32(b, 0);
    if (offset != (int32_t)offset) {
        index = build_2(b, IR_ADD, build_resize(b, index, ir_int(b->m, 64), !is_unsigned),
                        build_bits(b, ir_int(b->m, 64), (uint64_t)offset));
        offset = 0;
    }
    struct ir_value *gep = build_gep(b, a->root, ir_int(b->m, 8 * (unsigned)size), index, (int32_t)offset);
    gep->exact = index->type->bits == 32 && is_unsigned;
    return gep;
}

static uint64_t component_bytes(const struct ir_type *type)
{
    while (type->kind == IR_VECTOR || type->kind == IR_ARRAY)
        type = type->element;
    return type->kind == IR_STRUCT || type->bytes > 8 ? 8 : type->bytes ? type->bytes : 1;
}

/* The size of what the indices lead to. */
static uint64_t reached_bytes(const struct ir_value *gep)
{
    const struct ir_type *type = gep->held;
    uint64_t c;
    for (unsigned i = 2; i < gep->operands; i++) {
        if (type->kind != IR_STRUCT)
            type = type->element;
        else
            type = type->member[pass_is_constant(gep->operand[i], &c) && c < type->count ? c : 0];
    }
    return component_bytes(type);
}

static struct ir_value *make_address(struct pass *p, struct ir_value *at, struct ir_value *pointer, uint64_t size)
{
    struct build b = build_at(p, at);
    struct address a;
    if (!take_apart(&b, &a, pointer))
        return pass_refuse(p, at, "an address with more than %d variable parts is not supported", MOST_TERMS);
    return put_together(p, &b, &a, size);
}

static struct ir_value *rewrite_address(struct pass *p, struct ir_value *v)
{
    unsigned at;
    uint64_t size;
    if (v->op == IR_GEP)
        return make_address(p, v, v, reached_bytes(v));
    if (v->op == IR_LOAD) {
        at = 0;
        size = component_bytes(v->held ? v->held : v->type);
    } else if (v->op == IR_STORE) {
        at = 1;
        size = component_bytes(v->held ? v->held : v->operand[0]->type);
    } else if (v->op == IR_BUILTIN && (v->builtin == IR_B_ATOMIC || v->builtin == IR_B_ATOMIC_CMPXCHG)) {
        at = 0;
        size = component_bytes(v->type);
    } else {
        return NULL;
    }
    const struct ir_value *pointer = v->operand[at];
    if (pointer->op != IR_GEP || pointer->held->bytes == size)
        return NULL;
    v->operand[at] = make_address(p, v, v->operand[at], size);
    return NULL;
}

bool pass_addresses(struct pass *p)
{
    return pass_rewrite(p, rewrite_address);
}
