/* The verb db: looks after the performance database. */
#include "isa/array_count.h"
#include "sim/base/check.h"
#include "sim/base/json_out.h"
#include "sim/base/output_file.h"
#include "sim/base/table.h"
#include "sim/api/verb_db_runs.h"
#include "sim/base/format.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

static const struct orchard_option option_table[] = {
    {"format", 0, "FORM", false, "export: csv (default) or jsonl"},
    {"output", 'o', "FILE", false, "export: where the rows go instead of standard output"},
    {"older-than", 0, "DAYS", false, "prune: runs that began more than DAYS days ago"},
    {"before", 0, "DATE", false, "prune: runs that began before DATE (2026-01-31)"},
    {"failed", 0, NULL, false, "prune: only runs that failed or were interrupted"},
    {"keep-version", 0, "VERSION", false, "prune: also characteristics of other versions than VERSION"},
    {"dry-run", 'n', NULL, false, "prune: only say how much it would be"},
    {0},
};

/* Opens the file for looking: brings it up to date when that is possible, and otherwise only reads it. */
static struct orch_db *open_to_look(const struct api_context *context, struct orch_error *error)
{
    struct orch_error ignored = {0};
    struct orch_db *const db = db_open(context->common.db, DB_EXISTING, &ignored);
    return db ? db : db_open(context->common.db, DB_READ, error);
}

static int close_with(struct api_context *context, struct orch_db *db, bool ok, const struct orch_error *error)
{
    db_close(db);
    return ok ? ORCH_OK : api_fail(context, error);
}

static int run_init(struct api_context *context, int words, const char *const *word)
{
    struct orch_error error = {0};
    (void)word;
    if (words > 0)
        return api_usage(context, "init takes no words");
    struct orch_db *const db = db_open(context->common.db, DB_RESTORE, &error);
    if (db && api_wants_document(context)) {
        json_object *const document = json_object_new_object();
        json_add_text(document, "path", db_path(db));
        json_add_count(document, "schema_version", (uint64_t)db_file_version(db));
        api_document(context, document);
    }
    if (db && api_wants_text(context))
        fprintf(context->out, "%s: schema version %d\n", db_path(db), db_file_version(db));
    return close_with(context, db, db != NULL, &error);
}

/* --- info ------------------------------------------------------------------------------------------------------ */

struct info {
    json_object *tables, *views, *runs;
};

static bool count_rows(struct orch_db *db, const char *name, int64_t *rows, struct orch_error *error)
{
    char sql[160];
    snprintf(sql, sizeof sql, "SELECT count(*) FROM \"%.100s\"", name);
    return db_number(db, error, 0, rows, sql, "");
}

static bool gather_tables(struct orch_db *db, const struct info *info, struct orch_error *error)
{
    sqlite3_stmt *names = db_query(db, error,
                                   "SELECT name, type FROM sqlite_schema WHERE type IN ('table', 'view') "
                                   "AND name NOT LIKE 'sqlite_%' ORDER BY name",
                                   "");
    int code = names ? SQLITE_ROW : SQLITE_ERROR;
    while (names && (code = db_step(db, names, error)) == SQLITE_ROW) {
        const char *name = db_column_text(names, 0);
        int64_t rows;
        if (strcmp(db_column_text(names, 1), "view") == 0)
            json_object_array_add(info->views, json_object_new_string(name));
        else if (count_rows(db, name, &rows, error))
            json_add_count(info->tables, name, (uint64_t)rows);
        else
            break;
    }
    sqlite3_finalize(names);
    return code == SQLITE_DONE;
}

static bool gather_runs(struct orch_db *db, const struct info *info, struct orch_error *error)
{
    static const char *const statuses[] = {"done", "failed", "interrupted", "running"};
    for (size_t i = 0; i < ARRAY_COUNT(statuses); i++) {
        int64_t count;
        if (!db_number(db, error, 0, &count, "SELECT count(*) FROM run WHERE status = ?", "t", statuses[i]))
            return false;
        json_add_count(info->runs, statuses[i], (uint64_t)count);
    }
    return true;
}

static uint64_t file_bytes(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? (uint64_t)st.st_size : 0;
}

