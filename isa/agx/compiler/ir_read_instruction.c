/* One instruction: what it computes, its name, what is attached to it. */
#include "isa/agx/compiler/ir_read_parts.h"

#include "isa/array_count.h"

#include <stdlib.h>
#include <string.h>

/* ---- parts ---- */

struct ir_flags_read ir_read_flags(struct ir_reader *r)
{
    static const char *const skipped[] = {"nsw",  "exact", "inbounds", "nusw", "nneg", "disjoint", "samesign",
                                          "nnan", "ninf",  "nsz",      "arcp", "afn",  "reassoc",  "inrange"};
    struct ir_flags_read flags = {.fast = false};
    for (bool more = true; more;) {
        more = false;
        if (ir_take(r, "fast") || ir_take(r, "contract"))
            flags.fast = more = true;
        else if (ir_take(r, "nuw"))
            flags.exact = more = true;
        for (unsigned i = 0; i < ARRAY_COUNT(skipped) && !more; i++)
            more = ir_take(r, skipped[i]);
        if (more && ir_is_sign(r, '(')) /* inrange(-16, 16) of clang 19 */
            break;
    }
    return flags;
}

bool ir_read_condition(struct ir_reader *r, bool real, uint8_t *condition)
{
    static const char *const integers[] = {"eq", "ne", "ugt", "uge", "ult", "ule", "sgt", "sge", "slt", "sle"};
    static const char *const reals[] = {"false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord",
                                        "uno",   "ueq", "ugt", "uge", "ult", "ule", "une", "true"};
    const unsigned count = real ? ARRAY_COUNT(reals) : ARRAY_COUNT(integers);
    for (unsigned i = 0; i < count; i++) {
        if (ir_take(r, real ? reals[i] : integers[i])) {
            *condition = (uint8_t)(i + (real ? IR_FALSE : IR_EQ));
            return true;
        }
    }
    return ir_read_fail(r, "expected a condition");
}

bool ir_read_list(struct ir_reader *r, struct ir_value *v, const uint32_t *list, size_t count)
{
    v->list = ir_alloc(r->m, count * sizeof *list);
    if (r->m->failed)
        return ir_read_no_memory(r);
    memcpy(v->list, list, count * sizeof *list);
    v->lists = (unsigned)count;
    return true;
}

const struct ir_type *ir_gep_type(struct ir_reader *r, size_t from)
{
    const struct ir_type *const base = r->operand[from]->type;
    if (base->kind == IR_VECTOR)
        return base;
    for (size_t i = from + 1; i < r->operands; i++)
        if (r->operand[i]->type->kind == IR_VECTOR)
            return ir_vector(r->m, base, r->operand[i]->type->count);
    return base;
}

const struct ir_type *ir_truth_type(struct ir_reader *r, const struct ir_type *compared)
{
    const struct ir_type *const one = ir_int(r->m, 1);
    return compared->kind == IR_VECTOR ? ir_vector(r->m, one, compared->count) : one;
}

/* Until the function is whole, `line` is the line of the text and `note` holds that of the source. */
static struct ir_value *put(struct ir_reader *r, struct ir_value *v, size_t from)
{
    r->operands = from;
    if (r->m->failed)
        return ir_read_no_memory(r), NULL;
    v->line = (uint32_t)r->line.line;
    struct ir_block *const entry = r->listeds ? r->listed[0] : r->block;
    if (!r->hoist)
        ir_append(r->block, v);
    else if (entry->last && ir_op_kind(entry->last->op) == IR_KIND_END)
        ir_insert_before(entry->last, v);
    else
        ir_append(entry, v);
    return v;
}

struct ir_value *ir_put(struct ir_reader *r, enum ir_op op, const struct ir_type *type, size_t from)
{
    return put(r, ir_make(r->f, op, type, r->operand + from, (unsigned)(r->operands - from)), from);
}

struct ir_value *ir_put_builtin(struct ir_reader *r, enum ir_builtin builtin, const struct ir_type *type, size_t from)
{
    return put(r, ir_make_builtin(r->f, builtin, type, r->operand + from, (unsigned)(r->operands - from)), from);
}

/* ---- arithmetic ---- */

