/* Runs a sweep: answers of earlier runs come from the database, the rest is simulated by an executor or interpolated, and all
 * answers go into the database in batches. After being killed at any moment, the next run continues after the last batch. */
#ifndef ORCHARD_SIM_ASK_SWEEP_SWEEP_ENGINE_H
#define ORCHARD_SIM_ASK_SWEEP_SWEEP_ENGINE_H

#include "sim/ask/study/study.h"
#include "sim/ask/sweep/sweep_design.h"
#include "sim/ask/sweep/sweep_group.h"

/* Takes the answer for the point with this number; returning false with *error stops the executor. */
typedef bool sweep_sink(void *context, uint64_t point, const struct sweep_answer *answer, struct orch_error *error);

/* Evaluates points in any order. Meanwhile the calling process has the database closed except inside the sink. */
struct sweep_executor {
    void *context;
    bool (*run)(void *context, const uint64_t *point, size_t count, sweep_sink *sink, void *sink_context,
                struct orch_error *error);
};

/* Evaluates one point with a study, for executors. A point that cannot be answered is SWEEP_FAILED with the reason; false only
 * when the machinery failed. */
bool sweep_evaluate(struct study *study, const struct sweep_design *design, uint64_t point, struct sweep_answer *answer,
                    struct orch_error *error);

struct sweep_progress {
    uint64_t points, done;      /* of the share of this run; `done` includes earlier runs */
    uint64_t before;            /* done by earlier runs */
    uint64_t asked, asked_done; /* of these, without those that charts need beside the design */
    double host_seconds;
};

struct sweep_run {
    const struct sweep_spec *spec;
    const char *db;         /* path */
    uint64_t shard, shards; /* points with number % shards == shard; shards 0 = all */
    struct sweep_executor executor;
    struct study *study; /* tells how threadgroups of GPU kernels are dealt out to cores; NULL = nobody knows */
    void (*progress)(void *context, const struct sweep_progress *progress); /* may be NULL */
    void *progress_context;
};

struct sweep_done {
    int64_t id;
    uint64_t points, before, failed;        /* of this share, including tornado points */
    uint64_t by_method[SWEEP_METHOD_COUNT]; /* counts of this run */
    double host_seconds;
    struct sweep_groups_stats groups;
    char first_error[SWEEP_ERROR_SIZE]; /* "" = none failed in this run */
};

bool sweep_run(const struct sweep_run *run, struct sweep_done *done, struct orch_error *error);

#endif
