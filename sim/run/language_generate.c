/* Generation on values: the prompt, then one token after another, each shown as soon as it is there. */
#include "sim/run/kind_language.h"
#include "sim/run/language_step.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct generation {
    const struct run *run;
    struct language_work *work;
    struct language_unit *unit;
    struct language_stepper *stepper;
    struct sampler *sampler;
    struct token_stream stream;
    struct token_list history;
};

/* What is new of the text. */
static void show(const struct generation *g, size_t from)
{
    FILE *const out = g->run->request->program_output;
    if (!out || g->work->text.length == from)
        return;
    fwrite(g->work->text.text + from, 1, g->work->text.length - from, out);
    fflush(out);
}

static bool add_token(struct generation *g, uint32_t token, struct orch_error *error)
{
    const size_t before = g->work->text.length;
    if (!token_list_add(&g->history, token, error) || !token_stream_add(&g->stream, token, &g->work->text, error))
        return false;
    show(g, before);
    return true;
}

static bool prefill(struct generation *g, const float **logits, struct orch_error *error)
{
    struct language_work *const w = g->work;
    work_progress_tell(g->run->progress, "reading the prompt", NAN, 0);
    for (size_t i = 0; i < w->prompt.count; i++)
        if (!add_token(g, w->prompt.token[i], error))
            return false;
    const struct language_parts parts = language_parts(g->run);
    language_stepper_use(g->stepper, parts.prompt);
    const bool ok = language_step(g->stepper, w->prompt.token, w->prompt.count, logits, &w->prefill, error);
    language_stepper_use(g->stepper, parts.rest);
    return ok;
}

static bool decode(struct generation *g, const float *logits, struct orch_error *error)
{
    struct language_work *const w = g->work;
    w->stop = "count";
    while (w->tokens.count < w->options.generate) {
        const uint32_t next = sampler_next(g->sampler, logits, g->history.token, g->history.count);
        if (!token_list_add(&w->tokens, next, error) || !add_token(g, next, error))
            return false;
        if (tokenizer_ends(w->model.tokenizer, next)) {
            w->stop = next == tokenizer_begin(w->model.tokenizer) ? "bos" : "eos";
            return true;
        }
        work_progress_tell(g->run->progress, "generating", (double)w->tokens.count / w->options.generate,
                           1e9 * (w->prefill.seconds + w->decode.seconds));
        if (w->tokens.count == w->options.generate)
            return true;
        if (!language_step(g->stepper, &next, 1, &logits, &w->decode, error))
            return false;
        w->decoded++;
    }
    return true;
}

static bool generate(struct generation *g, struct orch_error *error)
{
    const float *logits = NULL;
    token_stream_start(&g->stream, g->work->model.tokenizer, true);
    if (!prefill(g, &logits, error) || !decode(g, logits, error))
        return false;
    const size_t before = g->work->text.length;
    if (!token_stream_end(&g->stream, &g->work->text, error))
        return false;
    show(g, before);
    if (g->run->request->program_output && g->work->text.length)
        fputc('\n', g->run->request->program_output);
    return true;
}

bool language_generate(struct run *run, struct run_measure *m, struct run_result *result, struct orch_error *error)
{
    struct language_work *const w = run->work;
    struct language_unit *const unit = language_unit_create(run->request, result, error);
    struct generation g = {.run = run, .work = w, .unit = unit};
    w->prefill = w->decode = (struct language_sum){0};
    w->tokens.count = w->text.length = w->decoded = 0;
    if (unit && language_model_runs(&w->model, error))
        g.stepper = language_stepper_create(&w->model, unit, run->kind->part, w->context, error);
    if (g.stepper)
        g.sampler = sampler_create(&w->options.sampling, w->model.shape.vocabulary, run->request->seed, error);
    const bool ok = g.sampler && generate(&g, error);
    if (g.stepper) {
        w->weight_bytes = language_stepper_weight_bytes(g.stepper);
        w->cache_bytes = language_stepper_cache_bytes(g.stepper);
    }
    if (ok)
        result->native_mac_share = language_share(run, unit);
    if (ok)
        w->has_profile = language_unit_profile(unit, language_parts(run).rest, &w->profile);
    token_list_free(&g.history);
    sampler_free(g.sampler);
    language_stepper_free(g.stepper);
    language_unit_free(unit, ok ? m : NULL);
    return ok;
}
