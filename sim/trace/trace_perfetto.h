/* A recorded trace as a Chrome trace, for people to look at: its operators, transfers, series and instructions. */
#ifndef ORCHARD_SIM_TRACE_TRACE_PERFETTO_H
#define ORCHARD_SIM_TRACE_TRACE_PERFETTO_H

#include "sim/base/error.h"
#include "traces/trace_read.h"

/* Reads the rest of a trace and writes the file; it appears only when it is complete. Memory grows with the launches in flight.
 */
bool trace_perfetto(struct trace_reader *reader, const char *path, struct orch_error *error);

#endif
