/* orchard sweep and whatif from outside: exit codes, lines of errors, documents, any number of processes. */
#include "isa/array_count.h"
#include "tests/sim/sweep_example.h"
#include "tests/support/cli_binary.h"

static struct cli_home home = {.name = "sweep-cli", .options = "--quiet"};

/* Like cli_ask, with another database in the folder. */
static bool ask(const char *db, const char *line)
{
    char text[1024];
    cli_home_open(&home);
    snprintf(text, sizeof text, "%s --quiet --db %s/%s", line, home.folder, db);
    return cli_run_or_skip(text, &home.outcome);
}

static void test_wrong_use(void)
{
    static const struct {
        const char *line, *part;
    } bad[] = {
        {"sweep", "a workload or a SPEC.json is missing"},
        {"sweep gemm:64x64x64", "nothing varies"},
        {"sweep gemm:64x64x64 -L gpu_coers=8,10", "did you mean gpu_cores"},
        {"sweep gemm:64x64x64 -L gpu_cores=10:8:3", "empty"},
        {"sweep gemm:64x64x64 -L gpu_cores=8,10 -L gpu_cores=8", "varies twice"},
        {"sweep gemm:64x64x64 -L gpu_cores=8,10 --set gpu_cores=9", "fixed at the same time"},
        {"sweep gemm:64x64x64 -L gpu_max_mhz=500:1500 --lhs 0", "--lhs"},
        {"sweep gemm:64x64x64 -L gpu_max_mhz=500:1500 --lhs 20000000", "--lhs"},
        {"sweep gemm:64x64x64 -L gpu_max_mhz=500:1500 --lhs 5 --random 5", "exclude"},
        {"sweep gemm:64x64x64 -L gpu_cores=8,10 --shard 3/3", "--shard"},
        {"sweep gemm:64x64x64 -L gpu_cores=8,10 --response second", "did you mean seconds"},
        {"sweep $/none.json", "none.json"},
        {"sweep $/none.json --unit gpu", "says that itself"},
        {"whatif gemm:64x64x64 --vary gpu_cores=8:10", "a goal is missing"},
        {"whatif gemm:64x64x64 --goal seconds<1", "nothing may change"},
        {"whatif gemm:64x64x64 --goal seconds=1 --vary gpu_cores=8:10", "expected FIELD"},
        {"whatif gemm:64x64x64 --goal second<1 --vary gpu_cores=8:10", "did you mean seconds"},
        {"whatif gemm:64x64x64 --goal seconds<1 --vary gpu_cores=8,10", "expected KEY=lo:hi"},
    };

    for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
        if (!cli_ask(&home, "%s", bad[i].line))
            return;
        CHECK(home.outcome.code == 2 && strstr(home.outcome.err, bad[i].part) && !*home.outcome.out, "%s: %d %s", bad[i].line,
              home.outcome.code, home.outcome.err);
        CHECK(strchr(home.outcome.err, '\n') == strrchr(home.outcome.err, '\n'), "more than a line: %s", home.outcome.err);
    }
}

