/* Arbitrary bytes as a tensor of KServe's protocol: JSON, and bytes behind it. What is taken has as many elements as its shape
 * says, and comes back as the same numbers; nothing behind the body is read.
 */
#include "sim/serve/kserve_tensor.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_whole(const struct net_array *a)
{
    struct text written = {.data = NULL};
    const bool finite = kserve_write(&written, a);
    if (finite && (!written.data || written.data[0] != '[' || written.data[written.size - 1] != ']'))
        abort();
    json_object *const again = finite ? json_tokener_parse(written.data) : NULL;
    if (finite && (!again || (int64_t)json_object_array_length(again) != a->count))
        abort();
    json_object_put(again);
    text_free(&written);
}

static void read_tensor(const char *json, size_t length, const char *bytes, size_t left)
{
    struct orch_error error = {0};
    struct json_reader reader;
    if (!json_reader_open(&reader, "fuzz", json, length, &error)) {
        if (error.exit_code == 0 || !*error.text)
            abort();
        return;
    }
    const struct json_node top = json_top(&reader);
    struct kserve_binary binary = {bytes, left, length};
    struct net_array *const a = kserve_read(&top, NET_TYPES, &binary, &error);
    if (!a && error.exit_code == 0)
        abort();
    if (a && (binary.left > left || binary.at + binary.left != bytes + left))
        abort();
    if (a && a->count < 4096)
        check_whole(a);
    net_array_release(a);
    json_reader_close(&reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* The first byte says where the JSON ends. */
    const size_t length = size ? (size - 1) * (data[0] ? data[0] : 255) / 255 : 0;
    char *const json = malloc(length + 1), *const bytes = malloc(size ? size - 1 - length + 1 : 1);
    if (json && bytes && size) {
        memcpy(json, data + 1, length);
        json[length] = 0;
        memcpy(bytes, data + 1 + length, size - 1 - length);
        read_tensor(json, length, bytes, size - 1 - length);
    }
    free(json);
    free(bytes);
    return 0;
}
