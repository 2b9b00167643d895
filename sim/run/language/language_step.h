/* Tokens through a language model, as kernels on a unit: embedding, layers over a cache of keys and values, logits. */
#ifndef ORCHARD_SIM_RUN_LANGUAGE_LANGUAGE_STEP_H
#define ORCHARD_SIM_RUN_LANGUAGE_LANGUAGE_STEP_H

#include "sim/run/language/language_model.h"
#include "sim/run/language/language_pages.h"
#include "sim/run/language/language_shards.h"
#include "sim/run/language/language_unit.h"

enum { LANGUAGE_BATCH = 512 }; /* tokens of a prompt that go through together, as in llama.cpp */

enum { LANGUAGE_SOURCES = 8 }; /* texts or sounds that an encoder reads together, at most */

struct language_stepper;

/* The caches: so many sequences have one each, of so many tokens, in a form of their own. */
struct language_room {
    unsigned context, lanes;
    struct language_cache_form cache;
    const struct language_shards *shards; /* whose kernels layers use; NULL = one unit has all */
    unsigned encoded;                     /* tokens that an encoder makes of a text or sound, at most; 0 = there is none */
    unsigned sources;                     /* texts or sounds that go through it together, at most */
};
/* Places weights, caches and values in the memory of the unit. `part` is the unit that was asked for: what it has no kernel for
 * runs on CPU cores. NULL = *error. */
struct language_stepper *language_stepper_create(const struct language_model *model, struct language_unit *unit,
                                                 enum orch_part part, const struct language_room *room, struct orch_error *error);
void language_stepper_free(struct language_stepper *stepper);
/* Whose kernels run from now on, where not each layer has its unit; units whose values have the same type see the same memory. */
void language_stepper_use(struct language_stepper *stepper, enum orch_part part);

/* Feeds tokens, as many at a time as kernels take. `logits` gets the vocabulary's values behind the last one, or is NULL when
 * they are not wanted. Each pass is a command buffer, where there are any. */
bool language_step(struct language_stepper *stepper, const uint32_t *token, size_t count, const float **logits,
                   struct language_sum *sum, struct orch_error *error);
/* What an encoder reads: a text, or a sound: channels one after another, of twice as many frames as there are tokens; `sound`
 * NULL = a text. */
struct language_source {
    const uint32_t *token;
    size_t count;
    const float *sound;
    unsigned lane; /* whose decoder looks at it */
};
/* What an encoder makes of texts or sounds, in one pass over all of them, whose products multiply them together. Comes before the
 * first step of a lane. */
bool language_encode(struct language_stepper *stepper, const struct language_source *source, unsigned sources,
                     struct language_sum *sum, struct orch_error *error);
/* How many at a time. */
unsigned language_stepper_sources(const struct language_stepper *stepper);
/* Makes room for the logits of so many tokens of a pass. */
bool language_stepper_answer(struct language_stepper *stepper, unsigned tokens, struct orch_error *error);
/* Up to so many tokens in one pass: `logits` gets the vocabulary's values behind each, one row after another. */
bool language_step_each(struct language_stepper *stepper, const uint32_t *token, unsigned count, const float **logits,
                        struct language_sum *sum, struct orch_error *error);
/* Another sequence from its first token on: passes are its own from now on. */
void language_stepper_begin(struct language_stepper *stepper, unsigned lane);
/* Keeps memory for so many tokens of a sequence free until it ends; false = what is left of the pages is too little. */
bool language_stepper_promise(struct language_stepper *stepper, unsigned lane, unsigned tokens);
void language_stepper_end(struct language_stepper *stepper, unsigned lane);
/* A token of one of several sequences. */
struct language_token {
    uint32_t token;
    unsigned lane;
    bool answers; /* the values behind it are wanted */
};
/* Tokens of several sequences in one pass, which products multiply together; those of one stand side by side. `logits` gets the
 * values behind each that answers, one row after another. At most `language_stepper_most` tokens; models without a window of
 * keys. */
bool language_step_lanes(struct language_stepper *stepper, const struct language_token *token, unsigned count,
                         const float **logits, struct language_sum *sum, struct orch_error *error);
unsigned language_stepper_most(const struct language_stepper *stepper);
/* How many tokens are in the cache; those behind `position` are forgotten. */
unsigned language_stepper_position(const struct language_stepper *stepper);
void language_stepper_rewind(struct language_stepper *stepper, unsigned position);
/* Bytes of all weights, and of the cache. */
/* Weights that were rounded to f16. */
struct language_halves {
    char formats[64];          /* of the file: "q8_0, f32" */
    double relative, absolute; /* the largest changes; relative: of those that are normal numbers in f16 */
    uint64_t values, small;    /* small: not zero, and no normal numbers in f16 */
};
const struct language_halves *language_stepper_halves(const struct language_stepper *stepper);
uint64_t language_stepper_weight_bytes(const struct language_stepper *stepper);
uint64_t language_stepper_cache_bytes(const struct language_stepper *stepper);
/* Pages of the caches; NULL = there are none. */
const struct language_pages *language_stepper_pages(const struct language_stepper *stepper);

#endif
