/* What a request says of language models: the prompt, how much is generated, how tokens are chosen. */
#ifndef ORCHARD_SIM_RUN_LANGUAGE_LANGUAGE_OPTIONS_H
#define ORCHARD_SIM_RUN_LANGUAGE_LANGUAGE_OPTIONS_H

#include "sim/base/run_result.h"
#include "sim/language/sampler.h"

#include <stdbool.h>

enum { LANGUAGE_STOPS = 8 };

struct language_options {
    const char *prompt_text;  /* NULL = none */
    bool prompt_special;      /* what is written like a control token in it counts as that token */
    const char *prompt_ids;   /* the same as it was written, for decoders in ONNX: numbers of tokens with commas; NULL = none */
    unsigned prompt;          /* tokens of a prompt without text, for time alone; 0 = not asked for */
    unsigned generate;        /* 0 = not asked for */
    bool prompt_alone;        /* nothing follows the prompt, where only time is asked for */
    unsigned context;         /* tokens that the cache holds; 0 = as many as are needed */
    const char *prefill_unit; /* that reads the prompt; NULL = the one that goes on */
    struct sampler_params sampling;
    const char *prompt_cache;         /* file that keys and values of the prompt are taken from and written to; NULL = none */
    const char *stop[LANGUAGE_STOPS]; /* texts that end the generation and are no part of it, none of them empty */
    unsigned stops;
    const char *kv_cache;   /* how keys and values are kept (language_pages.h); NULL = as values, a piece for each sequence */
    const char *layers;     /* of several units (language_shards.h); NULL = chosen */
    const char *draft;      /* GGUF file of a small model that proposes tokens; NULL = none */
    const char *draft_unit; /* NULL = the one that goes on */
    unsigned draft_tokens;  /* that it proposes at a time; 0 = LANGUAGE_DRAFT_USUALLY */
    const char *prompts;    /* file with a prompt a line; NULL = there is one prompt */
    unsigned batch;         /* sequences that begin together, and end before others do; 0 = not asked for */
    unsigned sequences;     /* that generate side by side; 0 = 1, of a file with prompts 8 */
};

/* The share of memory that the GPU may hold: measured on a 32 GB M1 Max (chip database, gpu_memory_share_note). */
#define LANGUAGE_GPU_SHARE 0.7

#define LANGUAGE_DRAFT_USUALLY 4
#define LANGUAGE_DRAFT_MOST    64

/* Counters of results. */
#define LANGUAGE_PROMPT_TOKENS    "language.prompt_tokens"
#define LANGUAGE_CACHED_TOKENS    "language.prompt_cached_tokens" /* of the prompt, that a file had */
#define LANGUAGE_GENERATED_TOKENS "language.generated_tokens"
#define LANGUAGE_DECODE_SECONDS   "language.decode_seconds"
#define LANGUAGE_PREFILL_JOULES   "language.prefill_joules"
#define LANGUAGE_TOKEN_JOULES     RUN_TOKEN_JOULES
#define LANGUAGE_DRAFT_PROPOSED   RUN_DRAFT_PROPOSED
#define LANGUAGE_DRAFT_ACCEPTED   RUN_DRAFT_ACCEPTED
#define LANGUAGE_DRAFT_WITHOUT    RUN_DRAFT_WITHOUT
#define LANGUAGE_DRAFT_PASSES     "language.draft_passes" /* of the model itself, each over what was proposed */
#define LANGUAGE_PASSES           "language.passes"       /* of several sequences, a token of each */
#define LANGUAGE_WEIGHT_BYTES     "language.weight_bytes"
#define LANGUAGE_CACHE_BYTES      "language.cache_bytes"
#define LANGUAGE_LOST_SECONDS     "language.lost_seconds" /* of kernels on several units, because others used memory meanwhile */
/* Of a cache in pages: of the pool; taken when most were; bytes in those that no token has; pieces that do not follow one
 * another, of one sequence, at most. */
#define LANGUAGE_PAGES             "language.pages"
#define LANGUAGE_PAGES_TAKEN       "language.pages_taken"
#define LANGUAGE_PAGE_UNUSED_BYTES "language.page_unused_bytes"
#define LANGUAGE_PAGE_PIECES       "language.page_pieces"

#endif
