#include "traces/trace_read.h"

#include "traces/trace_read_block.h"
#include "traces/trace_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <zlib.h>

struct trace_reader {
    struct trace_blocks *blocks; /* binary form */
    struct trace_text_parser *text;
    FILE *file;
    char *name;
    bool force, started;
    struct trace_header header;
    char *header_text; /* the text that the header points into */
    struct trace_decoder *decoder;
    uint64_t skip; /* records to pass over after a seek */
    char *line;    /* of the text form */
    size_t line_capacity;
    uint64_t line_number, offset;
    struct trace_account account;
    char place[80];
};

bool trace_recognise(const void *bytes, size_t size)
{
    return (size >= 8 && memcmp(bytes, TRACE_MAGIC, 8) == 0) || (size >= 10 && memcmp(bytes, "{\"trace\":1", 10) == 0);
}

const struct trace_header *trace_reader_header(const struct trace_reader *r)
{
    return &r->header;
}

bool trace_reader_is_text(const struct trace_reader *r)
{
    return r->text != NULL;
}

const char *trace_reader_place(struct trace_reader *r)
{
    if (r->text)
        snprintf(r->place, sizeof r->place, "line %" PRIu64, r->line_number);
    else
        snprintf(r->place, sizeof r->place, "byte %" PRIu64 ", block %" PRIu32, trace_blocks_offset(r->blocks),
                 trace_blocks_number(r->blocks));
    return r->place;
}

void trace_reader_account(const struct trace_reader *r, struct trace_account *account)
{
    *account = r->account;
    if (r->blocks)
        trace_blocks_account(r->blocks, account);
}

/* ---- text ---- */

static enum trace_step bad_line(struct trace_reader *r, const char *why, struct trace_error *error)
{
    trace_fail(error, "%s: byte %" PRIu64 ", line %" PRIu64 ": %s", r->name, r->offset, r->line_number, why);
    return TRACE_BAD;
}

static void lose_line(struct trace_reader *r, size_t bytes)
{
    r->account.lost_places++;
    r->account.lost_bytes += bytes;
}

/* Reads one line without its end; false at the end of the file. *whole: the line had an end. */
static bool get_line(struct trace_reader *r, size_t *length, bool *whole)
{
    *length = 0;
    *whole = false;
    r->offset = r->account.file_bytes;
    for (int c; (c = getc(r->file)) != EOF;) {
        r->account.file_bytes++;
        if (c == '\n') {
            *whole = true;
            break;
        }
        if (*length + 1 >= r->line_capacity) {
            const size_t wanted = r->line_capacity ? 2 * r->line_capacity : 1024;
            char *bigger = *length > TRACE_LINE_MAX ? NULL : realloc(r->line, wanted);
            if (!bigger)
                continue; /* the caller sees from the length that it is too long */
            r->line = bigger;
            r->line_capacity = wanted;
        }
        r->line[(*length)++] = (char)c;
    }
    if (*length == 0 && !*whole)
        return false;
    r->line_number++;
    return true;
}

static enum trace_step next_line(struct trace_reader *r, struct trace_record *record, struct trace_error *error)
{
    size_t length;
    const char *why;
    bool whole;
    while (get_line(r, &length, &whole)) {
        if (length == 0)
            continue;
        if (whole && trace_text_parse(r->text, r->line, length, record, &why)) {
            r->account.records++;
            return TRACE_GOT;
        }
        if (!r->force)
            return bad_line(r, whole ? why : "the file ends in the middle of a line", error);
        lose_line(r, length + whole);
    }
    return TRACE_OVER;
}

static bool keep_header(struct trace_reader *r, const struct trace_header *from)
{
    const char *const *value = (const char *const *)(const void *)from;
    const char **to = (const char **)(void *)&r->header;
    const size_t fields = sizeof *from / sizeof(const char *);
    size_t bytes = 1, used = 0;
    for (size_t i = 0; i < fields; i++)
        bytes += value[i] ? strlen(value[i]) + 1 : 0;
    r->header_text = malloc(bytes);
    for (size_t i = 0; r->header_text && i < fields; i++) {
        if (!value[i])
            continue;
        strcpy(r->header_text + used, value[i]);
        to[i] = r->header_text + used;
        used += strlen(value[i]) + 1;
    }
    return r->header_text != NULL;
}

static bool open_text(struct trace_reader *r, struct trace_error *error)
{
    struct trace_header header;
    size_t length;
    const char *why = "the file is empty";
    bool whole;
    r->text = trace_text_parser_create();
    if (!r->text)
        return trace_no_memory(error);
    if (!get_line(r, &length, &whole))
        return bad_line(r, why, error) != TRACE_BAD;
    if (whole && trace_text_parse_header(r->text, r->line ? r->line : "", length, &header, &why))
        return keep_header(r, &header) || trace_no_memory(error);
    if (!r->force)
        return bad_line(r, whole ? why : "the file ends in the middle of its first line", error) != TRACE_BAD;
    lose_line(r, length + whole);
    return true;
}

