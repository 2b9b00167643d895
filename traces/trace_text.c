#include "traces/trace_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void put_text(FILE *f, const char *text)
{
    putc('"', f);
    for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
        if (*at == '"' || *at == '\\')
            putc('\\', f);
        if (*at < 32)
            fprintf(f, "\\u%04x", *at);
        else
            putc(*at, f);
    }
    putc('"', f);
}

bool trace_text_header(FILE *f, const struct trace_header *header)
{
    const struct {
        const char *name, *value;
    } rows[] = {
#define X(name) {#name, header->name},
        TRACE_HEADER_TABLE(X)
#undef X
    };
    fputs("{\"trace\":1", f);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (!rows[i].value)
            continue;
        fprintf(f, ",\"%s\":", rows[i].name);
        put_text(f, rows[i].value);
    }
    fputs("}\n", f);
    return !ferror(f);
}

static void put_list(FILE *f, const struct trace_list *list)
{
    putc('[', f);
    for (size_t i = 0; i < list->count; i++)
        fprintf(f, "%s%" PRIu64, i ? "," : "", list->item[i]);
    putc(']', f);
}

static void put_field(FILE *f, const struct trace_record *record, const struct trace_field *field)
{
    const char *at = (const char *)record + field->offset;
    const char *text;
    struct trace_list list;
    uint64_t value;
    int64_t time;
    double real;
    switch (field->type) {
    case TRACE_TEXT:
        memcpy(&text, at, sizeof text);
        if (!text)
            return;
        fprintf(f, ",\"%s\":", field->name);
        put_text(f, text);
        return;
    case TRACE_LIST:
        memcpy(&list, at, sizeof list);
        if (list.count == 0)
            return;
        fprintf(f, ",\"%s\":", field->name);
        put_list(f, &list);
        return;
    case TRACE_REAL:
        memcpy(&real, at, sizeof real);
        if (real == 0 && signbit(real))
            fprintf(f, ",\"%s\":-0.0", field->name);
        else if (isinf(real))
            fprintf(f, ",\"%s\":%sInfinity", field->name, real < 0 ? "-" : "");
        else if (!isnan(real))
            fprintf(f, ",\"%s\":%.17g", field->name, real);
        return;
    case TRACE_TIME:
        memcpy(&time, at, sizeof time);
        fprintf(f, ",\"%s\":%" PRId64, field->name, time);
        return;
    case TRACE_PC:
    case TRACE_HEX:
        memcpy(&value, at, sizeof value);
        fprintf(f, ",\"%s\":\"0x%" PRIx64 "\"", field->name, value);
        return;
    case TRACE_NUMBER:
    case TRACE_ID:
        memcpy(&value, at, sizeof value);
        if (value)
            fprintf(f, ",\"%s\":%" PRIu64, field->name, value);
        return;
    }
}

bool trace_text_record(FILE *f, const struct trace_record *record)
{
    size_t count;
    const struct trace_field *field = trace_fields(record->kind, &count);
    fprintf(f, "{\"record\":\"%s\"", trace_kind_name(record->kind));
    for (size_t i = 0; i < count; i++)
        put_field(f, record, &field[i]);
    fputs("}\n", f);
    return !ferror(f);
}
