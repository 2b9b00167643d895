/* Arbitrary text as a quantity, a change, a size and a word: read or refused, and what is read is finite. */
#include "sim/base/quantity.h"
#include "sim/base/suggest.h"
#include "units/kernel_text.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const units[] = {"s", "ms", "W", "C", "MHz", "GB/s", "KiB", "cores", ""};
    char *const text = malloc(size + 1);
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = 0;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        double value;
        if (quantity_read(text, units[i], &value) && !isfinite(value))
            abort();
    }
    double factor;
    if (quantity_factor(text, &factor) && !(factor >= 0))
        abort();
    uint64_t number = UINT64_MAX >> (size & 63);
    const char *end = text;
    kernel_size_suffix(&end, &number);
    if (end > text + size)
        abort();
    struct suggest s;
    suggest_start(&s, text);
    for (size_t i = 0; *units[i]; i++)
        suggest_offer(&s, units[i]);
    if (suggest_best(&s) && !*suggest_best(&s))
        abort();
    free(text);
    return 0;
}
