/* What stands at the head of a function, and global variables. */
#include "isa/agx/compiler/ir_read_parts.h"

#include "isa/list_grow.h"

#include <string.h>

static struct ir_pending *add_pending(struct ir_reader *r)
{
    struct ir_pending *const grown = list_grow(r->pending, r->pendings, &r->pending_room, sizeof *grown);
    if (!grown)
        return ir_read_no_memory(r), NULL;
    r->pending = grown;
    struct ir_pending *const pending = &r->pending[r->pendings++];
    *pending = (struct ir_pending){.place = r->place};
    return pending;
}

bool ir_read_quoted(struct ir_reader *r, const char **text)
{
    if (!ir_want_sign(r, '('))
        return false;
    if (r->place.token.kind != IR_T_STRING)
        return ir_read_fail(r, "expected a text in quotes");
    *text = ir_token_copy(r);
    ir_next(r);
    return ir_want_sign(r, ')');
}

/* Gives a global name its value, once. */
static bool define_global(struct ir_reader *r, const char *name, struct ir_value *v)
{
    void **const item = ir_names_at(&r->globals, name, strlen(name));
    if (!item)
        return ir_read_no_memory(r);
    if (*item)
        return ir_read_fail(r, "@%.60s is defined twice", name);
    *item = v;
    return !r->m->failed || ir_read_no_memory(r);
}

/* ---- arguments ---- */

static bool read_param_attributes(struct ir_reader *r, struct ir_param *param)
{
    while (ir_is_attribute(r)) {
        if (ir_take(r, "byval")) {
            if (!ir_want_sign(r, '(') || !(param->by_value = ir_read_type(r)) || !ir_want_sign(r, ')'))
                return false;
        } else if (ir_take(r, "name")) {
            if (!ir_read_quoted(r, &param->name))
                return false;
        } else if (ir_take(r, "annotation")) {
            if (!ir_read_quoted(r, &param->annotation))
                return false;
        } else if (ir_take(r, "dereferenceable")) {
            if (!ir_want_sign(r, '(') || !ir_want_number(r, UINT64_MAX, &param->reach) || !ir_want_sign(r, ')'))
                return false;
        } else if (ir_is(r, "inalloca") || ir_is(r, "preallocated") || ir_is(r, "swiftself")) {
            return ir_read_fail(r, "this kind of argument is not supported");
        } else if (!ir_skip_attribute(r)) {
            return false;
        }
    }
    return true;
}

#define MOST_PARAMS 4096

static bool read_params(struct ir_reader *r)
{
    r->params = 0;
    r->variadic = false;
    if (!ir_want_sign(r, '('))
        return false;
    while (!ir_take_sign(r, ')')) {
        if (r->params && !ir_want_sign(r, ','))
            return false;
        if (ir_take(r, "...")) {
            r->variadic = true;
            return ir_want_sign(r, ')');
        }
        struct ir_param param = {.type = ir_read_type(r)};
        if (!param.type || !read_param_attributes(r, &param))
            return false;
        if (param.type->kind == IR_VOID || param.type->kind == IR_LABEL || r->params == MOST_PARAMS)
            return ir_read_fail(r, "there are no such arguments");
        if (r->place.token.kind == IR_T_LOCAL) {
            param.local = ir_token_text(r, &param.local_length);
            ir_next(r);
            if (!read_param_attributes(r, &param))
                return false;
        }
        struct ir_param *const grown = list_grow(r->param, r->params, &r->param_room, sizeof *grown);
        if (!grown)
            return ir_read_no_memory(r);
        r->param = grown;
        r->param[r->params++] = param;
    }
    return true;
}

static struct ir_function *add_function(struct ir_reader *r, const char *name, const struct ir_type *result)
{
    const size_t from = r->operands;
    const struct ir_type **const type = ir_alloc(r->m, r->params * sizeof *type);
    if (r->m->failed)
        return ir_read_no_memory(r), NULL;
    r->operands = from;
    for (size_t i = 0; i < r->params; i++)
        type[i] = r->param[i].type;
    struct ir_function *const f = ir_add_function(r->m, name, result, type, (unsigned)r->params);
    for (size_t i = 0; i < r->params && !r->m->failed; i++) {
        struct ir_value *const v = f->argument[i];
        struct ir_param *const kept = ir_alloc(r->m, sizeof *kept);
        if (r->m->failed)
            break;
        *kept = r->param[i];
        f->by_value[i] = kept->by_value;
        v->annotation = kept->annotation;
        v->reach = kept->reach;
        v->name = kept->name;
        if (!v->name && kept->local && kept->local_length && (*kept->local < '0' || *kept->local > '9'))
            v->name = ir_text(r->m, kept->local, kept->local_length);
        v->note = kept; /* until the body is read */
    }
    return r->m->failed ? (ir_read_no_memory(r), NULL) : f;
}

