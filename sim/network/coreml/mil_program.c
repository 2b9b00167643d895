/* ML programs: functions, blocks, operations and their parameters. */
#include "sim/network/coreml/mil.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Fields of Program, Function, Block, Operation, Argument, and of maps. */
enum { PROGRAM_FUNCTIONS = 2, FUNCTION_INPUTS = 1, FUNCTION_OPSET = 2, FUNCTION_BLOCKS = 3 };
enum { BLOCK_INPUTS = 1, BLOCK_OUTPUTS = 2, BLOCK_OPERATIONS = 3 };
enum { OP_TYPE = 1, OP_INPUTS = 2, OP_OUTPUTS = 3, OP_ATTRIBUTES = 5 };
enum { MAP_KEY = 1, MAP_VALUE = 2, ARGUMENT_BINDING = 1, BINDING_NAME = 1, BINDING_VALUE = 2, NAMED_NAME = 1, NAMED_TYPE = 2 };
enum { DESCRIPTION_INPUT = 1, DESCRIPTION_OUTPUT = 10, FEATURE_NAME = 1, FEATURE_TYPE = 3 };
enum { TYPE_IMAGE = 4, TYPE_ARRAY = 5, ARRAY_TYPE = 2, ARRAY_I32 = 131104 };

enum { DEPTH_MAX = 8, STEPS_MAX = 1 << 20 };

static const struct mil_row mil_rows[] = {
#define ROW(name, import, op) {name, import, op},
#include "sim/network/coreml/mil_ops.inc"
#undef ROW
};

const struct mil_row *mil_row_find(struct pb name)
{
    for (size_t k = 0; k < sizeof mil_rows / sizeof *mil_rows; k++)
        if (pb_is(name, mil_rows[k].name))
            return &mil_rows[k];
    return NULL;
}

/* ---- parameters ---- */

/* The entry of a map with that key. */
static bool entry_of(struct pb message, unsigned field, const char *key, struct pb *value)
{
    for (struct pb_field f; pb_next(&message, &f);)
        if (f.number == field && f.is_bytes && pb_is(pb_message(f.body, MAP_KEY), key)) {
            *value = pb_message(f.body, MAP_VALUE);
            return true;
        }
    return false;
}

static struct coreml_value bound(struct mil_op *o, struct pb binding)
{
    if (!pb_has(binding, BINDING_NAME))
        return mil_constant(o->p, pb_message(binding, BINDING_VALUE));
    const struct pb name = pb_message(binding, BINDING_NAME);
    const struct coreml_value *const v = coreml_names_find(o->names, name);
    char text[100];
    if (!v)
        coreml_fail(o->c, ORCH_USAGE, "'%s' is computed by nothing before it", pb_copy(name, text, sizeof text));
    return v ? *v : (struct coreml_value){.kind = COREML_NOTHING};
}

struct coreml_value mil_value(struct mil_op *o, const char *name, size_t index)
{
    struct pb argument;
    size_t at = 0;
    /* Of operations up to opset CoreML7 on constants, parameters are attributes. */
    if (!o->c->failed && entry_of(o->body, OP_INPUTS, name, &argument))
        for (struct pb_field f; pb_next(&argument, &f);)
            if (f.number == ARGUMENT_BINDING && f.is_bytes && at++ == index)
                return bound(o, f.body);
    if (!o->c->failed && index == 0 && entry_of(o->body, OP_ATTRIBUTES, name, &argument))
        return mil_constant(o->p, argument);
    return (struct coreml_value){.kind = COREML_NOTHING};
}

size_t mil_count(struct mil_op *o, const char *name)
{
    struct pb argument;
    size_t count = 0;
    if (!entry_of(o->body, OP_INPUTS, name, &argument))
        return entry_of(o->body, OP_ATTRIBUTES, name, &argument);
    for (struct pb_field f; pb_next(&argument, &f);)
        count += f.number == ARGUMENT_BINDING;
    return count;
}

bool mil_has(struct mil_op *o, const char *name)
{
    return mil_count(o, name) > 0;
}

