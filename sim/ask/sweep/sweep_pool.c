#include "sim/ask/sweep/sweep_pool.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DEATHS_ALLOWED = 2 };

struct worker {
    pid_t process; /* 0 = no process */
    int socket;
    bool busy;
    uint64_t point;
    unsigned deaths; /* of workers at this point */
};

struct sweep_pool {
    const struct sweep_spec *spec;
    struct sweep_design *design;
    const struct study_base *base;
    const char *db;
    struct worker *worker;
    unsigned jobs;
};

/* A worker's reply about a point. */
struct reply {
    uint64_t point;
    bool ok;
    struct sweep_answer answer;
    struct orch_error error; /* set when not ok */
};

struct sweep_pool *sweep_pool_create(const struct sweep_spec *spec, const struct study_base *base, const char *db, unsigned jobs)
{
    struct sweep_pool *const pool = calloc(1, sizeof *pool);
    if (!pool)
        return NULL;
    *pool = (struct sweep_pool){spec, sweep_design_create(spec), base, db, calloc(jobs, sizeof *pool->worker), jobs};
    if (pool->design && pool->worker)
        return pool;
    sweep_pool_free(pool);
    return NULL;
}

/* A waiting worker notices its closed socket and leaves the database in order; a busy one is killed. */
static void end_worker(struct worker *w)
{
    if (w->process == 0)
        return;
    close(w->socket);
    if (w->busy)
        kill(w->process, SIGKILL);
    while (waitpid(w->process, NULL, 0) < 0 && errno == EINTR)
        continue;
    w->process = 0;
    w->busy = false;
}

void sweep_pool_free(struct sweep_pool *pool)
{
    if (!pool)
        return;
    for (unsigned i = 0; pool->worker && i < pool->jobs; i++)
        end_worker(&pool->worker[i]);
    sweep_design_free(pool->design);
    free(pool->worker);
    free(pool);
}

/* ---- whole messages ---- */

static bool send_all(int socket, const void *data, size_t size)
{
    for (size_t sent = 0; sent < size;) {
        const ssize_t n = send(socket, (const char *)data + sent, size - sent, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        sent += (size_t)n;
    }
    return true;
}

static bool receive_all(int socket, void *data, size_t size)
{
    for (size_t got = 0; got < size;) {
        const ssize_t n = recv(socket, (char *)data + got, size - got, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        got += (size_t)n;
    }
    return true;
}

/* ---- in a worker ---- */

/* An error of the database is no property of the point: it ends the sweep and leaves the point open. */
static void separate_trouble(const struct sweep_pool *pool, struct reply *reply)
{
    if (!reply->ok || reply->answer.status != SWEEP_FAILED || !strstr(reply->answer.error, pool->db))
        return;
    reply->ok = orch_fail(&reply->error, ORCH_USAGE, "%s", reply->answer.error);
}

static void answer_points(const struct sweep_pool *pool, int socket, struct study *study, const struct orch_error *trouble)
{
    uint64_t point;
    while (receive_all(socket, &point, sizeof point)) {
        struct reply reply = {.point = point, .error = *trouble};
        reply.ok = study && sweep_evaluate(study, pool->design, point, &reply.answer, &reply.error);
        separate_trouble(pool, &reply);
        if (!send_all(socket, &reply, sizeof reply))
            return;
    }
}

/* The parent alone answers a signal that ends a process: its end kills the workers, at any moment, which the database survives.
 * Its temporary files are not a worker's to delete (sim/base/temporary.h). */
static void follow(pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) /* it ended before it could take us along */
        _exit(0);
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
}

static void be_worker(const struct sweep_pool *pool, pid_t parent, int socket)
{
    struct orch_error error = {0};
    follow(parent);
    for (unsigned i = 0; i < pool->jobs; i++)
        if (pool->worker[i].process)
            close(pool->worker[i].socket);
    struct orch_db *const db = db_open(pool->db, DB_EXISTING, &error);
    struct study *const study = db ? study_create(pool->base, db, &error) : NULL;
    answer_points(pool, socket, study, &error);
    study_free(study);
    db_close(db);
    _exit(0);
}

/* ---- in the parent ---- */

static bool start_worker(struct sweep_pool *pool, struct worker *w, struct orch_error *error)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return orch_fail(error, ORCH_INTERNAL, "worker: %s", strerror(errno));
    const pid_t parent = getpid(), process = fork();
    if (process == 0) {
        close(pair[0]);
        be_worker(pool, parent, pair[1]);
    }
    close(pair[1]);
    if (process < 0) {
        close(pair[0]);
        return orch_fail(error, ORCH_INTERNAL, "worker: %s", strerror(errno));
    }
    w->process = process;
    w->socket = pair[0];
    w->busy = false;
    return true;
}

