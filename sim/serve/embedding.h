/* A request for embeddings of texts, as clients of OpenAI and llama.cpp send it. */
#ifndef ORCHARD_SIM_SERVE_EMBEDDING_H
#define ORCHARD_SIM_SERVE_EMBEDDING_H

#include "sim/base/json_read.h"
#include "sim/serve/protocol.h"

enum { EMBEDDING_TEXTS = 256 }; /* of a request, at most */

struct embedding_request {
    const struct protocol_context *context;
    struct served_model *model;
    struct token_list *text; /* of each text */
    size_t texts;
    bool own;    /* llama.cpp's own form */
    bool base64; /* numbers as bytes of float32, lowest first */
    bool as_is;  /* not divided by their length */
};

/* False with an error that names the field. The caller frees in any case. */
bool embedding_read(struct embedding_request *e, const char *body, size_t size, struct orch_error *error);
void embedding_free(struct embedding_request *e);

#endif
