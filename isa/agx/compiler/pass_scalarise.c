/* Vectors to their lanes. Each vector value gets a record of its lanes as scalars; what is left of vectors afterwards is what a
 * load gives, of which lanes are extracted, and what inserts make for a store or a matrix product. */
#include "isa/agx/compiler/pass.h"

#include <string.h>

#define MOST_OPERANDS 8

struct lanes {
    unsigned count;
    struct ir_value *lane[];
};

struct scalarise {
    struct pass *p;
    struct lanes **of; /* by id of the value, for ids below `known` */
    uint32_t known;
};

static struct lanes *lanes_make(struct pass *p, unsigned count)
{
    struct lanes *l = ir_alloc(p->m, sizeof *l + count * sizeof(struct ir_value *));
    l->count = count;
    return l;
}

static struct lanes *lanes_of_constant(struct pass *p, struct ir_value *v)
{
    const unsigned count = (unsigned)v->type->count;
    struct lanes *l = lanes_make(p, count);
    for (unsigned i = 0; i < count; i++) {
        if (v->op == IR_AGGREGATE)
            l->lane[i] = v->operand[i];
        else
            l->lane[i] = v->op == IR_CONSTANT ? ir_constant(p->m, v->type->element, 0) : ir_undefined(p->m, v->type->element);
    }
    return l;
}

/* The lanes of a vector operand; extracted from it when it stays a vector. */
static struct lanes *lanes_get(struct scalarise *s, struct ir_value *at, struct ir_value *v)
{
    if (v->op == IR_CONSTANT || v->op == IR_AGGREGATE || v->op == IR_UNDEFINED)
        return lanes_of_constant(s->p, v);
    if (!pass_is_value(v) && v->id < s->known && s->of[v->id])
        return s->of[v->id];
    struct build b = build_at(s->p, at);
    struct lanes *l = lanes_make(s->p, (unsigned)v->type->count);
    for (unsigned i = 0; i < l->count; i++)
        l->lane[i] = build_extract(&b, v, i);
    return l;
}

static bool is_vector(const struct ir_value *v)
{
    return v->type->kind == IR_VECTOR;
}

/* One scalar copy of the instruction for each lane. */
static struct lanes *lanes_apart(struct scalarise *s, struct ir_value *v)
{
    struct build b = build_at(s->p, v);
    struct lanes *result = lanes_make(s->p, (unsigned)v->type->count), *in[MOST_OPERANDS] = {NULL};
    if (v->operands > MOST_OPERANDS) {
        pass_refuse(s->p, v, "a vector of addresses with more than %d indices is not supported", MOST_OPERANDS - 1);
        for (unsigned i = 0; i < result->count; i++)
            result->lane[i] = ir_undefined(s->p->m, v->type->element);
        return result;
    }
    for (unsigned i = 0; i < v->operands; i++)
        in[i] = is_vector(v->operand[i]) ? lanes_get(s, v, v->operand[i]) : NULL;
    for (unsigned lane = 0; lane < result->count; lane++) {
        struct ir_value *operand[MOST_OPERANDS] = {NULL};
        for (unsigned i = 0; i < v->operands; i++)
            operand[i] = in[i] ? in[i]->lane[lane] : v->operand[i];
        struct ir_value *one = v->op == IR_BUILTIN
                                   ? build_builtin(&b, (enum ir_builtin)v->builtin, v->type->element, operand, v->operands)
                                   : build_any(&b, (enum ir_op)v->op, v->type->element, operand, v->operands);
        one->condition = v->condition;
        one->fast = v->fast;
        one->exact = v->exact;
        one->held = v->held; /* of a vector of addresses */
        if (v->lists) {
            one->list = v->list;
            one->lists = v->lists;
        }
        result->lane[lane] = one;
    }
    return result;
}

static struct lanes *lanes_of_shuffle(struct scalarise *s, struct ir_value *v)
{
    const struct lanes *x = lanes_get(s, v, v->operand[0]), *y = lanes_get(s, v, v->operand[1]);
    struct lanes *result = lanes_make(s->p, (unsigned)v->type->count);
    for (unsigned i = 0; i < result->count; i++) {
        const uint32_t from = i < v->lists ? v->list[i] : IR_NO_LANE;
        if (from < x->count)
            result->lane[i] = x->lane[from];
        else if (from != IR_NO_LANE && from - x->count < y->count)
            result->lane[i] = y->lane[from - x->count];
        else
            result->lane[i] = ir_undefined(s->p->m, v->type->element);
    }
    return result;
}

