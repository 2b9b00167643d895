/* What one simdgroup executed, in order: written by the executing side, read by the timing side. No data values.
 *
 * A trace is a growing queue: `written` runs ahead of `read`, and gpu_trace_compact returns the consumed part.
 */
#ifndef ORCHARD_UNITS_GPU_GPU_TRACE_H
#define ORCHARD_UNITS_GPU_GPU_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GPU_LINE_BYTES 128

struct gpu_trace_record {
    uint32_t instruction; /* number in the program, until the reader replaces it by its own */
    uint8_t active_lanes; /* 0..32 at issue */
    uint8_t passes;       /* threadgroup memory: passes that the banks need; atomics: distinct addresses; otherwise 0 */
    uint16_t lines;       /* device and stack accesses: entries of `line` */
};

/* Loads and atomics: a line that is touched, by its first byte; instead of a count, which of its halves are (bit 0: the lower
 * one). Stores: contiguous bytes written in a line, so that a reader that gathers stores knows when a line is complete; entries
 * of the same line follow one another. */
struct gpu_trace_line {
    uint64_t address : 56, bytes : 8;
};

/* Where a load or atomic of so many bytes of a line counts as lying: in the halves that it touches. */
struct gpu_trace_place {
    uint64_t address;
    uint32_t bytes;
};

static inline struct gpu_trace_place gpu_trace_place(const struct gpu_trace_line *line, uint32_t bytes)
{
    const uint32_t half = GPU_LINE_BYTES / 2, most = line->bytes == 3 ? GPU_LINE_BYTES : half, least = line->bytes == 3 ? 2 : 1;
    bytes = bytes > most ? most : bytes < least ? least : bytes;
    const uint32_t begin = line->bytes == 3 ? half - bytes / 2 : line->bytes == 2 ? half : 0;
    return (struct gpu_trace_place){line->address / GPU_LINE_BYTES * GPU_LINE_BYTES + begin, bytes};
}

struct gpu_trace {
    struct gpu_trace_record *record;
    struct gpu_trace_line *line; /* lines in order of the lowest lane that touches them */
    size_t written, read, room;
    size_t entered; /* for the reader: records before it have been replaced by its own numbers (gpu_timing_site.c) */
    size_t lines_written, lines_read, lines_room;
    size_t lines_expected; /* for the reader: the host has been told of lines before it */
    bool lines_only;       /* the writer leaves out everything but accesses to device and stack memory */
    bool failed;           /* memory ran out while growing: the executing side turns it into an error */
};

void gpu_trace_init(struct gpu_trace *trace);
void gpu_trace_release(struct gpu_trace *trace);
void gpu_trace_clear(struct gpu_trace *trace);
/* Makes room for at least one more record and `lines` lines. False when memory is out. */
bool gpu_trace_grow(struct gpu_trace *trace, size_t lines);
/* Moves the unread part to the front when more than half has been read. */
void gpu_trace_compact(struct gpu_trace *trace);

static inline bool gpu_trace_put(struct gpu_trace *trace, struct gpu_trace_record record, const struct gpu_trace_line *line)
{
    if ((trace->written == trace->room || trace->lines_written + record.lines > trace->lines_room) &&
        !gpu_trace_grow(trace, record.lines))
        return false;
    trace->record[trace->written++] = record;
    for (unsigned i = 0; i < record.lines; i++)
        trace->line[trace->lines_written++] = line[i];
    return true;
}

#endif
