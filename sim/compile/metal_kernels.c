/* Kernels: marked in the source by `kernel` or [[kernel]], defined as functions or as explicit instantiations of templates. */
#include "sim/compile/metal_parts.h"

#include <stdlib.h>
#include <string.h>

struct found {
    uint32_t first, open, close, end; /* of the declaration: its first token, its parameters' brackets, its last token */
    uint32_t name;                    /* the token before the parameters */
    uint32_t body;                    /* the `{`, METAL_NONE = declared only */
    const char *host_name;            /* NULL = none given */
    bool is_template;
};

/* Text of the string literals in brackets: ( "a" "b" ). */
static const char *joined_strings(struct metal_pass *p, uint32_t open)
{
    const char *text = "";
    for (uint32_t i = open + 1; i < p->token[open].match; i++) {
        const struct metal_token *t = &p->token[i];
        if (t->kind == METAL_STRING && t->length >= 2)
            text = metal_format(p, "%s%.*s", text, (int)t->length - 2, p->text + t->at + 1);
    }
    return text;
}

/* Takes [[...]] lists away between two tokens and keeps the host name that one of them gives. */
static void take_attributes(struct metal_pass *p, uint32_t first, uint32_t last, const char **host_name)
{
    for (uint32_t i = first; i <= last && i < p->tokens; i++) {
        if (metal_is(p, i, "kernel") && p->token[i].parent == p->token[first].parent)
            metal_replace(p, i, i, "");
        if (!metal_is_attributes(p, i))
            continue;
        const uint32_t end = p->token[i].match;
        for (uint32_t j = i; j < end; j++)
            if (metal_is(p, j, "host_name") && metal_is(p, j + 1, "("))
                *host_name = joined_strings(p, j + 1);
        metal_replace(p, i, end, "");
        i = end;
    }
}

static bool wanted(const struct metal_pass *p, const char *name)
{
    return !p->unit->wanted || strcmp(p->unit->wanted, name) == 0;
}

static struct metal_kernel *add_kernel(struct metal_pass *p, uint32_t at, const char *name, const char *function)
{
    struct metal_kernel *all = metal_more(p, p->kernel, p->kernels, &p->kernel_room, sizeof *all);
    if (!all)
        return NULL;
    p->kernel = all;
    struct metal_kernel *k = &all[p->kernels];
    const struct metal_token *t = &p->token[at];
    *k = (struct metal_kernel){
        .name = name, .function = function, .line = t->line, .file = t->file < p->files ? p->file[t->file] : ""};
    if (wanted(p, name))
        k->entry = metal_format(p, "__orchard_kernel_%zu", p->kernels);
    p->kernels++;
    return k;
}

#define TYPES " extern \"C\" [[gnu::used]] const orchard::letters<decltype(%s)> %s_types = {};"

/* The variable that holds the kernel's address keeps it in the program and tells its host name; another tells the types of its
 * parameters. */
static const char *entry_text(struct metal_pass *p, const struct metal_kernel *k, const char *parameters)
{
    if (parameters) /* which of several functions of that name it is */
        return metal_format(p, " extern \"C\" [[clang::annotate(\"host_name=%s\"), gnu::used]] void (*const %s)(%s) = &%s;" TYPES,
                            k->name, k->entry, parameters, k->function, k->entry, k->entry);
    return metal_format(p, " extern \"C\" [[clang::annotate(\"host_name=%s\"), gnu::used]] auto *const %s = &%s;" TYPES, k->name,
                        k->entry, k->function, k->entry, k->entry);
}

/* template [[host_name("scale_f32")]] [[kernel]] decltype(scale<float>) scale<float>; or with the parameters written out. */
static bool instantiation(struct metal_pass *p, uint32_t first, uint32_t end)
{
    const char *host_name = NULL;
    for (uint32_t i = first; i < end; i++)
        if (metal_is(p, i, "host_name") && metal_is(p, i + 1, "("))
            host_name = joined_strings(p, i + 1);
    uint32_t last = end - 1;
    const char *parameters = NULL;
    if (metal_is(p, last, ")")) {
        const uint32_t open = p->token[last].match;
        last = open - 1;
        if (!metal_is(p, last, ">") && !(parameters = metal_bound(p, open)))
            return false;
    }
    uint32_t name = last;
    if (name != METAL_NONE && metal_is(p, name, ">"))
        name = metal_skip_back(p, name);
    if (name == METAL_NONE || name <= first || p->token[name].kind != METAL_NAME)
        return metal_wrong(p, first, "this explicit instantiation names no function");
    while (name >= 2 && metal_is(p, name - 1, "::") && p->token[name - 2].kind == METAL_NAME)
        name -= 2;
    const char *function = metal_text(p, name, last);
    const struct metal_kernel *k = add_kernel(p, first, host_name ? host_name : function, function);
    if (k)
        metal_replace(p, first, end, k->entry ? entry_text(p, k, parameters) : "");
    return true;
}

/* The parts of the function that token i belongs to; false when it is none. */
static bool find_function(const struct metal_pass *p, uint32_t i, struct found *f)
{
    if (metal_is(p, p->token[i].parent, "["))
        i = p->token[p->token[i].parent].parent; /* out of [[...]] */
    f->first = metal_declaration(p, i);
    for (uint32_t j = f->first; j < i; j++)
        f->is_template |= metal_is(p, j, "template") && metal_is(p, j + 1, "<");
    uint32_t j = i;
    while (j < p->tokens && !metal_is(p, j, "(")) {
        if (metal_is(p, j, ";") || metal_is(p, j, "{") || metal_is(p, j, "}") || metal_is(p, j, "="))
            return false;
        j = metal_skip(p, j);
    }
    if (j >= p->tokens || j == 0 || p->token[j - 1].kind != METAL_NAME)
        return false;
    f->name = j - 1;
    f->open = j;
    f->close = p->token[j].match;
    f->body = METAL_NONE;
    for (j = f->close + 1; j < p->tokens && !metal_is(p, j, ";") && !metal_is(p, j, "{");)
        j = metal_skip(p, j);
    if (j >= p->tokens)
        return false;
    if (metal_is(p, j, "{"))
        f->body = j;
    f->end = f->body == METAL_NONE ? j : p->token[j].match;
    return true;
}

