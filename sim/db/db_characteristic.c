/* Characteristics: the costs of kernels, looked up by everything that determines them. */
#include "isa/array_count.h"
#include "sim/base/content_hash.h"
#include "sim/db/db_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void db_characteristic_init(struct db_characteristic *c)
{
    memset(c, 0, sizeof *c);
}

void db_characteristic_free(struct db_characteristic *c)
{
    run_values_free(&c->traffic);
    run_values_free(&c->stalls);
    run_values_free(&c->other);
    free(c->timing);
    db_characteristic_init(c);
}

static void base_hash(const struct db_characteristic_key *k, char hash[CONTENT_HASH_SIZE])
{
    const char *const texts[] = {k->program_hash,        k->kernel, k->shape, k->precision, k->detail, k->version,
                                 orch_part_name(k->part)};
    struct content_hash h;
    content_hash_begin(&h);
    for (size_t i = 0; i < ARRAY_COUNT(texts); i++)
        content_hash_add_text(&h, texts[i]);
    content_hash_end(&h, hash);
}

static int by_key(const void *a, const void *b)
{
    const struct db_parameter *x = a, *y = b;
    return strcmp(x->key, y->key);
}

static struct db_parameter *copy_parameters(const struct db_parameter *parameters, size_t count, struct orch_error *error)
{
    struct db_parameter *copy = malloc((count + 1) * sizeof *copy);
    if (!copy)
        orch_no_memory(error);
    else if (count)
        memcpy(copy, parameters, count * sizeof *copy);
    return copy;
}

void db_characteristic_hash(const char *base, const struct db_parameter *sorted, size_t count, char hash[CONTENT_HASH_SIZE])
{
    struct content_hash h;
    content_hash_begin(&h);
    content_hash_add_text(&h, base);
    for (size_t i = 0; i < count; i++) {
        content_hash_add_text(&h, sorted[i].key);
        content_hash_add_number(&h, sorted[i].value);
    }
    content_hash_end(&h, hash);
}

/* Sorts the parameters and hashes them after the base hash. */
static void full_hash(const char *base, struct db_parameter *sorted, size_t count, char hash[CONTENT_HASH_SIZE])
{
    qsort(sorted, count, sizeof *sorted, by_key);
    db_characteristic_hash(base, sorted, count, hash);
}

/* --- reading --------------------------------------------------------------------------------------------------- */

static bool parameters_hold(struct orch_db *db, int64_t id, db_parameter_lookup *lookup, void *context, bool *hold,
                            struct orch_error *error)
{
    sqlite3_stmt *rows = db_query(db, error,
                                  "SELECT n.text, p.value FROM characteristic_parameter p JOIN name n ON n.id = p.key_id "
                                  "WHERE p.characteristic_id = ?",
                                  "i", id);
    if (!rows)
        return false;
    int code = SQLITE_DONE;
    *hold = true;
    while (*hold && (code = db_step(db, rows, error)) == SQLITE_ROW) {
        double present;
        *hold = lookup(context, db_column_text(rows, 0), &present) && present == sqlite3_column_double(rows, 1);
    }
    sqlite3_finalize(rows);
    return code == SQLITE_DONE || !*hold;
}

/* The table as another program left it. */
static bool content_fail(const struct orch_db *db, int64_t row, const char *what, struct orch_error *error)
{
    orch_fail(error, ORCH_USAGE, "row %lld %s", (long long)row, what);
    return db_content_fail(db, "characteristic", error);
}

static bool set_activity(struct activity *activity, const char *name, double value)
{
    for (int i = 0; i < ACT_COUNT; i++)
        if (strcmp(activity_name((enum activity_event)i), name) == 0) {
            activity->count[i] = (uint64_t)value;
            return true;
        }
    return false; /* this version does not know the event */
}

