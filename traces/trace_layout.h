/* The bytes around the records of a trace file, as README.md describes them. Numbers are little-endian. */
#ifndef ORCHARD_TRACES_TRACE_LAYOUT_H
#define ORCHARD_TRACES_TRACE_LAYOUT_H

#include "traces/trace_codec.h"

#include <stdint.h>
#include <string.h>

enum { TRACE_MAJOR = 1, TRACE_MINOR = 1 };
enum {
    TRACE_HEAD_BYTES = 20, /* before the texts of the header */
    TRACE_HEAD_TEXT_MAX = 1 << 16,
    TRACE_BLOCK_HEAD_BYTES = 28,
    TRACE_STORED_MAX = TRACE_BLOCK_MAX + TRACE_BLOCK_MAX / 128, /* zstd never makes more of a block */
    TRACE_INDEX_HEAD_BYTES = 20,
    TRACE_INDEX_ENTRY_BYTES = 16,
    TRACE_FOOTER_BYTES = 16,
};
#define TRACE_MAGIC       "\x89ORTRC\r\n"
#define TRACE_BLOCK_MAGIC "OBLK"
#define TRACE_INDEX_MAGIC "OIDX"
#define TRACE_END_MAGIC   "OEND"

static inline void trace_put(uint8_t *to, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        to[i] = (uint8_t)(value >> 8 * i);
}

static inline uint64_t trace_get(const uint8_t *from, int bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++)
        value |= (uint64_t)from[i] << 8 * i;
    return value;
}

#endif
