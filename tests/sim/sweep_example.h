/* Sweeps for suites: specifications from texts, and an executor that answers from a formula instead of simulating. */
#ifndef ORCHARD_TESTS_SIM_SWEEP_EXAMPLE_H
#define ORCHARD_TESTS_SIM_SWEEP_EXAMPLE_H

#include "sim/ask/sweep/sweep_engine.h"
#include "sim/ask/sweep/sweep_read.h"
#include "tests/sim/db_example.h"

/* A sweep of these workloads with -L texts up to a NULL. samples 0 = a grid. */
static inline struct sweep_spec *example_spec(const char *workloads, uint64_t samples, const char *const *vary)
{
    struct orch_error error = {0};
    struct sweep_spec *const spec = sweep_spec_create();
    bool ok = sweep_spec_workloads(spec, workloads, &error);

    spec->design = samples ? SWEEP_LHS : SWEEP_GRID;
    spec->samples = samples;
    for (size_t i = 0; ok && vary[i]; i++)
        ok = sweep_spec_vary(spec, vary[i], &error);
    CHECK(ok && sweep_spec_finish(spec, &error), "%s", error.text);
    return spec;
}

/* Answers with seconds(values). After `most` points it stops as if it were killed. */
struct formula {
    const struct sweep_spec *spec;
    double (*seconds)(const double *value, uint64_t point); /* NAN: the point fails */
    size_t answered, most;                                  /* most 0: never stops */
};

static inline bool formula_run(void *context, const uint64_t *point, size_t count, sweep_sink *sink, void *sink_context,
                               struct orch_error *error)
{
    struct formula *const f = context;
    struct sweep_design *const design = sweep_design_create(f->spec);
    double value[SWEEP_KEYS_MAX];
    bool ok = true;

    for (size_t i = 0; ok && i < count; i++) {
        struct sweep_answer answer;
        if (f->most && f->answered == f->most) {
            ok = orch_fail(error, ORCH_INTERRUPTED, "stopped");
            break;
        }
        sweep_answer_init(&answer);
        sweep_design_values(design, point[i], value);
        const double seconds = f->seconds(value, point[i]);
        answer.status = isnan(seconds) ? SWEEP_FAILED : SWEEP_DONE;
        answer.response[SWEEP_seconds] = seconds;
        answer.response[SWEEP_joules] = 3 * seconds;
        answer.response[SWEEP_watts_avg] = 3;
        snprintf(answer.bound_by, sizeof answer.bound_by, "gpu.alu");
        snprintf(answer.error, sizeof answer.error, "%s", isnan(seconds) ? "no such chip" : "");
        f->answered++;
        ok = sink(sink_context, point[i], &answer, error);
    }
    sweep_design_free(design);
    return ok;
}

static inline bool example_sweep(const struct sweep_spec *spec, const char *db, struct formula *formula, uint64_t shard,
                                 uint64_t shards, struct sweep_done *done, struct orch_error *error)
{
    formula->spec = spec;
    const struct sweep_run run = {.spec = spec, .db = db, .shard = shard, .shards = shards, .executor = {formula, formula_run}};
    return sweep_run(&run, done, error);
}

/* Simulates in this process. */
struct simulator {
    struct study *study;
    struct sweep_design *design;
};

static inline bool simulator_run(void *context, const uint64_t *point, size_t count, sweep_sink *sink, void *sink_context,
                                 struct orch_error *error)
{
    struct simulator *const s = context;

    for (size_t i = 0; i < count; i++) {
        struct sweep_answer answer;
        if (!sweep_evaluate(s->study, s->design, point[i], &answer, error) || !sink(sink_context, point[i], &answer, error))
            return false;
    }
    return true;
}

/* How far interpolated points, spread over the sweep, are from fresh simulations: the worse of seconds and joules, relative. */
struct off {
    size_t compared;
    double mean, worst;
};

static inline struct off simulator_compare(struct simulator *s, const struct sweep_data *data, size_t wanted)
{
    struct off off = {0, 0, 0};
    const size_t each = data->by_method[SWEEP_INTERPOLATED] / wanted, stride = each ? each : 1;
    size_t seen = 0;

    for (size_t i = 0; i < data->point_count && off.compared < wanted; i++) {
        const struct sweep_answer *const a = &data->point[i].answer;
        if (a->status != SWEEP_DONE || a->method != SWEEP_INTERPOLATED || seen++ % stride != 0)
            continue;
        struct study_setting setting = {0};
        struct study_answer fresh;
        struct orch_error error = {0};
        study_answer_init(&fresh);
        const bool ok = sweep_design_setting(s->design, data->point[i].number, &setting) &&
                        study_evaluate_fresh(s->study, &setting, &fresh, &error);
        CHECK(ok, "%s", error.text);
        const double error_here = fmax(fabs(a->response[SWEEP_seconds] / fresh.result.seconds - 1),
                                       fabs(a->response[SWEEP_joules] / fresh.result.joules - 1));
        off.compared++;
        off.mean += (error_here - off.mean) / (double)off.compared;
        off.worst = fmax(off.worst, error_here);
        study_answer_free(&fresh);
        study_setting_free(&setting);
    }
    return off;
}

static inline struct sweep_data *example_read(const char *path, const char *which)
{
    struct orch_error error = {0};
    struct orch_db *const db = example_open(path, DB_READ);
    struct sweep_data *const data = sweep_open(db, which, &error);

    CHECK(data != NULL, "%s", error.text);
    db_close(db);
    return data;
}

/* All rows of sweeps as one text, without dates. An answer that a killed process had found but not written may be known to the
 * next process; it counts as the same answer. */
static inline char *example_sweep_rows(const char *path)
{
    char *text = NULL;
    size_t size = 0;
    struct orch_error error = {0};
    struct orch_db *const db = example_open(path, DB_READ);
    FILE *const out = open_memstream(&text, &size);

    CHECK(db_print_query(db,
                         "SELECT w.hash, w.name, w.specification, v.point, v.settings, v.status, replace(v.method, 'known', "
                         "'simulated') AS method, "
                         "v.expected_error, v.seconds, v.seconds_low, v.seconds_high, v.device_seconds, v.gflops, v.dram_bytes, "
                         "v.dram_gbps, v.joules, v.watts_avg, v.celsius_max, v.throttled_seconds, v.bound_by, v.error "
                         "FROM sweep w JOIN v_sweep v ON v.sweep_id = w.id "
                         "ORDER BY w.hash, v.point",
                         DB_FORMAT_CSV, out, &error),
          "%s", error.text);
    fclose(out);
    db_close(db);
    return text;
}

#endif
