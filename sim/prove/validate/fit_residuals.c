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
    const struct validate_row **row;
    bool *inside;
    size_t count;
};

static bool gather(const struct validation *v, struct unfitted *u)
{
    *u = (struct unfitted){.sample = calloc(v->rows + 1, sizeof *u->sample),
                           .row = calloc(v->rows + 1, sizeof *u->row),
                           .inside = calloc(v->rows + 1, sizeof *u->inside)};
    if (!u->sample || !u->row || !u->inside)
        return false;
    for (size_t i = 0; i < v->rows; i++) {
        const struct validate_row *const r = &v->row[i];
        if (r->state != VALIDATE_PREDICTED || r->parameter)
            continue;
        u->row[u->count] = r;
        u->sample[u->count++] = (struct residual_sample){r->part, r->work, r->source, validation_log_ratio(r), r->parameters};
    }
    return true;
}

static void release(struct unfitted *u)
{
    free(u->sample);
    free(u->row);
    free(u->inside);
}

bool validation_fit_residuals(const struct validation *v, FILE *out, struct orch_error *error)
{
    struct unfitted u;
    struct residual_table table;
    const bool ok = (gather(v, &u) && residual_fit(u.sample, u.count, &table)) || orch_no_memory(error);
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
    if ((gather(v, &u) && residual_fit(u.sample, u.count, &table)) || orch_no_memory(error))
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

static bool has_sources(const struct unfitted *u)
{
    for (size_t i = 1; i < u->count; i++)
        if (strcmp(u->sample[i].source, u->sample[0].source) != 0)
            return true;
    return false;
}

bool validation_cross_validate(struct validation *v, struct orch_error *error)
{
    struct unfitted u;
    const bool ok = (gather(v, &u) && residual_cross_validate(u.sample, u.count, u.inside)) || orch_no_memory(error);
    for (size_t i = 0; i < v->rows; i++)
        v->row[i].crossed = false;
    for (size_t i = 0, at = 0; ok && has_sources(&u) && i < v->rows && at < u.count; i++)
        if (u.row[at] == &v->row[i]) {
            v->row[i].crossed = true;
            v->row[i].inside_crossed = u.inside[at++];
        }
    release(&u);
    return ok;
}
