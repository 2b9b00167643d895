/* Parameters of kernels: what the host binds stays a parameter, positions become variables of the body. */
#include "sim/compile/metal_parts.h"

#include <stdlib.h>
#include <string.h>

/* Attributes whose value the library knows (orchard::NAME in sim/compile/metal/orchard_kernel). */
static const char *const positions[] = {"thread_position_in_grid",
                                        "threads_per_grid",
                                        "thread_position_in_threadgroup",
                                        "threads_per_threadgroup",
                                        "dispatch_threads_per_threadgroup",
                                        "threadgroup_position_in_grid",
                                        "threadgroups_per_grid",
                                        "thread_index_in_threadgroup",
                                        "thread_index_in_simdgroup",
                                        "simdgroup_index_in_threadgroup",
                                        "simdgroups_per_threadgroup",
                                        "dispatch_simdgroups_per_threadgroup",
                                        "threads_per_simdgroup",
                                        "thread_execution_width",
                                        "thread_index_in_quadgroup",
                                        "quadgroup_index_in_threadgroup",
                                        "quadgroups_per_threadgroup",
                                        "dispatch_quadgroups_per_threadgroup"};

struct parameter {
    uint32_t first, last; /* tokens */
    uint32_t name;        /* METAL_NONE = none */
    const char *position; /* NULL = it is bound */
    bool numbered, conditional, threadgroup;
    unsigned index;
};

struct list {
    struct parameter *at;
    size_t count, room;
};

static bool read_attribute(struct metal_pass *p, uint32_t i, struct parameter *a)
{
    for (size_t k = 0; k < sizeof positions / sizeof *positions; k++)
        if (metal_is(p, i, positions[k])) {
            a->position = positions[k];
            return true;
        }
    if (metal_is(p, i, "function_constant"))
        return a->conditional = true;
    a->threadgroup = metal_is(p, i, "threadgroup");
    if (!a->threadgroup && !metal_is(p, i, "buffer"))
        return metal_unmodelled(p, i, "this attribute of a kernel's argument is not modelled");
    if (!metal_is(p, i + 1, "(") || p->token[i + 2].kind != METAL_NUMBER || !metal_is(p, i + 3, ")"))
        return metal_wrong(p, i, "a number in brackets must follow");
    a->numbered = true;
    a->index = (unsigned)strtoul(p->text + p->token[i + 2].at, NULL, 0);
    return true;
}

/* Reads [[a, b(1)]] and takes it away. */
static bool read_attributes(struct metal_pass *p, uint32_t open, struct parameter *a)
{
    const uint32_t end = p->token[open + 1].match;
    for (uint32_t i = open + 2; i < end; i = metal_skip(p, i))
        if (p->token[i].kind == METAL_NAME && !read_attribute(p, i, a))
            return false;
    metal_replace(p, open, p->token[open].match, "");
    return true;
}

static bool read_parameter(struct metal_pass *p, struct parameter *a)
{
    bool indirect = false;
    a->name = METAL_NONE;
    for (uint32_t i = a->first; i <= a->last; i = metal_skip(p, i)) {
        if (metal_is_attributes(p, i)) {
            if (!read_attributes(p, i, a))
                return false;
        } else if (metal_is(p, i, "=")) {
            break;
        } else if (p->token[i].kind == METAL_NAME) {
            a->name = i;
            a->threadgroup |= metal_is(p, i, "threadgroup");
        } else {
            indirect |= metal_is(p, i, "*") || metal_is(p, i, "&") || metal_is(p, i, "[");
            /* threadgroup float (&tile)[4] */
            if (metal_is(p, i, "(") && !metal_is_attributes(p, i)) {
                a->name = p->token[i].match - 1;
                indirect = true;
            }
        }
    }
    for (uint32_t i = a->first; i <= a->last; i++)
        if (strncmp(p->text + p->token[i].at, "texture", 7) == 0 || metal_is(p, i, "sampler"))
            return metal_unmodelled(p, i, "textures and samplers are not modelled");
    if (a->position || indirect)
        return true;
    return metal_wrong(p, a->first, "this argument of a kernel is no buffer and has no attribute that says what it is");
}

