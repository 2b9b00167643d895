/* What the files of the kinds of language models share. */
#ifndef ORCHARD_SIM_RUN_LANGUAGE_KIND_LANGUAGE_H
#define ORCHARD_SIM_RUN_LANGUAGE_KIND_LANGUAGE_H

#include "sim/run/language/language_model.h"
#include "sim/run/language/language_options.h"
#include "sim/run/language/language_step.h"
#include "sim/run/language/language_unit.h"
#include "sim/run/run_internal.h"

struct language_work {
    struct language_model model;
    struct language_options options;  /* as asked, with what was left open */
    struct token_list prompt, tokens; /* tokens: those that were generated */
    float *sound;                     /* before an encoder that hears; NULL = there is none */
    struct token_text text;
    unsigned context;
    struct language_cache_form cache;
    struct language_shards shards;   /* units of the layers; none: one has all */
    struct language_pages_use pages; /* where the cache is in pages */
    const char *stop;                /* why generation ended */
    const char *stop_word;           /* that ended it; NULL = none */
    struct language_sum prefill, decode;
    struct language_model draft;         /* proposes tokens; without weights there is none */
    unsigned proposed, accepted, passes; /* passes: over several tokens */
    double alone_seconds;                /* of a token without the draft; 0 = not known */
    struct language_batch *batch;        /* several prompts; NULL = one */
    unsigned decoded;                    /* steps of decode */
    unsigned groups;                     /* of sequences, which go through units together, each group on another */
    double lost_seconds;                 /* of kernels on several units, which share memory */
    unsigned cached;                     /* tokens of the prompt that a file had */
    uint64_t weight_bytes, cache_bytes;
    struct language_halves halves; /* weights that the Neural Engine has in another type than the file */
    struct power_profile profile;  /* of a pass over the prompt and all steps */
    bool has_profile;
};

/* The unit that reads the prompt, and the one that goes on. */
struct language_parts {
    enum orch_part prompt, rest;
};
struct language_parts language_parts(const struct run *run);
/* The share of the multiply-adds that these did. */
double language_share(const struct run *run, const struct language_unit *unit);

/* kind_language_check.c: False with what does not go together; the second: of models with an encoder, on values. */
bool language_check(const struct run *run, struct orch_error *error);
bool language_check_encoder(const struct run *run, struct orch_error *error);

/* The unit of the draft; PART_COUNT when there is none of that name. */
enum orch_part language_draft_part(const struct run *run);

/* Whether several units have the layers. */
bool language_is_combined(const struct run *run);
/* Time without values, for shapes and files alike. */
bool language_is_timing(const struct run *run);

/* The format of matrices that is timed; NULL with *error when there is none of that name. */
const struct block_format *language_format(const struct run *run, struct orch_error *error);
/* language_time.c: a prompt and so many steps behind it, by the shapes of their kernels; and whether the model fits the machine.
 */
bool language_time(struct run *run, struct run_measure *m, struct run_result *result, struct orch_error *error);
/* A token of the model behind `past` others by the shapes of its kernels, on the unit that goes on and without a draft. */
bool language_time_alone(const struct run *run, unsigned past, double *seconds, struct orch_error *error);
/* Units for the layers where several have them and none was given. */
bool language_choose_layers(struct run *run, struct orch_error *error);
bool language_fits(const struct run *run, struct orch_error *error);

/* What the unit has of it: the Neural Engine's products have f16 alone. */
const struct block_format *language_stored(const struct run *run, const struct block_format *format);
/* language_halve.c: says what rounding weights to f16 changed, where any were. False = out of memory. */
bool language_halves_tell(const struct language_halves *halves, struct run_assumptions *list);

/* language_room.c: how the caches of so many sequences lie in memory. False with what does not fit. */
bool language_room_of(const struct run *run, unsigned lanes, struct language_room *room, struct orch_error *error);
/* The same where only time is asked for: sequences are all alike. */
bool language_room_plan(struct language_work *work, unsigned sequences, struct orch_error *error);
/* What weights and caches took. */
void language_room_tell(struct language_work *work, const struct language_stepper *stepper);
/* Counters, and what is told, of caches in pages. False = out of memory. */
bool language_room_count(const struct language_work *work, struct run_result *result);
/* Bytes of the keys and values of a token in a format. */
double language_token_bytes(const struct language_shape *shape, const struct block_format *format);
/* The share of memory that the run's unit may hold, in bytes; 0 = not known. */
double language_memory_bytes(const struct run *run);
/* Tokens that pages of these sequences of the run hold, all alike, where only time is asked for. */
double language_paged_tokens(const struct language_work *work, unsigned sequences);

/* language_sound.c: whether the model's encoder hears; and the spectrogram of the request, channels one after another. */
bool language_hears(const struct language_work *work);
uint64_t language_sound_values(const struct language_work *work);
bool language_sound_open(struct language_work *work, const struct run_request *request, struct orch_error *error);
/* The same of an input, NAME=FILE or a sound file; the caller frees the values. */
bool language_sound_read(const struct language_work *work, const char *input, float **sound, struct orch_error *error);
/* The one prompt of the options as tokens; at least one. */
bool language_read_prompt(const struct language_work *work, struct token_list *prompt, struct orch_error *error);

/* language_text.c: prompt, tokens and text into the result. False = out of memory. */
bool language_write_generation(const struct language_work *work, struct run_result *result);

/* language_generate.c: the prompt and what follows, token by token, on values. */
bool language_generate(struct run *run, struct run_measure *m, struct run_result *result, struct orch_error *error);

#endif
