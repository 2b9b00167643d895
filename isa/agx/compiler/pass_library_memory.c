/* vload and vstore with their vectors and halves, convert_ and as_: names with parts. */
#include "isa/agx/compiler/pass_library.h"

#include <stdlib.h>
#include <string.h>

#define BUILD &w->b

/* ---- vload, vstore ---- */

struct access {
    bool store, half, aligned; /* vloada_half: three lanes take the room of four */
    unsigned lanes;
    enum { NEAREST_EVEN, TO_ZERO, TO_PLUS, TO_MINUS } rounding;
};

static bool read_access(const char *text, struct access *a)
{
    char *end;
    *a = (struct access){.store = strncmp(text, "vstore", 6) == 0, .lanes = 1};
    text += a->store ? 6 : 5;
    a->aligned = *text == 'a';
    text += a->aligned;
    if (strncmp(text, "_half", 5) == 0) {
        a->half = true;
        text += 5;
    }
    const unsigned long lanes = strtoul(text, &end, 10);
    if (end != text)
        a->lanes = (unsigned)lanes;
    if (strcmp(end, "_rtz") == 0)
        a->rounding = TO_ZERO;
    else if (strcmp(end, "_rtp") == 0)
        a->rounding = TO_PLUS;
    else if (strcmp(end, "_rtn") == 0)
        a->rounding = TO_MINUS;
    else if (*end && strcmp(end, "_rte") != 0)
        return false;
    return a->lanes >= 1 && a->lanes <= 16;
}

static struct ir_value *place(struct library_whole *w, const struct access *a, const struct ir_type *element,
                              struct ir_value *pointer, struct ir_value *index, unsigned lane)
{
    const unsigned room = a->lanes == 3 && a->aligned ? 4 : a->lanes;
    const struct ir_type *i64 = ir_int(w->p->m, 64);
    struct ir_value *at = build_resize(BUILD, index, i64, false);
    at = build_2n(BUILD, IR_ADD, build_2n(BUILD, IR_MUL, at, room), lane);
    return build_gep(BUILD, pointer, element, at, 0);
}

static struct ir_value *to_half(struct library_whole *w, const struct access *a, struct ir_value *x)
{
    const struct ir_type *f16 = ir_float(w->p->m, 16);
    if (x->type->bits == 16)
        return x;
    if (a->rounding != NEAREST_EVEN)
        return lower_directed(BUILD, x, f16, (enum lower_rounding)(a->rounding - TO_ZERO), true);
    return build_convert(BUILD, IR_FPTRUNC, x, f16);
}

struct ir_value *lower_memory(struct library_whole *w)
{
    struct access a;
    if (!read_access(w->call->text, &a) || w->operands != (a.store ? 3U : 2U))
        return NULL;
    const struct ir_type *f16 = ir_float(w->p->m, 16), *type = a.store ? w->operand[0]->type : w->v->type;
    const struct ir_type *scalar = type->kind == IR_VECTOR ? type->element : type, *element = a.half ? f16 : scalar;
    struct ir_value *index = w->operand[a.store], *pointer = w->operand[a.store + 1], *lane[16];
    const uint32_t align = (uint32_t)element->bytes;
    for (unsigned i = 0; i < a.lanes; i++) {
        struct ir_value *at = place(w, &a, element, pointer, index, i);
        if (a.store) {
            struct ir_value *x = type->kind == IR_VECTOR ? build_extract(BUILD, w->operand[0], i) : w->operand[0];
            x = a.half ? to_half(w, &a, x) : x;
            if (!x)
                return NULL;
            build_store(BUILD, x, at, align);
        } else {
            lane[i] = build_convert(BUILD, IR_FPEXT, build_load(BUILD, element, at, align), scalar);
        }
    }
    if (!a.store)
        return type->kind == IR_VECTOR ? build_vector(BUILD, lane, a.lanes) : lane[0];
    ir_remove(w->v);
    return w->v;
}

/* ---- convert ---- */

enum rounding { ROUND_DEFAULT, ROUND_EVEN, ROUND_ZERO, ROUND_UP, ROUND_DOWN };

struct conversion {
    bool to_signed, from_signed, saturate;
    enum rounding rounding;
};

static bool read_conversion(const struct ir_library_call *call, struct conversion *c)
{
    const char *at = call->text + strlen("convert_");
    *c = (struct conversion){.to_signed = *at != 'u', .from_signed = call->parameter[0].is_signed};
    at += strcspn(at, "_");
    if (strncmp(at, "_sat", 4) == 0) {
        c->saturate = true;
        at += 4;
    }
    static const char *const names[] = {"", "_rte", "_rtz", "_rtp", "_rtn"};
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(at, names[i]) == 0) {
            c->rounding = (enum rounding)i;
            return true;
        }
    return false;
}

