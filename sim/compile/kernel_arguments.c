#define _GNU_SOURCE /* memmem */
#include "sim/compile/kernel_arguments.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { TYPE_TEXT_BYTES = 64, ROOT_STEPS = 64 };

/* ---- element types by metadata: `!kernel_arg_base_type !14` behind the kernel, `!14 = !{!"float*", !"uint"}` ---- */

/* The line that defines the kernel; NULL = not found. Names that need quotes are left out: no source has them. */
static const char *definition(const char *llvm, const char *name)
{
    char mark[300];
    const size_t length = (size_t)snprintf(mark, sizeof mark, "@%s(", name);
    for (const char *at = llvm; (at = strstr(at, mark)); at += length) {
        const char *line = at;
        while (line > llvm && line[-1] != '\n')
            line--;
        if (strncmp(line, "define ", 7) == 0)
            return line;
    }
    return NULL;
}

/* The list in the metadata of this name; NULL = none. */
static const char *metadata(const char *llvm, const char *name, const char *list)
{
    const char *const line = definition(llvm, name);
    const char *at = line ? memmem(line, strcspn(line, "\n"), list, strlen(list)) : NULL;
    char mark[40];
    if (!at || sscanf(at + strlen(list), " !%20[0-9]", mark + 2) != 1)
        return NULL;
    mark[0] = '\n';
    mark[1] = '!';
    strcat(mark, " = !{");
    at = strstr(llvm, mark);
    return at ? at + strlen(mark) : NULL;
}

/* Text number `index` of a list of strings. */
static bool list_text(const char *list, unsigned index, char text[TYPE_TEXT_BYTES])
{
    const char *const end = list ? list + strcspn(list, "\n") : NULL;
    for (const char *at = list; at && at < end; at++) {
        if (at[0] != '!' || at[1] != '"')
            continue;
        const size_t length = strcspn(at + 2, "\"\n");
        if (index-- == 0) {
            snprintf(text, TYPE_TEXT_BYTES, "%.*s", (int)length, at + 2);
            return true;
        }
        at += 2 + length;
    }
    return false;
}

/* "float4*" is f32. ELEMENT_TYPE_COUNT for a name that is no number's. */
static enum element_type type_of_name(const char *text)
{
    static const struct {
        const char *name;
        enum element_type type;
    } rows[] = {{"float", ELEMENT_F32},        {"half", ELEMENT_F16},
                {"double", ELEMENT_F64},       {"char", ELEMENT_I8},
                {"uchar", ELEMENT_U8},         {"short", ELEMENT_I16},
                {"ushort", ELEMENT_U16},       {"int", ELEMENT_I32},
                {"uint", ELEMENT_U32},         {"long", ELEMENT_I64},
                {"ulong", ELEMENT_U64},        {"bool", ELEMENT_U8},
                {"unsigned char", ELEMENT_U8}, {"unsigned short", ELEMENT_U16},
                {"unsigned int", ELEMENT_U32}, {"unsigned long", ELEMENT_U64}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const size_t n = strlen(rows[i].name);
        if (strncmp(text, rows[i].name, n) == 0 && strspn(text + n, "0123456789*") == strlen(text + n))
            return rows[i].type;
    }
    return ELEMENT_TYPE_COUNT;
}

/* ---- element types of Metal: `@__orchard_kernel_3_types = ... c"fi?\\00"` for `@__orchard_kernel_3 = ... ptr @kernel, ...` ----
 */

/* The letters of the kernel's parameters (sim/compile/metal/orchard_kernel); NULL = none. */
static const char *letters(const char *llvm, const char *name)
{
    static const char entry[] = "\n@__orchard_kernel_";
    char mark[300];
    const size_t length = (size_t)snprintf(mark, sizeof mark, "@%.290s", name);
    for (const char *at = llvm; (at = strstr(at, entry)); at += sizeof entry) {
        const char *const found = memmem(at + 1, strcspn(at + 1, "\n"), mark, length);
        if (!found || (found[length] != ',' && found[length] != ' ' && found[length] != ')'))
            continue;
        snprintf(mark, sizeof mark, "%.*s_types = ", (int)strcspn(at, " "), at);
        const char *const types = strstr(llvm, mark);
        const char *const text = types ? memmem(types + 1, strcspn(types + 1, "\n"), "c\"", 2) : NULL;
        return text ? text + 2 : NULL;
    }
    return NULL;
}