/* ---- the head ---- */

static bool read_numbered(struct ir_reader *r, uint64_t *number)
{
    if (r->place.token.kind != IR_T_META)
        return ir_read_fail(r, "expected a node of metadata");
    r->place.token.kind = IR_T_INTEGER;
    return ir_want_number(r, UINT32_MAX, number);
}

/* !name !12, of which two names say something. */
static bool read_head_metadata(struct ir_reader *r, struct ir_pending *pending)
{
    static const char group[] = "reqd_work_group_size", names[] = "kernel_arg_name";
    const struct ir_token name = r->place.token;
    ir_next(r);
    if (name.length == strlen(group) && memcmp(name.text, group, name.length) == 0) {
        pending->has_group = true;
        return read_numbered(r, &pending->group_node);
    }
    if (name.length == strlen(names) && memcmp(name.text, names, name.length) == 0) {
        pending->has_names = true;
        return read_numbered(r, &pending->names_node);
    }
    if (r->place.token.kind != IR_T_META)
        return ir_read_fail(r, "expected a node of metadata");
    ir_next(r);
    return ir_is_sign(r, '{') && name.length == 0 ? ir_skip_brackets(r) : true;
}

static bool read_group(struct ir_reader *r, uint32_t size[3])
{
    for (unsigned i = 0; i < 3; i++) {
        uint64_t number;
        if (!ir_want_sign(r, i ? ',' : '(') || !ir_want_number(r, UINT32_MAX, &number))
            return false;
        size[i] = (uint32_t)number;
    }
    return ir_want_sign(r, ')');
}

/* Behind the arguments, up to the brace or the next line. */
static bool read_tail(struct ir_reader *r, struct ir_function *f, struct ir_pending *pending, bool defined)
{
    while (defined ? !ir_is_sign(r, '{') : !r->place.token.first && r->place.token.kind != IR_T_END) {
        bool good = true;
        if (r->place.token.kind == IR_T_END || (defined && r->place.token.kind == IR_T_LABEL))
            return ir_read_fail(r, "expected the body of a function");
        if (r->place.token.kind == IR_T_META)
            good = read_head_metadata(r, pending);
        else if (ir_take(r, "group"))
            good = read_group(r, f->group_size);
        else if (ir_take(r, "host"))
            good = ir_read_quoted(r, &f->host_name);
        else if (ir_take(r, "annotation"))
            good = ir_read_quoted(r, &ir_function_value(f)->annotation);
        else if (ir_is(r, "personality") || ir_is(r, "prefix") || ir_is(r, "prologue"))
            good = ir_read_fail(r, "%.*s of functions is not supported", (int)r->place.token.length, r->place.token.text);
        else
            ir_next(r);
        if (!good)
            return false;
    }
    return true;
}

/* A body ends where a brace stands first on its line; it is read once everything else is known. */
static bool skip_body(struct ir_reader *r)
{
    const char *const from = r->place.at;
    const char *p = from;
    while ((p = memchr(p, '\n', (size_t)(r->end - p)))) {
        r->place.line++;
        p++;
        if (p < r->end && *p == '}') {
            r->place.at = p + 1;
            ir_next(r);
            return true;
        }
    }
    return ir_read_fail(r, "the function does not end: no brace stands first on a line");
}

/* Linkage, convention, attributes of the result. */
static bool read_front(struct ir_reader *r, bool *kernel)
{
    struct ir_pending unused = {.annotations = false};
    while (ir_is_attribute(r) || r->place.token.kind == IR_T_META) {
        if (ir_is(r, "spir_kernel"))
            *kernel = true;
        if (!(r->place.token.kind == IR_T_META ? read_head_metadata(r, &unused) : ir_skip_attribute(r)))
            return false;
    }
    return true;
}

static bool is_dropped(const char *name)
{
    return strncmp(name, "llvm.dbg.", 9) == 0 || strcmp(name, "llvm.experimental.noalias.scope.decl") == 0;
}

bool ir_read_function(struct ir_reader *r, bool defined)
{
    bool kernel = false;
    const struct ir_type *const result = read_front(r, &kernel) ? ir_read_type(r) : NULL;
    if (!result)
        return false;
    if (r->place.token.kind != IR_T_GLOBAL)
        return ir_read_fail(r, "expected the name of a function");
    const char *const name = ir_token_copy(r);
    if (is_dropped(name)) {
        ir_skip_line(r);
        return true;
    }
    ir_next(r);
    if (!read_params(r))
        return false;
    struct ir_function *const f = add_function(r, name, result);
    struct ir_pending pending = {.function = f};
    if (!f || !define_global(r, name, ir_function_value(f)) || !read_tail(r, f, &pending, defined))
        return false;
    f->kernel = kernel;
    f->variadic = r->variadic;
    if (!defined) {
        for (unsigned i = 0; i < f->arguments; i++)
            f->argument[i]->note = NULL;
        return true;
    }
    pending.place = r->place;
    struct ir_pending *const kept = add_pending(r);
    if (!kept)
        return false;
    *kept = pending;
    return skip_body(r);
}

