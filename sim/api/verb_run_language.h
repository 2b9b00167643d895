/* What the options of the verb run say of language models: the prompt, how much is generated, how tokens are chosen. */
#ifndef ORCHARD_SIM_API_VERB_RUN_LANGUAGE_H
#define ORCHARD_SIM_API_VERB_RUN_LANGUAGE_H

#include "sim/api/api.h"
#include "sim/run/language/language_options.h"
#include "sim/run/run.h"

/* clang-format off */
#define VERB_RUN_LANGUAGE_OPTIONS \
    {"prompt-text", 0, "TEXT", false, "language models: what the model goes on with (default: nothing but its begin token)"}, \
    {"prompts", 0, "FILE", false, "language models: a prompt a line, which generate side by side (continuous batching)"}, \
    {"sequences", 0, "N", false, "language models: how many of " ORCH_OPTION("prompts") " generate at a time (default 8)"}, \
    {"batch", 0, "B", false, "language models: B prompts begin together, and the next when all have ended (static); without a file B times the one"}, \
    {"prompt", 0, "N", false, "language models: a prompt of N tokens, where only time is asked for (" ORCH_OPTION("mode") " timing); decoders in ONNX: the tokens, as 5,17,3"}, \
    {"generate", 0, "N", false, "language models: how many tokens follow, unless the model ends before (default 64)"}, \
    {"prefill-unit", 0, "UNIT", false, "language models: the unit that reads the prompt (default: --unit; hybrid: gpu)"},        \
    {"context", 0, "N", false, "language models: tokens that the cache has room for (default: as many as are needed)"}, \
    {"temperature", 0, "T", false, "language models: choose tokens by chance, evenly the higher T (default 0: the likeliest)"}, \
    {"top-k", 0, "K", false, "language models: only among the K likeliest tokens"}, \
    {"top-p", 0, "P", false, "language models: only among the likeliest tokens that have probability P together"}, \
    {"min-p", 0, "P", false, "language models: only among tokens at least P times as likely as the likeliest"}, \
    {"repeat-penalty", 0, "X", false, "language models: logits of recent tokens are divided by X (default 1)"}, \
    {"repeat-last", 0, "N", false, "language models: how many tokens are recent (default 64)"}, \
    {"stop", 0, "TEXT", true, "language models: generation ends where this would follow (up to 8)"}, \
    {"prompt-cache", 0, "FILE", false, "language models: keys and values of the prompt are taken from FILE, and written there"}, \
    {"kv-cache", 0, "FORM", false, "language models: keys and values as f16 or q8_0 (default: as values are), in pages (paged[:TOKENS[:PAGES]]), or q8_0,paged"}, \
    {"layers", 0, "UNIT=N,...", false, "language models on " ORCH_OPTION("unit") " combined: how many layers each unit has, first ones first (default: chosen)"}, \
    {"draft", 0, "FILE.gguf", false, "language models: a small one with the same tokens that proposes them (speculative decoding)"}, \
    {"draft-unit", 0, "UNIT", false, "language models: whose kernels the draft runs on (default: those of the model)"}, \
    {"draft-tokens", 0, "N", false, "language models: tokens that the draft proposes at a time (default 4)"}
/* clang-format on */

/* The request then points to `options` where any was given. */
bool verb_run_language_read(const struct api_args *args, struct language_options *options, struct run_request *request,
                            struct orch_error *error);

#endif
