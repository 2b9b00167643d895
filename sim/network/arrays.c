#include "sim/network/arrays.h"

#include "sim/base/file_read.h"
#include "sim/base/npy.h"
#include "sim/network/onnx/onnx.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static const enum net_type types[NPY_TYPE_COUNT] = {
    [NPY_F16] = NET_F16, [NPY_F32] = NET_F32, [NPY_F64] = NET_F64, [NPY_I8] = NET_I8,
    [NPY_I16] = NET_I16, [NPY_I32] = NET_I32, [NPY_I64] = NET_I64, [NPY_U8] = NET_U8,
    [NPY_U16] = NET_U16, [NPY_U32] = NET_U32, [NPY_U64] = NET_U64, [NPY_BOOL] = NET_BOOL,
};

static struct net_array *of_npy(const struct npy_array *npy, struct orch_error *error)
{
    int64_t shape[NET_DIMS_MAX], stride[NET_DIMS_MAX];
    if (npy->dims > NET_DIMS_MAX) {
        orch_fail(error, ORCH_USAGE, "%u dimensions; at most %d are possible", npy->dims, NET_DIMS_MAX);
        return NULL;
    }
    int64_t step = 1;
    for (unsigned d = 0; d < npy->dims; d++) {
        shape[d] = (int64_t)npy->shape[d];
        stride[d] = step;
        step *= shape[d];
    }
    struct net_array *const a = net_array_new(types[npy->type], shape, npy->dims, error);
    const size_t size = npy_type_bytes(npy->type);
    if (a && npy->bytes && !npy->fortran_order)
        memcpy(a->data, npy->data, npy->bytes);
    for (int64_t k = 0; a && npy->fortran_order && k < a->count; k++) {
        int64_t from = 0, left = k;
        for (unsigned d = npy->dims; d-- > 0;) {
            from += left % shape[d] * stride[d];
            left /= shape[d];
        }
        memcpy((uint8_t *)a->data + (size_t)k * size, npy->data + (size_t)from * size, size);
    }
    return a;
}

static struct net_array *parse_npy(const uint8_t *bytes, size_t size, struct orch_error *error)
{
    struct npy_array npy;
    return npy_parse(bytes, size, &npy, error) ? of_npy(&npy, error) : NULL;
}

/* ---- archives ---- */

enum { END_BYTES = 22, ENTRY_BYTES = 46, LOCAL_BYTES = 30 };

static uint32_t u16(const uint8_t *p)
{
    return p[0] | (uint32_t)p[1] << 8;
}

static uint32_t u32(const uint8_t *p)
{
    return u16(p) | u16(p + 2) << 16;
}

static uint8_t *inflate_member(const uint8_t *from, size_t packed, size_t unpacked, unsigned method, struct orch_error *error)
{
    uint8_t *const to = malloc(unpacked + 1);
    z_stream z = {.next_in = (Bytef *)(uintptr_t)from, .avail_in = (uInt)packed, .next_out = to, .avail_out = (uInt)unpacked};
    if (!to) {
        orch_no_memory(error);
        return NULL;
    }
    if (method == 0 && packed == unpacked) {
        memcpy(to, from, unpacked);
        return to;
    }
    bool ok = method == 8 && inflateInit2(&z, -MAX_WBITS) == Z_OK;
    if (ok) {
        ok = inflate(&z, Z_FINISH) == Z_STREAM_END && z.total_out == unpacked;
        inflateEnd(&z);
    }
    if (!ok) {
        orch_fail(error, ORCH_USAGE, "a damaged member");
        free(to);
        return NULL;
    }
    return to;
}

/* One entry of the archive's list: the array when it is the one that is wanted. */
static struct net_array *read_entry(const uint8_t *bytes, size_t size, const uint8_t *entry, struct orch_error *error)
{
    const size_t packed = u32(entry + 20), unpacked = u32(entry + 24), local = u32(entry + 42);
    if (local > size || size - local < LOCAL_BYTES || u32(bytes + local) != 0x04034b50) {
        orch_fail(error, ORCH_USAGE, "a damaged archive");
        return NULL;
    }
    const size_t start = local + LOCAL_BYTES + u16(bytes + local + 26) + u16(bytes + local + 28);
    if (start > size || packed > size - start || unpacked / 1032 > packed + 1) { /* deflate packs no better */
        orch_fail(error, ORCH_USAGE, "a damaged archive");
        return NULL;
    }
    uint8_t *const member = inflate_member(bytes + start, packed, unpacked, u16(entry + 10), error);
    struct net_array *const array = member ? parse_npy(member, unpacked, error) : NULL;
    free(member);
    return array;
}

