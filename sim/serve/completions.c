/* Text completion as clients of llama.cpp and OpenAI know it: /v1/completions, /completion, both also as a stream of events. */
#include "sim/serve/protocol.h"

#include "sim/base/json_read.h"
#include "sim/language/utf8.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TOKENS_USUALLY = 128, TOKENS_MOST = 8192 };

struct completion {
    const struct protocol_context *context;
    const struct http_request *request;
    struct served_model *model;
    struct served_generation g;
    char *prompt, *words[LANGUAGE_STOPS];
    bool openai, stream, usage;
    int64_t created;
    unsigned index; /* of the next event */
};

/* {"error": {"code", "message", "type"}}: this protocol's form. */
static void put_error(struct text *to, unsigned status, const char *message)
{
    text_printf(to, "{\"error\":{\"code\":%u,\"message\":", status);
    text_json(to, message);
    text_printf(to, ",\"type\":\"%s\"}}",
                status == 404                   ? "not_found_error"
                : status >= 400 && status < 500 ? "invalid_request_error"
                : status == 501                 ? "not_supported_error"
                                                : "server_error");
}

static void fail(struct http_reply *reply, unsigned status, const char *message)
{
    text_free(&reply->body);
    reply_json(reply);
    reply->status = status;
    put_error(&reply->body, status, message);
}

/* ---- the request ---- */

static bool find_model(struct completion *c, const struct json_node *top)
{
    const char *const name = json_find_string(top, "model", NULL);
    struct served *const served = c->context->served;
    if (name)
        c->model = served_find(served, name);
    /* Clients often send a name of their own; with one language model it is that one. */
    unsigned languages = 0;
    for (size_t i = 0; !c->model && i < served_count(served); i++)
        if (served_at(served, i)->language && ++languages == 1)
            c->model = served_at(served, i);
    if (languages > 1)
        c->model = NULL;
    if (!c->model)
        return json_wrong(top, "model", "no language model '%.80s' is served", name ? name : "");
    return c->model->language || json_wrong(top, "model", "'%.80s' is no language model: POST /v2/models/NAME/infer", name);
}

static bool read_prompt(struct completion *c, const struct json_node *top)
{
    size_t wrong;
    struct json_node prompt = json_member(top, "prompt"), first;
    if (json_object_is_type(prompt.value, json_type_array)) {
        struct json_walk walk = {.of = &prompt};
        if (json_count(&prompt) == 1 && json_next(&walk, &first) && json_object_is_type(first.value, json_type_string))
            c->prompt = strdup(json_get_string(&first, NULL));
    } else {
        c->prompt = strdup(prompt.present ? json_get_string(top, "prompt") : "");
    }
    if (!json_ok(top))
        return false;
    if (!c->prompt)
        return json_wrong(top, "prompt", "is one text; lists of tokens and of several prompts are not served");
    c->g.prompt = c->prompt;
    return utf8_is_valid(c->prompt, strlen(c->prompt), &wrong) || json_wrong(top, "prompt", "is no UTF-8 at byte %zu", wrong);
}

static uint64_t count_of(const struct json_node *top, const char *name, uint64_t absent)
{
    /* llama.cpp's -1 is as many as fit. */
    const double number = json_find_number(top, name, -1, 1e9, (double)absent);
    return number < 0 ? TOKENS_USUALLY : (uint64_t)number;
}

static bool read_sampling(struct completion *c, const struct json_node *top)
{
    struct sampler_params *const s = &c->g.sampling;
    /* Greedy by default, as everywhere here; llama.cpp's own default is a temperature of 0.8. */
    s->temperature = json_find_number(top, "temperature", 0, 100, 0);
    s->top_k = (uint32_t)json_find_integer(top, "top_k", 0, UINT32_MAX, 0);
    s->top_p = json_find_number(top, "top_p", 0, 1, 1);
    s->min_p = json_find_number(top, "min_p", 0, 1, 0);
    s->repetition_penalty = json_find_number(top, "repeat_penalty", 0.01, 100, 1);
    s->repetition_last = (uint32_t)json_find_integer(top, "repeat_last_n", 0, 65536, 64);
    const double seed = json_find_number(top, "seed", -1, 0x1p53, -1);
    c->g.seed = seed < 0 ? served_setup(c->context->served)->run.seed : (uint64_t)seed;
    return json_ok(top);
}

