/* Protocols: each answers requests of its paths; a new one is a file and its row in routes.c. */
#ifndef ORCHARD_SIM_SERVE_PROTOCOL_H
#define ORCHARD_SIM_SERVE_PROTOCOL_H

#include "sim/db/db.h"
#include "sim/serve/http.h"
#include "sim/serve/observed.h"
#include "sim/serve/served.h"

struct protocol_context {
    struct served *served;
    struct orch_db *db;        /* for the pages alone; NULL = none */
    struct observed *observed; /* what others record in the database, for the metrics; NULL = nothing */
    const struct chip_db *chips;
    bool aliases; /* metrics also under their older names */
    const char *version;
};

/* Who answers: the thread of connections at once (health, metadata, metrics), the thread that computes, or the one that makes
 * pages out of the database. Work and pages wait for their turn. */
enum protocol_lane { PROTOCOL_WORK, PROTOCOL_PAGES, PROTOCOL_LANES, PROTOCOL_AT_ONCE = PROTOCOL_LANES };
enum protocol_lane protocol_lane_of(const struct http_request *request);
/* Fills the reply; errors become replies in the form of the protocol. */
void protocol_answer(const struct protocol_context *context, const struct http_request *request, struct http_reply *reply);

/* ---- the protocols; each takes the rest of its path ---- */

void kserve_answer(const struct protocol_context *context, const struct http_request *request, const char *path,
                   struct http_reply *reply);
void completions_answer(const struct protocol_context *context, const struct http_request *request, struct http_reply *reply);
void embeddings_answer(const struct protocol_context *context, const struct http_request *request, struct http_reply *reply);
void metrics_answer(const struct protocol_context *context, struct http_reply *reply);
/* Whether a path is that of a page. */
bool pages_has(const char *path);
void pages_answer(const struct protocol_context *context, const struct http_request *request, struct http_reply *reply);

/* {"error": "text"}, KServe's form, for whoever has no other. */
void reply_error(struct http_reply *reply, unsigned status, const char *format, ...) __attribute__((format(printf, 3, 4)));
void reply_not_allowed(struct http_reply *reply, const char *allow);
void reply_json(struct http_reply *reply); /* status 200, JSON */

#endif
