#include "sim/run/language_batch.h"

#include "sim/base/checksum.h"
#include "sim/base/file_read.h"
#include "sim/language/utf8.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINES_MOST = 4096, FILE_MOST = 1 << 24 };

/* A prompt and what follows. */
struct sequence {
    struct token_list prompt, history, tokens;
    struct token_text text;
    struct token_stream stream;
    struct sampler *sampler;
    const char *stop;
    unsigned lane;
    double first_s, end_s; /* from the beginning of all: when its first token was there, its last */
};

struct language_batch {
    struct sequence *sequence;
    size_t sequences;
};

/* ---- the file ---- */

static bool add_line(struct language_work *w, const char *line, size_t length, size_t number, struct orch_error *error)
{
    struct sequence *const s = &w->batch->sequence[w->batch->sequences];
    size_t wrong;
    if (w->batch->sequences == LINES_MOST)
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("prompts") " %.300s: more than %d lines", w->options.prompts, LINES_MOST);
    if (!utf8_is_valid(line, length, &wrong))
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("prompts") " %.300s: line %zu has no UTF-8 at byte %zu",
                         w->options.prompts, number, wrong);
    w->batch->sequences++;
    if (!tokenizer_encode(w->model.tokenizer, line, length, TOKENIZE_FRAME, &s->prompt, error))
        return false;
    return s->prompt.count ||
           orch_fail(error, ORCH_USAGE, ORCH_OPTION("prompts") " %.300s: line %zu has no tokens", w->options.prompts, number);
}

/* Lines without text are passed over. */
static bool read_lines(struct language_work *w, const char *text, struct orch_error *error)
{
    size_t number = 0;
    for (const char *at = text; *at;) {
        const size_t length = strcspn(at, "\n");
        number++;
        if (length > 0 && !add_line(w, at, length, number, error))
            return false;
        at += length + (at[length] == '\n');
    }
    return w->batch->sequences > 0 ||
           orch_fail(error, ORCH_USAGE, ORCH_OPTION("prompts") " %.300s: it has no prompt; each line is one", w->options.prompts);
}

bool language_batch_open(struct language_work *w, struct orch_error *error)
{
    uint8_t *bytes = NULL;
    size_t size;
    FILE *const f = fopen(w->options.prompts, "rb");
    const bool read = f && file_read_all(f, FILE_MOST, &bytes, &size);
    if (!read)
        orch_fail(error, ORCH_USAGE, ORCH_OPTION("prompts") " %.300s: %s", w->options.prompts, strerror(errno));
    if (f)
        fclose(f);
    w->batch = calloc(1, sizeof *w->batch);
    if (w->batch)
        w->batch->sequence = calloc(LINES_MOST, sizeof *w->batch->sequence);
    const bool ok =
        read && ((w->batch && w->batch->sequence) || orch_no_memory(error)) && read_lines(w, (const char *)bytes, error);
    free(bytes);
    return ok;
}

static void forget_answer(struct sequence *s)
{
    sampler_free(s->sampler);
    s->sampler = NULL;
    s->history.count = s->tokens.count = s->text.length = 0;
}

void language_batch_close(struct language_batch *b)
{
    if (!b)
        return;
    for (size_t i = 0; b->sequence && i < b->sequences; i++) {
        struct sequence *const s = &b->sequence[i];
        forget_answer(s);
        token_list_free(&s->prompt);
        token_list_free(&s->history);
        token_list_free(&s->tokens);
        token_text_free(&s->text);
    }
    free(b->sequence);
    free(b);
}

size_t language_batch_longest(const struct language_batch *b)
{
    size_t longest = 0;
    for (size_t i = 0; i < b->sequences; i++)
        longest = b->sequence[i].prompt.count > longest ? b->sequence[i].prompt.count : longest;
    return longest;
}

uint64_t language_batch_checksum(uint64_t h, const struct language_batch *b)
{
    for (size_t i = 0; i < b->sequences; i++) {
        const struct token_list *const p = &b->sequence[i].prompt;
        h = checksum_add(checksum_add(h, &p->count, sizeof p->count), p->token, p->count * sizeof *p->token);
    }
    return h;
}

bool language_batch_check(const struct language_work *w, struct orch_error *error)
{
    const struct language_options *const o = &w->options;
    const char *const other = o->prompt_text    ? "prompt-text"
                              : o->draft        ? "draft"
                              : o->prompt_cache ? "prompt-cache"
                              : o->prefill_unit ? "prefill-unit"
                                                : NULL;
    if (!o->prompts)
        return !o->sequences || orch_fail(error, ORCH_USAGE,
                                          ORCH_OPTION("sequences") " %u: how many of several prompts (" ORCH_OPTION(
                                              "prompts") ") generate side by side",
                                          o->sequences);
    if (other)
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("prompts") " and " ORCH_OPTION("%s") ": the latter is of one prompt",
                         other);
    return !w->model.shape.window ||
           orch_fail(error, ORCH_UNMODELLED, ORCH_OPTION("prompts") ": sequences side by side have no window of keys; %s has",
                     w->model.name);
}

/* ---- generating ---- */

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