static struct lanes *lanes_of_insert(struct scalarise *s, struct ir_value *v)
{
    const struct lanes *x = lanes_get(s, v, v->operand[0]);
    struct lanes *result = lanes_make(s->p, x->count);
    struct build b = build_at(s->p, v);
    uint64_t at = 0;
    const bool fixed = pass_is_constant(v->operand[2], &at);
    for (unsigned i = 0; i < x->count; i++) {
        if (fixed)
            result->lane[i] = at == i ? v->operand[1] : x->lane[i];
        else
            result->lane[i] = build_select(&b, build_icmpn(&b, IR_EQ, v->operand[2], i), v->operand[1], x->lane[i]);
    }
    return result;
}

static struct ir_value *extract(struct scalarise *s, struct ir_value *v)
{
    const struct lanes *x = lanes_get(s, v, v->operand[0]);
    struct build b = build_at(s->p, v);
    uint64_t at;
    if (pass_is_constant(v->operand[1], &at))
        return at < x->count ? x->lane[at] : ir_undefined(s->p->m, v->type);
    struct ir_value *result = x->lane[0];
    for (unsigned i = 1; i < x->count; i++)
        result = build_select(&b, build_icmpn(&b, IR_EQ, v->operand[1], i), x->lane[i], result);
    return result;
}

/* ---- bit casts: through the narrower of both elements ---- */

static struct ir_value *join(struct build *b, struct ir_value *const *part, unsigned parts, unsigned bits,
                             const struct ir_type *type)
{
    const struct ir_type *whole = ir_int(b->m, bits * parts);
    struct ir_value *r = NULL;
    for (unsigned i = 0; i < parts; i++) {
        struct ir_value *one = build_resize(b, build_convert(b, IR_BITCAST, part[i], ir_int(b->m, bits)), whole, false);
        one = i ? build_2n(b, IR_SHL, one, (uint64_t)i * bits) : one;
        r = r ? build_2(b, IR_OR, r, one) : one;
    }
    return build_convert(b, IR_BITCAST, r, type);
}

static struct lanes *lanes_of_cast(struct scalarise *s, struct ir_value *v)
{
    struct build b = build_at(s->p, v);
    struct ir_value *x = v->operand[0];
    const struct ir_type *to = is_vector(v) ? v->type->element : v->type;
    struct lanes *from, *result = lanes_make(s->p, is_vector(v) ? (unsigned)v->type->count : 1);
    if (is_vector(x)) {
        from = lanes_get(s, v, x);
    } else {
        from = lanes_make(s->p, 1);
        from->lane[0] = x;
    }
    const unsigned wide = from->lane[0]->type->bits;
    if (wide == to->bits) {
        for (unsigned i = 0; i < result->count; i++)
            result->lane[i] = build_convert(&b, IR_BITCAST, from->lane[i], to);
    } else if (wide < to->bits) {
        const unsigned parts = to->bits / wide;
        for (unsigned i = 0; i < result->count; i++)
            result->lane[i] = join(&b, from->lane + (size_t)i * parts, parts, wide, to);
    } else {
        const unsigned parts = wide / to->bits;
        for (unsigned i = 0; i < result->count; i++) {
            struct ir_value *one = build_convert(&b, IR_BITCAST, from->lane[i / parts], ir_int(s->p->m, wide));
            one = i % parts ? build_2n(&b, IR_LSHR, one, (uint64_t)(i % parts) * to->bits) : one;
            result->lane[i] = build_convert(&b, IR_BITCAST, build_convert(&b, IR_TRUNC, one, ir_int(s->p->m, to->bits)), to);
        }
    }
    return result;
}

