/* Residuals of a validation: the table from which intervals are made, and how well such tables cover rows that they do not know.
 */
#include "sim/base/json_out.h"
#include "sim/prove/validate/residual_fit.h"
#include "sim/prove/validate/validation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rows from which no parameter was taken. */
struct unfitted {
    struct residual_sample *sample;
    struct validate_row **row;
    size_t count;
};

static bool is_unfitted(const struct validate_row *r)
{
    return r->state == VALIDATE_PREDICTED && !r->parameter && !r->guessed;
}

/* Each row with the prediction that it would have had without its source (validation_cross_validate). */
static bool gather(const struct validation *v, struct unfitted *u)
{
    *u = (struct unfitted){calloc(v->rows + 1, sizeof *u->sample), calloc(v->rows + 1, sizeof *u->row), 0};
    if (!u->sample || !u->row)
        return false;
    for (size_t i = 0; i < v->rows; i++) {
        struct validate_row *const r = &v->row[i];
        if (!is_unfitted(r))
            continue;
        u->row[u->count] = r;
        u->sample[u->count++] =
            (struct residual_sample){r->part, r->work, r->source,
                                     validation_log_ratio(r, r->crossed ? r->predicted_crossed : r->predicted), r->parameters};
    }
    return true;
}

static void release(struct unfitted *u)
{
    free(u->sample);
    free(u->row);
}

bool validation_fit_residuals(const struct validation *v, FILE *out, struct orch_error *error)
{
    struct unfitted u;
    struct residual_table table;
    const bool ok = (gather(v, &u) && residual_fit(u.sample, u.count, NULL, &table)) || orch_no_memory(error);
    for (size_t i = 0; ok && i < table.count; i++) {
        const struct residual *const r = &table.group[i];
        fprintf(out, "{\"%s\", \"%s\", %.3f, %.3f, %.3f, %u, %u},\n", r->part, r->work, r->low, r->high, r->parameter, r->rows,
                r->sources);
    }
    release(&u);
    return ok;
}

struct json_object *validation_residuals_json(const struct validation *v, struct orch_error *error)
{
    struct unfitted u;
    struct residual_table table;
    struct json_object *list = NULL;
    if ((gather(v, &u) && residual_fit(u.sample, u.count, NULL, &table)) || orch_no_memory(error))
        list = json_object_new_array();
    for (size_t i = 0; list && i < table.count; i++) {
        const struct residual *const r = &table.group[i];
        struct json_object *const o = json_object_new_object();
        json_add_text(o, "part", r->part);
        json_add_text(o, "work", r->work);
        json_add_number(o, "low", exp(r->low));
        json_add_number(o, "high", exp(r->high));
        json_add_number(o, "parameter_sd", r->parameter);
        json_add_count(o, "rows", r->rows);
        json_add_count(o, "sources", r->sources);
        json_object_array_add(list, o);
    }
    release(&u);
    return list;
}

/* ---- cross-validation ---- */

static bool has_sources(const struct unfitted *u)
{
    for (size_t i = 1; i < u->count; i++)
        if (strcmp(u->sample[i].source, u->sample[0].source) != 0)
            return true;
    return false;
}

/* Leaves a source out: overheads are measured and spreads are fitted again by the rows of all others, and the intervals that
 * these give to the rows of the source are compared with what was measured. */
static bool leave_out(const struct validation *v, struct unfitted *u, const char *source, double *predicted)
{
    struct residual_table table;
    if (!validation_predict_without(v, source, predicted))
        return false;
    for (size_t i = 0; i < u->count; i++)
        u->sample[i].ratio = validation_log_ratio(u->row[i], predicted[u->row[i] - v->row]);
    if (!residual_fit(u->sample, u->count, source, &table))
        return false;
    for (size_t i = 0; i < u->count; i++) {
        struct validate_row *const r = u->row[i];
        if (strcmp(u->sample[i].source, source) != 0)
            continue;
        r->crossed = true;
        r->predicted_crossed = predicted[r - v->row];
        r->inside_crossed = residual_inside(&table, &u->sample[i]);
    }
    return true;
}

bool validation_cross_validate(struct validation *v, struct orch_error *error)
{
    struct unfitted u;
    for (size_t i = 0; i < v->rows; i++)
        v->row[i].crossed = false;
    double *const predicted = calloc(v->rows + 1, sizeof *predicted);
    bool ok = gather(v, &u) && predicted;
    for (size_t i = 0; ok && has_sources(&u) && i < u.count; i++)
        ok = u.row[i]->crossed || leave_out(v, &u, u.sample[i].source, predicted);
    free(predicted);
    release(&u);
    return ok || orch_no_memory(error);
}
