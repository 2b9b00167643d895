/* Arbitrary bytes as a .npy file. What is accepted must describe exactly the bytes that are there, and survive being
 * written and read again.
 */
#include "sim/npy.h"

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
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
    return 0;
}
