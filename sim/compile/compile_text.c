/* Results of the compiler as JSON, for the cache. */
#include "sim/compile/compile_cache.h"

#include "sim/base/json_out.h"
#include "sim/base/json_read.h"

#include <stdlib.h>
#include <string.h>

/* Numbers of a kernel with their names in the document. */
#define NUMBERS(X)                                                                                                               \
    X(main_offset)                                                                                                               \
    X(preamble_offset)                                                                                                           \
    X(constants_offset)                                                                                                          \
    X(constants_first)                                                                                                           \
    X(constants_count)                                                                                                           \
    X(argument_bytes)                                                                                                            \
    X(register_halves)                                                                                                           \
    X(threadgroup_memory_bytes)                                                                                                  \
    X(stack_words)

static const char digits[] = "0123456789abcdef";

/* ---- writing ---- */

static json_object *bytes_json(const uint8_t *bytes, size_t count)
{
    char *const text = malloc(2 * count + 1);
    if (!text)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        text[2 * i] = digits[bytes[i] >> 4];
        text[2 * i + 1] = digits[bytes[i] & 15];
    }
    json_object *const o = json_object_new_string_len(text, (int)(2 * count));
    free(text);
    return o;
}

static json_object *arguments_json(const struct abi_kernel *k)
{
    json_object *const list = json_object_new_array();
    for (unsigned i = 0; i < k->args && list; i++) {
        json_object *const o = json_object_new_object();
        json_add_text(o, "name", k->arg[i].name);
        json_add_bool(o, "buffer", k->arg[i].buffer);
        json_add_bool(o, "constant", k->arg[i].constant);
        json_add_bool(o, "threadgroup", k->arg[i].threadgroup);
        json_add_text(o, "type", element_type_name(k->arg[i].type));
        json_add_count(o, "offset", k->arg[i].offset);
        json_add_count(o, "size", k->arg[i].size);
        json_object_array_add(list, o);
        if (!k->arg[i].initial) /* only constant tables have contents as yet */
            continue;
        json_object *const contents = bytes_json(k->arg[i].initial, k->arg[i].bytes);
        if (!contents) {
            json_object_put(list);
            return NULL;
        }
        json_object_object_add(o, "contents", contents);
    }
    return list;
}

struct json_object *compile_to_json(const struct compile_result *r, const char *key)
{
    const struct abi_kernel *const k = &r->kernel;
    json_object *const top = json_object_new_object(), *const group = json_object_new_array(),
                       *const lines = json_object_new_array(), *const files = json_object_new_array(),
                       *const code = bytes_json(k->code, k->code_bytes), *const arguments = arguments_json(k);
    if (!top || !group || !lines || !files || !code || !arguments)
        return NULL;
    json_add_text(top, "key", key);
    json_add_text(top, "name", k->name);
#define X(member) json_add_count(top, #member, k->member);
    NUMBERS(X)
#undef X
    json_add_bool(top, "has_preamble", k->has_preamble);
    for (int i = 0; i < 3; i++)
        json_object_array_add(group, json_object_new_int64(k->group[i]));
    json_object_object_add(top, "group", group);
    json_object_object_add(top, "arguments", arguments);
    for (size_t i = 0; i < r->lines; i++) {
        json_object_array_add(lines, json_object_new_int64(r->line[i].offset));
        json_object_array_add(lines, json_object_new_int64(r->line[i].file));
        json_object_array_add(lines, json_object_new_int64(r->line[i].line));
    }
    json_object_object_add(top, "lines", lines);
    for (size_t i = 0; i < r->files; i++)
        json_object_array_add(files, json_object_new_string(r->file[i]));
    json_object_object_add(top, "files", files);
    json_add_count(top, "spills", r->spills);
    json_add_text(top, "warnings", r->warnings ? r->warnings : "");
    json_object_object_add(top, "code", code);
    return top;
}

/* ---- reading ---- */

