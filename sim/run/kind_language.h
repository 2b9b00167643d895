/* What the files of the kinds of language models share. */
#ifndef ORCHARD_SIM_RUN_KIND_LANGUAGE_H
#define ORCHARD_SIM_RUN_KIND_LANGUAGE_H

#include "sim/run/language_model.h"
#include "sim/run/language_options.h"
#include "sim/run/language_unit.h"
#include "sim/run/run_internal.h"

struct language_work {
    struct language_model model;
    struct language_options options;  /* as asked, with what was left open */
    struct token_list prompt, tokens; /* tokens: those that were generated */
    struct token_text text;
    unsigned context;
    const char *stop; /* why generation ended */
    struct language_sum prefill, decode;
    unsigned decoded; /* steps of decode */
    uint64_t weight_bytes, cache_bytes;
};

/* Time without values, for shapes and files alike. */
bool language_is_timing(const struct run *run);

/* language_generate.c: the prompt and what follows, token by token, on values. */
bool language_generate(struct run *run, struct run_measure *m, struct run_result *result, struct orch_error *error);

#endif