static void print_info(struct api_context *context, struct orch_db *db, const struct info *info)
{
    static const struct table_column columns[] = {{"table", NULL, false, 0}, {"rows", NULL, true, 0}};
    char size[FORMAT_SIZE];
    fprintf(context->out, "%s\nschema version %d, %s\nruns:", db_path(db), db_file_version(db),
            format_volume(size, (double)file_bytes(db_path(db))));
    json_object_object_foreach(info->runs, status, count) fprintf(context->out, " %s %s", json_object_get_string(count), status);
    fputs("\n\n", context->out);
    struct table *table = table_create(columns, 2);
    json_object_object_foreach(info->tables, name, rows)
    {
        table_row(table);
        table_cell(table, "%s", name);
        table_cell(table, "%s", json_object_get_string(rows));
    }
    api_table(context, table);
    fputs("\nviews:", context->out);
    for (size_t i = 0; i < json_object_array_length(info->views); i++)
        fprintf(context->out, " %s", json_object_get_string(json_object_array_get_idx(info->views, i)));
    fputc('\n', context->out);
}

static void give_info(struct api_context *context, struct orch_db *db, const struct info *info)
{
    json_object *document = json_object_new_object();
    json_add_text(document, "path", db_path(db));
    json_add_count(document, "schema_version", (uint64_t)db_file_version(db));
    json_add_count(document, "bytes", file_bytes(db_path(db)));
    json_object_object_add(document, "runs", json_object_get(info->runs));
    json_object_object_add(document, "tables", json_object_get(info->tables));
    json_object_object_add(document, "views", json_object_get(info->views));
    api_document(context, document);
}

static int run_info(struct api_context *context, int words, const char *const *word)
{
    struct orch_error error = {0};
    (void)word;
    if (words > 0)
        return api_usage(context, "info takes no words");
    struct orch_db *const db = open_to_look(context, &error);
    const struct info info = {json_object_new_object(), json_object_new_array(), json_object_new_object()};
    const bool ok = db && gather_tables(db, &info, &error) && gather_runs(db, &info, &error);
    if (ok && api_wants_document(context))
        give_info(context, db, &info);
    if (ok && api_wants_text(context))
        print_info(context, db, &info);
    json_object_put(info.tables);
    json_object_put(info.views);
    json_object_put(info.runs);
    return close_with(context, db, ok, &error);
}

/* --- sql, export, check ------------------------------------------------------------------------------------------ */

/* Gives the rows of a query as a document. When nobody keeps the answer they go straight to the stream, for there may be many. */
static bool query_document(struct api_context *context, struct orch_db *db, const char *query, struct orch_error *error)
{
    char *text = NULL;
    size_t size;
    if (!context->answer)
        return db_print_query(db, query, DB_FORMAT_JSON, context->out, error);
    FILE *const out = open_memstream(&text, &size);
    if (!out)
        return orch_no_memory(error);
    bool ok = db_print_query(db, query, DB_FORMAT_JSON, out, error);
    ok = (fclose(out) == 0 || orch_no_memory(error)) && ok;
    if (ok)
        api_document_text(context, text);
    else
        free(text);
    return ok;
}

static int run_sql(struct api_context *context, int words, const char *const *word)
{
    struct orch_error error = {0};
    if (words != 1)
        return api_usage(context, "sql takes one query, in quotes");
    /* Opening it once brings an older file up to date; the query then runs on a connection that cannot write. */
    struct orch_db *db = open_to_look(context, &error);
    const bool is_there = db != NULL;
    db_close(db);
    db = is_there ? db_open(context->common.db, DB_READ, &error) : NULL;
    bool ok = db && (!api_wants_document(context) || query_document(context, db, word[0], &error));
    if (ok && api_wants_text(context))
        ok = db_print_query(db, word[0], DB_FORMAT_TABLE, context->out, &error);
    return close_with(context, db, ok, &error);
}

