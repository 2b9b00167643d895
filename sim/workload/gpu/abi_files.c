#include "sim/workload/gpu/abi_internal.h"

#include "sim/base/checksum.h"
#include "sim/base/content_hash.h"
#include "sim/base/npy.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void abi_sha256(const void *bytes, size_t size, uint8_t digest[ABI_DIGEST_BYTES])
{
    struct content_hash h;
    content_hash_begin(&h);
    content_hash_add_bytes(&h, bytes, size);
    content_hash_end_sha256(&h, digest);
}

bool abi_read_digest(const struct json_node *node, const char *member, uint8_t digest[ABI_DIGEST_BYTES], bool *given)
{
    const char *const text = json_find_string(node, member, NULL);
    *given = false;
    if (!text)
        return json_ok(node);
    if (strlen(text) != 2 * ABI_DIGEST_BYTES || strspn(text, "0123456789abcdefABCDEF") != strlen(text))
        return json_wrong(node, member, "expected 64 hexadecimal digits");
    for (unsigned i = 0; i < ABI_DIGEST_BYTES; i++) {
        const char two[3] = {text[2 * i], text[2 * i + 1], 0};
        digest[i] = (uint8_t)strtoul(two, NULL, 16);
    }
    *given = true;
    return true;
}

static bool check_digest(const struct json_node *node, const char *member, const char *name, const uint8_t *bytes, size_t size)
{
    uint8_t stated[ABI_DIGEST_BYTES], real[ABI_DIGEST_BYTES];
    bool given;
    if (!abi_read_digest(node, member, stated, &given))
        return false;
    if (!given)
        return true;
    abi_sha256(bytes, size, real);
    if (memcmp(stated, real, sizeof real) == 0)
        return true;
    char text[2 * ABI_DIGEST_BYTES + 1];
    for (unsigned i = 0; i < ABI_DIGEST_BYTES; i++)
        snprintf(text + 2 * i, 3, "%02x", real[i]);
    return json_wrong(node, member, "%.100s has SHA-256 %s; restore the file or correct the description", name, text);
}

bool abi_read_file(struct abi_reader *r, const struct json_node *node, const char *member, const char *name,
                   const char *digest_member, uint8_t **bytes, size_t *size)
{
    struct orch_error why = {0};
    *bytes = NULL;
    if (!name[0] || !r->files->read(r->files->context, name, bytes, size, &why))
        return json_wrong(node, member, "%.250s; name a file that lies beside the description",
                          name[0] ? why.text : "no file name");
    if (digest_member && !check_digest(node, digest_member, name, *bytes, *size)) {
        free(*bytes);
        *bytes = NULL;
        return false;
    }
    r->kernel->hash = checksum_add(r->kernel->hash, *bytes, *size);
    return true;
}

/* ---- elements ---- */

static bool check_npy(const struct json_node *node, const char *member, const char *name, const struct npy_array *array,
                      struct abi_arg *arg, bool has_type)
{
    const enum element_type type = element_type_of_npy(array->type);
    const bool same_bits = has_type && element_type_npy(arg->type) == array->type;
    if (type == ELEMENT_TYPE_COUNT)
        return json_wrong(node, member, "%.100s holds %s, which no GPU buffer has", name, npy_type_name(array->type));
    if (has_type && !same_bits)
        return json_wrong(node, member, "%.100s holds %s and dtype says %s; make them agree", name, element_type_name(type),
                          element_type_name(arg->type));
    if (array->fortran_order && array->dims > 1)
        return json_wrong(node, member, "%.100s is in Fortran order; save it in C order", name);
    if (!has_type)
        arg->type = type;
    return true;
}

static bool check_count(const struct json_node *node, const char *member, const char *name, size_t bytes, struct abi_arg *arg)
{
    const unsigned each = element_type_bytes(arg->type);
    if (!arg->count && bytes && bytes % each == 0) {
        arg->count = bytes / each;
        arg->bytes = bytes;
    }
    if (arg->count && arg->bytes == bytes)
        return true;
    return json_wrong(node, member,
                      "%.100s holds %zu bytes of elements, expected %" PRIu64 " x %u; correct the count or the file", name, bytes,
                      arg->count, each);
}

bool abi_take_elements(const struct json_node *node, const char *member, const char *name, uint8_t *bytes, size_t size,
                       struct abi_arg *arg, uint8_t **data)
{
    struct npy_array array;
    struct orch_error why = {0};
    bool ok = true;
    if (npy_is(bytes, size)) {
        ok = npy_parse(bytes, size, &array, &why) || json_wrong(node, member, "%.100s: %.200s", name, why.text);
        ok = ok && check_npy(node, member, name, &array, arg, arg->type != ELEMENT_TYPE_COUNT);
        if (ok) {
            size = array.bytes;
            memmove(bytes, array.data, size);
        }
    } else if (arg->type == ELEMENT_TYPE_COUNT) {
        ok = json_wrong(node, "dtype", "is missing; raw files do not say what they hold");
    }
    ok = ok && check_count(node, member, name, size, arg);
    if (!ok) {
        free(bytes);
        return false;
    }
    *data = bytes;
    return true;
}
