#include "sim/language/wave_file.h"

#include "sim/base/file_read.h"

#include <errno.h>
#include <string.h>
#include <stdio.h>
#include <stdlib.h>

enum { CODED_WHOLE = 1, CODED_FLOAT = 3, CODED_EXTENSIBLE = 0xfffe };
enum { HEADER_BYTES = 12, CHUNK_BYTES = 8, FORMAT_BYTES = 16, SUBFORMAT_AT = 24, CHANNELS_MAX = 256 };
/* Programs that write to a pipe do not know the length; the data then end with the file. */
#define LENGTH_UNKNOWN UINT32_MAX

struct format {
    unsigned coded, channels, rate, frame_bytes, bits;
};

static unsigned u16(const uint8_t *at)
{
    return at[0] | (unsigned)at[1] << 8;
}

static uint32_t u32(const uint8_t *at)
{
    return u16(at) | (uint32_t)u16(at + 2) << 16;
}

static bool read_format(const uint8_t *at, size_t bytes, struct format *f, struct orch_error *error)
{
    if (bytes < FORMAT_BYTES)
        return orch_fail(error, ORCH_USAGE, "chunk 'fmt ' has %zu bytes; it needs %d", bytes, FORMAT_BYTES);
    *f = (struct format){u16(at), u16(at + 2), u32(at + 4), u16(at + 12), u16(at + 14)};
    if (f->coded == CODED_EXTENSIBLE && bytes >= SUBFORMAT_AT + 2)
        f->coded = u16(at + SUBFORMAT_AT);
    const bool whole = f->coded == CODED_WHOLE && (f->bits == 8 || f->bits == 16 || f->bits == 24 || f->bits == 32);
    if (!whole && !(f->coded == CODED_FLOAT && f->bits == 32))
        return orch_fail(
            error, ORCH_USAGE,
            "sound of format %u with %u bits; whole numbers (1) of 8, 16, 24 or 32 bits and floats (3) of 32 are read", f->coded,
            f->bits);
    if (f->channels == 0 || f->channels > CHANNELS_MAX || f->rate == 0)
        return orch_fail(error, ORCH_USAGE, "%u channels at %u samples a second", f->channels, f->rate);
    return f->frame_bytes == f->channels * f->bits / 8 ||
           orch_fail(error, ORCH_USAGE, "%u bytes for a sample of each of %u channels of %u bits", f->frame_bytes, f->channels,
                     f->bits);
}

static double value_of(const struct format *f, const uint8_t *at)
{
    float value;
    switch (f->bits) {
    case 8: return ((int)at[0] - 128) / 128.0;
    case 16: return (int16_t)u16(at) / 32768.0;
    case 24: return (int32_t)(u16(at) << 8 | (uint32_t)at[2] << 24) / 2147483648.0;
    default:
        if (f->coded == CODED_WHOLE)
            return (int32_t)u32(at) / 2147483648.0;
        memcpy(&value, at, sizeof value);
        return value;
    }
}

static bool read_samples(const struct format *f, const uint8_t *data, size_t bytes, struct wave_sound *sound,
                         struct orch_error *error)
{
    const size_t count = bytes / f->frame_bytes;
    if (count == 0)
        return orch_fail(error, ORCH_USAGE, "it has no samples");
    float *const sample = malloc(count * sizeof *sample);
    if (!sample)
        return orch_no_memory(error);
    for (size_t i = 0; i < count; i++) {
        double sum = 0;
        for (unsigned c = 0; c < f->channels; c++)
            sum += value_of(f, data + i * f->frame_bytes + (size_t)c * (f->bits / 8));
        sample[i] = (float)(sum / f->channels);
        if (!(sample[i] > -1e6f && sample[i] < 1e6f)) {
            free(sample);
            return orch_fail(error, ORCH_USAGE, "sample %zu is no sound: not a number, or beyond a million", i);
        }
    }
    *sound = (struct wave_sound){sample, count, f->rate};
    return true;
}

static bool bad_length(const uint8_t *chunk, size_t at, uint32_t told, size_t left, struct orch_error *error)
{
    char name[5] = "";
    for (unsigned i = 0; i < 4; i++)
        name[i] = (char)(chunk[i] >= ' ' && chunk[i] <= '~' ? chunk[i] : '?');
    return orch_fail(error, ORCH_USAGE, "chunk '%s' at byte %zu has %u bytes; the file has %zu more", name, at, told, left);
}

bool wave_parse(const void *bytes, size_t size, struct wave_sound *sound, struct orch_error *error)
{
    const uint8_t *const file = bytes;
    struct format format = {0};
    *sound = (struct wave_sound){0};
    if (size < HEADER_BYTES || memcmp(file, "RIFF", 4) != 0 || memcmp(file + 8, "WAVE", 4) != 0)
        return orch_fail(error, ORCH_USAGE, "no WAVE file: it does not begin with RIFF and WAVE");
    for (size_t at = HEADER_BYTES; size - at >= CHUNK_BYTES;) {
        const uint8_t *const chunk = file + at;
        const uint32_t told = u32(chunk + 4);
        const size_t left = size - at - CHUNK_BYTES;
        const bool data = memcmp(chunk, "data", 4) == 0;
        const size_t length = data && told == LENGTH_UNKNOWN ? left : told;
        if (length > left)
            return bad_length(chunk, at, told, left, error);
        if (memcmp(chunk, "fmt ", 4) == 0 && !read_format(chunk + CHUNK_BYTES, length, &format, error))
            return false;
        if (data)
            return format.rate ? read_samples(&format, chunk + CHUNK_BYTES, length, sound, error)
                               : orch_fail(error, ORCH_USAGE, "chunk 'data' comes before a chunk 'fmt '");
        /* Chunks begin at even places. */
        at += CHUNK_BYTES + length + (length < left ? length & 1 : 0);
    }
    return orch_fail(error, ORCH_USAGE, "it has no chunk 'data'");
}

bool wave_load(const char *path, struct wave_sound *sound, struct orch_error *error)
{
    size_t size = 0;
    uint8_t *bytes = NULL;
    *sound = (struct wave_sound){0};
    FILE *const file = fopen(path, "rb");
    if (!file)
        return orch_fail(error, ORCH_USAGE, "%s: cannot be opened: %s", path, strerror(errno));
    const bool read =
        file_read_all(file, UINT32_MAX, &bytes, &size) || orch_fail(error, ORCH_USAGE, "cannot be read: %s", strerror(errno));
    fclose(file);
    const bool ok = read && wave_parse(bytes, size, sound, error);
    free(bytes);
    return ok || orch_fail_in(error, "%s", path);
}

void wave_release(struct wave_sound *sound)
{
    free(sound->sample);
    *sound = (struct wave_sound){0};
}
