/* A trace as a file: the writer of the room of traces (traces/trace_write.h) on an output file (sim/base/output_file.h), which
 * has its name only when it is complete and on the disk. */
#ifndef ORCHARD_SIM_TRACE_TRACE_OUTPUT_H
#define ORCHARD_SIM_TRACE_TRACE_OUTPUT_H

#include "sim/base/error.h"
#include "traces/trace_write.h"

struct trace_output;

/* `text`: JSON lines instead of the binary form. NULL with *error filled on failure. */
struct trace_output *trace_output_open(const char *path, const struct trace_header *header, bool text, struct orch_error *error);
/* For trace_write; belongs to the output. */
struct trace_writer *trace_output_writer(struct trace_output *output);
/* Completes the file and frees `output`; on failure (false, with *error) there is no such file, or it is as it was. */
bool trace_output_commit(struct trace_output *output, struct orch_error *error);
/* Drops what was written and frees `output`; NULL is fine. */
void trace_output_discard(struct trace_output *output);

#endif
