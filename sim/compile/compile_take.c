#include "sim/compile/compile_take.h"

#include "isa/agx/compiler/agx_compile.h"
#include "sim/base/checksum.h"
#include "sim/compile/kernel_arguments.h"
#include "sim/compile/kernel_launch.h"

#include <stdlib.h>
#include <string.h>

struct take {
    struct compile_result *result;
    const struct ir_module *module;
    const char *path;
    struct orch_error *error;
};

static bool take_lines(struct take *t, const struct agx_compiled *c)
{
    struct compile_result *const r = t->result;
    size_t files = 0;
    for (size_t i = 0; i < c->places; i++)
        if (c->place[i].file >= files)
            files = (size_t)c->place[i].file + 1;
    r->line = calloc(c->places + 1, sizeof *r->line);
    r->file = calloc(files + 1, sizeof *r->file);
    if (!r->line || !r->file)
        return orch_no_memory(t->error);
    for (r->files = 0; r->files < files; r->files++) {
        const char *const name = ir_module_file(t->module, (uint32_t)r->files);
        if (!(r->file[r->files] = strdup(name ? name : "")))
            return orch_no_memory(t->error);
    }
    for (r->lines = 0; r->lines < c->places; r->lines++)
        r->line[r->lines] = (struct compile_line){c->place[r->lines].offset, c->place[r->lines].file, c->place[r->lines].line};
    return true;
}

/* The back end lays out the block by itself: both must agree on where each argument lies. It adds what the launch itself knows.
 */
static bool take_places(struct take *t, const struct agx_assembly *a)
{
    struct abi_kernel *const k = &t->result->kernel;
    const unsigned own = k->args;
    const uint32_t own_bytes = k->argument_bytes;
    for (unsigned i = 0; i < a->argument_count; i++) {
        const struct agx_argument *const p = &a->arguments[i];
        const bool is_buffer = p->bytes == 8;
        struct abi_arg added = {
            .type = is_buffer ? ELEMENT_U8 : ELEMENT_U32, .buffer = is_buffer, .offset = p->offset_bytes, .size = p->bytes};
        bool there = false;
        for (unsigned n = 0; n < own && !there; n++)
            there = k->arg[n].offset == p->offset_bytes;
        snprintf(added.name, sizeof added.name, "%s", p->name);
        if (there || kernel_arguments_padding(k, own, own_bytes, p->offset_bytes, p->bytes))
            continue;
        if (!kernel_launch_knows(&added) || k->args == ABI_ARGS_MAX)
            return orch_fail(t->error, ORCH_INTERNAL, "%.200s: the code has argument %.48s at byte %u, where none is", t->path,
                             p->name, p->offset_bytes);
        k->arg[k->args++] = added;
        if (k->argument_bytes < p->offset_bytes + (uint32_t)p->bytes)
            k->argument_bytes = p->offset_bytes + (uint32_t)p->bytes;
    }
    for (unsigned n = 0; n < own; n++)
        if (kernel_launch_knows(&k->arg[n]))
            return orch_fail(t->error, ORCH_USAGE, "%.200s: the argument name %s is reserved", t->path, k->arg[n].name);
    return true;
}

/* Buffers of constant tables get what stands in them. */
static bool take_tables(struct take *t, const struct agx_compiled *c)
{
    struct abi_kernel *const k = &t->result->kernel;
    char name[sizeof k->arg[0].name];
    for (unsigned i = 0; i < c->tables; i++) {
        snprintf(name, sizeof name, AGX_TABLE "_%u", i);
        struct abi_arg *const a = abi_kernel_arg(k, name);
        if (!a)
            return orch_fail(t->error, ORCH_INTERNAL, "%.200s: the code has no argument %s", t->path, name);
        a->count = a->bytes = c->table[i].byte_count;
        a->start = ABI_START_BYTES;
        a->unchanged = true;
        a->initial = malloc(a->bytes + 1);
        if (!a->initial)
            return orch_no_memory(t->error);
        memcpy(a->initial, c->table[i].bytes, a->bytes);
    }
    return true;
}

static bool take_code(struct take *t, const struct agx_assembly *a)
{
    struct abi_kernel *const k = &t->result->kernel;
    k->path = strdup(t->path);
    if (!k->path)
        return orch_no_memory(t->error);
    if (!abi_kernel_take_code(k, a, t->error))
        return false;
    if (k->threadgroup_memory_bytes > ABI_GROUP_MEMORY_MAX)
        return orch_fail(t->error, ORCH_USAGE, "%.200s: %s uses %u bytes of threadgroup memory, a threadgroup has at most %u",
                         t->path, k->name, k->threadgroup_memory_bytes, ABI_GROUP_MEMORY_MAX);
    return take_places(t, a);
}

bool compile_take(struct compile_result *result, const struct agx_compiled *c, const struct ir_module *module, const char *path,
                  struct orch_error *error)
{
    struct take t = {result, module, path, error};
    return take_code(&t, &c->program) && take_tables(&t, c) && take_lines(&t, c);
}

uint64_t compile_hash(const struct abi_kernel *k)
{
    const uint32_t numbers[] = {
        k->main_offset,     k->preamble_offset, k->has_preamble,    k->constants_offset,         k->constants_first,
        k->constants_count, k->argument_bytes,  k->register_halves, k->threadgroup_memory_bytes, k->stack_words};
    uint64_t h = checksum_add(CHECKSUM_START, k->code, k->code_bytes);
    h = checksum_add(h, numbers, sizeof numbers);
    for (unsigned i = 0; i < k->args; i++) {
        const uint32_t place[] = {k->arg[i].offset, k->arg[i].size, k->arg[i].buffer, k->arg[i].type};
        h = checksum_add(h, place, sizeof place);
        if (k->arg[i].initial)
            h = checksum_add(h, k->arg[i].initial, k->arg[i].bytes);
    }
    return h;
}
