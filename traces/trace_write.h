/* Writes a trace, record after record, in bounded memory.
 *
 * The file grows as PATH.part, block by block, and gets its name when it is finished; what a killed writer leaves is a readable
 * beginning. Other forms of the same: trace_text.h. */
#ifndef ORCHARD_TRACES_TRACE_WRITE_H
#define ORCHARD_TRACES_TRACE_WRITE_H

#include "traces/trace_error.h"
#include "traces/trace_header.h"
#include "traces/trace_record.h"

struct trace_writer;

/* text: one JSON document a line instead of the binary form. NULL with *error. */
struct trace_writer *trace_writer_create(const char *path, const struct trace_header *header, bool text,
                                         struct trace_error *error);
/* False with *error: what does not fit the format, or what the system said. What was written before stays valid. */
bool trace_write(struct trace_writer *writer, const struct trace_record *record, struct trace_error *error);
/* Ends the file: index, footer, name. */
bool trace_writer_finish(struct trace_writer *writer, struct trace_error *error);
/* Without trace_writer_finish before, nothing is left behind. */
void trace_writer_free(struct trace_writer *writer);
uint64_t trace_writer_records(const struct trace_writer *writer);

#endif
