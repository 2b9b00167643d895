/* Whisper's spectrogram against librosa 0.11.0 and against its definition, and the sound files that it is made of. */
#include "isa/array_count.h"
#include "sim/language/mel_spectrogram.h"
#include "sim/language/wave_file.h"
#include "tests/support/suite.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846
enum { WHISPER_CHANNELS = 80, WHISPER_FRAMES = 3000 };

/* librosa 0.11.0: filters.mel(sr=16000, n_fft=400, n_mels=80). */
static void test_filters(void)
{
    static const struct {
        unsigned channel, bin;
        double weight;
    } rows[] = {{0, 1, 0.02486259490251541},
                {1, 2, 0.022871771827340126},
                {9, 10, 0.006945197004824877},
                {39, 41, 0.011486922390758991},
                {69, 131, 0.00487553421407938},
                {79, 190, 0.0022320549469441175},
                {79, 192, 0.0031647116411477327},
                {79, 199, 0.0004487590049393475},
                {10, 12, 0},
                {40, 50, 0}};
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        const double got = mel_weight(rows[i].channel, WHISPER_CHANNELS, rows[i].bin);
        CHECK(fabs(got - rows[i].weight) <= 1e-6 * rows[i].weight, "channel %u at bin %u: %.10g, librosa %.10g", rows[i].channel,
              rows[i].bin, got, rows[i].weight);
    }
}

/* One second of two tones and 29 s of silence. librosa.stft(center=True, pad_mode="reflect", window="hann"), then logarithm,
 * range and scale as Whisper's authors have them. */
static void test_tones(void)
{
    static const struct {
        unsigned channel, frame;
        double value;
    } rows[] = {{0, 0, 1.0255200862884521},     {0, 50, -0.5617961883544922},   {0, 99, 0.36268895864486694},
                {0, 100, 0.8750050663948059},   {0, 101, 0.36268895864486694},  {0, 2999, -0.5617961883544922},
                {3, 0, 1.046639084815979},      {3, 100, 0.8961241245269775},   {10, 0, 1.345945954322815},
                {10, 50, 1.3487379550933838},   {10, 99, 1.3496463298797607},   {10, 100, 1.272093415260315},
                {10, 101, 0.3800355792045593},  {10, 150, -0.5617961883544922}, {20, 0, 0.5353192090988159},
                {20, 99, 0.1999397873878479},   {20, 100, 0.3848041892051697},  {40, 0, 0.6249067783355713},
                {40, 99, -0.03366267681121826}, {40, 100, 0.47439175844192505}, {79, 0, 0.08437436819076538},
                {79, 99, -0.5617961883544922},  {79, 100, -0.06614065170288086}};
    struct orch_error error = {0};
    float *const sample = malloc(MEL_RATE * sizeof *sample);
    float *const mel = malloc(WHISPER_CHANNELS * WHISPER_FRAMES * sizeof *mel);
    CU_ASSERT_TRUE_FATAL(sample && mel);
    for (unsigned i = 0; i < MEL_RATE; i++)
        sample[i] = (float)(0.5 * sin(2 * PI * 440 * i / MEL_RATE) + 0.25 * sin(2 * PI * 1000 * i / MEL_RATE));
    CU_ASSERT_TRUE_FATAL(mel_spectrogram(sample, MEL_RATE, WHISPER_CHANNELS, WHISPER_FRAMES, mel, &error));
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        const double got = mel[rows[i].channel * WHISPER_FRAMES + rows[i].frame];
        CHECK(fabs(got - rows[i].value) < 1e-4, "channel %u, frame %u: %.6f, librosa %.6f", rows[i].channel, rows[i].frame, got,
              rows[i].value);
    }
    free(sample);
    free(mel);
}

/* The definition, sum by sum, of another number of channels and a sound that fills all frames. */
static void test_definition(void)
{
    enum { FRAMES = 6, CHANNELS = 128, COUNT = FRAMES * MEL_STEP };
    float sample[COUNT], mel[CHANNELS * FRAMES];
    double expected[CHANNELS * FRAMES], most = -INFINITY;
    struct orch_error error = {0};
    uint64_t random = 3;
    for (unsigned i = 0; i < COUNT; i++)
        sample[i] = (float)((double)(suite_random(&random) >> 11) * 0x1p-52 - 1);
    CU_ASSERT_TRUE_FATAL(mel_spectrogram(sample, COUNT, CHANNELS, FRAMES, mel, &error));
    for (int f = 0; f < FRAMES; f++) {
        double power[MEL_BINS];
        for (int b = 0; b < MEL_BINS; b++) {
            double complex sum = 0;
            for (int i = 0; i < MEL_WINDOW; i++) {
                int at = f * MEL_STEP - MEL_WINDOW / 2 + i;
                at = at < 0 ? -at : at >= COUNT ? 2 * COUNT - 2 - at : at;
                sum += sample[at] * pow(sin(PI * i / MEL_WINDOW), 2) * cexp(-2 * I * PI * b * i / MEL_WINDOW);
            }
            power[b] = pow(cabs(sum), 2);
        }
        for (unsigned c = 0; c < CHANNELS; c++) {
            double sum = 0;
            for (unsigned b = 0; b < MEL_BINS; b++)
                sum += power[b] * mel_weight(c, CHANNELS, b);
            expected[c * FRAMES + (unsigned)f] = log10(fmax(sum, 1e-10));
            most = fmax(most, log10(fmax(sum, 1e-10)));
        }
    }
    for (unsigned i = 0; i < CHANNELS * FRAMES; i++)
        CHECK(fabs(mel[i] - (fmax(expected[i], most - 8) + 4) / 4) < 1e-5, "value %u: %.7f, expected %.7f", i, mel[i],
              (fmax(expected[i], most - 8) + 4) / 4);
}