static bool take_value(sqlite3_stmt *row, struct db_characteristic *out)
{
    const char *kind = db_column_text(row, 0), *name = db_column_text(row, 1);
    const double value = sqlite3_column_double(row, 2);
    if (strcmp(kind, "activity") == 0)
        return set_activity(&out->activity, name, value);
    if (strcmp(kind, "traffic") == 0)
        return run_values_set(&out->traffic, name, value);
    if (strcmp(kind, "stall") == 0)
        return run_values_set(&out->stalls, name, value);
    return run_values_set(&out->other, name, value);
}

static bool read_values(struct orch_db *db, int64_t id, struct db_characteristic *out, struct orch_error *error)
{
    sqlite3_stmt *rows = db_query(db, error,
                                  "SELECT m.kind, m.name, v.value FROM characteristic_value v "
                                  "JOIN metric m ON m.id = v.metric_id WHERE v.characteristic_id = ? ORDER BY m.id",
                                  "i", id);
    if (!rows)
        return false;
    int code = SQLITE_DONE;
    bool ok = true;
    while (ok && (code = db_step(db, rows, error)) == SQLITE_ROW)
        ok = take_value(rows, out) || content_fail(db, id, "counts an event that is not known", error);
    sqlite3_finalize(rows);
    return ok && code == SQLITE_DONE;
}

/* Replaces *timing by a copy of the stored text, or by NULL when there is none. */
static bool read_timing(struct orch_db *db, int64_t id, char **timing, struct orch_error *error)
{
    sqlite3_stmt *row = db_query(db, error, "SELECT timing FROM characteristic WHERE id = ?", "i", id);
    if (!row)
        return false;
    const bool found = db_step(db, row, error) == SQLITE_ROW;
    const char *text = found ? db_column_text(row, 0) : NULL;
    free(*timing);
    *timing = text ? strdup(text) : NULL;
    const bool ok = found && (!text || *timing);
    sqlite3_finalize(row);
    return ok || content_fail(db, id, "cannot be read", error);
}

bool db_get_characteristic(struct orch_db *db, const struct db_characteristic_key *key, db_parameter_lookup *lookup,
                           void *context, struct db_characteristic *out, bool *found, struct orch_error *error)
{
    char base[CONTENT_HASH_SIZE];
    base_hash(key, base);
    *found = false;
    sqlite3_stmt *rows = db_query(db, error, "SELECT id, cycles FROM characteristic WHERE base_hash = ? ORDER BY id", "t", base);
    if (!rows)
        return false;
    int code = SQLITE_DONE;
    bool ok = true;
    int64_t id = 0;
    while (ok && !*found && (code = db_step(db, rows, error)) == SQLITE_ROW) {
        id = sqlite3_column_int64(rows, 0);
        out->cycles = sqlite3_column_double(rows, 1);
        ok = parameters_hold(db, id, lookup, context, found, error);
    }
    sqlite3_finalize(rows);
    if (!ok || (code != SQLITE_ROW && code != SQLITE_DONE))
        return false;
    return !*found || (read_timing(db, id, &out->timing, error) && read_values(db, id, out, error));
}

bool db_characteristic_reads(struct orch_db *db, const struct db_characteristic_key *key, db_take_reads *take, void *context,
                             struct orch_error *error)
{
    char base[CONTENT_HASH_SIZE];
    base_hash(key, base);
    sqlite3_stmt *rows = db_query(db, error,
                                  "SELECT n.text FROM (SELECT DISTINCT reads_id AS id FROM characteristic WHERE base_hash = ?) r "
                                  "JOIN name n ON n.id = r.id ORDER BY n.id",
                                  "t", base);
    if (!rows)
        return false;
    int code;
    bool more = true;
    while (more && (code = db_step(db, rows, error)) == SQLITE_ROW)
        more = take(context, db_column_text(rows, 0));
    sqlite3_finalize(rows);
    return !more || code == SQLITE_DONE;
}

