#include "sim/ask/sweep/sweep_engine.h"

#include "sim/base/host_time.h"
#include "sim/run/run_version.h"

#include <stdlib.h>
#include <string.h>

enum { BATCH = 512 };
#define BATCH_SECONDS 0.5

/* ---- one point ---- */

static bool fails_the_sweep(const struct orch_error *error)
{
    return error->exit_code == ORCH_INTERNAL || error->exit_code == ORCH_INTERRUPTED;
}

bool sweep_evaluate(struct study *study, const struct sweep_design *design, uint64_t point, struct sweep_answer *answer,
                    struct orch_error *error)
{
    struct study_setting setting = {0};
    struct study_answer got;
    struct orch_error trouble = {0};
    sweep_answer_init(answer);
    study_answer_init(&got);
    bool ok = sweep_design_setting(design, point, &setting) || orch_no_memory(&trouble);
    if (ok && study_evaluate(study, &setting, &got, &trouble)) {
        answer->status = SWEEP_DONE;
        answer->method = got.method == STUDY_KNOWN ? SWEEP_KNOWN : SWEEP_SIMULATED;
        sweep_answer_from_run(answer, &got.result);
    } else if (fails_the_sweep(&trouble)) {
        *error = trouble;
        ok = orch_fail_in(error, "point %llu", (unsigned long long)point);
    } else {
        answer->status = SWEEP_FAILED;
        snprintf(answer->error, sizeof answer->error, "%.*s", SWEEP_ERROR_SIZE - 1, trouble.text);
    }
    study_answer_free(&got);
    study_setting_free(&setting);
    return ok;
}

/* ---- state of a run ---- */

struct pending {
    uint64_t point;
    struct sweep_answer answer;
};

struct engine {
    const struct sweep_run *run;
    struct sweep_design *design;
    struct sweep_groups *groups;
    struct sweep_rounds *rounds; /* by index of the point; NULL = not known */
    uint64_t *point;             /* of this share, in rising order */
    size_t count;
    bool *done; /* in the database, or pending */
    struct pending *pending;
    size_t pending_count;
    double began, flushed;
    uint64_t done_count;
    uint64_t asked, asked_done; /* without the points that charts need beside the design */
    struct sweep_done *result;
};

static bool find_point(const struct engine *e, uint64_t point, size_t *index)
{
    size_t low = 0, high = e->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (e->point[middle] < point)
            low = middle + 1;
        else
            high = middle;
    }
    *index = low;
    return low < e->count && e->point[low] == point;
}

static bool share(struct engine *e)
{
    const uint64_t all = sweep_design_points(e->design), shards = e->run->shards ? e->run->shards : 1;
    e->point = calloc(all / shards + 2, sizeof *e->point);
    for (uint64_t p = e->run->shard; e->point && p < all; p += shards) {
        e->point[e->count++] = p;
        e->asked += p < e->run->spec->points;
    }
    e->done = calloc(e->count + 1, sizeof *e->done);
    e->pending = calloc(BATCH, sizeof *e->pending);
    return e->point && e->done && e->pending;
}

static void settle(struct engine *e, size_t index)
{
    e->done[index] = true;
    e->done_count++;
    e->asked_done += e->point[index] < e->run->spec->points;
}

/* ---- the database ---- */

/* Makes a row of sweep_point; the caller frees `settings`. */
static struct db_sweep_point row_of(const struct pending *p, const char *settings)
{
    const struct sweep_answer *const a = &p->answer;
    struct db_sweep_point row = {.point = (int64_t)p->point,
                                 .settings = settings,
                                 .status = sweep_status_name(a->status),
                                 .error = a->status == SWEEP_FAILED ? a->error : NULL,
                                 .method = a->status == SWEEP_DONE ? sweep_method_name(a->method) : NULL,
                                 .bound_by = *a->bound_by ? a->bound_by : NULL,
                                 .expected_error = a->expected_error};
    memcpy(row.value, a->response, sizeof row.value);
    return row;
}

static bool write_rows(struct engine *e, struct orch_db *db, struct orch_error *error)
{
    struct db_sweep_point *const row = calloc(e->pending_count, sizeof *row);
    char **const settings = calloc(e->pending_count, sizeof *settings);
    bool ok = row && settings;
    for (size_t i = 0; ok && i < e->pending_count; i++) {
        struct study_setting varied = {0};
        ok = sweep_design_varied(e->design, e->pending[i].point, &varied);
        settings[i] = ok ? study_setting_json(&varied) : NULL;
        study_setting_free(&varied);
        ok = settings[i] != NULL;
        row[i] = row_of(&e->pending[i], settings[i]);
    }
    ok = ok ? db_put_sweep_points(db, e->result->id, row, e->pending_count, error) : orch_no_memory(error);
    for (size_t i = 0; settings && i < e->pending_count; i++)
        free(settings[i]);
    free(settings);
    free(row);
    return ok;
}

/* The database is open only while it is written: executors fork, and a connection does not survive that. */
static bool flush(struct engine *e, struct orch_error *error)
{
    if (e->pending_count == 0)
        return true;
    struct orch_db *const db = db_open(e->run->db, DB_EXISTING, error);
    const bool ok = db && write_rows(e, db, error);
    db_close(db);
    e->pending_count = 0;
    e->flushed = host_seconds();
    return ok;
}

static void tell(struct engine *e)
{
    if (e->run->progress)
        e->run->progress(e->run->progress_context, &(struct sweep_progress){e->count, e->done_count, e->result->before, e->asked,
                                                                            e->asked_done, host_seconds() - e->began});
}