net_id mil_maybe(struct mil_op *o, const char *name)
{
    const struct coreml_value v = mil_value(o, name, 0);
    if (v.kind != COREML_NOTHING && v.kind != COREML_TENSOR)
        return coreml_fail(o->c, ORCH_USAGE, "%s is no tensor", name);
    return v.kind == COREML_TENSOR ? v.id : NET_NONE;
}

net_id mil_in(struct mil_op *o, const char *name)
{
    const net_id id = mil_maybe(o, name);
    return id == NET_NONE ? coreml_fail(o->c, ORCH_USAGE, "%s is missing", name) : id;
}

size_t mil_all(struct mil_op *o, const char *name, net_id *id, size_t room)
{
    const size_t count = mil_count(o, name);
    if (count == 0 || count > room)
        return coreml_fail(o->c, ORCH_USAGE, "%zu values of %s", count, name), 0;
    for (size_t k = 0; k < count; k++) {
        const struct coreml_value v = mil_value(o, name, k);
        if (v.kind != COREML_TENSOR)
            return coreml_fail(o->c, ORCH_USAGE, "%s holds something that is no tensor", name), 0;
        id[k] = v.id;
    }
    return count;
}

size_t mil_ints(struct mil_op *o, const char *name, int64_t *list, size_t room)
{
    size_t count = 0;
    const net_id id = mil_maybe(o, name);
    if (id != NET_NONE && !coreml_integers_of(o->c, id, list, room, &count))
        coreml_fail(o->c, ORCH_UNMODELLED, "%s is not a constant of at most %zu whole numbers", name, room);
    return o->c->failed ? 0 : count;
}

int64_t mil_int(struct mil_op *o, const char *name, int64_t absent)
{
    int64_t one = absent;
    return mil_ints(o, name, &one, 1) == 1 ? one : absent;
}

double mil_real(struct mil_op *o, const char *name, double absent)
{
    const net_id id = mil_maybe(o, name);
    const struct net_array *const a = id == NET_NONE ? NULL : o->c->model->value[id].constant;
    if (id != NET_NONE && (!a || a->count != 1))
        coreml_fail(o->c, ORCH_UNMODELLED, "%s is not a constant number", name);
    return a && a->count == 1 ? net_array_double(a, 0) : absent;
}

bool mil_flag(struct mil_op *o, const char *name, bool absent)
{
    return mil_int(o, name, absent) != 0;
}

const char *mil_word(struct mil_op *o, const char *name, const char *absent, char *text, size_t size)
{
    const struct coreml_value v = mil_value(o, name, 0);
    if (v.kind == COREML_NOTHING)
        return absent;
    if (v.kind != COREML_WORD)
        coreml_fail(o->c, ORCH_USAGE, "%s is no word", name);
    return v.kind == COREML_WORD ? pb_copy(v.word, text, size) : absent;
}

/* ---- blocks ---- */