static enum element_type type_of_letter(const char *text, unsigned index)
{
    static const char known[] = "bBsSiIlLhfe";
    static const enum element_type type[] = {ELEMENT_I8,  ELEMENT_U8,  ELEMENT_I16, ELEMENT_U16, ELEMENT_I32, ELEMENT_U32,
                                             ELEMENT_I64, ELEMENT_U64, ELEMENT_F16, ELEMENT_F32, ELEMENT_BF16};
    if (!text || strcspn(text, "\"\n\\") <= index)
        return ELEMENT_TYPE_COUNT;
    const char *const found = strchr(known, text[index]);
    return found ? type[found - known] : ELEMENT_TYPE_COUNT;
}

/* ---- element types by use ---- */

static const struct ir_type *leaf(const struct ir_type *t)
{
    while (t && (t->kind == IR_VECTOR || t->kind == IR_ARRAY || (t->kind == IR_STRUCT && t->count)))
        t = t->kind == IR_STRUCT ? t->member[0] : t->element;
    return t;
}

static enum element_type type_of_ir(const struct ir_type *t)
{
    if (!t)
        return ELEMENT_TYPE_COUNT;
    if (t->kind == IR_FLOAT)
        return t->bits == 16 ? ELEMENT_F16 : t->bits == 32 ? ELEMENT_F32 : ELEMENT_F64;
    if (t->kind != IR_INT)
        return ELEMENT_TYPE_COUNT;
    return t->bits <= 8 ? ELEMENT_U8 : t->bits <= 16 ? ELEMENT_U16 : t->bits <= 32 ? ELEMENT_U32 : ELEMENT_U64;
}

static const struct ir_value *root(const struct ir_value *pointer)
{
    for (int i = 0; i < ROOT_STEPS && (pointer->op == IR_GEP || pointer->op == IR_SPACECAST || pointer->op == IR_BITCAST); i++)
        pointer = pointer->operand[0];
    return pointer;
}

/* What the first access through the argument loads or stores. */
static enum element_type type_by_use(const struct ir_function *f, const struct ir_value *argument)
{
    for (const struct ir_block *b = f->first; b; b = b->next)
        for (const struct ir_value *v = b->first; v; v = v->next) {
            const bool load = v->op == IR_LOAD, store = v->op == IR_STORE;
            if ((!load && !store) || root(v->operand[store]) != argument)
                continue;
            const enum element_type type = type_of_ir(leaf(load ? v->type : v->operand[0]->type));
            if (type != ELEMENT_TYPE_COUNT)
                return type;
        }
    return ELEMENT_TYPE_COUNT;
}

/* ---- the list ---- */

struct lister {
    struct abi_kernel *kernel;
    uint32_t next;             /* bytes of the block so far */
    const char *types, *names; /* lists of metadata, as OpenCL C has them */
    const char *letters;       /* as Metal has them */
    struct orch_error *error;
};

static bool too_many(const struct lister *l)
{
    return orch_fail(l->error, ORCH_UNMODELLED, "%s: more arguments than a launch can pass (%d, in 1024 bytes)", l->kernel->name,
                     ABI_ARGS_MAX);
}

static bool add(struct lister *l, const char *name, enum element_type type, bool buffer, uint32_t offset)
{
    struct abi_kernel *const k = l->kernel;
    const uint32_t size = buffer ? 8 : element_type_bytes(type);
    if (k->args == ABI_ARGS_MAX || offset + size > 2 * AGX_UNIFORM_HALVES)
        return too_many(l);
    struct abi_arg *const a = &k->arg[k->args++];
    if (snprintf(a->name, sizeof a->name, "%s", name) >= (int)sizeof a->name)
        return orch_fail(l->error, ORCH_UNMODELLED, "%s: the argument name %.60s is longer than 47 characters", k->name, name);
    *a = (struct abi_arg){.buffer = buffer, .type = type, .offset = offset, .size = size};
    memcpy(a->name, name, strlen(name) + 1);
    return true;
}

