#include "sim/prove/regress/compare.h"

#include "sim/prove/regress/cause.h"
#include "sim/run/run_version.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- measuring ---- */

static bool is_asked(const char *only, const char *name)
{
    for (const char *at = only; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        const size_t length = strcspn(at, ",");
        if (length && strncmp(name, at, length) == 0)
            return true;
    }
    return only == NULL;
}

void regress_jobs_free(struct regress_job *jobs)
{
    if (jobs)
        free(jobs->value);
    free(jobs);
}

bool regress_run(const struct regress_request *q, struct regress_job **jobs, struct orch_error *error)
{
    const size_t metrics = regress_metric_count();
    struct regress_metric m;
    size_t wanted = 0;
    *jobs = calloc(q->chip_count, sizeof **jobs);
    struct regress_value *const values = *jobs ? calloc(q->chip_count * metrics, sizeof *values) : NULL;
    if (!values)
        return orch_no_memory(error);
    for (size_t c = 0; c < q->chip_count; c++) {
        (*jobs)[c] = (struct regress_job){.chip = q->chip[c], .sets = q->sets, .value = values + c * metrics};
        for (size_t i = 0; regress_metric_at(i, &m); i++)
            wanted += values[c * metrics + i].wanted = is_asked(q->only, m.name);
    }
    if (!wanted)
        return orch_fail(error, ORCH_USAGE, "no characteristic begins with '%.200s'; the first is %s", q->only,
                         regress_metric_at(0, &m) ? m.name : "");
    if (!regress_measure(*jobs, q->chip_count, q->threads, q->done, q->context, error))
        return false;
    for (size_t c = 0; c < q->chip_count; c++)
        if ((*jobs)[c].error.exit_code) {
            *error = (*jobs)[c].error;
            return false;
        }
    return true;
}

bool regress_record(const struct regress_request *q, const struct regress_job *jobs, struct baseline *b, struct orch_error *error)
{
    struct regress_metric m;
    bool ok = true;
    snprintf(b->version, sizeof b->version, "%s", run_model_version());
    db_timestamp(b->created, sizeof b->created);
    for (size_t c = 0; ok && c < q->chip_count; c++) {
        for (size_t i = 0; ok && regress_metric_at(i, &m); i++) {
            const struct regress_value *const v = &jobs[c].value[i];
            if (v->wanted && isfinite(v->value))
                ok = baseline_add_value(b, q->chip[c], m.name, v->value, m.tolerance);
        }
        struct chip *const chip = chip_open(q->chips, q->chip[c], &q->sets, error);
        if (!chip)
            return false;
        ok = ok && baseline_add_chip(b, chip);
        chip_close(chip);
    }
    baseline_sort(b);
    return ok || orch_no_memory(error);
}

/* ---- comparing ---- */

static bool add_moved(struct regress_comparison *r, struct regress_moved moved, struct orch_error *error)
{
    struct regress_moved *const grown = realloc(r->moved, (r->moved_count + 1) * sizeof *grown);
    if (!grown)
        return orch_no_memory(error);
    r->moved = grown;
    r->moved[r->moved_count++] = moved;
    return true;
}

static bool compare_one(struct regress_comparison *r, const char *chip, const struct regress_metric *m,
                        const struct regress_value *now, const struct baseline *b, struct orch_error *error)
{
    const struct baseline_value *const then = baseline_find(b, chip, m->name);
    const bool modelled = isfinite(now->value);
    if (!then && !modelled)
        check_skip(&r->report, "%s %s: not modelled, as in the baseline: %s", chip, m->name, now->why);
    else if (!then)
        check_skip(&r->report, "%s %s: not in the baseline (it is older than this characteristic, or the chip): record it again",
                   chip, m->name);
    else if (modelled && fabs(now->value - then->value) <= then->tolerance * fabs(then->value))
        check_pass(&r->report);
    else
        return add_moved(r, (struct regress_moved){chip, *m, then->value, now->value, now->why, NULL}, error);
    return true;
}

/* Reports characteristics of the baseline that are not measured any more, for the chips asked for. */
static void tell_lost(const struct regress_request *q, const struct baseline *b, struct check_report *report)
{
    struct regress_metric m;
    for (size_t i = 0; i < b->values; i++) {
        size_t c = 0, k = 0;
        while (c < q->chip_count && strcmp(q->chip[c], b->value[i].chip) != 0)
            c++;
        while (regress_metric_at(k, &m) && strcmp(m.name, b->value[i].name) != 0)
            k++;
        const bool known = k < regress_metric_count();
        if (c < q->chip_count && !known && is_asked(q->only, b->value[i].name))
            check_fail(report, "%s %s: in the baseline, but not measured any more", b->value[i].chip, b->value[i].name);
    }
}

bool regress_compare(const struct regress_request *q, const struct regress_job *jobs, const struct baseline *b,
                     struct regress_comparison *r, struct orch_error *error)
{
    struct regress_metric m;
    for (size_t c = 0; c < q->chip_count; c++)
        for (size_t i = 0; regress_metric_at(i, &m); i++)
            if (jobs[c].value[i].wanted && !compare_one(r, q->chip[c], &m, &jobs[c].value[i], b, error))
                return false;
    if (!regress_find_causes(q, b, r, error))
        return false;
    for (size_t i = 0; i < r->moved_count; i++) {
        const struct regress_moved *const v = &r->moved[i];
        if (isfinite(v->after))
            check_fail(&r->report, "%s %s: %.6g -> %.6g %s (%+.2f %%): %s", v->chip, v->metric.name, v->before, v->after,
                       v->metric.unit, 100 * (v->after / v->before - 1), v->cause);
        else
            check_fail(&r->report, "%s %s: %.6g %s -> not modelled (%s): %s", v->chip, v->metric.name, v->before, v->metric.unit,
                       v->why, v->cause);
    }
    tell_lost(q, b, &r->report);
    return true;
}

void regress_comparison_free(struct regress_comparison *r)
{
    for (size_t i = 0; i < r->moved_count; i++)
        free(r->moved[i].cause);
    free(r->moved);
    check_report_free(&r->report);
    *r = (struct regress_comparison){0};
}
