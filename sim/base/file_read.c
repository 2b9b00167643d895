#include "sim/base/file_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 1 << 16 };

/* Room for more and for the NUL. */
static bool grow(uint8_t **bytes, size_t *room)
{
    const size_t wanted = *room ? 2 * *room : FIRST_ROOM;
    uint8_t *const grown = realloc(*bytes, wanted);
    if (!grown)
        return false;
    *bytes = grown;
    *room = wanted;
    return true;
}

bool file_read_all(FILE *file, size_t most, uint8_t **bytes, size_t *size)
{
    size_t room = 0, used = 0, got = 1;
    int why = 0;
    *bytes = NULL;
    while (!why && got) {
        if (used + 1 >= room && !grow(bytes, &room)) {
            why = ENOMEM;
            break;
        }
        errno = 0;
        got = fread(*bytes + used, 1, room - used - 1, file);
        used += got;
        if (ferror(file))
            why = errno ? errno : EIO;
        else if (used > most)
            why = EFBIG;
    }
    if (!why) {
        (*bytes)[used] = 0;
        *size = used;
        return true;
    }
    free(*bytes);
    *bytes = NULL;
    errno = why;
    return false;
}

bool file_is_git_lfs_pointer(const void *bytes, size_t size)
{
    static const char begin[] = "version https://git-lfs.github.com/spec/";
    return size >= sizeof begin && memcmp(bytes, begin, sizeof begin - 1) == 0;
}