static bool split(struct metal_pass *p, uint32_t open, struct list *list)
{
    const uint32_t close = p->token[open].match;
    for (uint32_t i = open + 1, first = i; i <= close; i = i == close ? i + 1 : metal_skip(p, i)) {
        if (i != close && !metal_is(p, i, ","))
            continue;
        if (i == first && i == close)
            break;
        if (i == first)
            return metal_wrong(p, i, "an argument is missing before it");
        if (i == first + 1 && metal_is(p, first, "void"))
            break;
        struct parameter *at = metal_more(p, list->at, list->count, &list->room, sizeof *at);
        if (!at)
            return orch_no_memory(p->error);
        list->at = at;
        at[list->count++] = (struct parameter){.first = first, .last = i - 1};
        first = i + 1;
    }
    return true;
}

static bool taken(const struct list *list, bool threadgroup, unsigned index)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct parameter *a = &list->at[i];
        if (!a->position && a->numbered && a->threadgroup == threadgroup && a->index == index)
            return true;
    }
    return false;
}

/* Arguments without a number get the lowest that is free, in the order of their declaration. */
static void number(struct list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        struct parameter *a = &list->at[i];
        if (a->position || a->numbered)
            continue;
        unsigned index = 0;
        while (taken(list, a->threadgroup, index))
            index++;
        a->index = index;
        a->numbered = true;
    }
}

/* Positions go from the list, with one of the commas beside them. */
static void remove_positions(struct metal_pass *p, uint32_t open, const struct list *list, uint32_t body)
{
    bool kept = false;
    for (size_t i = 0; i < list->count; i++) {
        const struct parameter *a = &list->at[i];
        if (!a->position) {
            if (!kept && i > 0)
                metal_replace(p, a->first - 1, a->first - 1, "");
            kept = true;
            continue;
        }
        if (body != METAL_NONE && a->name != METAL_NONE) {
            uint32_t end = a->name;
            const char *text = metal_text(p, a->first, end);
            const char *name = metal_text(p, end, end);
            metal_insert_after(p, body, metal_format(p, " %s = orchard::%s<decltype(%s)>();", text, a->position, name),
                               METAL_RANK_OPEN);
        }
        const bool comma = kept && a->first > open + 1;
        metal_replace(p, comma ? a->first - 1 : a->first, a->last, "");
        if (!comma && i > 0)
            metal_replace(p, a->first - 1, a->first - 1, "");
    }
}

static bool describe(struct metal_pass *p, const struct list *list, struct metal_kernel *k)
{
    struct metal_argument *argument = metal_alloc(p, (list->count + 1) * sizeof *argument);
    if (!argument)
        return orch_no_memory(p->error);
    k->argument = argument;
    for (size_t i = 0; i < list->count; i++) {
        const struct parameter *a = &list->at[i];
        if (a->position)
            continue;
        argument[k->arguments++] = (struct metal_argument){.name = a->name == METAL_NONE ? "" : metal_text(p, a->name, a->name),
                                                           .kind = a->threadgroup ? METAL_THREADGROUP : METAL_BUFFER,
                                                           .index = a->index,
                                                           .conditional = a->conditional};
    }
    return true;
}

bool metal_parameters(struct metal_pass *p, uint32_t open, struct metal_kernel *k, uint32_t body)
{
    struct list list = {0};
    if (!split(p, open, &list))
        return false;
    for (size_t i = 0; i < list.count; i++)
        if (!read_parameter(p, &list.at[i]))
            return false;
    number(&list);
    if (body != METAL_NONE || !k)
        remove_positions(p, open, &list, body);
    return !k || describe(p, &list, k);
}

const char *metal_bound(struct metal_pass *p, uint32_t open)
{
    struct list list = {0};
    if (!split(p, open, &list))
        return NULL;
    const char *text = "";
    for (size_t i = 0; i < list.count; i++) {
        struct parameter *a = &list.at[i];
        if (!read_parameter(p, a))
            return NULL;
        uint32_t last = a->first;
        while (last < a->last && !metal_is_attributes(p, last + 1))
            last++;
        if (!a->position)
            text = metal_format(p, "%s%s%s", text, *text ? ", " : "", metal_text(p, a->first, last));
    }
    return text;
}
