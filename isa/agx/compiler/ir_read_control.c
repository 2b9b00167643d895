/* Ends of blocks, calls, and what is attached to instructions. */
#include "isa/agx/compiler/ir_read_parts.h"

#include "isa/array_count.h"
#include "isa/list_grow.h"

#include <string.h>

/* ---- blocks ---- */

bool ir_push_target(struct ir_reader *r, struct ir_block *b)
{
    struct ir_block **const grown = b ? list_grow(r->target, r->targets, &r->target_room, sizeof *grown) : NULL;
    if (!grown)
        return r->failed ? false : ir_read_no_memory(r);
    r->target = grown;
    r->target[r->targets++] = b;
    return true;
}

bool ir_read_blocks(struct ir_reader *r, struct ir_value *v)
{
    v->block = ir_alloc(r->m, r->targets * sizeof *v->block);
    if (r->m->failed)
        return ir_read_no_memory(r);
    if (r->targets)
        memcpy(v->block, r->target, r->targets * sizeof *v->block);
    v->blocks = (unsigned)r->targets;
    return true;
}

struct ir_block *ir_block_named(struct ir_reader *r)
{
    size_t length;
    const enum ir_token_kind kind = r->place.token.kind;
    const char *const name = ir_token_text(r, &length);
    if (kind != IR_T_LOCAL && kind != IR_T_LABEL)
        return ir_read_fail(r, "expected a block"), NULL;
    void **const item = ir_names_at(&r->blocks, name, length);
    if (!item)
        return ir_read_no_memory(r), NULL;
    if (!*item) {
        const bool numbered = length && *name >= '0' && *name <= '9';
        struct ir_block *const b = ir_add_block(r->f, numbered ? NULL : ir_text(r->m, name, length), NULL);
        if (r->m->failed)
            return ir_read_no_memory(r), NULL;
        *item = b;
    }
    struct ir_block *const b = *item;
    ir_next(r);
    return b;
}

struct ir_block *ir_read_target(struct ir_reader *r)
{
    return ir_want(r, "label") ? ir_block_named(r) : NULL;
}

/* ---- ends ---- */

static struct ir_value *put_end(struct ir_reader *r, enum ir_op op, size_t from)
{
    struct ir_value *const v = ir_put(r, op, ir_void(r->m), from);
    return v && ir_read_blocks(r, v) ? v : NULL;
}

struct ir_value *ir_read_br(struct ir_reader *r, enum ir_op op)
{
    const size_t from = r->operands;
    r->targets = 0;
    if (ir_is(r, "label"))
        return ir_push_target(r, ir_read_target(r)) ? put_end(r, IR_JUMP, from) : NULL;
    if (!ir_push_typed(r) || !ir_want_sign(r, ',') || !ir_push_target(r, ir_read_target(r)) || !ir_want_sign(r, ',') ||
        !ir_push_target(r, ir_read_target(r)))
        return NULL;
    return put_end(r, op, from);
}

struct ir_value *ir_read_switch(struct ir_reader *r, enum ir_op op)
{
    const size_t from = r->operands;
    r->targets = 0;
    if (!ir_push_typed(r) || !ir_want_sign(r, ',') || !ir_push_target(r, ir_read_target(r)) || !ir_want_sign(r, '['))
        return NULL;
    while (!ir_is_sign(r, ']'))
        if (!ir_push_typed(r) || !ir_want_sign(r, ',') || !ir_push_target(r, ir_read_target(r)))
            return NULL;
    ir_next(r);
    return put_end(r, op, from);
}

struct ir_value *ir_read_ret(struct ir_reader *r, enum ir_op op)
{
    const size_t from = r->operands;
    r->targets = 0;
    if (!ir_take(r, "void") && !ir_push_typed(r))
        return NULL;
    return put_end(r, op, from);
}

struct ir_value *ir_read_unreachable(struct ir_reader *r, enum ir_op op)
{
    r->targets = 0;
    return put_end(r, op, r->operands);
}

/* ---- calls ---- */