bool db_find_timing(struct orch_db *db, const struct db_characteristic_key *key, const struct db_parameter *parameters,
                    size_t parameter_count, char **timing, struct orch_error *error)
{
    char base[CONTENT_HASH_SIZE], hash[CONTENT_HASH_SIZE];
    int64_t id = 0;
    *timing = NULL;
    struct db_parameter *sorted = copy_parameters(parameters, parameter_count, error);
    if (!sorted)
        return false;
    base_hash(key, base);
    full_hash(base, sorted, parameter_count, hash);
    free(sorted);
    return db_number(db, error, 0, &id, "SELECT id FROM characteristic WHERE hash = ?", "t", hash) &&
           (id == 0 || read_timing(db, id, timing, error));
}

/* --- writing --------------------------------------------------------------------------------------------------- */

/* Inserts a row of two ids and a number through a statement that is used again. */
static bool put_number(struct orch_db *db, sqlite3_stmt *statement, int64_t id, int64_t what, double value,
                       struct orch_error *error)
{
    sqlite3_bind_int64(statement, 1, id);
    sqlite3_bind_int64(statement, 2, what);
    sqlite3_bind_double(statement, 3, value);
    const int code = db_step(db, statement, error);
    sqlite3_reset(statement);
    return code == SQLITE_DONE;
}

static sqlite3_stmt *value_statement(struct orch_db *db, struct orch_error *error)
{
    return db_query(db, error, "INSERT INTO characteristic_value (characteristic_id, metric_id, value) VALUES (?, ?, ?)", "");
}

static bool put_values(struct orch_db *db, int64_t id, const char *kind, const char *unit, const struct run_values *values,
                       struct orch_error *error)
{
    sqlite3_stmt *statement = value_statement(db, error);
    bool ok = statement != NULL;
    for (size_t i = 0; ok && i < values->count; i++) {
        int64_t metric;
        ok = db_metric_id(db, kind, values->item[i].name, unit, &metric, error) &&
             put_number(db, statement, id, metric, values->item[i].value, error);
    }
    sqlite3_finalize(statement);
    return ok;
}

static bool put_activity(struct orch_db *db, int64_t id, const struct activity *activity, struct orch_error *error)
{
    sqlite3_stmt *statement = value_statement(db, error);
    bool ok = statement != NULL;
    for (enum activity_event i = 0; ok && i < ACT_COUNT; i++) {
        int64_t metric;
        ok = !activity->count[i] || (db_metric_id(db, "activity", activity_name(i), activity_unit(i), &metric, error) &&
                                     put_number(db, statement, id, metric, (double)activity->count[i], error));
    }
    sqlite3_finalize(statement);
    return ok;
}

static bool put_parameters(struct orch_db *db, int64_t id, const struct db_parameter *parameters, size_t count,
                           struct orch_error *error)
{
    sqlite3_stmt *statement =
        db_query(db, error, "INSERT INTO characteristic_parameter (characteristic_id, key_id, value) VALUES (?, ?, ?)", "");
    bool ok = statement != NULL;
    for (size_t i = 0; ok && i < count; i++) {
        int64_t key;
        ok = db_name_id(db, parameters[i].key, &key, error) && put_number(db, statement, id, key, parameters[i].value, error);
    }
    sqlite3_finalize(statement);
    return ok;
}

/* The id of the text that lists the names of the sorted parameters. */
static bool reads_id(struct orch_db *db, const struct db_parameter *sorted, size_t count, int64_t *id, struct orch_error *error)
{
    size_t size = 1, used = 0;
    for (size_t i = 0; i < count; i++)
        size += strlen(sorted[i].key) + 1;
    char *text = malloc(size);
    if (!text)
        return orch_no_memory(error);
    text[0] = 0;
    for (size_t i = 0; i < count; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? "," : "", sorted[i].key);
    const bool ok = db_name_id(db, text, id, error);
    free(text);
    return ok;
}

