#include "traces/trace_codec.h"

#include <stdlib.h>
#include <string.h>

enum { STRING = 1, SLOTS = 1 << 16, LONGEST_NUMBER = 10 };

/* The texts of the block, by a hash of their contents; their bytes are in the block itself. */
struct slot {
    uint32_t at, length, number; /* number 0 = empty */
};

struct trace_encoder {
    uint8_t block[TRACE_BLOCK_MAX];
    size_t used;
    uint32_t records, strings;
    uint64_t last_op, last_pc;
    int64_t last_time;
    struct slot slot[SLOTS];
};

struct trace_encoder *trace_encoder_create(void)
{
    return calloc(1, sizeof(struct trace_encoder));
}

void trace_encoder_free(struct trace_encoder *e)
{
    free(e);
}

void trace_encoder_restart(struct trace_encoder *e)
{
    e->used = 0;
    e->records = e->strings = 0;
    e->last_op = e->last_pc = 0;
    e->last_time = 0;
    memset(e->slot, 0, sizeof e->slot);
}

const uint8_t *trace_encoder_bytes(const struct trace_encoder *e, size_t *size, uint32_t *records)
{
    *size = e->used;
    *records = e->records;
    return e->block;
}

static size_t put_number(uint8_t *to, uint64_t value)
{
    size_t n = 0;
    for (; value >= 128; value >>= 7)
        to[n++] = (uint8_t)(value | 128);
    to[n++] = (uint8_t)value;
    return n;
}

/* Folds small numbers of either sign into small unsigned ones: 0 -1 1 -2 2 ... become 0 1 2 3 4 ... */
static uint64_t folded(uint64_t difference)
{
    return difference >> 63 ? ~(difference << 1) : difference << 1;
}

static struct slot *find_text(struct trace_encoder *e, const char *text, size_t length)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (uint8_t)text[i]) * UINT64_C(0x100000001b3);
    size_t at = (hash ^ hash >> 32) % SLOTS;
    while (e->slot[at].number && (e->slot[at].length != length || memcmp(e->block + e->slot[at].at, text, length) != 0))
        at = (at + 1) % SLOTS;
    return &e->slot[at];
}

/* Makes room for everything that the record may add. Less than half of the slots are ever used. */
static size_t most_bytes(const struct trace_record *record, const struct trace_field *field, size_t count)
{
    size_t bytes = 1 + LONGEST_NUMBER;
    for (size_t i = 0; i < count; i++) {
        const char *at = (const char *)record + field[i].offset;
        const char *text = NULL;
        struct trace_list list = {NULL, 0};
        if (field[i].type == TRACE_TEXT)
            memcpy(&text, at, sizeof text);
        if (field[i].type == TRACE_LIST)
            memcpy(&list, at, sizeof list);
        bytes += (1 + list.count) * LONGEST_NUMBER + (text ? strlen(text) + 2 + LONGEST_NUMBER : 0);
    }
    return bytes;
}

/* The number of the text in this block, 0 for NULL. Writes the text when it is new. */
static uint32_t text_number(struct trace_encoder *e, const char *text)
{
    if (!text)
        return 0;
    const size_t length = strlen(text);
    struct slot *slot = find_text(e, text, length);
    if (!slot->number) {
        e->block[e->used++] = STRING;
        e->used += put_number(e->block + e->used, length + 1);
        memcpy(e->block + e->used, text, length + 1);
        *slot = (struct slot){(uint32_t)e->used, (uint32_t)length, ++e->strings};
        e->used += length + 1;
    }
    return slot->number;
}

static size_t put_list(uint8_t *to, const struct trace_list *list, uint64_t op)
{
    size_t n = put_number(to, list->count);
    for (size_t i = 0; i < list->count; i++)
        n += put_number(to + n, op - list->item[i]);
    return n;
}

static size_t put_real(uint8_t *to, const char *at)
{
    uint64_t bits;
    memcpy(&bits, at, sizeof bits);
    for (int i = 0; i < 8; i++)
        to[i] = (uint8_t)(bits >> 8 * i);
    return 8;
}

static size_t put_field(struct trace_encoder *e, uint8_t *to, const struct trace_record *record, const struct trace_field *field)
{
    const char *at = (const char *)record + field->offset;
    const char *text;
    struct trace_list list;
    uint64_t value;
    int64_t time;
    switch (field->type) {
    case TRACE_TEXT: memcpy(&text, at, sizeof text); return put_number(to, text_number(e, text));
    case TRACE_LIST: memcpy(&list, at, sizeof list); return put_list(to, &list, e->last_op);
    case TRACE_REAL: return put_real(to, at);
    case TRACE_TIME:
        memcpy(&time, at, sizeof time);
        value = folded((uint64_t)time - (uint64_t)e->last_time);
        e->last_time = time;
        return put_number(to, value);
    case TRACE_ID:
    case TRACE_PC: {
        uint64_t *last = field->type == TRACE_ID ? &e->last_op : &e->last_pc;
        memcpy(&value, at, sizeof value);
        const size_t n = put_number(to, folded(value - *last));
        *last = value;
        return n;
    }
    case TRACE_NUMBER:
    case TRACE_HEX: memcpy(&value, at, sizeof value); return put_number(to, value);
    }
    return 0;
}

enum trace_encoded trace_encode(struct trace_encoder *e, const struct trace_record *record, struct trace_error *error)
{
    size_t count;
    const struct trace_field *field = trace_fields(record->kind, &count);
    const char *wrong = trace_record_wrong(record);
    if (wrong) {
        trace_fail(error, "a record %s: %s", trace_kind_name(record->kind), wrong);
        return TRACE_NOT_ENCODED;
    }
    const size_t most = most_bytes(record, field, count);
    if (2 * most > TRACE_BLOCK_MAX) {
        trace_fail(error, "a record %s is larger than a block", trace_kind_name(record->kind));
        return TRACE_NOT_ENCODED;
    }
    if (e->used + 2 * most > TRACE_BLOCK_MAX || e->strings + count > SLOTS / 2)
        return TRACE_BLOCK_FULL;
    for (size_t i = 0; i < count; i++) { /* new texts stand before the record that uses them */
        const char *text = NULL;
        if (field[i].type == TRACE_TEXT)
            memcpy(&text, (const char *)record + field[i].offset, sizeof text);
        text_number(e, text);
    }
    uint8_t *payload = e->block + TRACE_BLOCK_MAX - most; /* at the end of the block, until its length is known */
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        n += put_field(e, payload + n, record, &field[i]);
    e->block[e->used++] = (uint8_t)record->kind;
    e->used += put_number(e->block + e->used, n);
    memmove(e->block + e->used, payload, n);
    e->used += n;
    e->records++;
    return TRACE_ENCODED;
}
