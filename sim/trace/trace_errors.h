/* Turns errors of the room of traces into errors of the command line. */
#ifndef ORCHARD_SIM_TRACE_TRACE_ERRORS_H
#define ORCHARD_SIM_TRACE_TRACE_ERRORS_H

#include "sim/base/error.h"
#include "traces/trace_error.h"

/* Always returns false. */
static inline bool trace_tell(const struct trace_error *from, struct orch_error *to)
{
    return orch_fail(to, from->memory ? ORCH_INTERNAL : ORCH_USAGE, "%s", from->text);
}

#endif
