/* Making and changing modules, functions, blocks and values. */
#include "isa/agx/compiler/ir_parts.h"

#include "isa/list_grow.h"

#include <stdlib.h>
#include <string.h>

/* ---- memory ---- */

#define FIRST_CHUNK_BYTES   ((size_t)1 << 14)
#define LARGEST_CHUNK_BYTES ((size_t)1 << 20)
#define UNIT                16u /* every piece is aligned to this */

struct ir_chunk {
    struct ir_chunk *next;
    size_t used, room;
    _Alignas(UNIT) char bytes[];
};

/* A chunk with room for `bytes`, in front of the others. */
static struct ir_chunk *add_chunk(struct ir_module *m, size_t bytes)
{
    size_t room = m->chunk ? 2 * m->chunk->room : FIRST_CHUNK_BYTES;
    if (room > LARGEST_CHUNK_BYTES)
        room = LARGEST_CHUNK_BYTES;
    if (room < bytes)
        room = bytes;
    struct ir_chunk *const chunk = calloc(1, sizeof *chunk + room);
    if (!chunk)
        return NULL;
    chunk->room = room;
    chunk->next = m->chunk;
    m->chunk = chunk;
    return chunk;
}

void *ir_alloc(struct ir_module *m, size_t bytes)
{
    struct ir_chunk *chunk = m->chunk;
    if (!m->failed && bytes <= IR_ALLOC_MOST) {
        bytes = (bytes + UNIT - 1) / UNIT * UNIT;
        if (!chunk || chunk->room - chunk->used < bytes)
            chunk = add_chunk(m, bytes);
        if (chunk) {
            void *const piece = chunk->bytes + chunk->used;
            chunk->used += bytes;
            return piece;
        }
    }
    m->failed = true;
    if (bytes > IR_ALLOC_MOST)
        return NULL;
    return memset(m->scrap, 0, bytes);
}

char *ir_text(struct ir_module *m, const char *text, size_t length)
{
    if (length >= IR_ALLOC_MOST)
        length = IR_ALLOC_MOST - 1;
    char *const copy = ir_alloc(m, length + 1);
    memcpy(copy, text, length);
    return copy;
}

struct ir_module *ir_module_create(void)
{
    struct ir_module *const m = calloc(1, sizeof *m);
    if (!m || !(m->scrap = calloc(1, IR_ALLOC_MOST))) {
        free(m);
        return NULL;
    }
    m->scrap_type = (struct ir_type){.kind = IR_VOID, .align = 1, .element = &m->scrap_type};
    m->scrap_value = (struct ir_value){.op = IR_UNDEFINED, .type = &m->scrap_type, .held = &m->scrap_type};
    m->scrap_value.home = &m->scrap_block.block;
    m->scrap_value.function = &m->scrap_function.function;
    m->scrap_block.block.function = &m->scrap_function.function;
    m->scrap_function = (struct ir_function_inside){
        .function = {.name = "", .result = &m->scrap_type, .module = m, .declared_only = true}, .value = &m->scrap_value};
    return m;
}

void ir_module_free(struct ir_module *m)
{
    if (!m)
        return;
    for (struct ir_chunk *chunk = m->chunk, *next; chunk; chunk = next) {
        next = chunk->next;
        free(chunk);
    }
    free(m->types.slot);
    free(m->constants.slot);
    free(m->functions.slot);
    free(m->file);
    free(m->scrap);
    free(m);
}

bool ir_module_failed(const struct ir_module *m)
{
    return m->failed;
}

struct ir_function *ir_module_functions(const struct ir_module *m)
{
    return m->first_function;
}

struct ir_value *ir_module_globals(const struct ir_module *m)
{
    return m->first_global;
}

const char *ir_module_file(const struct ir_module *m, uint32_t file)
{
    return file < m->files ? m->file[file] : NULL;
}

void ir_error_file(const struct ir_value *v, const struct ir_module *m, struct isa_error *error)
{
    const char *const name = v && v->line ? ir_module_file(m, v->file) : NULL;
    const bool known = name && strcmp(name, "-") != 0; /* what clang calls its standard input */
    snprintf(error->file, sizeof error->file, "%s", known ? name : "");
}

uint32_t ir_module_add_file(struct ir_module *m, const char *name)
{
    for (size_t i = 0; i < m->files; i++)
        if (strcmp(m->file[i], name) == 0)
            return (uint32_t)i;
    char **const grown = list_grow(m->file, m->files, &m->file_room, sizeof *m->file);
    if (!grown) {
        m->failed = true;
        return 0;
    }
    m->file = grown;
    m->file[m->files] = ir_text(m, name, strlen(name));
    return (uint32_t)m->files++;
}

