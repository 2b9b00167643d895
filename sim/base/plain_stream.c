#define _GNU_SOURCE /* fopencookie */
#include "sim/base/plain_stream.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { HELD = 8 };

/* Bytes of which it is not yet known whether they may pass: the beginning of an escape, a carriage return, 0xc2. */
struct plain_stream {
    FILE *to;
    char held[HELD];
    size_t count;
};

static bool is_control(unsigned char c)
{
    return (c < 0x20 && c != '\n' && c != '\t') || c == 0x7f;
}

void plain_text(char *text)
{
    for (char *c = text; *c; c++) {
        const bool eight_bits = (unsigned char)*c == 0xc2 && (unsigned char)c[1] >= 0x80 && (unsigned char)c[1] < 0xa0;
        if (eight_bits)
            *c++ = '?';
        if (eight_bits || is_control((unsigned char)*c))
            *c = '?';
    }
}

/* Whether `held` begins, or is, something that may pass: -1 = no, 0 = it begins so, 1 = it is. */
static int allowed(const char *held, size_t count)
{
    static const char *const whole[] = {"\033[1m", "\033[0m", "\r\n"};
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        if (strncmp(held, whole[i], count) == 0)
            return whole[i][count] == 0;
    if (count == 1 && (unsigned char)held[0] == 0xc2)
        return 0;
    /* U+0080 to U+009F are control characters of eight bits. */
    return count == 2 && (unsigned char)held[0] == 0xc2 && (unsigned char)held[1] >= 0xa0 ? 1 : -1;
}

static void let_go(struct plain_stream *s, bool pass)
{
    if (pass)
        fwrite(s->held, 1, s->count, s->to);
    else
        fputc('?', s->to);
    s->count = 0;
}

static void take(struct plain_stream *s, char c)
{
    const bool special = is_control((unsigned char)c) || (unsigned char)c == 0xc2;
    if (s->count == 0 && !special) {
        fputc(c, s->to);
        return;
    }
    s->held[s->count++] = c;
    s->held[s->count] = 0;
    const int may = allowed(s->held, s->count);
    if (may > 0) {
        let_go(s, true);
    } else if (may < 0) {
        /* The first byte is what was wrong; the others are looked at again. */
        char rest[HELD];
        const size_t count = s->count - 1;
        memcpy(rest, s->held + 1, count);
        const bool pair = (unsigned char)s->held[0] == 0xc2 && count == 1 && ((unsigned char)rest[0] & 0xc0) == 0x80;
        let_go(s, false);
        for (size_t i = pair ? 1 : 0; i < count; i++)
            take(s, rest[i]);
    }
}

static ssize_t write_bytes(void *cookie, const char *bytes, size_t size)
{
    struct plain_stream *const s = cookie;
    for (size_t i = 0; i < size; i++)
        take(s, bytes[i]);
    return ferror(s->to) ? 0 : (ssize_t)size;
}

static int close_stream(void *cookie)
{
    struct plain_stream *const s = cookie;
    if (s->count)
        let_go(s, false);
    const int result = fflush(s->to);
    free(s);
    return result;
}

FILE *plain_stream_open(FILE *to)
{
    struct plain_stream *const s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->to = to;
    FILE *const stream = fopencookie(s, "w", (cookie_io_functions_t){.write = write_bytes, .close = close_stream});
    if (!stream) {
        free(s);
        return NULL;
    }
    setvbuf(stream, NULL, _IONBF, 0); /* `to` has a buffer, and others write to it */
    return stream;
}
