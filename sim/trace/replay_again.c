/* Runs recorded workloads again, with the recorded options. */
#include "sim/trace/launch_settings.h"
#include "sim/trace/replay_internal.h"
#include "sim/trace/trace_errors.h"

#include "sim/workload/amx/kernel.h"

#include <stdlib.h>
#include <string.h>

struct again {
    const struct trace_replay_request *request;
    struct launch_request launch[TOGETHER_PARTS];
    char *text[TOGETHER_PARTS][3];
    struct together_part part[TOGETHER_PARTS];
    unsigned count;
    char program_hash[40];
    char *workload;
    bool has_file;
};

bool replay_again_fits(const struct trace_survey *s)
{
    return strcmp(s->source, "orchard") == 0 && s->works[0] >= 1 && s->works[0] <= TOGETHER_PARTS &&
           s->works[1] + s->works[2] == 0 && s->dependent == 0 && s->runs >= 1;
}

static bool keep(const char *text, char **to)
{
    *to = text ? strdup(text) : NULL;
    return *to || !text;
}

/* Replaces an element type that the unit does not have by the unit's own. */
static const char *precision_for(const struct trace_launch *l, const char *unit, bool kernel)
{
    const bool other = strcmp(unit, l->unit) != 0;
    return !kernel || (other && (strcmp(unit, "ane") == 0 || strcmp(l->unit, "ane") == 0)) ? NULL : l->precision;
}

static bool add_launch(struct again *a, const struct trace_launch *l, struct orch_error *error)
{
    const struct trace_replay_request *const q = a->request;
    const char *const unit = q->unit ? q->unit : l->unit;
    const bool kernel = kernel_is_workload(l->workload);
    if (a->count == TOGETHER_PARTS)
        return orch_fail(error, ORCH_USAGE, "%s: more than %d workloads at once", q->path, TOGETHER_PARTS);
    struct launch_request *const r = &a->launch[a->count];
    char **text = a->text[a->count];
    a->has_file = a->has_file || !kernel;
    if (!launch_settings_read(l->settings, r, error))
        return orch_fail_in(error, "%s: operator %llu", q->path, (unsigned long long)l->op);
    a->count++;
    if (!keep(l->workload, &text[0]) || !keep(unit, &text[1]) || !keep(precision_for(l, unit, kernel), &text[2]))
        return orch_no_memory(error);
    struct together_part *const p = &a->part[a->count - 1];
    *p = r->part;
    p->request.chip = q->chip;
    p->request.threads = q->common.threads;
    p->request.workload = text[0];
    p->request.unit = text[1];
    p->request.precision = text[2];
    p->start_seconds = q->timing == TRACE_TIMING_ARRIVAL && l->submitted_ps > 0 ? (double)l->submitted_ps * 1e-12 : 0;
    return true;
}

static bool read_run(struct again *a, struct orch_error *error)
{
    const struct trace_replay_request *const q = a->request;
    struct trace_error own;
    struct trace_record record;
    enum trace_step step;
    struct trace_reader *const r = trace_reader_open(q->path, q->force, &own);
    bool ok = r || trace_tell(&own, error);
    while (ok && (step = trace_next(r, &record, &own)) != TRACE_OVER) {
        if (step == TRACE_BAD)
            ok = trace_tell(&own, error);
        else if (record.kind == TRACE_RUN_BEGIN && (q->run == 0 || record.run_begin.run == q->run)) {
            snprintf(a->program_hash, sizeof a->program_hash, "%s",
                     record.run_begin.program_hash ? record.run_begin.program_hash : "");
            free(a->workload);
            ok = keep(record.run_begin.workload ? record.run_begin.workload : "trace", &a->workload) || orch_no_memory(error);
        } else if (record.kind == TRACE_LAUNCH && (q->run == 0 || record.launch.run == q->run)) {
            ok = add_launch(a, &record.launch, error);
        }
    }
    trace_reader_close(r);
    return ok;
}

/* A recorded program is identified by its contents: a different file of the same name is refused. */
static bool check_hash(const struct again *a, const struct event_run_begin *begin, struct orch_error *error)
{
    if (!a->has_file || !a->program_hash[0] || strcmp(a->program_hash, begin->program_hash) == 0)
        return true;
    return orch_fail(error, ORCH_USAGE, "%s: %.200s has contents %s, recorded was %s", a->request->path, begin->workload,
                     begin->program_hash, a->program_hash);
}

static bool run_one(const struct again *a, struct event_bus *bus, uint64_t number, struct run_result *result,
                    struct orch_error *error)
{
    struct run *const run = run_prepare(&a->part[0].request, error);
    const bool ok = run && check_hash(a, run_begin_event(run), error) && run_execute(run, bus, number, result, error);
    run_free(run);
    return ok;
}

static bool run_many(const struct again *a, struct event_bus *bus, uint64_t number, struct run_result *result,
                     struct orch_error *error)
{
    struct together *const t = together_prepare(a->part, a->count, a->workload ? a->workload : "trace", error);
    const bool ok = t && check_hash(a, together_begin_event(t), error) && together_execute(t, bus, number, result, error);
    together_free(t);
    return ok;
}

bool replay_again(const struct trace_replay_request *request, struct event_bus *bus, uint64_t number, struct run_result *result,
                  struct orch_error *error)
{
    struct again *const a = calloc(1, sizeof *a);
    if (!a)
        return orch_no_memory(error);
    a->request = request;
    bool ok = read_run(a, error) && (a->count > 0 || orch_fail(error, ORCH_USAGE, "%s: there is no run %llu with launches in it",
                                                               request->path, (unsigned long long)request->run));
    ok = ok && (a->count == 1 ? run_one : run_many)(a, bus, number, result, error);
    for (unsigned i = 0; i < a->count; i++) {
        launch_request_free(&a->launch[i]);
        for (unsigned k = 0; k < 3; k++)
            free(a->text[i][k]);
    }
    free(a->workload);
    free(a);
    return ok;
}
