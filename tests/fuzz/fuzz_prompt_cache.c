/* Files with keys and values of a prompt. Half of the inputs get the head and the checksum of a good file, so that the rest is
 * looked at. An accepted file lies within its bytes. */
#include "sim/base/checksum.h"
#include "sim/language/prompt_cache.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct prompt_cache_shape shape = {.model = 7, .layers = 2, .row = 3, .value_bytes = 2, .vocabulary = 5};

static void check(int ok)
{
    if (!ok)
        __builtin_trap();
}

static void try_file(const uint8_t *data, size_t size)
{
    struct prompt_cache_view v;
    struct orch_error error;
    memset(&error, 0, sizeof error);
    if (!prompt_cache_view("file", data, size, &shape, &v, &error)) {
        check(error.text[0] != 0 && !strchr(error.text, '\n'));
        return;
    }
    const size_t rows = (size_t)2 * shape.layers * shape.row * shape.value_bytes * v.tokens;
    check(v.tokens > 0 && v.token > data && v.logits == v.token + (size_t)4 * v.tokens &&
          v.rows == v.logits + (size_t)4 * shape.vocabulary && v.rows + rows + 8 == data + size);
}

static void try_behind_head(const uint8_t *data, size_t size)
{
    struct prompt_cache_head head = {.model = shape.model,
                                     .layers = shape.layers,
                                     .row = shape.row,
                                     .value_bytes = shape.value_bytes,
                                     .vocabulary = shape.vocabulary,
                                     .tokens = data[0]};
    const size_t length = sizeof head + size;
    uint8_t *const file = malloc(length + 8);
    if (!file)
        return;
    memcpy(head.magic, PROMPT_CACHE_MAGIC, sizeof head.magic);
    memcpy(file, &head, sizeof head);
    memcpy(file + sizeof head, data, size);
    const uint64_t sum = checksum_add(CHECKSUM_START, file, length);
    memcpy(file + length, &sum, sizeof sum);
    try_file(file, length + 8);
    free(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    try_file(data, size);
    if (size)
        try_behind_head(data, size);
    return 0;
}