struct work {
    const uint64_t *point;
    size_t count, next, answered;
    sweep_sink *sink;
    void *sink_context;
};

static bool give(struct sweep_pool *pool, struct worker *w, uint64_t point, struct orch_error *error)
{
    if (w->process == 0 && !start_worker(pool, w, error))
        return false;
    w->busy = true;
    w->point = point;
    send_all(w->socket, &point, sizeof point); /* if the worker has died, that is noticed when its reply is read */
    return true;
}

static bool give_next(struct sweep_pool *pool, struct worker *w, struct work *work, struct orch_error *error)
{
    if (w->busy || work->next == work->count)
        return true;
    w->deaths = 0;
    return give(pool, w, work->point[work->next++], error);
}

/* The worker died at its point: another one tries, and when that dies, too, the point has failed. */
static bool bury(struct sweep_pool *pool, struct worker *w, struct work *work, struct orch_error *error)
{
    const unsigned deaths = w->deaths + 1;
    struct sweep_answer answer;
    end_worker(w); /* kills the worker if it still lives, since it is busy */
    w->deaths = deaths;
    if (deaths < DEATHS_ALLOWED)
        return give(pool, w, w->point, error);
    sweep_answer_init(&answer);
    answer.status = SWEEP_FAILED;
    snprintf(answer.error, sizeof answer.error, "%u processes ended while they simulated it", deaths);
    work->answered++;
    return work->sink(work->sink_context, w->point, &answer, error);
}

static bool hear(struct sweep_pool *pool, struct worker *w, struct work *work, struct orch_error *error)
{
    struct reply reply;
    if (!receive_all(w->socket, &reply, sizeof reply))
        return bury(pool, w, work, error);
    w->busy = false;
    if (!reply.ok) {
        *error = reply.error;
        return false;
    }
    work->answered++;
    /* Hand out the next point first, so that the worker goes on while the answer is written. In the other order, a replacement
     * for the worker would be forked while the file is open. */
    return give_next(pool, w, work, error) && work->sink(work->sink_context, reply.point, &reply.answer, error);
}

static bool wait_and_hear(struct sweep_pool *pool, struct pollfd *descriptor, struct work *work, struct orch_error *error)
{
    for (unsigned i = 0; i < pool->jobs; i++)
        descriptor[i] = (struct pollfd){pool->worker[i].busy ? pool->worker[i].socket : -1, POLLIN, 0};
    if (poll(descriptor, pool->jobs, -1) < 0)
        return errno == EINTR || orch_fail(error, ORCH_INTERNAL, "poll: %s", strerror(errno));
    for (unsigned i = 0; i < pool->jobs; i++)
        if (descriptor[i].revents && !hear(pool, &pool->worker[i], work, error))
            return false;
    return true;
}

static bool run(void *context, const uint64_t *point, size_t count, sweep_sink *sink, void *sink_context,
                struct orch_error *error)
{
    struct sweep_pool *const pool = context;
    struct work work = {point, count, 0, 0, sink, sink_context};
    struct pollfd *const descriptor = calloc(pool->jobs, sizeof *descriptor);
    bool ok = descriptor != NULL || orch_no_memory(error);
    while (ok && work.answered < count) {
        for (unsigned i = 0; ok && i < pool->jobs; i++)
            ok = give_next(pool, &pool->worker[i], &work, error);
        ok = ok && wait_and_hear(pool, descriptor, &work, error);
    }
    free(descriptor);
    return ok;
}

struct sweep_executor sweep_pool_executor(struct sweep_pool *pool)
{
    return (struct sweep_executor){pool, run};
}
