/* What can go wrong around the file: full disks, missing permissions, foreign, damaged, old and new files. */
#include "tests/sim/db_example.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

/* Opening must fail with this exit code and a line that names the file and contains `text`. */
static void expect_refusal(const char *path, enum db_mode mode, const char *text)
{
    struct orch_error error = {0};
    struct orch_db *db = db_open(path, mode, &error);
    CU_ASSERT_PTR_NULL(db);
    CU_ASSERT_EQUAL(error.exit_code, ORCH_USAGE);
    CHECK(strstr(error.text, path) && strstr(error.text, text) && !strchr(error.text, '\n'), "'%s' has no '%s'", error.text,
          text);
    db_close(db);
}

static void write_file(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    CU_ASSERT_FATAL(file && fwrite(bytes, 1, size, file) == size);
    fclose(file);
}

/* --- disks and permissions -------------------------------------------------------------------------------------- */

/* Returns 0 when a run failed with one clear line and exit code 2. */
static int fill_up(const char *path)
{
    struct orch_error error = {0};
    struct orch_db *db = db_open(path, DB_WRITE, &error);
    for (uint64_t i = 0; db && i < 1000; i++)
        if (example_record(db, i, 50, EVENT_RUN_DONE, i % 3 ? 0 : 40, &error) == 0)
            break;
    const bool clear = error.exit_code == ORCH_USAGE && strstr(error.text, path) && !strchr(error.text, '\n');
    if (!clear)
        printf("  '%s' (%d)\n", error.text, error.exit_code);
    fflush(stdout);
    db_close(db);
    return !clear;
}

static int fill_up_limited(const char *path)
{
    struct rlimit limit;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = 700000;
    setrlimit(RLIMIT_FSIZE, &limit);
    return fill_up(path);
}

static void test_full_disk(void)
{
    char folder[64];
    example_folder(folder);
    const char *path = example_file(folder, "x.db");
    CU_ASSERT_EQUAL(example_in_child(fill_up_limited, path), 0);
    struct orch_db *db = example_open(path, DB_EXISTING);
    const double done = example_number(db, "SELECT count(*) FROM run WHERE status = 'done'");
    CU_ASSERT_TRUE(done > 0);
    CU_ASSERT_EQUAL(example_number(db, "SELECT count(*) FROM op JOIN run r ON r.id = run_id WHERE status = 'done'"), done * 50);
    db_close(db);
    example_expect_healthy(path);
    example_remove(folder);
}

/* The same on a file system that is really full. It needs the right to mount one. */
static int fill_up_mounted(const char *folder)
{
    char command[200], path[100];
    snprintf(command, sizeof command, "mount -t tmpfs -o size=1200k none %.64s 2>/dev/null", folder);
    if (system(command) != 0)
        return 77;
    snprintf(path, sizeof path, "%.64s/x.db", folder);
    const int bad = fill_up(path);
    struct orch_error error = {0};
    struct orch_db *db = db_open(path, DB_READ, &error);
    const bool readable = db && example_number(db, "SELECT count(*) FROM run WHERE status = 'done'") > 0;
    if (!readable)
        printf("  %s\n", error.text);
    db_close(db);
    snprintf(command, sizeof command, "umount %.64s", folder);
    return system(command) != 0 || bad || !readable;
}

static void test_full_file_system(void)
{
    char folder[64];
    example_folder(folder);
    const int code = example_in_child(fill_up_mounted, folder);
    if (code == 77)
        suite_skip("no right to mount a small tmpfs");
    else
        CU_ASSERT_EQUAL(code, 0);
    example_remove(folder);
}

/* As a user who may not write there. The superuser may write everywhere. */
static int use_read_only(const char *path)
{
    struct orch_error error = {0};
    if (geteuid() == 0 && setuid(65534) != 0)
        return 77;
    struct orch_db *db = db_open(path, DB_WRITE, &error);
    const bool refused = !db && error.exit_code == ORCH_USAGE && strstr(error.text, path);
    if (!refused)
        printf("  '%s'\n", error.text);
    db_close(db);
    db = db_open(path, DB_READ, &error);
    const bool readable = db && example_number(db, "SELECT count(*) FROM op") == 3;
    if (!readable)
        printf("  '%s'\n", error.text);
    db_close(db);
    fflush(stdout);
    return !refused || !readable;
}