static struct ir_value *read_binary(struct ir_reader *r, enum ir_op op)
{
    const size_t from = r->operands;
    const struct ir_flags_read flags = ir_read_flags(r);
    const struct ir_type *const type = ir_read_type(r);
    if (!type || !ir_push(r, ir_read_operand(r, type)) || !ir_want_sign(r, ',') || !ir_push(r, ir_read_operand(r, type)))
        return NULL;
    struct ir_value *const v = ir_put(r, op, type, from);
    if (v) {
        v->fast = flags.fast;
        v->exact = flags.exact;
    }
    return v;
}

static struct ir_value *read_compare(struct ir_reader *r, enum ir_op op)
{
    const size_t from = r->operands;
    uint8_t condition;
    struct ir_flags_read flags = ir_read_flags(r);
    if (!ir_read_condition(r, op == IR_FCMP, &condition))
        return NULL;
    const struct ir_type *const type = ir_read_type(r);
    if (!type || !ir_push(r, ir_read_operand(r, type)) || !ir_want_sign(r, ',') || !ir_push(r, ir_read_operand(r, type)))
        return NULL;
    struct ir_value *const v = ir_put(r, op, ir_truth_type(r, type), from);
    if (v) {
        v->condition = condition;
        v->fast = flags.fast;
    }
    return v;
}

static struct ir_value *read_convert(struct ir_reader *r, enum ir_op op)
{
    const size_t from = r->operands;
    const struct ir_flags_read flags = ir_read_flags(r);
    if (!ir_push_typed(r) || !ir_want(r, "to"))
        return NULL;
    const struct ir_type *const type = ir_read_type(r);
    if (!type)
        return NULL;
    /* Clang 16 writes a bitcast for some conversions to the generic space. */
    const bool pointers = type->kind == IR_POINTER && r->operand[from]->type->kind == IR_POINTER;
    struct ir_value *const v = ir_put(r, pointers ? IR_SPACECAST : op, type, from);
    if (v)
        v->fast = flags.fast;
    return v;
}

/* Operands with types, separated by commas; `count` of them. */
static struct ir_value *read_operands(struct ir_reader *r, enum ir_op op, unsigned count, unsigned typed_as)
{
    const size_t from = r->operands;
    const struct ir_flags_read flags = ir_read_flags(r);
    for (unsigned i = 0; i < count; i++)
        if ((i && !ir_want_sign(r, ',')) || !ir_push_typed(r))
            return NULL;
    struct ir_value *const v = ir_put(r, op, r->operand[from + typed_as]->type, from);
    if (v)
        v->fast = flags.fast;
    return v;
}

static struct ir_value *read_unary(struct ir_reader *r, enum ir_op op)
{
    return read_operands(r, op, 1, 0);
}

static struct ir_value *read_three(struct ir_reader *r, enum ir_op op) /* select, and our fma */
{
    return read_operands(r, op, 3, 1);
}

/* ---- vectors and aggregates ---- */

static struct ir_value *read_element(struct ir_reader *r, enum ir_op op)
{
    const size_t from = r->operands;
    const unsigned count = op == IR_INSERT ? 3 : 2;
    for (unsigned i = 0; i < count; i++)
        if ((i && !ir_want_sign(r, ',')) || !ir_push_typed(r))
            return NULL;
    const struct ir_type *const whole = r->operand[from]->type;
    if (whole->kind != IR_VECTOR)
        return ir_read_fail(r, "%s: the first operand is no vector", ir_op_name(op)), NULL;
    return ir_put(r, op, op == IR_INSERT ? whole : whole->element, from);
}

/* The lanes that a constant vector names. */
static bool lanes_of(struct ir_reader *r, const struct ir_value *mask, uint32_t *list)
{
    const uint64_t count = mask->type->count;
    for (uint64_t i = 0; i < count; i++) {
        const struct ir_value *const lane = mask->op == IR_AGGREGATE ? mask->operand[i] : mask;
        if (lane->op != IR_CONSTANT && lane->op != IR_UNDEFINED)
            return ir_read_fail(r, "the lanes of a shuffle are no numbers");
        list[i] = lane->op == IR_UNDEFINED ? IR_NO_LANE : (uint32_t)lane->bits;
    }
    return true;
}

