#include "sim/run/language/language_draft.h"

#include "sim/language/sampler.h"

#include <stdlib.h>
#include <string.h>

/* Tokens of the draft are tokens of the model: each is written alike. */
static bool check_vocabulary(const struct language_work *w, struct orch_error *error)
{
    const struct tokenizer *const a = w->model.tokenizer, *const b = w->draft.tokenizer;
    const size_t count = tokenizer_count(a);
    if (tokenizer_count(b) != count)
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("draft") " %s: it has %zu tokens, %s has %zu", w->draft.name,
                         tokenizer_count(b), w->model.name, count);
    for (size_t i = 0; i < count; i++) {
        size_t first, second;
        const char *const here = tokenizer_piece(a, (uint32_t)i, &first), *const there = tokenizer_piece(b, (uint32_t)i, &second);
        if (first != second || memcmp(here, there, first) != 0)
            return orch_fail(error, ORCH_USAGE, ORCH_OPTION("draft") " %s: token %zu is '%.*s', of %s it is '%.*s'",
                             w->draft.name, i, (int)(second < 40 ? second : 40), there, w->model.name,
                             (int)(first < 40 ? first : 40), here);
    }
    return true;
}

/* What the model hears or reads before it speaks the draft does, too. */
static bool check_encoders(const struct language_work *w, struct orch_error *error)
{
    const struct language_shape *const a = &w->model.shape, *const b = &w->draft.shape;
    if (a->family->encodes_text && b->family->encodes_text)
        return true;
    if (!a->family->encoder && b->family->encoder)
        return orch_fail(error, ORCH_UNMODELLED, ORCH_OPTION("draft") " %s: it has an encoder, which has read no text",
                         w->draft.name);
    if (a->family->encodes_text)
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("draft") " %s: it has no encoder of texts; %s has one", w->draft.name,
                         w->model.name);
    return !a->family->encoder ||
           (b->family->encoder && a->encoder_channels == b->encoder_channels && a->encoder_context == b->encoder_context) ||
           orch_fail(error, ORCH_USAGE, ORCH_OPTION("draft") " %s: it hears %u channels of %u frames, %s hears %u channels of %u",
                     w->draft.name, b->encoder_channels, 2 * b->encoder_context, w->model.name, a->encoder_channels,
                     2 * a->encoder_context);
}

bool language_draft_open(struct language_work *w, struct orch_error *error)
{
    if (!w->options.draft)
        return true;
    if (strncmp(w->options.draft, LANGUAGE_ZOO, strlen(LANGUAGE_ZOO)) == 0)
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("draft") " %s: a draft proposes tokens, which takes a file with weights",
                         w->options.draft);
    w->options.draft_tokens = w->options.draft_tokens ? w->options.draft_tokens : LANGUAGE_DRAFT_USUALLY;
    if (!language_model_open(w->options.draft, &w->draft, error) || !check_vocabulary(w, error))
        return false;
    if (!check_encoders(w, error))
        return false;
    if (w->model.shape.window || w->draft.shape.window)
        return orch_fail(error, ORCH_UNMODELLED, ORCH_OPTION("draft") ": models with a window of keys read one token at a time");
    const unsigned read = w->model.shape.family->encodes_text ? (unsigned)w->prompt.count : 0;
    const unsigned needed = read > w->context ? read : w->context;
    return needed <= w->draft.shape.context ||
           orch_fail(error, ORCH_USAGE, ORCH_OPTION("draft") " %s: it was made for %u tokens; %u are needed", w->draft.name,
                     w->draft.shape.context, needed);
}

struct language_draft {
    struct language_stepper *stepper;
    struct sampler *sampler;
};

struct language_draft *language_draft_create(const struct language_model *model, struct language_unit *unit, enum orch_part part,
                                             const struct language_room *room, struct orch_error *error)
{
    static const struct sampler_params greedy = {.repetition_penalty = 1};
    struct language_draft *const d = calloc(1, sizeof *d);
    if (!d) {
        orch_no_memory(error);
        return NULL;
    }
    d->stepper = language_stepper_create(model, unit, part, room, error);
    if (d->stepper)
        d->sampler = sampler_create(&greedy, model->shape.vocabulary, 0, error);
    if (d->sampler)
        return d;
    language_draft_free(d);
    return NULL;
}

void language_draft_free(struct language_draft *draft)
{
    if (!draft)
        return;
    sampler_free(draft->sampler);
    language_stepper_free(draft->stepper);
    free(draft);
}

bool language_draft_encode(struct language_draft *d, const struct language_source *source, struct language_sum *sum,
                           struct orch_error *error)
{
    return language_encode(d->stepper, source, 1, sum, error);
}

bool language_draft_propose(struct language_draft *d, const uint32_t *text, unsigned count, unsigned tokens, uint32_t *token,
                            struct language_sum *sum, struct orch_error *error)
{
    const float *logits = NULL;
    const unsigned read = language_stepper_position(d->stepper);
    if (!tokens)
        return true;
    if (!language_step(d->stepper, text + read, count - read, &logits, sum, error))
        return false;
    for (unsigned i = 0;; i++) {
        token[i] = sampler_next(d->sampler, logits, NULL, 0);
        if (i + 1 == tokens)
            return true;
        if (!language_step(d->stepper, &token[i], 1, &logits, sum, error))
            return false;
    }
}

void language_draft_rewind(struct language_draft *draft, unsigned position)
{
    language_stepper_rewind(draft->stepper, position);
}
