#include "traces/trace_read_block.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

struct trace_blocks {
    FILE *file;
    const char *name;
    bool force;
    unsigned minor;    /* version of the file */
    uint64_t position; /* in the file */
    uint64_t at;       /* where the present block begins */
    uint32_t number, next_number;
    uint64_t kept; /* records in the blocks that were read */
    uLong entries; /* CRC-32 of the index entries that these blocks should have */
    bool from_start, damaged;
    uint8_t *stored, *raw;
    ZSTD_DCtx *zstd;
    struct trace_account account;
};

struct trace_blocks *trace_blocks_open(FILE *file, const char *name, bool force)
{
    struct trace_blocks *b = calloc(1, sizeof *b);
    if (!b)
        return NULL;
    b->file = file;
    b->name = name;
    b->force = force;
    b->from_start = true;
    b->stored = malloc(TRACE_STORED_MAX);
    b->raw = malloc(TRACE_BLOCK_MAX);
    b->zstd = ZSTD_createDCtx();
    if (b->stored && b->raw && b->zstd)
        return b;
    trace_blocks_close(b);
    return NULL;
}

void trace_blocks_close(struct trace_blocks *b)
{
    if (!b)
        return;
    free(b->stored);
    free(b->raw);
    ZSTD_freeDCtx(b->zstd);
    free(b);
}

unsigned trace_blocks_minor(const struct trace_blocks *b)
{
    return b->minor;
}

uint64_t trace_blocks_offset(const struct trace_blocks *b)
{
    return b->at;
}

uint32_t trace_blocks_number(const struct trace_blocks *b)
{
    return b->number;
}

void trace_blocks_account(const struct trace_blocks *b, struct trace_account *account)
{
    const uint64_t records = account->records;
    *account = b->account;
    account->records = records;
    account->file_bytes = b->position;
}

static size_t get(struct trace_blocks *b, void *to, size_t size)
{
    const size_t n = fread(to, 1, size, b->file);
    b->position += n;
    return n;
}

__attribute__((format(printf, 4, 5))) static bool wrong(const struct trace_blocks *b, struct trace_error *error, uint64_t at,
                                                        const char *format, ...)
{
    char what[300];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return trace_fail(error, "%s: byte %" PRIu64 ", block %" PRIu32 ": %s", b->name, at, b->next_number, what);
}

/* ---- the head ---- */

static bool check_head(struct trace_blocks *b, const uint8_t *head, size_t n, struct trace_error *error)
{
    if (n < 8 || memcmp(head, TRACE_MAGIC, 8) != 0)
        return trace_fail(error,
                          n == 0 ? "%s: byte 0: the file is empty"
                          : n < 8 && memcmp(head, TRACE_MAGIC, n) == 0
                              ? "%s: byte 0: the file ends in its header"
                              : "%s: byte 0: not a trace (orchard trace record writes them)",
                          b->name);
    if (n < 12)
        return trace_fail(error, "%s: byte %zu: the file ends in its header", b->name, n);
    const unsigned major = (unsigned)trace_get(head + 8, 2), minor = (unsigned)trace_get(head + 10, 2);
    if (major != TRACE_MAJOR)
        return trace_fail(error, "%s: byte 8: written in version %u.%u of the format, this program reads %d", b->name, major,
                          minor, TRACE_MAJOR);
    b->minor = minor;
    if (n < TRACE_HEAD_BYTES)
        return trace_fail(error, "%s: byte %zu: the file ends in its header", b->name, n);
    return true;
}

bool trace_blocks_header(struct trace_blocks *b, char **text, size_t *size, struct trace_error *error)
{
    uint8_t head[TRACE_HEAD_BYTES];
    const size_t n = get(b, head, sizeof head);
    if (!check_head(b, head, n, error))
        return false;
    const size_t length = (size_t)trace_get(head + 12, 4);
    if (length > TRACE_HEAD_TEXT_MAX)
        return trace_fail(error, "%s: byte 12: a header of %zu bytes is longer than %d", b->name, length, TRACE_HEAD_TEXT_MAX);
    *text = calloc(1, length + 1);
    if (!*text)
        return trace_no_memory(error);
    if (get(b, *text, length) != length)
        return trace_fail(error, "%s: byte %" PRIu64 ": the file ends in its header", b->name, b->position);
    if (crc32(crc32(0, head, 16), (const Bytef *)*text, (uInt)length) != trace_get(head + 16, 4))
        return trace_fail(error, "%s: byte 16: the checksum of the header does not match", b->name);
    *size = length;
    return true;
}

/* ---- blocks ---- */

