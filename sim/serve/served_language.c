/* Generation: a language model goes on with a text, by the kernels of a unit; time and energy by shape. */
#define _GNU_SOURCE /* fopencookie */
#include "sim/serve/served_internal.h"

#include "sim/base/host_time.h"
#include "sim/base/json_read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What the run writes: the prompt first, then what is generated, and a newline at the end, which is not part of it. */
struct writing {
    struct served_generation *g;
    size_t skip;  /* bytes of the prompt that are still to come */
    bool newline; /* one is held back */
};

static ssize_t write_piece(void *cookie, const char *bytes, size_t size)
{
    struct writing *const w = cookie;
    const size_t skipped = size < w->skip ? size : w->skip;
    const char *at = bytes + skipped;
    size_t left = size - skipped;
    w->skip -= skipped;
    if (left && w->newline) {
        w->g->piece(w->g->context, "\n", 1);
        w->newline = false;
    }
    if (left && at[left - 1] == '\n') {
        w->newline = true;
        left--;
    }
    if (left)
        w->g->piece(w->g->context, at, left);
    return (ssize_t)size;
}

static FILE *open_writing(struct writing *w)
{
    return w->g->piece ? fopencookie(w, "w", (cookie_io_functions_t){.write = write_piece}) : NULL;
}

/* Bytes of the prompt as the run writes them. */
static bool prompt_length(const struct served_model *m, struct served_generation *g, size_t *bytes, struct orch_error *error)
{
    struct token_list tokens = {.count = 0};
    struct token_stream stream;
    struct token_text text = {.length = 0};
    bool ok = tokenizer_encode(m->tokens.tokenizer, g->prompt, strlen(g->prompt),
                               TOKENIZE_FRAME | (g->special ? TOKENIZE_SPECIAL : 0), &tokens, error);
    token_stream_start(&stream, m->tokens.tokenizer, true);
    for (size_t i = 0; ok && i < tokens.count; i++)
        ok = token_stream_add(&stream, tokens.token[i], &text, error);
    *bytes = text.length;
    g->prompt_tokens = (unsigned)tokens.count;
    token_list_free(&tokens);
    token_text_free(&text);
    return ok;
}

static bool take_text(struct served_generation *g, const char *json, size_t prompt_bytes, struct orch_error *error)
{
    json_object *const o = json ? json_tokener_parse(json) : NULL;
    const char *const text = json_peek_string(o, "text"), *const stop = json_peek_string(o, "stop");
    json_object *const tokens = json_peek(o, "tokens", json_type_array);
    const size_t length = text ? (size_t)json_object_get_string_len(json_peek_any(o, "text")) : 0;
    g->length = length > prompt_bytes ? length - prompt_bytes : 0;
    g->text = malloc(g->length + 1);
    if (g->text && g->length)
        memcpy(g->text, text + prompt_bytes, g->length);
    if (g->text)
        g->text[g->length] = 0;
    g->tokens = tokens ? (unsigned)json_object_array_length(tokens) : 0;
    g->ended = stop && strcmp(stop, "count") != 0;
    const char *const word = json_peek_string(o, "stop_word");
    for (unsigned i = 0; word && i < g->stops; i++)
        if (strcmp(word, g->stop[i]) == 0)
            g->stop_word = g->stop[i];
    json_object_put(o);
    return g->text || orch_no_memory(error);
}

static bool run(const struct run_request *q, struct run_result *r, struct orch_error *error)
{
    struct run *const work = run_prepare(q, error);
    const bool ok = work && run_execute(work, NULL, 1, r, error);
    run_free(work);
    return ok;
}

/* Values, by kernels; then times of so many tokens, from characteristics. */
static bool values(const struct served *s, const struct served_model *m, struct served_generation *g, size_t prompt_bytes,
                   struct orch_error *error)
{
    struct language_options options = {.prompt_text = g->prompt,
                                       .prompt_special = g->special,
                                       .generate = g->generate,
                                       .sampling = g->sampling,
                                       .stops = g->stops};
    struct writing w = {.g = g, .skip = prompt_bytes};
    struct run_request q = s->setup.run;
    struct run_result r;
    q.workload = m->entry.workload;
    q.unit = m->unit;
    q.precision = NULL;
    q.detail = NULL;
    q.known = NULL;
    q.mode = RUN_FUNCTIONAL;
    q.language = &options;
    q.seed = g->seed;
    q.program_output = open_writing(&w);
    memcpy(options.stop, g->stop, sizeof options.stop);
    run_result_init(&r);
    const bool ok = run(&q, &r, error) && take_text(g, r.generation, prompt_bytes, error);
    if (q.program_output)
        fclose(q.program_output);
    run_result_free(&r);
    return ok;
}

static bool times(const struct served *s, const struct served_model *m, struct served_generation *g, struct run_result *r,
                  struct orch_error *error)
{
    const struct language_options options = {.prompt = g->prompt_tokens, .generate = g->tokens ? g->tokens : 1};
    struct run_request q = s->setup.run;
    q.workload = m->entry.workload;
    q.unit = m->unit;
    q.precision = NULL;
    q.detail = "op";
    q.mode = RUN_TIMING;
    q.language = &options;
    return run(&q, r, error);
}

bool served_generate(struct served *s, struct served_model *m, struct served_generation *g, struct orch_error *error)
{
    const double began = host_seconds();
    struct run_result r;
    size_t prompt_bytes = 0;
    run_result_init(&r);
    const bool ok =
        prompt_length(m, g, &prompt_bytes, error) && values(s, m, g, prompt_bytes, error) && times(s, m, g, &r, error);
    if (ok) {
        g->cost = (struct served_cost){.seconds = r.seconds,
                                       .joules = r.joules,
                                       .prompt_seconds = r.prefill_seconds,
                                       .tokens_seconds = run_values_get(&r.counters, LANGUAGE_DECODE_SECONDS)};
        g->cost.celsius = served_machine_add(s, m->part, NULL, r.seconds, r.dram_bytes);
        served_add_counts(s, m,
                          &(struct served_counts){.samples = 1,
                                                  .prompt_tokens = g->prompt_tokens,
                                                  .tokens = g->tokens,
                                                  .seconds = r.seconds,
                                                  .joules = r.joules,
                                                  .prompt_seconds = g->cost.prompt_seconds,
                                                  .tokens_seconds = g->cost.tokens_seconds,
                                                  .host_s = host_seconds() - began});
    } else {
        served_count_failure(s, m);
    }
    run_result_free(&r);
    return ok;
}
