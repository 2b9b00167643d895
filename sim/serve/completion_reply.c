/* Replies of completions, whole and as events. */
#include "sim/serve/completion.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

void completion_fail(struct http_reply *reply, unsigned status, const char *message)
{
    text_free(&reply->body);
    reply_json(reply);
    reply->status = status;
    put_error(&reply->body, status, message);
}

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
    const bool chat = c->form == COMPLETION_CHAT;
    text_printf(to, "{\"id\":\"%s-%" PRIx64 "\",\"object\":\"%s\",\"created\":%" PRId64 ",\"model\":", chat ? "chatcmpl" : "cmpl",
                (uint64_t)c->created ^ c->g.seed,
                !chat       ? "text_completion"
                : c->stream ? "chat.completion.chunk"
                            : "chat.completion",
                c->created);
    text_json(to, c->model->entry.name);
    text_put(to, ",\"system_fingerprint\":");
    text_json(to, c->context->version);
}

/* The text of a choice, or a piece of it. */
static void put_text(struct text *to, const struct completion *c, const char *before, const char *text, const char *ended)
{
    text_printf(to, "{\"index\":%u,", c->index);
    if (c->form != COMPLETION_CHAT) {
        struct text all = {.data = NULL};
        text_put(&all, before);
        text_put(&all, text);
        text_put(to, "\"text\":");
        text_json(to, all.data ? all.data : "");
        text_free(&all);
    } else {
        text_printf(to, "\"%s\":{", c->stream ? "delta" : "message");
        if (!c->stream || !c->pieces)
            text_put(to, *text || !ended ? "\"role\":\"assistant\"," : "\"role\":\"assistant\"");
        if (*text || !ended || !c->stream) {
            text_put(to, "\"content\":");
            text_json(to, text);
        }
        text_put(to, "}");
    }
    text_put(to, ",\"logprobs\":null,\"finish_reason\":");
    text_json(to, ended);
    text_put(to, "}");
}

void completion_put_choice(struct text *to, const struct completion *c, const char *text)
{
    put_text(to, c, c->echo ? c->g.prompt : "", text, c->g.ended ? "stop" : "length");
}

/* llama.cpp's own form, which has one text. */
static void put_own(struct text *to, const struct completion *c, const char *text)
{
    const struct served_generation *const g = &c->g;
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
    text_printf(to, ",\"tokens_predicted\":%u,\"tokens_evaluated\":%u,\"tokens_cached\":%u,\"has_new_line\":%s,\"id_slot\":0,",
                g->tokens, g->prompt_tokens, g->prompt_tokens + g->tokens, g->text && strchr(g->text, '\n') ? "true" : "false");
}

/* The whole; of a stream the last event, whose texts were sent before. */
void completion_put_whole(struct text *to, const struct completion *c, const char *choices)
{
    if (c->form == COMPLETION_OWN) {
        put_own(to, c, c->stream ? "" : c->g.text);
    } else {
        put_head(to, c);
        text_printf(to, ",\"choices\":[%s],", choices);
        if (!c->stream || c->usage) {
            put_usage(to, &c->g);
            text_put(to, ",");
        }
    }
    put_timings(to, c);
    text_put(to, "}");
}

/* ---- events ---- */

static void send_event(const struct completion *c, const struct text *event)
{
    if (event->data && !event->failed)
        http_stream_add(c->request->stream, event->data, event->size);
}

void completion_send_piece(void *context, const char *bytes, size_t size)
{
    struct completion *const c = context;
    struct text event = {.data = NULL};
    char *const piece = strndup(bytes, size);
    text_put(&event, "data: ");
    if (c->form == COMPLETION_OWN) {
        text_put(&event, "{\"index\":0,\"content\":");
        text_json(&event, piece ? piece : "");
        text_put(&event, ",\"tokens\":[],\"stop\":false}");
    } else {
        put_head(&event, c);
        text_put(&event, ",\"choices\":[");
        put_text(&event, c, c->echo && !c->pieces ? c->g.prompt : "", piece ? piece : "", NULL);
        text_put(&event, "]}");
    }
    c->pieces++;
    text_put(&event, "\n\n");
    send_event(c, &event);
    free(piece);
    text_free(&event);
}

/* Of the last text come with it what all took, and OpenAI's end. */
void completion_send_end(struct completion *c, bool last)
{
    struct text event = {.data = NULL}, choice = {.data = NULL};
    put_text(&choice, c, c->echo && !c->pieces ? c->g.prompt : "", "", c->g.ended ? "stop" : "length");
    const char *const text = choice.data ? choice.data : "";
    text_put(&event, "data: ");
    if (last) {
        completion_put_whole(&event, c, text);
    } else {
        put_head(&event, c);
        text_printf(&event, ",\"choices\":[%s]}", text);
    }
    text_put(&event, last && c->form != COMPLETION_OWN ? "\n\ndata: [DONE]\n\n" : "\n\n");
    send_event(c, &event);
    text_free(&choice);
    text_free(&event);
}

void completion_send_error(const struct completion *c, const struct orch_error *error)
{
    struct text event = {.data = NULL};
    text_put(&event, "error: ");
    put_error(&event, http_status_of(error), error->plain);
    text_put(&event, "\n\n");
    send_event(c, &event);
    text_free(&event);
}
