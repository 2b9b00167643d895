/* .npy files. An input without the magic becomes part of the header of a good file. An accepted file must describe exactly the
 * bytes that are there, and survive being written and read back.
 */
#include "sim/base/npy.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int ok)
{
    if (!ok)
        __builtin_trap();
}

static void round_trip(const struct npy_array *a)
{
    char header[4096];
    struct npy_array b;
    struct orch_error error;
    const size_t length = npy_header(a, header, sizeof header);
    check(length != 0);
    uint8_t *file = malloc(length + a->bytes);
    if (!file)
        return;
    memcpy(file, header, length);
    if (a->bytes)
        memcpy(file + length, a->data, a->bytes);
    check(npy_parse(file, length + a->bytes, &b, &error));
    check(a->type == b.type && a->dims == b.dims && a->bytes == b.bytes && a->fortran_order == b.fortran_order &&
          memcmp(a->shape, b.shape, a->dims * sizeof a->shape[0]) == 0);
    free(file);
}

static void try_file(const uint8_t *data, size_t size)
{
    struct npy_array a;
    struct orch_error error;
    memset(&error, 0, sizeof error);
    if (npy_parse(data, size, &a, &error)) {
        check(a.bytes <= size && a.data == data + size - a.bytes);
        round_trip(&a);
    } else {
        check(error.text[0] != 0 && !strchr(error.text, '\n'));
    }
}

/* Replaces a part of a good header, at the place that the first byte gives. */
static void try_header(const uint8_t *data, size_t size)
{
    static const char good[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
    enum { START = 10, DATA_BYTES = 24 };
    const size_t kept = data[0] % sizeof good, length = size - 1 + sizeof good - 1;
    if (length > UINT16_MAX)
        return;
    uint8_t *file = calloc(1, START + length + DATA_BYTES);
    if (!file)
        return;
    const uint16_t stored = (uint16_t)length;
    memcpy(file, "\x93NUMPY\x01", 8);
    memcpy(file + 8, &stored, sizeof stored);
    memcpy(file + START, good, kept);
    memcpy(file + START + kept, data + 1, size - 1);
    memcpy(file + START + kept + size - 1, good + kept, sizeof good - 1 - kept);
    try_file(file, START + length + DATA_BYTES);
    free(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || npy_is(data, size))
        try_file(data, size);
    else
        try_header(data, size);
    return 0;
}
