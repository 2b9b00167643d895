/* Runs of tiny models with an encoder, and the greedy tokens that they have to say. */
#ifndef ORCHARD_TESTS_SIM_RUN_ENCODER_RUN_H
#define ORCHARD_TESTS_SIM_RUN_ENCODER_RUN_H

#include "tests/sim/run/encoder_truth.h"
#include "tests/sim/run_example.h"

#include <json-c/json.h>

enum { SAID = 9 };

/* A spectrogram of its own for each speed. */
static inline void made_sound(float sound[MADE_FRAMES * MADE_CHANNELS], double speed)
{
    for (unsigned i = 0; i < MADE_FRAMES * MADE_CHANNELS; i++)
        sound[i] = (float)sin(speed * i + 0.01 * i * i);
}

static inline void write_file(const char *folder, const char *name, const void *bytes, size_t size, char path[256])
{
    snprintf(path, 256, "%s/%s", folder, name);
    FILE *const out = fopen(path, "wb");
    CU_ASSERT_TRUE_FATAL(out && fwrite(bytes, 1, size, out) == size && fclose(out) == 0);
}

/* Greedy tokens behind those of `first`, up to one that ends. */
static inline unsigned exact_text(const struct made_model *m, const double *memory, unsigned seen, const uint32_t *first,
                                  unsigned begun, unsigned most, uint32_t *said)
{
    uint32_t all[MADE_PLACES];
    unsigned count = 0;
    memcpy(all, first, begun * sizeof *all);
    while (count < most) {
        double logits[MADE_VOCABULARY], second = -INFINITY;
        unsigned best = 0;
        exact_logits(m, memory, seen, all, begun + count, logits);
        for (unsigned k = 1; k < MADE_VOCABULARY; k++)
            best = logits[k] > logits[best] ? k : best;
        for (unsigned k = 0; k < MADE_VOCABULARY; k++)
            second = k != best && logits[k] > second ? logits[k] : second;
        CHECK(logits[best] - second > 1e-3, "token %u: the two best are %g apart", count, logits[best] - second);
        said[count] = all[begun + count] = best;
        count++;
        if (best == 1)
            break;
    }
    return count;
}

static inline json_object *numbers_of(const struct outcome *o, const char *name, json_object **document)
{
    *document = o->ok ? json_tokener_parse(o->result.generation) : NULL;
    return *document ? json_object_object_get(*document, name) : NULL;
}

static inline void check_said(const struct outcome *o, const char *name, const uint32_t *said, unsigned count, const char *unit)
{
    json_object *document, *const got = numbers_of(o, name, &document);
    const size_t tokens = got ? json_object_array_length(got) : 0;
    CHECK(tokens == count, "%s on %s: %zu %s, expected %u", o->error.text, unit, tokens, name, count);
    for (unsigned i = 0; i < count && i < tokens; i++)
        CHECK((uint32_t)json_object_get_int(json_object_array_get_idx(got, i)) == said[i], "%s on %s: number %u is other", name,
              unit, i);
    json_object_put(document);
}

#endif