static bool export_to(struct api_context *context, struct orch_db *db, const char *table, enum db_format format,
                      struct orch_error *error)
{
    const char *path = api_value(&context->args, "output");
    if (!path || strcmp(path, "-") == 0)
        return db_export(db, table, format, context->out, error);
    struct output_file *const file = output_file_open(path, OUTPUT_PLAIN, error);
    if (!file)
        return false;
    const bool exported = db_export(db, table, format, output_file_stream(file), error);
    if (output_file_flush(file, error) && exported) /* a write that failed is the better reason of the two */
        return output_file_commit(file, error);
    output_file_discard(file);
    return false;
}

static int run_export(struct api_context *context, int words, const char *const *word)
{
    struct orch_error error = {0};
    unsigned choice = 0;
    if (words != 1)
        return api_usage(context, "export takes the name of one table or view");
    if (!api_chosen(&context->args, "format", "csv|jsonl", &choice, &error))
        return api_fail(context, &error);
    struct orch_db *const db = open_to_look(context, &error);
    const bool lines = choice == 1 || (!api_has(&context->args, "format") && context->common.json);
    const bool ok = db && export_to(context, db, word[0], lines ? DB_FORMAT_JSONL : DB_FORMAT_CSV, &error);
    return close_with(context, db, ok, &error);
}

static int run_check(struct api_context *context, int words, const char *const *word)
{
    struct orch_error error = {0};
    struct check_report report = {0};
    (void)word;
    if (words > 0)
        return api_usage(context, "check takes no words");
    struct orch_db *const db = db_open(context->common.db, DB_INSPECT, &error);
    const bool ok = db && db_check(db, &report, &error);
    db_close(db);
    const int code = ok ? api_report(context, &report) : api_fail(context, &error);
    check_report_free(&report);
    return code;
}

static int run_runs(struct api_context *context, int words, const char *const *word)
{
    struct orch_error error = {0};
    unsigned most;
    char sql[400];
    if (!verb_db_runs_read(words, word, &most, &error))
        return api_fail(context, &error);
    struct orch_db *const db = open_to_look(context, &error);
    verb_db_runs_query(most, sql, sizeof sql);
    bool ok = db && (!api_wants_document(context) || query_document(context, db, sql, &error));
    if (ok && api_wants_text(context))
        ok = verb_db_runs_print(context, db, most, &error);
    return close_with(context, db, ok, &error);
}

/* --- prune, merge ------------------------------------------------------------------------------------------------ */

/* Accepts YYYY-MM-DD, with or without a time after it. */
static bool read_date(const char *text, struct orch_error *error)
{
    unsigned year, month, day;
    char after = 'T';
    if (sscanf(text, "%4u-%2u-%2u%c", &year, &month, &day, &after) >= 3 && after == 'T' && month >= 1 && month <= 12 &&
        day >= 1 && day <= 31 && strlen(text) >= 10 && strlen(text) < 32)
        return true;
    return orch_fail(error, ORCH_USAGE, ORCH_OPTION("before") ": '%.40s' is no date like 2026-01-31", text);
}

/* Reads what to prune; `date` keeps the date that older-than stands for. */
static bool read_prune(struct api_context *context, struct db_prune *what, char date[32], struct orch_error *error)
{
    double days = -1;
    *what = (struct db_prune){api_value(&context->args, "before"), api_has(&context->args, "failed"),
                              api_value(&context->args, "keep-version"), api_has(&context->args, "dry-run")};
    if (!api_quantity(&context->args, "older-than", "d", 0, 36500, &days, error))
        return false;
    if (days >= 0 && what->before)
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("older-than") " and " ORCH_OPTION("before") " exclude one another");
    if (what->before && !read_date(what->before, error))
        return false;
    if (days >= 0) {
        const time_t then = time(NULL) - (time_t)(days * 86400);
        struct tm utc;
        gmtime_r(&then, &utc);
        strftime(date, 32, "%Y-%m-%dT%H:%M:%S.999Z", &utc);
        what->before = date;
    }
    if (!what->before && !what->failed && !what->keep_version)
        return orch_fail(error, ORCH_USAGE,
                         "prune needs " ORCH_OPTION("older-than") ", " ORCH_OPTION("before") ", " ORCH_OPTION(
                             "failed") " or " ORCH_OPTION("keep-version"));
    return true;
}