/* Comparing the bits of a vector of truths with all or none of them: the usual way to ask for any or all. */
static struct ir_value *compare_truths(struct scalarise *s, struct ir_value *v)
{
    uint64_t with;
    if (v->op != IR_ICMP)
        return NULL;
    const struct ir_value *cast = v->operand[0];
    if (cast->op != IR_BITCAST || !is_vector(cast->operand[0]) || cast->operand[0]->type->element->bits != 1 ||
        (v->condition != IR_EQ && v->condition != IR_NE) || !pass_is_constant(v->operand[1], &with))
        return NULL;
    const uint64_t all = UINT64_MAX >> (64 - cast->type->bits);
    if (with != 0 && (with & all) != all)
        return NULL;
    const struct lanes *x = lanes_get(s, v, cast->operand[0]);
    struct build b = build_at(s->p, v);
    struct ir_value *r = x->lane[0];
    for (unsigned i = 1; i < x->count; i++)
        r = build_2(&b, with ? IR_AND : IR_OR, r, x->lane[i]);
    return (v->condition == IR_EQ) == (with != 0) ? r : build_not(&b, r);
}

/* ---- phis ---- */

static struct lanes *lanes_of_phi(struct scalarise *s, struct ir_value *v)
{
    struct lanes *result = lanes_make(s->p, (unsigned)v->type->count);
    for (unsigned i = 0; i < result->count; i++) {
        result->lane[i] = ir_make(s->p->f, IR_PHI, v->type->element, NULL, 0);
        result->lane[i]->line = v->line;
        result->lane[i]->file = v->file;
        ir_insert_before(v, result->lane[i]);
    }
    return result;
}

static void fill_phi(struct scalarise *s, struct ir_value *v)
{
    const struct lanes *result = s->of[v->id];
    for (unsigned k = 0; k < v->operands; k++) {
        const struct lanes *x = lanes_get(s, v->block[k]->last, v->operand[k]);
        for (unsigned i = 0; i < result->count; i++)
            ir_add_incoming(result->lane[i], x->lane[i], v->block[k]);
    }
}

/* ---- what stays ---- */

static struct ir_value *rebuilt(struct scalarise *s, struct ir_value *at, struct ir_value *v)
{
    const struct lanes *x = lanes_get(s, at, v);
    struct build b = build_at(s->p, at);
    return build_vector(&b, x->lane, x->count);
}

/* A load of up to four lanes of at most 32 bits stays one; others are taken apart, and those of private
 * variables, so that these can become values. */
static bool fits_memory(const struct ir_value *v, const struct ir_type *type, const struct ir_value *pointer)
{
    const bool aligned = v->align == 0 || v->align >= type->element->bytes;
    return aligned && pointer->type->space != IR_PRIVATE && type->count <= 4 &&
           (type->element->bits == 32 || type->element->bits == 16);
}

static struct ir_value *pointer_to_lane(struct build *b, struct ir_value *pointer, const struct ir_type *element, unsigned lane)
{
    return lane ? build_gep(b, pointer, element, build_bits(b, ir_int(b->m, 64), lane), 0) : pointer;
}

static uint32_t lane_align(const struct ir_value *v, const struct ir_type *type, unsigned lane)
{
    const uint64_t whole = v->align ? v->align : type->align, at = lane * type->element->bytes;
    const uint64_t low = at ? at & -at : whole;
    return (uint32_t)(low < whole ? low : whole);
}

static struct lanes *lanes_of_load(struct scalarise *s, struct ir_value *v)
{
    struct build b = build_at(s->p, v);
    struct lanes *result = lanes_make(s->p, (unsigned)v->type->count);
    for (unsigned i = 0; i < result->count; i++) {
        result->lane[i] =
            build_load(&b, v->type->element, pointer_to_lane(&b, v->operand[0], v->type->element, i), lane_align(v, v->type, i));
        result->lane[i]->is_volatile = v->is_volatile;
    }
    return result;
}

static void store_lanes(struct scalarise *s, struct ir_value *v)
{
    struct build b = build_at(s->p, v);
    const struct ir_type *type = v->operand[0]->type;
    const struct lanes *x = lanes_get(s, v, v->operand[0]);
    for (unsigned i = 0; i < x->count; i++)
        build_store(&b, x->lane[i], pointer_to_lane(&b, v->operand[1], type->element, i), lane_align(v, type, i))->is_volatile =
            v->is_volatile;
    ir_remove(v);
}

static bool needs_vector(const struct ir_value *v)
{
    return v->op == IR_BUILTIN && v->builtin == IR_B_MATRIX_FMA;
}

