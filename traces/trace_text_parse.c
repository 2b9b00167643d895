#include "traces/trace_codec.h"
#include "traces/trace_text.h"

#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct trace_text_parser {
    json_tokener *tokener;
    json_object *line;
    uint64_t *list;
    size_t capacity;
    char why[200];
};

struct trace_text_parser *trace_text_parser_create(void)
{
    struct trace_text_parser *p = calloc(1, sizeof *p);
    if (p)
        p->tokener = json_tokener_new_ex(8);
    if (p && p->tokener) {
        json_tokener_set_flags(p->tokener, JSON_TOKENER_STRICT);
        return p;
    }
    free(p);
    return NULL;
}

void trace_text_parser_free(struct trace_text_parser *p)
{
    if (!p)
        return;
    json_object_put(p->line);
    json_tokener_free(p->tokener);
    free(p->list);
    free(p);
}

static bool wrong(struct trace_text_parser *p, const char **why, const char *name, const char *what)
{
    snprintf(p->why, sizeof p->why, "%.60s%s%.120s", name, *name ? ": " : "", what);
    *why = p->why;
    return false;
}

static bool read_line(struct trace_text_parser *p, const char *line, size_t size, const char **why)
{
    json_object_put(p->line);
    p->line = NULL;
    json_tokener_reset(p->tokener);
    if (size > TRACE_LINE_MAX)
        return wrong(p, why, "", "the line is longer than 1 MiB");
    p->line = json_tokener_parse_ex(p->tokener, line, (int)size);
    if (!p->line && json_tokener_get_error(p->tokener) == json_tokener_continue)
        return wrong(p, why, "", "the line ends in the middle of a record");
    if (!p->line || json_tokener_get_parse_end(p->tokener) != size || !json_object_is_type(p->line, json_type_object))
        return wrong(p, why, "", "not a JSON object");
    return true;
}

bool trace_text_parse_header(struct trace_text_parser *p, const char *line, size_t size, struct trace_header *header,
                             const char **why)
{
    json_object *value;
    memset(header, 0, sizeof *header);
    if (!read_line(p, line, size, why))
        return false;
    if (!json_object_object_get_ex(p->line, "trace", &value) || !json_object_is_type(value, json_type_int))
        return wrong(p, why, "", "the first line is not {\"trace\":1, ...}");
    if (json_object_get_int(value) != 1)
        return wrong(p, why, "trace", "written by a later version; this program reads 1");
    const struct {
        const char *name;
        const char **to;
    } rows[] = {
#define X(name) {#name, &header->name},
        TRACE_HEADER_TABLE(X)
#undef X
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (!json_object_object_get_ex(p->line, rows[i].name, &value))
            continue;
        if (!json_object_is_type(value, json_type_string))
            return wrong(p, why, rows[i].name, "not a string");
        *rows[i].to = json_object_get_string(value);
    }
    return true;
}

static bool whole(const json_object *value, uint64_t *number)
{
    if (!json_object_is_type(value, json_type_int) || (json_object_get_int64(value) < 0))
        return false;
    *number = json_object_get_uint64(value);
    return true;
}

static bool pattern(json_object *value, uint64_t *number)
{
    const char *text = json_object_is_type(value, json_type_string) ? json_object_get_string(value) : "";
    char *end;
    if (strncmp(text, "0x", 2) != 0 || !text[2] || text[2] == '-' || text[2] == '+' || text[2] == ' ')
        return false;
    errno = 0;
    *number = strtoull(text + 2, &end, 16);
    return *end == 0 && errno == 0;
}

static bool read_list(struct trace_text_parser *p, json_object *value, struct trace_list *list)
{
    const size_t count = json_object_is_type(value, json_type_array) ? json_object_array_length(value) : TRACE_AFTER_MAX + 1;
    if (count > TRACE_AFTER_MAX)
        return false;
    if (count > p->capacity) {
        uint64_t *bigger = realloc(p->list, count * sizeof *bigger);
        if (!bigger)
            return false;
        p->list = bigger;
        p->capacity = count;
    }
    for (size_t i = 0; i < count; i++)
        if (!whole(json_object_array_get_idx(value, i), &p->list[i]))
            return false;
    *list = (struct trace_list){p->list, count};
    return true;
}

/* Reads a field. Returns NULL, or what is wrong with its value. */
static const char *read_field(struct trace_text_parser *p, json_object *value, const struct trace_field *field, char *to)
{
    uint64_t number;
    int64_t time;
    double real;
    const char *text;
    struct trace_list list;
    switch (field->type) {
    case TRACE_TEXT:
        if (!json_object_is_type(value, json_type_string) ||
            strlen(json_object_get_string(value)) != (size_t)json_object_get_string_len(value))
            return "not a string";
        text = json_object_get_string(value);
        memcpy(to, &text, sizeof text);
        return NULL;
    case TRACE_LIST:
        if (!read_list(p, value, &list))
            return "not a list of operators";
        memcpy(to, &list, sizeof list);
        return NULL;
    case TRACE_REAL:
        if (!json_object_is_type(value, json_type_double) && !json_object_is_type(value, json_type_int))
            return "not a number";
        real = json_object_get_double(value);
        memcpy(to, &real, sizeof real);
        return NULL;
    case TRACE_TIME:
        if (!json_object_is_type(value, json_type_int))
            return "not a time in picoseconds";
        time = json_object_get_int64(value);
        memcpy(to, &time, sizeof time);
        return NULL;
    case TRACE_PC:
    case TRACE_HEX:
        if (!pattern(value, &number))
            return "not a pattern like \"0x1f\"";
        memcpy(to, &number, sizeof number);
        return NULL;
    case TRACE_NUMBER:
    case TRACE_ID:
        if (!whole(value, &number))
            return "not a whole number";
        memcpy(to, &number, sizeof number);
        return NULL;
    }
    return "not known";
}

static enum trace_kind kind_of(const char *name)
{
    for (int kind = 2; kind < TRACE_KIND_END; kind++)
        if (strcmp(trace_kind_name((enum trace_kind)kind), name) == 0)
            return (enum trace_kind)kind;
    return TRACE_KIND_END;
}

bool trace_text_parse(struct trace_text_parser *p, const char *line, size_t size, struct trace_record *record, const char **why)
{
    json_object *value;
    size_t count, known = 1;
    if (!read_line(p, line, size, why))
        return false;
    if (!json_object_object_get_ex(p->line, "record", &value) || !json_object_is_type(value, json_type_string))
        return wrong(p, why, "", "the line does not say which record it is");
    const enum trace_kind kind = kind_of(json_object_get_string(value));
    if (kind == TRACE_KIND_END)
        return wrong(p, why, json_object_get_string(value), "no such record");
    trace_record_init(record, kind);
    const struct trace_field *field = trace_fields(kind, &count);
    for (size_t i = 0; i < count; i++) {
        if (!json_object_object_get_ex(p->line, field[i].name, &value))
            continue;
        known++;
        const char *wrong_with = read_field(p, value, &field[i], (char *)record + field[i].offset);
        if (wrong_with)
            return wrong(p, why, field[i].name, wrong_with);
    }
    if ((size_t)json_object_object_length(p->line) != known)
        return wrong(p, why, trace_kind_name(kind), "a field is not one of this record's");
    *why = trace_record_wrong(record);
    return *why == NULL;
}