static int run_prune(struct api_context *context, int words, const char *const *word)
{
    struct orch_error error = {0};
    struct db_prune what;
    struct db_pruned pruned;
    char date[32];
    (void)word;
    if (words > 0)
        return api_usage(context, "prune takes no words");
    if (!read_prune(context, &what, date, &error))
        return api_fail(context, &error);
    struct orch_db *const db = db_open(context->common.db, DB_EXISTING, &error);
    const bool ok = db && db_prune(db, &what, &pruned, &error);
    if (ok && api_wants_document(context)) {
        json_object *document = json_object_new_object();
        json_add_count(document, "runs", (uint64_t)pruned.runs);
        json_add_count(document, "characteristics", (uint64_t)pruned.characteristics);
        json_add_bool(document, "dry_run", what.dry_run);
        api_document(context, document);
    }
    if (ok && api_wants_text(context))
        fprintf(context->out, "%s%lld runs, %lld characteristics\n", what.dry_run ? "would remove " : "removed ",
                (long long)pruned.runs, (long long)pruned.characteristics);
    return close_with(context, db, ok, &error);
}

static void tell_merged(struct api_context *context, json_object *rows, const char *shard, const struct db_merged *m)
{
    if (api_wants_text(context))
        fprintf(context->out, "%s: %lld runs, %lld characteristics, %lld measurements, %lld sweep points\n", shard,
                (long long)m->runs, (long long)m->characteristics, (long long)m->measurements, (long long)m->sweep_points);
    json_object *row = json_object_new_object();
    json_add_text(row, "shard", shard);
    json_add_count(row, "runs", (uint64_t)m->runs);
    json_add_count(row, "characteristics", (uint64_t)m->characteristics);
    json_add_count(row, "measurements", (uint64_t)m->measurements);
    json_add_count(row, "sweep_points", (uint64_t)m->sweep_points);
    json_object_array_add(rows, row);
}

static int run_merge(struct api_context *context, int words, const char *const *word)
{
    struct orch_error error = {0};
    if (words == 0)
        return api_usage(context, "merge takes one or more database files");
    struct orch_db *const db = db_open(context->common.db, DB_WRITE, &error);
    if (!db)
        return api_fail(context, &error);
    json_object *const rows = json_object_new_array();
    bool ok = true;
    for (int i = 0; ok && i < words; i++) {
        struct db_merged merged;
        ok = db_merge(db, word[i], &merged, &error);
        if (ok)
            tell_merged(context, rows, word[i], &merged);
    }
    if (api_wants_document(context))
        api_document(context, json_object_get(rows));
    json_object_put(rows);
    return close_with(context, db, ok, &error);
}

static int ask(struct api_context *context, int words, const char *const *word)
{
    static int (*const actions[])(struct api_context *, int, const char *const *) = {run_init,  run_info,   run_runs,  run_sql,
                                                                                     run_check, run_export, run_prune, run_merge};
    struct orch_error error = {0};
    unsigned action;
    if (words == 0)
        return api_usage(context, "needs one of init, info, runs, sql, check, export, prune, merge");
    if (!api_choice("db", word[0], "init|info|runs|sql|check|export|prune|merge", &action, &error))
        return api_fail(context, &error);
    return actions[action](context, words - 1, word + 1);
}

const struct api_verb verb_db = {
    .help =
        {
            .name = "db",
            .synopsis = "init|info|check\n"
                        "runs [COUNT]\n"
                        "sql QUERY\n"
                        "export TABLE\n"
                        "prune\n"
                        "merge SHARD...",
            .summary = "the performance database: every run, in one SQLite file",
            .text = "init makes the file or brings it up to date; info counts; runs lists the newest runs (20), newest last; sql "
                    "runs\n"
                    "one reading query (tables and views have names that explain themselves: orchard db info); check examines\n"
                    "everything; export writes a table or view as CSV or JSON lines; prune removes old or failed runs; merge "
                    "adds what\n"
                    "other files have, any order, any number of times.",
            .examples = "orchard db info\n"
                        "orchard db runs 5\n"
                        "orchard db sql 'SELECT * FROM v_run_summary'\n"
                        "orchard db export v_op_time -o ops.csv\n"
                        "orchard db merge shard-0.db",
            .options = option_table,
        },
    .ask = ask,
};