static bool function(struct metal_pass *p, struct found *f)
{
    take_attributes(p, f->first, f->open - 1, &f->host_name);
    take_attributes(p, f->close + 1, f->body == METAL_NONE ? f->end : f->body - 1, &f->host_name);
    const char *name = metal_text(p, f->name, f->name);
    if (f->is_template)
        return metal_parameters(p, f->open, NULL, f->body);
    if (f->body == METAL_NONE) {
        metal_replace(p, f->first, f->end, "");
        return true;
    }
    /* A kernel may have the name of a function of the library, which is there by its first name as well. */
    const char *const global = p->token[f->first].parent == METAL_NONE ? metal_format(p, "::%s", name) : name;
    struct metal_kernel *k = global ? add_kernel(p, f->name, f->host_name ? f->host_name : name, global) : NULL;
    if (!k)
        return orch_no_memory(p->error);
    if (!k->entry) {
        metal_replace(p, f->first, f->end, "");
        return true;
    }
    if (!metal_parameters(p, f->open, k, f->body))
        return false;
    metal_insert_after(p, f->end, entry_text(p, k, NULL), METAL_RANK_CLOSE);
    return true;
}

/* Functions of other stages are left out; asked for, they are refused. */
static bool other_stage(struct metal_pass *p, uint32_t i)
{
    struct found f = {0};
    if (!find_function(p, i, &f))
        return true;
    if (p->unit->wanted && metal_is(p, f.name, p->unit->wanted))
        return metal_unmodelled(p, f.name, "functions of rendering and ray tracing are not modelled");
    metal_replace(p, f.first, f.end, "");
    return true;
}

static bool is_stage(const struct metal_pass *p, uint32_t i)
{
    static const char *const stage[] = {"vertex", "fragment", "mesh", "object", "intersection", "visible"};
    const bool attribute = i > 1 && metal_is(p, i - 1, "[") && metal_is(p, i - 2, "[");
    const bool word = p->token[i].parent == METAL_NONE && i + 1 < p->tokens && p->token[i + 1].kind == METAL_NAME;
    for (size_t s = 0; s < sizeof stage / sizeof *stage; s++)
        if (metal_is(p, i, stage[s]))
            return attribute || (word && s < 2 && metal_declaration(p, i) == i);
    return false;
}

/* Kernels of templates get their arguments where the template is defined. */
static void share_arguments(struct metal_pass *p, struct metal_kernel *const template_, const char *name)
{
    const size_t length = strlen(name);
    for (size_t i = 0; i < p->kernels; i++) {
        struct metal_kernel *k = &p->kernel[i];
        const char *at = strchr(k->function, '<');
        const char *start = k->function, *end = at ? at : k->function + strlen(k->function);
        for (const char *s = start; s < end; s++)
            if (*s == ':')
                start = s + 1;
        while (end > start && end[-1] == ' ')
            end--;
        if (k->argument || (size_t)(end - start) != length || memcmp(start, name, length) != 0)
            continue;
        k->argument = template_->argument;
        k->arguments = template_->arguments;
    }
}

static bool template_arguments_of(struct metal_pass *p, uint32_t i)
{
    struct found f = {0};
    if (!find_function(p, i, &f) || !f.is_template || f.body == METAL_NONE)
        return true;
    struct metal_kernel k = {0};
    if (!metal_parameters(p, f.open, &k, METAL_NONE))
        return false;
    share_arguments(p, &k, metal_text(p, f.name, f.name));
    return true;
}

static bool is_kernel(const struct metal_pass *p, uint32_t i)
{
    if (!metal_is(p, i, "kernel"))
        return false;
    const bool attribute = i > 1 && metal_is(p, i - 1, "[") && metal_is(p, i - 2, "[");
    return attribute || (i + 1 < p->tokens && (p->token[i + 1].kind == METAL_NAME || metal_is_attributes(p, i + 1)));
}

bool metal_kernels(struct metal_pass *p)
{
    for (uint32_t i = 0; i < p->tokens; i++) {
        const uint32_t at = i;
        if (is_stage(p, i)) {
            if (!other_stage(p, i))
                return false;
        } else if (metal_is(p, i, "template") && !metal_is(p, i + 1, "<")) {
            uint32_t end = i + 1;
            bool names_kernel = false;
            for (; end < p->tokens && !metal_is(p, end, ";"); end++)
                names_kernel |= metal_is(p, end, "host_name") || is_kernel(p, end);
            if (names_kernel && end < p->tokens && !instantiation(p, i, end))
                return false;
            if (names_kernel)
                i = end;
        } else if (is_kernel(p, i)) {
            struct found f = {0};
            if (!find_function(p, i, &f))
                return metal_wrong(p, at, "no function follows");
            if (!function(p, &f))
                return false;
            i = f.close;
        }
    }
    for (uint32_t i = 0; i < p->tokens; i++) {
        if (metal_is(p, i, "template") && !metal_is(p, i + 1, "<"))
            while (i < p->tokens && !metal_is(p, i, ";"))
                i++;
        else if (is_kernel(p, i) && !template_arguments_of(p, i))
            return false;
    }
    return true;
}
