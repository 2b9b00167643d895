/* Files that another program has changed or that are damaged: the file, the table and the remedy are named, and nobody else is
 * blamed. */
#include "sim/base/check.h"
#include "tests/sim/db_example.h"

#include <sys/stat.h>

static char folder[64];

static const char *file(const char *name)
{
    return example_file(folder, name);
}

static void run_sql_on(const char *path, const char *sql)
{
    sqlite3 *sqlite;
    char *message = NULL;
    sqlite3_open(path, &sqlite);
    CHECK(sqlite3_exec(sqlite, sql, NULL, NULL, &message) == SQLITE_OK, "%s", message);
    sqlite3_free(message);
    sqlite3_close(sqlite);
}

static void make_template(const char *path)
{
    static const struct db_characteristic_key key = {"0123", "gemm", "64x64x64", "f32", "instr", "0.1.0", PART_AMX};
    static const struct db_parameter parameter = {"amx.clock_ghz", 3.2};
    struct orch_error error = {0};
    struct db_characteristic c;
    struct orch_db *const db = example_open(path, DB_WRITE);
    db_characteristic_init(&c);
    c.cycles = 1000;
    c.timing = strdup("{}");
    CHECK(example_record(db, 1, 300, EVENT_RUN_DONE, 0, &error) > 0 && db_put_characteristic(db, &key, &parameter, 1, &c, &error),
          "%s", error.text);
    db_characteristic_free(&c);
    db_close(db);
}

/* A database with one run and one characteristic, changed by `sql`. */
static const char *make(const char *name, const char *sql)
{
    static char bytes[1 << 20];
    const char *const template = file("template"), *const path = file(name);
    if (access(template, F_OK) != 0)
        make_template(template);
    FILE *const from = fopen(template, "rb"), *const to = fopen(path, "wb");
    CU_ASSERT_FATAL(from && to);
    const size_t size = fread(bytes, 1, sizeof bytes, from);
    CU_ASSERT(size < sizeof bytes && fwrite(bytes, 1, size, to) == size);
    fclose(from);
    fclose(to);
    if (sql)
        run_sql_on(path, sql);
    return path;
}

static void spoil(const char *path, long at, const char *bytes, size_t size)
{
    FILE *const f = fopen(path, "r+b");
    CU_ASSERT_FATAL(f && fseek(f, at, SEEK_SET) == 0 && fwrite(bytes, 1, size, f) == size);
    fclose(f);
}

/* Overwrites the root page of a table, and so loses all of it. */
static void spoil_table(const char *path, const char *table)
{
    char sql[160];
    static const char nothing[4096];
    struct orch_db *const db = example_open(path, DB_READ);
    snprintf(sql, sizeof sql, "SELECT rootpage FROM sqlite_schema WHERE name = '%s'", table);
    const double page = example_number(db, sql);
    db_close(db);
    spoil(path, ((long)page - 1) * 4096, nothing, sizeof nothing);
}

/* One line, exit code 2, with all of these words. */
static bool blames(const struct orch_error *error, const char *path, const char *words, const char *remedy)
{
    const bool ok = error->exit_code == ORCH_USAGE && strstr(error->text, path) && strstr(error->text, words) &&
                    strstr(error->text, remedy) && !strchr(error->text, '\n');
    CHECK(ok, "(%d) %s; expected: %s ... %s", error->exit_code, error->text, words, remedy);
    return ok;
}

