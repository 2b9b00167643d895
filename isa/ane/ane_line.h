/* Text in a fixed buffer, cut off where the buffer ends. Inside isa/ane only. */
#ifndef ORCHARD_ISA_ANE_ANE_LINE_H
#define ORCHARD_ISA_ANE_ANE_LINE_H

#include <stdarg.h>
#include <stdio.h>

struct ane_line {
    char *text;
    size_t size, used; /* used exceeds size when the text was cut off */
};

static inline void ane_line_add(struct ane_line *line, const char *format, ...) __attribute__((format(printf, 2, 3)));
static inline void ane_line_add(struct ane_line *line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (line->used < line->size) {
        const int length = vsnprintf(line->text + line->used, line->size - line->used, format, arguments);
        line->used += length > 0 ? (size_t)length : 0;
    }
    va_end(arguments);
}

#endif