static bool refuse_others(const struct json_node *top)
{
    static const char *const names[] = {"suffix", "grammar", "json_schema", "logprobs", "n_probs", "images", "image_data"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct json_node node = json_member(top, names[i]);
        if (node.value && !(json_object_is_type(node.value, json_type_int) && json_object_get_int64(node.value) == 0) &&
            !(json_object_is_type(node.value, json_type_string) && json_object_get_string_len(node.value) == 0))
            return json_wrong(top, names[i], "is not served");
    }
    if (json_find_number(top, "n", 1, 1e9, 1) != 1)
        return json_wrong(top, "n", "one text at a time is served");
    return true;
}

static bool add_stop(struct completion *c, const struct json_node *top, json_object *value)
{
    if (!json_object_is_type(value, json_type_string) || json_object_get_string_len(value) == 0)
        return json_wrong(top, "stop", "is a text or a list of texts, none of them empty");
    if (c->g.stops == LANGUAGE_STOPS)
        return json_wrong(top, "stop", "has at most %d texts", (int)LANGUAGE_STOPS);
    c->words[c->g.stops] = strdup(json_object_get_string(value));
    c->g.stop[c->g.stops] = c->words[c->g.stops];
    return c->words[c->g.stops++] || json_wrong(top, "stop", "memory is out");
}

static bool read_stop(struct completion *c, const struct json_node *top)
{
    const struct json_node stop = json_member(top, "stop");
    if (!stop.value)
        return true;
    if (!json_object_is_type(stop.value, json_type_array))
        return add_stop(c, top, stop.value);
    bool ok = true;
    for (size_t i = 0; ok && i < json_object_array_length(stop.value); i++)
        ok = add_stop(c, top, json_object_array_get_idx(stop.value, i));
    return ok;
}

static bool read_request(struct completion *c, struct orch_error *error)
{
    struct json_reader reader;
    if (!json_reader_open(&reader, "request", c->request->body, c->request->size, error))
        return false;
    reader.null_is_absent = true;
    const struct json_node top = json_top(&reader);
    const uint64_t asked = count_of(&top, "n_predict", TOKENS_USUALLY), predict = count_of(&top, "max_tokens", asked);
    const uint64_t tokens = count_of(&top, "max_completion_tokens", predict);
    const struct json_node stream = json_find_object(&top, "stream_options");
    c->stream = json_find_boolean(&top, "stream", false) && c->request->stream;
    c->usage = json_find_boolean(&stream, "include_usage", false);
    c->g.generate = (unsigned)tokens;
    if (json_ok(&top) && (tokens < 1 || tokens > TOKENS_MOST))
        json_wrong(&top, "max_tokens", "is 1 to %d", TOKENS_MOST);
    const bool ok = json_ok(&top) && refuse_others(&top) && read_stop(c, &top) && find_model(c, &top) && read_prompt(c, &top) &&
                    read_sampling(c, &top);
    return json_reader_close(&reader) && ok;
}

/* ---- the reply ---- */

static void put_timings(struct text *to, const struct completion *c)
{
    const struct served_generation *const g = &c->g;
    const struct served_cost *const cost = &g->cost;
    const unsigned after = g->tokens > 1 ? g->tokens - 1 : g->tokens;
    text_printf(to, "\"timings\":{\"cache_n\":0,\"prompt_n\":%u", g->prompt_tokens);
    const struct {
        const char *name;
        double value;
    } rows[] = {{"prompt_ms", 1e3 * cost->prompt_seconds},
                {"prompt_per_token_ms", 1e3 * cost->prompt_seconds / fmax(g->prompt_tokens, 1)},
                {"prompt_per_second", g->prompt_tokens / fmax(cost->prompt_seconds, 1e-300)},
                {"predicted_n", after},
                {"predicted_ms", 1e3 * cost->tokens_seconds},
                {"predicted_per_token_ms", 1e3 * cost->tokens_seconds / fmax(after, 1)},
                {"predicted_per_second", after / fmax(cost->tokens_seconds, 1e-300)}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        text_printf(to, ",\"%s\":", rows[i].name);
        text_json_number(to, rows[i].value);
    }
    text_printf(to, "},\"simulated\":{\"chip\":\"%s\",\"unit\":\"%s\",\"seconds\":",
                chip_id(served_setup(c->context->served)->run.chip), c->model->unit);
    text_json_number(to, cost->seconds);
    text_put(to, ",\"joules\":");
    text_json_number(to, cost->joules);
    text_put(to, ",\"joules_per_token\":");
    text_json_number(to, cost->joules / fmax(g->tokens, 1));
    text_put(to, ",\"celsius\":");
    text_json_number(to, cost->celsius);
    text_put(to, "}");
}

