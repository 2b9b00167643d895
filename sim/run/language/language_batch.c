#include "sim/run/language/language_batch_internal.h"

#include "sim/base/checksum.h"
#include "sim/base/file_read.h"
#include "sim/language/utf8.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINES_MOST = 4096, FILE_MOST = 1 << 24 };

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
    if (!tokenizer_encode(w->model.tokenizer, line, length, language_hears(w) ? TOKENIZE_SPECIAL : TOKENIZE_FRAME, &s->prompt,
                          error))
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

/* The one prompt that there is, as often as there are sounds, or as is asked for. */
static bool copy_prompt(struct language_work *w, struct orch_error *error)
{
    struct language_batch *const b = w->batch;
    const size_t copies = b->sounds > 1 ? b->sounds : w->options.batch;
    b->copies = b->sounds <= 1;
    for (size_t i = 0; i < copies; i++) {
        struct sequence *const s = &b->sequence[b->sequences++];
        s->seed = b->copies ? i : 0;
        if (!language_read_prompt(w, &s->prompt, error))
            return false;
    }
    return true;
}

static bool read_prompts(struct language_work *w, struct orch_error *error)
{
    uint8_t *bytes = NULL;
    size_t size;
    FILE *const f = fopen(w->options.prompts, "rb");
    const bool read = f && file_read_all(f, FILE_MOST, &bytes, &size);
    if (!read)
        orch_fail(error, ORCH_USAGE, ORCH_OPTION("prompts") " %.300s: %s", w->options.prompts, strerror(errno));
    if (f)
        fclose(f);
    const bool ok = read && read_lines(w, (const char *)bytes, error);
    free(bytes);
    return ok;
}

/* ---- sounds ---- */

static bool open_sounds(struct language_work *w, const struct run_request *q, struct orch_error *error)
{
    struct language_batch *const b = w->batch;
    const size_t asked = q->input_count ? (size_t)q->input_count : 1; /* none: the first one says what is missing */
    if (asked > LINES_MOST)
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("input") ": %zu sounds; up to %d go side by side", asked, LINES_MOST);
    b->sound = calloc(asked, sizeof *b->sound);
    if (!b->sound)
        return orch_no_memory(error);
    for (; b->sounds < asked; b->sounds++)
        if (!language_sound_read(w, q->input_count ? q->inputs[b->sounds] : "", &b->sound[b->sounds], error))
            return false;
    return true;
}

static bool give_sounds(const struct language_work *w, struct orch_error *error)
{
    struct language_batch *const b = w->batch;
    if (b->sounds > 1 && b->sounds != b->sequences)
        return orch_fail(error, ORCH_USAGE,
                         ORCH_OPTION("prompts") " %.300s: it has %zu prompts, and there are %zu sounds (" ORCH_OPTION(
                             "input") "); each prompt has one, or all have the same",
                         w->options.prompts, b->sequences, b->sounds);
    for (size_t i = 0; b->sounds && i < b->sequences; i++)
        b->sequence[i].sound = b->sound[b->sounds > 1 ? i : 0];
    return true;
}

bool language_batch_is_wanted(const struct language_work *w, const struct run_request *q)
{
    return w->options.prompts || w->options.batch > 1 || (language_hears(w) && q->input_count > 1);
}

bool language_batch_open(struct language_work *w, const struct run_request *q, struct orch_error *error)
{
    w->batch = calloc(1, sizeof *w->batch);
    if (w->batch)
        w->batch->sequence = calloc(LINES_MOST, sizeof *w->batch->sequence);
    if (!w->batch || !w->batch->sequence)
        return orch_no_memory(error);
    return (!language_hears(w) || open_sounds(w, q, error)) && (w->options.prompts ? read_prompts : copy_prompt)(w, error) &&
           give_sounds(w, error);
}

void language_sequence_forget(struct sequence *s)
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
        language_sequence_forget(s);
        token_list_free(&s->prompt);
        token_list_free(&s->history);
        token_list_free(&s->tokens);
        token_text_free(&s->text);
    }
    for (size_t i = 0; i < b->sounds; i++)
        free(b->sound[i]);
    free(b->sound);
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

uint64_t language_batch_checksum(uint64_t h, const struct language_work *w)
{
    const struct language_batch *const b = w->batch;
    for (size_t i = 0; i < b->sounds; i++)
        h = checksum_add(h, b->sound[i], language_sound_values(w) * sizeof **b->sound);
    for (size_t i = 0; i < b->sequences; i++) {
        const struct token_list *const p = &b->sequence[i].prompt;
        h = checksum_add(checksum_add(h, &p->count, sizeof p->count), p->token, p->count * sizeof *p->token);
    }
    return h;
}

size_t language_batch_tokens(const struct language_batch *b)
{
    size_t tokens = 0;
    for (size_t i = 0; i < b->sequences; i++)
        tokens += b->sequence[i].prompt.count;
    return tokens;
}

bool language_batch_check(const struct language_work *w, struct orch_error *error)
{
    const struct language_options *const o = &w->options;
    const char *const other = o->prompt_text && o->prompts ? "prompt-text"
                              : o->draft                   ? "draft"
                              : o->prompt_cache            ? "prompt-cache"
                              : o->prefill_unit            ? "prefill-unit"
                              : o->stops                   ? "stop"
                                                           : NULL;
    const char *const several = o->prompts ? "prompts" : o->batch ? "batch" : "input";
    if (!o->prompts && o->sequences && (!w->batch || w->batch->copies))
        return orch_fail(error, ORCH_USAGE,
                         ORCH_OPTION("sequences") " %u: how many of several prompts (" ORCH_OPTION(
                             "prompts") ") generate side by side; " ORCH_OPTION("batch") " %u takes one prompt so often",
                         o->sequences, o->sequences);
    if (!w->batch)
        return true;
    if (other)
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("%s") " and " ORCH_OPTION("%s") ": the latter is of one prompt", several,
                         other);
    return !w->model.shape.window ||
           orch_fail(error, ORCH_UNMODELLED, ORCH_OPTION("%s") ": sequences side by side have no window of keys; %s has", several,
                     w->model.name);
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
