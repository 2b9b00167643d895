/* Constants, and operands of every kind. */
#include "isa/agx/compiler/ir_read_parts.h"

#include "isa/list_grow.h"

#include <string.h>

#define MOST_MEMBERS (IR_ALLOC_MOST / sizeof(struct ir_value *) / 2)

bool ir_push(struct ir_reader *r, struct ir_value *v)
{
    if (!v)
        return false;
    struct ir_value **const grown = list_grow(r->operand, r->operands, &r->operand_room, sizeof *grown);
    if (!grown)
        return ir_read_no_memory(r);
    r->operand = grown;
    r->operand[r->operands++] = v;
    return true;
}

bool ir_push_typed(struct ir_reader *r)
{
    return ir_push(r, ir_read_typed(r));
}

/* ---- aggregates ---- */

static struct ir_value *zero(struct ir_reader *r, const struct ir_type *type)
{
    if (type->kind != IR_VECTOR)
        return ir_constant(r->m, type, 0);
    const size_t from = r->operands;
    for (uint64_t i = 0; i < type->count; i++)
        if (!ir_push(r, ir_constant(r->m, type->element, 0)))
            return NULL;
    r->operands = from;
    return ir_aggregate(r->m, type, r->operand + from, (unsigned)type->count);
}

static bool is_zero(const struct ir_value *v)
{
    return v->op == IR_CONSTANT && v->bits == 0;
}

/* The aggregate of the operands pushed since `from`. */
static struct ir_value *aggregate(struct ir_reader *r, const struct ir_type *type, size_t from)
{
    const size_t count = r->operands - from;
    bool zeros = type->kind != IR_VECTOR, undefined = count != 0;
    for (size_t i = from; i < r->operands; i++) {
        zeros = zeros && is_zero(r->operand[i]);
        undefined = undefined && r->operand[i]->op == IR_UNDEFINED;
    }
    r->operands = from;
    if (undefined)
        return ir_undefined(r->m, type);
    if (zeros)
        return ir_constant(r->m, type, 0);
    return ir_aggregate(r->m, type, r->operand + from, (unsigned)count);
}

static struct ir_value *read_members(struct ir_reader *r, const struct ir_type *type, char close)
{
    const size_t from = r->operands;
    while (!ir_is_sign(r, close)) {
        const size_t i = r->operands - from;
        if (i && !ir_want_sign(r, ','))
            return NULL;
        if (i >= MOST_MEMBERS)
            return ir_read_fail(r, "constants of more than %zu members are not supported", MOST_MEMBERS), NULL;
        if (i >= type->count)
            return ir_read_fail(r, "the constant has more members than its type"), NULL;
        const struct ir_type *const own = ir_read_type(r), *const wanted =
                                                               type->kind == IR_STRUCT ? type->member[i] : type->element;
        if (!own)
            return NULL;
        if (own != wanted)
            return ir_read_fail(r, "member %zu is of another type", i), NULL;
        if (!ir_push(r, ir_read_constant(r, own)))
            return NULL;
    }
    ir_next(r);
    if (r->operands - from != type->count)
        return ir_read_fail(r, "the constant has fewer members than its type"), NULL;
    return aggregate(r, type, from);
}

static struct ir_value *read_bracketed(struct ir_reader *r, const struct ir_type *type)
{
    struct ir_value *v = NULL;
    bool angle = false;
    if (type->kind == IR_ARRAY && ir_take_sign(r, '['))
        return read_members(r, type, ']');
    if (type->kind == IR_VECTOR && ir_take_sign(r, '<'))
        return read_members(r, type, '>');
    if (type->kind == IR_STRUCT) {
        angle = type->packed && ir_take_sign(r, '<');
        if (angle == type->packed && ir_take_sign(r, '{'))
            v = read_members(r, type, '}');
    }
    if (!v)
        return ir_read_fail(r, "the constant does not fit its type"), NULL;
    return !angle || ir_want_sign(r, '>') ? v : NULL;
}

static struct ir_value *read_bytes(struct ir_reader *r, const struct ir_type *type)
{
    size_t length;
    const char *const text = ir_token_text(r, &length);
    if (type->kind != IR_ARRAY || type->element->kind != IR_INT || type->element->bits != 8 || type->count != length)
        return ir_read_fail(r, "the text does not fit its type"), NULL;
    if (length > MOST_MEMBERS)
        return ir_read_fail(r, "constants of more than %zu members are not supported", MOST_MEMBERS), NULL;
    const size_t from = r->operands;
    for (size_t i = 0; i < length; i++)
        if (!ir_push(r, ir_constant(r->m, type->element, (unsigned char)text[i])))
            return NULL;
    ir_next(r);
    return aggregate(r, type, from);
}

/* splat (TYPE VALUE), of clang 19 */
static struct ir_value *read_splat(struct ir_reader *r, const struct ir_type *type)
{
    if (type->kind != IR_VECTOR || !ir_want_sign(r, '('))
        return ir_read_fail(r, "splat makes vectors"), NULL;
    const struct ir_type *const own = ir_read_type(r);
    if (!own)
        return NULL;
    if (own != type->element)
        return ir_read_fail(r, "splat is of another type"), NULL;
    struct ir_value *const v = ir_read_constant(r, own);
    const size_t from = r->operands;
    for (uint64_t i = 0; i < type->count; i++)
        if (!ir_push(r, v))
            return NULL;
    return ir_want_sign(r, ')') ? aggregate(r, type, from) : NULL;
}

