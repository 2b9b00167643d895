#include "sim/run/language_draft.h"

#include "sim/language/sampler.h"

#include <stdlib.h>

struct language_draft {
    struct language_stepper *stepper;
    struct sampler *sampler;
};

struct language_draft *language_draft_create(const struct language_model *model, struct language_unit *unit, enum orch_part part,
                                             unsigned context, struct orch_error *error)
{
    static const struct sampler_params greedy = {.repetition_penalty = 1};
    struct language_draft *const d = calloc(1, sizeof *d);
    if (!d) {
        orch_no_memory(error);
        return NULL;
    }
    if (language_model_runs(model, error))
        d->stepper = language_stepper_create(model, unit, part, context, 1, error);
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