static bool put_row(struct orch_db *db, const struct db_characteristic_key *k, const char *hash, const char *base, int64_t reads,
                    const struct db_characteristic *value, int64_t *id, struct orch_error *error)
{
    int64_t kernel, shape, precision;
    char now[32];
    db_timestamp(now, sizeof now);
    if (!db_name_id(db, k->kernel, &kernel, error) || !db_name_id(db, k->shape, &shape, error) ||
        !db_name_id(db, k->precision, &precision, error) ||
        !db_exec(db, error,
                 "INSERT INTO characteristic (hash, base_hash, program_hash, kernel_id, shape_id, precision_id, part, "
                 "detail, version, cycles, created, reads_id, timing) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                 "tttnnntttdtnt", hash, base, k->program_hash, kernel, shape, precision, orch_part_name(k->part), k->detail,
                 k->version, value->cycles, now, reads, value->timing))
        return false;
    *id = sqlite3_last_insert_rowid(db->sqlite);
    return true;
}

static bool same_values(const struct run_values *a, const struct run_values *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (run_values_get(b, a->item[i].name) != a->item[i].value)
            return false;
    return true;
}

/* A stored characteristic must say the same, since its key is meant to determine everything. */
static bool agrees(struct orch_db *db, int64_t id, const struct db_characteristic *value, struct orch_error *error)
{
    struct db_characteristic stored;
    db_characteristic_init(&stored);
    sqlite3_stmt *row = db_query(db, error, "SELECT cycles FROM characteristic WHERE id = ?", "i", id);
    bool ok = row && db_step(db, row, error) == SQLITE_ROW;
    if (ok)
        stored.cycles = sqlite3_column_double(row, 0);
    sqlite3_finalize(row);
    ok = ok && read_timing(db, id, &stored.timing, error) && read_values(db, id, &stored, error);
    const bool same = ok && stored.cycles == value->cycles && same_values(&stored.traffic, &value->traffic) &&
                      same_values(&stored.stalls, &value->stalls) && same_values(&stored.other, &value->other) &&
                      memcmp(&stored.activity, &value->activity, sizeof stored.activity) == 0 &&
                      strcmp(stored.timing ? stored.timing : "", value->timing ? value->timing : "") == 0;
    if (ok && !same && !stored.timing && value->timing)
        content_fail(db, id, "has lost its timing", error);
    else if (ok && !same)
        orch_fail(error, ORCH_INTERNAL,
                  "database %s: characteristic %lld was %.17g cycles and is %.17g now, or its counts differ, with nothing "
                  "else changed",
                  db->path, (long long)id, stored.cycles, value->cycles);
    db_characteristic_free(&stored);
    return same;
}

static bool put_inside(struct orch_db *db, const struct db_characteristic_key *key, const char *hash, const char *base,
                       const struct db_parameter *parameters, size_t count, const struct db_characteristic *value,
                       struct orch_error *error)
{
    int64_t id, reads;
    if (!db_number(db, error, 0, &id, "SELECT id FROM characteristic WHERE hash = ?", "t", hash))
        return false;
    if (id)
        return agrees(db, id, value, error);
    return reads_id(db, parameters, count, &reads, error) && put_row(db, key, hash, base, reads, value, &id, error) &&
           put_parameters(db, id, parameters, count, error) && put_activity(db, id, &value->activity, error) &&
           put_values(db, id, "traffic", "bytes", &value->traffic, error) &&
           put_values(db, id, "stall", "cycles", &value->stalls, error) &&
           put_values(db, id, "characteristic", "", &value->other, error);
}

bool db_put_characteristic(struct orch_db *db, const struct db_characteristic_key *key, const struct db_parameter *parameters,
                           size_t parameter_count, const struct db_characteristic *value, struct orch_error *error)
{
    char base[CONTENT_HASH_SIZE], hash[CONTENT_HASH_SIZE];
    struct db_parameter *sorted = copy_parameters(parameters, parameter_count, error);
    if (!sorted)
        return false;
    const bool inside = db->in_transaction;
    base_hash(key, base);
    full_hash(base, sorted, parameter_count, hash);
    bool ok = inside || db_begin(db, error);
    if (ok) {
        ok = put_inside(db, key, hash, base, sorted, parameter_count, value, error) && (inside || db_commit(db, error));
        if (!ok && !inside)
            db_rollback(db);
    }
    free(sorted);
    return ok;
}
