#include "sim/prove/validate/validation.h"

#include <math.h>
#include <string.h>

static void add_number(struct json_object *o, const char *key, double value)
{
    json_object_object_add(o, key, isfinite(value) ? json_object_new_double(value) : NULL);
}

static void add_count(struct json_object *o, const char *key, size_t value)
{
    json_object_object_add(o, key, json_object_new_int64((int64_t)value));
}

static void add_text(struct json_object *o, const char *key, const char *value)
{
    json_object_object_add(o, key, value ? json_object_new_string(value) : NULL);
}

/* The same rows without the fitted time of frameworks; left out where none has any. */
static void add_bare(struct json_object *o, const struct validation_group *group)
{
    if (!group->framed)
        return;
    struct json_object *bare = json_object_new_object();
    add_count(bare, "rows_with_overhead", group->framed);
    add_number(bare, "mape", group->bare.mape);
    add_number(bare, "median_ape", group->bare.median_ape);
    add_number(bare, "p90_ape", group->bare.p90_ape);
    add_number(bare, "bias", group->bare.bias);
    add_number(bare, "symmetric_error", group->bare.symmetric);
    add_number(bare, "within10", group->bare.within10);
    add_number(bare, "within25", group->bare.within25);
    add_number(bare, "spearman", group->bare.spearman);
    json_object_object_add(o, "without_overhead", bare);
}

static void add_score(struct json_object *o, const struct validation_group *group)
{
    const struct score *s = &group->score;
    add_count(o, "rows", group->rows);
    add_count(o, "modelled", group->modelled);
    add_number(o, "coverage", group->rows ? (double)group->modelled / (double)group->rows : NAN);
    add_number(o, "mape", s->mape);
    add_number(o, "median_ape", s->median_ape);
    add_number(o, "p90_ape", s->p90_ape);
    add_number(o, "bias", s->bias);
    add_number(o, "symmetric_error", s->symmetric);
    add_number(o, "within10", s->within10);
    add_number(o, "within25", s->within25);
    add_number(o, "spearman", s->spearman);
    add_number(o, "interval_coverage", s->interval_coverage);
    add_number(o, "interval_coverage_across_sources", s->cross_coverage);
    add_count(o, "scored", s->count);
    add_bare(o, group);
}

static struct json_object *group_object(const struct validation_groups *groups, const struct validation_group *group)
{
    struct json_object *o = json_object_new_object(), *by = json_object_new_object();
    const char *at = group->key;
    for (size_t i = 0; i < groups->columns; i++) {
        const size_t length = strcspn(at, "\x1f");
        json_object_object_add(by, groups->column[i], json_object_new_string_len(at, (int)length));
        at += length + (at[length] != '\0');
    }
    json_object_object_add(o, "group", by);
    add_score(o, group);
    add_count(o, "fitted_rows", group->fitted);
    return o;
}

static struct json_object *detail(const struct validate_row *row)
{
    struct json_object *o = json_object_new_object();
    add_text(o, "id", row->id);
    add_number(o, "predicted", row->predicted);
    add_number(o, "measured", row->measured);
    add_number(o, "ape", fabs(row->predicted - row->measured) / row->measured);
    add_text(o, "chip", row->chip);
    add_text(o, "unit", row->unit);
    add_text(o, "part", row->part);
    add_text(o, "work", row->work);
    add_text(o, "source", row->source);
    add_number(o, "parameter_sd", row->parameters);
    if (row->high > 0) {
        add_number(o, "low", row->low);
        add_number(o, "high", row->high);
    }
    add_text(o, "fitted", row->parameter);
    if (row->engine_level)
        add_text(o, "level", "engine");
    if (row->overhead) {
        add_text(o, "overhead_of", row->framework);
        add_number(o, "predicted_without_overhead", row->bare);
        add_number(o, "ape_without_overhead", fabs(row->bare - row->measured) / row->measured);
    }
    if (row->note)
        add_text(o, "note", row->note);
    return o;
}

static struct json_object *refusal(const struct validate_row *row)
{
    struct json_object *o = json_object_new_object();
    add_text(o, "id", row->id);
    add_text(o, "why", row->why);
    return o;
}

/* The fitted numbers that this report used. */
static struct json_object *overhead_list(const struct validation *v)
{
    struct json_object *list = json_object_new_array();
    for (size_t i = 0; i < v->rows; i++) {
        const struct validate_overhead *h = v->row[i].overhead;
        size_t before = 0;
        while (before < i && v->row[before].overhead != h)
            before++;
        if (!h || before < i)
            continue;
        struct json_object *o = json_object_new_object();
        add_text(o, "framework", h->framework);
        add_number(o, "operation_us", h->operation_us);
        add_number(o, "ns_per_kib", h->ns_per_kib);
        add_number(o, "ns_per_kib_out", h->ns_per_kib_out);
        add_number(o, "ns_per_row", h->ns_per_row);
        add_text(o, "kind", "fitted");
        add_text(o, "source", validate_overhead_source(h));
        add_count(o, "fitted_on_rows", h->rows);
        json_object_array_add(list, o);
    }
    return list;
}

/* Each table as a whole, with the hash of its content; rows that a parameter was taken from apart. */
static bool add_files(struct json_object *o, const struct validation *v, struct orch_error *error)
{
    struct json_object *list = json_object_new_array();
    bool ok = true;
    json_object_object_add(o, "files", list);
    for (size_t i = 0; ok && i < v->tables; i++) {
        struct validation_groups groups;
        ok = validation_group_file(v, v->table[i], "chip", &groups, error);
        if (!ok)
            break;
        struct json_object *file = json_object_new_object(), *taken = json_object_new_object();
        add_text(file, "file", v->file[i].name);
        add_text(file, "hash", v->file[i].hash);
        add_score(file, &groups.all);
        add_score(taken, &groups.taken);
        json_object_object_add(file, "fitted", taken);
        json_object_array_add(list, file);
        validation_groups_free(&groups);
    }
    return ok;
}

struct json_object *validation_json(const struct validation *v, const char *group_by, struct orch_error *error)
{
    struct validation_groups groups;
    if (!validation_group_rows(v, group_by, &groups, error))
        return NULL;
    struct json_object *o = json_object_new_object(), *list = json_object_new_array(), *taken = json_object_new_object(),
                       *rows = json_object_new_array(), *unmodelled = json_object_new_array();
    add_score(o, &groups.all);
    for (size_t i = 0; i < groups.count; i++)
        json_object_array_add(list, group_object(&groups, &groups.group[i]));
    add_score(taken, &groups.taken);
    for (size_t i = 0; i < v->rows; i++) {
        const bool modelled = v->row[i].state == VALIDATE_PREDICTED;
        json_object_array_add(modelled ? rows : unmodelled, modelled ? detail(&v->row[i]) : refusal(&v->row[i]));
    }
    json_object_object_add(o, "groups", list);
    json_object_object_add(o, "fitted", taken);
    if (groups.engine.rows) {
        struct json_object *engine = json_object_new_object();
        add_score(engine, &groups.engine);
        json_object_object_add(o, "engine_level", engine);
    }
    if (groups.all.framed)
        json_object_object_add(o, "overheads", overhead_list(v));
    json_object_object_add(o, "rows_detail", rows);
    const bool ok = add_files(o, v, error);
    json_object_object_add(o, "unmodelled", unmodelled);
    validation_groups_free(&groups);
    if (ok)
        return o;
    json_object_put(o);
    return NULL;
}
