/* Vector handlers: arithmetic, bits, compare-select, the execution mask. Included once per host instruction set. */
#include "isa/array_count.h"

#define HANDLER(name) static const struct gpu_op *name(struct gpu_simdgroup *group, const struct gpu_op *op)

/* --- float32 --- */

enum float_way { WAY_FMA, WAY_ADD, WAY_MUL };

/* Host results need care when they are NaN (there is one default NaN) or exactly the smallest normal number (the unrounded result
 * may lie below it and is then flushed): these are left to the plain handler. */
ALWAYS const struct gpu_op *float_op(struct gpu_simdgroup *group, const struct gpu_op *op, enum float_way way, unsigned ka,
                                     unsigned kb, unsigned kc)
{
    const struct lanes a = read_float(group, &op->source[0], ka), b = read_float(group, &op->source[1], kb);
    const struct lanes c = way == WAY_FMA ? read_float(group, &op->source[2], kc) : a;
    struct lanes out;
    uint32_t nan = 0, edge = 0;
    EACH_PART
    {
        const vf x = (vf)a.part[p], y = (vf)b.part[p];
        const vf r = way == WAY_FMA ? vec_fma(x, y, (vf)c.part[p]) : way == WAY_ADD ? x + y : x * y;
        out.part[p] = HOST_FLUSHES ? (vu)r : flush_part((vu)r);
        nan |= vec_fne(r, r);
        edge |= vec_eq((vu)r << 1, vec_all(GPU_MIN_NORMAL32 << 1));
    }
    if (!LIKELY((nan | edge) == 0)) {
        if (edge)
            return op->plain(group, op);
        EACH_PART out.part[p] = vec_select(vec_fne((vf)out.part[p], (vf)out.part[p]), vec_all(GPU_NAN32), out.part[p]);
    }
    if (ka) /* specialised: plain word destinations */
        write_word(group, op->dst_word, &out);
    else
        write_float(group, op, &out);
    return op->next;
}

/* Handlers for the operand kinds worth knowing in advance: W word, S scalar, A = any. */
#define W GPU_WORD
#define S GPU_SCALAR
#define A GPU_NONE
/* clang-format off */
#define FLOAT_TABLE(X) \
    X(FMA, W, W, W) X(FMA, W, S, W) X(FMA, S, W, W) X(FMA, W, W, S) \
    X(FMA, W, S, S) X(FMA, A, A, A) X(ADD, W, W, W) X(ADD, W, S, W) \
    X(ADD, S, W, W) X(ADD, A, A, A) X(MUL, W, W, W) X(MUL, W, S, W) \
    X(MUL, S, W, W) X(MUL, A, A, A)
