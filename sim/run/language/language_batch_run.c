/* Several sequences on values: prompts are read, then each pass has a token of all. */
#include "sim/run/language/language_batch_internal.h"

#include <stdlib.h>

struct batch {
    const struct run *run;
    struct language_work *work;
    struct language_stepper *stepper;
    struct sequence **active; /* in the order in which they joined */
    unsigned actives, lanes;
    bool *taken; /* by lane */
    size_t next; /* prompt that has not been read */
};

static double now(const struct batch *b)
{
    return b->work->prefill.seconds + b->work->decode.seconds;
}

static bool add_token(const struct batch *b, struct sequence *s, uint32_t token, struct orch_error *error)
{
    (void)b;
    return token_list_add(&s->history, token, error) && token_stream_add(&s->stream, token, &s->text, error);
}

static bool end_sequence(struct batch *b, struct sequence *s, struct orch_error *error)
{
    FILE *const out = b->run->request->program_output;
    s->end_s = now(b);
    if (!token_stream_end(&s->stream, &s->text, error))
        return false;
    if (out)
        fprintf(out, "[%zu] %.*s\n", (size_t)(s - b->work->batch->sequence) + 1, (int)s->text.length,
                s->text.text ? s->text.text : "");
    b->taken[s->lane] = false;
    language_stepper_end(b->stepper, s->lane);
    return true;
}

/* The next token of a sequence from the values behind its last one; *ended: there is no other. */
static bool say(struct batch *b, struct sequence *s, const float *logits, bool *ended, struct orch_error *error)
{
    const struct language_work *const w = b->work;
    const uint32_t token = sampler_next(s->sampler, logits, s->history.token, s->history.count);
    if (!token_list_add(&s->tokens, token, error) || !add_token(b, s, token, error))
        return false;
    if (s->tokens.count == 1)
        s->first_s = now(b);
    *ended = tokenizer_ends(w->model.tokenizer, token) || s->tokens.count >= w->options.generate;
    if (tokenizer_ends(w->model.tokenizer, token))
        s->stop = token == tokenizer_begin(w->model.tokenizer) ? "bos" : "eos";
    return !*ended || end_sequence(b, s, error);
}

/* What the decoder reads before it says anything: the prompt, or where the encoder reads that, one token. */
static const uint32_t *beginning(const struct batch *b, const struct sequence *s, unsigned *count)
{
    const bool apart = b->work->model.shape.family->encodes_text;
    *count = apart ? 1 : (unsigned)s->prompt.count;
    return apart ? &b->work->model.shape.first_token : s->prompt.token;
}

/* What comes before the decoders of some sequences, as many at a time as the encoder takes. */
static bool encode(struct batch *b, const struct sequence *first, unsigned count, struct orch_error *error)
{
    const unsigned most = language_stepper_sources(b->stepper);
    struct language_source source[LANGUAGE_SOURCES];
    bool ok = true;
    if (!b->work->model.shape.family->encoder)
        return true;
    for (unsigned done = 0, some; ok && done < count; done += some) {
        some = count - done < most ? count - done : most;
        for (unsigned i = 0; i < some; i++) {
            const struct sequence *const s = &first[done + i];
            source[i] = (struct language_source){s->prompt.token, s->prompt.count, s->sound, s->lane};
        }
        ok = language_encode(b->stepper, source, some, &b->work->prefill, error);
    }
    return ok;
}

/* Whether the caches have room for the next prompt and what follows; when all others have ended they must. */
static bool has_room(const struct batch *b, const struct sequence *s, bool others, bool *fits, struct orch_error *error)
{
    const struct language_work *const w = b->work;
    unsigned lane = 0, begun;
    while (b->taken[lane])
        lane++;
    beginning(b, s, &begun);
    const unsigned tokens = begun + w->options.generate - 1; /* the last one is said, not read */
    *fits = language_stepper_promise(b->stepper, lane, tokens);
    return *fits || others ||
           orch_fail(error, ORCH_USAGE,
                     ORCH_OPTION("kv-cache") " %s: prompt %zu has %u tokens with what follows, more than all pages",
                     w->options.kv_cache, (size_t)(s - w->batch->sequence) + 1, tokens);
}