/* Reads the head of a block. Its first four bytes were read by the caller, to whom they might have been something else. */
static bool check_block_head(struct trace_blocks *b, const uint8_t *head, size_t n, struct trace_error *error)
{
    if (n < TRACE_BLOCK_HEAD_BYTES)
        return wrong(b, error, b->at, "the file ends in the head of a block, at byte %" PRIu64, b->position);
    if (memcmp(head, TRACE_BLOCK_MAGIC, 4) != 0)
        return wrong(b, error, b->at, "neither a block nor the index begins here");
    if (crc32(0, head, 24) != trace_get(head + 24, 4))
        return wrong(b, error, b->at, "the checksum of the block's head does not match");
    const uint64_t raw = trace_get(head + 12, 4), stored = trace_get(head + 16, 4);
    if (raw > TRACE_BLOCK_MAX || stored > TRACE_STORED_MAX)
        return wrong(b, error, b->at, "a block of %" PRIu64 " bytes (%" PRIu64 " stored) is too large", raw, stored);
    return true;
}

static bool read_contents(struct trace_blocks *b, const uint8_t *head, struct trace_error *error)
{
    const size_t raw = (size_t)trace_get(head + 12, 4), stored = (size_t)trace_get(head + 16, 4);
    if (get(b, b->stored, stored) != stored)
        return wrong(b, error, b->at, "the file ends in the block, at byte %" PRIu64, b->position);
    if (crc32(0, b->stored, (uInt)stored) != trace_get(head + 20, 4))
        return wrong(b, error, b->at, "the checksum of the block does not match");
    const size_t got = ZSTD_decompressDCtx(b->zstd, b->raw, TRACE_BLOCK_MAX, b->stored, stored);
    if (ZSTD_isError(got))
        return wrong(b, error, b->at, "zstd: %s", ZSTD_getErrorName(got));
    return got == raw || wrong(b, error, b->at, "the block unpacks to %zu bytes, not %zu", got, raw);
}

static void accept(struct trace_blocks *b, const uint8_t *head)
{
    uint8_t entry[TRACE_INDEX_ENTRY_BYTES];
    b->number = (uint32_t)trace_get(head + 4, 4);
    b->next_number = b->number + 1;
    b->kept += trace_get(head + 8, 4);
    trace_put(entry, b->at, 8);
    memcpy(entry + 8, head + 8, 8);
    b->entries = crc32(b->entries, entry, sizeof entry);
    b->account.blocks++;
    b->account.raw_bytes += trace_get(head + 12, 4);
    b->account.stored_bytes += trace_get(head + 16, 4);
    b->account.checksum = (uint32_t)crc32(b->account.checksum, head + 8, 16);
}

/* ---- the end ---- */

static bool check_footer(struct trace_blocks *b, struct trace_error *error)
{
    uint8_t footer[TRACE_FOOTER_BYTES + 1];
    const size_t n = get(b, footer, sizeof footer);
    if (n < TRACE_FOOTER_BYTES)
        return wrong(b, error, b->at, "the file ends in its index, at byte %" PRIu64, b->position);
    if (memcmp(footer + 12, TRACE_END_MAGIC, 4) != 0 || crc32(0, footer, 8) != trace_get(footer + 8, 4) ||
        trace_get(footer, 8) != b->at)
        return wrong(b, error, b->at, "the footer is damaged");
    return n == TRACE_FOOTER_BYTES || wrong(b, error, b->position - 1, "there is more behind the end of the trace");
}

/* Reads the index after the blocks, of which the caller has read the first bytes. It must agree with the blocks. */
static bool check_index(struct trace_blocks *b, uint8_t *head, size_t n, struct trace_error *error)
{
    if (n < TRACE_INDEX_HEAD_BYTES)
        n += get(b, head + n, TRACE_INDEX_HEAD_BYTES - n);
    if (n < TRACE_INDEX_HEAD_BYTES)
        return wrong(b, error, b->at, "the file ends in its index, at byte %" PRIu64, b->position);
    const uint64_t blocks = trace_get(head + 4, 4), records = trace_get(head + 8, 8);
    uLong sum = crc32(0, head, 16), entries = 0;
    for (uint64_t i = 0; i < blocks; i++) {
        uint8_t entry[TRACE_INDEX_ENTRY_BYTES];
        if (get(b, entry, sizeof entry) != sizeof entry)
            return wrong(b, error, b->at, "the file ends in its index, at byte %" PRIu64, b->position);
        sum = crc32(sum, entry, sizeof entry);
        entries = crc32(entries, entry, sizeof entry);
    }
    if (sum != trace_get(head + 16, 4))
        return wrong(b, error, b->at, "the checksum of the index does not match");
    if (b->damaged && records >= b->kept) {
        b->account.lost_records = records - b->kept;
        b->account.lost_known = true;
    } else if (b->from_start && (entries != b->entries || blocks != b->next_number || records != b->kept)) {
        return wrong(b, error, b->at, "the index does not agree with the blocks");
    }
    return check_footer(b, error);
}

/* ---- salvage ---- */

static bool go_to(struct trace_blocks *b, uint64_t position)
{
    if (fseeko(b->file, (off_t)position, SEEK_SET) != 0)
        return false;
    b->position = position;
    return true;
}

