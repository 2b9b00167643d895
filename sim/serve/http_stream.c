#include "sim/serve/http.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* A reader that is slower than the units make text ends the stream, rather than filling memory. */
enum { STREAM_MOST = 1 << 24 };

struct http_stream {
    pthread_mutex_t lock;
    struct text bytes;
    size_t taken;
    bool begun, ended, dead, asleep;
    unsigned holders;
    void (*begin)(void *carrier);
    void (*wake)(void *carrier);
    void *carrier;
};

struct http_stream *http_stream_create(void (*begin)(void *carrier), void (*wake)(void *carrier), void *carrier)
{
    struct http_stream *const s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->begin = begin;
    s->wake = wake;
    s->carrier = carrier;
    s->holders = 2;
    pthread_mutex_init(&s->lock, NULL);
    return s;
}

void http_stream_release(struct http_stream *s)
{
    if (!s)
        return;
    pthread_mutex_lock(&s->lock);
    const bool last = --s->holders == 0;
    pthread_mutex_unlock(&s->lock);
    if (!last)
        return;
    pthread_mutex_destroy(&s->lock);
    text_free(&s->bytes);
    free(s);
}

/* Called under the lock: a reader that sleeps cannot go away. */
static void wake(struct http_stream *s)
{
    if (s->asleep && !s->dead)
        s->wake(s->carrier);
    s->asleep = false;
}

bool http_stream_add(struct http_stream *s, const char *bytes, size_t size)
{
    pthread_mutex_lock(&s->lock);
    const bool first = !s->begun;
    s->begun = true;
    if (!s->dead && s->bytes.size + size < STREAM_MOST)
        text_bytes(&s->bytes, bytes, size);
    else
        s->bytes.failed = true;
    const bool ok = !s->dead && !s->bytes.failed;
    if (!ok)
        s->ended = true;
    wake(s);
    pthread_mutex_unlock(&s->lock);
    if (first)
        s->begin(s->carrier);
    return ok;
}

void http_stream_end(struct http_stream *s)
{
    pthread_mutex_lock(&s->lock);
    s->ended = true;
    wake(s);
    pthread_mutex_unlock(&s->lock);
}

bool http_stream_has_begun(struct http_stream *s)
{
    pthread_mutex_lock(&s->lock);
    const bool begun = s->begun;
    pthread_mutex_unlock(&s->lock);
    return begun;
}

long http_stream_take(struct http_stream *s, char *to, size_t most, void (*sleep)(void *carrier))
{
    pthread_mutex_lock(&s->lock);
    const size_t left = s->bytes.size - s->taken, size = left < most ? left : most;
    long taken = (long)size;
    if (size) {
        memcpy(to, s->bytes.data + s->taken, size);
        s->taken += size;
    } else if (s->ended) {
        taken = -1;
    } else {
        s->asleep = true;
        sleep(s->carrier);
    }
    pthread_mutex_unlock(&s->lock);
    return taken;
}

void http_stream_die(struct http_stream *s)
{
    pthread_mutex_lock(&s->lock);
    s->dead = true;
    s->asleep = false;
    pthread_mutex_unlock(&s->lock);
}

unsigned http_status_of(const struct orch_error *error)
{
    switch (error->exit_code) {
    case ORCH_USAGE: return 400;
    case ORCH_UNMODELLED: return 501;
    default: return 500;
    }
}

void http_reply_free(struct http_reply *reply)
{
    text_free(&reply->body);
}