static struct ir_value *convert_int_to_int(struct library_lane *l, const struct conversion *c)
{
    struct build *b = &l->b;
    const unsigned from = l->x->type->bits, to = l->type->bits;
    struct ir_value *x = l->x;
    if (c->saturate) {
        const uint64_t most = (UINT64_MAX >> (64 - to)) >> c->to_signed;
        const uint64_t from_most = (UINT64_MAX >> (64 - from)) >> c->from_signed;
        if (from_most > most)
            x = build_b2(b, c->from_signed ? IR_B_SMIN : IR_B_UMIN, x, build_like(b, x, most));
        if (c->from_signed && (!c->to_signed || from > to))
            x = build_b2(b, IR_B_SMAX, x, build_like(b, x, c->to_signed ? ~most : 0));
    }
    return build_resize(b, x, l->type, c->from_signed);
}

static struct ir_value *round_float(struct build *b, struct ir_value *x, enum rounding rounding)
{
    switch (rounding) {
    case ROUND_EVEN: return build_b1(b, IR_B_RINT, x);
    case ROUND_UP: return build_b1(b, IR_B_CEIL, x);
    case ROUND_DOWN: return build_b1(b, IR_B_FLOOR, x);
    default: return x;
    }
}

/* Saturation is done in floating point where the limits are numbers there, else by comparing with the next larger one. */
static struct ir_value *convert_float_to_int(struct library_lane *l, const struct conversion *c)
{
    struct build *b = &l->b;
    const unsigned to = l->type->bits;
    struct ir_value *x = build_convert(b, IR_FPEXT, l->x, ir_float(l->p->m, 32));
    x = round_float(b, x, c->rounding);
    struct ir_value *r = build_any(b, c->to_signed ? IR_FPTOSI : IR_FPTOUI, l->type, &x, 1);
    if (!c->saturate)
        return r;
    const uint64_t most = (UINT64_MAX >> (64 - to)) >> c->to_signed;
    float limit = 1;
    for (unsigned i = c->to_signed; i < to; i++)
        limit *= 2;
    struct ir_value *high = build_fcmp(b, IR_OGE, x, build_f32(b, limit));
    struct ir_value *low = build_fcmp(b, IR_OLT, x, build_f32(b, c->to_signed ? -limit : 0));
    r = build_select(b, high, build_like(b, r, most), r);
    r = build_select(b, low, build_like(b, r, c->to_signed ? ~most : 0), r);
    return build_select(b, build_fcmp(b, IR_UNO, x, x), build_like(b, r, 0), r);
}

static struct ir_value *convert_to_float(struct library_lane *l, const struct conversion *c)
{
    /* From numbers that all fit nothing is rounded. */
    const unsigned significand = l->type->bits == 16 ? 11 : 24;
    const bool fits = l->x->type->kind == IR_FLOAT ? l->x->type->bits <= l->type->bits : l->x->type->bits <= significand;
    if (c->rounding > ROUND_EVEN && !fits)
        return lower_directed(&l->b, l->x, l->type, (enum lower_rounding)(c->rounding - ROUND_ZERO), c->from_signed);
    if (l->x->type->kind == IR_FLOAT)
        return l->x->type->bits == l->type->bits
                   ? l->x
                   : build_convert(&l->b, l->x->type->bits < l->type->bits ? IR_FPEXT : IR_FPTRUNC, l->x, l->type);
    return build_any(&l->b, c->from_signed ? IR_SITOFP : IR_UITOFP, l->type, &l->x, 1);
}

static struct ir_value *convert_one(struct library_lane *l, unsigned code)
{
    const struct conversion c = {code & 1, code >> 1 & 1, code >> 2 & 1, (enum rounding)(code >> 3)};
    if (l->type->kind == IR_FLOAT)
        return convert_to_float(l, &c);
    return l->x->type->kind == IR_FLOAT ? convert_float_to_int(l, &c) : convert_int_to_int(l, &c);
}

struct ir_value *lower_convert(struct library_whole *w)
{
    struct conversion c;
    if (w->operands != 1)
        return NULL;
    if (strncmp(w->call->text, "as_", 3) == 0)
        return build_convert(BUILD, IR_BITCAST, w->operand[0], w->v->type);
    if (!read_conversion(w->call, &c))
        return NULL;
    const unsigned code = c.to_signed | c.from_signed << 1 | c.saturate << 2 | (unsigned)c.rounding << 3;
    return lower_lanes(w, w->v->type, c.from_signed, convert_one, code);
}
