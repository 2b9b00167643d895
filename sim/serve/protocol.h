/* Protocols: each answers requests of its paths; a new one is a file and its row in routes.c. */
#ifndef ORCHARD_SIM_SERVE_PROTOCOL_H
#define ORCHARD_SIM_SERVE_PROTOCOL_H

#include "sim/db/db.h"
#include "sim/serve/http.h"
#include "sim/serve/served.h"

struct protocol_context {
    struct served *served;
    struct orch_db *db; /* runs, for the pages; NULL = none */
    const struct chip_db *chips;
    bool aliases; /* metrics also under their older names */
    const char *version;
};

/* Whether answering computes something: such requests wait for their turn, others are answered at once. */
bool protocol_is_work(const struct http_request *request);
/* Fills the reply; errors become replies in the form of the protocol. */
void protocol_answer(const struct protocol_context *context, const struct http_request *request, struct http_reply *reply);

/* ---- the protocols; each takes the rest of its path ---- */

void kserve_answer(const struct protocol_context *context, const struct http_request *request, const char *path,
                   struct http_reply *reply);
void completions_answer(const struct protocol_context *context, const struct http_request *request, struct http_reply *reply);
void metrics_answer(const struct protocol_context *context, struct http_reply *reply);
void pages_answer(const struct protocol_context *context, const struct http_request *request, struct http_reply *reply);

/* {"error": "text"}, KServe's form, for whoever has no other. */
void reply_error(struct http_reply *reply, unsigned status, const char *format, ...) __attribute__((format(printf, 3, 4)));
void reply_not_allowed(struct http_reply *reply, const char *allow);
void reply_json(struct http_reply *reply); /* status 200, JSON */

#endif