static bool is_named(const uint8_t *entry, const char *name)
{
    const char *const own = (const char *)entry + ENTRY_BYTES;
    const size_t length = u16(entry + 28), wanted = strlen(name);
    return length >= wanted && memcmp(own, name, wanted) == 0 &&
           (length == wanted || (length == wanted + 4 && memcmp(own + wanted, ".npy", 4) == 0));
}

/* "; it has 'a', 'b'", as far as there is room. */
static void name_entries(const uint8_t *bytes, size_t size, size_t at, unsigned entries, char *text, size_t room)
{
    size_t used = 0;
    text[0] = 0;
    for (unsigned k = 0; k < entries && at <= size && size - at >= ENTRY_BYTES && used < room; k++) {
        const unsigned own = u16(bytes + at + 28);
        const size_t length = ENTRY_BYTES + own + u16(bytes + at + 30) + u16(bytes + at + 32);
        if (length > size - at)
            break;
        const char *const name = (const char *)bytes + at + ENTRY_BYTES;
        const int shown = (int)(own > 4 && memcmp(name + own - 4, ".npy", 4) == 0 ? own - 4 : own);
        used += (size_t)snprintf(text + used, room - used, "%s'%.*s'", k ? ", " : "; it has ", shown < 40 ? shown : 40, name);
        at += length;
    }
    for (char *c = text; *c; c++)
        *c = (char)((unsigned char)*c < ' ' || *c == 127 ? '?' : *c);
}

static struct net_array *parse_npz(const uint8_t *bytes, size_t size, const char *name, struct orch_error *error)
{
    size_t end = size >= END_BYTES ? size - END_BYTES : 0;
    while (end && u32(bytes + end) != 0x06054b50)
        end--;
    if (size < END_BYTES || u32(bytes + end) != 0x06054b50) {
        orch_fail(error, ORCH_USAGE, "a damaged archive");
        return NULL;
    }
    const unsigned entries = u16(bytes + end + 10);
    const uint8_t *found = NULL;
    size_t at = u32(bytes + end + 16);
    for (unsigned k = 0; k < entries && at <= size && size - at >= ENTRY_BYTES && u32(bytes + at) == 0x02014b50; k++) {
        const size_t length = ENTRY_BYTES + u16(bytes + at + 28) + u16(bytes + at + 30) + u16(bytes + at + 32);
        if (length > size - at)
            break;
        if (name ? is_named(bytes + at, name) : entries == 1)
            found = bytes + at;
        at += length;
    }
    if (!found) {
        char others[160];
        name_entries(bytes, size, u32(bytes + end + 16), entries, others, sizeof others);
        orch_fail(error, ORCH_USAGE, name ? "no array '%.60s'%s" : "%.0sseveral arrays, and none is named%s", name ? name : "",
                  others);
        return NULL;
    }
    return read_entry(bytes, size, found, error);
}

/* ---- files ---- */

struct net_array *net_array_load(const char *path, const char *name, struct orch_error *error)
{
    uint8_t *bytes = NULL;
    size_t size = 0;
    FILE *const file = fopen(path, "rb");
    const bool ok = file && file_read_all(file, (size_t)NET_ARRAY_BYTES_MAX, &bytes, &size);
    struct net_array *array = NULL;
    if (!ok)
        orch_fail(error, ORCH_USAGE, "%s: %s", path, strerror(errno));
    if (file)
        fclose(file);
    const bool npy = ok && npy_is(bytes, size), npz = ok && size > 4 && memcmp(bytes, "PK\3\4", 4) == 0;
    if (npy || npz) {
        array = npy ? parse_npy(bytes, size, error) : parse_npz(bytes, size, name, error);
        if (!array)
            orch_fail_in(error, "%s", path);
    }
    free(bytes);
    return ok && !npy && !npz ? onnx_tensor_load(path, NULL, 0, error) : array;
}

bool net_array_save(const char *path, const struct net_array *array, struct orch_error *error)
{
    struct npy_array npy = {.type = net_type_npy(array->type), .dims = array->dims, .data = array->data};
    for (unsigned d = 0; d < array->dims; d++)
        npy.shape[d] = (uint64_t)array->shape[d];
    return npy_measure(&npy) ? npy_save(path, &npy, error) : orch_fail(error, ORCH_USAGE, "%s: too large", path);
}
