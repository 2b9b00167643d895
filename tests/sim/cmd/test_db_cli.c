/* Commands on a database that another program has changed: exit code 2 and one line with the file, the table and what to do. */
#include "isa/array_count.h"
#include "tests/support/cli_binary.h"
#include "tests/support/suite.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct cli_home home = {.name = "db", .options = "--quiet"};

static void change(const char *sql)
{
    char path[128];
    char *message = NULL;
    sqlite3 *sqlite;
    snprintf(path, sizeof path, "%s/runs.db", home.folder);
    sqlite3_open(path, &sqlite);
    CHECK(sqlite3_exec(sqlite, sql, NULL, NULL, &message) == SQLITE_OK, "%s", message);
    sqlite3_free(message);
    sqlite3_close(sqlite);
}

static bool make_runs(void)
{
    return cli_ask(&home, "run gemm:32x32x32 --unit amx --detail op") && home.outcome.code == 0 &&
           cli_ask(&home, "run gemm:48x32x32 --unit gpu") && home.outcome.code == 0;
}

/* Exit code 2, one line, with the file and these words. */
static void refuses(const char *line, const char *words)
{
    if (!cli_ask(&home, "%s", line))
        return;
    const char *const err = home.outcome.err;
    CHECK(home.outcome.code == 2 && strstr(err, "/runs.db") && strstr(err, words) && strstr(err, "restore a copy") &&
              strchr(err, '\n') == err + strlen(err) - 1,
          "orchard %s: %d %s", line, home.outcome.code, err);
}

static void test_changed_schema(void)
{
    static const char *const lines[] = {
        "db info",
        "db init",
        "db export v_op",
        "db sql SELECT",
        "db prune --failed",
        "db merge $/other.db",
        "explain",
        "compare 1 2",
        "report -o $/page.html",
        "run gemm:32x32x32 --unit amx",
        "trace record gemm:32x32x32 --unit amx -o $/a.trace",
        "sweep gemm:32x32x32 --unit amx -L memory_peak_GBps=50,60",
        "whatif gemm:32x32x32 --unit amx --goal seconds<1 --vary memory_peak_GBps=50:60",
        "tune gemm:32x32x32 --unit gpu",
        "regress record mine --chip m1 --only amx.peak",
    };
    if (!make_runs())
        return;
    change("ALTER TABLE checksum RENAME COLUMN fnv1a64 TO worth");
    for (size_t i = 0; i < ARRAY_COUNT(lines); i++)
        refuses(lines[i], "table checksum: column fnv1a64 is missing");
    CU_ASSERT(cli_ask(&home, "db check") && home.outcome.code == 1);
    CHECK(strstr(home.outcome.out, "table checksum: column fnv1a64 is missing\n") &&
              strstr(home.outcome.out, "table checksum: column worth is not one of orchard's\n"),
          "%s", home.outcome.out);
    CU_ASSERT(cli_home_remove(&home));
}

static void test_restored(void)
{
    if (!make_runs())
        return;
    change("DROP VIEW v_op; DROP INDEX run_by_chip");
    CU_ASSERT(cli_ask(&home, "db export v_op") && home.outcome.code == 2 &&
              strstr(home.outcome.err, "index run_by_chip is missing") &&
              strstr(home.outcome.err, "`orchard db init` makes it anew"));
    CU_ASSERT(cli_ask(&home, "db check") && home.outcome.code == 1 && strstr(home.outcome.out, "view v_op is missing"));
    CU_ASSERT(cli_ask(&home, "db init") && home.outcome.code == 0);
    CU_ASSERT(cli_ask(&home, "db check") && home.outcome.code == 0);
    CU_ASSERT(cli_ask(&home, "db export v_op") && home.outcome.code == 0);
    CU_ASSERT(cli_home_remove(&home));
}

/* Values that nobody of ours has written. */
static void test_changed_values(void)
{
    static const struct {
        const char *sql, *line, *words;
    } rows[] = {
        {"UPDATE characteristic SET timing = 'x'", "run gemm:32x32x32 --unit amx --detail op --rerun", "table characteristic"},
        {"UPDATE characteristic SET timing = '{}'", "run gemm:32x32x32 --unit amx --detail op --rerun", "table characteristic"},
        {"UPDATE characteristic SET timing = NULL", "run gemm:32x32x32 --unit amx --detail op --rerun", "table characteristic"},
        {"UPDATE sweep SET specification = '['", "report --sweep last -o $/page.html", "table sweep"},
        {"UPDATE fitted_set SET body = '{}'", "run gemm:48x32x32 --unit gpu --fitted mine", "table fitted_set"},
    };
    if (!make_runs() || !cli_ask(&home, "sweep gemm:32x32x32 --unit amx -L memory_peak_GBps=50,60") ||
        !cli_ask(&home, "tune gemm:32x32x32 --unit gpu --save mine"))
        return;
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        change(rows[i].sql);
        refuses(rows[i].line, rows[i].words);
    }
    CU_ASSERT(cli_home_remove(&home));
}

/* A query that fails while it runs is the user's mistake, not orchard's and not the file's. */
/* The newest runs, as many as asked for, newest last; a number that is none is refused. */
static void test_runs(void)
{
    if (!make_runs() || !cli_ask(&home, "db runs"))
        return;
    const char *const first = strstr(home.outcome.out, "gemm:32x32x32"), *const second =
                                                                             strstr(home.outcome.out, "gemm:48x32x32");
    CHECK(home.outcome.code == 0 && first && second && first < second && strstr(first, "amx f32") && strstr(second, "gpu f32"),
          "%s", home.outcome.out);
    CHECK(cli_ask(&home, "db runs 1") && !strstr(home.outcome.out, "gemm:32x32x32") && strstr(home.outcome.out, "gemm:48x32x32"),
          "%s", home.outcome.out);
    json_object *const d = cli_ask(&home, "db runs 1 --json") ? cli_document(&home.outcome) : NULL;
    CHECK(d && json_object_array_length(d) == 1 && strcmp(document_text(d, "/0/workload"), "gemm:48x32x32") == 0, "%s",
          home.outcome.out);
    json_object_put(d);
    CHECK(cli_ask(&home, "db runs 0") && home.outcome.code == 2 && strstr(home.outcome.err, "1 to 1000000"), "%s",
          home.outcome.err);
    CHECK(cli_ask(&home, "db runs -3") && home.outcome.code == 2, "%s", home.outcome.err);
    CU_ASSERT(cli_home_remove(&home));
}

static void test_query(void)
{
    if (!make_runs() || !cli_ask(&home, "db sql SELECT/**/json('x')/**/FROM/**/run"))
        return;
    CHECK(home.outcome.code == 2 && strstr(home.outcome.err, "SQL: malformed JSON"), "%d %s", home.outcome.code,
          home.outcome.err);
    CU_ASSERT(cli_home_remove(&home));
}

static const struct suite_test tests[] = {
    {"every command refuses a changed schema and names the table", test_changed_schema},
    {"db init makes views and indexes anew", test_restored},
    {"changed values are told with their table", test_changed_values},
    {"the newest runs", test_runs},
    {"a query's own errors", test_query},
};
SUITE_MAIN("db_cli", tests)
