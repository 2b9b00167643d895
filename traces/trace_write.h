/* Writes a trace to a stream, record after record, in bounded memory.
 *
 * The stream belongs to the caller, who opens it for writing from its beginning and completes the file after trace_writer_finish.
 * Each block is flushed when it is full: what a killed writer leaves is a readable beginning. Other forms of the same:
 * trace_text.h. */
#ifndef ORCHARD_TRACES_TRACE_WRITE_H
#define ORCHARD_TRACES_TRACE_WRITE_H

#include "traces/trace_error.h"
#include "traces/trace_header.h"
#include "traces/trace_record.h"

#include <stdio.h>

struct trace_writer;

/* `name` stands for the file in error lines and is copied. `text`: one JSON document per line instead of the binary form. NULL
 * with *error filled on failure. */
struct trace_writer *trace_writer_create(FILE *out, const char *name, const struct trace_header *header, bool text,
                                         struct trace_error *error);
/* False with *error: the record does not fit the format, or the stream could not be written. What was written before stays valid.
 */
bool trace_write(struct trace_writer *writer, const struct trace_record *record, struct trace_error *error);
/* Writes the last block, the index and the footer, and flushes the stream. */
bool trace_writer_finish(struct trace_writer *writer, struct trace_error *error);
/* Frees the writer and leaves the stream alone; NULL is fine. */
void trace_writer_free(struct trace_writer *writer);

#endif
