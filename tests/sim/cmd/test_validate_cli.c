/* orchard validate from outside: the shipped tables, bad rows, the list of fitted values. */
#include "tests/support/cli_binary.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct cli_home home = {.name = "validate", .options = ""};

static bool write_table(const char *name, const char *text)
{
    char path[160];
    cli_home_open(&home);
    snprintf(path, sizeof path, "%s/%s", home.folder, name);
    FILE *const f = fopen(path, "w");
    const bool ok = f && fputs(text, f) >= 0;
    CHECK(ok, "%s", path);
    if (f)
        fclose(f);
    return ok;
}

#define NAMES "chip,item,value,unit,kind,source,note,chip_id\n"
#define GOOD  "M1 Pro (8P+2E),NEON f32 FMA one thread,100.7,GFLOPS,measured,s,,m1_pro_8p2e_16g\n"

/* The good row is scored, the bad ones are named with place and remedy, and the exit code says that the input was not sound. */
static void test_bad_rows(void)
{
    if (!write_table("bad.csv", NAMES GOOD "M1,L1 latency,nan,ns,measured,s,,\nM1,L1 latency,3\n") ||
        !cli_ask(&home, "validate $/bad.csv"))
        return;
    CU_ASSERT_EQUAL(home.outcome.code, 2);
    CHECK(strstr(home.outcome.err, "bad.csv:3:15: column 'value' is 'nan': not a finite number; write a number") != NULL, "%s",
          home.outcome.err);
    CHECK(strstr(home.outcome.err, "bad.csv:4:1: column 'unit': 3 cells, the first line has 8") != NULL, "%s", home.outcome.err);
    CHECK(strstr(home.outcome.err, "2 rows could not be read and were skipped") != NULL, "%s", home.outcome.err);
    CHECK(strstr(home.outcome.out, "all (errors of untouched rows)                                   1        1") != NULL, "%s",
          home.outcome.out);
    cli_ask(&home, "validate $/bad.csv --json");
    CU_ASSERT_EQUAL(home.outcome.code, 2);
    json_object *const d = json_tokener_parse(home.outcome.out);
    CU_ASSERT_PTR_NOT_NULL_FATAL(d);
    CHECK(document_number(d, "/rows") == 1 && document_number(d, "/skipped/1/line") == 4, "%s", home.outcome.out);
    CU_ASSERT_STRING_EQUAL(document_text(d, "/skipped/0/value"), "nan");
    json_object_put(d);
}

/* Speeds, times and power are never below 0, changes may be: every bad cell is named with its place, all in one answer. */
static void test_negative_values(void)
{
    static const char *const said[] = {"bad.csv:3:15: column 'value' is '-3.5': negative; write the quantity itself, above 0",
                                       "bad.csv:4:15: column 'value' is '-1e-9': negative; ",
                                       "bad.csv:6:15: column 'value' is 'x'", "3 rows could not be read and were skipped"};
    if (!write_table("bad.csv", NAMES GOOD "M1,L1 latency,-3.5,ns,measured,s,,\nM1,L2 latency,-1e-9,ns,measured,s,,\n"
                                           "M1,change of a score,-21,%,measured,s,,\nM1,L1 latency,x,ns,measured,s,,\n") ||
        !cli_ask(&home, "validate $/bad.csv"))
        return;
    CU_ASSERT_EQUAL(home.outcome.code, 2);
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        CHECK(strstr(home.outcome.err, said[i]) != NULL, "%s: not in %s", said[i], home.outcome.err);
    CHECK(!strstr(home.outcome.err, "'-21'"), "%s", home.outcome.err);
}

static void test_good_rows(void)
{
    if (!write_table("good.csv", NAMES GOOD) || !cli_ask(&home, "validate $/good.csv --json"))
        return;
    CU_ASSERT_EQUAL(home.outcome.code, 0);
    json_object *const d = cli_document(&home.outcome);
    if (!d)
        return;
    /* A P core: 32 flop x 3.204 or 3.228 GHz; the chip database has 102.5 to 103.3 GFLOPS. */
    CHECK(document_number(d, "/spreadsheet/rows") == 1 && document_number(d, "/spreadsheet/mape") < 0.05, "%s",
          json_object_to_json_string(document_at(d, "/spreadsheet")));
    CHECK(document_number(d, "/spreadsheet/mape_ratio") * document_number(d, "/spreadsheet/mape") -
                  document_number(d, "/spreadsheet/our_mape") <
              1e-12,
          "the ratio is that of the errors");
    json_object_put(d);
}

/* One table of columns gives the template, the explanation and the chapter of help; a template with one good row is scored. */
static void test_columns_are_explained(void)
{
    if (!cli_ask(&home, "validate --columns --json"))
        return;
    json_object *const d = cli_document(&home.outcome);
    char names[1000] = "";
    for (size_t i = 0; d && i < json_object_array_length(d); i++) {
        json_object *const c = json_object_array_get_idx(d, i);
        const size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", i ? "," : "", document_text(c, "/name"));
        CHECK(*document_text(c, "/text") && *document_text(c, "/values"), "%s is not explained", document_text(c, "/name"));
    }
    CHECK(json_object_array_length(d) == 19, "%zu columns", json_object_array_length(d));
    cli_ask(&home, "validate --template");
    CHECK(strlen(names) > 100 && strncmp(home.outcome.out, names, strlen(names)) == 0, "%s", home.outcome.out);
    cli_ask(&home, "validate --help");
    for (size_t i = 0; d && i < json_object_array_length(d); i++) {
        char want[100];
        snprintf(want, sizeof want, "\n  %s  [", document_text(json_object_array_get_idx(d, i), "/name"));
        CHECK(strstr(home.outcome.out, want) != NULL, "help without%s", want);
    }
    cli_ask(&home, "validate --columns");
    CHECK(home.outcome.code == 0 && strstr(home.outcome.out, "value_unit") != NULL, "%s", home.outcome.err);
    json_object_put(d);
}

