/* A sound before an encoder: the spectrogram that a file has. */
#include "sim/run/kind_language.h"

#include "sim/base/npy.h"

#include <stdlib.h>
#include <string.h>

#define SOUND_NAME "mel"

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
    return fits ||
           orch_fail(error, ORCH_USAGE,
                     ORCH_OPTION("input") " " SOUND_NAME "=%s: %s hears %u channels of %u frames each (f4, the last index "
                                          "runs fastest)",
                     path, w->model.name, s->encoder_channels, 2 * s->encoder_context);
}

bool language_sound_open(struct language_work *w, const struct run_request *q, struct orch_error *error)
{
    struct npy_array array;
    const size_t name = strlen(SOUND_NAME "=");
    if (!language_hears(w))
        return true;
    if (q->input_count != 1 || strncmp(q->inputs[0], SOUND_NAME "=", name) != 0)
        return orch_fail(error, ORCH_USAGE,
                         ORCH_OPTION("input") " " SOUND_NAME "=FILE.npy: the sound that %s hears, as the logarithms of its mel "
                                              "spectrogram",
                         w->model.name);
    const char *const path = q->inputs[0] + name;
    if (!npy_load(path, &array, error))
        return false;
    bool ok = check_array(w, path, &array, error);
    w->sound = ok ? malloc(language_sound_values(w) * sizeof *w->sound) : NULL;
    if (ok && !w->sound)
        ok = orch_no_memory(error);
    if (ok)
        memcpy(w->sound, array.data, language_sound_values(w) * sizeof *w->sound);
    npy_release(&array);
    return ok;
}
