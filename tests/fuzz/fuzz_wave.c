/* WAVE files. An input without RIFF becomes the chunks of a good header. What is accepted has as many samples as the bytes allow,
 * all of them numbers. */
#include "sim/language/wave_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int ok)
{
    if (!ok)
        __builtin_trap();
}

static void try_file(const uint8_t *bytes, size_t size)
{
    struct wave_sound sound;
    struct orch_error error;
    memset(&error, 0, sizeof error);
    if (wave_parse(bytes, size, &sound, &error)) {
        check(sound.rate && sound.count && sound.count <= size);
        for (size_t i = 0; i < sound.count; i++)
            check(isfinite(sound.sample[i]));
    } else {
        check(error.text[0] != 0 && !strchr(error.text, '\n') && !sound.sample);
    }
    wave_release(&sound);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char good[] = "RIFF\377\377\377\377WAVEfmt \20\0\0\0\1\0\1\0\200\76\0\0\0\175\0\0\2\0\20\0data";
    enum { GOOD = sizeof good - 1 };
    if (size >= 4 && memcmp(data, "RIFF", 4) == 0) {
        try_file(data, size);
        return 0;
    }
    uint8_t *const file = malloc(GOOD + size + 1);
    if (!file)
        return 0;
    memcpy(file, good, GOOD);
    if (size)
        memcpy(file + GOOD, data, size);
    /* The first byte says what is kept of the good header. */
    const size_t from = size ? data[0] % GOOD : 0;
    if (size > 1)
        memcpy(file + from, data + 1, size - 1 < GOOD - from ? size - 1 : GOOD - from);
    try_file(file, GOOD + size);
    free(file);
    return 0;
}