static struct ir_value *read_shuffle(struct ir_reader *r, enum ir_op op)
{
    const size_t from = r->operands;
    uint32_t list[IR_READ_MOST_LANES];
    if (!ir_push_typed(r) || !ir_want_sign(r, ',') || !ir_push_typed(r) || !ir_want_sign(r, ','))
        return NULL;
    const struct ir_type *const type = ir_read_type(r);
    if (!type)
        return NULL;
    if (type->kind != IR_VECTOR || r->operand[from]->type->kind != IR_VECTOR)
        return ir_read_fail(r, "shufflevector takes vectors"), NULL;
    const struct ir_value *const mask = ir_read_constant(r, type);
    if (!mask || !lanes_of(r, mask, list))
        return NULL;
    struct ir_value *const v = ir_put(r, op, ir_vector(r->m, r->operand[from]->type->element, type->count), from);
    return v && ir_read_list(r, v, list, (size_t)type->count) ? v : NULL;
}

#define MOST_INDICES 32

static struct ir_value *read_member(struct ir_reader *r, enum ir_op op)
{
    const size_t from = r->operands;
    uint32_t list[MOST_INDICES];
    size_t count = 0;
    if (!ir_push_typed(r) || (op == IR_INSERT_VALUE && (!ir_want_sign(r, ',') || !ir_push_typed(r))))
        return NULL;
    const struct ir_type *type = r->operand[from]->type;
    for (struct ir_place back = r->place; ir_take_sign(r, ','); back = r->place) {
        uint64_t index;
        if (r->place.token.kind == IR_T_META) {
            r->place = back;
            break;
        }
        if (count == MOST_INDICES)
            return ir_read_fail(r, "%s has too many indices", ir_op_name(op)), NULL;
        if (!ir_want_number(r, UINT32_MAX, &index))
            return NULL;
        if ((type->kind != IR_STRUCT && type->kind != IR_ARRAY) || index >= type->count)
            return ir_read_fail(r, "%s leads out of its type", ir_op_name(op)), NULL;
        type = type->kind == IR_STRUCT ? type->member[index] : type->element;
        list[count++] = (uint32_t)index;
    }
    struct ir_value *const v = ir_put(r, op, op == IR_INSERT_VALUE ? r->operand[from]->type : type, from);
    return v && ir_read_list(r, v, list, count) ? v : NULL;
}

/* ---- a whole line ---- */

