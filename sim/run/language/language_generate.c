/* Generation on values: the prompt, then one token after another, each shown as soon as it is there. */
#include "sim/run/language/kind_language.h"

#include "sim/base/checksum.h"
#include "sim/run/language/language_cache.h"
#include "sim/run/language/language_draft.h"
#include "sim/run/language/language_stop.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct generation {
    const struct run *run;
    struct language_work *work;
    struct language_unit *unit;
    struct language_stepper *stepper;
    struct language_draft *draft; /* NULL = none */
    struct sampler *sampler;
    struct token_stream stream;
    struct token_list history;
    size_t begun, shown; /* bytes of the text: those of the prompt, and those that somebody has seen */
    float *kept;         /* logits behind a prompt that a file had whole; else NULL */
};

/* What is new of the text, but for what may become a word that ends it. */
static void show(struct generation *g, bool ended)
{
    const struct token_text *const text = &g->work->text;
    FILE *const out = g->run->request->program_output;
    const size_t held =
        ended || text->length <= g->begun ? 0 : language_stop_held(&g->work->options, text->text, g->begun, text->length);
    if (!out || text->length <= g->shown + held)
        return;
    fwrite(text->text + g->shown, 1, text->length - held - g->shown, out);
    fflush(out);
    g->shown = text->length - held;
}

static bool add_token(struct generation *g, uint32_t token, struct orch_error *error)
{
    return token_list_add(&g->history, token, error) && token_stream_add(&g->stream, token, &g->work->text, error);
}

/* A word that ends the text is no part of it. */
static void find_stop(struct generation *g)
{
    struct language_work *const w = g->work;
    size_t at;
    if (w->options.stops && w->text.length > g->begun)
        w->stop_word = language_stop_find(&w->options, w->text.text, g->begun, w->text.length, &at);
    if (!w->stop_word)
        return;
    w->text.length = at;
    w->stop = "word";
}

/* What a file with keys and values of the prompt has to fit. */
static struct prompt_cache_shape cache_shape(const struct run *run)
{
    const struct language_work *const w = run->work;
    const struct language_shape *const s = &w->model.shape;
    return (struct prompt_cache_shape){.model = language_model_checksum(CHECKSUM_START, &w->model),
                                       .layers = s->layers,
                                       .row = s->kv_heads * s->head_size,
                                       .value_bytes = language_parts(run).rest == PART_ANE ? 2 : 4,
                                       .vocabulary = s->vocabulary};
}

/* A text or a sound goes through the encoder, and through that of the draft. */
static bool encode(struct generation *g, const struct language_source *source, struct orch_error *error)
{
    struct language_sum *const sum = &g->work->prefill;
    return language_encode(g->stepper, source, 1, sum, error) &&
           (!g->draft || language_draft_encode(g->draft, source, sum, error));
}

/* A text goes through the encoder, and the decoder begins by itself: with a token that is no part of the text. */
static bool prefill_encoder(struct generation *g, const float **logits, struct orch_error *error)
{
    struct language_work *const w = g->work;
    const uint32_t first = w->model.shape.first_token;
    work_progress_tell(g->run->progress, "reading the prompt", NAN, 0);
    language_stepper_use(g->stepper, language_parts(g->run).prompt);
    const struct language_source text = {.token = w->prompt.token, .count = w->prompt.count};
    if (!token_list_add(&g->history, first, error) || !encode(g, &text, error))
        return false;
    language_stepper_use(g->stepper, language_parts(g->run).rest);
    return language_step(g->stepper, &first, 1, logits, &w->prefill, error);
}

static bool prefill(struct generation *g, const float **logits, struct orch_error *error)
{
    struct language_work *const w = g->work;
    if (w->model.shape.family->encodes_text)
        return prefill_encoder(g, logits, error);
    work_progress_tell(g->run->progress, "reading the prompt", NAN, 0);
    for (size_t i = 0; i < w->prompt.count; i++)
        if (!add_token(g, w->prompt.token[i], error))
            return false;
    g->begun = w->text.length;
    show(g, false);
    const struct language_parts parts = language_parts(g->run);
    const char *const cache = w->options.prompt_cache;
    struct prompt_cache_shape shape = {0};
    if (cache) {
        shape = cache_shape(g->run);
        if (!language_cache_take(cache, &shape, g->stepper, &w->prompt, &w->cached, &g->kept, error))
            return false;
    }
    if (g->kept) { /* nothing is left to read */
        *logits = g->kept;
        return true;
    }
    language_stepper_use(g->stepper, parts.prompt);
    const bool ok =
        (!w->sound || encode(g, &(struct language_source){.sound = w->sound}, error)) &&
        language_step(g->stepper, w->prompt.token + w->cached, w->prompt.count - w->cached, logits, &w->prefill, error);
    language_stepper_use(g->stepper, parts.rest);
    return ok && (!cache || language_cache_save(cache, &shape, g->stepper, &w->prompt, *logits, error));
}

static uint32_t choose(const struct generation *g, const float *logits)
{
    return sampler_next(g->sampler, logits, g->history.token, g->history.count);
}