/* Visits v; true when scalars took its place (and it goes away). */
static bool scalarise_result(struct scalarise *s, struct ir_value *v)
{
    struct lanes *l;
    if (v->op == IR_SHUFFLE)
        l = lanes_of_shuffle(s, v);
    else if (v->op == IR_INSERT)
        l = lanes_of_insert(s, v);
    else if (v->op == IR_BITCAST)
        l = lanes_of_cast(s, v);
    else if (v->op == IR_PHI)
        l = lanes_of_phi(s, v);
    else if (v->op == IR_LOAD && !fits_memory(v, v->type, v->operand[0]))
        l = lanes_of_load(s, v);
    else if (v->op == IR_LOAD || needs_vector(v))
        return false;
    else
        l = lanes_apart(s, v);
    s->of[v->id] = l;
    return true;
}

static void replace_scalar(struct scalarise *s, const struct ir_value *v, struct ir_value *now)
{
    s->of[v->id] = lanes_make(s->p, 1);
    s->of[v->id]->lane[0] = now;
}

static void scalarise_value(struct scalarise *s, struct ir_value *v)
{
    struct ir_value *now = NULL;
    if (is_vector(v) && scalarise_result(s, v))
        return;
    if (v->op == IR_EXTRACT)
        now = extract(s, v);
    else if (v->op == IR_BITCAST && is_vector(v->operand[0]))
        now = lanes_of_cast(s, v)->lane[0];
    if (now)
        replace_scalar(s, v, now);
    else if (v->op == IR_STORE && is_vector(v->operand[0])) {
        if (fits_memory(v, v->operand[0]->type, v->operand[1]))
            v->operand[0] = rebuilt(s, v, v->operand[0]);
        else
            store_lanes(s, v);
    } else if (needs_vector(v))
        for (unsigned i = 0; i < v->operands; i++)
            v->operand[i] = rebuilt(s, v, v->operand[i]);
}

/* Scalars that took the place of scalars (extracts and casts) reach their uses. */
static struct ir_value *scalarise_follow(struct scalarise *s, struct ir_value *v)
{
    while (!pass_is_value(v) && v->id < s->known && !is_vector(v) && s->of[v->id])
        v = s->of[v->id]->lane[0];
    return v;
}

static void scalarise_blocks(struct scalarise *s, struct ir_block **order, unsigned blocks)
{
    for (unsigned i = 0; i < blocks; i++)
        for (struct ir_value *v = order[i]->first, *next; v; v = next) {
            next = v->next;
            struct ir_value *truth = compare_truths(s, v); /* looks at what its operand was */
            if (truth)
                replace_scalar(s, v, truth);
            for (unsigned k = 0; k < v->operands; k++)
                v->operand[k] = scalarise_follow(s, v->operand[k]);
            if (v->id < s->known && !truth)
                scalarise_value(s, v);
        }
    for (unsigned i = 0; i < blocks; i++)
        for (struct ir_value *v = order[i]->first; v; v = v->next)
            if (v->op == IR_PHI && is_vector(v))
                fill_phi(s, v);
}

static bool has_vectors(const struct ir_function *f)
{
    for (const struct ir_block *b = f->first; b; b = b->next)
        for (const struct ir_value *v = b->first; v; v = v->next) {
            if (is_vector(v))
                return true;
            for (unsigned i = 0; i < v->operands; i++)
                if (is_vector(v->operand[i]))
                    return true;
        }
    return false;
}

bool pass_scalarise(struct pass *p)
{
    if (!has_vectors(p->f))
        return true;
    unsigned blocks;
    struct ir_block **order = pass_order(p, &blocks);
    ir_number(p->f);
    /* New values get ids above those known; they are scalars or stay vectors. */
    struct scalarise s = {.p = p, .known = p->f->next_id};
    s.of = ir_alloc(p->m, s.known * sizeof *s.of);
    if (ir_module_failed(p->m))
        return pass_refuse(p, NULL, "out of memory") != NULL;
    scalarise_blocks(&s, order, blocks);
    for (unsigned i = 0; i < blocks; i++)
        for (struct ir_value *v = order[i]->first, *next; v; v = next) {
            next = v->next;
            for (unsigned k = 0; k < v->operands; k++)
                v->operand[k] = scalarise_follow(&s, v->operand[k]);
            if (v->id < s.known && s.of[v->id])
                ir_remove(v);
        }
    p->changed = true;
    return !p->failed;
}
