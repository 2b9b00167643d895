/* The server: HTTP over libmicrohttpd, one thread for connections and one that computes, bounded everywhere. */
#ifndef ORCHARD_SIM_SERVE_SERVER_H
#define ORCHARD_SIM_SERVE_SERVER_H

#include "sim/serve/protocol.h"

struct server_setup {
    struct protocol_context protocol;
    const char *address;  /* "127.0.0.1" */
    unsigned port;        /* 0 = any that is free */
    unsigned connections; /* at most; more wait until one closes */
    unsigned queue;       /* requests that wait for their turn to be computed; more are refused (503) */
    size_t body_bytes;    /* at most, of a request; larger ones are refused (413) */
    unsigned idle_s;      /* a connection that is silent for so long is closed */
};

struct server;
/* NULL with *error: an address that is none, a port in use. Protocols are answered from now on. */
struct server *server_start(const struct server_setup *setup, struct orch_error *error);
unsigned server_port(const struct server *server);
/* Takes no more connections, lets what is being computed end, answers what waits with 503. */
void server_stop(struct server *server);

#endif