/* A place among the caches, and its text so far. */
static bool open_sequence(struct batch *b, struct sequence *s, struct orch_error *error)
{
    const struct language_work *const w = b->work;
    const bool apart = w->model.shape.family->encodes_text; /* the prompt is no part of the text */
    unsigned begun;
    const uint32_t *const begins = beginning(b, s, &begun);
    s->lane = 0;
    while (b->taken[s->lane])
        s->lane++;
    b->taken[s->lane] = true;
    s->stop = "count";
    token_stream_start(&s->stream, w->model.tokenizer, true);
    s->sampler = sampler_create(&w->options.sampling, w->model.shape.vocabulary, b->run->request->seed + s->seed, error);
    for (unsigned i = 0; s->sampler && i < begun; i++)
        if (!(apart ? token_list_add(&s->history, begins[i], error) : add_token(b, s, begins[i], error)))
            return false;
    language_stepper_begin(b->stepper, s->lane);
    return s->sampler != NULL;
}

/* A token is said behind the values of each. */
static bool say_all(struct batch *b, struct sequence *const *said, unsigned count, const float *logits, struct orch_error *error)
{
    for (unsigned i = 0; i < count; i++) {
        bool ended;
        if (!say(b, said[i], logits + (size_t)i * b->work->model.shape.vocabulary, &ended, error))
            return false;
        if (!ended)
            b->active[b->actives++] = said[i];
    }
    return true;
}

/* A prompt by itself is a pass over one sequence. */
static bool begin_alone(struct batch *b, struct sequence *s, struct orch_error *error)
{
    const float *logits = NULL;
    unsigned begun;
    const uint32_t *const begins = beginning(b, s, &begun);
    b->next++;
    return open_sequence(b, s, error) && encode(b, s, 1, error) &&
           language_step(b->stepper, begins, begun, &logits, &b->work->prefill, error) && say_all(b, &s, 1, logits, error);
}

/* A pass over what has been laid out; the sequences in `said` have answers, in this order. */
static bool run_laid(struct batch *b, const struct language_token *token, unsigned count, struct sequence *const *said,
                     unsigned answers, struct language_sum *sum, struct orch_error *error)
{
    const float *logits = NULL;
    return language_step_lanes(b->stepper, token, count, &logits, sum, error) && say_all(b, said, answers, logits, error);
}

/* Opens up to so many sequences, as there is room for. */
static bool open_together(struct batch *b, unsigned most, unsigned *count, struct orch_error *error)
{
    struct sequence *const first = &b->work->batch->sequence[b->next];
    bool fits = true, ok = true;
    *count = 0;
    while (ok && *count < most) {
        ok = has_room(b, &first[*count], *count > 0, &fits, error);
        if (!ok || !fits)
            return ok;
        ok = open_sequence(b, &first[(*count)++], error);
    }
    return ok;
}

/* Prompts go through together, as many tokens at a time as kernels take. */
static bool begin_together(struct batch *b, unsigned together, struct orch_error *error)
{
    struct language_token token[LANGUAGE_BATCH];
    struct sequence *said[LANGUAGE_BATCH];
    const unsigned most = language_stepper_most(b->stepper);
    unsigned laid = 0, answers = 0, count, begun;
    struct sequence *const first = &b->work->batch->sequence[b->next];
    if (!open_together(b, together, &count, error) || !encode(b, first, count, error))
        return false;
    for (unsigned i = 0; i < count; i++) {
        const uint32_t *const begins = beginning(b, &first[i], &begun);
        for (unsigned t = 0; t < begun; t++) {
            const bool last = t + 1 == begun;
            token[laid++] = (struct language_token){begins[t], first[i].lane, last};
            if (last)
                said[answers++] = &first[i];
            if (laid < most && (!last || i + 1 < count))
                continue;
            if (!run_laid(b, token, laid, said, answers, &b->work->prefill, error))
                return false;
            laid = answers = 0;
        }
    }
    b->next += count;
    return true;
}

