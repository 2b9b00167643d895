/* What a case gives to the arguments of its kernel. */
#include "tests/public/public_attempt.h"

#include "isa/rounding.h"
#include "sim/compile/kernel_launch.h"

#include <stdlib.h>
#include <string.h>

/* Kernels of matrices read rows beyond the last one and drop what comes of them: buffers have so many bytes more. */
enum { THREADGROUP_ALIGN = 16, BEHIND_BYTES = 16384 };

static bool give_bytes(struct abi_arg *arg, const uint8_t *bytes, uint64_t count)
{
    const uint64_t room = round_up(count, 16) + BEHIND_BYTES;
    arg->type = ELEMENT_U8;
    arg->count = arg->bytes = room;
    arg->start = ABI_START_BYTES;
    arg->initial = calloc(1, room);
    if (arg->initial)
        memcpy(arg->initial, bytes, count);
    return arg->initial != NULL;
}

/* "4,-1" of a type, behind what there is, naturally aligned; returns what follows. */
static const char *add_numbers(enum element_type type, const char *at, uint8_t *bytes, size_t size, size_t *used)
{
    *used = round_up(*used, element_type_bytes(type));
    while (*at && *at != ';' && *used + 8 < size) {
        char *end;
        if (!element_write(type, strtod(at, &end), bytes + *used) || end == at)
            return NULL;
        *used += element_type_bytes(type);
        at = *end == ',' ? end + 1 : end;
    }
    return *at == ';' ? at + 1 : at;
}

/* "i32:4,-1;f32:0.5": a number, an array, or what a structure holds. */
static bool give_numbers(struct abi_arg *arg, const char *text)
{
    uint8_t bytes[512] = {0};
    size_t used = 0;
    for (const char *at = text; at && *at;) {
        char type[16];
        const char *const colon = strchr(at, ':');
        if (!colon)
            return false;
        snprintf(type, sizeof type, "%.*s", (int)(colon - at), at);
        const enum element_type t = element_type_find(type);
        at = t == ELEMENT_TYPE_COUNT ? NULL : add_numbers(t, colon + 1, bytes, sizeof bytes, &used);
        if (!at)
            return false;
    }
    if (arg->buffer)
        return give_bytes(arg, bytes, used);
    memcpy(arg->scalar, bytes, arg->size < used ? arg->size : used);
    return true;
}

static bool give(struct attempt *a, unsigned i, const char *text, char *why, size_t size)
{
    struct abi_arg *const arg = &a->compiled.kernel.arg[i];
    struct public_tensor *const t = public_tensor(a->c, text);
    snprintf(why, size, "argument %s cannot be %s", arg->name, text);
    a->tensor[i] = -1;
    if (strcmp(text, "-") == 0) /* not used by this variant */
        return arg->buffer ? give_bytes(arg, (const uint8_t[16]){0}, 16) : true;
    if (arg->threadgroup) {
        const uint64_t begin = round_up(a->threadgroup_first + a->threadgroup_bytes, THREADGROUP_ALIGN);
        if (strncmp(text, "tg:", 3) != 0)
            return false;
        memcpy(arg->scalar, &begin, sizeof arg->scalar);
        a->threadgroup_bytes = begin + strtoull(text + 3, NULL, 10) - a->threadgroup_first;
        return true;
    }
    if (t) {
        a->tensor[i] = (int)(t - a->c->tensor);
        return arg->buffer && give_bytes(arg, t->start, t->bytes);
    }
    if (strchr(text, ':'))
        return give_numbers(arg, text);
    size_t bytes = 0;
    uint8_t *const block = public_struct(a->c, text, &bytes, why, size);
    const bool ok = block && arg->buffer && give_bytes(arg, block, bytes);
    free(block);
    return ok;
}

/* The part of the kernel's name that begins with the type of an argument: masks have types of their own. */
static const char *part_about(const char *kernel, const char *argument)
{
    const char *const masks = strstr(kernel, "opmask_"), *rest = masks ? strchr(masks + strlen("opmask_"), '_') : NULL;
    if (!rest || strcmp(argument, "out_mask") == 0)
        return kernel;
    return strstr(argument, "mask") ? masks : rest;
}

