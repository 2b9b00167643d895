#include "sim/ask/sweep/sweep_read.h"

#include "isa/list_grow.h"
#include "sim/ask/sweep/sweep_design.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct reading {
    struct sweep_data *data;
    struct sweep_design *design;
    size_t capacity;
};

static bool reserve(struct reading *r)
{
    struct sweep_point *const grown = list_grow(r->data->point, r->data->point_count, &r->capacity, sizeof *grown);
    if (grown)
        r->data->point = grown;
    return grown != NULL;
}

static void count(struct sweep_data *data, const struct sweep_point *point)
{
    if (point->role != SWEEP_POINT)
        return;
    if (point->answer.status == SWEEP_FAILED) {
        data->failed++;
        return;
    }
    data->done++;
    data->by_method[point->answer.method]++;
}

static bool take(void *context, const struct db_sweep_point *row, struct orch_error *error)
{
    struct reading *const r = context;
    const uint64_t number = (uint64_t)row->point;
    if (number >= sweep_design_points(r->design))
        return orch_fail(error, ORCH_USAGE, "sweep %lld has a point that its specification has not", (long long)r->data->id);
    double *const value = calloc(r->data->spec->key_count + 1, sizeof *value);
    if (!value || !reserve(r)) {
        free(value);
        return orch_no_memory(error);
    }
    const struct sweep_place place = sweep_design_place(r->design, number);
    struct sweep_point *const p = &r->data->point[r->data->point_count++];
    *p = (struct sweep_point){number, place.role, place.workload, place.key, value, {0}};
    sweep_design_values(r->design, number, value);
    sweep_answer_from_row(&p->answer, row);
    count(r->data, p);
    return true;
}

static char *column_copy(sqlite3_stmt *row, int column)
{
    const char *const text = db_column_text(row, column);
    return strdup(text ? text : "");
}

static bool read_head(struct orch_db *db, struct sweep_data *data, struct orch_error *error)
{
    sqlite3_stmt *const row =
        db_query(db, error, "SELECT hash, version, created, specification, name FROM sweep WHERE id = ?", "i", data->id);
    bool ok = row && db_step(db, row, error) == SQLITE_ROW;
    if (ok) {
        const char *const text = db_column_text(row, 3);
        const char *const name = db_column_text(row, 4);
        snprintf(data->hash, sizeof data->hash, "%s", db_column_text(row, 0));
        data->version = column_copy(row, 1);
        data->created = column_copy(row, 2);
        data->spec = sweep_spec_parse("specification", text, strlen(text), error);
        if (!data->spec)
            db_content_fail(db, "sweep", error);
        ok = data->spec && data->version && data->created;
        if (ok && name && !data->spec->name)
            data->spec->name = strdup(name);
    }
    sqlite3_finalize(row);
    return ok;
}

struct sweep_data *sweep_open(struct orch_db *db, const char *which, struct orch_error *error)
{
    struct sweep_data *const data = calloc(1, sizeof *data);
    struct reading r = {data, NULL, 0};
    if (!data) {
        orch_no_memory(error);
        return NULL;
    }
    bool ok = db_resolve_sweep(db, which, &data->id, error) && read_head(db, data, error);
    if (ok) {
        r.design = sweep_design_create(data->spec);
        ok = r.design ? db_each_sweep_point(db, data->id, take, &r, error) : orch_no_memory(error);
    }
    sweep_design_free(r.design);
    if (ok)
        return data;
    sweep_close(data);
    return NULL;
}

void sweep_close(struct sweep_data *data)
{
    if (!data)
        return;
    for (size_t i = 0; i < data->point_count; i++)
        free(data->point[i].value);
    free(data->point);
    free(data->version);
    free(data->created);
    sweep_spec_free(data->spec);
    free(data);
}

const char *sweep_value_text(const struct sweep_data *data, const struct sweep_point *point, size_t key, char *text, size_t size)
{
    const struct sweep_key *const k = &data->spec->key[key];
    const double value = point->value[key];
    if (isnan(value))
        snprintf(text, size, "base");
    else if (k->numeric)
        snprintf(text, size, "%.6g", value);
    else
        snprintf(text, size, "%s", k->level[(size_t)value]);
    return text;
}

bool sweep_counts(const struct sweep_data *data, const struct sweep_point *point, size_t workload, enum sweep_response response)
{
    (void)data;
    return point->role == SWEEP_POINT && point->workload == workload && point->answer.status == SWEEP_DONE &&
           !isnan(point->answer.response[response]);
}
