#include "sim/base/gzip.h"

#include <stdlib.h>
#include <zlib.h>

struct sink {
    uint8_t *bytes;
    size_t used, room;
};

static bool grow(struct sink *s, struct orch_error *error)
{
    const size_t room = s->room ? 2 * s->room : 1 << 16;
    if (s->used < s->room)
        return true;
    if (s->used >= GZIP_UNPACKED_MAX)
        return orch_fail(error, ORCH_USAGE, "unpacks to more than 1 GiB");
    uint8_t *const grown = realloc(s->bytes, room);
    if (!grown)
        return orch_no_memory(error);
    s->bytes = grown;
    s->room = room;
    return true;
}

/* A gzip file may consist of several members in a row. */
static bool inflate_all(z_stream *z, struct sink *s, struct orch_error *error)
{
    int code = Z_OK;
    while (code != Z_STREAM_END || z->avail_in) {
        if (code == Z_STREAM_END && inflateReset(z) != Z_OK)
            return orch_fail(error, ORCH_USAGE, "gzip: damaged");
        if (!grow(s, error))
            return false;
        z->next_out = s->bytes + s->used;
        z->avail_out = (uInt)(s->room - s->used < 1u << 30 ? s->room - s->used : 1u << 30);
        const uInt before = z->avail_out;
        code = inflate(z, Z_NO_FLUSH);
        s->used += before - z->avail_out;
        if (code != Z_OK && code != Z_STREAM_END)
            return orch_fail(error, ORCH_USAGE, "gzip: %s", code == Z_BUF_ERROR ? "cut off" : "damaged");
    }
    return true;
}

bool gzip_unpack(uint8_t **bytes, size_t *size, struct orch_error *error)
{
    z_stream z = {.next_in = *bytes, .avail_in = (uInt)*size};
    struct sink s = {.bytes = NULL};
    if (*size < 2 || (*bytes)[0] != 0x1f || (*bytes)[1] != 0x8b)
        return true;
    if (*size > UINT32_MAX || inflateInit2(&z, 15 + 16) != Z_OK)
        return orch_no_memory(error);
    const bool ok = inflate_all(&z, &s, error);
    inflateEnd(&z);
    if (!ok) {
        free(s.bytes);
        return false;
    }
    free(*bytes);
    *bytes = s.bytes;
    *size = s.used;
    return true;
}
