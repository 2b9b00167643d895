/* A module from its text, in two passes: everything that has a name first, then initial values and bodies. */
#include "isa/agx/compiler/ir_read_parts.h"

#include <stdlib.h>
#include <string.h>

/* ---- the first pass ---- */

/* %name = type ... */
static bool note_type(struct ir_reader *r)
{
    size_t length;
    const char *const name = ir_token_text(r, &length);
    void **const item = ir_names_at(&r->types, name, length);
    struct ir_named_type *const named = ir_alloc(r->m, sizeof *named);
    if (!item || r->m->failed)
        return ir_read_no_memory(r);
    if (*item)
        return ir_read_fail(r, "a type is defined twice");
    *item = named;
    ir_next(r);
    if (!ir_want_sign(r, '=') || !ir_want(r, "type"))
        return false;
    named->body = r->place;
    ir_skip_line(r);
    return true;
}

/* target triple = "...": sizes and address spaces are those of spir64 */
static bool check_target(struct ir_reader *r)
{
    ir_next(r);
    const bool triple = ir_take(r, "triple");
    if (triple) {
        if (!ir_want_sign(r, '='))
            return false;
        const struct ir_token *const token = &r->place.token;
        if (token->length < 6 || memcmp(token->text, "spir64", 6) != 0)
            return ir_read_fail(r, "the text is for another target than spir64");
    }
    ir_skip_line(r);
    return true;
}

static bool note_metadata(struct ir_reader *r)
{
    const struct ir_token *const token = &r->place.token;
    if (token->length && *token->text >= '0' && *token->text <= '9')
        return ir_note_node(r);
    const bool file = token->length == 4 && memcmp(token->text, "file", 4) == 0;
    if (file) { /* of our own text */
        ir_next(r);
        if (token->kind == IR_T_STRING)
            ir_module_add_file(r->m, ir_token_copy(r));
    }
    ir_skip_line(r);
    return true;
}

static bool read_item(struct ir_reader *r)
{
    switch (r->place.token.kind) {
    case IR_T_LOCAL: return note_type(r);
    case IR_T_GLOBAL: return ir_read_global(r);
    case IR_T_META: return note_metadata(r);
    case IR_T_WORD: break;
    default: return ir_read_fail(r, "expected a definition");
    }
    if (ir_take(r, "define"))
        return ir_read_function(r, true);
    if (ir_take(r, "declare"))
        return ir_read_function(r, false);
    if (ir_is(r, "target"))
        return check_target(r);
    if (ir_is(r, "source_filename") || ir_is(r, "attributes") || ir_is(r, "uselistorder") || *r->place.token.text == '$') {
        ir_skip_line(r);
        return true;
    }
    if (ir_is(r, "module"))
        return ir_read_fail(r, "assembly of a module is not supported");
    return ir_read_fail(r, "expected a definition");
}

/* ---- the second pass ---- */

static void apply_annotation(struct ir_reader *r, struct ir_value *v, const char *text)
{
    static const char host[] = "host_name=";
    ir_annotate(r, v, text);
    const struct ir_value *const aim = v->op == IR_GLOBAL && v->initial ? v->initial : v;
    if (aim->op != IR_FUNCTION)
        return;
    if (strncmp(text, host, strlen(host)) == 0)
        aim->function->host_name = text + strlen(host);
    else if (v == aim && strcmp(text, "kernel") == 0)
        aim->function->kernel = true;
}

/* llvm.global.annotations: structures of what is annotated, the text, and more that does not matter */
static bool apply_annotations(struct ir_reader *r, const struct ir_value *list)
{
    for (unsigned i = 0; list && i < list->operands; i++) {
        const struct ir_value *const entry = list->operand[i];
        if (entry->op != IR_AGGREGATE || entry->operands < 2)
            return ir_read_fail(r, "an annotation is not understood");
        const char *const text = ir_string_of(r, entry->operand[1]);
        if (!text)
            return ir_read_fail(r, "an annotation is no text");
        if (entry->operand[0]->op == IR_GLOBAL || entry->operand[0]->op == IR_FUNCTION)
            apply_annotation(r, entry->operand[0], text);
    }
    return true;
}

static void unlink_global(struct ir_module *m, struct ir_value *v)
{
    *(v->previous ? &v->previous->next : &m->first_global) = v->next;
    *(v->next ? &v->next->previous : &m->last_global) = v->previous;
    v->next = v->previous = NULL;
}

static bool read_function_metadata(struct ir_reader *r, const struct ir_pending *pending)
{
    return (!pending->has_group || ir_read_group_size(r, pending->group_node, pending->function->group_size)) &&
           (!pending->has_names || ir_read_argument_names(r, pending->names_node, pending->function));
}

static bool read_rest(struct ir_reader *r)
{
    for (size_t i = 0; i < r->pendings; i++)
        if (r->pending[i].global && !ir_read_initial(r, &r->pending[i]))
            return false;
    for (size_t i = 0; i < r->pendings; i++)
        if (r->pending[i].annotations && !apply_annotations(r, r->pending[i].global->initial))
            return false;
    for (size_t i = 0; i < r->pendings; i++) {
        const struct ir_pending *const pending = &r->pending[i];
        if (!pending->function)
            continue;
        if (!read_function_metadata(r, pending))
            return false;
        r->place = pending->place;
        if (!ir_read_body(r, pending->function))
            return false;
    }
    for (size_t i = 0; i < r->pendings; i++) {
        const struct ir_pending *const pending = &r->pending[i];
        if (pending->hidden && !pending->global->note)
            unlink_global(r->m, pending->global);
        else if (pending->global)
            pending->global->note = NULL;
    }
    return true;
}

static bool read_module(struct ir_reader *r)
{
    ir_next(r);
    while (r->place.token.kind != IR_T_END)
        if (!read_item(r))
            return false;
    return !r->failed && read_rest(r) && (!r->m->failed || ir_read_no_memory(r));
}

struct ir_module *ir_read(const char *text, size_t bytes, struct isa_error *error)
{
    return ir_read_with_library(text, bytes, NULL, error);
}

struct ir_module *ir_read_with_library(const char *text, size_t bytes, const char *folder, struct isa_error *error)
{
    struct ir_reader r = {.text = text, .end = text + bytes, .library = folder, .error = error, .m = ir_module_create()};
    r.place = (struct ir_place){.at = text, .line = 1, .fresh = true, .token = {.text = text, .start = text}};
    r.types.epoch = r.globals.epoch = r.locals.epoch = r.blocks.epoch = 1;
    *error = (struct isa_error){.line = 0};
    const bool good = r.m ? read_module(&r) : ir_read_no_memory(&r);
    free(r.types.slot);
    free(r.globals.slot);
    free(r.locals.slot);
    free(r.blocks.slot);
    free(r.pending);
    free(r.node);
    free(r.operand);
    free(r.target);
    free(r.listed);
    free(r.param);
    if (good)
        return r.m;
    ir_module_free(r.m);
    return NULL;
}
