/* Archives: headers of 60 bytes in text, members at even offsets. The table of symbols is not trusted: members are read. */
#include "isa/elf/elf_join_parts.h"

#include <ar.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct archive {
    const uint8_t *bytes;
    size_t size;
    const char *long_names;
    size_t long_bytes;
};

bool elf_is_archive(const void *bytes, size_t size)
{
    return size >= SARMAG && memcmp(bytes, ARMAG, SARMAG) == 0;
}

/* A number in a field of text; false when there is something else. */
static bool number_of(const char *field, size_t width, size_t *number)
{
    size_t i = 0;
    *number = 0;
    for (; i < width && field[i] >= '0' && field[i] <= '9'; i++)
        *number = *number * 10 + (size_t)(field[i] - '0');
    for (size_t k = i; k < width; k++)
        if (field[k] != ' ')
            return false;
    return i > 0;
}

static void name_of(const struct archive *a, const struct ar_hdr *header, char *name, size_t size)
{
    size_t at;
    const char *text = header->ar_name;
    size_t most = sizeof header->ar_name;
    if (text[0] == '/' && number_of(text + 1, sizeof header->ar_name - 1, &at) && at < a->long_bytes) {
        text = a->long_names + at;
        most = a->long_bytes - at;
    }
    size_t n = 0;
    while (n < most && n + 1 < size && text[n] != '/' && text[n] != '\n' && text[n] != ' ')
        n++;
    snprintf(name, size, "%.*s", (int)n, text);
    elf_clean_text(name);
}

bool join_add_archive(struct join *j, const struct elf_join_file *file)
{
    struct archive a = {.bytes = file->bytes, .size = file->size};
    for (size_t at = SARMAG; at + sizeof(struct ar_hdr) <= a.size;) {
        struct ar_hdr header;
        size_t bytes;
        char name[64];
        memcpy(&header, a.bytes + at, sizeof header);
        if (memcmp(header.ar_fmag, ARFMAG, sizeof header.ar_fmag) != 0 ||
            !number_of(header.ar_size, sizeof header.ar_size, &bytes) || bytes > a.size - at - sizeof header)
            return elf_refuse(j->error, at, "%.120s: damaged archive: the header of a member is wrong", file->name);
        const uint8_t *const from = a.bytes + at + sizeof header;
        const bool special =
            header.ar_name[0] == '/' && (header.ar_name[1] == ' ' || header.ar_name[1] == '/' || header.ar_name[1] == 'S');
        if (header.ar_name[0] == '/' && header.ar_name[1] == '/') {
            a.long_names = (const char *)from;
            a.long_bytes = bytes;
        }
        name_of(&a, &header, name, sizeof name);
        if (!special && elf_is(from, bytes) && !join_add_object(j, file->name, name, from, bytes, true))
            return false;
        at += sizeof header + bytes + (bytes & 1);
    }
    return true;
}
