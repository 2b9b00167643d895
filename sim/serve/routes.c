#include "sim/serve/protocol.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void reply_json(struct http_reply *reply)
{
    reply->status = 200;
    reply->type = "application/json";
}

void reply_error(struct http_reply *reply, unsigned status, const char *format, ...)
{
    char text[700];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    text_free(&reply->body);
    reply_json(reply);
    reply->status = status;
    reply->json_bytes[0] = 0;
    text_put(&reply->body, "{\"error\":");
    text_json(&reply->body, text);
    text_put(&reply->body, "}");
}

void reply_not_allowed(struct http_reply *reply, const char *allow)
{
    reply_error(reply, 405, "this path takes %s", allow);
    snprintf(reply->allow, sizeof reply->allow, "%s", allow);
}

static bool ends(const char *path, const char *end)
{
    const size_t n = strlen(path), m = strlen(end);
    return n >= m && strcmp(path + n - m, end) == 0;
}

static bool is_completion(const char *path)
{
    return strcmp(path, "/v1/completions") == 0 || strcmp(path, "/completion") == 0 || strcmp(path, "/completions") == 0 ||
           strcmp(path, "/v1/chat/completions") == 0 || strcmp(path, "/chat/completions") == 0;
}

static bool is_embedding(const char *path)
{
    return strcmp(path, "/v1/embeddings") == 0 || strcmp(path, "/embedding") == 0 || strcmp(path, "/embeddings") == 0;
}

static bool is_get(const struct http_request *r)
{
    return strcmp(r->method, "GET") == 0 || strcmp(r->method, "HEAD") == 0;
}

static bool is_work(const struct http_request *r)
{
    return strcmp(r->method, "POST") == 0 && (is_completion(r->path) || is_embedding(r->path) ||
                                              (strncmp(r->path, "/v2/models/", 11) == 0 && ends(r->path, "/infer")));
}

enum protocol_lane protocol_lane_of(const struct http_request *r)
{
    return is_work(r) ? PROTOCOL_WORK : is_get(r) && pages_has(r->path) ? PROTOCOL_PAGES : PROTOCOL_AT_ONCE;
}

void protocol_answer(const struct protocol_context *c, const struct http_request *r, struct http_reply *reply)
{
    static const char *const of_completions[] = {"/health", "/v1/health", "/models", "/props", "/tokenize", "/detokenize"};
    bool completions = is_completion(r->path) || strncmp(r->path, "/v1/", 4) == 0;
    for (size_t i = 0; i < sizeof of_completions / sizeof *of_completions; i++)
        completions |= strcmp(r->path, of_completions[i]) == 0;
    if (strcmp(r->path, "/v2") == 0 || strncmp(r->path, "/v2/", 4) == 0)
        kserve_answer(c, r, r->path + 3, reply);
    else if (is_embedding(r->path))
        embeddings_answer(c, r, reply);
    else if (completions)
        completions_answer(c, r, reply);
    else if (strcmp(r->path, "/metrics") == 0)
        is_get(r) ? metrics_answer(c, reply) : reply_not_allowed(reply, "GET");
    else
        pages_answer(c, r, reply);
    if (reply->body.failed)
        reply_error(reply, 500, "out of memory");
}