/* ---- global variables ---- */

/* Words up to `global` or `constant`. */
static bool read_linkage(struct ir_reader *r, enum ir_space *space, bool *external, bool *constant)
{
    while (!ir_is(r, "global") && !ir_is(r, "constant")) {
        if (ir_is(r, "alias") || ir_is(r, "ifunc") || ir_is(r, "thread_local"))
            return ir_read_fail(r, "%.*s is not supported", (int)r->place.token.length, r->place.token.text);
        *external |= ir_is(r, "external") || ir_is(r, "extern_weak");
        if (ir_take(r, "addrspace")) {
            if (!ir_read_space(r, space))
                return false;
        } else if (!ir_is_attribute(r)) {
            return ir_read_fail(r, "expected a global variable");
        } else if (!ir_skip_attribute(r)) {
            return false;
        }
    }
    *constant = ir_is(r, "constant");
    ir_next(r);
    return true;
}

bool ir_read_global(struct ir_reader *r)
{
    enum ir_space space = IR_PRIVATE;
    bool external = false, constant = false;
    const char *const name = ir_token_copy(r);
    ir_next(r);
    if (!ir_want_sign(r, '='))
        return false;
    if (strcmp(name, "llvm.used") == 0 || strcmp(name, "llvm.compiler.used") == 0) {
        ir_skip_line(r);
        return true;
    }
    if (strcmp(name, "llvm.global_ctors") == 0 || strcmp(name, "llvm.global_dtors") == 0)
        return ir_read_fail(r, "variables that are initialised by code are not supported");
    if (!read_linkage(r, &space, &external, &constant))
        return false;
    const struct ir_type *const held = ir_read_type(r);
    struct ir_pending *const pending = held ? add_pending(r) : NULL;
    if (!pending)
        return false;
    if (held->kind == IR_VOID || held->kind == IR_LABEL || held->kind == IR_METADATA)
        return ir_read_fail(r, "there are no variables of this type");
    struct ir_value *const v = ir_add_global(r->m, name, held, space);
    if (r->m->failed || !define_global(r, name, v))
        return r->failed ? false : ir_read_no_memory(r);
    v->exact = constant;
    pending->global = v;
    pending->annotations = strcmp(name, "llvm.global.annotations") == 0;
    pending->hidden = pending->annotations;
    pending->external = external;
    ir_skip_line(r);
    return true;
}

/* , section "s", align 4, comdat, !dbg !3 */
static bool read_global_tail(struct ir_reader *r, struct ir_value *v, bool *hidden)
{
    while (ir_take_sign(r, ',')) {
        uint64_t align;
        if (ir_take(r, "align")) {
            if (!ir_want_number(r, UINT32_C(1) << 31, &align))
                return false;
            v->align = (uint32_t)align;
        } else if (ir_take(r, "section")) {
            static const char metadata[] = "llvm.metadata";
            const struct ir_token *const token = &r->place.token;
            *hidden |= token->length == strlen(metadata) && memcmp(token->text, metadata, token->length) == 0;
            ir_next(r);
        } else if (r->place.token.kind == IR_T_META) {
            const bool own = r->place.token.length == 10 && memcmp(r->place.token.text, "annotation", 10) == 0;
            ir_next(r);
            if (own && ir_is_sign(r, '(')) {
                if (!ir_read_quoted(r, &v->annotation))
                    return false;
            } else {
                ir_next(r);
            }
        } else {
            ir_next(r);
            if (r->place.token.kind == IR_T_STRING)
                ir_next(r);
            else if (ir_is_sign(r, '(') && !ir_skip_brackets(r))
                return false;
        }
    }
    return !r->failed &&
           (r->place.token.first || r->place.token.kind == IR_T_END || ir_read_fail(r, "something stands behind the variable"));
}

bool ir_read_initial(struct ir_reader *r, const struct ir_pending *pending)
{
    struct ir_value *const v = pending->global;
    bool hidden = pending->hidden;
    r->place = pending->place;
    r->loose = r->unused = pending->annotations;
    if (!pending->external) {
        v->initial = ir_read_constant(r, v->held);
        if (!v->initial)
            return false;
        if (v->initial->op == IR_UNDEFINED)
            v->initial = NULL;
    }
    r->loose = r->unused = false;
    if (!read_global_tail(r, v, &hidden))
        return false;
    r->pending[pending - r->pending].hidden = hidden;
    return true;
}
