#include "sim/base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool orch_fail(struct orch_error *e, int exit_code, const char *format, ...)
{
    if (!e)
        return false;
    va_list args;
    va_start(args, format);
    vsnprintf(e->text, sizeof e->text, format, args);
    va_end(args);
    e->exit_code = exit_code;
    return false;
}

bool orch_no_memory(struct orch_error *e)
{
    return orch_fail(e, ORCH_INTERNAL, "out of memory");
}

bool orch_fail_in(struct orch_error *e, const char *format, ...)
{
    if (!e)
        return false;
    char text[sizeof e->text];
    memcpy(text, e->text, sizeof text);
    va_list args;
    va_start(args, format);
    vsnprintf(e->text, sizeof e->text, format, args);
    va_end(args);
    const size_t used = strlen(e->text);
    snprintf(e->text + used, sizeof e->text - used, ": %s", text);
    return false;
}