static void test_read_only(void)
{
    char folder[64];
    struct orch_error error = {0};
    example_folder(folder);
    const char *path = example_file(folder, "x.db");
    struct orch_db *db = example_open(path, DB_WRITE);
    CHECK(example_record(db, 1, 3, EVENT_RUN_DONE, 0, &error) > 0, "%s", error.text);
    db_close(db);
    chmod(path, 0444);
    chmod(folder, 0555);
    const int code = example_in_child(use_read_only, path);
    if (code == 77)
        suite_skip("cannot become another user");
    else
        CU_ASSERT_EQUAL(code, 0);
    example_remove(folder);
}

/* --- files that are not ours, or not whole ------------------------------------------------------------------------ */

static void test_foreign_files(void)
{
    char folder[64], noise[5000];
    uint64_t random = 3;
    example_folder(folder);
    for (size_t i = 0; i < sizeof noise; i++)
        noise[i] = (char)suite_random(&random);
    const char *path = example_file(folder, "noise.db");
    write_file(path, noise, sizeof noise);
    for (int mode = DB_READ; mode <= DB_WRITE; mode++)
        expect_refusal(path, (enum db_mode)mode, "not a database");
    expect_refusal(example_file(folder, "absent.db"), DB_READ, "no such file");
    expect_refusal(example_file(folder, "absent.db"), DB_EXISTING, "no such file");
    expect_refusal(folder, DB_WRITE, "not a regular file");
    expect_refusal(example_file(folder, "noise.db/under/x.db"), DB_WRITE, "noise.db");
    const char *empty = example_file(folder, "empty.db");
    write_file(empty, "", 0);
    expect_refusal(empty, DB_READ, "empty");
    db_close(example_open(empty, DB_WRITE)); /* but it may become one */
    example_expect_healthy(empty);

    const char *other = example_file(folder, "other.db");
    sqlite3 *sqlite;
    sqlite3_open(other, &sqlite);
    sqlite3_exec(sqlite, "CREATE TABLE contacts (name TEXT)", NULL, NULL, NULL);
    sqlite3_close(sqlite);
    for (int mode = DB_READ; mode <= DB_WRITE; mode++)
        expect_refusal(other, (enum db_mode)mode, "not one of orchard");
    example_remove(folder);
}

static void run_sql_on(const char *path, const char *sql)
{
    sqlite3 *sqlite;
    char *message = NULL;
    sqlite3_open(path, &sqlite);
    const int code = sqlite3_exec(sqlite, sql, NULL, NULL, &message);
    CHECK(code == SQLITE_OK, "%s", message);
    sqlite3_free(message);
    sqlite3_close(sqlite);
}

static void test_newer_version(void)
{
    char folder[64];
    example_folder(folder);
    const char *path = example_file(folder, "x.db");
    db_close(example_open(path, DB_WRITE));
    run_sql_on(path, "PRAGMA user_version = 999");
    for (int mode = DB_READ; mode <= DB_WRITE; mode++)
        expect_refusal(path, (enum db_mode)mode, "newer orchard");
    example_remove(folder);
}

/* Damage inside the file never crashes, and the check notices it. */
static void test_damage(void)
{
    char folder[64];
    struct orch_error error = {0};
    uint64_t random = 11;
    unsigned noticed = 0;
    example_folder(folder);
    const char *path = example_file(folder, "x.db"), *bad = example_file(folder, "bad.db");
    struct orch_db *db = example_open(path, DB_WRITE);
    CHECK(example_record(db, 1, 300, EVENT_RUN_DONE, 0, &error) > 0, "%s", error.text);
    db_close(db);
    FILE *file = fopen(path, "rb");
    CU_ASSERT_FATAL(file != NULL);
    static unsigned char bytes[1 << 20], copy[1 << 20];
    const size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    for (int round = 0; round < 20; round++) {
        memcpy(copy, bytes, size);
        for (int page = 0; page < 8; page++) /* half of eight pages, never the first one */
            memset(copy + 4096 + suite_random(&random) % (size - 8192), (int)(suite_random(&random) & 0xff), 2048);
        write_file(bad, copy, size);
        struct check_report report = {0};
        error = (struct orch_error){0};
        db = db_open(bad, DB_READ, &error);
        const bool holds = db && db_check(db, &report, &error) && report.failed == 0;
        CHECK(db || error.exit_code == ORCH_USAGE, "%s", error.text);
        noticed += !holds;
        check_report_free(&report);
        db_close(db);
    }
    CU_ASSERT_EQUAL(noticed, 20);
    write_file(bad, bytes, size / 2); /* truncated */
    db = db_open(bad, DB_READ, &error);
    struct check_report report = {0};
    CU_ASSERT_FALSE(db && db_check(db, &report, &error) && report.failed == 0);
    check_report_free(&report);
    db_close(db);
    example_remove(folder);
}

