#include "sim/prove/check/vector_file.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool vector_file_open(struct vector_file *f, int fd, const char *name, struct orch_error *error)
{
    const int own = dup(fd);
    f->name = name;
    f->line_number = 0;
    f->error = error;
    f->file = own >= 0 ? gzdopen(own, "rb") : NULL;
    if (!f->file && own >= 0)
        close(own);
    return f->file != NULL;
}

void vector_file_close(struct vector_file *f)
{
    if (f->file)
        gzclose(f->file);
    f->file = NULL;
}

bool vector_malformed(const struct vector_file *f, const char *expected)
{
    return orch_fail(f->error, ORCH_USAGE, "%s:%lu: expected %s", f->name, f->line_number, expected);
}

char *vector_line(struct vector_file *f, bool *ok)
{
    *ok = true;
    f->line_number++;
    if (!gzgets(f->file, f->line, VECTOR_LINE_BYTES)) {
        int code;
        const char *const text = gzerror(f->file, &code);
        if (code != Z_OK && code != Z_STREAM_END)
            *ok = orch_fail(f->error, ORCH_USAGE, "%s:%lu: not readable: %s", f->name, f->line_number, text);
        return NULL;
    }
    const size_t length = strlen(f->line);
    if (length && f->line[length - 1] == '\n')
        f->line[length - 1] = '\0';
    else if (!gzeof(f->file))
        *ok = vector_malformed(f, "a line of text below 64 KiB");
    return *ok ? f->line : NULL;
}

bool vector_stem_is(const char *path, const char *stem)
{
    const char *const slash = strrchr(path, '/'), *const name = slash ? slash + 1 : path;
    const size_t length = strcspn(name, ".");
    size_t same = 0;
    while (same < length && stem[same] && (stem[same] == name[same] || (strchr("-_", stem[same]) && strchr("-_", name[same]))))
        same++;
    return same == length && !stem[same];
}

char *vector_word(char **text, char separator)
{
    char *start = *text;
    if (separator == ' ')
        start += strspn(start, " ");
    if (!*start)
        return NULL;
    const char ends[2] = {separator, 0};
    char *const end = start + strcspn(start, ends);
    *text = *end ? end + 1 : end;
    *end = '\0';
    return start;
}

bool vector_hex(const char *word, uint64_t *value)
{
    const size_t length = word ? strlen(word) : 0;
    if (length < 1 || length > 16 || strspn(word, "0123456789abcdefABCDEF") != length)
        return false;
    *value = strtoull(word, NULL, 16);
    return true;
}

bool vector_decimal(const char *word, unsigned limit, unsigned *value)
{
    const size_t length = word ? strlen(word) : 0;
    if (length < 1 || length > 6 || strspn(word, "0123456789") != length)
        return false;
    *value = (unsigned)strtoul(word, NULL, 10);
    return *value <= limit;
}

bool vector_bytes(const char *word, uint8_t *bytes, size_t room, size_t *count)
{
    const size_t length = word ? strlen(word) : 0;
    if (length < 2 || length % 2 || length / 2 > room || strspn(word, "0123456789abcdefABCDEF") != length)
        return false;
    for (size_t i = 0; i < length / 2; i++) {
        const char two[3] = {word[2 * i], word[2 * i + 1], 0};
        bytes[i] = (uint8_t)strtoul(two, NULL, 16);
    }
    *count = length / 2;
    return true;
}
