#include "power/power_error.h"

#include <stdarg.h>
#include <stdio.h>

_Bool power_fail(struct power_error *error, unsigned long line, const char *format, ...)
{
    if (error) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(error->text, sizeof error->text, format, arguments);
        va_end(arguments);
        error->line = line;
    }
    return 0;
}
