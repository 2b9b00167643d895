/* Texts of regression baselines: whatever the bytes, reading ends in a baseline or in an error that names the text. What was read
 * is written and read back unchanged.
 */
#include "sim/prove/regress/baseline.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct baseline b = {0}, again = {0};
    struct orch_error error = {0};
    char *text = NULL;
    size_t length = 0;
    if (!baseline_read_text(&b, "fuzz", (const char *)data, size, &error)) {
        if (!error.exit_code || b.values)
            __builtin_trap();
        return 0;
    }
    FILE *const out = open_memstream(&text, &length);
    const bool written = out && baseline_write(&b, out);
    if (out && fclose(out) == 0 && written &&
        (!baseline_read_text(&again, "again", text, length, &error) || again.values != b.values))
        __builtin_trap();
    free(text);
    baseline_free(&b);
    baseline_free(&again);
    return 0;
}
