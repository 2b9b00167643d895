#include "sim/api/verb_run_language.h"

#include "isa/array_count.h"

#include <string.h>

enum { TOKENS_MOST = 1 << 24, RECENT_USUALLY = 64, SEQUENCES_MOST = 256 };

static bool read_counts(const struct api_args *a, struct language_options *o, struct orch_error *error)
{
    uint64_t prompt = 0, generate = 0, context = 0, top_k = 0, recent = RECENT_USUALLY, draft = 0, sequences = 0, batch = 0;
    const char *const ids = api_value(a, "prompt");
    const bool listed = ids && strchr(ids, ',');
    if ((!listed && !api_unsigned(a, "prompt", 1, TOKENS_MOST, &prompt, error)) ||
        !api_unsigned(a, "generate", 0, TOKENS_MOST, &generate, error) ||
        !api_unsigned(a, "context", 1, TOKENS_MOST, &context, error) ||
        !api_unsigned(a, "top-k", 1, TOKENS_MOST, &top_k, error) ||
        !api_unsigned(a, "repeat-last", 1, TOKENS_MOST, &recent, error) ||
        !api_unsigned(a, "draft-tokens", 1, LANGUAGE_DRAFT_MOST, &draft, error) ||
        !api_unsigned(a, "sequences", 1, SEQUENCES_MOST, &sequences, error) ||
        !api_unsigned(a, "batch", 1, SEQUENCES_MOST, &batch, error))
        return false;
    *o = (struct language_options){
        .prompt_text = api_value(a, "prompt-text"),
        .prompt_ids = ids,
        .prompt = (unsigned)prompt,
        .generate = (unsigned)generate,
        .prompt_alone = api_has(a, "generate") && !generate,
        .context = (unsigned)context,
        .prefill_unit = api_value(a, "prefill-unit"),
        .prompt_cache = api_value(a, "prompt-cache"),
        .prompts = api_value(a, "prompts"),
        .kv_cache = api_value(a, "kv-cache"),
        .layers = api_value(a, "layers"),
        .sequences = (unsigned)sequences,
        .batch = (unsigned)batch,
        .draft = api_value(a, "draft"),
        .draft_unit = api_value(a, "draft-unit"),
        .draft_tokens = (unsigned)draft,
        .sampling = {.repetition_penalty = 1, .repetition_last = (unsigned)recent, .top_k = (unsigned)top_k}};
    return true;
}

static bool read_stops(const struct api_args *a, struct language_options *o, struct orch_error *error)
{
    const size_t count = api_count(a, "stop");
    if (count > LANGUAGE_STOPS)
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("stop") ": at most %d texts", (int)LANGUAGE_STOPS);
    for (o->stops = 0; o->stops < count; o->stops++) {
        o->stop[o->stops] = api_value_at(a, "stop", o->stops);
        if (!*o->stop[o->stops])
            return orch_fail(error, ORCH_USAGE, ORCH_OPTION("stop") ": an empty text is everywhere");
    }
    return true;
}

bool verb_run_language_read(const struct api_args *a, struct language_options *o, struct run_request *request,
                            struct orch_error *error)
{
    static const char *const names[] = {
        "prompt-text",  "prompt",  "generate",       "context",     "temperature", "prefill-unit", "top-k",
        "top-p",        "min-p",   "repeat-penalty", "repeat-last", "draft",       "draft-unit",   "draft-tokens",
        "prompt-cache", "prompts", "sequences",      "batch",       "kv-cache",    "stop",         "layers"};
    bool any = false;
    for (size_t i = 0; i < ARRAY_COUNT(names); i++)
        any |= api_has(a, names[i]);
    if (!read_counts(a, o, error) || !read_stops(a, o, error) ||
        !api_number(a, "temperature", 0, 100, &o->sampling.temperature, error) ||
        !api_number(a, "top-p", 0, 1, &o->sampling.top_p, error) || !api_number(a, "min-p", 0, 1, &o->sampling.min_p, error) ||
        !api_number(a, "repeat-penalty", 0, 100, &o->sampling.repetition_penalty, error))
        return false;
    if (o->prompt && o->prompt_text)
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("prompt") " and " ORCH_OPTION("prompt-text") ": one prompt, not two");
    if (o->batch && o->sequences)
        return orch_fail(
            error, ORCH_USAGE,
            ORCH_OPTION("batch") " and " ORCH_OPTION("sequences") ": prompts begin together, or join when others end");
    request->language = any ? o : NULL;
    return true;
}
