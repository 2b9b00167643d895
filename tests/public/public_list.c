/* The kernels that a source has, by their names for the host, and which of them stand for the others. */
#include "tests/public/public.h"

#include "isa/array_count.h"
#include "sim/compile/clang.h"
#include "sim/compile/metal_prepass.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *read_text(const char *path, size_t *bytes)
{
    FILE *const in = fopen(path, "rb");
    char *const text = calloc(1, 8u << 20);
    *bytes = in && text ? fread(text, 1, (8u << 20) - 1, in) : 0;
    if (in)
        fclose(in);
    return text;
}

bool public_list(const struct public_case *c, public_name *visit, void *context)
{
    struct clang clang;
    struct orch_error error = {0};
    struct metal_unit unit = {.wanted = NULL};
    const struct compile_request q = {
        .path = c->source, .include = c->include, .includes = c->includes, .define = c->define, .defines = c->defines};
    size_t bytes = 0, source_bytes;
    char *text = NULL, *const source = read_text(c->source, &source_bytes);
    const bool ok = source && clang_find(&clang, &error) &&
                    clang_preprocess(&clang, &q, COMPILE_METAL, source, source_bytes, &text, &bytes, &error) &&
                    metal_prepass(text, bytes, &unit, &error);
    for (size_t i = 0; ok && i < unit.kernels; i++)
        visit(context, unit.kernel[i].name);
    if (!ok)
        printf("%s: %s\n", c->source, error.text);
    metal_unit_free(&unit);
    free(text);
    free(source);
    return ok;
}

/* ---- names ---- */

/* Longer ones first. Of a class one type stands for the others. */
static const struct {
    const char *text, *type;
    char class;
} words[] = {{"complex64", "f32", 'c'}, {"bfloat16_t", "bf16", 'h'}, {"bfloat16", "bf16", 'h'}, {"float16_t", "f16", 'H'},
             {"float16", "f16", 'H'},   {"float32", "f32", 'f'},     {"uint16", "u16", 's'},    {"uint32", "u32", 'u'},
             {"uint64", "u64", 'l'},    {"uint8", "u8", 'b'},        {"int16", "i16", 's'},     {"int32", "i32", 'i'},
             {"int64", "i64", 'l'},     {"int8", "i8", 'b'},         {"bool_", "u8", 'B'},      {"half", "f16", 'H'},
             {"float", "f32", 'f'}};

static size_t word_at(const char *text)
{
    for (size_t i = 0; i < ARRAY_COUNT(words); i++)
        if (strncmp(text, words[i].text, strlen(words[i].text)) == 0)
            return i;
    return ARRAY_COUNT(words);
}

const char *public_type_of_name(const char *kernel)
{
    for (; *kernel; kernel++)
        if (word_at(kernel) < ARRAY_COUNT(words))
            return words[word_at(kernel)].type;
    return "f32";
}

struct cover {
    const char *patterns;
    char (*chosen)[PUBLIC_NAME];
    size_t count, parts;
    uint64_t part[4096]; /* hashes of a part of a name with the classes of its types */
};

static bool matches(const char *patterns, const char *name)
{
    char copy[400], *rest = NULL;
    snprintf(copy, sizeof copy, "%s", patterns);
    for (const char *p = strtok_r(copy, " ", &rest); p; p = strtok_r(NULL, " ", &rest))
        if (fnmatch(p, name, 0) == 0)
            return true;
    return false;
}

/* True when the part was not there yet. */
static bool add_part(struct cover *c, const char *part, size_t length, const char *classes)
{
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)part[i]) * 1099511628211u;
    for (; *classes; classes++)
        hash = (hash ^ (unsigned char)*classes) * 1099511628211u;
    for (size_t i = 0; i < c->parts; i++)
        if (c->part[i] == hash)
            return false;
    if (c->parts < ARRAY_COUNT(c->part))
        c->part[c->parts++] = hash;
    return true;
}

static void choose(void *context, const char *name)
{
    struct cover *const c = context;
    char classes[8] = "";
    bool fresh = false;
    if (!matches(c->patterns, name))
        return;
    for (const char *at = name; *at; at++)
        if (word_at(at) < ARRAY_COUNT(words) && strlen(classes) + 1 < sizeof classes) {
            classes[strlen(classes)] = words[word_at(at)].class;
            at += strlen(words[word_at(at)].text) - 1;
        }
    for (const char *at = name; *at;) {
        const size_t word = word_at(at);
        size_t length = 0;
        while (at[length] && at[length] != '_' && word_at(at + length) == ARRAY_COUNT(words))
            length++;
        if (length > 0 && add_part(c, at, length, classes))
            fresh = true;
        at += length > 0 ? length : word < ARRAY_COUNT(words) ? strlen(words[word].text) : 1;
    }
    char(*const more)[PUBLIC_NAME] = fresh ? realloc(c->chosen, (c->count + 1) * sizeof *more) : NULL;
    if (!more)
        return;
    c->chosen = more;
    snprintf(c->chosen[c->count++], PUBLIC_NAME, "%s", name);
}

size_t public_cover(const struct public_case *c, const char *patterns, char (**names)[PUBLIC_NAME])
{
    struct cover *const cover = calloc(1, sizeof *cover);
    if (!cover)
        return 0;
    cover->patterns = patterns;
    public_list(c, choose, cover);
    const size_t count = cover->count;
    *names = cover->chosen;
    free(cover);
    return count;
}