struct operation {
    const char *name;
    enum ir_op op;
    ir_read_instruction *read;
};
/* In alphabetical order. */
static const struct operation operations[] = {
    {"add", IR_ADD, read_binary},
    {"addrspacecast", IR_SPACECAST, read_convert},
    {"alloca", IR_ALLOCA, ir_read_alloca},
    {"and", IR_AND, read_binary},
    {"ashr", IR_ASHR, read_binary},
    {"atomicrmw", IR_BUILTIN, ir_read_rmw},
    {"bitcast", IR_BITCAST, read_convert},
    {"br", IR_BRANCH, ir_read_br},
    {"builtin", IR_BUILTIN, ir_read_builtin},
    {"call", IR_CALL, ir_read_call},
    {"cmpxchg", IR_BUILTIN, ir_read_cmpxchg},
    {"extractelement", IR_EXTRACT, read_element},
    {"extractvalue", IR_EXTRACT_VALUE, read_member},
    {"fadd", IR_FADD, read_binary},
    {"fcmp", IR_FCMP, read_compare},
    {"fdiv", IR_FDIV, read_binary},
    {"fence", IR_BUILTIN, ir_read_fence},
    {"fma", IR_FMA, read_three},
    {"fmul", IR_FMUL, read_binary},
    {"fneg", IR_FNEG, read_unary},
    {"fpext", IR_FPEXT, read_convert},
    {"fptosi", IR_FPTOSI, read_convert},
    {"fptoui", IR_FPTOUI, read_convert},
    {"fptrunc", IR_FPTRUNC, read_convert},
    {"freeze", IR_FREEZE, read_unary},
    {"frem", IR_FREM, read_binary},
    {"fsub", IR_FSUB, read_binary},
    {"getelementptr", IR_GEP, ir_read_gep},
    {"icmp", IR_ICMP, read_compare},
    {"insertelement", IR_INSERT, read_element},
    {"insertvalue", IR_INSERT_VALUE, read_member},
    {"inttoptr", IR_INTTOPTR, read_convert},
    {"load", IR_LOAD, ir_read_load},
    {"lshr", IR_LSHR, read_binary},
    {"mul", IR_MUL, read_binary},
    {"musttail", IR_CALL, ir_read_call},
    {"notail", IR_CALL, ir_read_call},
    {"or", IR_OR, read_binary},
    {"phi", IR_PHI, ir_read_phi},
    {"ptrtoint", IR_PTRTOINT, read_convert},
    {"ret", IR_RETURN, ir_read_ret},
    {"sdiv", IR_SDIV, read_binary},
    {"select", IR_SELECT, read_three},
    {"sext", IR_SEXT, read_convert},
    {"shl", IR_SHL, read_binary},
    {"shufflevector", IR_SHUFFLE, read_shuffle},
    {"sitofp", IR_SITOFP, read_convert},
    {"srem", IR_SREM, read_binary},
    {"store", IR_STORE, ir_read_store},
    {"sub", IR_SUB, read_binary},
    {"switch", IR_SWITCH, ir_read_switch},
    {"tail", IR_CALL, ir_read_call},
    {"trunc", IR_TRUNC, read_convert},
    {"udiv", IR_UDIV, read_binary},
    {"uitofp", IR_UITOFP, read_convert},
    {"unreachable", IR_UNREACHABLE, ir_read_unreachable},
    {"urem", IR_UREM, read_binary},
    {"xor", IR_XOR, read_binary},
    {"zext", IR_ZEXT, read_convert},
};

static int compare_word(const void *key, const void *item)
{
    const struct ir_token *const token = key;
    const char *const name = ((const struct operation *)item)->name;
    const int order = strncmp(token->text, name, token->length);
    return order ? order : name[token->length] ? -1 : 0;
}

static struct ir_value *read_operation(struct ir_reader *r)
{
    const struct ir_token word = r->place.token;
    if (word.kind != IR_T_WORD)
        return ir_read_fail(r, "expected an instruction"), NULL;
    const struct operation *const found = bsearch(&word, operations, ARRAY_COUNT(operations), sizeof *operations, compare_word);
    if (!found)
        return ir_read_fail(r, "instruction %.*s is not supported", (int)(word.length < 40 ? word.length : 40), word.text), NULL;
    if (!r->block)
        return ir_read_fail(r, "an instruction stands behind the end of its block; expected a label"), NULL;
    ir_next(r);
    return found->read(r, found->op);
}

/* The place in the source, for all that the line made. */
static void spread_place(struct ir_block *b, struct ir_value *before, const struct ir_value *v)
{
    const uintptr_t line = (uintptr_t)v->note;
    const uint32_t file = v->file;
    for (struct ir_value *made = before ? before->next : b->first; made && line; made = made->next) {
        made->note = (void *)line;
        made->file = file;
    }
}

bool ir_read_line(struct ir_reader *r)
{
    const char *name = NULL;
    size_t length = 0;
    r->line = r->place.token;
    if (r->place.token.kind == IR_T_GROUP) { /* #dbg_value(...) of clang 19 */
        ir_skip_line(r);
        return true;
    }
    if (r->place.token.kind == IR_T_LOCAL) {
        name = ir_token_text(r, &length);
        ir_next(r);
        if (!ir_want_sign(r, '='))
            return false;
    }
    struct ir_block *const b = r->block;
    struct ir_value *const before = b ? b->last : NULL;
    struct ir_value *const v = read_operation(r);
    struct ir_value place = {.op = v ? v->op : 0};
    if (!v || !ir_read_attached(r, v, &place))
        return false;
    if (b)
        spread_place(b, before, &place);
    if (ir_op_kind(v->op) == IR_KIND_END)
        r->block = NULL;
    if (v->type->kind == IR_VOID)
        return !name || ir_read_fail(r, "what gives no value has no name");
    return ir_define(r, name, length, v);
}
