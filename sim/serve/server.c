#include "sim/serve/server_internal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* ---- a connection's request ---- */

static const char *header_of(const void *carrier, const char *name)
{
    const struct exchange *const e = carrier;
    return MHD_lookup_connection_value(e->connection, MHD_HEADER_KIND, name);
}

static const char *query_of(const void *carrier, const char *name)
{
    const struct exchange *const e = carrier;
    return MHD_lookup_connection_value(e->connection, MHD_GET_ARGUMENT_KIND, name);
}

static struct exchange *begin_exchange(struct server *s, struct MHD_Connection *connection, const char *method, const char *path)
{
    struct exchange *const e = calloc(1, sizeof *e);
    if (!e)
        return NULL;
    e->server = s;
    e->connection = connection;
    snprintf(e->method, sizeof e->method, "%.15s", method);
    e->path = strdup(path);
    const char *const length = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Content-Length");
    e->too_large = length && strtoull(length, NULL, 10) > s->setup.body_bytes;
    return e;
}

static void free_exchange(struct exchange *e)
{
    if (!e)
        return;
    http_stream_release(e->stream);
    http_reply_free(&e->reply);
    free(e->path);
    free(e->body);
    free(e);
}

/* What is too large is swallowed, so that the client hears why. */
static void take_body(struct exchange *e, const char *bytes, size_t size)
{
    if (e->too_large || e->failed)
        return;
    if (e->size + size > e->server->setup.body_bytes) {
        e->too_large = true;
        return;
    }
    if (e->size + size + 1 > e->room) {
        const size_t wanted = e->size + size + 1 > 2 * e->room ? e->size + size + 1 : 2 * e->room;
        char *const grown = realloc(e->body, wanted);
        e->failed = !grown;
        if (!grown)
            return;
        e->body = grown;
        e->room = wanted;
    }
    memcpy(e->body + e->size, bytes, size);
    e->size += size;
    e->body[e->size] = 0;
}

struct http_request exchange_request(const struct exchange *e)
{
    return (struct http_request){.method = e->method,
                                 .path = e->path ? e->path : "",
                                 .header = header_of,
                                 .query = query_of,
                                 .carrier = e,
                                 .body = e->body ? e->body : "",
                                 .size = e->size,
                                 .stream = e->stream};
}

/* ---- replies ---- */

static void sleep_stream(void *carrier)
{
    struct exchange *const e = carrier;
    MHD_suspend_connection(e->connection);
}

static void wake_stream(void *carrier)
{
    struct exchange *const e = carrier;
    MHD_resume_connection(e->connection);
}

static ssize_t read_stream(void *cls, uint64_t position, char *to, size_t most)
{
    struct exchange *const e = cls;
    (void)position;
    const long taken = http_stream_take(e->stream, to, most, sleep_stream);
    return taken < 0 ? MHD_CONTENT_READER_END_OF_STREAM : taken;
}

static enum MHD_Result send_stream(struct exchange *e)
{
    enum { BLOCK = 4096 };
    struct MHD_Response *const r = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, read_stream, e, NULL);
    if (!r)
        return MHD_NO;
    MHD_add_response_header(r, "Content-Type", "text/event-stream");
    MHD_add_response_header(r, "Cache-Control", "no-cache");
    const enum MHD_Result result = MHD_queue_response(e->connection, MHD_HTTP_OK, r);
    MHD_destroy_response(r);
    return result;
}

static enum MHD_Result send_reply(struct exchange *e)
{
    struct http_reply *const reply = &e->reply;
    struct MHD_Response *const r = MHD_create_response_from_buffer(reply->body.size, reply->body.data, MHD_RESPMEM_MUST_COPY);
    if (!r)
        return MHD_NO;
    if (reply->type && reply->body.size)
        MHD_add_response_header(r, "Content-Type", reply->type);
    if (reply->json_bytes[0])
        MHD_add_response_header(r, "Inference-Header-Content-Length", reply->json_bytes);
    if (reply->allow[0])
        MHD_add_response_header(r, "Allow", reply->allow);
    MHD_add_response_header(r, "X-Content-Type-Options", "nosniff");
    const enum MHD_Result result = MHD_queue_response(e->connection, reply->status, r);
    MHD_destroy_response(r);
    return result;
}

/* ---- one call after another of the library ---- */