static bool keep(struct engine *e, size_t index, const struct sweep_answer *answer, struct orch_error *error)
{
    if (e->done[index])
        return true;
    settle(e, index);
    if (answer->status == SWEEP_FAILED) {
        e->result->failed++;
        if (!*e->result->first_error)
            memcpy(e->result->first_error, answer->error, sizeof answer->error);
    } else {
        e->result->by_method[answer->method]++;
    }
    e->pending[e->pending_count++] = (struct pending){e->point[index], *answer};
    tell(e);
    return (e->pending_count < BATCH && host_seconds() - e->flushed < BATCH_SECONDS) || flush(e, error);
}

/* ---- what is there already ---- */

static bool earlier(void *context, const struct db_sweep_point *row, struct orch_error *error)
{
    struct engine *const e = context;
    struct sweep_answer answer;
    size_t index;
    if (!find_point(e, (uint64_t)row->point, &index))
        return true;
    sweep_answer_from_row(&answer, row);
    settle(e, index);
    e->result->failed += answer.status == SWEEP_FAILED;
    return answer.method == SWEEP_INTERPOLATED || sweep_groups_answer(e->groups, index, &answer, error);
}

static bool open_sweep(struct engine *e, struct orch_error *error)
{
    const struct sweep_spec *const spec = e->run->spec;
    char hash[DB_HASH_SIZE], *const text = sweep_spec_json(spec);
    bool ok = text && sweep_spec_hash(spec, run_model_version(), hash);
    struct orch_db *const db = ok ? db_open(e->run->db, DB_WRITE, error) : NULL;
    if (!ok)
        orch_no_memory(error);
    ok = db &&
         db_put_sweep(db, &(struct db_sweep){hash, spec->name, spec->workload[0], text, run_model_version()}, &e->result->id,
                      error) &&
         db_each_sweep_point(db, e->result->id, earlier, e, error);
    db_close(db);
    free(text);
    e->result->before = e->done_count;
    return ok;
}

/* ---- rounds ---- */

static bool on_answer(void *context, uint64_t point, const struct sweep_answer *answer, struct orch_error *error)
{
    struct engine *const e = context;
    size_t index;
    if (!find_point(e, point, &index))
        return orch_fail(error, ORCH_INTERNAL, "an answer to a point that nobody asked for");
    return sweep_groups_answer(e->groups, index, answer, error) && keep(e, index, answer, error);
}

/* Simulates the points that a round wants and that have no answer of an earlier run, in rising order where the round leaves the
 * order open. */
static bool simulate(struct engine *e, const size_t *want, size_t count, struct orch_error *error)
{
    uint64_t *const open = calloc(count + 1, sizeof *open);
    size_t n = 0;
    if (!open)
        return orch_no_memory(error);
    for (size_t i = 0; i < count; i++)
        if (!e->done[want[i]])
            open[n++] = e->point[want[i]];
    const bool ok = n == 0 || e->run->executor.run(e->run->executor.context, open, n, on_answer, e, error);
    free(open);
    return ok;
}

static bool interpolate(struct engine *e, struct orch_error *error)
{
    struct sweep_answer answer;
    size_t index;
    while (sweep_groups_interpolated(e->groups, &index, &answer))
        if (!keep(e, index, &answer, error))
            return false;
    return true;
}

static bool rounds(struct engine *e, struct orch_error *error)
{
    const size_t *want;
    size_t count;
    do {
        if (!sweep_groups_round(e->groups, &want, &count, error) || !simulate(e, want, count, error) || !interpolate(e, error))
            return false;
    } while (count > 0);
    return true;
}

/* Works out how threadgroups are dealt out at each point. What is wrong with a point is told when it is simulated. */
static bool deal(struct engine *e)
{
    if (!e->run->study || !(e->run->spec->tolerance > 0))
        return true;
    e->rounds = calloc(e->count + 1, sizeof *e->rounds);
    for (size_t i = 0; e->rounds && i < e->count; i++) {
        struct study_setting setting = {0};
        struct orch_error unused = {0};
        struct run_launch_list list;
        if (!sweep_design_setting(e->design, e->point[i], &setting))
            return false;
        if (study_launches(e->run->study, &setting, &list, &unused))
            e->rounds[i] = sweep_rounds_of(&list);
        study_setting_free(&setting);
    }
    return e->rounds != NULL;
}

bool sweep_run(const struct sweep_run *run, struct sweep_done *done, struct orch_error *error)
{
    struct engine e = {.run = run, .began = host_seconds(), .flushed = host_seconds(), .result = done};
    *done = (struct sweep_done){0};
    e.design = sweep_design_create(run->spec);
    bool ok = e.design && share(&e) && deal(&e);
    if (ok) {
        e.groups = sweep_groups_create(run->spec, e.design, e.point, e.count, e.rounds, run->study);
        ok = e.groups != NULL;
    }
    ok = ok ? open_sweep(&e, error) : orch_no_memory(error);
    if (ok) {
        ok = rounds(&e, error);
        struct orch_error flushing = {0};
        const bool written = flush(&e, ok ? error : &flushing); /* whatever went wrong, answers so far are kept */
        ok = ok && written;
        sweep_groups_stats(e.groups, &done->groups);
    }
    done->points = e.count;
    done->host_seconds = host_seconds() - e.began;
    sweep_groups_free(e.groups);
    sweep_design_free(e.design);
    free(e.rounds);
    free(e.point);
    free(e.done);
    free(e.pending);
    return ok;
}
