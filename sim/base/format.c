#include "sim/base/format.h"

#include "sim/base/plain_stream.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void format_csv(FILE *out, const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

void format_csv_text(FILE *out, const char *text)
{
    char *end = NULL;
    strtod(text, &end);
    const bool number = *text && !*end, formula = *text && !number && strchr("=+-@\t\r", *text);
    char *const copy = malloc(strlen(text) + 2);
    if (!copy)
        return;
    sprintf(copy, formula ? "'%s" : "%s", text);
    plain_text(copy);
    format_csv(out, copy);
    free(copy);
}

size_t format_width(const char *text)
{
    size_t width = 0;
    for (; *text; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80; /* continuation bytes take no room */
    return width;
}

void format_right(FILE *out, const char *text, unsigned width)
{
    const size_t own = format_width(text);
    fprintf(out, "%*s%s", own < width ? (int)(width - own) : 0, "", text);
}

void format_printable(char *text)
{
    char *to = text;
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text, next = (unsigned char)text[1];
        const int wide = c == 0xc2 && next >= 0x80 && next < 0xa0;
        *to++ = wide || c < ' ' || c == 127 ? '?' : (char)c;
        text += wide;
    }
    *to = 0;
}
