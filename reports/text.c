#include "reports/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void text_free(struct text *t)
{
    free(t->data);
    *t = (struct text){0};
}

/* Makes room for `more` bytes and a NUL. */
static bool reserve(struct text *t, size_t more)
{
    if (t->failed || more >= SIZE_MAX / 2 - t->size)
        return false;
    const size_t need = t->size + more + 1;
    if (need <= t->room)
        return true;
    size_t room = t->room ? t->room : 1024;
    while (room < need)
        room *= 2;
    char *const data = realloc(t->data, room);
    if (!data) {
        t->failed = true;
        return false;
    }
    t->data = data;
    t->room = room;
    return true;
}

void text_bytes(struct text *t, const char *bytes, size_t size)
{
    if (!reserve(t, size))
        return;
    memcpy(t->data + t->size, bytes, size);
    t->size += size;
    t->data[t->size] = 0;
}

void text_put(struct text *t, const char *string)
{
    text_bytes(t, string, strlen(string));
}

void text_printf(struct text *t, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    const int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length >= 0 && reserve(t, (size_t)length)) {
        vsnprintf(t->data + t->size, (size_t)length + 1, format, again);
        t->size += (size_t)length;
    }
    va_end(again);
}

/* The bytes of the UTF-8 sequence at s; 0 when it is broken, overlong or a surrogate (Unicode 15, table 3-7). */
static unsigned utf8_length(const unsigned char *s)
{
    const unsigned lead = s[0];
    if (lead < 0x80)
        return 1;
    const unsigned length = lead >= 0xc2 && lead <= 0xdf ? 2 : (lead & 0xf0) == 0xe0 ? 3 : lead >= 0xf0 && lead <= 0xf4 ? 4 : 0;
    for (unsigned i = 1; i < length; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    const bool overlong = (lead == 0xe0 && s[1] < 0xa0) || (lead == 0xf0 && s[1] < 0x90);
    const bool outside = (lead == 0xed && s[1] > 0x9f) || (lead == 0xf4 && s[1] > 0x8f);
    return overlong || outside ? 0 : length;
}

/* XML 1.0 lacks most control characters, U+FFFE and U+FFFF. */
static bool xml_has(const unsigned char *s, unsigned length)
{
    if (length == 1)
        return (*s >= 0x20 && *s != 0x7f) || *s == '\t' || *s == '\n' || *s == '\r';
    return !(length == 3 && s[0] == 0xef && s[1] == 0xbf && s[2] >= 0xbe);
}

static const char replacement[] = "\xef\xbf\xbd";

void text_xml(struct text *t, const char *string)
{
    const unsigned char *s = (const unsigned char *)string;
    while (s && *s) {
        const unsigned length = utf8_length(s);
        if (length == 0 || !xml_has(s, length))
            text_put(t, replacement);
        else if (*s == '&')
            text_put(t, "&amp;");
        else if (*s == '<')
            text_put(t, "&lt;");
        else if (*s == '>')
            text_put(t, "&gt;");
        else if (*s == '"')
            text_put(t, "&quot;");
        else if (*s == '\'')
            text_put(t, "&#39;");
        else
            text_bytes(t, (const char *)s, length);
        s += length ? length : 1;
    }
}

void text_clean(struct text *t, const char *string)
{
    const unsigned char *s = (const unsigned char *)string;
    while (s && *s) {
        const unsigned length = utf8_length(s);
        if (length == 0)
            text_put(t, replacement);
        else
            text_bytes(t, *s < 0x20 || *s == 0x7f ? " " : (const char *)s, length);
        s += length ? length : 1;
    }
}

void text_json(struct text *t, const char *string)
{
    if (!string) {
        text_put(t, "null");
        return;
    }
    const unsigned char *s = (const unsigned char *)string;
    text_put(t, "\"");
    while (*s) {
        const unsigned length = utf8_length(s);
        if (length == 0)
            text_put(t, replacement);
        else if (*s == '"' || *s == '\\')
            text_printf(t, "\\%c", *s);
        else if (*s < 0x20 || *s == 0x7f || *s == '<' || *s == '&')
            text_printf(t, "\\u%04x", *s);
        else
            text_bytes(t, (const char *)s, length);
        s += length ? length : 1;
    }
    text_put(t, "\"");
}

void text_json_number(struct text *t, double number)
{
    if (!isfinite(number))
        text_put(t, "null");
    else
        text_printf(t, "%.15g", number);
}

void text_coordinate(struct text *t, double number)
{
    char digits[64];
    if (!isfinite(number))
        number = 0;
    int length = snprintf(digits, sizeof digits, "%.2f", fmin(fmax(number, -1e9), 1e9));
    while (digits[length - 1] == '0')
        length--;
    if (digits[length - 1] == '.')
        length--;
    if (length == 2 && digits[0] == '-' && digits[1] == '0') {
        digits[0] = '0';
        length = 1;
    }
    text_bytes(t, digits, (size_t)length);
}