/* ---- binary ---- */

static enum trace_step next_record(struct trace_reader *r, struct trace_record *record, struct trace_error *error)
{
    const char *why;
    for (;;) {
        if (r->started) {
            const enum trace_decoded decoded = trace_decode(r->decoder, record, &why);
            if (decoded == TRACE_DECODED) {
                r->account.records++;
                if (r->skip == 0)
                    return TRACE_GOT;
                r->skip--;
                continue;
            }
            if (decoded == TRACE_NOT_DECODED) {
                const size_t at = trace_decoder_at(r->decoder);
                if (!r->force) {
                    trace_fail(error, "%s: %s, at byte %zu of its contents: %s", r->name, trace_reader_place(r), at, why);
                    return TRACE_BAD;
                }
                trace_blocks_lose_rest(r->blocks);
            }
        }
        const uint8_t *bytes;
        size_t size;
        const enum trace_step step = trace_blocks_next(r->blocks, &bytes, &size, error);
        if (step != TRACE_GOT)
            return step;
        trace_decoder_start(r->decoder, bytes, size, trace_blocks_minor(r->blocks));
        r->started = true;
    }
}

/* Reads names and values as trace_write.c writes them; unknown names are passed over. */
static bool parse_header(struct trace_reader *r, char *text, size_t size)
{
    const struct {
        const char *name;
        const char **to;
    } rows[] = {
#define X(name) {#name, &r->header.name},
        TRACE_HEADER_TABLE(X)
#undef X
    };
    if (size && text[size - 1] != 0)
        return false;
    for (size_t at = 0; at < size;) {
        const char *name = text + at;
        at += strlen(name) + 1;
        if (at >= size)
            return false;
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
            if (strcmp(rows[i].name, name) == 0)
                *rows[i].to = text + at;
        at += strlen(text + at) + 1;
    }
    return true;
}

static bool open_binary(struct trace_reader *r, struct trace_error *error)
{
    size_t size = 0;
    r->decoder = trace_decoder_create();
    r->blocks = trace_blocks_open(r->file, r->name, r->force);
    if (!r->decoder || !r->blocks)
        return trace_no_memory(error);
    if (!trace_blocks_header(r->blocks, &r->header_text, &size, error))
        return r->force && !error->memory;
    return parse_header(r, r->header_text, size) || r->force ||
           trace_fail(error, "%s: byte 20: the header is not names and values", r->name);
}

enum trace_step trace_next(struct trace_reader *r, struct trace_record *record, struct trace_error *error)
{
    return r->text ? next_line(r, record, error) : next_record(r, record, error);
}

bool trace_seek(struct trace_reader *r, uint64_t record, struct trace_error *error)
{
    struct trace_record ignored;
    if (!r->text)
        return trace_blocks_seek(r->blocks, record, &r->skip, error);
    for (uint64_t i = 0; i < record; i++) {
        const enum trace_step step = next_line(r, &ignored, error);
        if (step != TRACE_GOT)
            return step == TRACE_OVER;
    }
    return true;
}

struct trace_reader *trace_reader_attach(FILE *file, const char *name, bool force, struct trace_error *error)
{
    struct trace_reader *r = calloc(1, sizeof *r);
    struct trace_error own = {0};
    const int first = getc(file);
    if (first != EOF)
        ungetc(first, file);
    if (r) {
        r->file = file;
        r->force = force;
        r->name = strdup(name);
    } else {
        fclose(file);
    }
    bool ok = r && r->name ? first == '{' ? open_text(r, &own) : open_binary(r, &own) : trace_no_memory(&own);
    if (ok)
        return r;
    if (error)
        *error = own;
    trace_reader_close(r);
    return NULL;
}

struct trace_reader *trace_reader_open(const char *path, bool force, struct trace_error *error)
{
    FILE *file = fopen(path, "rb");
    if (file)
        return trace_reader_attach(file, path, force, error);
    trace_fail(error, "%s: %s", path, strerror(errno));
    return NULL;
}

void trace_reader_close(struct trace_reader *r)
{
    if (!r)
        return;
    trace_blocks_close(r->blocks);
    trace_text_parser_free(r->text);
    trace_decoder_free(r->decoder);
    if (r->file)
        fclose(r->file);
    free(r->header_text);
    free(r->line);
    free(r->name);
    free(r);
}
