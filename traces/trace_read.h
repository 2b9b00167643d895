/* Reads a trace of either form record by record, in bounded memory.
 *
 *     struct trace_reader *r = trace_reader_open(path, false, &error);
 *     while ((step = trace_next(r, &record, &error)) == TRACE_GOT)
 *         ...
 *     step is TRACE_OVER, or TRACE_BAD with *error
 *
 * With `force`, blocks (or lines) that are damaged or cut off are passed over; the account tells what was lost.
 */
#ifndef ORCHARD_TRACES_TRACE_READ_H
#define ORCHARD_TRACES_TRACE_READ_H

#include "traces/trace_error.h"
#include "traces/trace_header.h"
#include "traces/trace_record.h"

#include <stdio.h>

struct trace_reader;

/* Whether a file that begins with these bytes (16 are enough) looks like a trace of either form. */
bool trace_recognise(const void *bytes, size_t size);

struct trace_reader *trace_reader_open(const char *path, bool force, struct trace_error *error);
/* Reads an open file, which the reader will close; `name` is for messages. */
struct trace_reader *trace_reader_attach(FILE *file, const char *name, bool force, struct trace_error *error);
void trace_reader_close(struct trace_reader *reader);

/* Texts that the header does not have are NULL. */
const struct trace_header *trace_reader_header(const struct trace_reader *reader);
bool trace_reader_is_text(const struct trace_reader *reader);

enum trace_step { TRACE_GOT, TRACE_OVER, TRACE_BAD };
/* What the record points to is valid until the next call. */
enum trace_step trace_next(struct trace_reader *reader, struct trace_record *record, struct trace_error *error);
/* Goes to the record with this number, from 0, by the index if the file has one. Must be called before the first trace_next. */
bool trace_seek(struct trace_reader *reader, uint64_t record, struct trace_error *error);

/* What was read so far. */
struct trace_account {
    uint64_t blocks, records, raw_bytes, stored_bytes, file_bytes;
    uint64_t lost_bytes, lost_places; /* with force: bytes, and stretches of them, that are no valid blocks (or lines) */
    uint64_t lost_records;            /* as far as the index and the numbers of lost blocks tell; else 0 */
    bool lost_known;                  /* lost_records counts all of them */
    uint32_t checksum;                /* CRC-32 of the checksums of the blocks; equal contents have equal sums */
};
void trace_reader_account(const struct trace_reader *reader, struct trace_account *account);
/* Where the last record begins: "byte 1234, block 3" or "line 7". */
const char *trace_reader_place(struct trace_reader *reader);

#endif
