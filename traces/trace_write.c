#include "traces/trace_write.h"

#include "traces/trace_layout.h"
#include "traces/trace_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

enum { ZSTD_LEVEL = 3 };

struct trace_writer {
    char *name; /* of the file, for error lines */
    FILE *out;
    bool text;
    struct trace_encoder *encoder;
    ZSTD_CCtx *zstd;
    uint8_t *stored;
    uint8_t *index; /* its entries so far */
    size_t index_capacity;
    uint32_t blocks;
    uint64_t offset, records;
};

static bool put(struct trace_writer *w, const void *bytes, size_t size, struct trace_error *error)
{
    if (fwrite(bytes, 1, size, w->out) != size)
        return trace_fail(error, "%s: byte %" PRIu64 ": %s", w->name, w->offset, strerror(errno));
    w->offset += size;
    return true;
}

/* Joins names and values, each with its NUL. */
static bool put_header(struct trace_writer *w, const struct trace_header *header, struct trace_error *error)
{
    uint8_t head[TRACE_HEAD_BYTES], *text = malloc(TRACE_HEAD_TEXT_MAX);
    const struct {
        const char *name, *value;
    } rows[] = {
#define X(name) {#name, header->name},
        TRACE_HEADER_TABLE(X)
#undef X
    };
    size_t used = 0;
    bool ok = text || trace_no_memory(error);
    for (size_t i = 0; ok && i < sizeof rows / sizeof rows[0]; i++) {
        if (!rows[i].value)
            continue;
        const size_t name = strlen(rows[i].name) + 1, value = strlen(rows[i].value) + 1;
        if (name + value > TRACE_HEAD_TEXT_MAX - used) {
            ok = trace_fail(error, "%s: the header is longer than %d bytes", w->name, TRACE_HEAD_TEXT_MAX);
            break;
        }
        memcpy(text + used, rows[i].name, name);
        memcpy(text + used + name, rows[i].value, value);
        used += name + value;
    }
    memcpy(head, TRACE_MAGIC, 8);
    trace_put(head + 8, TRACE_MAJOR, 2);
    trace_put(head + 10, TRACE_MINOR, 2);
    trace_put(head + 12, used, 4);
    if (ok) {
        trace_put(head + 16, crc32(crc32(0, head, 16), text, (uInt)used), 4);
        ok = put(w, head, sizeof head, error) && put(w, text, used, error);
    }
    free(text);
    return ok;
}

static bool make_room(struct trace_writer *w, const char *name, struct trace_error *error)
{
    w->name = strdup(name);
    w->encoder = w->text ? NULL : trace_encoder_create();
    w->zstd = w->text ? NULL : ZSTD_createCCtx();
    w->stored = w->text ? NULL : malloc(ZSTD_compressBound(TRACE_BLOCK_MAX));
    return (w->name && (w->text || (w->encoder && w->zstd && w->stored))) || trace_no_memory(error);
}

struct trace_writer *trace_writer_create(FILE *out, const char *name, const struct trace_header *header, bool text,
                                         struct trace_error *error)
{
    struct trace_writer *w = calloc(1, sizeof *w);
    if (!w) {
        trace_no_memory(error);
        return NULL;
    }
    w->out = out;
    w->text = text;
    bool ok = make_room(w, name, error);
    if (ok && text)
        ok = trace_text_header(out, header) || trace_fail(error, "%s: %s", w->name, strerror(errno));
    else if (ok)
        ok = put_header(w, header, error);
    if (ok)
        return w;
    trace_writer_free(w);
    return NULL;
}

static bool note_block(struct trace_writer *w, uint32_t records, uint32_t raw, struct trace_error *error)
{
    const size_t used = (size_t)w->blocks * TRACE_INDEX_ENTRY_BYTES;
    if (used + TRACE_INDEX_ENTRY_BYTES > w->index_capacity) {
        const size_t wanted = w->index_capacity ? 2 * w->index_capacity : 4096;
        uint8_t *bigger = realloc(w->index, wanted);
        if (!bigger)
            return trace_no_memory(error);
        w->index = bigger;
        w->index_capacity = wanted;
    }
    trace_put(w->index + used, w->offset, 8);
    trace_put(w->index + used + 8, records, 4);
    trace_put(w->index + used + 12, raw, 4);
    return true;
}