struct ir_value *ir_no_value(struct ir_reader *r)
{
    return ir_undefined(r->m, ir_void(r->m));
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* The operands pushed since `from` are the variable and the text's global. */
static struct ir_value *annotate(struct ir_reader *r, const char *callee, size_t from)
{
    const size_t count = r->operands - from;
    r->operands = from;
    if (count < 2)
        return ir_read_fail(r, "%.40s has too few operands", callee), NULL;
    struct ir_value *const v = r->operand[from];
    const char *const text = ir_string_of(r, ir_behind_casts(r->operand[from + 1]));
    struct ir_value *const variable = ir_behind_casts(v);
    if (!text || variable->op == IR_OP_COUNT)
        return ir_read_fail(r, "%.40s: the annotation is no text, or stands before its variable", callee), NULL;
    ir_annotate(r, variable, text);
    if (begins(callee, "llvm.var.annotation"))
        return ir_no_value(r);
    if (v->op == IR_GLOBAL) /* used under the name of the annotated value */
        v->note = v;
    return v;
}

/* *align becomes what the attributes of an argument say, or stays. */
static bool read_argument_attributes(struct ir_reader *r, uint64_t *align)
{
    while (ir_is_attribute(r)) {
        if (ir_take(r, "align")) {
            if (!ir_want_number(r, UINT32_C(1) << 31, align))
                return false;
        } else if (!ir_skip_attribute(r)) {
            return false;
        }
    }
    return !r->failed;
}

/* *align: the least alignment of the pointers among the arguments, 1 where one has none; 0 without pointers. */
static bool read_arguments(struct ir_reader *r, uint32_t *align)
{
    *align = 0;
    if (!ir_want_sign(r, '('))
        return false;
    for (bool first = true; !ir_take_sign(r, ')'); first = false) {
        if (!first && !ir_want_sign(r, ','))
            return false;
        const struct ir_type *const type = ir_read_type(r);
        uint64_t stated = 1;
        if (!type || !read_argument_attributes(r, &stated) || !ir_push(r, ir_read_operand(r, type)))
            return false;
        if (type->kind == IR_POINTER && (*align == 0 || stated < *align))
            *align = (uint32_t)stated;
    }
    return true;
}

/* What stands behind the arguments on the same line: attributes, and bundles, which only say what may be assumed. */
static bool skip_call_end(struct ir_reader *r, const char *callee)
{
    while (!r->place.token.first && ir_is_attribute(r))
        if (!ir_skip_attribute(r))
            return false;
    if (!r->place.token.first && ir_is_sign(r, '[')) {
        if (!begins(callee, "llvm.assume"))
            return ir_read_fail(r, "operand bundles are not supported");
        return ir_skip_brackets(r);
    }
    return true;
}

/* The type in front of the callee may be that of the whole function. */
static bool skip_function_type(struct ir_reader *r)
{
    if (!ir_is_sign(r, '('))
        return true;
    const struct ir_place back = r->place;
    for (unsigned depth = 0; r->place.token.kind != IR_T_END;) {
        depth += ir_is_sign(r, '(');
        depth -= ir_is_sign(r, ')');
        ir_next(r);
        if (!depth)
            break;
    }
    r->place = back;
    return ir_skip_brackets(r);
}

static struct ir_value *put_call(struct ir_reader *r, const struct ir_type *type, const char *callee, size_t length, bool fast)
{
    const size_t from = r->operands;
    uint32_t align;
    if (begins(callee, "llvm.var.annotation") || begins(callee, "llvm.ptr.annotation") || begins(callee, "llvm.annotation")) {
        r->unused = true;
        const bool good = read_arguments(r, &align) && skip_call_end(r, callee);
        r->unused = false;
        return good ? annotate(r, callee, from) : NULL;
    }
    void **const item = ir_names_at(&r->globals, callee, length);
    struct ir_value *const function = item ? *item : NULL;
    if (!function || function->op != IR_FUNCTION)
        return ir_read_fail(r, "function @%.80s is not declared", callee), NULL;
    if (!ir_push(r, function) || !read_arguments(r, &align) || !skip_call_end(r, callee))
        return NULL;
    struct ir_value *const v = ir_put(r, IR_CALL, type, from);
    if (v) {
        v->fast = fast;
        v->align = begins(callee, "llvm.mem") && align > 1 ? align : 0;
    }
    return v;
}

struct ir_value *ir_read_call(struct ir_reader *r, enum ir_op op)
{
    (void)op;
    (void)ir_take(r, "call"); /* behind tail, musttail, notail */
    const bool fast = ir_read_flags(r).fast;
    if (!ir_skip_attributes(r))
        return NULL;
    const struct ir_type *const type = ir_read_type(r);
    if (!type || !skip_function_type(r))
        return NULL;
    if (ir_is(r, "asm"))
        return ir_read_fail(r, "inline assembly is not supported"), NULL;
    if (r->place.token.kind != IR_T_GLOBAL)
        return ir_read_fail(r, "calls through pointers are not supported"), NULL;
    const char *const callee = ir_token_copy(r);
    ir_next(r);
    if (begins(callee, "llvm.dbg.") || begins(callee, "llvm.experimental.noalias.scope.decl")) {
        if (!ir_skip_brackets(r) || !skip_call_end(r, callee))
            return NULL;
        return ir_no_value(r);
    }
    return put_call(r, type, callee, strlen(callee), fast);
}

/* TYPE NAME(OPERANDS) [KIND], of our own text */
struct ir_value *ir_read_builtin(struct ir_reader *r, enum ir_op op)
{
    const size_t from = r->operands;
    const bool fast = ir_read_flags(r).fast;
    const struct ir_type *const type = ir_read_type(r);
    unsigned builtin = 0;
    uint32_t align;
    (void)op;
    while (type && builtin < IR_BUILTIN_COUNT && !ir_is(r, ir_builtin_name(builtin)))
        builtin++;
    if (!type || builtin == IR_BUILTIN_COUNT)
        return ir_read_fail(r, "this builtin is not known"), NULL;
    ir_next(r);
    if (!read_arguments(r, &align))
        return NULL;
    struct ir_value *const v = ir_put_builtin(r, (enum ir_builtin)builtin, type, from);
    if (!v)
        return NULL;
    v->fast = fast;
    if (ir_is_sign(r, '[') && !r->place.token.first) {
        uint64_t number;
        ir_next(r);
        if (!ir_want_number(r, UINT32_MAX, &number) || !ir_want_sign(r, ']'))
            return NULL;
        const uint32_t kind = (uint32_t)number;
        return ir_read_list(r, v, &kind, 1) ? v : NULL;
    }
    return v;
}

/* ---- what is attached ---- */

static bool read_place(struct ir_reader *r, struct ir_value *place)
{
    uint64_t line, file;
    if (!ir_want_sign(r, '(') || !ir_want_number(r, UINT32_MAX, &line) || !ir_want_sign(r, ',') ||
        !ir_want_number(r, UINT32_MAX, &file) || !ir_want_sign(r, ')'))
        return false;
    place->note = (void *)(uintptr_t)line;
    place->file = (uint32_t)file;
    return true;
}

static bool named(const struct ir_token *token, const char *name)
{
    return token->length == strlen(name) && memcmp(token->text, name, token->length) == 0;
}

/* !name !12, !name !{...}, !name !DIExpression(...) */
static bool read_metadata(struct ir_reader *r, struct ir_value *v, struct ir_value *place)
{
    const struct ir_token name = r->place.token;
    ir_next(r);
    if (named(&name, "place"))
        return read_place(r, place);
    if (named(&name, "annotation") && ir_is_sign(r, '('))
        return ir_read_quoted(r, &v->annotation);
    const struct ir_token node = r->place.token;
    if (node.kind != IR_T_META)
        return ir_read_fail(r, "expected metadata");
    if (named(&name, "dbg") && node.length && *node.text >= '0' && *node.text <= '9') {
        uint64_t number;
        uint32_t line = 0, file = 0;
        r->place.token.kind = IR_T_INTEGER;
        if (!ir_want_number(r, UINT32_MAX, &number) || !ir_read_location(r, number, &line, &file))
            return false;
        place->note = (void *)(uintptr_t)line;
        place->file = file;
        return true;
    }
    ir_next(r);
    return ir_is_sign(r, '{') || ir_is_sign(r, '(') ? ir_skip_brackets(r) : true;
}

bool ir_read_attached(struct ir_reader *r, struct ir_value *v, struct ir_value *place)
{
    const bool aligned = v->op == IR_LOAD || v->op == IR_STORE || v->op == IR_ALLOCA || v->op == IR_CALL;
    while (ir_take_sign(r, ',')) {
        uint64_t align;
        enum ir_space space;
        if (r->place.token.kind == IR_T_META) {
            if (!read_metadata(r, v, place))
                return false;
        } else if (ir_take(r, "align")) {
            if (!ir_want_number(r, UINT32_C(1) << 31, &align))
                return false;
            if (aligned)
                v->align = (uint32_t)align;
        } else if (v->op == IR_ALLOCA && ir_take(r, "addrspace")) {
            if (!ir_read_space(r, &space))
                return false;
            v->type = ir_pointer(r->m, space);
        } else {
            return ir_read_fail(r, "expected what is attached to an instruction");
        }
    }
    return r->place.token.first || r->place.token.kind == IR_T_END || ir_is_sign(r, '}') ||
           ir_read_fail(r, "something stands behind the instruction");
}
