/* What the room of traces says, as errors of the command line. */
#ifndef ORCHARD_SIM_TRACE_TRACE_ERRORS_H
#define ORCHARD_SIM_TRACE_TRACE_ERRORS_H

#include "sim/base/error.h"
#include "traces/trace_error.h"

/* False, always. */
static inline bool trace_tell(const struct trace_error *from, struct orch_error *to)
{
    return orch_fail(to, from->memory ? ORCH_INTERNAL : ORCH_USAGE, "%s", from->text);
}

#endif
