/* Writes a trace record by record, in bounded memory.
 *
 * The file grows as PATH.part, block by block, and gets its name when it is finished; a writer that is killed leaves a readable
 * beginning. trace_text.h has the text form. */
#ifndef ORCHARD_TRACES_TRACE_WRITE_H
#define ORCHARD_TRACES_TRACE_WRITE_H

#include "traces/trace_error.h"
#include "traces/trace_header.h"
#include "traces/trace_record.h"

struct trace_writer;

/* With `text` the file has one JSON document on each line, instead of the binary form. NULL, with *error, on failure. */
struct trace_writer *trace_writer_create(const char *path, const struct trace_header *header, bool text,
                                         struct trace_error *error);
/* False, with *error, when the record does not fit the format or the system fails. What was written before stays valid. */
bool trace_write(struct trace_writer *writer, const struct trace_record *record, struct trace_error *error);
/* Ends the file: writes index and footer, and gives it its name. */
bool trace_writer_finish(struct trace_writer *writer, struct trace_error *error);
/* Leaves no file behind unless trace_writer_finish was called. */
void trace_writer_free(struct trace_writer *writer);
uint64_t trace_writer_records(const struct trace_writer *writer);

#endif