static void put_usage(struct text *to, const struct served_generation *g)
{
    text_printf(to, "\"usage\":{\"prompt_tokens\":%u,\"completion_tokens\":%u,\"total_tokens\":%u}", g->prompt_tokens, g->tokens,
                g->prompt_tokens + g->tokens);
}

static void put_head(struct text *to, const struct completion *c)
{
    text_printf(to, "{\"id\":\"cmpl-%" PRIx64 "\",\"object\":\"text_completion\",\"created\":%" PRId64 ",\"model\":",
                (uint64_t)c->created ^ c->g.seed, c->created);
    text_json(to, c->model->entry.name);
    text_put(to, ",\"system_fingerprint\":");
    text_json(to, c->context->version);
}

/* The whole, or the last event of a stream, whose text was sent before. */
static void put_whole(struct text *to, const struct completion *c, const char *text)
{
    const struct served_generation *const g = &c->g;
    if (c->openai) {
        put_head(to, c);
        text_put(to, ",\"choices\":[{\"text\":");
        text_json(to, text);
        text_printf(to, ",\"index\":0,\"logprobs\":null,\"finish_reason\":\"%s\"}],", g->ended ? "stop" : "length");
        if (!c->stream || c->usage) {
            put_usage(to, g);
            text_put(to, ",");
        }
    } else {
        text_put(to, "{\"index\":0,\"content\":");
        text_json(to, text);
        text_printf(to, ",\"tokens\":[],\"stop\":true,\"stop_type\":\"%s\",\"stopping_word\":",
                    g->stop_word ? "word"
                    : g->ended   ? "eos"
                                 : "limit");
        text_json(to, g->stop_word ? g->stop_word : "");
        text_put(to, ",\"truncated\":false,\"model\":");
        text_json(to, c->model->entry.name);
        text_put(to, ",\"prompt\":");
        text_json(to, g->prompt);
        text_printf(
            to, ",\"tokens_predicted\":%u,\"tokens_evaluated\":%u,\"tokens_cached\":%u,\"has_new_line\":%s,\"id_slot\":0,",
            g->tokens, g->prompt_tokens, g->prompt_tokens + g->tokens, g->text && strchr(g->text, '\n') ? "true" : "false");
    }
    put_timings(to, c);
    text_put(to, "}");
}

static void send_event(const struct completion *c, const struct text *event)
{
    if (event->data && !event->failed)
        http_stream_add(c->request->stream, event->data, event->size);
}

static void send_piece(void *context, const char *bytes, size_t size)
{
    struct completion *const c = context;
    struct text event = {.data = NULL};
    char *const piece = strndup(bytes, size);
    text_put(&event, "data: ");
    if (c->openai) {
        put_head(&event, c);
        text_put(&event, ",\"choices\":[{\"text\":");
        text_json(&event, piece ? piece : "");
        text_put(&event, ",\"index\":0,\"logprobs\":null,\"finish_reason\":null}]}");
    } else {
        text_put(&event, "{\"index\":0,\"content\":");
        text_json(&event, piece ? piece : "");
        text_put(&event, ",\"tokens\":[],\"stop\":false}");
    }
    text_put(&event, "\n\n");
    send_event(c, &event);
    free(piece);
    text_free(&event);
}