static unsigned digit(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

/* NULL when it is no text of whole bytes, or memory ran out. */
static uint8_t *read_bytes(const char *text, size_t *count)
{
    const size_t length = strlen(text);
    uint8_t *const bytes = length % 2 || strspn(text, digits) != length ? NULL : malloc(length / 2 + 1);
    if (!bytes)
        return NULL;
    *count = length / 2;
    for (size_t i = 0; i < *count; i++)
        bytes[i] = (uint8_t)(digit(text[2 * i]) << 4 | digit(text[2 * i + 1]));
    bytes[*count] = 0;
    return bytes;
}

static bool read_code(const struct json_node *top, struct abi_kernel *k)
{
    k->code = read_bytes(json_get_string(top, "code"), &k->code_bytes);
    return k->code != NULL;
}

static bool read_contents(const char *text, struct abi_arg *a)
{
    size_t count;
    if (!text)
        return true;
    a->initial = read_bytes(text, &count);
    a->count = a->bytes = count;
    a->start = ABI_START_BYTES;
    a->unchanged = true;
    return a->initial != NULL;
}

static bool read_arguments(const struct json_node *top, struct abi_kernel *k)
{
    const struct json_node list = json_get_array(top, "arguments", 0, ABI_ARGS_MAX);
    struct json_node item;
    for (struct json_walk walk = {.of = &list}; json_next(&walk, &item);) {
        struct abi_arg *const a = &k->arg[k->args++];
        json_get_text(&item, "name", a->name, sizeof a->name);
        a->buffer = json_find_boolean(&item, "buffer", false);
        a->constant = json_find_boolean(&item, "constant", false);
        a->threadgroup = json_find_boolean(&item, "threadgroup", false);
        a->type = element_type_find(json_get_string(&item, "type"));
        a->offset = (uint32_t)json_get_integer(&item, "offset", 0, 1022);
        a->size = (uint32_t)json_get_integer(&item, "size", 1, 8);
        if (a->type == ELEMENT_TYPE_COUNT || !read_contents(json_find_string(&item, "contents", NULL), a))
            return false;
    }
    return json_ok(top);
}

static bool read_lines(const struct json_node *top, struct compile_result *r)
{
    const struct json_node files = json_get_array(top, "files", 0, SIZE_MAX), lines = json_get_array(top, "lines", 0, SIZE_MAX);
    struct json_node item;
    if (!json_ok(top))
        return false;
    r->file = calloc(json_count(&files) + 1, sizeof *r->file);
    r->line = calloc(json_count(&lines) / 3 + 1, sizeof *r->line);
    if (!r->file || !r->line)
        return false;
    for (struct json_walk walk = {.of = &files}; json_next(&walk, &item); r->files++)
        if (!(r->file[r->files] = strdup(json_get_string(&item, NULL))))
            return false;
    r->lines = json_count(&lines) / 3;
    for (struct json_walk walk = {.of = &lines}; json_next(&walk, &item) && item.index < 3 * r->lines;) {
        struct compile_line *const l = &r->line[item.index / 3];
        *(item.index % 3 == 0   ? &l->offset
          : item.index % 3 == 1 ? &l->file
                                : &l->line) = (uint32_t)json_get_integer(&item, NULL, 0, UINT32_MAX);
    }
    for (size_t i = 0; i < r->lines; i++)
        if (r->line[i].file >= r->files)
            return false;
    return json_ok(top);
}

static bool read_all(const struct json_node *top, const char *key, struct compile_result *r)
{
    struct abi_kernel *const k = &r->kernel;
    struct json_node item;
    if (strcmp(json_get_string(top, "key"), key) != 0)
        return false;
    json_get_text(top, "name", k->name, sizeof k->name);
#define X(member) k->member = (uint32_t)json_get_integer(top, #member, 0, UINT32_MAX);
    NUMBERS(X)
#undef X
    k->has_preamble = json_find_boolean(top, "has_preamble", false);
    const struct json_node group = json_get_array(top, "group", 3, 3);
    for (struct json_walk walk = {.of = &group}; json_next(&walk, &item);)
        k->group[item.index] = (uint32_t)json_get_integer(&item, NULL, 0, UINT32_MAX);
    r->spills = (unsigned)json_get_integer(top, "spills", 0, UINT32_MAX);
    r->warnings = strdup(json_get_string(top, "warnings"));
    return json_ok(top) && r->warnings && read_code(top, k) && read_arguments(top, k) && read_lines(top, r) && json_ok(top) &&
           k->main_offset + 2ull <= k->code_bytes && (!k->has_preamble || k->preamble_offset + 2ull <= k->code_bytes) &&
           k->constants_offset + 2ull * k->constants_count <= k->code_bytes && k->constants_first + k->constants_count <= 512;
}

bool compile_from_json(const char *text, size_t bytes, const char *key, struct compile_result *r)
{
    struct json_reader document;
    struct orch_error unused = {0};
    *r = (struct compile_result){.lines = 0};
    if (!json_reader_open(&document, "cache", text, bytes, &unused))
        return false;
    const struct json_node top = json_top(&document);
    const bool ok = read_all(&top, key, r);
    return json_reader_close(&document) && ok;
}