/* One scalar for each number inside; a single number keeps the name. */
static bool add_value(struct lister *l, const char *name, const struct ir_type *t, enum element_type named, uint32_t offset)
{
    char part[100];
    if (t->kind == IR_VECTOR || t->kind == IR_ARRAY || t->kind == IR_STRUCT) {
        for (uint64_t i = 0; i < t->count; i++) {
            const bool in_struct = t->kind == IR_STRUCT;
            const struct ir_type *const each = in_struct ? t->member[i] : t->element;
            const uint64_t place = in_struct ? t->member_offset[i] : i * each->bytes;
            snprintf(part, sizeof part, "%.80s.%u", name, (unsigned)i);
            if (l->kernel->args == ABI_ARGS_MAX)
                return too_many(l);
            if (!add_value(l, part, each, in_struct ? ELEMENT_TYPE_COUNT : named, offset + (uint32_t)place))
                return false;
        }
        return true;
    }
    const enum element_type type = type_of_ir(t);
    if (type == ELEMENT_TYPE_COUNT)
        return orch_fail(l->error, ORCH_UNMODELLED, "%s: argument %.60s: a pointer inside a structure cannot be passed",
                         l->kernel->name, name);
    if (offset % 2)
        return orch_fail(l->error, ORCH_UNMODELLED, "%s: argument %.60s lies at an odd byte; uniforms are half-words",
                         l->kernel->name, name);
    const bool fits = named != ELEMENT_TYPE_COUNT && element_type_bytes(named) == element_type_bytes(type);
    return add(l, name, fits ? named : type, false, offset);
}

/* What the code takes is the byte of threadgroup memory. */
static bool add_threadgroup(struct lister *l, const char *name, uint32_t offset)
{
    if (!add(l, name, ELEMENT_U64, false, offset))
        return false;
    l->kernel->arg[l->kernel->args - 1].threadgroup = true;
    return true;
}

static bool add_argument(struct lister *l, const struct ir_function *f, unsigned i)
{
    const struct ir_value *const v = f->argument[i];
    const struct ir_type *const by_value = f->by_value ? f->by_value[i] : NULL, *const t = by_value ? by_value : v->type;
    char name[TYPE_TEXT_BYTES], text[TYPE_TEXT_BYTES];
    enum element_type type = list_text(l->types, i, text) ? type_of_name(text) : type_of_letter(l->letters, i);
    if (v->name && v->name[0] && !isdigit((unsigned char)v->name[0]))
        snprintf(name, sizeof name, "%s", v->name);
    else if (!list_text(l->names, i, name))
        snprintf(name, sizeof name, "arg%u", i + 1);
    const uint32_t align = t->align < 2 ? 2 : (uint32_t)t->align;
    const uint64_t offset = (l->next + align - 1) / align * align;
    if (offset + t->bytes > 2 * AGX_UNIFORM_HALVES)
        return too_many(l);
    l->next = (uint32_t)(offset + t->bytes);
    if (by_value || t->kind != IR_POINTER)
        return add_value(l, name, t, type, (uint32_t)offset);
    if (t->space == IR_THREADGROUP)
        return add_threadgroup(l, name, (uint32_t)offset);
    if (t->space != IR_DEVICE && t->space != IR_CONSTANT_SPACE && t->space != IR_CONSTANT_HOST)
        return orch_fail(l->error, ORCH_UNMODELLED, "%s: argument %s points to private memory, which no launch has", f->name,
                         name);
    if (type == ELEMENT_TYPE_COUNT)
        type = type_by_use(f, v);
    if (type == ELEMENT_TYPE_COUNT) /* where nothing reads it, a number of any kind will do for constant memory */
        type = t->space == IR_DEVICE ? ELEMENT_U8 : ELEMENT_U64;
    if (!add(l, name, type, true, (uint32_t)offset))
        return false;
    l->kernel->arg[l->kernel->args - 1].constant = t->space != IR_DEVICE;
    return true;
}

bool kernel_arguments(const struct ir_function *f, const char *llvm, struct abi_kernel *kernel, struct orch_error *error)
{
    struct lister l = {.kernel = kernel,
                       .types = metadata(llvm, f->name, "!kernel_arg_base_type"),
                       .names = metadata(llvm, f->name, "!kernel_arg_name"),
                       .letters = letters(llvm, f->name),
                       .error = error};
    for (unsigned i = 0; i < f->arguments; i++)
        if (!add_argument(&l, f, i))
            return false;
    kernel->argument_bytes = (l.next + 1) & ~1u;
    return true;
}

bool kernel_arguments_padding(const struct abi_kernel *k, unsigned own, uint32_t own_bytes, uint32_t offset, uint32_t bytes)
{
    for (unsigned n = 0; n < own; n++)
        if (k->arg[n].offset < offset + bytes && offset < k->arg[n].offset + k->arg[n].size)
            return false;
    return offset < own_bytes;
}
