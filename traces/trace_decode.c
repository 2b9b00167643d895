#include "traces/trace_codec.h"
#include "traces/trace_layout.h"

#include <stdlib.h>
#include <string.h>

enum { STRING = 1 };

struct trace_decoder {
    const uint8_t *bytes;
    size_t size, next, at;
    unsigned minor;    /* version of the file */
    const char **text; /* strings of the block, numbered from 1 */
    uint32_t texts, capacity;
    uint64_t *list;
    size_t list_capacity;
    uint64_t last_op, last_pc;
    int64_t last_time;
};

struct trace_decoder *trace_decoder_create(void)
{
    return calloc(1, sizeof(struct trace_decoder));
}

void trace_decoder_free(struct trace_decoder *d)
{
    if (!d)
        return;
    free(d->text);
    free(d->list);
    free(d);
}

void trace_decoder_start(struct trace_decoder *d, const uint8_t *bytes, size_t size, unsigned minor)
{
    d->bytes = bytes;
    d->size = size;
    d->next = d->at = 0;
    d->minor = minor;
    d->texts = 0;
    d->last_op = d->last_pc = 0;
    d->last_time = 0;
}

size_t trace_decoder_at(const struct trace_decoder *d)
{
    return d->at;
}

/* Reads up to `end`; false when the number does not end there or has more than 64 bits. */
static bool get_number(const uint8_t *bytes, size_t *at, size_t end, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; shift < 64 && *at < end; shift += 7) {
        const uint8_t byte = bytes[(*at)++];
        if (shift == 63 && byte > 1)
            return false;
        *value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            return true;
    }
    return false;
}

static uint64_t unfolded(uint64_t value)
{
    return value & 1 ? ~(value >> 1) : value >> 1;
}

static const char *add_text(struct trace_decoder *d, const uint8_t *text, size_t length)
{
    if (length == 0 || text[length - 1] != 0 || memchr(text, 0, length) != text + length - 1)
        return "a text does not end where its length says";
    if (length - 1 > TRACE_TEXT_MAX)
        return "a text is longer than 65535 bytes";
    if (d->texts + 1 >= d->capacity) {
        const uint32_t wanted = d->capacity ? 2 * d->capacity : 256;
        const char **bigger = realloc(d->text, wanted * sizeof *bigger);
        if (!bigger)
            return "out of memory";
        d->text = bigger;
        d->capacity = wanted;
    }
    d->text[++d->texts] = (const char *)text;
    return NULL;
}

static const char *get_list(struct trace_decoder *d, size_t *at, size_t end, struct trace_list *list)
{
    uint64_t count, back;
    if (!get_number(d->bytes, at, end, &count))
        return "the record is cut short";
    if (count > TRACE_AFTER_MAX)
        return "it waits for more than 65535 operators";
    if (count > d->list_capacity) {
        uint64_t *bigger = realloc(d->list, (size_t)count * sizeof *bigger);
        if (!bigger)
            return "out of memory";
        d->list = bigger;
        d->list_capacity = (size_t)count;
    }
    for (uint64_t i = 0; i < count; i++) {
        if (!get_number(d->bytes, at, end, &back))
            return "the record is cut short";
        d->list[i] = d->last_op - back;
    }
    *list = (struct trace_list){d->list, (size_t)count};
    return NULL;
}

static bool get_real(const struct trace_decoder *d, size_t *at, size_t end, char *to)
{
    uint64_t bits = 0;
    if (end - *at < 8)
        return false;
    for (int i = 0; i < 8; i++)
        bits |= (uint64_t)d->bytes[*at + (size_t)i] << 8 * i;
    *at += 8;
    memcpy(to, &bits, sizeof bits);
    return true;
}