/* ---- functions, blocks, globals ---- */

static bool function_named(const void *item, const void *name)
{
    return strcmp(((const struct ir_function *)item)->name, name) == 0;
}

struct ir_function *ir_find_function(const struct ir_module *m, const char *name)
{
    return ir_intern_find(&m->functions, ir_hash_text(name, strlen(name)), function_named, name);
}

static struct ir_value *add_argument(struct ir_function *f, const struct ir_type *type, unsigned number)
{
    struct ir_value *const v = ir_alloc(f->module, sizeof *v);
    v->op = IR_ARGUMENT;
    v->type = type;
    v->bits = number;
    v->id = f->next_id++;
    v->function = f;
    return v;
}

struct ir_function *ir_add_function(struct ir_module *m, const char *name, const struct ir_type *result,
                                    const struct ir_type *const *argument, unsigned arguments)
{
    struct ir_function_inside *const inside = ir_alloc(m, sizeof *inside);
    struct ir_value *const value = ir_alloc(m, sizeof *value);
    struct ir_value **const list = ir_alloc(m, (size_t)arguments * sizeof *list);
    const struct ir_type **const by_value = ir_alloc(m, (size_t)arguments * sizeof *by_value);
    char *const copy = ir_text(m, name, strlen(name));
    if (m->failed)
        return &m->scrap_function.function;
    struct ir_function *const f = &inside->function;
    *f = (struct ir_function){.name = copy, .result = result, .arguments = arguments, .argument = list, .by_value = by_value};
    f->module = m;
    f->declared_only = true;
    *value =
        (struct ir_value){.op = IR_FUNCTION, .type = ir_pointer(m, IR_PRIVATE), .id = m->next_id++, .name = copy, .function = f};
    inside->value = value;
    for (unsigned i = 0; i < arguments; i++)
        list[i] = add_argument(f, argument[i], i);
    if (m->failed || !ir_intern_add(&m->functions, ir_hash_text(copy, strlen(copy)), f)) {
        m->failed = true;
        return &m->scrap_function.function;
    }
    if (m->last_function)
        m->last_function->next = f;
    else
        m->first_function = f;
    m->last_function = f;
    return f;
}

struct ir_value *ir_function_value(struct ir_function *f)
{
    return ir_function_inside(f)->value;
}

struct ir_block *ir_add_block(struct ir_function *f, const char *name, struct ir_block *after)
{
    struct ir_module *const m = f->module;
    struct ir_block_inside *const inside = ir_alloc(m, sizeof *inside);
    char *const copy = name ? ir_text(m, name, strlen(name)) : NULL;
    if (m->failed)
        return &m->scrap_block.block;
    struct ir_block *const b = &inside->block;
    struct ir_block **const last = &ir_function_inside(f)->last;
    b->id = f->next_id++;
    b->name = copy;
    b->function = f;
    f->declared_only = false;
    if (!after)
        after = *last;
    if (after) {
        b->next = after->next;
        after->next = b;
    } else {
        f->first = b;
    }
    if (!b->next)
        *last = b;
    return b;
}

struct ir_value *ir_add_global(struct ir_module *m, const char *name, const struct ir_type *held, enum ir_space space)
{
    struct ir_value *const v = ir_alloc(m, sizeof *v);
    const struct ir_type *const type = ir_pointer(m, space);
    char *const copy = ir_text(m, name, strlen(name));
    if (m->failed)
        return &m->scrap_value;
    *v = (struct ir_value){.op = IR_GLOBAL, .type = type, .held = held, .id = m->next_id++, .name = copy};
    v->previous = m->last_global;
    if (m->last_global)
        m->last_global->next = v;
    else
        m->first_global = v;
    m->last_global = v;
    return v;
}

void ir_remove_block(struct ir_function *f, struct ir_block *b)
{
    struct ir_block *before = NULL;
    for (struct ir_block *other = f->first; other; other = other->next) {
        if (other->next == b)
            before = other;
        for (struct ir_value *v = other->first; v && v->op == IR_PHI; v = v->next) {
            unsigned kept = 0;
            for (unsigned i = 0; i < v->operands; i++) {
                if (v->block[i] == b)
                    continue;
                v->operand[kept] = v->operand[i];
                v->block[kept++] = v->block[i];
            }
            v->operands = v->blocks = kept;
        }
    }
    if (before)
        before->next = b->next;
    else if (f->first == b)
        f->first = b->next;
    if (ir_function_inside(f)->last == b)
        ir_function_inside(f)->last = before;
    b->next = NULL;
}