/* ---- words ---- */

/* bits(0x...) of a float, address(0x...) of a pointer: as ir_print writes them */
static struct ir_value *read_raw(struct ir_reader *r, const struct ir_type *type, enum ir_kind kind)
{
    uint64_t bits = 0;
    const struct ir_token *const token = &r->place.token;
    if (type->kind != kind || !ir_want_sign(r, '('))
        return ir_read_fail(r, "the constant does not fit its type"), NULL;
    if (token->kind != IR_T_HEX || token->length < 3 || token->length > 18)
        return ir_read_fail(r, "expected hexadecimal digits"), NULL;
    for (size_t i = 2; i < token->length; i++) {
        const char c = token->text[i];
        if ((c < '0' || c > '9') && (c < 'a' || c > 'f'))
            return ir_read_fail(r, "expected hexadecimal digits"), NULL;
        bits = bits << 4 | (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    ir_next(r);
    return ir_want_sign(r, ')') ? ir_constant(r->m, type, bits) : NULL;
}

static struct ir_value *read_word(struct ir_reader *r, const struct ir_type *type)
{
    if (ir_take(r, "undef") || ir_take(r, "poison"))
        return ir_undefined(r->m, type);
    if (ir_take(r, "zeroinitializer") || (type->kind == IR_POINTER && ir_take(r, "null")))
        return zero(r, type);
    if (type->kind == IR_INT && type->bits == 1 && (ir_is(r, "true") || ir_is(r, "false"))) {
        const bool value = ir_is(r, "true");
        ir_next(r);
        return ir_constant(r->m, type, value);
    }
    if (ir_take(r, "splat"))
        return read_splat(r, type);
    if (ir_take(r, "bits"))
        return read_raw(r, type, IR_FLOAT);
    if (ir_take(r, "address"))
        return read_raw(r, type, IR_POINTER);
    return ir_read_expression(r, type);
}

static struct ir_value *read_global_name(struct ir_reader *r, const struct ir_type *type)
{
    size_t length;
    const char *const name = ir_token_text(r, &length);
    void **const item = ir_names_at(&r->globals, name, length);
    struct ir_value *const v = item ? *item : NULL;
    const int shown = (int)(length < 60 ? length : 60);
    if (!v)
        return ir_read_fail(r, "@%.*s is not defined", shown, name), NULL;
    if (v->type != type && !(r->loose && type->kind == IR_POINTER))
        return ir_read_fail(r, "@%.*s is of another type", shown, name), NULL;
    if (v->op == IR_GLOBAL && !r->unused)
        v->note = v; /* used, until the module is whole */
    ir_next(r);
    return v;
}

static struct ir_value *read_constant(struct ir_reader *r, const struct ir_type *type)
{
    if (type->kind == IR_VOID || type->kind == IR_LABEL || type->kind == IR_METADATA)
        return ir_read_fail(r, "a value of this type is not supported"), NULL;
    switch (r->place.token.kind) {
    case IR_T_INTEGER:
    case IR_T_FLOAT:
    case IR_T_HEX: return ir_read_number(r, type);
    case IR_T_BYTES: return read_bytes(r, type);
    case IR_T_GLOBAL: return read_global_name(r, type);
    case IR_T_SIGN: return read_bracketed(r, type);
    case IR_T_WORD: return read_word(r, type);
    default: return ir_read_fail(r, "expected a constant"), NULL;
    }
}

struct ir_value *ir_read_constant(struct ir_reader *r, const struct ir_type *type)
{
    if (r->depth >= IR_READ_DEEPEST)
        return ir_read_fail(r, "constants are nested too deeply"), NULL;
    r->depth++;
    struct ir_value *const v = read_constant(r, type);
    r->depth--;
    return v;
}

/* ---- operands ---- */

/* A value that is used before the line that defines it: a stand-in of its type, which ir_read_body exchanges. */
static struct ir_value *stand_in(struct ir_reader *r, const struct ir_type *type)
{
    struct ir_value *const v = ir_alloc(r->m, sizeof *v);
    if (r->m->failed)
        return ir_read_no_memory(r), NULL;
    v->op = IR_OP_COUNT;
    v->type = type;
    v->line = (uint32_t)r->place.token.line;
    v->name = ir_token_copy(r);
    r->forwards++;
    r->stand_ins++;
    return v;
}

static struct ir_value *read_local(struct ir_reader *r, const struct ir_type *type)
{
    size_t length;
    const char *const name = ir_token_text(r, &length);
    if (!r->f)
        return ir_read_fail(r, "%%%.*s stands outside of functions", (int)(length < 60 ? length : 60), name), NULL;
    void **const item = ir_names_at(&r->locals, name, length);
    if (!item)
        return ir_read_no_memory(r), NULL;
    if (!*item)
        *item = stand_in(r, type);
    struct ir_value *const v = *item;
    if (!v)
        return NULL;
    if (v->type != type)
        return ir_read_fail(r, "%%%.*s is of another type", (int)(length < 60 ? length : 60), name), NULL;
    ir_next(r);
    return v;
}

struct ir_value *ir_read_operand(struct ir_reader *r, const struct ir_type *type)
{
    return r->place.token.kind == IR_T_LOCAL ? read_local(r, type) : ir_read_constant(r, type);
}

struct ir_value *ir_read_typed(struct ir_reader *r)
{
    const struct ir_type *const type = ir_read_type(r);
    return type ? ir_read_operand(r, type) : NULL;
}
