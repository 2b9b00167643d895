/* A sound before an encoder: the spectrogram that a file has, or that is made of the sound of a file. */
#include "sim/run/language/kind_language.h"

#include "sim/base/npy.h"
#include "sim/language/mel_spectrogram.h"
#include "sim/language/wave_file.h"

#include <stdlib.h>
#include <string.h>

#define MEL_NAME   "mel"
#define SOUND_NAME "sound"

bool language_hears(const struct language_work *w)
{
    const struct shape_family *const f = w->model.shape.family;
    return f->encoder && !f->encodes_text;
}

uint64_t language_sound_values(const struct language_work *w)
{
    const struct language_shape *const s = &w->model.shape;
    return 2ull * s->encoder_context * s->encoder_channels;
}

/* Channels by frames, perhaps of a batch of one. */
static bool check_array(const struct language_work *w, const char *path, const struct npy_array *a, struct orch_error *error)
{
    const struct language_shape *const s = &w->model.shape;
    const unsigned before = a->dims == 3 && a->shape[0] == 1 ? 1 : 0;
    const bool fits = a->dims == 2 + before && a->shape[before] == s->encoder_channels &&
                      a->shape[before + 1] == 2ull * s->encoder_context && a->type == NPY_F32 && !a->fortran_order;
    return fits || orch_fail(error, ORCH_USAGE,
                             ORCH_OPTION("input") " " MEL_NAME "=%s: %s hears %u channels of %u frames each (f4, the last index "
                                                  "runs fastest)",
                             path, w->model.name, s->encoder_channels, 2 * s->encoder_context);
}

static bool take_spectrogram(const struct language_work *w, const char *path, float *sound, struct orch_error *error)
{
    struct npy_array array;
    if (!npy_load(path, &array, error))
        return false;
    const bool ok = check_array(w, path, &array, error);
    if (ok)
        memcpy(sound, array.data, language_sound_values(w) * sizeof *sound);
    npy_release(&array);
    return ok;
}

static bool check_sound(const struct language_work *w, const char *path, const struct wave_sound *s, unsigned frames,
                        struct orch_error *error)
{
    if (s->rate != MEL_RATE)
        return orch_fail(error, ORCH_USAGE,
                         "%s: %u samples a second; %s hears %d (ffmpeg -i FILE -ar %d OUT.wav makes such a file of any other)",
                         path, s->rate, w->model.name, MEL_RATE, MEL_RATE);
    return s->count <= (size_t)frames * MEL_STEP ||
           orch_fail(error, ORCH_USAGE, "%s: %.2f s of sound; %s hears %.2f s at a time: cut it into parts", path,
                     (double)s->count / MEL_RATE, w->model.name, (double)frames * MEL_STEP / MEL_RATE);
}

static bool hear(const struct language_work *w, const char *path, float *mel, struct orch_error *error)
{
    const struct language_shape *const s = &w->model.shape;
    const unsigned frames = 2 * s->encoder_context;
    struct wave_sound sound;
    const bool ok = wave_load(path, &sound, error) && check_sound(w, path, &sound, frames, error) &&
                    mel_spectrogram(sound.sample, sound.count, s->encoder_channels, frames, mel, error);
    wave_release(&sound);
    return ok;
}

/* The file behind NAME= , or NULL. */
static const char *named(const char *input, const char *name)
{
    const size_t length = strlen(name);
    return strncmp(input, name, length) == 0 && input[length] == '=' ? input + length + 1 : NULL;
}

bool language_sound_read(const struct language_work *w, const char *input, float **values, struct orch_error *error)
{
    const size_t length = strlen(input);
    const char *const mel = named(input, MEL_NAME), *const named_sound = named(input, SOUND_NAME);
    const char *const sound = named_sound || length < 5 || strcmp(input + length - 4, ".wav") != 0 ? named_sound : input;
    if (!mel && !sound)
        return orch_fail(error, ORCH_USAGE,
                         ORCH_OPTION("input") " FILE.wav: the sound that %s hears, or " MEL_NAME
                                              "=FILE.npy: the logarithms of its mel spectrogram",
                         w->model.name);
    *values = malloc(language_sound_values(w) * sizeof **values);
    if (!*values)
        return orch_no_memory(error);
    if (mel ? take_spectrogram(w, mel, *values, error) : hear(w, sound, *values, error))
        return true;
    free(*values);
    *values = NULL;
    return false;
}

bool language_sound_open(struct language_work *w, const struct run_request *q, struct orch_error *error)
{
    return !language_hears(w) || language_sound_read(w, q->input_count == 1 ? q->inputs[0] : "", &w->sound, error);
}