static const char *get_field(struct trace_decoder *d, size_t *at, size_t end, const struct trace_field *field,
                             struct trace_record *record)
{
    char *to = (char *)record + field->offset;
    struct trace_list list;
    uint64_t value;
    const char *wrong;
    if (field->type == TRACE_REAL)
        return get_real(d, at, end, to) ? NULL : "the record is cut short";
    if (field->type == TRACE_LIST) {
        wrong = get_list(d, at, end, &list);
        if (!wrong)
            memcpy(to, &list, sizeof list);
        return wrong;
    }
    if (!get_number(d->bytes, at, end, &value))
        return "the record is cut short";
    if (field->type == TRACE_TEXT) {
        if (value > d->texts)
            return "it names a text that the block does not have";
        const char *text = value ? d->text[value] : NULL;
        memcpy(to, &text, sizeof text);
        return NULL;
    }
    if (field->type == TRACE_TIME) {
        value = (uint64_t)d->last_time + unfolded(value);
        memcpy(&d->last_time, &value, sizeof value);
    } else if (field->type == TRACE_ID) {
        value = d->last_op += unfolded(value);
    } else if (field->type == TRACE_PC) {
        value = d->last_pc += unfolded(value);
    }
    memcpy(to, &value, sizeof value);
    return NULL;
}

/* How many of the fields a record of that minor version has. */
static size_t fields_in(enum trace_kind kind, unsigned minor, size_t count)
{
    const size_t later = minor > 0 ? 0 : kind == TRACE_RUN_BEGIN ? 1 : kind == TRACE_RUN_END ? 4 : 0;
    return count - later;
}

static const char *get_record(struct trace_decoder *d, size_t end, struct trace_record *record)
{
    size_t count, at = d->next;
    const struct trace_field *field = trace_fields(record->kind, &count);
    const char *wrong = NULL;
    count = fields_in(record->kind, d->minor, count);
    for (size_t i = 0; i < count && !wrong; i++)
        wrong = get_field(d, &at, end, &field[i], record);
    if (!wrong && at != end && d->minor <= TRACE_MINOR)
        wrong = "it has more bytes than its fields";
    return wrong ? wrong : trace_record_wrong(record);
}

enum trace_decoded trace_decode(struct trace_decoder *d, struct trace_record *record, const char **why)
{
    while (d->next < d->size) {
        uint64_t length;
        d->at = d->next;
        const uint8_t kind = d->bytes[d->next++];
        *why = "the record is cut short";
        if (!get_number(d->bytes, &d->next, d->size, &length) || length > d->size - d->next)
            return TRACE_NOT_DECODED;
        const size_t end = d->next + (size_t)length;
        if (kind == STRING) {
            *why = add_text(d, d->bytes + d->next, (size_t)length);
        } else if (trace_kind_name(kind)) {
            trace_record_init(record, kind);
            *why = get_record(d, end, record);
        } else {
            *why = d->minor > TRACE_MINOR ? NULL : "its kind is unknown";
        }
        d->next = end;
        if (*why)
            return TRACE_NOT_DECODED;
        if (kind != STRING && trace_kind_name(kind))
            return TRACE_DECODED;
    }
    return TRACE_BLOCK_DONE;
}

static const char *launch_wrong(const struct trace_launch *l)
{
    static const char *const works[] = {"kernel", "estimate", "none"};
    bool known = false;
    if (l->op == 0)
        return "operators are numbered from 1";
    for (size_t i = 0; i < l->after.count; i++)
        if (l->after.item[i] == 0 || l->after.item[i] >= l->op)
            return "it waits for an operator that does not come before it";
    if (!l->unit)
        return "it has no unit";
    for (size_t i = 0; i < 3; i++)
        known |= l->work && strcmp(l->work, works[i]) == 0;
    if (!known)
        return "its work is not kernel, estimate or none";
    if (strcmp(l->work, "kernel") == 0 && !l->workload)
        return "it has no shape (workload)";
    return NULL;
}

const char *trace_record_wrong(const struct trace_record *record)
{
    size_t count;
    const struct trace_field *field = trace_fields(record->kind, &count);
    if (record->kind == TRACE_LAUNCH && record->launch.after.count > TRACE_AFTER_MAX)
        return "it waits for more than 65535 operators";
    for (size_t i = 0; i < count; i++) {
        const char *text = NULL;
        if (field[i].type == TRACE_TEXT)
            memcpy(&text, (const char *)record + field[i].offset, sizeof text);
        if (text && strnlen(text, TRACE_TEXT_MAX + 1) > TRACE_TEXT_MAX)
            return "a text is longer than 65535 bytes";
    }
    return record->kind == TRACE_LAUNCH ? launch_wrong(&record->launch) : NULL;
}
