/* Metadata: locations, sizes of groups, names of arguments; annotations. A node is read when somebody asks for it. */
#include "isa/agx/compiler/ir_read_parts.h"

#include <stdlib.h>
#include <string.h>

/* ---- nodes ---- */

#define MOST_NODES (UINT32_C(1) << 24)

bool ir_note_node(struct ir_reader *r)
{
    uint64_t number;
    r->place.token.kind = IR_T_INTEGER;
    if (!ir_want_number(r, MOST_NODES, &number) || !ir_is_sign(r, '='))
        return ir_read_fail(r, "expected a node of metadata");
    if (number >= (size_t)(r->end - r->text)) /* numbers have no gaps */
        return ir_read_fail(r, "a node has too large a number");
    if (number >= r->nodes) {
        size_t nodes = r->nodes ? r->nodes : 64;
        while (nodes <= number)
            nodes *= 2;
        struct ir_node *const grown = realloc(r->node, nodes * sizeof *grown);
        if (!grown)
            return ir_read_no_memory(r);
        memset(grown + r->nodes, 0, (nodes - r->nodes) * sizeof *grown);
        r->node = grown;
        r->nodes = nodes;
    }
    r->node[number].body = r->place;
    r->node[number].location = true;
    ir_skip_line(r);
    return true;
}

/* Goes to what stands behind the = of a node. */
static struct ir_node *enter(struct ir_reader *r, uint64_t number)
{
    if (number >= r->nodes || !r->node[number].location)
        return ir_read_fail(r, "metadata !%llu is not defined", (unsigned long long)number), NULL;
    r->place = r->node[number].body;
    ir_next(r);
    (void)ir_take(r, "distinct");
    return &r->node[number];
}

/* ---- locations ---- */

struct fields {
    uint64_t line, scope, file, inlined;
    bool has_scope, has_file, has_inlined;
    const char *filename;
};

static bool is_label(const struct ir_token *label, const char *name)
{
    return label->length == strlen(name) && memcmp(label->text, name, label->length) == 0;
}

static bool read_field(struct ir_reader *r, const struct ir_token *label, struct fields *fields)
{
    const struct ir_token value = r->place.token;
    if (value.kind == IR_T_INTEGER && is_label(label, "line"))
        return ir_want_number(r, UINT32_MAX, &fields->line);
    if (value.kind == IR_T_META && value.length && is_label(label, "inlinedAt")) {
        r->place.token.kind = IR_T_INTEGER;
        fields->has_inlined = true;
        return ir_want_number(r, MOST_NODES, &fields->inlined);
    }
    if (value.kind == IR_T_META && value.length && (is_label(label, "scope") || is_label(label, "file"))) {
        const bool scope = is_label(label, "scope");
        r->place.token.kind = IR_T_INTEGER;
        *(scope ? &fields->has_scope : &fields->has_file) = true;
        return ir_want_number(r, UINT32_MAX, scope ? &fields->scope : &fields->file);
    }
    if (value.kind == IR_T_STRING && is_label(label, "filename"))
        fields->filename = ir_token_copy(r);
    while (!ir_is_sign(r, ',') && !ir_is_sign(r, ')')) {
        if (r->place.token.kind == IR_T_END)
            return ir_read_fail(r, "a node of metadata does not end");
        if (ir_is_sign(r, '(') || ir_is_sign(r, '{')) {
            if (!ir_skip_brackets(r))
                return false;
        } else {
            ir_next(r);
        }
    }
    return true;
}

/* Name(field: value, field: value) */
static bool read_fields(struct ir_reader *r, struct fields *fields)
{
    *fields = (struct fields){.filename = NULL};
    if (r->place.token.kind != IR_T_META || !r->place.token.length)
        return ir_read_fail(r, "expected a description");
    ir_next(r);
    if (!ir_want_sign(r, '('))
        return false;
    while (!ir_is_sign(r, ')')) {
        const struct ir_token label = r->place.token;
        if (label.kind != IR_T_LABEL)
            return ir_read_fail(r, "expected a field of a description");
        ir_next(r);
        if (!read_field(r, &label, fields) || (!ir_is_sign(r, ')') && !ir_want_sign(r, ',')))
            return false;
    }
    return true;
}

/* The file of a scope: its own, or that of the scope around it. */
static bool read_file(struct ir_reader *r, uint64_t number, uint32_t *file)
{
    struct fields fields;
    const uint64_t first = number;
    for (unsigned steps = 0; steps < 1000; steps++) {
        struct ir_node *const node = enter(r, number);
        if (!node)
            return false;
        if (!node->known && !read_fields(r, &fields))
            return false;
        if (node->known || fields.filename) {
            *file = node->known ? node->file : ir_module_add_file(r->m, fields.filename);
            r->node[first].file = node->file = *file;
            r->node[first].known = node->known = true;
            return true;
        }
        if (!fields.has_file && !fields.has_scope)
            return ir_read_fail(r, "a scope has no file");
        number = fields.has_file ? fields.file : fields.scope;
    }
    return ir_read_fail(r, "scopes go round in a circle");
}

