/* Requests and replies as protocols see them, whatever carries them. */
#ifndef ORCHARD_SIM_SERVE_HTTP_H
#define ORCHARD_SIM_SERVE_HTTP_H

#include "reports/text.h"
#include "sim/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct http_stream;

struct http_request {
    const char *method, *path;                                    /* the path without its query, decoded; it never names a file */
    const char *(*header)(const void *carrier, const char *name); /* NULL = absent */
    const char *(*query)(const void *carrier, const char *name);
    const void *carrier;
    const char *body; /* a NUL stands behind it */
    size_t size;
    struct http_stream *stream; /* for replies that come piece by piece; NULL = it cannot */
};

struct http_reply {
    unsigned status;
    const char *type; /* NULL = no body to speak of */
    struct text body;
    char json_bytes[24]; /* KServe: Inference-Header-Content-Length; "" = none */
    char allow[16];      /* of 405 */
};

/* A reply that grows while somebody reads it: a producer adds, the carrier takes. All functions may be called by any thread. */
/* `begin` is called once, before the first bytes are there: until then the reply may still be another one. */
struct http_stream *http_stream_create(void (*begin)(void *carrier), void (*wake)(void *carrier), void *carrier);
/* Two hold it, the producer and the carrier; the last one to let go frees it. */
void http_stream_release(struct http_stream *stream);
/* Producer: false when nobody reads any more. */
bool http_stream_add(struct http_stream *stream, const char *bytes, size_t size);
void http_stream_end(struct http_stream *stream);
bool http_stream_has_begun(struct http_stream *stream);
/* Carrier: takes up to `most` bytes. 0 = nothing is there yet, and the next addition wakes it, by a call of `sleep` before
 * returning, under the stream's lock; -1 = the end. */
long http_stream_take(struct http_stream *stream, char *to, size_t most, void (*sleep)(void *carrier));
/* Carrier: nobody reads any more. */
void http_stream_die(struct http_stream *stream);

/* The status that stands for an error of the library. */
unsigned http_status_of(const struct orch_error *error);
void http_reply_free(struct http_reply *reply);

#endif
