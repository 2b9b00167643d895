/* Completions as clients of llama.cpp and OpenAI know them: /v1/completions, /v1/chat/completions, /completion, all also as
 * streams of events; tokens and models. */
#include "sim/serve/completion.h"

#include "sim/language/utf8.h"
#include "sim/network/encoder/encoder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- completions ---- */

/* What all texts so far took. */
struct sums {
    struct served_cost cost;
    unsigned prompt_tokens, tokens;
};

static void add_up(struct sums *s, struct served_generation *g, bool first_of_prompt)
{
    s->cost = (struct served_cost){s->cost.seconds + g->cost.seconds, s->cost.joules + g->cost.joules,
                                   s->cost.prompt_seconds + g->cost.prompt_seconds,
                                   s->cost.tokens_seconds + g->cost.tokens_seconds, g->cost.celsius};
    s->prompt_tokens += first_of_prompt ? g->prompt_tokens : 0;
    s->tokens += g->tokens;
}

/* The texts of a request one after another; each of several has a seed of its own. */
static bool generate_all(struct completion *c, struct text *choices, struct orch_error *error)
{
    const unsigned texts = c->prompts * c->each;
    const uint64_t seed = c->g.seed;
    struct sums sums = {.tokens = 0};
    for (unsigned i = 0; i < texts; i++) {
        free(c->g.text);
        c->g.text = NULL;
        c->g.stop_word = NULL;
        c->g.prompt = c->prompt[i / c->each];
        c->g.seed = seed + i;
        c->index = i;
        c->pieces = 0;
        if (!served_generate(c->context->served, c->model, &c->g, error))
            return false;
        c->g.seed = seed;
        add_up(&sums, &c->g, i % c->each == 0);
        if (i + 1 == texts) {
            c->g.cost = sums.cost;
            c->g.prompt_tokens = sums.prompt_tokens;
            c->g.tokens = sums.tokens;
        }
        text_put(choices, i ? "," : "");
        completion_put_choice(choices, c, c->g.text);
        if (c->stream)
            completion_send_end(c, i + 1 == texts);
    }
    return true;
}

static void complete(struct completion *c, struct http_reply *reply)
{
    struct orch_error error = {0};
    struct text choices = {.data = NULL};
    if (!completion_read(c, &error)) {
        completion_fail(reply, http_status_of(&error), error.plain);
        return;
    }
    if (c->stream) {
        c->g.piece = completion_send_piece;
        c->g.context = c;
    }
    const bool ok = generate_all(c, &choices, &error);
    if (!ok && c->stream && http_stream_has_begun(c->request->stream)) {
        completion_send_error(c, &error);
    } else if (!ok) {
        completion_fail(reply, http_status_of(&error), error.plain);
    } else if (!c->stream) {
        reply_json(reply);
        completion_put_whole(&reply->body, c, choices.data ? choices.data : "");
        reply->body.failed |= choices.failed;
    }
    text_free(&choices);
}

/* ---- models ---- */

static void put_model(struct text *to, const struct served_model *m)
{
    const struct language_shape *const s = &m->tokens.shape;
    text_put(to, "{\"id\":");
    text_json(to, m->entry.name);
    if (m->vocabulary) {
        const struct encoder_limits most = encoder_limits_of(m->network);
        text_printf(
            to, ",\"object\":\"model\",\"created\":0,\"owned_by\":\"orchard\",\"meta\":{\"n_vocab\":%llu,\"n_ctx_train\":%llu}}",
            (unsigned long long)most.words, (unsigned long long)most.tokens);
        return;
    }
    text_printf(to,
                ",\"object\":\"model\",\"created\":0,\"owned_by\":\"orchard\",\"meta\":{\"n_vocab\":%u,\"n_ctx_train\":%u,"
                "\"n_embd\":%u}}",
                s->vocabulary, s->context, s->width);
}

/* All, or the one that is named. */
static void answer_models(const struct protocol_context *context, const char *name, struct http_reply *reply)
{
    bool any = false;
    reply_json(reply);
    text_put(&reply->body, *name ? "" : "{\"object\":\"list\",\"data\":[");
    for (size_t i = 0; i < served_count(context->served); i++) {
        const struct served_model *const m = served_at(context->served, i);
        if (!(m->language || m->vocabulary) || (*name && strcmp(m->entry.name, name) != 0))
            continue;
        text_put(&reply->body, any ? "," : "");
        put_model(&reply->body, m);
        any = true;
    }
    text_put(&reply->body, *name ? "" : "]}");
    if (*name && !any)
        completion_fail(reply, 404, "no language model of that name is served");
}

/* ---- tokens ---- */

