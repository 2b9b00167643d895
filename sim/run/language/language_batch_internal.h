/* What the files of language_batch share. */
#ifndef ORCHARD_SIM_RUN_LANGUAGE_LANGUAGE_BATCH_INTERNAL_H
#define ORCHARD_SIM_RUN_LANGUAGE_LANGUAGE_BATCH_INTERNAL_H

#include "sim/run/language/language_batch.h"

/* A prompt and what follows. */
struct sequence {
    struct token_list prompt, history, tokens;
    const float *sound; /* before an encoder that hears; else NULL */
    struct token_text text;
    struct token_stream stream;
    struct sampler *sampler;
    const char *stop;
    uint64_t seed; /* beyond that of the run: copies of a prompt go on in ways of their own */
    unsigned lane;
    double first_s, end_s; /* from the beginning of all: when its first token was there, its last */
};

struct language_batch {
    struct sequence *sequence;
    size_t sequences;
    float **sound; /* of requests that give some */
    size_t sounds;
    bool copies; /* of one prompt and one sound */
};

void language_sequence_forget(struct sequence *sequence); /* what followed the prompt */

#endif
