/* Shared by the files of the server: server.c speaks with the HTTP library, server_queue.c has the threads that work. */
#ifndef ORCHARD_SIM_SERVE_SERVER_INTERNAL_H
#define ORCHARD_SIM_SERVE_SERVER_INTERNAL_H

#include "sim/serve/server.h"

#include <microhttpd.h>
#include <pthread.h>

enum exchange_state { EXCHANGE_NEW, EXCHANGE_WAITS, EXCHANGE_STREAMS, EXCHANGE_DONE };

struct exchange;

/* Work that waits for one thread, which does one piece after another. */
struct lane {
    struct server *server;
    pthread_t worker;
    pthread_cond_t more;
    struct exchange *first, *last;
    unsigned waiting;
};

/* A request and its reply. While it waits or is computed, its connection sleeps; the thread of connections owns it otherwise. */
struct exchange {
    struct server *server;
    struct MHD_Connection *connection;
    char method[16];
    char *path, *body;
    size_t size, room;
    bool too_large, failed;
    struct http_reply reply;
    struct http_stream *stream; /* of work */
    enum protocol_lane lane;

    /* Under the lock of the queue. */
    enum exchange_state state;
    bool computed;  /* the other thread is done with it */
    bool abandoned; /* its connection is gone */
    struct exchange *next;
};

struct server {
    struct server_setup setup;
    struct MHD_Daemon *daemon;
    int socket;
    unsigned port;
    struct lane lane[PROTOCOL_LANES];
    unsigned lanes; /* that have a thread */
    pthread_mutex_t lock;
    bool stopping;
};

struct http_request exchange_request(const struct exchange *exchange);
void exchange_free(struct exchange *exchange);

/* server_queue.c */
bool queue_open(struct server *server, struct orch_error *error);
/* Answers what waits with 503, and returns when nothing is being computed any more. */
void queue_close(struct server *server);
/* Suspends the connection and hands the exchange over; false when the queue is full. */
bool queue_add(struct server *server, struct exchange *exchange);
enum exchange_state queue_state(struct server *server, const struct exchange *exchange);
/* The reply is a stream, whose first piece is there: the connection reads it from now on. `exchange` is one. */
void queue_begin_stream(void *exchange);
/* The connection is gone: whether the exchange may be freed now; else the other thread frees it. */
bool queue_let_go(struct server *server, struct exchange *exchange);

#endif
