/* Timings as a database stores them: any text is a timing or gives one line of error, and what was read is written back
 * unchanged. */
#include "sim/run/run_timing.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char sample[] =
    "{\"kind\":\"gpu\",\"end_ns\":1234.5,\"gpu_groups\":4,\"gpu_clock_ghz\":1.25,\"ane_clock_ghz\":0,\"gpu_bytes\":4096,"
    "\"gpu_group_threads\":32,\"activity\":{\"GPU_INSTRUCTIONS\":10,\"DRAM_READ_BYTES\":18446744073709551615},"
    "\"by\":{\"p_cpu\":{\"CPU_LOADS\":3}},\"busy\":{\"p_cpu\":{\"seconds\":1e-9,\"shared_seconds\":1e-9,\"mhz\":3204,\"slices\":"
    "1,"
    "\"clusters\":1},\"rail_mhz\":3204,\"rail\":0},\"result\":{\"unit\":\"gpu\",\"detail\":\"instr\",\"seconds\":1e-6,\"cycles\":"
    "99,"
    "\"utilisation\":[null,0.5,1,null,0],\"stalls\":{\"gpu.alu\":0.25,\"launch\":0.75},\"counters\":{\"a\":1,\"b\":1e999},"
    "\"placement\":[[\"gemm\",\"gpu\",\"k\",null]],\"assumptions\":[[\"key\",\"guess\",\"effect\"]]}}";

/* The input as it is, or as changes of the sample: two bytes of offset, one of value. */
static char *text_of(const uint8_t *data, size_t size)
{
    static const char letters[] = "0123456789-.eE{}[],:\" nul";
    const bool changes = size > 0 && data[0] % 4;
    char *const text = malloc((changes ? sizeof sample : size) + 1);
    if (!text)
        return NULL;
    memcpy(text, changes ? (const void *)sample : data, changes ? sizeof sample : size);
    for (size_t i = 1, left = changes ? data[0] % 4 : 0; left && i + 2 < size; i += 3, left--)
        text[(data[i] << 8 | data[i + 1]) % (sizeof sample - 1)] = letters[data[i + 2] % (sizeof letters - 1)];
    text[changes ? sizeof sample - 1 : size] = 0;
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct run_timing first, second;
    struct orch_error error = {0};
    char *const text = text_of(data, size);
    if (!text)
        return 0;
    run_timing_init(&first);
    run_timing_init(&second);
    if (run_timing_parse(text, &first, &error)) {
        char *const once = run_timing_json(&first), *twice = NULL;
        if (!once || !run_timing_parse(once, &second, &error) || !(twice = run_timing_json(&second)) || strcmp(once, twice) != 0)
            abort();
        free(once);
        free(twice);
    } else if (!error.text[0] || strchr(error.text, '\n')) {
        abort();
    }
    run_timing_free(&first);
    run_timing_free(&second);
    free(text);
    return 0;
}
