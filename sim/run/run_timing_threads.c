/* Many timings at once: each request is simulated by one thread of the host, in whatever order they come. */
#include "sim/run/run_timing.h"

#include <pthread.h>

enum { THREADS_MAX = 64 };

struct pool {
    pthread_mutex_t lock;
    const struct run_request *request;
    struct run_timing *timing;
    size_t count, next, failed; /* failed = count: none */
    unsigned threads;
    struct orch_error error; /* of the failed one */
};

/* The next request that nobody works at; `count` when there is none, or when an earlier one failed. */
static size_t take(struct pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    const size_t mine = pool->failed < pool->count || pool->next == pool->count ? pool->count : pool->next++;
    pthread_mutex_unlock(&pool->lock);
    return mine;
}

/* Of several that fail, the first one is told, so that the message does not hang on who came when. */
static void fail(struct pool *pool, size_t index, const struct orch_error *error)
{
    pthread_mutex_lock(&pool->lock);
    if (index < pool->failed) {
        pool->failed = index;
        pool->error = *error;
    }
    pthread_mutex_unlock(&pool->lock);
}

/* Who waits is told by one thread alone, the one that asked. */
static void work_through(struct pool *pool, bool tells)
{
    for (size_t i; (i = take(pool)) < pool->count;) {
        struct run_request q = pool->request[i];
        struct orch_error error = {0};
        if (pool->threads > 1)
            q.threads = 1;
        if (!tells)
            q.progress = NULL;
        if (!run_timing_simulate(&q, &pool->timing[i], &error))
            fail(pool, i, &error);
    }
}

static void *work(void *argument)
{
    work_through(argument, false);
    return NULL;
}

bool run_timing_simulate_all(const struct run_request *request, size_t count, unsigned threads, struct run_timing *timing,
                             size_t *failed, struct orch_error *error)
{
    pthread_t thread[THREADS_MAX];
    unsigned started = 0;
    struct pool pool = {.request = request, .timing = timing, .count = count, .failed = count};
    pool.threads = threads > THREADS_MAX ? THREADS_MAX : threads;
    pool.threads = pool.threads > count ? (unsigned)count : pool.threads;
    pthread_mutex_init(&pool.lock, NULL);
    while (started + 1 < pool.threads && pthread_create(&thread[started], NULL, work, &pool) == 0)
        started++;
    work_through(&pool, true); /* this thread works, too */
    for (unsigned i = 0; i < started; i++)
        pthread_join(thread[i], NULL);
    pthread_mutex_destroy(&pool.lock);
    *failed = pool.failed;
    if (pool.failed < count && error)
        *error = pool.error;
    return pool.failed == count;
}
