/* safetensors files: the input is the header, or a part of one record of it, and 64 bytes of data follow. */
#include "sim/language/safetensors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { DATA_BYTES = 64 };

static void check(int ok)
{
    if (!ok)
        __builtin_trap();
}

static void try_header(const char *header, size_t length)
{
    struct orch_error error = {0};
    const uint64_t stored = length;
    const size_t size = 8 + length + DATA_BYTES;
    uint8_t *const file = calloc(1, size);
    if (!file)
        return;
    memcpy(file, &stored, sizeof stored);
    memcpy(file + 8, header, length);
    struct safetensors *const s = safetensors_parse("f", file, size, &error);
    if (s) {
        uint64_t used = 0;
        const struct weight_list *const list = safetensors_weights(s);
        for (size_t i = 0; i < list->count; i++) {
            check(list->tensor[i].data >= file && list->tensor[i].data + list->tensor[i].bytes <= file + size);
            used += list->tensor[i].bytes;
        }
        check(used == DATA_BYTES);
        safetensors_close(s);
    } else {
        check(error.text[0] != 0 && !strchr(error.text, '\n'));
    }
    free(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const forms[] = {
        "%.*s",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[%.*s],\"data_offsets\":[0,64]}}",
        "{\"a\":{\"dtype\":\"I8\",\"shape\":[64],\"data_offsets\":[%.*s]}}",
        "{\"a\":{\"dtype\":\"F16\",\"shape\":[8],\"data_offsets\":[0,16]},\"b\":{%.*s}}",
    };
    static char header[1 << 17];
    if (size == 0 || size > sizeof header - 256)
        return 0;
    char *const text = strndup((const char *)data + 1, size - 1);
    if (!text)
        return 0;
    const char *const form = forms[data[0] % 4];
    const char *const hole = strstr(form, "%.*s");
    const int length = snprintf(header, sizeof header, "%.*s%s%s", (int)(hole - form), form, text, hole + 4);
    try_header(header, (size_t)length);
    free(text);
    return 0;
}