/* --- old files ---------------------------------------------------------------------------------------------------- */

static char *read_text(const char *path)
{
    static char text[200000];
    FILE *file = fopen(path, "rb");
    CU_ASSERT_FATAL(file != NULL);
    const size_t size = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[size] = 0;
    return text;
}

/* Every column of every table with its type, and every view's text. */
static const char shape_sql[] =
    "SELECT group_concat(x, char(10)) FROM (SELECT m.name || ' ' || p.name || ' ' || p.type || ' ' || p.\"notnull\" || "
    "p.pk AS x FROM sqlite_schema m, pragma_table_info(m.name) p WHERE m.type = 'table' "
    "UNION ALL SELECT name || ' ' || coalesce(sql, '') FROM sqlite_schema WHERE type IN ('view', 'index') ORDER BY 1)";

static char *shape_of(struct orch_db *db)
{
    struct orch_error error = {0};
    sqlite3_stmt *row = db_query(db, &error, shape_sql, "");
    CU_ASSERT_FATAL(row && sqlite3_step(row) == SQLITE_ROW);
    char *text = strdup((const char *)sqlite3_column_text(row, 0));
    sqlite3_finalize(row);
    return text;
}

static void test_migration(void)
{
    char folder[64];
    struct orch_error error = {0};
    struct run_result r;
    example_folder(folder);
    const char *path = example_file(folder, "old.db");
    run_sql_on(path, read_text(suite_golden("db/v1.sql")));
    expect_refusal(path, DB_READ, "older");
    struct orch_db *old = example_open(path, DB_EXISTING);
    struct orch_db *new = example_open(example_file(folder, "new.db"), DB_WRITE);
    CU_ASSERT_EQUAL(db_file_version(old), db_schema_version());
    char *a = shape_of(old), *b = shape_of(new);
    CU_ASSERT_STRING_EQUAL(a, b);
    free(a);
    free(b);
    /* What was in it is still there. */
    run_result_init(&r);
    CHECK(db_read_run(old, 1, &r, &error), "%s", error.text);
    CU_ASSERT_EQUAL(r.seconds, 0.25);
    CU_ASSERT_EQUAL(r.native_mac_share, 1.0 / 3 + 19000); /* as the file has it */
    CU_ASSERT(isnan(r.joules_low));                       /* version 1 had no interval of joules */
    CU_ASSERT_EQUAL(example_number(old, "SELECT count(*) FROM op"), 4);
    CU_ASSERT_EQUAL(example_number(old, "SELECT sum(value) FROM v_samples WHERE series = 'power'"), 8);
    CHECK(example_record(old, 9, 5, EVENT_RUN_DONE, 0, &error) == 2, "%s", error.text);
    run_result_free(&r);
    db_close(new);
    db_close(old);
    example_expect_healthy(path);
    example_remove(folder);
}

static const struct suite_test tests[] = {
    {"a file size limit ends in one clear line", test_full_disk},
    {"a full file system ends in one clear line", test_full_file_system},
    {"a read-only folder can be read, not written", test_read_only},
    {"foreign files are refused", test_foreign_files},
    {"a newer file is refused", test_newer_version},
    {"damage inside the file is noticed", test_damage},
    {"a version 1 file is migrated", test_migration},
};
SUITE_MAIN("db robust", tests)