static void send_end(const struct completion *c, const struct orch_error *error)
{
    struct text event = {.data = NULL};
    text_put(&event, error ? "error: " : "data: ");
    if (error)
        put_error(&event, http_status_of(error), error->plain);
    else
        put_whole(&event, c, "");
    text_put(&event, c->openai && !error ? "\n\ndata: [DONE]\n\n" : "\n\n");
    send_event(c, &event);
    text_free(&event);
}

static void complete(struct completion *c, struct http_reply *reply)
{
    struct orch_error error = {0};
    if (!read_request(c, &error)) {
        fail(reply, http_status_of(&error), error.plain);
        return;
    }
    if (c->stream) {
        c->g.piece = send_piece;
        c->g.context = c;
    }
    const bool ok = served_generate(c->context->served, c->model, &c->g, &error);
    if (c->stream && (ok || http_stream_has_begun(c->request->stream)))
        send_end(c, ok ? NULL : &error);
    else if (!ok)
        fail(reply, http_status_of(&error), error.plain);
    else {
        reply_json(reply);
        put_whole(&reply->body, c, c->g.text);
    }
}

/* ---- the others ---- */

static void answer_models(const struct protocol_context *context, struct http_reply *reply)
{
    bool any = false;
    reply_json(reply);
    text_put(&reply->body, "{\"object\":\"list\",\"data\":[");
    for (size_t i = 0; i < served_count(context->served); i++) {
        const struct served_model *const m = served_at(context->served, i);
        if (!m->language)
            continue;
        const struct language_shape *const s = &m->tokens.shape;
        text_put(&reply->body, any ? ",{\"id\":" : "{\"id\":");
        text_json(&reply->body, m->entry.name);
        text_printf(&reply->body,
                    ",\"object\":\"model\",\"created\":0,\"owned_by\":\"orchard\",\"meta\":{\"n_vocab\":%u,\"n_ctx_train\":%u,"
                    "\"n_embd\":%u}}",
                    s->vocabulary, s->context, s->width);
        any = true;
    }
    text_put(&reply->body, "]}");
}

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
        ok = json_ok(&top) && find_model(&c, &top) &&
             (utf8_is_valid(text, strlen(text), &wrong) || json_wrong(&top, "content", "is no UTF-8")) &&
             tokenizer_encode(c.model->tokens.tokenizer, text, strlen(text), frame ? TOKENIZE_FRAME : 0, &tokens, &error);
        ok = json_reader_close(&reader) && ok;
    }
    if (!ok) {
        fail(reply, http_status_of(&error), error.plain);
    } else {
        reply_json(reply);
        text_put(&reply->body, "{\"tokens\":[");
        for (size_t i = 0; i < tokens.count; i++)
            text_printf(&reply->body, "%s%u", i ? "," : "", tokens.token[i]);
        text_put(&reply->body, "]}");
    }
    token_list_free(&tokens);
}

void completions_answer(const struct protocol_context *context, const struct http_request *r, struct http_reply *reply)
{
    const bool posts = strstr(r->path, "completion") || strcmp(r->path, "/tokenize") == 0;
    const bool post = strcmp(r->method, "POST") == 0;
    if (post != posts) {
        fail(reply, 405, posts ? "this path takes POST" : "this path takes GET");
        snprintf(reply->allow, sizeof reply->allow, "%s", posts ? "POST" : "GET");
    } else if (strstr(r->path, "health")) {
        reply_json(reply);
        text_put(&reply->body, "{\"status\":\"ok\"}");
    } else if (strcmp(r->path, "/tokenize") == 0) {
        tokenize(context, r, reply);
    } else if (!posts && strcmp(r->path, "/props") != 0) {
        answer_models(context, reply);
    } else if (!posts) {
        reply_json(reply);
        text_printf(&reply->body, "{\"total_slots\":1,\"chip\":\"%s\"}", chip_id(served_setup(context->served)->run.chip));
    } else {
        struct completion c = {
            .context = context, .request = r, .openai = strcmp(r->path, "/v1/completions") == 0, .created = time(NULL)};
        complete(&c, reply);
        free(c.prompt);
        for (unsigned i = 0; i < LANGUAGE_STOPS; i++)
            free(c.words[i]);
        free(c.g.text);
    }
}