/* ---- sound files ---- */

static size_t put(uint8_t *to, size_t at, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        to[at++] = (uint8_t)(value >> 8 * i);
    return at;
}

/* A file of `bytes` data bytes; `coded` 0xfffe has the extended header. A chunk of odd length stands before the data. */
static size_t make_file(uint8_t *file, unsigned coded, unsigned channels, unsigned bits, const void *data, unsigned bytes)
{
    const bool extended = coded == 0xfffe;
    memcpy(file, "RIFF\0\0\0\0WAVEfmt ", 16);
    size_t at = put(file, 16, extended ? 40 : 16, 4);
    at = put(file, at, coded, 2);
    at = put(file, at, channels, 2);
    at = put(file, at, MEL_RATE, 4);
    at = put(file, at, MEL_RATE * channels * bits / 8, 4);
    at = put(file, at, channels * bits / 8, 2);
    at = put(file, at, bits, 2);
    if (extended) {
        at = put(file, at, 22 | (uint64_t)bits << 16, 8);
        at = put(file, at, 1, 2);
        memset(file + at, 0, 14);
        at += 14;
    }
    memcpy(file + at, "LIST\3\0\0\0abc\0data", 16);
    at = put(file, at + 16, bytes, 4);
    memcpy(file + at, data, bytes);
    return at + bytes;
}

static void test_files(void)
{
    static const float floats[] = {0.5f, -0.25f, 1, -1};
    static const struct {
        unsigned coded, channels, bits, bytes;
        uint8_t data[16];
        unsigned count;
        float value[2];
    } rows[] = {
        {1, 1, 8, 2, {0xc0, 0x40}, 2, {0.5f, -0.5f}},
        {1, 1, 16, 4, {0, 0x40, 0, 0xc0}, 2, {0.5f, -0.5f}},
        {1, 1, 24, 6, {0, 0, 0x40, 1, 0, 0xc0}, 2, {0.5f, -0.49999988f}},
        {1, 1, 32, 8, {0, 0, 0, 0x40, 0, 0, 0, 0x80}, 2, {0.5f, -1}},
        {1, 2, 16, 8, {0, 0x40, 0, 0x20, 0, 0x80, 0, 0}, 2, {0.375f, -0.5f}},
        {0xfffe, 1, 16, 4, {0, 0x40, 0, 0xc0}, 2, {0.5f, -0.5f}},
    };
    uint8_t file[256];
    struct wave_sound sound;
    struct orch_error error = {0};
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        const size_t size = make_file(file, rows[i].coded, rows[i].channels, rows[i].bits, rows[i].data, rows[i].bytes);
        const bool ok = wave_parse(file, size, &sound, &error);
        CHECK(ok && sound.rate == MEL_RATE && sound.count == rows[i].count, "row %zu: %s", i, error.text);
        for (unsigned k = 0; ok && k < rows[i].count; k++)
            CHECK(sound.sample[k] == rows[i].value[k], "row %zu: sample %u is %.9g", i, k, sound.sample[k]);
        wave_release(&sound);
    }
    const size_t size = make_file(file, 3, 2, 32, floats, sizeof floats);
    CU_ASSERT_TRUE_FATAL(wave_parse(file, size, &sound, &error));
    CHECK(sound.count == 2 && sound.sample[0] == 0.125f && sound.sample[1] == 0, "floats: %g %g", sound.sample[0],
          sound.sample[1]);
    wave_release(&sound);
}

static void test_bad_files(void)
{
    static const uint8_t data[8] = {0};
    static const struct {
        const char *text;
        unsigned at, bytes;
        uint64_t value;
        size_t size;
    } rows[] = {{"does not begin with RIFF", 0, 1, 'X', 0},
                {"format 2 with 16 bits", 20, 2, 2, 0},
                {"0 channels", 22, 2, 0, 0},
                {"at 0 samples a second", 24, 4, 0, 0},
                {"3 bytes for a sample", 32, 2, 3, 0},
                {"with 12 bits", 34, 2, 12, 0},
                {"chunk 'fmt ' has 4 bytes", 16, 4, 4, 0},
                {"chunk 'data' at byte 48 has 9 bytes; the file has 8 more", 52, 4, 9, 0},
                {"it has no samples", 52, 4, 1, 0},
                {"no chunk 'data'", 0, 0, 0, 48}};
    uint8_t file[256];
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct wave_sound sound;
        struct orch_error error = {0};
        const size_t whole = make_file(file, 1, 1, 16, data, sizeof data);
        put(file, rows[i].at, rows[i].value, rows[i].bytes);
        CHECK(!wave_parse(file, rows[i].size ? rows[i].size : whole, &sound, &error) && strstr(error.text, rows[i].text),
              "expected '%s': %s", rows[i].text, error.text);
    }
}

static const struct suite_test tests[] = {
    {"filters of the mel scale are librosa's", test_filters},
    {"two tones give librosa's spectrogram", test_tones},
    {"the spectrogram is what its definition says", test_definition},
    {"sound files of each form are read", test_files},
    {"bad sound files are named", test_bad_files},
};

SUITE_MAIN("mel spectrogram", tests)