/* A row of a kernel of the library is the run of that kernel: its prediction is the device time that the run tells. */
static void test_rows_of_kernels_are_runs(void)
{
#define KERNELS                                                                                                                  \
    "id,chip,unit,workload,precision,value,value_unit,condition,source,kind,chip_id\n"                                           \
    "time,M1,amx,gemm:96x96x96,f32,0.01,ms,1 thread(s),me,measured,m1_4p4e_8g\n"                                                 \
    "rate,M1,cpu,gemm:96x96x96,f32,90,GFLOPS,\"1 thread(s), warm\",me,measured,m1_4p4e_8g\n"                                     \
    "odd,M1,cpu,gemm:96x96x96,f32,90,parsec,1 thread(s),me,measured,m1_4p4e_8g\n"
    if (!write_table("kernels.csv", KERNELS) || !cli_ask(&home, "validate $/kernels.csv --csv"))
        return;
    double ms = 0, gflops = 0;
    const char *const time = strstr(home.outcome.out, "\ntime,"), *const rate = strstr(home.outcome.out, "\nrate,");
    CHECK(time && rate && sscanf(time, "\ntime,%lf", &ms) == 1 && sscanf(rate, "\nrate,%lf", &gflops) == 1, "%s",
          home.outcome.out);
    CHECK(strstr(home.outcome.out, "\nodd,") == NULL, "%s", home.outcome.out);
    cli_ask(&home, "run gemm:96x96x96 --unit amx --core p --mode timing --chip m1 --json");
    json_object *const amx = cli_document(&home.outcome);
    CHECK(fabs(document_number(amx, "/device_seconds") * 1e3 / ms - 1) < 1e-9, "%g ms", ms);
    json_object_put(amx);
    cli_ask(&home, "run gemm:96x96x96 --unit cpu --core p --chip m1 --json");
    json_object *const cpu = cli_document(&home.outcome);
    CHECK(fabs(2e-9 * 96 * 96 * 96 / document_number(cpu, "/device_seconds") / gflops - 1) < 1e-9, "%g GFLOPS", gflops);
    json_object_put(cpu);
}

static void test_shipped_tables(void)
{
    if (!cli_ask(&home, "validate --template"))
        return;
    CHECK(strncmp(home.outcome.out, "id,", 3) == 0 && strstr(home.outcome.out, ",value,") &&
              strstr(home.outcome.out, ",chip_id\n"),
          "%s", home.outcome.out);
    cli_ask(&home, "validate --dump HW00477");
    CHECK(home.outcome.code == 0 && strstr(home.outcome.out, "orchard run reduce:1x1000000,op=sum --unit gpu"), "%s",
          home.outcome.out);
    cli_ask(&home, "validate --fitted");
    CHECK(home.outcome.code == 0 && strstr(home.outcome.out, "amx.set_cycles = 12 (sim/chips/units-m1.json): ") &&
              strstr(home.outcome.out, "overhead of mlx 0.5.0 = ") &&
              strstr(home.outcome.out, "(sim/run/residuals.inc), intervals only") &&
              strstr(home.outcome.out, "rows count as fitted"),
          "%.2000s", home.outcome.out);
    cli_ask(&home, "validate $/none.csv");
    CU_ASSERT_EQUAL(home.outcome.code, 2);
}

/* One run gives scores and spreads: the same lines that --fit-residuals prints. A path that cannot be written is told before rows
 * are run. */
static void test_residuals(void)
{
    static const char *const rows = NAMES GOOD "M1 Max,NEON f32 FMA one thread,100.0,GFLOPS,measured,t,,m1_max_8p2e_32g\n";
    char path[160], lines[400] = "";
    if (!write_table("rows.csv", rows) || !cli_ask(&home, "validate $/rows.csv --residuals $/spread.inc"))
        return;
    CHECK(home.outcome.code == 0 && strstr(home.outcome.out, "errors of untouched rows"), "%s", home.outcome.out);
    snprintf(path, sizeof path, "%s/spread.inc", home.folder);
    FILE *const f = fopen(path, "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    CU_ASSERT(fread(lines, 1, sizeof lines - 1, f) > 10);
    fclose(f);
    cli_ask(&home, "validate $/rows.csv --fit-residuals");
    CHECK(strncmp(lines, "{\"\", \"\", ", 9) == 0 && strcmp(lines, home.outcome.out) == 0, "%s and %s", lines, home.outcome.out);
    cli_ask(&home, "validate $/rows.csv --residuals $/none/spread.inc");
    CHECK(home.outcome.code == 2 && strstr(home.outcome.err, "none/spread.inc") && !*home.outcome.out, "%s", home.outcome.err);
}

static void test_nothing_is_left(void)
{
    CHECK(cli_home_remove(&home), "%s remains", home.folder);
}

static const struct suite_test tests[] = {
    {"bad rows are named and skipped", test_bad_rows},
    {"negative values are named with their places", test_negative_values},
    {"a score has the spreadsheet's beside it", test_good_rows},
    {"the shipped tables are there without arguments", test_shipped_tables},
    {"columns are explained", test_columns_are_explained},
    {"rows of kernels are runs", test_rows_of_kernels_are_runs},
    {"scores and spreads come from one run", test_residuals},
    {"nothing is left behind", test_nothing_is_left},
};
SUITE_MAIN("validate from outside", tests)