/* One token of all. */
static bool step_all(struct batch *b, struct orch_error *error)
{
    struct language_token token[LANGUAGE_BATCH];
    struct sequence *said[LANGUAGE_BATCH];
    const unsigned count = b->actives;
    for (unsigned i = 0; i < count; i++) {
        struct sequence *const s = said[i] = b->active[i];
        token[i] = (struct language_token){s->tokens.token[s->tokens.count - 1], s->lane, true};
    }
    b->actives = 0; /* those that go on are there again afterwards */
    b->work->decoded += count;
    b->work->passes++;
    return run_laid(b, token, count, said, count, &b->work->decode, error);
}

/* The next prompts, where there is room: of a static batch only when all of the one before it have ended. */
static bool join(struct batch *b, struct orch_error *error)
{
    const size_t left = b->work->batch->sequences - b->next, room = b->lanes - b->actives;
    bool ok = true, fits = true;
    if (b->work->options.batch)
        return b->actives || !left || begin_together(b, (unsigned)(left < room ? left : room), error);
    while (ok && fits && b->actives < b->lanes && b->next < b->work->batch->sequences) {
        struct sequence *const s = &b->work->batch->sequence[b->next];
        ok = has_room(b, s, b->actives > 0, &fits, error) && (!fits || begin_alone(b, s, error));
    }
    return ok;
}

static bool generate_all(struct batch *b, struct orch_error *error)
{
    const struct language_batch *const all = b->work->batch;
    bool ok = true;
    while (ok && (b->actives || b->next < all->sequences)) {
        ok = join(b, error);
        work_progress_tell(b->run->progress, "generating", (double)b->next / (double)all->sequences, 1e9 * now(b));
        ok = ok && (!b->actives || step_all(b, error));
    }
    return ok;
}

/* As many side by side as are asked for, or all prompts. */
static unsigned lanes_of(const struct language_work *w)
{
    enum { USUALLY = 8 };
    const size_t asked = w->options.batch       ? w->options.batch
                         : w->options.sequences ? w->options.sequences
                                                : USUALLY,
                 most = w->batch->sequences;
    return (unsigned)(asked < most ? asked : most);
}

bool language_batch_generate(struct run *run, struct run_measure *m, struct run_result *result, struct orch_error *error)
{
    struct language_work *const w = run->work;
    struct language_unit *const unit = language_unit_create(run->request, result, error);
    struct batch b = {.run = run, .work = w, .lanes = lanes_of(w)};
    struct language_room room;
    w->prefill = w->decode = (struct language_sum){0};
    w->decoded = w->passes = 0;
    for (size_t i = 0; i < w->batch->sequences; i++)
        language_sequence_forget(&w->batch->sequence[i]);
    b.active = calloc(b.lanes, sizeof(*b.active));
    b.taken = calloc(b.lanes, sizeof *b.taken);
    bool ok = unit && ((b.active && b.taken) || orch_no_memory(error)) && language_choose_layers(run, error) &&
              language_room_of(run, b.lanes, &room, error);
    if (ok)
        b.stepper = language_stepper_create(&w->model, unit, run->kind->part, &room, error);
    ok = b.stepper && language_stepper_answer(b.stepper, b.lanes, error) && generate_all(&b, error);
    if (b.stepper)
        language_room_tell(w, b.stepper);
    if (ok) {
        result->native_mac_share = language_share(run, unit);
        w->has_profile = language_unit_profile(unit, language_parts(run).rest, &w->profile);
    }
    free(b.active);
    free(b.taken);
    language_stepper_free(b.stepper);
    language_unit_free(unit, ok ? m : NULL);
    return ok;
}