/* Adds a generated token; *ended: it is the last one. */
static bool generated(struct generation *g, uint32_t token, bool *ended, struct orch_error *error)
{
    struct language_work *const w = g->work;
    if (!token_list_add(&w->tokens, token, error) || !add_token(g, token, error))
        return false;
    work_progress_tell(g->run->progress, "generating", (double)w->tokens.count / w->options.generate,
                       1e9 * (w->prefill.seconds + w->decode.seconds));
    if (tokenizer_ends(w->model.tokenizer, token))
        w->stop = token == tokenizer_begin(w->model.tokenizer) ? "bos" : "eos";
    find_stop(g);
    show(g, false);
    *ended = w->stop_word || tokenizer_ends(w->model.tokenizer, token) || w->tokens.count >= w->options.generate;
    return true;
}

static bool decode(struct generation *g, const float *logits, struct orch_error *error)
{
    struct language_work *const w = g->work;
    bool ended = false;
    w->stop = "count";
    for (;;) {
        const uint32_t next = choose(g, logits);
        if (!generated(g, next, &ended, error) || ended)
            return ended;
        if (!language_step(g->stepper, &next, 1, &logits, &w->decode, error))
            return false;
        w->decoded++;
    }
}

/* The draft goes on with the text, the model reads the last token and what was proposed in one pass, and what it would have said
 * itself is accepted: the text is the one that the model makes alone. */
static bool decode_drafted(struct generation *g, const float *logits, struct orch_error *error)
{
    struct language_work *const w = g->work;
    uint32_t pass[LANGUAGE_DRAFT_MOST + 1];
    bool ended = false;
    w->stop = "count";
    uint32_t next = choose(g, logits);
    for (;;) {
        if (!generated(g, next, &ended, error) || ended)
            return ended;
        const unsigned left = w->options.generate - (unsigned)w->tokens.count, begin = (unsigned)g->history.count;
        const unsigned some = left - 1 < w->options.draft_tokens ? left - 1 : w->options.draft_tokens;
        pass[0] = next;
        if (!language_draft_propose(g->draft, g->history.token, begin, some, pass + 1, &w->decode, error) ||
            !language_step_each(g->stepper, pass, some + 1, &logits, &w->decode, error))
            return false;
        unsigned same = 0;
        for (; !ended; same++) {
            next = choose(g, logits + (size_t)same * w->model.shape.vocabulary);
            if (same == some || next != pass[same + 1])
                break;
            if (!generated(g, next, &ended, error))
                return false;
        }
        w->proposed += some;
        w->accepted += same;
        w->passes++;
        w->decoded += same + !ended;
        if (ended)
            return true;
        language_stepper_rewind(g->stepper, begin + same);
        language_draft_rewind(g->draft, begin + same);
    }
}

static bool generate(struct generation *g, struct orch_error *error)
{
    const float *logits = NULL;
    token_stream_start(&g->stream, g->work->model.tokenizer, true);
    if (!prefill(g, &logits, error) || !(g->draft ? decode_drafted : decode)(g, logits, error))
        return false;
    if (!g->work->stop_word && !token_stream_end(&g->stream, &g->work->text, error))
        return false;
    show(g, true);
    if (g->run->request->program_output && g->work->text.length)
        fputc('\n', g->run->request->program_output);
    return true;
}

bool language_generate(struct run *run, struct run_measure *m, struct run_result *result, struct orch_error *error)
{
    struct language_work *const w = run->work;
    struct language_unit *const unit = language_unit_create(run->request, result, error);
    struct language_room room;
    struct generation g = {.run = run, .work = w, .unit = unit};
    w->prefill = w->decode = (struct language_sum){0};
    w->cached = 0;
    w->stop_word = NULL;
    w->tokens.count = w->text.length = w->decoded = w->proposed = w->accepted = w->passes = 0;
    if (unit && language_choose_layers(run, error) && language_room_of(run, 1, &room, error))
        g.stepper = language_stepper_create(&w->model, unit, run->kind->part, &room, error);
    if (g.stepper)
        g.sampler = sampler_create(&w->options.sampling, w->model.shape.vocabulary, run->request->seed, error);
    bool ok = g.sampler != NULL;
    if (ok && w->options.draft) {
        g.draft = language_draft_create(&w->draft, unit, language_draft_part(run), &room, error);
        ok = g.draft && language_stepper_answer(g.stepper, w->options.draft_tokens + 1, error);
    }
    ok = ok && generate(&g, error);
    if (g.stepper)
        language_room_tell(w, g.stepper);
    if (ok)
        result->native_mac_share = language_share(run, unit);
    if (ok)
        w->has_profile = language_unit_profile(unit, language_parts(run).rest, &w->profile);
    token_list_free(&g.history);
    free(g.kept);
    sampler_free(g.sampler);
    language_draft_free(g.draft);
    language_stepper_free(g.stepper);
    language_unit_free(unit, ok ? m : NULL);
    return ok;
}