/* Finds the next place, from byte `from` on, where a block or the index may begin; false at the end of the file. */
static bool find_next(struct trace_blocks *b, uint64_t from)
{
    unsigned char window[4] = {0};
    if (!go_to(b, from))
        return false;
    for (int c; (c = getc(b->file)) != EOF;) {
        b->position++;
        memmove(window, window + 1, 3);
        window[3] = (unsigned char)c;
        if (memcmp(window, TRACE_BLOCK_MAGIC, 4) == 0 || memcmp(window, TRACE_INDEX_MAGIC, 4) == 0)
            return go_to(b, b->position - 4);
    }
    return false;
}

static void lose(struct trace_blocks *b, uint64_t from, uint64_t to)
{
    b->damaged = true;
    b->account.lost_bytes += to - from;
}

void trace_blocks_lose_rest(struct trace_blocks *b)
{
    b->damaged = true;
    b->account.lost_places++;
}

/* Reads one block, or the index, at the present position. */
static enum trace_step step(struct trace_blocks *b, const uint8_t **bytes, size_t *size, struct trace_error *error)
{
    uint8_t head[TRACE_BLOCK_HEAD_BYTES];
    b->at = b->position;
    size_t n = get(b, head, TRACE_INDEX_HEAD_BYTES);
    if (n == 0) {
        wrong(b, error, b->at, "the file ends without its index");
        return TRACE_BAD;
    }
    if (n >= 4 && memcmp(head, TRACE_INDEX_MAGIC, 4) == 0)
        return check_index(b, head, n, error) ? TRACE_OVER : TRACE_BAD;
    n += n == TRACE_INDEX_HEAD_BYTES ? get(b, head + n, TRACE_BLOCK_HEAD_BYTES - n) : 0;
    if (!check_block_head(b, head, n, error) || !read_contents(b, head, error))
        return TRACE_BAD;
    const uint32_t number = (uint32_t)trace_get(head + 4, 4);
    if (number != b->next_number && !b->damaged) {
        wrong(b, error, b->at, "block %" PRIu32 " stands here", number);
        return TRACE_BAD;
    }
    accept(b, head);
    *bytes = b->raw;
    *size = (size_t)trace_get(head + 12, 4);
    return TRACE_GOT;
}

enum trace_step trace_blocks_next(struct trace_blocks *b, const uint8_t **bytes, size_t *size, struct trace_error *error)
{
    struct trace_error own = {0};
    enum trace_step done = step(b, bytes, size, &own);
    if (done == TRACE_BAD && b->force) {
        const uint64_t from = b->at;
        b->account.lost_places++;
        do {
            b->damaged = true;
            if (!find_next(b, b->at + 1)) {
                lose(b, from, b->position);
                return TRACE_OVER;
            }
            done = step(b, bytes, size, &own);
        } while (done == TRACE_BAD);
        lose(b, from, b->at);
    }
    if (done == TRACE_BAD && error)
        *error = own;
    return done;
}

/* ---- going to a record by the index ---- */

static bool read_footer(struct trace_blocks *b, uint64_t *index)
{
    uint8_t footer[TRACE_FOOTER_BYTES];
    if (fseeko(b->file, -(off_t)TRACE_FOOTER_BYTES, SEEK_END) != 0 || fread(footer, 1, sizeof footer, b->file) != sizeof footer)
        return false;
    *index = trace_get(footer, 8);
    return memcmp(footer + 12, TRACE_END_MAGIC, 4) == 0 && crc32(0, footer, 8) == trace_get(footer + 8, 4);
}

bool trace_blocks_seek(struct trace_blocks *b, uint64_t record, uint64_t *skip, struct trace_error *error)
{
    uint8_t head[TRACE_INDEX_HEAD_BYTES], entry[TRACE_INDEX_ENTRY_BYTES];
    uint64_t index;
    const uint64_t here = b->position;
    *skip = record;
    if (read_footer(b, &index) && go_to(b, index) && get(b, head, sizeof head) == sizeof head &&
        memcmp(head, TRACE_INDEX_MAGIC, 4) == 0) {
        const uint64_t blocks = trace_get(head + 4, 4);
        for (uint64_t i = 0; i < blocks && get(b, entry, sizeof entry) == sizeof entry; i++) {
            const uint64_t records = trace_get(entry + 8, 4), at = trace_get(entry, 8);
            if (*skip < records && at <= index) {
                b->from_start = b->from_start && i == 0;
                b->next_number = (uint32_t)i;
                return go_to(b, at) || trace_fail(error, "%s: cannot be read at byte %" PRIu64, b->name, at);
            }
            *skip -= records < *skip ? records : *skip;
        }
        *skip = record; /* the index does not have it: reading everything will show what is wrong, if anything is */
    }
    return go_to(b, here) || trace_fail(error, "%s: cannot be read at byte %" PRIu64, b->name, here);
}
