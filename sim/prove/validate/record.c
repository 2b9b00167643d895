#include "sim/prove/validate/record.h"

#include "isa/array_count.h"
#include "sim/run/run_version.h"
#include "sim/prove/validate/validation.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifndef ORCHARD_VALIDATE_HASH
#error "the Makefile passes ORCHARD_VALIDATE_HASH"
#endif

bool validation_version(const struct chip_db *chips, const struct chip_overrides *overrides,
                        char version[VALIDATION_VERSION_SIZE], struct orch_error *error)
{
    struct content_hash h;
    char text[CONTENT_HASH_SIZE];
    content_hash_begin(&h);
    for (size_t i = 0; i < chip_db_count(chips); i++) {
        struct orch_error why = {0};
        struct chip *const chip = chip_open(chips, chip_db_id(chips, i), overrides, &why);
        if (!chip && !(overrides && overrides->count)) { /* an override need not fit every chip */
            if (error)
                *error = why;
            return false;
        }
        content_hash_add_integer(&h, chip ? chip_hash(chip) : 0);
        chip_close(chip);
    }
    content_hash_end(&h, text);
    snprintf(version, VALIDATION_VERSION_SIZE, "%.50s/%.16s/%.8s", run_model_version(), ORCHARD_VALIDATE_HASH, text);
    return true;
}

/* ---- rows ---- */

static const char *cell(const struct validate_row *row, const char *column)
{
    const char *const text = csv_cell(row->table, row->number, csv_find(row->table, column));
    return *text ? text : NULL;
}

static double number(const struct validate_row *row, const char *column)
{
    const char *const text = cell(row, column);
    char *end;
    const double value = text ? strtod(text, &end) : NAN;
    return text && end != text && *end == '\0' ? value : NAN;
}

static const char *given(const char *text)
{
    return text && *text ? text : NULL;
}

/* A row of a table without units of its own is identified by the unit at work, too. */
static struct db_measurement measurement_of(const struct validate_row *row)
{
    return (struct db_measurement){
        .label = row->id,
        .chip = given(row->chip),
        .unit = given(*row->device ? row->device : row->part),
        .workload = *row->what ? row->what : "?",
        .precision = cell(row, "precision"),
        .shape = given(row->shape),
        .metric = cell(row, "metric") ? cell(row, "metric") : row->unit,
        .value_unit = row->unit,
        .condition = given(row->condition),
        .kind = given(row->kind),
        .source = *row->source ? row->source : "not given",
        .note = cell(row, "note"),
        .value = row->measured,
        .watts = number(row, "power_W"),
        .flops = number(row, "flop"),
        .min_bytes = number(row, "min_bytes"),
    };
}

static bool record_row(const struct validate_row *row, struct orch_db *db, const char *version, struct orch_error *error)
{
    const struct db_measurement m = measurement_of(row);
    const bool predicted = row->state == VALIDATE_PREDICTED, interval = predicted && row->high > 0;
    struct db_validation v = {
        .version = version,
        .predicted = predicted ? row->predicted : NAN,
        .low = interval ? row->low : NAN,
        .high = interval ? row->high : NAN,
        .fitted = row->parameter != NULL,
        .unmodelled = predicted ? NULL : row->why,
    };
    return !row->has_value || (db_put_measurement(db, &m, &v.measurement_id, error) && db_put_validation(db, &v, error));
}

/* ---- scores ---- */

struct scores {
    struct orch_db *db;
    const struct validation_file *file;
    const char *version, *grouping;
    char now[32];
    struct orch_error *error;
};

static bool put_score(const struct scores *s, const char *group, bool fitted, size_t rows, size_t modelled,
                      const struct score *score)
{
    struct content_hash h;
    char hash[CONTENT_HASH_SIZE];
    const char *const parts[] = {s->version, s->file->name, s->file->hash, s->grouping, group};
    content_hash_begin(&h);
    for (size_t i = 0; i < ARRAY_COUNT(parts); i++)
        content_hash_add_text(&h, parts[i]);
    content_hash_add_integer(&h, fitted);
    content_hash_end(&h, hash);
    return db_exec(
        s->db, s->error,
        "INSERT INTO validation_score (hash, version, created, file, file_hash, grouping, grp, fitted, rows, modelled, "
        "mape, median_ape, p90_ape, symmetric, bias, within10, within25, spearman, interval_coverage) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (hash) DO NOTHING",
        "tttttttiiiddddddddd", hash, s->version, s->now, s->file->name, s->file->hash, s->grouping, group, (int64_t)fitted,
        (int64_t)rows, (int64_t)modelled, score->mape, score->median_ape, score->p90_ape, score->symmetric, score->bias,
        score->within10, score->within25, score->spearman, score->interval_coverage);
}

/* Scores fitted rows of a group and the others. */
static bool put_group(const struct scores *s, const char *name, const struct validation_group *g)
{
    return put_score(s, name, false, g->rows - g->fitted - g->guessed, g->score.count, &g->score) &&
           (!g->fitted || put_score(s, name, true, g->fitted, g->fit.count, &g->fit));
}

static bool record_file(const struct validation *v, size_t number, struct scores *s)
{
    static const char *const groupings[] = {"chip", "source", "part"};
    bool ok = true;
    s->file = &v->file[number];
    for (size_t i = 0; ok && i < ARRAY_COUNT(groupings); i++) {
        struct validation_groups groups;
        if (!validation_group_file(v, v->table[number], groupings[i], &groups, s->error))
            return false;
        s->grouping = "";
        ok = i > 0 || put_group(s, "", &groups.all);
        s->grouping = groupings[i];
        for (size_t g = 0; ok && g < groups.count; g++)
            ok = put_group(s, groups.group[g].key, &groups.group[g]);
        validation_groups_free(&groups);
    }
    return ok;
}

bool validation_record(const struct validation *v, struct orch_db *db, const char *version, struct orch_error *error)
{
    struct scores scores = {.db = db, .version = version, .error = error};
    db_timestamp(scores.now, sizeof scores.now);
    bool ok = db_begin(db, error);
    for (size_t i = 0; ok && i < v->rows; i++)
        ok = record_row(&v->row[i], db, version, error);
    for (size_t i = 0; ok && i < v->tables; i++)
        ok = record_file(v, i, &scores);
    if (ok)
        return db_commit(db, error);
    db_rollback(db);
    return false;
}