static void tokenize(const struct protocol_context *context, const struct http_request *r, struct http_reply *reply)
{
    struct completion c = {.context = context, .request = r};
    struct token_list tokens = {.count = 0};
    struct orch_error error = {0};
    struct json_reader reader;
    bool ok = json_reader_open(&reader, "request", r->body, r->size, &error);
    if (ok) {
        const struct json_node top = json_top(&reader);
        const char *const text = json_get_string(&top, "content");
        const bool frame = json_find_boolean(&top, "add_special", false);
        size_t wrong;
        ok = json_ok(&top) && completion_find_model(&c, &top) &&
             (utf8_is_valid(text, strlen(text), &wrong) || json_wrong(&top, "content", "is no UTF-8")) &&
             tokenizer_encode(c.model->tokens.tokenizer, text, strlen(text), frame ? TOKENIZE_FRAME : 0, &tokens, &error);
        ok = json_reader_close(&reader) && ok;
    }
    if (!ok) {
        completion_fail(reply, http_status_of(&error), error.plain);
    } else {
        reply_json(reply);
        text_put(&reply->body, "{\"tokens\":[");
        for (size_t i = 0; i < tokens.count; i++)
            text_printf(&reply->body, "%s%u", i ? "," : "", tokens.token[i]);
        text_put(&reply->body, "]}");
    }
    token_list_free(&tokens);
}

/* Texts of tokens. */
static void detokenize(const struct protocol_context *context, const struct http_request *r, struct http_reply *reply)
{
    struct completion c = {.context = context, .request = r};
    struct token_list tokens = {.count = 0};
    struct token_text text = {.length = 0};
    struct orch_error error = {0};
    struct json_reader reader;
    struct json_node item;
    bool ok = json_reader_open(&reader, "request", r->body, r->size, &error);
    if (ok) {
        const struct json_node top = json_top(&reader), list = json_get_array(&top, "tokens", 0, JSON_BYTES_MAX);
        ok = json_ok(&top) && completion_find_model(&c, &top);
        for (struct json_walk walk = {.of = &list}; ok && json_next(&walk, &item);) {
            const uint64_t most = tokenizer_count(c.model->tokens.tokenizer) - 1;
            const uint32_t token = (uint32_t)json_get_integer(&item, NULL, 0, most);
            ok = json_ok(&top) && token_list_add(&tokens, token, &error);
        }
        ok = ok && json_ok(&top) && tokenizer_decode(c.model->tokens.tokenizer, tokens.token, tokens.count, false, &text, &error);
        ok = json_reader_close(&reader) && ok;
    }
    char *const copy = ok ? strndup(text.text ? text.text : "", text.length) : NULL;
    if (copy) {
        reply_json(reply);
        text_put(&reply->body, "{\"content\":");
        text_json(&reply->body, copy);
        text_put(&reply->body, "}");
    } else {
        completion_fail(reply, ok ? 500 : http_status_of(&error), ok ? "memory is out" : error.plain);
    }
    free(copy);
    token_list_free(&tokens);
    token_text_free(&text);
}

/* ---- paths ---- */

static enum completion_form form_of(const char *path)
{
    return strstr(path, "/chat/") ? COMPLETION_CHAT : strcmp(path, "/v1/completions") == 0 ? COMPLETION_OPENAI : COMPLETION_OWN;
}

static void answer_get(const struct protocol_context *context, const char *path, struct http_reply *reply)
{
    const char *const models = strstr(path, "/models");
    if (models) {
        answer_models(context, models[7] ? models + 8 : "", reply);
    } else if (strstr(path, "health")) {
        reply_json(reply);
        text_put(&reply->body, "{\"status\":\"ok\"}");
    } else if (strcmp(path, "/props") == 0) {
        reply_json(reply);
        text_printf(&reply->body, "{\"total_slots\":1,\"chip\":\"%s\"}", chip_id(served_setup(context->served)->run.chip));
    } else {
        completion_fail(reply, 404,
                        "no such path; served are /v1/completions, /v1/chat/completions, /v1/embeddings and /v1/models");
    }
}

void completions_answer(const struct protocol_context *context, const struct http_request *r, struct http_reply *reply)
{
    const bool completes = strstr(r->path, "completion") != NULL, tokens = strstr(r->path, "tokenize") != NULL;
    const bool posts = completes || tokens, post = strcmp(r->method, "POST") == 0;
    const bool known = posts || strstr(r->path, "/models") || strstr(r->path, "health") || strcmp(r->path, "/props") == 0;
    if (known && post != posts) {
        completion_fail(reply, 405, posts ? "this path takes POST" : "this path takes GET");
        snprintf(reply->allow, sizeof reply->allow, "%s", posts ? "POST" : "GET");
    } else if (!posts) {
        answer_get(context, r->path, reply);
    } else if (tokens) {
        (strcmp(r->path, "/tokenize") == 0 ? tokenize : detokenize)(context, r, reply);
    } else {
        struct completion c = {.context = context, .request = r, .form = form_of(r->path), .created = time(NULL)};
        complete(&c, reply);
        completion_free(&c);
    }
}