/* A kernel whose arguments the case gives by name: what it does not name is data of the type in the kernel's name. */
static bool bind_by_name(struct attempt *a, unsigned own)
{
    struct public_case *const c = a->c;
    const struct abi_kernel *const k = &a->compiled.kernel;
    uint64_t state = 99;
    char why[200], text[100];
    for (unsigned i = 0; i < own && own <= PUBLIC_BINDS; i++) {
        const char *value = NULL;
        for (size_t n = 0; n < c->arguments; n++)
            if (strcmp(c->argument[n].name, k->arg[i].name) == 0)
                value = c->argument[n].value;
        snprintf(c->bind[c->binds++], sizeof c->bind[0], "%s", value ? value : k->arg[i].name);
        if (value || !k->arg[i].buffer || public_tensor(c, k->arg[i].name))
            continue;
        if (c->tensors == PUBLIC_TENSORS)
            return false;
        const char *const type = public_type_of_name(part_about(c->kernel, k->arg[i].name));
        const bool truth = strstr(c->kernel, "bool_") && strcmp(type, "u8") == 0, real = *type == 'f' || *type == 'b';
        const int count = strstr(c->kernel, "complex64") ? 32768 : 16384; /* pairs */
        const bool shift = strstr(c->kernel, "Shift") != NULL;            /* by less than any width: more has no result in C++ */
        const char *const whole = truth ? " range=0:2" : shift ? " range=0:8" : " range=1:100"; /* divisors, too */
        snprintf(text, sizeof text, "%s %d%s", type, count, real ? "" : whole);
        if (!public_tensor_make(&c->tensor[c->tensors++], k->arg[i].name, text, &state, why, sizeof why))
            return false;
    }
    return true;
}

/* Sources of other times have the structure of arguments, `args`, behind the buffers and not in front: it is given where it is.
 */
static void move_structure(struct attempt *a, unsigned own)
{
    struct public_case *const c = a->c;
    char word[sizeof c->bind[0]];
    unsigned to = 0;
    while (to < own && strcmp(a->compiled.kernel.arg[to].name, "args") != 0)
        to++;
    if (to == 0 || to >= own || own != c->binds || strstr(c->bind[0], "_kargs_") == NULL)
        return;
    memcpy(word, c->bind[0], sizeof word);
    memmove(c->bind[0], c->bind[1], to * sizeof c->bind[0]);
    memcpy(c->bind[to], word, sizeof word);
}

bool public_give(struct attempt *a, char *why, size_t size)
{
    struct abi_kernel *const k = &a->compiled.kernel;
    unsigned own = 0;
    while (own < k->args && !kernel_launch_knows(&k->arg[own]))
        own++;
    if (a->c->binds == 0 && a->c->arguments > 0 && !bind_by_name(a, own))
        return false;
    while (a->c->binds > own && strncmp(a->c->bind[a->c->binds - 1], "tg:", 3) == 0) /* memory that another version needs */
        a->c->binds--;
    if (own != a->c->binds) {
        size_t used = (size_t)snprintf(why, size, "%u arguments, not %zu:", own, a->c->binds);
        for (unsigned i = 0; i < own && used < size; i++)
            used += (size_t)snprintf(why + used, size - used, " %s", k->arg[i].name);
        return false;
    }
    move_structure(a, own);
    a->threadgroup_first = round_up(k->threadgroup_memory_bytes, THREADGROUP_ALIGN);
    memcpy(k->grid, a->c->grid, sizeof k->grid);
    memcpy(k->group, a->c->group, sizeof k->group);
    for (unsigned i = 0; i < own; i++)
        if (!give(a, i, a->c->bind[i], why, size))
            return false;
    if (a->threadgroup_bytes)
        k->threadgroup_memory_bytes = (uint32_t)(a->threadgroup_first + a->threadgroup_bytes);
    kernel_launch_sizes(k);
    return true;
}
