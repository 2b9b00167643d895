/* The threads that work, one for each lane: one request after another, so that chips, databases and models belong to one thread.
 */
#include "sim/serve/server_internal.h"

#include <string.h>

static struct exchange *take(struct lane *l)
{
    struct server *const s = l->server;
    pthread_mutex_lock(&s->lock);
    while (!l->first && !s->stopping)
        pthread_cond_wait(&l->more, &s->lock);
    struct exchange *const e = l->first;
    if (e) {
        l->first = e->next;
        l->last = l->first ? l->last : NULL;
        l->waiting--;
    }
    pthread_mutex_unlock(&s->lock);
    return e;
}

/* The connection goes on with the reply, or reads the end of its stream. */
static void finish(struct server *s, struct exchange *e)
{
    pthread_mutex_lock(&s->lock);
    const bool streams = e->state == EXCHANGE_STREAMS, abandoned = e->abandoned;
    e->computed = true;
    if (!streams) {
        e->state = EXCHANGE_DONE;
        MHD_resume_connection(e->connection);
    }
    pthread_mutex_unlock(&s->lock);
    if (abandoned)
        exchange_free(e);
}

void queue_begin_stream(void *exchange)
{
    struct exchange *const e = exchange;
    pthread_mutex_lock(&e->server->lock);
    e->state = EXCHANGE_STREAMS;
    MHD_resume_connection(e->connection);
    pthread_mutex_unlock(&e->server->lock);
}

static void compute(struct server *s, struct exchange *e)
{
    const struct http_request request = exchange_request(e);
    struct http_stream *const stream = e->stream;
    protocol_answer(&s->setup.protocol, &request, &e->reply);
    http_stream_end(stream);
    http_stream_release(stream);
    finish(s, e);
}

static void *work(void *context)
{
    struct lane *const l = context;
    struct server *const s = l->server;
    for (;;) {
        struct exchange *const e = take(l);
        if (!e)
            return NULL;
        if (s->stopping) {
            reply_error(&e->reply, 503, "the server is stopping");
            http_stream_release(e->stream);
            finish(s, e);
        } else {
            compute(s, e);
        }
    }
}

bool queue_open(struct server *s, struct orch_error *error)
{
    pthread_mutex_init(&s->lock, NULL);
    for (; s->lanes < PROTOCOL_LANES; s->lanes++) {
        struct lane *const l = &s->lane[s->lanes];
        l->server = s;
        pthread_cond_init(&l->more, NULL);
        if (pthread_create(&l->worker, NULL, work, l) != 0) {
            queue_close(s);
            return orch_fail(error, ORCH_INTERNAL, "no thread to compute with");
        }
    }
    return true;
}

void queue_close(struct server *s)
{
    pthread_mutex_lock(&s->lock);
    s->stopping = true;
    for (unsigned i = 0; i < s->lanes; i++)
        pthread_cond_broadcast(&s->lane[i].more);
    pthread_mutex_unlock(&s->lock);
    for (unsigned i = 0; i < s->lanes; i++) {
        pthread_join(s->lane[i].worker, NULL);
        pthread_cond_destroy(&s->lane[i].more);
    }
}

bool queue_add(struct server *s, struct exchange *e)
{
    struct lane *const l = &s->lane[e->lane];
    pthread_mutex_lock(&s->lock);
    const bool room = l->waiting < s->setup.queue && !s->stopping;
    if (room) {
        e->state = EXCHANGE_WAITS;
        MHD_suspend_connection(e->connection);
        if (l->last)
            l->last->next = e;
        else
            l->first = e;
        l->last = e;
        l->waiting++;
        pthread_cond_signal(&l->more);
    }
    pthread_mutex_unlock(&s->lock);
    if (!room) {
        /* The producer's share of the stream, which nobody will use. */
        http_stream_release(e->stream);
    }
    return room;
}

enum exchange_state queue_state(struct server *s, const struct exchange *e)
{
    pthread_mutex_lock(&s->lock);
    const enum exchange_state state = e->state;
    pthread_mutex_unlock(&s->lock);
    return state;
}

bool queue_let_go(struct server *s, struct exchange *e)
{
    pthread_mutex_lock(&s->lock);
    const bool free_now = e->state == EXCHANGE_NEW || e->computed;
    e->abandoned = true;
    pthread_mutex_unlock(&s->lock);
    return free_now;
}
