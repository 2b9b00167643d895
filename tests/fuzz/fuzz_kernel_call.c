/* Kernel requests: any text is refused, or parses into a call whose description parses to the same call. */
#include "sim/workload/amx/kernel.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const precisions[] = {NULL, "f64", "f32", "f16", "bf16", "i16", "i8", "f8"};
    char text[512], described[512], again[512];
    struct kernel_call call, second;
    struct orch_error error = {0};
    if (size < 1 || size >= sizeof text)
        return 0;
    const char *precision = precisions[data[0] % 8];
    /* Most inputs start with a kernel's name, so that the shape behind it is what is tried. */
    const char *const start = data[0] & 8 ? "gemm:" : data[0] & 16 ? "gemv:" : "";
    const size_t length = strlen(start);
    if (size + length >= sizeof text)
        return 0;
    memcpy(text, start, length);
    memcpy(text + length, data + 1, size - 1);
    text[length + size - 1] = 0;
    if (!kernel_parse(text, precision, &call, &error))
        return 0;
    kernel_describe(&call, described, sizeof described);
    char *space = strchr(described, ' '); /* the types follow */
    if (!space)
        abort();
    *space = 0;
    if (strncmp(described, "gemm", 4) == 0) {
        strcat(described, ",acc=");
        strcat(described, call.accumulate);
    }
    if (!kernel_parse(described, call.precision, &second, &error))
        abort();
    kernel_describe(&call, described, sizeof described);
    kernel_describe(&second, again, sizeof again);
    if (strcmp(described, again) != 0)
        abort();
    return 0;
}