static bool begin_sequence(struct batch *b, struct sequence *s, struct orch_error *error)
{
    struct language_work *const w = b->work;
    const float *logits = NULL;
    bool ended;
    s->lane = 0;
    while (b->taken[s->lane])
        s->lane++;
    b->taken[s->lane] = true;
    s->stop = "count";
    token_stream_start(&s->stream, w->model.tokenizer, true);
    s->sampler = sampler_create(&w->options.sampling, w->model.shape.vocabulary, b->run->request->seed, error);
    for (size_t i = 0; s->sampler && i < s->prompt.count; i++)
        if (!add_token(b, s, s->prompt.token[i], error))
            return false;
    language_stepper_begin(b->stepper, s->lane);
    if (!s->sampler || !language_step(b->stepper, s->prompt.token, s->prompt.count, &logits, &w->prefill, error) ||
        !say(b, s, logits, &ended, error))
        return false;
    if (!ended)
        b->active[b->actives++] = s;
    return true;
}

/* One token of all. */
static bool step_all(struct batch *b, struct orch_error *error)
{
    struct language_work *const w = b->work;
    uint32_t token[LANGUAGE_BATCH];
    unsigned lane[LANGUAGE_BATCH], kept = 0;
    const float *logits;
    for (unsigned i = 0; i < b->actives; i++) {
        token[i] = b->active[i]->tokens.token[b->active[i]->tokens.count - 1];
        lane[i] = b->active[i]->lane;
    }
    if (!language_step_lanes(b->stepper, token, lane, b->actives, &logits, &w->decode, error))
        return false;
    w->decoded += b->actives;
    w->passes++;
    for (unsigned i = 0; i < b->actives; i++) {
        bool ended;
        if (!say(b, b->active[i], logits + (size_t)i * w->model.shape.vocabulary, &ended, error))
            return false;
        if (!ended)
            b->active[kept++] = b->active[i];
    }
    b->actives = kept;
    return true;
}

static bool generate_all(struct batch *b, struct orch_error *error)
{
    struct language_batch *const all = b->work->batch;
    bool ok = true;
    while (ok && (b->actives || b->next < all->sequences)) {
        while (ok && b->actives < b->lanes && b->next < all->sequences)
            ok = begin_sequence(b, &all->sequence[b->next++], error);
        work_progress_tell(b->run->progress, "generating", (double)b->next / (double)all->sequences, 1e9 * now(b));
        ok = ok && (!b->actives || step_all(b, error));
    }
    return ok;
}

/* As many side by side as are asked for, or all prompts. */
static unsigned lanes_of(const struct language_work *w)
{
    enum { USUALLY = 8 };
    const size_t asked = w->options.sequences ? w->options.sequences : USUALLY, most = w->batch->sequences;
    return (unsigned)(asked < most ? asked : most);
}

bool language_batch_generate(struct run *run, struct run_measure *m, struct run_result *result, struct orch_error *error)
{
    struct language_work *const w = run->work;
    struct language_unit *const unit = language_unit_create(run->request, result, error);
    struct batch b = {.run = run, .work = w, .lanes = lanes_of(w)};
    w->prefill = w->decode = (struct language_sum){0};
    w->decoded = w->passes = 0;
    for (size_t i = 0; i < w->batch->sequences; i++)
        forget_answer(&w->batch->sequence[i]);
    b.active = calloc(b.lanes, sizeof(*b.active));
    b.taken = calloc(b.lanes, sizeof *b.taken);
    bool ok = unit && ((b.active && b.taken) || orch_no_memory(error)) && language_model_runs(&w->model, error);
    if (ok)
        b.stepper = language_stepper_create(&w->model, unit, run->kind->part, w->context, b.lanes, error);
    ok = b.stepper && language_stepper_answer(b.stepper, b.lanes, error) && generate_all(&b, error);
    if (b.stepper) {
        w->weight_bytes = language_stepper_weight_bytes(b.stepper);
        w->cache_bytes = language_stepper_cache_bytes(b.stepper);
    }
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

/* ---- the answer ---- */

static json_object *tokens_json(const struct token_list *list)
{
    json_object *const array = json_object_new_array();
    for (size_t i = 0; i < list->count; i++)
        json_object_array_add(array, json_object_new_int64(list->token[i]));
    return array;
}

json_object *language_batch_json(const struct language_batch *b)
{
    json_object *const o = json_object_new_object(), *const list = json_object_new_array();
    for (size_t i = 0; i < b->sequences; i++) {
        const struct sequence *const s = &b->sequence[i];
        json_object *const one = json_object_new_object();
        json_object_object_add(one, "prompt_tokens", tokens_json(&s->prompt));
        json_object_object_add(one, "tokens", tokens_json(&s->tokens));
        json_object_object_add(one, "text", json_object_new_string_len(s->text.text ? s->text.text : "", (int)s->text.length));
        json_object_object_add(one, "stop", json_object_new_string(s->stop));
        json_object_object_add(one, "first_token_seconds", json_object_new_double(s->first_s));
        json_object_object_add(one, "end_seconds", json_object_new_double(s->end_s));
        json_object_array_add(list, one);
    }
    json_object_object_add(o, "sequences", list);
    return o;
}
