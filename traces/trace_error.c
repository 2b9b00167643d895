#include "traces/trace_error.h"

#include <stdarg.h>
#include <stdio.h>

bool trace_fail(struct trace_error *error, const char *format, ...)
{
    va_list args;
    if (!error)
        return false;
    error->memory = false;
    va_start(args, format);
    vsnprintf(error->text, sizeof error->text, format, args);
    va_end(args);
    return false;
}

bool trace_no_memory(struct trace_error *error)
{
    trace_fail(error, "out of memory for a trace");
    if (error)
        error->memory = true;
    return false;
}