/* A location where it stands, wherever it was inlined to; NULL on failure. */
static const struct ir_node *read_here(struct ir_reader *r, uint64_t number)
{
    struct fields fields;
    struct ir_node *const node = enter(r, number);
    if (!node || node->known)
        return node;
    if (!read_fields(r, &fields))
        return NULL;
    if (!fields.has_scope)
        return ir_read_fail(r, "a location has no scope"), NULL;
    uint32_t own = 0;
    if (!read_file(r, fields.scope, &own))
        return NULL;
    node->line = (uint32_t)fields.line;
    node->file = own;
    node->inlined = fields.has_inlined ? (uint32_t)fields.inlined + 1 : 0;
    node->known = true;
    return node;
}

static bool in_library(const struct ir_reader *r, uint32_t file)
{
    const char *const name = ir_module_file(r->m, file);
    const size_t length = r->library ? strlen(r->library) : 0;
    return length && name && strncmp(name, r->library, length) == 0 && name[length] == '/';
}

bool ir_read_location(struct ir_reader *r, uint64_t number, uint32_t *line, uint32_t *file)
{
    const struct ir_place back = r->place;
    for (unsigned steps = 0; steps < 1000; steps++) {
        const struct ir_node *const node = read_here(r, number);
        if (!node)
            return false;
        const bool library = in_library(r, node->file);
        if (library && node->inlined) {
            number = node->inlined - 1;
            continue;
        }
        *line = library ? 0 : node->line;
        *file = node->file;
        r->place = back;
        return true;
    }
    return ir_read_fail(r, "locations go round in a circle");
}

/* ---- kernels ---- */

bool ir_read_group_size(struct ir_reader *r, uint64_t number, uint32_t size[3])
{
    if (!enter(r, number))
        return false;
    if (r->place.token.kind != IR_T_META || r->place.token.length)
        return ir_read_fail(r, "expected three numbers");
    ir_next(r);
    for (unsigned i = 0; i < 3; i++) {
        uint64_t value;
        if (!ir_want_sign(r, i ? ',' : '{') || !ir_want(r, "i32") || !ir_want_number(r, UINT32_MAX, &value))
            return false;
        size[i] = (uint32_t)value;
    }
    return true;
}

bool ir_read_argument_names(struct ir_reader *r, uint64_t number, struct ir_function *f)
{
    if (!enter(r, number))
        return false;
    ir_next(r);
    if (f->arguments == 0)
        return true;
    for (unsigned i = 0; i < f->arguments; i++) {
        if (!ir_want_sign(r, i ? ',' : '{'))
            return false;
        ir_next(r);
        if (r->place.token.kind != IR_T_STRING)
            return ir_read_fail(r, "expected the name of an argument");
        f->argument[i]->name = ir_token_copy(r);
        ir_next(r);
    }
    return true;
}

/* ---- annotations ---- */

struct ir_value *ir_behind_casts(struct ir_value *v)
{
    while ((v->op == IR_SPACECAST || v->op == IR_BITCAST) && v->operands == 1)
        v = v->operand[0];
    return v;
}

/* Whether the lines of `text` stand in `all` already. */
static bool holds_lines(const char *all, const char *text)
{
    const size_t length = strlen(text);
    for (const char *line = all; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        if (strncmp(line, text, length) == 0 && (line[length] == '\0' || line[length] == '\n'))
            return true;
    return false;
}

void ir_annotate(struct ir_reader *r, struct ir_value *v, const char *text)
{
    if (!v->annotation) {
        v->annotation = text;
        return;
    }
    if (holds_lines(v->annotation, text))
        return;
    const size_t before = strlen(v->annotation), length = strlen(text);
    char *const joined = ir_alloc(r->m, before + length + 2);
    if (r->m->failed)
        return;
    memcpy(joined, v->annotation, before);
    joined[before] = '\n';
    memcpy(joined + before + 1, text, length);
    v->annotation = joined;
}

const char *ir_string_of(struct ir_reader *r, const struct ir_value *v)
{
    const struct ir_value *const held = v->op == IR_GLOBAL ? v->initial : NULL;
    if (!held || held->type->kind != IR_ARRAY || held->type->element->kind != IR_INT || held->type->element->bits != 8)
        return NULL;
    if (held->op == IR_CONSTANT)
        return "";
    if (held->op != IR_AGGREGATE)
        return NULL;
    char *const text = ir_alloc(r->m, (size_t)held->operands + 1);
    for (unsigned i = 0; i < held->operands && held->operand[i]->bits && !r->m->failed; i++)
        text[i] = (char)held->operand[i]->bits;
    return text;
}
