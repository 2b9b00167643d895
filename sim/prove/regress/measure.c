#include "sim/prove/regress/measure.h"

#include "sim/machine/device/device.h"
#include "sim/ask/study/study.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

void regress_refuse(struct regress_value *value, const char *why)
{
    value->value = NAN;
    snprintf(value->why, sizeof value->why, "%s", why);
}

/* Shared by the threads. The lock guards everything below it. */
struct pool {
    struct regress_job *jobs;
    size_t count;
    void (*done)(void *context, const struct regress_job *job);
    void *context;
    pthread_mutex_t lock;
    size_t next;
    struct orch_error error; /* the first error that stops everything */
};

static struct regress_job *next_job(struct pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    struct regress_job *const job = pool->error.exit_code || pool->next == pool->count ? NULL : &pool->jobs[pool->next++];
    pthread_mutex_unlock(&pool->lock);
    return job;
}

static void end_job(struct pool *pool, const struct regress_job *job, const struct orch_error *error)
{
    pthread_mutex_lock(&pool->lock);
    if (error->exit_code && !pool->error.exit_code)
        pool->error = *error;
    if (job && pool->done)
        pool->done(pool->context, job);
    pthread_mutex_unlock(&pool->lock);
}

static bool run_job(const struct regress_worker *worker, struct regress_job *job, struct orch_error *error)
{
    struct chip *const chip = chip_open(worker->chips, job->chip, &job->sets, &job->error);
    if (!chip)
        return true; /* the job carries the error */
    chip_close(chip);
    return regress_measure_loops(worker, job, error) && regress_measure_kernels(worker, job, error);
}

static bool open_worker(struct regress_worker *worker, struct study_base *base, struct orch_error *error)
{
    worker->chips = chip_db_open(NULL, error);
    if (!worker->chips || !device_list_load(NULL, worker->devices, error))
        return false;
    *base = (struct study_base){.chips = worker->chips, .request = {.seed = 1}, .ambient_c = NAN};
    worker->study = study_create(base, NULL, error);
    return worker->study != NULL;
}

static void *work(void *argument)
{
    struct pool *const pool = argument;
    struct orch_error error = {0};
    struct study_base base;
    struct device_list devices = {0};
    struct regress_worker worker = {.devices = &devices};
    bool ok = open_worker(&worker, &base, &error);
    for (struct regress_job *job; ok && (job = next_job(pool)) != NULL;) {
        ok = run_job(&worker, job, &error);
        end_job(pool, job, &error);
    }
    if (!ok)
        end_job(pool, NULL, &error);
    study_free(worker.study);
    device_list_free(&devices);
    chip_db_close(worker.chips);
    return NULL;
}

bool regress_measure(struct regress_job *jobs, size_t count, unsigned threads,
                     void (*done)(void *context, const struct regress_job *job), void *context, struct orch_error *error)
{
    enum { THREADS_MAX = 64 };
    pthread_t thread[THREADS_MAX];
    unsigned started = 0;
    struct pool pool = {.jobs = jobs, .count = count, .done = done, .context = context};
    pthread_mutex_init(&pool.lock, NULL);
    threads = threads > THREADS_MAX ? THREADS_MAX : threads;
    threads = threads > count ? (unsigned)count : threads;
    while (started + 1 < threads && pthread_create(&thread[started], NULL, work, &pool) == 0)
        started++;
    work(&pool); /* this thread works, too */
    for (unsigned i = 0; i < started; i++)
        pthread_join(thread[i], NULL);
    pthread_mutex_destroy(&pool.lock);
    if (pool.error.exit_code && error)
        *error = pool.error;
    return pool.error.exit_code == 0;
}
