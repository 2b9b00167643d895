/* Arbitrary bytes: the reader of traces, binary or text, gives records that keep the rules, or says where the file is wrong. With
 * force it always comes to an end. The first byte decides whether the checksums of blocks are corrected first, so that the code
 * behind them is reached.
 */
#include "traces/trace_layout.h"
#include "traces/trace_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_all(const uint8_t *data, size_t size, bool force)
{
    struct trace_error error = {0};
    struct trace_record record;
    enum trace_step step;
    FILE *f = size ? fmemopen((void *)(uintptr_t)data, size, "rb") : NULL;
    if (!f)
        return;
    struct trace_reader *r = trace_reader_attach(f, "fuzz", force, &error);
    if (!r) {
        if (strncmp(error.text, "fuzz: byte ", 11) != 0)
            abort();
        return;
    }
    while ((step = trace_next(r, &record, &error)) == TRACE_GOT) {
        size_t count;
        if (!trace_kind_name(record.kind) || !trace_fields(record.kind, &count))
            abort();
        if (record.kind == TRACE_LAUNCH && (!record.launch.unit || !record.launch.work))
            abort();
    }
    if (step == TRACE_BAD && (force || strncmp(error.text, "fuzz: byte ", 11) != 0))
        abort();
    trace_reader_close(r);
}

/* A whole file with one block that contains the data. */
static void read_block(const uint8_t *data, size_t size)
{
    const size_t room = ZSTD_compressBound(size);
    uint8_t *file = malloc(TRACE_HEAD_BYTES + TRACE_BLOCK_HEAD_BYTES + room);
    if (!file || size > TRACE_BLOCK_MAX) {
        free(file);
        return;
    }
    uint8_t *block = file + TRACE_HEAD_BYTES;
    const size_t stored = ZSTD_compress(block + TRACE_BLOCK_HEAD_BYTES, room, data, size, 1);
    memcpy(file, TRACE_MAGIC, 8);
    trace_put(file + 8, TRACE_MAJOR, 2);
    trace_put(file + 10, TRACE_MINOR, 2);
    trace_put(file + 12, 0, 4);
    trace_put(file + 16, crc32(0, file, 16), 4);
    memcpy(block, TRACE_BLOCK_MAGIC, 4);
    trace_put(block + 4, 0, 4);
    trace_put(block + 8, 1, 4);
    trace_put(block + 12, size, 4);
    trace_put(block + 16, stored, 4);
    trace_put(block + 20, crc32(0, block + TRACE_BLOCK_HEAD_BYTES, (uInt)stored), 4);
    trace_put(block + 24, crc32(0, block, 24), 4);
    read_all(file, TRACE_HEAD_BYTES + TRACE_BLOCK_HEAD_BYTES + stored, false);
    read_all(file, TRACE_HEAD_BYTES + TRACE_BLOCK_HEAD_BYTES + stored, true);
    free(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    if (data[0] & 1)
        read_block(data + 1, size - 1);
    read_all(data, size, false);
    read_all(data, size, true);
    return 0;
}
