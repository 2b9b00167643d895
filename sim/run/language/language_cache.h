/* Keys and values of a prompt in a file, so that the prompt need not be read again: --prompt-cache.
 * A prompt takes up as many of its tokens as it begins alike with. */
#ifndef ORCHARD_SIM_RUN_LANGUAGE_LANGUAGE_CACHE_H
#define ORCHARD_SIM_RUN_LANGUAGE_LANGUAGE_CACHE_H

#include "sim/language/prompt_cache.h"
#include "sim/language/tokenizer.h"
#include "sim/run/language/language_step.h"

/* Fills the cache of a stepper that has read nothing from the file: *taken tokens, 0 when there is no such file. When that is the
 * whole prompt, *logits (malloc) are those behind it; else NULL, and the stepper goes on with the others. */
bool language_cache_take(const char *path, const struct prompt_cache_shape *shape, struct language_stepper *stepper,
                         const struct token_list *prompt, unsigned *taken, float **logits, struct orch_error *error);
/* Writes what the stepper has of the prompt, which it has read whole. */
bool language_cache_save(const char *path, const struct prompt_cache_shape *shape, const struct language_stepper *stepper,
                         const struct token_list *prompt, const float *logits, struct orch_error *error);

#endif
