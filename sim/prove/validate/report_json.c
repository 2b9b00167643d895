#include "sim/base/json_out.h"
#include "sim/prove/validate/validation.h"

#include <math.h>
#include <string.h>

/* Scores of the same rows without the time of frameworks; left out when no row has any. */
static void add_bare(json_object *o, const struct validation_group *group)
{
    if (!group->framed)
        return;
    json_object *const bare = json_object_new_object();
    json_add_count(bare, "rows_with_overhead", group->framed);
    json_add_all_digits(bare, "mape", group->bare.mape);
    json_add_all_digits(bare, "median_ape", group->bare.median_ape);
    json_add_all_digits(bare, "p90_ape", group->bare.p90_ape);
    json_add_all_digits(bare, "bias", group->bare.bias);
    json_add_all_digits(bare, "symmetric_error", group->bare.symmetric);
    json_add_all_digits(bare, "within10", group->bare.within10);
    json_add_all_digits(bare, "within25", group->bare.within25);
    json_add_all_digits(bare, "spearman", group->bare.spearman);
    json_object_object_add(o, "without_overhead", bare);
}

/* What a spreadsheet would have said of the same rows, as far as it has figures, and our errors over these rows. */
static void add_spreadsheet(json_object *o, const struct validation_group *group)
{
    json_object *const sheet = json_object_new_object();
    json_add_count(sheet, "rows", group->sheet.count);
    json_add_all_digits(sheet, "mape", group->sheet.mape);
    json_add_all_digits(sheet, "median_ape", group->sheet.median_ape);
    json_add_all_digits(sheet, "our_mape", group->beside.mape);
    json_add_all_digits(sheet, "our_median_ape", group->beside.median_ape);
    json_add_all_digits(sheet, "mape_ratio", validation_ratio(group));
    json_add_all_digits(sheet, "median_ape_ratio", group->beside.median_ape / group->sheet.median_ape);
    json_object_object_add(o, "spreadsheet", sheet);
}

static void add_score(json_object *o, const struct validation_group *group)
{
    const struct score *const s = &group->score;
    json_add_count(o, "rows", group->rows);
    json_add_count(o, "modelled", group->modelled);
    json_add_all_digits(o, "coverage", group->rows ? (double)group->modelled / (double)group->rows : NAN);
    json_add_all_digits(o, "mape", s->mape);
    json_add_all_digits(o, "median_ape", s->median_ape);
    json_add_all_digits(o, "p90_ape", s->p90_ape);
    json_add_all_digits(o, "bias", s->bias);
    json_add_all_digits(o, "symmetric_error", s->symmetric);
    json_add_all_digits(o, "within10", s->within10);
    json_add_all_digits(o, "within25", s->within25);
    json_add_all_digits(o, "spearman", s->spearman);
    json_add_all_digits(o, "interval_coverage", s->interval_coverage);
    json_add_all_digits(o, "interval_coverage_across_sources", s->cross_coverage);
    json_add_count(o, "scored", s->count);
    add_bare(o, group);
    add_spreadsheet(o, group);
}

static json_object *group_object(const struct validation_groups *groups, const struct validation_group *group)
{
    json_object *const o = json_object_new_object(), *const by = json_object_new_object();
    const char *at = group->key;
    for (size_t i = 0; i < groups->columns; i++) {
        const size_t length = strcspn(at, "\x1f");
        json_object_object_add(by, groups->column[i], json_object_new_string_len(at, (int)length));
        at += length + (at[length] != '\0');
    }
    json_object_object_add(o, "group", by);
    add_score(o, group);
    json_add_count(o, "fitted_rows", group->fitted);
    json_add_count(o, "guessed_rows", group->guessed);
    return o;
}

static json_object *detail(const struct validate_row *row)
{
    json_object *const o = json_object_new_object();
    json_add_text(o, "id", row->id);
    json_add_all_digits(o, "predicted", row->predicted);
    json_add_all_digits(o, "measured", row->measured);
    json_add_all_digits(o, "ape", fabs(row->predicted - row->measured) / row->measured);
    json_add_text(o, "chip", row->chip);
    json_add_text(o, "unit", row->unit);
    json_add_text(o, "part", row->part);
    json_add_text(o, "work", row->work);
    json_add_text(o, "source", row->source);
    json_add_all_digits(o, "parameter_sd", row->parameters);
    if (row->high > 0) {
        json_add_all_digits(o, "low", row->low);
        json_add_all_digits(o, "high", row->high);
    }
    json_add_text(o, "fitted", row->parameter);
    if (row->guessed)
        json_add_text(o, "guessed", row->guessed);
    if (row->spreadsheet > 0)
        json_add_all_digits(o, "spreadsheet", row->spreadsheet);
    if (row->engine_level)
        json_add_text(o, "level", "engine");
    if (row->overhead) {
        json_add_text(o, "overhead_of", row->framework);
        json_add_all_digits(o, "predicted_without_overhead", row->bare);
        json_add_all_digits(o, "ape_without_overhead", fabs(row->bare - row->measured) / row->measured);
    }
    if (row->note)
        json_add_text(o, "note", row->note);
    return o;
}