/* A shard without points has nothing to do. A file that is no database is reported in one line. */
static void test_nothing_and_no_database(void)
{
    char text[128];
    if (!ask("none.db", "sweep gemm:64x64x64 --unit ane -L chip=m1,m2 --shard 90/100"))
        return;
    CU_ASSERT_EQUAL(home.outcome.code, 0);
    snprintf(text, sizeof text, "%s/text.db", home.folder);
    FILE *const file = fopen(text, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    fputs("this is a text and no database, whatever its name may say", file);
    fclose(file);
    CU_ASSERT_TRUE(ask("text.db", "sweep gemm:64x64x64 --unit ane -L chip=m1,m2"));
    CHECK(home.outcome.code == 2 && strstr(home.outcome.err, "text.db") && !*home.outcome.out, "%d %s", home.outcome.code,
          home.outcome.err);
}

/* A point that cannot be answered does not end a sweep. A sweep of which no point can be answered is wrong use. */
static void test_failed_points(void)
{
    if (!cli_ask(&home, "sweep gemm:64x64x64 --json -L chip=m1,nochip -L unit=amx"))
        return;
    CU_ASSERT_EQUAL(home.outcome.code, 0);
    json_object *document = cli_document(&home.outcome);
    CU_ASSERT_EQUAL(document_number(document, "/done"), 1);
    CU_ASSERT_EQUAL(document_number(document, "/failed"), 1);
    CU_ASSERT_STRING_EQUAL(document_text(document, "/workloads/0/rows/1/status"), "failed");
    CHECK(strstr(document_text(document, "/workloads/0/rows/1/error"), "nochip") != NULL, "%s",
          document_text(document, "/workloads/0/rows/1/error"));
    json_object_put(document);
    CU_ASSERT_TRUE(cli_ask(&home, "sweep gemm:64x64x64 -L chip=nochip,nochip2 --unit amx"));
    CU_ASSERT_EQUAL(home.outcome.code, 2);
    CHECK(strstr(home.outcome.out, "nochip") != NULL, "%s", home.outcome.out);
}

#define LINE "sweep gemm:96x96x96 --unit ane --chip m2 --lhs 120 -L ane.clock_ghz=0.8:2 -L memory_peak_GBps=50:200 --json"

static void test_jobs_do_not_matter(void)
{
    if (!ask("one.db", LINE " --jobs 1"))
        return;
    json_object *document = cli_document(&home.outcome);
    CHECK(document_number(document, "/interpolated") > 0, "%g interpolated", document_number(document, "/interpolated"));
    json_object_put(document);
    CU_ASSERT_TRUE(ask("three.db", LINE " --jobs 3"));
    CU_ASSERT_EQUAL(home.outcome.code, 0);
    char *const one = example_sweep_rows(example_file(home.folder, "one.db"));
    char *const three = example_sweep_rows(example_file(home.folder, "three.db"));
    CU_ASSERT_STRING_EQUAL(one, three);
    CU_ASSERT_TRUE(strlen(one) > 1000);
    free(one);
    free(three);
}

static void test_shards(void)
{
    char text[512];
    if (!ask("s0.db", LINE " --exact --shard 0/2"))
        return;
    CU_ASSERT_TRUE(ask("s1.db", LINE " --exact --shard 1/2"));
    snprintf(text, sizeof text, "db merge %s/s0.db %s/s1.db", home.folder, home.folder);
    CU_ASSERT_TRUE(ask("all.db", text));
    CU_ASSERT_EQUAL(home.outcome.code, 0);
    CU_ASSERT_TRUE(ask("all.db", LINE " --exact"));
    json_object *const document = cli_document(&home.outcome);
    CU_ASSERT_EQUAL(document_number(document, "/done"), 120);
    CU_ASSERT_EQUAL(document_number(document, "/there_before"), 120 + 5); /* and those of the tornado */
    json_object_put(document);
}

static void test_slurm_scripts(void)
{
    if (!cli_ask(&home, "sweep gemm:64x64x64 -L gpu_cores=8,10 --slurm 8 --dry-run --slurm-folder $/it's"))
        return;
    CU_ASSERT_EQUAL(home.outcome.code, 0);
    CHECK(strstr(home.outcome.out, "#SBATCH --array=0-7") && strstr(home.outcome.out, "--shard \"$SLURM_ARRAY_TASK_ID/8\"") &&
              strstr(home.outcome.out, "db merge shard-*.db") && strstr(home.outcome.out, "/it'\\''s'"),
          "%s", home.outcome.out);
}

static void test_whatif(void)
{
    if (!cli_ask(&home, "whatif gemm:96x96x96 --unit ane --chip m2 --goal seconds<1.05e-4 --vary ane.request_us=50:110 --vary "
                        "ane.clock_ghz=1:3 --json"))
        return;
    CU_ASSERT_EQUAL(home.outcome.code, 0);
    json_object *document = cli_document(&home.outcome);
    CU_ASSERT_TRUE(document_number(document, "/joint/answers/seconds") < 1.05e-4);
    /* The time is the request and little else, so its least change alone ends at the very edge of the goal. */
    json_object *const alone = document_at(document, "/single/ane.request_us");
    CU_ASSERT_TRUE(json_object_get_boolean(json_object_object_get(alone, "reached")));
    const double edge = document_number(alone, "/answers/seconds");
    CHECK(edge < 1.05e-4 && edge > 1.045e-4, "%g", edge);
    CU_ASSERT_TRUE(document_number(document, "/joint/change") <= document_number(alone, "/change"));
    json_object_put(document);
    CU_ASSERT_TRUE(
        cli_ask(&home, "whatif gemm:96x96x96 --unit ane --chip m2 --goal seconds<1e-6 --vary ane.request_us=50:110 --json"));
    CU_ASSERT_EQUAL(home.outcome.code, 1);
    CU_ASSERT_TRUE(cli_ask(&home, "whatif gemm:96x96x96 --unit ane --chip m2 --goal seconds<1 --vary ane.request_us=50:110"));
    CU_ASSERT_EQUAL(home.outcome.code, 0);
    CU_ASSERT_TRUE(strstr(home.outcome.out, "the goal is reached") != NULL);
}

static void test_end(void)
{
    CU_ASSERT_TRUE(cli_home_remove(&home));
}

static const struct suite_test tests[] = {
    {"wrong use gives one line and exit code 2", test_wrong_use},
    {"an empty shard is done, a file that is no database is refused", test_nothing_and_no_database},
    {"points that fail are kept with their reason", test_failed_points},
    {"any number of processes gives the same answers", test_jobs_do_not_matter},
    {"merged shards are the whole sweep", test_shards},
    {"--slurm writes a job array and a merge job", test_slurm_scripts},
    {"whatif finds the least change for a goal", test_whatif},
    {"the folder is removed", test_end},
};
SUITE_MAIN("sweep cli", tests)