/* "x [1,16,96,96]": the tensors that go in, for messages. */
static void refuse(struct mil_op *o)
{
    char text[200] = "";
    size_t at = 0;
    struct pb body = o->body;
    for (struct pb_field f; pb_next(&body, &f) && at < sizeof text - 80;) {
        char name[40];
        if (f.number != OP_INPUTS || !f.is_bytes)
            continue;
        const struct coreml_value v = mil_value(o, pb_text(f.body, MAP_KEY, name, sizeof name), 0);
        if (v.kind != COREML_TENSOR || o->c->failed || o->c->model->value[v.id].constant)
            continue;
        const struct net_shape *const s = &o->c->model->value[v.id].shape;
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%s [", at ? ", " : "", name);
        for (unsigned d = 0; d < s->dims && at < sizeof text - 30; d++)
            at += (size_t)snprintf(text + at, sizeof text - at, "%s%lld", d ? "," : "", (long long)s->dim[d]);
        at += (size_t)snprintf(text + at, sizeof text - at, "]");
    }
    coreml_fail(o->c, ORCH_UNMODELLED, "the operation is not imported; its inputs are %s", text[0] ? text : "constants");
}

static void bind_outputs(struct mil_op *o, struct coreml_names *names, size_t first)
{
    size_t at = 0;
    struct pb body = o->body;
    for (struct pb_field f; pb_next(&body, &f) && !o->c->failed;) {
        if (f.number != OP_OUTPUTS || !f.is_bytes)
            continue;
        const struct pb name = pb_message(f.body, NAMED_NAME);
        const struct coreml_value *const v = &o->out[at++];
        if (v->kind == COREML_NOTHING || (v->kind == COREML_TENSOR && v->id == NET_NONE))
            coreml_fail(o->c, ORCH_UNMODELLED, "output %zu is not computed", at - 1);
        else if (v->kind == COREML_TENSOR)
            coreml_rename(o->c, v->id, name, first);
        coreml_names_add(o->c, names, name, v);
    }
}

static void import_operation(struct mil_program *p, struct pb body, struct coreml_names *names)
{
    struct mil_op *const o = calloc(1, sizeof *o);
    const size_t first = p->c->model->values;
    char name[COREML_TEXT] = "", type[64];
    struct pb rest = body;
    if (!o || ++p->steps > STEPS_MAX) {
        coreml_fail(p->c, o ? ORCH_UNMODELLED : ORCH_INTERNAL, o ? "loops of too many steps" : "out of memory");
        free(o);
        return;
    }
    *o = (struct mil_op){.p = p, .c = p->c, .names = names, .body = body};
    for (struct pb_field f; pb_next(&rest, &f);)
        if (f.number == OP_OUTPUTS && f.is_bytes) {
            if (o->outputs++ == 0)
                pb_text(f.body, NAMED_NAME, name, sizeof name);
        }
    const struct mil_row *const row = mil_row_find(pb_message(body, OP_TYPE));
    coreml_enter(p->c, "operation", name, pb_text(body, OP_TYPE, type, sizeof type));
    if (o->outputs > MIL_OUTPUTS_MAX) {
        coreml_fail(p->c, ORCH_UNMODELLED, "%zu outputs", o->outputs);
    } else if (!row || !row->import) {
        refuse(o);
    } else {
        o->op = row->op;
        row->import(o);
        if (coreml_holds(p->c))
            bind_outputs(o, names, first);
    }
    free(o);
}

size_t mil_block(struct mil_program *p, struct pb block, const struct coreml_names *outer, const struct coreml_value *in,
                 size_t inputs, struct coreml_value *out, size_t room)
{
    struct coreml_names names = {.outer = outer};
    size_t at = 0, count = 0;
    struct pb rest = block;
    if (p->depth >= DEPTH_MAX)
        return coreml_fail(p->c, ORCH_USAGE, "blocks are nested too deep"), 0;
    p->depth++;
    for (struct pb_field f; pb_next(&rest, &f) && !p->c->failed;)
        if (f.number == BLOCK_INPUTS && f.is_bytes && at++ < inputs)
            coreml_names_add(p->c, &names, pb_message(f.body, NAMED_NAME), &in[at - 1]);
    if (at != inputs)
        coreml_fail(p->c, ORCH_USAGE, "a block of %zu inputs is given %zu", at, inputs);
    rest = block;
    for (struct pb_field f; !p->c->failed && pb_next(&rest, &f);)
        if (f.number == BLOCK_OPERATIONS && f.is_bytes)
            import_operation(p, f.body, &names);
    rest = block;
    for (struct pb_field f; !p->c->failed && pb_next(&rest, &f);) {
        if (f.number != BLOCK_OUTPUTS || !f.is_bytes)
            continue;
        const struct coreml_value *const v = coreml_names_find(&names, f.body);
        if (!v || count == room)
            coreml_fail(p->c, ORCH_USAGE, "output %zu of the block is computed by nothing", count);
        else
            out[count++] = *v;
    }
    coreml_names_free(&names);
    p->depth--;
    return coreml_holds(p->c) ? count : 0;
}

/* ---- the function ---- */

static net_id import_input(struct mil_program *p, struct pb named, struct pb description)
{
    struct coreml_feature feature = {.type = {NULL, NULL, &p->c->wire}};
    const struct pb name = pb_message(named, NAMED_NAME);
    int64_t shape[NET_DIMS_MAX], kind;
    size_t dims;
    for (struct pb_field f; pb_next(&description, &f);)
        if (f.number == DESCRIPTION_INPUT && f.is_bytes && pb_same(pb_message(f.body, FEATURE_NAME), name))
            feature.type = pb_message(f.body, FEATURE_TYPE);
    pb_copy(name, feature.name, sizeof feature.name);
    coreml_enter(p->c, "input", feature.name, "tensor");
    if (!mil_shape(pb_message(named, NAMED_TYPE), shape, &dims, &kind))
        return coreml_fail(p->c, ORCH_UNMODELLED, "neither a tensor nor an image (a state, for instance)");
    if (pb_has(feature.type, TYPE_ARRAY))
        return coreml_array_input(p->c, &feature);
    if (!pb_has(feature.type, TYPE_IMAGE))
        return coreml_fail(p->c, ORCH_UNMODELLED, "the description has no array and no image of that name");
    const int64_t first = 0;
    return coreml_axes(p->c, "Unsqueeze", coreml_image_input(p->c, &feature), &first, 1);
}

static void add_output(struct mil_program *p, struct pb name, const struct coreml_value *v, struct pb description)
{
    char text[COREML_TEXT];
    bool whole = false;
    for (struct pb_field f; pb_next(&description, &f);)
        if (f.number == DESCRIPTION_OUTPUT && f.is_bytes && pb_same(pb_message(f.body, FEATURE_NAME), name))
            whole = pb_integer(pb_message(pb_message(f.body, FEATURE_TYPE), TYPE_ARRAY), ARRAY_TYPE, 0) == ARRAY_I32;
    pb_copy(name, text, sizeof text);
    coreml_enter(p->c, "output", text, "tensor");
    if (v->kind == COREML_TENSOR)
        coreml_output(p->c, text, whole ? coreml_cast(p->c, v->id, NET_I32) : v->id);
    else if (v->kind == COREML_LIST)
        coreml_fail(p->c, ORCH_UNMODELLED, "a list");
}

static void import_function(struct mil_program *p, struct pb function, struct pb block, struct pb description)
{
    struct coreml_names names = {.outer = NULL};
    struct coreml_value out[MIL_OUTPUTS_MAX];
    struct pb rest = function;
    for (struct pb_field f; !p->c->failed && pb_next(&rest, &f);)
        if (f.number == FUNCTION_INPUTS && f.is_bytes) {
            const struct coreml_value v = coreml_tensor(import_input(p, f.body, description));
            coreml_names_add(p->c, &names, pb_message(f.body, NAMED_NAME), &v);
        }
    const size_t count = p->c->failed ? 0 : mil_block(p, block, &names, NULL, 0, out, MIL_OUTPUTS_MAX);
    size_t at = 0;
    for (struct pb_field f; !p->c->failed && pb_next(&block, &f);)
        if (f.number == BLOCK_OUTPUTS && f.is_bytes && at < count)
            add_output(p, f.body, &out[at++], description);
    if (!p->c->failed && p->c->model->graph->outputs == 0)
        coreml_fail(p->c, ORCH_USAGE, "the function has no outputs");
    coreml_names_free(&names);
}

bool coreml_program(struct coreml *c, struct pb description, struct pb program)
{
    struct mil_program p = {.c = c};
    struct pb function, block;
    char opset[32];
    if (!entry_of(program, PROGRAM_FUNCTIONS, "main", &function)) {
        coreml_fail(c, ORCH_UNMODELLED, "a program without a function main");
        return false;
    }
    pb_text(function, FUNCTION_OPSET, opset, sizeof opset);
    p.opset = strncmp(opset, "CoreML", 6) == 0 ? strtol(opset + 6, NULL, 10) : 0;
    if (!entry_of(function, FUNCTION_BLOCKS, opset, &block))
        coreml_fail(c, ORCH_USAGE, "no block for the operator set '%.30s'", opset);
    else
        import_function(&p, function, block, description);
    mil_files_free(&p);
    for (struct coreml_list *l = p.lists, *next; l; l = next) {
        next = l->next;
        free(l);
    }
    return coreml_holds(c);
}
