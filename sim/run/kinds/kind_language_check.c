/* What requests of language models may say, and what not. */
#include "sim/run/language/kind_language.h"

#include "sim/run/language/language_batch.h"
#include "sim/run/language/language_draft.h"

#include <string.h>

static bool check_timing(const struct run *run, struct orch_error *error)
{
    const struct run_request *const q = run->request;
    const struct language_work *const w = run->work;
    if (w->options.prompt_alone && !w->options.prompt)
        return orch_fail(error, ORCH_USAGE,
                         ORCH_OPTION("generate") " 0 without a prompt: nothing would run (" ORCH_OPTION("prompt") " N)");
    if (w->model.shape.family->encodes_text && !w->options.prompt)
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("prompt") " N: tokens of the text that the encoder of %s reads",
                         w->model.name);
    if (w->options.prompt_text)
        return orch_fail(
            error, ORCH_USAGE,
            ORCH_OPTION("prompt-text") ": time alone has no text; " ORCH_OPTION("prompt") " N is a prompt of N tokens");
    if (w->options.stops)
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("stop") ": time alone has no text (" ORCH_OPTION("mode") " full)");
    if (w->options.prompts)
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("prompts") ": time alone has no texts (" ORCH_OPTION("mode") " full)");
    if (w->options.prompt_cache)
        return orch_fail(error, ORCH_USAGE,
                         ORCH_OPTION("prompt-cache") ": time alone has no keys and values (" ORCH_OPTION("mode") " full)");
    if (w->options.draft)
        return orch_fail(error, ORCH_USAGE,
                         ORCH_OPTION("draft") ": how many tokens are accepted depends on values; time alone has none");
    if (q->mode == RUN_FUNCTIONAL)
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("mode") " functional: %s has no weights here, only dimensions",
                         q->workload);
    return language_format(run, error) && language_fits(run, error);
}

/* What goes with one unit alone. */
static bool check_combined(const struct language_work *w, struct orch_error *error)
{
    const struct language_options *const o = &w->options;
    const char *const option = o->prefill_unit ? "prefill-unit" : o->prompt_cache ? "prompt-cache" : o->draft ? "draft" : NULL;
    if (option)
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("%s") " and " ORCH_OPTION("unit") " combined: each layer has its unit",
                         option);
    if (w->cache.type && language_shards_have(&w->shards, PART_ANE))
        return orch_fail(error, ORCH_UNMODELLED, ORCH_OPTION("kv-cache") " %s: keys and values of the Neural Engine are f16",
                         o->kv_cache);
    return !w->model.shape.family->encoder ||
           orch_fail(error, ORCH_UNMODELLED, ORCH_OPTION("unit") " combined: %s has an encoder; its layers stay on one unit",
                     w->model.name);
}

/* Keys and values of the Neural Engine are f16, those of the others f32. */
static bool check_parts(const struct run *run, struct orch_error *error)
{
    const struct language_work *const w = run->work;
    const struct language_parts parts = language_parts(run);
    const char *const cached = w->options.kv_cache;
    const unsigned window = w->model.shape.window;
    const bool sinks = w->model.shape.family->sinks;
    if (sinks && (w->cache.page || w->options.prompt_cache || language_is_combined(run)))
        return orch_fail(
            error, ORCH_UNMODELLED,
            ORCH_OPTION("%s") ": %s has heads that may look at nothing; its cache is whole, of one unit, and in no file",
            w->cache.page             ? "kv-cache"
            : w->options.prompt_cache ? "prompt-cache"
                                      : "unit",
            w->model.name);
    if (w->cache.page && window && w->context > window)
        return orch_fail(
            error, ORCH_UNMODELLED,
            ORCH_OPTION("kv-cache") " %s: kernels of pages have no window, and %s has one of %u tokens; a context of "
                                    "%u tokens does without",
            cached, w->model.name, window, window);
    if (cached && w->options.prompt_cache)
        return orch_fail(
            error, ORCH_USAGE,
            ORCH_OPTION("kv-cache") " and " ORCH_OPTION("prompt-cache") ": files hold keys and values as they are made");
    if (language_is_combined(run) && !check_combined(w, error))
        return false;
    if (parts.prompt == PART_COUNT)
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("prefill-unit") " %s: it is cpu, amx, gpu or ane",
                         w->options.prefill_unit);
    if (language_draft_part(run) == PART_COUNT)
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("draft-unit") " %s: it is cpu, amx, gpu or ane", w->options.draft_unit);
    if (!w->options.draft && (w->options.draft_unit || w->options.draft_tokens))
        return orch_fail(error, ORCH_USAGE,
                         ORCH_OPTION("draft-unit") " and " ORCH_OPTION("draft-tokens") " are for a " ORCH_OPTION("draft"));
    if ((parts.prompt == PART_ANE) != (parts.rest == PART_ANE) && !language_is_timing(run))
        return orch_fail(error, ORCH_UNMODELLED,
                         ORCH_OPTION("prefill-unit") " %s with " ORCH_OPTION(
                             "unit") " %s: keys and values of the Neural Engine are f16, those of other units f32",
                         orch_part_name(parts.prompt), orch_part_name(parts.rest));
    return true;
}

bool language_check_encoder(const struct run *run, struct orch_error *error)
{
    const struct language_work *const w = run->work;
    const struct language_options *const o = &w->options;
    const char *const option = o->prompt_cache ? "prompt-cache" : language_is_combined(run) ? "unit" : NULL;
    return !option ||
           orch_fail(error, ORCH_UNMODELLED,
                     ORCH_OPTION("%s") ": %s has an encoder; it runs on one unit or hybrid, and what it made is in no file",
                     option, w->model.name);
}

bool language_check(const struct run *run, struct orch_error *error)
{
    const struct run_request *const q = run->request;
    const struct language_work *const w = run->work;
    const char *const option = q->entry                                                          ? "entry"
                               : q->arg_count                                                    ? "args"
                               : q->home                                                         ? "home"
                               : q->sanitize                                                     ? "sanitize"
                               : q->profile                                                      ? "profile"
                               : q->input_count && !w->sound && !(w->batch && language_hears(w)) ? "input"
                               : q->output_folder                                                ? "output"
                               : q->watch                                                        ? "trace"
                               : run_repeats(run) > 1                                            ? "repeat"
                               : q->uncertainty                                                  ? "uncertainty"
                                                                                                 : NULL;
    if (option)
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("%s") ": not of language models; %s is one", option, q->workload);
    if (!check_parts(run, error))
        return false;
    if (language_is_timing(run))
        return check_timing(run, error);
    if (!language_batch_check(w, error))
        return false;
    if (w->options.prompt_alone)
        return orch_fail(error, ORCH_USAGE,
                         ORCH_OPTION("generate") " 0: a prompt alone has a time (" ORCH_OPTION("mode") " timing), but no text");
    if (w->options.prompt)
        return orch_fail(error, ORCH_USAGE,
                         ORCH_OPTION("prompt") " %u: a number of tokens is for " ORCH_OPTION(
                             "mode") " timing; text is given by " ORCH_OPTION("prompt-text"),
                         w->options.prompt);
    return !q->precision || orch_fail(error, ORCH_USAGE,
                                      ORCH_OPTION("precision") " %s: the file says in which types its weights are", q->precision);
}
