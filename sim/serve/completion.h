/* A request for a completion of a text or of a conversation, and what its replies are made of. */
#ifndef ORCHARD_SIM_SERVE_COMPLETION_H
#define ORCHARD_SIM_SERVE_COMPLETION_H

#include "sim/base/json_read.h"
#include "sim/serve/protocol.h"

enum { COMPLETION_TEXTS = 16 }; /* of a request, at most: prompts times n */

/* llama.cpp's own form, OpenAI's of texts, OpenAI's of conversations. */
enum completion_form { COMPLETION_OWN, COMPLETION_OPENAI, COMPLETION_CHAT };

struct completion {
    const struct protocol_context *context;
    const struct http_request *request;
    enum completion_form form;
    struct served_model *model;
    struct served_generation g; /* the one in work; at the end the sums of all */
    char *prompt[COMPLETION_TEXTS], *words[LANGUAGE_STOPS];
    unsigned prompts, each; /* each: texts that go on with a prompt */
    bool stream, usage, echo;
    int64_t created;
    unsigned index, pieces; /* of the text in work; pieces of it that were sent */
};

/* ---- completion_request.c ---- */

bool completion_read(struct completion *c, struct orch_error *error);
/* The language model that a request names, or the only one. */
bool completion_find_model(struct completion *c, const struct json_node *top);
void completion_free(struct completion *c);

/* ---- completion_reply.c ---- */

/* {"error": {"code", "message", "type"}}: this protocol's form. */
void completion_fail(struct http_reply *reply, unsigned status, const char *message);
/* Adds a text, as it stands among the choices of a whole reply. */
void completion_put_choice(struct text *to, const struct completion *c, const char *text);
/* The whole reply around its choices. */
void completion_put_whole(struct text *to, const struct completion *c, const char *choices);
/* Events: a piece of a text, the end of a text, the end of all. */
void completion_send_piece(void *context, const char *bytes, size_t size);
void completion_send_end(struct completion *c, bool last);
void completion_send_error(const struct completion *c, const struct orch_error *error);

#endif
