#include "sim/workload/gpu/abi_source.h"

#include "sim/base/json_out.h"
#include "sim/base/json_read.h"

#include <stdlib.h>
#include <string.h>

enum {
    AROUND = 3,            /* lines shown before and after a line with code */
    TEXT_BYTES = 400,      /* of a line */
    ENTRIES_MAX = 1 << 20, /* of a table that is read */
    LINE_MAX = 10 << 20
};

struct abi_source *abi_source_create(size_t lines, size_t files)
{
    struct abi_source *const s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->line = calloc(lines + 1, sizeof *s->line);
    s->file = calloc(files + 1, sizeof *s->file);
    if (s->line && s->file)
        return s;
    abi_source_free(s);
    return NULL;
}

void abi_source_free(struct abi_source *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->files; i++)
        free(s->file[i]);
    for (size_t i = 0; i < s->texts; i++)
        free(s->text[i].text);
    free(s->line);
    free(s->file);
    free(s->text);
    free(s);
}

const struct abi_source_line *abi_source_find(const struct abi_source *s, uint32_t offset)
{
    size_t low = 0, high = s->lines;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (s->line[middle].offset <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? &s->line[low - 1] : NULL;
}

/* ---- texts ---- */

/* The bytes of a character of UTF-8 that stands here whole; 0 = none does. */
static size_t character(const unsigned char *at)
{
    const size_t length = at[0] < 0x80 ? 1 : at[0] >> 5 == 6 ? 2 : at[0] >> 4 == 14 ? 3 : at[0] >> 3 == 30 ? 4 : 0;
    for (size_t i = 1; i < length; i++)
        if (at[i] >> 6 != 2)
            return 0;
    const bool overlong = (length == 2 && at[0] < 0xc2) || (length == 3 && at[0] == 0xe0 && at[1] < 0xa0) ||
                          (length == 4 && ((at[0] == 0xf0 && at[1] < 0x90) || at[0] > 0xf4));
    return overlong || (length == 3 && at[0] == 0xed && at[1] >= 0xa0) ? 0 : length;
}

char *abi_source_clean(char *text)
{
    for (unsigned char *at = (unsigned char *)text; at && *at;) {
        const size_t length = character(at);
        if (!length || (*at < ' ' && *at != '\t') || *at == 0x7f)
            *at = '?';
        at += length ? length : 1;
    }
    return text;
}

static uint32_t last_line(const struct abi_source *s, uint32_t file)
{
    uint32_t last = 0;
    for (size_t i = 0; i < s->lines; i++)
        if (s->line[i].file == file && s->line[i].line > last)
            last = s->line[i].line;
    return last;
}

/* Marks the lines to show: wanted[line], up to `last`. */
static void mark(const struct abi_source *s, uint32_t file, bool *wanted, uint32_t last)
{
    for (size_t i = 0; i < s->lines; i++) {
        const uint32_t line = s->line[i].line;
        if (s->line[i].file != file || !line)
            continue;
        for (uint32_t n = line > AROUND ? line - AROUND : 1; n <= line + AROUND && n <= last; n++)
            wanted[n] = true;
    }
}

static bool add_text(struct abi_source *s, uint32_t file, uint32_t line, const char *text, size_t length)
{
    struct abi_source_text *const list = reallocarray(s->text, s->texts + 1, sizeof *list);
    if (!list)
        return false;
    s->text = list;
    char *const copy = strndup(text, length < TEXT_BYTES ? length : TEXT_BYTES);
    list[s->texts] = (struct abi_source_text){file, line, abi_source_clean(copy)};
    return list[s->texts].text && ++s->texts;
}

bool abi_source_take_text(struct abi_source *s, uint32_t file, const char *text, size_t bytes)
{
    const uint32_t code = last_line(s, file), last = code + AROUND;
    const char *const end = text + bytes;
    bool ok = true;
    if (!code || code > LINE_MAX)
        return true;
    bool *const wanted = calloc((size_t)last + 1, sizeof *wanted);
    if (!wanted)
        return false;
    mark(s, file, wanted, last);
    for (uint32_t line = 1; ok && line <= last && text < end; line++) {
        const char *const newline = memchr(text, '\n', (size_t)(end - text)), *const stop = newline ? newline : end;
        const size_t length = (size_t)(stop - text), shown = length && stop[-1] == '\r' ? length - 1 : length;
        ok = !wanted[line] || add_text(s, file, line, text, shown);
        text = newline ? newline + 1 : end;
    }
    free(wanted);
    return ok;
}

/* ---- in descriptions ---- */

static bool read_entries(const struct json_node *list, struct abi_source *s)
{
    struct json_node item, number;
    for (struct json_walk walk = {.of = list}; json_next(&walk, &item);) {
        const struct json_node three = json_get_array(&item, NULL, 3, 3);
        uint32_t value[3] = {0};
        for (struct json_walk in = {.of = &three}; json_next(&in, &number);)
            value[number.index] = (uint32_t)json_get_integer(&number, NULL, 0, UINT32_MAX);
        s->line[s->lines++] = (struct abi_source_line){value[0], value[1], value[2]};
        if (value[1] >= s->files || (s->lines > 1 && value[0] < s->line[s->lines - 2].offset))
            json_wrong(&item, NULL, "names a file that is not listed, or stands out of order");
    }
    return json_ok(list);
}

static bool read_texts(const struct json_node *top, struct abi_source *s)
{
    const struct json_node list = json_find_array(top, "text", 0, ENTRIES_MAX);
    struct json_node item;
    bool ok = true;
    for (struct json_walk walk = {.of = &list}; ok && json_next(&walk, &item);) {
        const uint32_t file = (uint32_t)json_get_integer(&item, "file", 0, UINT32_MAX);
        const uint32_t line = (uint32_t)json_get_integer(&item, "line", 1, LINE_MAX);
        const char *const text = json_get_string(&item, "text");
        if (file >= s->files)
            json_wrong(&item, "file", "is not listed");
        ok = add_text(s, file, line, text, strlen(text));
    }
    return ok;
}

bool abi_source_read(const struct json_node *top, struct abi_source **source, struct orch_error *error)
{
    const struct json_node node = json_find_object(top, "source_lines");
    struct json_node item;
    *source = NULL;
    if (!json_ok(top) || !node.value)
        return json_ok(top);
    const struct json_node files = json_get_array(&node, "files", 0, ENTRIES_MAX),
                           lines = json_get_array(&node, "offset_file_line", 0, ENTRIES_MAX);
    struct abi_source *const s = *source = abi_source_create(json_count(&lines), json_count(&files));
    if (!s)
        return orch_no_memory(error);
    s->spills = (unsigned)json_find_integer(top, "spills", 0, 0, UINT32_MAX);
    for (struct json_walk walk = {.of = &files}; json_next(&walk, &item); s->files++)
        if (!(s->file[s->files] = abi_source_clean(strdup(json_get_string(&item, NULL)))))
            return orch_no_memory(error);
    return read_entries(&lines, s) && (read_texts(&node, s) || orch_no_memory(error)) && json_ok(top);
}

struct json_object *abi_source_json(const struct abi_source *s)
{
    json_object *const o = json_object_new_object(), *const files = json_object_new_array(),
                       *const list = json_object_new_array(), *const texts = json_object_new_array();
    for (size_t i = 0; i < s->files; i++)
        json_object_array_add(files, json_object_new_string(s->file[i]));
    for (size_t i = 0; i < s->lines; i++) {
        json_object *const line = json_object_new_array();
        json_object_array_add(line, json_object_new_int64(s->line[i].offset));
        json_object_array_add(line, json_object_new_int64(s->line[i].file));
        json_object_array_add(line, json_object_new_int64(s->line[i].line));
        json_object_array_add(list, line);
    }
    for (size_t i = 0; i < s->texts; i++) {
        json_object *const text = json_object_new_object();
        json_add_count(text, "file", s->text[i].file);
        json_add_count(text, "line", s->text[i].line);
        json_add_text(text, "text", s->text[i].text);
        json_object_array_add(texts, text);
    }
    json_object_object_add(o, "files", files);
    json_object_object_add(o, "offset_file_line", list);
    if (s->texts)
        json_object_object_add(o, "text", texts);
    else
        json_object_put(texts);
    return o;
}