static bool put_block(struct trace_writer *w, struct trace_error *error)
{
    uint8_t head[TRACE_BLOCK_HEAD_BYTES];
    uint32_t records;
    size_t raw;
    const uint8_t *bytes = trace_encoder_bytes(w->encoder, &raw, &records);
    if (records == 0)
        return true;
    const size_t stored = ZSTD_compressCCtx(w->zstd, w->stored, ZSTD_compressBound(TRACE_BLOCK_MAX), bytes, raw, ZSTD_LEVEL);
    if (ZSTD_isError(stored))
        return trace_fail(error, "%s: block %" PRIu32 ": zstd: %s", w->name, w->blocks, ZSTD_getErrorName(stored));
    memcpy(head, TRACE_BLOCK_MAGIC, 4);
    trace_put(head + 4, w->blocks, 4);
    trace_put(head + 8, records, 4);
    trace_put(head + 12, raw, 4);
    trace_put(head + 16, stored, 4);
    trace_put(head + 20, crc32(0, w->stored, (uInt)stored), 4);
    trace_put(head + 24, crc32(0, head, 24), 4);
    if (!note_block(w, records, (uint32_t)raw, error) || !put(w, head, sizeof head, error) || !put(w, w->stored, stored, error))
        return false;
    w->blocks++;
    trace_encoder_restart(w->encoder);
    /* If the process dies, what was flushed can be read. */
    return fflush(w->out) == 0 || trace_fail(error, "%s: %s", w->name, strerror(errno));
}

bool trace_write(struct trace_writer *w, const struct trace_record *record, struct trace_error *error)
{
    if (w->text) {
        const char *wrong = trace_record_wrong(record);
        if (wrong)
            return trace_fail(error, "a record %s: %s", trace_kind_name(record->kind), wrong);
        if (!trace_text_record(w->out, record))
            return trace_fail(error, "%s: %s", w->name, strerror(errno));
        w->records++;
        return true;
    }
    enum trace_encoded done = trace_encode(w->encoder, record, error);
    if (done == TRACE_BLOCK_FULL)
        done = put_block(w, error) ? trace_encode(w->encoder, record, error) : TRACE_NOT_ENCODED;
    w->records += done == TRACE_ENCODED;
    return done == TRACE_ENCODED;
}

static bool put_end(struct trace_writer *w, struct trace_error *error)
{
    uint8_t head[TRACE_INDEX_HEAD_BYTES], footer[TRACE_FOOTER_BYTES];
    const size_t used = (size_t)w->blocks * TRACE_INDEX_ENTRY_BYTES;
    memcpy(head, TRACE_INDEX_MAGIC, 4);
    trace_put(head + 4, w->blocks, 4);
    trace_put(head + 8, w->records, 8);
    uLong sum = crc32(0, head, 16);
    if (used)
        sum = crc32_z(sum, w->index, used);
    trace_put(head + 16, sum, 4);
    trace_put(footer, w->offset, 8);
    trace_put(footer + 8, crc32(0, footer, 8), 4);
    memcpy(footer + 12, TRACE_END_MAGIC, 4);
    return put(w, head, sizeof head, error) && (used == 0 || put(w, w->index, used, error)) &&
           put(w, footer, sizeof footer, error);
}

bool trace_writer_finish(struct trace_writer *w, struct trace_error *error)
{
    if (!w->text && !(put_block(w, error) && put_end(w, error)))
        return false;
    return (fflush(w->out) == 0 && !ferror(w->out)) || trace_fail(error, "%s: %s", w->name, strerror(errno));
}

void trace_writer_free(struct trace_writer *w)
{
    if (!w)
        return;
    free(w->name);
    free(w->stored);
    free(w->index);
    trace_encoder_free(w->encoder);
    ZSTD_freeCCtx(w->zstd);
    free(w);
}