/* clang-format on */
#define FLOAT_HANDLER(way, a, b, c)                                                                                              \
    HANDLER(float_##way##_##a##b##c)                                                                                             \
    {                                                                                                                            \
        return float_op(group, op, WAY_##way, a, b, c);                                                                          \
    }
FLOAT_TABLE(FLOAT_HANDLER)

static bool plain_kind(const struct gpu_operand *from, unsigned kind)
{
    return from->kind == kind && !from->absolute && !from->negate;
}

static gpu_handler *pick_float(const struct gpu_op *op, enum float_way way)
{
    const unsigned sources = way == WAY_FMA ? 3 : 2;
    static const struct {
        enum float_way way;
        unsigned kind[3];
        gpu_handler *handler;
    } table[] = {
#define FLOAT_ROW(way, a, b, c) {WAY_##way, {a, b, c}, float_##way##_##a##b##c},
        FLOAT_TABLE(FLOAT_ROW)
#undef FLOAT_ROW
    };
    for (size_t i = 0; i < ARRAY_COUNT(table); i++) {
        bool fits = table[i].way == way;
        for (unsigned s = 0; s < sources && fits && table[i].kind[0] != A; s++)
            fits = plain_kind(&op->source[s], table[i].kind[s]) && op->dst_kind == GPU_WORD && !op->inst->saturate;
        if (fits)
            return table[i].handler;
    }
    return NULL;
}

/* --- integer add and multiply-add, results of 32 bits and less --- */

ALWAYS void shifted(struct lanes *value, const struct gpu_op *op)
{
    const unsigned shift = op->inst->shift;
    if (shift >= 5)
        *value = all_lanes(0);
    else
        EACH_PART value->part[p] = value->part[p] << shift;
}

ALWAYS const struct gpu_op *add_op(struct gpu_simdgroup *group, const struct gpu_op *op, unsigned ka, unsigned kb)
{
    const struct lanes a = read_int(group, &op->source[0], ka);
    struct lanes b = read_int(group, &op->source[1], kb), out;
    shifted(&b, op);
    if (!ka && op->inst->subtract)
        EACH_PART out.part[p] = a.part[p] - b.part[p];
    else
        EACH_PART out.part[p] = a.part[p] + b.part[p];
    if (ka)
        write_word(group, op->dst_word, &out);
    else
        write_int(group, op, &out);
    return op->next;
}

HANDLER(add_WW)
{
    return add_op(group, op, W, W);
}
HANDLER(add_WS)
{
    return add_op(group, op, W, S);
}
HANDLER(add_SW)
{
    return add_op(group, op, S, W);
}
HANDLER(add_AA)
{
    return add_op(group, op, A, A);
}

static gpu_handler *pick_add(const struct gpu_op *op)
{
    const unsigned a = op->source[0].kind, b = op->source[1].kind;
    if (op->inst->saturate || op->dst_kind == GPU_PAIR)
        return NULL;
    if (op->dst_kind != GPU_WORD || op->inst->subtract)
        return add_AA;
    return a == W && b == W ? add_WW : a == W && b == S ? add_WS : a == S && b == W ? add_SW : add_AA;
}

ALWAYS const struct gpu_op *multiply_op(struct gpu_simdgroup *group, const struct gpu_op *op, unsigned ka, unsigned kb,
                                        unsigned kc)
{
    const struct lanes a = read_int(group, &op->source[0], ka), b = read_int(group, &op->source[1], kb);
    struct lanes c = read_int(group, &op->source[2], kc), out;
    shifted(&c, op);
    if (!ka && op->inst->subtract)
        EACH_PART out.part[p] = a.part[p] * b.part[p] - c.part[p];
    else
        EACH_PART out.part[p] = a.part[p] * b.part[p] + c.part[p];
    if (ka)
        write_word(group, op->dst_word, &out);
    else
        write_int(group, op, &out);
    return op->next;
}

HANDLER(multiply_WWW)
{
    return multiply_op(group, op, W, W, W);
}
HANDLER(multiply_WSW)
{
    return multiply_op(group, op, W, S, W);
}
HANDLER(multiply_WSS)
{
    return multiply_op(group, op, W, S, S);
}
HANDLER(multiply_AAA)
{
    return multiply_op(group, op, A, A, A);
}

static gpu_handler *pick_multiply(const struct gpu_op *op)
{
    const unsigned a = op->source[0].kind, b = op->source[1].kind, c = op->source[2].kind;
    if (op->inst->saturate || op->dst_kind == GPU_PAIR)
        return NULL;
    if (op->dst_kind != GPU_WORD || op->inst->subtract || a != W || b == GPU_LOW || b == GPU_HIGH)
        return multiply_AAA;
    if (b == W)
        return c == W ? multiply_WWW : multiply_AAA;
    return c == W ? multiply_WSW : c == S ? multiply_WSS : multiply_AAA;
}

/* --- moves and bit operations --- */

HANDLER(move_word)
{
    const struct lanes a = load_word(group, op->source[0].word);
    write_word(group, op->dst_word, &a);
    return op->next;
}

HANDLER(move_any)
{
    const struct lanes a = read_int(group, &op->source[0], A);
    write_int(group, op, &a);
    return op->next;
}

#define BIT_HANDLER(name, expression)                                                                                            \
    HANDLER(name)                                                                                                                \
    {                                                                                                                            \
        const struct lanes a = read_int(group, &op->source[0], A), b = read_int(group, &op->source[1], A);                       \
        struct lanes out;                                                                                                        \
        EACH_PART out.part[p] = expression;                                                                                      \
        write_int(group, op, &out);                                                                                              \
        return op->next;                                                                                                         \
    }
BIT_HANDLER(bits_and, a.part[p] & b.part[p])
BIT_HANDLER(bits_or, a.part[p] | b.part[p])
BIT_HANDLER(bits_xor, a.part[p] ^ b.part[p])
BIT_HANDLER(bits_nand, ~(a.part[p] & b.part[p]))
BIT_HANDLER(bits_nor, ~(a.part[p] | b.part[p]))
BIT_HANDLER(bits_xnor, ~(a.part[p] ^ b.part[p]))
BIT_HANDLER(bits_and_not, a.part[p] & ~b.part[p])

HANDLER(bits_not)
{
    struct lanes a = read_int(group, &op->source[0], A);
    EACH_PART a.part[p] = ~a.part[p];
    write_int(group, op, &a);
    return op->next;
}

static gpu_handler *pick_bitop(const struct gpu_op *op)
{
    switch (op->inst->truth) { /* bit a + 2b */
    case 10:
    case 12:
    case 3: return op->dst_kind == GPU_WORD && op->source[0].kind == GPU_WORD ? move_word : move_any;
    case 8: return bits_and;
    case 14: return bits_or;
    case 6: return bits_xor;
    case 7: return bits_nand;
    case 1: return bits_nor;
    case 9: return bits_xnor;
    case 2: return bits_and_not;
    case 5: return bits_not;
    default: return NULL;
    }
}

/* Shifts that give 0 from 32 up. */
ALWAYS vu left(vu value, vu by)
{
    return (vu)(by < 32) & value << (by & 31);
}

ALWAYS vu right(vu value, vu by)
{
    return (vu)(by < 32) & value >> (by & 31);
}

#define FIELD_HANDLER(name, expression)                                                                                          \
    HANDLER(name)                                                                                                                \
    {                                                                                                                            \
        const struct lanes a = read_int(group, &op->source[0], A), b = read_int(group, &op->source[1], A);                       \
        const struct lanes by = read_int(group, &op->source[2], A);                                                              \
        const unsigned bits = op->inst->field_bits;                                                                              \
        const vu mask = vec_all(bits == 0 || bits >= 32 ? UINT32_MAX : (1U << bits) - 1);                                        \
        struct lanes out;                                                                                                        \
        EACH_PART                                                                                                                \
        {                                                                                                                        \
            const vu x = a.part[p], y = b.part[p], c = by.part[p] & 0x7f;                                                        \
            out.part[p] = expression;                                                                                            \
        }                                                                                                                        \
        write_int(group, op, &out);                                                                                              \
        return op->next;                                                                                                         \
    }
FIELD_HANDLER(field_insert, (x & ~left(mask, c)) | left(y & mask, c))
FIELD_HANDLER(field_extract, (x & ~mask) | (right(y, c) & mask))
/* B above A, 64 bits: amounts that do not apply wrap to large ones and give 0. */
FIELD_HANDLER(field_funnel, (right(x, c) | left(y, 32 - c) | right(y, c - 32)) & mask)

HANDLER(shift_signed)
{
    struct gpu_operand from = op->source[0];
    from.sign_extend = true;
    const struct lanes a = read_int(group, &from, A), by = read_int(group, &op->source[1], A);
    struct lanes out;
    EACH_PART
    {
        const vu c = by.part[p] & 0x7f;
        out.part[p] = (vu)((vi)a.part[p] >> (vi)vec_choose((vu)(c < 32), c, vec_all(31)));
    }
    write_int(group, op, &out);
    return op->next;
}

/* --- conditions --- */

/* The bits of all lanes for which an expression in x and y of one part holds. */
#define EACH_HOLDS(type, expression)                                                                                             \
    EACH_PART                                                                                                                    \
    {                                                                                                                            \
        const type x = (type)a.part[p], y = (type)b.part[p];                                                                     \
        holds |= (expression) << (p * PART_LANES % 32);                                                                          \
    }                                                                                                                            \
    break

ALWAYS uint32_t condition_int(const struct gpu_simdgroup *group, const struct gpu_op *op)
{
    struct gpu_operand first = op->source[0], second = op->source[1];
    first.sign_extend = second.sign_extend = op->inst->condition & 4;
    const struct lanes a = read_int(group, &first, A), b = read_int(group, &second, A);
    uint32_t holds = 0;
    switch (op->inst->condition) {
    case AGX_ULT: EACH_HOLDS(vu, vec_lt(x, y));
    case AGX_UGT: EACH_HOLDS(vu, vec_gt(x, y));
    case AGX_SLT: EACH_HOLDS(vi, vec_lt_signed(x, y));
    case AGX_SGT: EACH_HOLDS(vi, vec_gt_signed(x, y));
    default: EACH_HOLDS(vu, vec_eq(x, y));
    }
    return holds;
}

ALWAYS uint32_t condition_float(const struct gpu_simdgroup *group, const struct gpu_op *op)
{
    const struct lanes a = read_float(group, &op->source[0], A), b = read_float(group, &op->source[1], A);
    uint32_t holds = 0;
    switch (op->inst->condition) {
    case AGX_FEQ: EACH_HOLDS(vf, vec_feq(x, y));
    case AGX_FLT: EACH_HOLDS(vf, vec_flt(x, y));
    case AGX_FGT: EACH_HOLDS(vf, vec_fgt(x, y));
    case AGX_FGE: EACH_HOLDS(vf, vec_fge(x, y));
    case AGX_FLE: EACH_HOLDS(vf, vec_fle(x, y));
    case AGX_FLTN: EACH_HOLDS(vf, vec_flt(x, y) | vec_fne(y, y));
    default: EACH_HOLDS(vf, vec_fgt(x, y) | vec_fne(y, y));
    }
    return holds;
}
#undef EACH_HOLDS

ALWAYS uint32_t condition(const struct gpu_simdgroup *group, const struct gpu_op *op, bool is_float)
{
    const uint32_t holds = is_float ? condition_float(group, op) : condition_int(group, op);
    return op->inst->invert ? ~holds : holds;
}

ALWAYS const struct gpu_op *select_op(struct gpu_simdgroup *group, const struct gpu_op *op, bool is_float)
{
    const uint32_t holds = condition(group, op, is_float);
    const struct lanes x = read_int(group, &op->source[2], A), y = read_int(group, &op->source[3], A);
    struct lanes out;
    EACH_PART out.part[p] = vec_select(part_bits(holds, p), x.part[p], y.part[p]);
    write_int(group, op, &out);
    return op->next;
}

HANDLER(select_int)
{
    return select_op(group, op, false);
}
HANDLER(select_float)
{
    return select_op(group, op, true);
}

/* --- the nesting counter r0l: all 32 lanes --- */

enum nest_way { NEST_IF, NEST_ELSE, NEST_WHILE, NEST_POP };

ALWAYS const struct gpu_op *nest_op(struct gpu_simdgroup *group, const struct gpu_op *op, enum nest_way way, bool is_float)
{
    const uint32_t holds = way == NEST_POP ? 0 : condition(group, op, is_float);
    const vu n = vec_all(op->inst->nesting), zero = vec_all(0);
    vu *word = (vu *)(void *)group->word[0];
    uint32_t on = 0;
    EACH_PART
    {
        const vu v = word[p] & 0xffff, off = vec_select(part_bits(holds, p), zero, vec_all(1));
        vu next;
        if (way == NEST_IF)
            next = vec_select(vec_eq(v, zero), off, (v + n) & 0xffff);
        else if (way == NEST_ELSE)
            next = vec_select(vec_eq(v, zero), n, vec_select(vec_eq(v, vec_all(1)), off, v));
        else if (way == NEST_WHILE)
            next = vec_select(vec_lt(v, n), off * n, v);
        else
            next = vec_select(vec_gt(v, n), v - n, zero);
        word[p] = (word[p] & 0xffff0000) | next;
        on |= vec_eq(next, zero) << (p * PART_LANES % 32);
    }
    group->mask = on & group->exist;
    return op->next;
}

HANDLER(if_int)
{
    return nest_op(group, op, NEST_IF, false);
}
HANDLER(if_float)
{
    return nest_op(group, op, NEST_IF, true);
}
HANDLER(else_int)
{
    return nest_op(group, op, NEST_ELSE, false);
}
HANDLER(else_float)
{
    return nest_op(group, op, NEST_ELSE, true);
}
HANDLER(while_int)
{
    return nest_op(group, op, NEST_WHILE, false);
}
HANDLER(while_float)
{
    return nest_op(group, op, NEST_WHILE, true);
}
HANDLER(pop)
{
    return nest_op(group, op, NEST_POP, false);
}
#undef W
#undef S
#undef A