static json_object *refusal(const struct validate_row *row)
{
    json_object *const o = json_object_new_object();
    json_add_text(o, "id", row->id);
    json_add_text(o, "why", row->why);
    return o;
}

static json_object *skipped_list(const struct validation *v)
{
    json_object *const list = json_object_new_array();
    for (size_t i = 0; i < v->tables; i++)
        for (size_t k = 0; k < csv_faults(v->table[i]); k++) {
            const struct csv_fault *const f = csv_fault_at(v->table[i], k);
            json_object *const o = json_object_new_object();
            json_add_text(o, "file", v->file[i].path);
            json_add_count(o, "line", f->line);
            json_add_count(o, "place", f->place);
            json_add_text(o, "column", *f->column ? f->column : NULL);
            json_add_text(o, "value", *f->value ? f->value : NULL);
            json_add_text(o, "why", f->why);
            json_add_text(o, "fix", f->fix);
            json_object_array_add(list, o);
        }
    return list;
}

/* What frameworks take beside the device, as far as this report uses it. */
static json_object *overhead_list(const struct validation *v)
{
    json_object *const list = json_object_new_array();
    for (size_t i = 0; i < v->rows; i++) {
        const struct validate_overhead *const h = v->row[i].overhead;
        size_t before = 0;
        while (before < i && v->row[before].overhead != h)
            before++;
        if (!h || before < i)
            continue;
        json_object *const o = json_object_new_object();
        json_add_text(o, "framework", h->framework);
        json_add_all_digits(o, "call_us", h->call_us);
        json_add_all_digits(o, "ns_per_kib", h->ns_per_kib);
        json_add_all_digits(o, "ns_per_kib_out", h->ns_per_kib_out);
        json_add_text(o, "kind", "measured");
        json_add_text(o, "source", h->source);
        json_add_text(o, "rows", h->rows);
        json_object_array_add(list, o);
    }
    return list;
}

/* Scores each table as a whole, with fitted rows apart, and the hash of its content. */
static bool add_files(json_object *o, const struct validation *v, struct orch_error *error)
{
    json_object *const list = json_object_new_array();
    bool ok = true;
    json_object_object_add(o, "files", list);
    for (size_t i = 0; ok && i < v->tables; i++) {
        struct validation_groups groups;
        ok = validation_group_file(v, v->table[i], "chip", &groups, error);
        if (!ok)
            break;
        json_object *const file = json_object_new_object(), *const taken = json_object_new_object();
        json_add_text(file, "file", v->file[i].name);
        json_add_text(file, "hash", v->file[i].hash);
        add_score(file, &groups.all);
        add_score(taken, &groups.taken);
        json_object_object_add(file, "fitted", taken);
        json_object *const guessed = json_object_new_object();
        add_score(guessed, &groups.guess);
        json_object_object_add(file, "guessed", guessed);
        json_object_array_add(list, file);
        validation_groups_free(&groups);
    }
    return ok;
}

json_object *validation_json(const struct validation *v, const char *group_by, struct orch_error *error)
{
    struct validation_groups groups;
    if (!validation_group_rows(v, group_by, &groups, error))
        return NULL;
    json_object *const o = json_object_new_object();
    json_object *const list = json_object_new_array();
    json_object *const taken = json_object_new_object();
    json_object *const rows = json_object_new_array();
    json_object *const unmodelled = json_object_new_array();
    add_score(o, &groups.all);
    for (size_t i = 0; i < groups.count; i++)
        json_object_array_add(list, group_object(&groups, &groups.group[i]));
    add_score(taken, &groups.taken);
    for (size_t i = 0; i < v->rows; i++) {
        const bool modelled = v->row[i].state == VALIDATE_PREDICTED;
        json_object_array_add(modelled ? rows : unmodelled, modelled ? detail(&v->row[i]) : refusal(&v->row[i]));
    }
    json_object *const guessed = json_object_new_object();
    add_score(guessed, &groups.guess);
    json_object_object_add(o, "groups", list);
    json_object_object_add(o, "fitted", taken);
    json_object_object_add(o, "guessed", guessed);
    if (groups.engine.rows) {
        json_object *const engine = json_object_new_object();
        add_score(engine, &groups.engine);
        json_object_object_add(o, "engine_level", engine);
    }
    if (groups.all.framed)
        json_object_object_add(o, "overheads", overhead_list(v));
    json_object_object_add(o, "rows_detail", rows);
    json_object *const coverage = validation_coverage_json(v, error);
    json_object_object_add(o, "interval_coverage_by_kind", coverage);
    const bool ok = coverage && add_files(o, v, error);
    json_object_object_add(o, "unmodelled", unmodelled);
    json_object_object_add(o, "skipped", skipped_list(v));
    validation_groups_free(&groups);
    if (ok)
        return o;
    json_object_put(o);
    return NULL;
}