/* All the findings of a check, one a line. */
static const char *findings(const char *path, unsigned long *failed)
{
    static char text[4000];
    struct check_report report = {0};
    struct orch_error error = {0};
    struct orch_db *const db = db_open(path, DB_INSPECT, &error);
    size_t used = 0;
    text[0] = 0;
    CHECK(db && db_check(db, &report, &error), "%s", error.text);
    for (size_t i = 0; i < report.failures.count && used < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s\n", report.failures.text[i]);
    *failed = report.failed;
    check_report_free(&report);
    db_close(db);
    return text;
}

/* ---- the schema ---- */

#define LOST      "restore a copy"
#define MADE_ANEW "`orchard db init` makes it anew"

static const struct {
    const char *sql, *finding, *remedy;
    unsigned long failures;
} changes[] = {
    {"ALTER TABLE checksum RENAME COLUMN fnv1a64 TO worth", "table checksum: column fnv1a64 is missing", LOST, 2},
    {"ALTER TABLE run ADD COLUMN colour TEXT", "table run: column colour is not one of orchard's", LOST, 1},
    {"ALTER TABLE fault DROP COLUMN pc", "table fault: column pc is missing", LOST, 1},
    {"DROP TABLE fault", "table fault is missing", LOST, 1},
    {"ALTER TABLE fault RENAME TO mistake", "table fault is missing", LOST, 1},
    {"DROP TABLE meta; CREATE TABLE meta (key TEXT PRIMARY KEY, value INTEGER)", "table meta is not as expected: not STRICT",
     LOST, 3},
    {"DROP TABLE fault; CREATE TABLE fault (run_id INTEGER NOT NULL, seq INTEGER NOT NULL, time_ns REAL NOT NULL, part TEXT NOT "
     "NULL, "
     "instance INTEGER NOT NULL, fault TEXT, pc TEXT, address TEXT, text TEXT, PRIMARY KEY (run_id, seq)) STRICT, WITHOUT ROWID",
     "table fault: the reference of column run_id is missing", LOST, 1},
    {"DROP VIEW v_stalls", "view v_stalls is missing", MADE_ANEW, 1},
    {"DROP VIEW v_stalls; CREATE VIEW v_stalls AS SELECT 1", "view v_stalls is not as expected", MADE_ANEW, 1},
    {"DROP INDEX run_by_chip", "table run: index run_by_chip is missing", MADE_ANEW, 1},
    {"DROP INDEX run_by_chip; CREATE INDEX run_by_chip ON run (workload)",
     "table run: index run_by_chip is not as expected: (workload) instead of (chip_id)", MADE_ANEW, 1},
    {"CREATE UNIQUE INDEX mine ON run (workload)", "table run: index mine is not one of orchard's", LOST, 1},
    {"CREATE TRIGGER t AFTER INSERT ON run BEGIN DELETE FROM op; END", "table run: trigger t is not one of orchard's", LOST, 1},
};

static void test_changed_schema(void)
{
    example_folder(folder);
    for (size_t i = 0; i < ARRAY_COUNT(changes); i++) {
        char name[16];
        unsigned long failed = 0;
        snprintf(name, sizeof name, "%zu.db", i);
        const char *const path = make(name, changes[i].sql);
        for (int mode = DB_READ; mode <= DB_WRITE; mode++) {
            struct orch_error error = {0};
            struct orch_db *const db = db_open(path, (enum db_mode)mode, &error);
            CU_ASSERT_PTR_NULL(db);
            blames(&error, path, changes[i].finding, changes[i].remedy);
            db_close(db);
        }
        const char *const text = findings(path, &failed);
        CHECK(strstr(text, changes[i].finding) && failed == changes[i].failures, "%s: %lu: %s", changes[i].sql, failed, text);
        /* `orchard db init` */
        struct orch_error error = {0};
        struct orch_db *const db = db_open(path, DB_RESTORE, &error);
        const bool restorable = strcmp(changes[i].remedy, MADE_ANEW) == 0;
        CHECK((db != NULL) == restorable, "%s: %s", changes[i].sql, error.text);
        db_close(db);
        if (restorable)
            CHECK(*findings(path, &failed) == 0 && failed == 0, "%s", changes[i].sql);
    }
    example_remove(folder);
}

/* What somebody keeps beside our tables is his. */
static void test_additions(void)
{
    unsigned long failed = 1;
    example_folder(folder);
    const char *const path = make("x.db", "CREATE TABLE mine (x UNIQUE); CREATE VIEW seen AS SELECT * FROM mine, run; "
                                          "CREATE INDEX run_by_workload ON run (workload)");
    struct orch_db *const db = example_open(path, DB_WRITE);
    struct orch_error error = {0};
    CHECK(example_record(db, 2, 3, EVENT_RUN_DONE, 0, &error) > 0, "%s", error.text);
    db_close(db);
    CU_ASSERT_STRING_EQUAL(findings(path, &failed), "");
    CU_ASSERT_EQUAL(failed, 0);
    example_remove(folder);
}

/* Changed while it is open. */
static void test_changed_meanwhile(void)
{
    struct orch_error error = {0};
    example_folder(folder);
    const char *const path = make("x.db", NULL);
    struct orch_db *const db = example_open(path, DB_WRITE);
    run_sql_on(path, "ALTER TABLE op RENAME COLUMN cycles TO ticks");
    CU_ASSERT_EQUAL(example_record(db, 2, 3, EVENT_RUN_DONE, 0, &error), 0);
    blames(&error, path, "table op: column cycles is missing", LOST);
    db_close(db);
    example_remove(folder);
}

/* An older file that is not what its version says stays as it is. */
static void test_impossible_migration(void)
{
    struct orch_error error = {0};
    sqlite3 *sqlite;
    sqlite3_stmt *row = NULL;
    example_folder(folder);
    const char *const path = make("x.db", "PRAGMA user_version = 2");
    CU_ASSERT_PTR_NULL(db_open(path, DB_WRITE, &error));
    blames(&error, path, "cannot be brought from schema version 2 to 3 (duplicate column name", LOST);
    sqlite3_open(path, &sqlite);
    sqlite3_prepare_v2(sqlite, "SELECT (SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM v_op)", -1, &row,
                       NULL);
    CU_ASSERT(sqlite3_step(row) == SQLITE_ROW && sqlite3_column_int(row, 0) == 2 && sqlite3_column_int(row, 1) == 300);
    sqlite3_finalize(row);
    sqlite3_close(sqlite);
    example_remove(folder);
}

/* ---- what is in the tables ---- */

static void test_damaged_table(void)
{
    struct orch_error error = {0};
    unsigned long failed = 0;
    example_folder(folder);
    const char *const path = make("x.db", NULL);
    spoil_table(path, "name");
    struct orch_db *const db = example_open(path, DB_WRITE);
    CU_ASSERT_EQUAL(example_record(db, 2, 3, EVENT_RUN_DONE, 0, &error), 0);
    blames(&error, path, "table name is damaged", LOST);
    db_close(db);
    spoil_table(path, "counter");
    const char *const text = findings(path, &failed);
    CHECK(failed >= 2 && strstr(text, "table name is damaged") && strstr(text, "table counter is damaged"), "%s", text);
    const char *const cut = make("cut.db", NULL);
    CU_ASSERT(truncate(cut, 100000) == 0);
    CU_ASSERT_PTR_NULL(db_open(cut, DB_INSPECT, &error));
    blames(&error, cut, "damaged or cut off", LOST);
    const char *const bad = make("schema.db", "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = 'CREATE TABLE' "
                                              "WHERE name = 'fault'");
    CU_ASSERT_PTR_NULL(db_open(bad, DB_WRITE, &error));
    blames(&error, bad, "malformed database schema (fault)", LOST);
    example_remove(folder);
}

static void test_damaged_content(void)
{
    static const struct db_characteristic_key key = {"0123", "gemm", "64x64x64", "f32", "instr", "0.1.0", PART_AMX};
    static const struct db_parameter parameter = {"amx.clock_ghz", 3.2};
    struct orch_error error = {0};
    struct db_characteristic c;
    example_folder(folder);
    const char *const path = make("x.db", "UPDATE characteristic SET timing = NULL");
    struct orch_db *const db = example_open(path, DB_WRITE);
    db_characteristic_init(&c);
    c.cycles = 1000;
    c.timing = strdup("{}");
    CU_ASSERT_FALSE(db_put_characteristic(db, &key, &parameter, 1, &c, &error));
    blames(&error, path, "table characteristic: row 1 has lost its timing", LOST);
    db_characteristic_free(&c);
    CU_ASSERT_FALSE(orch_fail(&error, ORCH_USAGE, "line 3: no number") || db_content_fail(db, "sweep", &error));
    blames(&error, path, "table sweep: line 3: no number", LOST);
    CU_ASSERT_FALSE(orch_no_memory(&error) || db_content_fail(db, "sweep", &error));
    CU_ASSERT_EQUAL(error.exit_code, ORCH_INTERNAL); /* nothing is wrong with the file */
    db_close(db);
    example_remove(folder);
}

/* ---- merging ---- */

/* The shard is blamed, and nothing of it arrives. */
static void refuses(struct orch_db *all, const char *shard, const char *words)
{
    struct db_merged merged;
    struct orch_error error = {0};
    CU_ASSERT_FALSE(db_merge(all, shard, &merged, &error));
    if (blames(&error, shard, words, ""))
        CHECK(!strstr(error.text, db_path(all)), "%s", error.text);
    CU_ASSERT_EQUAL(example_number(all, "SELECT count(*) FROM run"), 0);
    CU_ASSERT_EQUAL(example_number(all, "SELECT count(*) FROM name"), 0);
}

static void test_broken_shards(void)
{
    struct db_merged merged;
    struct orch_error error = {0};
    example_folder(folder);
    struct orch_db *const all = example_open(file("all.db"), DB_WRITE);
    refuses(all, make("column.db", changes[0].sql), changes[0].finding);
    refuses(all, make("rows.db", "PRAGMA foreign_keys = OFF; DELETE FROM name"), "names one of table name that is not there");
    refuses(all, make("newer.db", "PRAGMA user_version = 99"), "newer orchard");
    refuses(all, make("other.db", "PRAGMA application_id = 1"), "not one of orchard");
    const char *bad = make("page.db", NULL);
    spoil_table(bad, "op");
    refuses(all, bad, "table op is damaged");
    bad = make("cut.db", NULL);
    CU_ASSERT(truncate(bad, 100000) == 0);
    refuses(all, bad, "damaged or cut off");
    bad = make("noise.db", NULL);
    spoil(bad, 0, "This is no database.", 20);
    refuses(all, bad, "not a database");
    CHECK(db_merge(all, make("whole.db", NULL), &merged, &error) && merged.runs == 1, "%s", error.text);
    db_close(all);
    /* Now it is ours. */
    const char *const ours = make("ours.db", NULL);
    struct orch_db *const db = example_open(ours, DB_WRITE);
    db_close(db);
    spoil_table(ours, "op");
    struct orch_db *const damaged = example_open(ours, DB_WRITE);
    CU_ASSERT_FALSE(db_merge(damaged, make("whole2.db", "UPDATE run SET uid = 'another'"), &merged, &error));
    blames(&error, ours, "table op is damaged", LOST);
    CU_ASSERT_PTR_NULL(strstr(error.text, "whole2.db"));
    db_close(damaged);
    example_remove(folder);
}

static const struct suite_test tests[] = {
    {"a changed schema is refused, named in full, made anew where possible", test_changed_schema},
    {"tables, views and indexes beside ours are no difference", test_additions},
    {"a schema that changes while the file is open", test_changed_meanwhile},
    {"a migration that cannot be changes nothing", test_impossible_migration},
    {"a damaged table is named", test_damaged_table},
    {"a damaged value is named", test_damaged_content},
    {"merging blames the broken file and takes nothing of it", test_broken_shards},
};
SUITE_MAIN("db damage", tests)