static enum MHD_Result answer(struct exchange *e)
{
    struct server *const s = e->server;
    if (e->too_large)
        reply_error(&e->reply, 413, "the body is larger than %zu bytes", s->setup.body_bytes);
    else if (e->failed || !e->path)
        reply_error(&e->reply, 500, "out of memory");
    if (e->reply.status)
        return send_reply(e);
    struct http_request request = exchange_request(e);
    e->lane = protocol_lane_of(&request);
    if (e->lane == PROTOCOL_AT_ONCE) {
        protocol_answer(&s->setup.protocol, &request, &e->reply);
        return send_reply(e);
    }
    e->stream = http_stream_create(queue_begin_stream, wake_stream, e);
    if (!e->stream)
        reply_error(&e->reply, 500, "out of memory");
    else if (!queue_add(s, e))
        reply_error(&e->reply, 503, "%u requests wait already", s->setup.queue);
    else
        return MHD_YES;
    return send_reply(e);
}

static enum MHD_Result handle(void *cls, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *version, const char *upload, size_t *upload_size, void **con_cls)
{
    struct server *const s = cls;
    struct exchange *e = *con_cls;
    (void)version;
    if (!e) {
        *con_cls = e = begin_exchange(s, connection, method, url);
        return e ? MHD_YES : MHD_NO;
    }
    if (*upload_size) {
        take_body(e, upload, *upload_size);
        *upload_size = 0;
        return MHD_YES;
    }
    switch (queue_state(s, e)) {
    case EXCHANGE_NEW: return answer(e);
    case EXCHANGE_STREAMS: return send_stream(e);
    case EXCHANGE_DONE: return send_reply(e);
    default: return MHD_YES;
    }
}

static void completed(void *cls, struct MHD_Connection *connection, void **con_cls, enum MHD_RequestTerminationCode code)
{
    struct exchange *const e = *con_cls;
    (void)connection;
    (void)code;
    *con_cls = NULL;
    if (!e)
        return;
    if (e->stream)
        http_stream_die(e->stream);
    if (queue_let_go(cls, e))
        free_exchange(e);
}

void exchange_free(struct exchange *e)
{
    free_exchange(e);
}

/* ---- starting and stopping ---- */

enum { LAST_REPLIES_NS = 50000000 }; /* time for replies that are ready to leave */

static bool listen_on(struct server *s, struct orch_error *error)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)s->setup.port)};
    socklen_t size = sizeof a;
    const int yes = 1;
    if (inet_pton(AF_INET, s->setup.address, &a.sin_addr) != 1)
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("address") " %.60s: expected an IPv4 address, as 127.0.0.1",
                         s->setup.address);
    s->socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (s->socket < 0)
        return orch_fail(error, ORCH_INTERNAL, "no socket: %s", strerror(errno));
    setsockopt(s->socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(s->socket, (const struct sockaddr *)&a, sizeof a) != 0 || listen(s->socket, 128) != 0)
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("port") " %u: %s:%u: %s%s", s->setup.port, s->setup.address,
                         s->setup.port, strerror(errno), errno == EADDRINUSE ? "; another one is free, or 0 for any" : "");
    if (getsockname(s->socket, (struct sockaddr *)&a, &size) == 0)
        s->port = ntohs(a.sin_port);
    return true;
}

struct server *server_start(const struct server_setup *setup, struct orch_error *error)
{
    struct server *const s = calloc(1, sizeof *s);
    if (!s) {
        orch_no_memory(error);
        return NULL;
    }
    s->setup = *setup;
    s->socket = -1;
    if (!listen_on(s, error) || !queue_open(s, error)) {
        if (s->socket >= 0)
            close(s->socket);
        free(s);
        return NULL;
    }
    s->daemon =
        MHD_start_daemon(MHD_USE_AUTO_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME, (uint16_t)s->port, NULL, NULL, handle, s,
                         MHD_OPTION_LISTEN_SOCKET, s->socket, MHD_OPTION_CONNECTION_LIMIT, setup->connections,
                         MHD_OPTION_CONNECTION_TIMEOUT, setup->idle_s, MHD_OPTION_NOTIFY_COMPLETED, completed, s, MHD_OPTION_END);
    if (s->daemon)
        return s;
    orch_fail(error, ORCH_INTERNAL, "the HTTP library did not start: %s", strerror(errno));
    queue_close(s);
    close(s->socket);
    free(s);
    return NULL;
}

unsigned server_port(const struct server *s)
{
    return s->port;
}

void server_stop(struct server *s)
{
    if (!s)
        return;
    const int taken = MHD_quiesce_daemon(s->daemon);
    queue_close(s);
    nanosleep(&(struct timespec){.tv_nsec = LAST_REPLIES_NS}, NULL);
    MHD_stop_daemon(s->daemon);
    close(taken >= 0 ? taken : s->socket);
    free(s);
}
