/* orchard report and compare from outside. */
#include "tests/reports/html_check.h"
#include "tests/support/cli_binary.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct cli_home home = {.name = "report", .options = "-q"};

/* The page that a command line wrote into the folder; NULL after a failed check. */
static char *page_of(const char *file)
{
    char path[128], *text = NULL;
    size_t size = 0;
    snprintf(path, sizeof path, "%s/%s", home.folder, file);
    FILE *const in = fopen(path, "rb"), *const out = open_memstream(&text, &size);
    CHECK(in != NULL, "no %s: %.300s", path, home.outcome.err);
    for (int c; in && (c = getc(in)) != EOF;)
        putc(c, out);
    if (in)
        fclose(in);
    fclose(out);
    CHECK(size < 1000000, "%s has %zu bytes", file, size);
    struct html_sums sums;
    CHECK(html_check(text, &sums), "%s: %s", file, sums.error);
    CHECK(sums.pictures % 2 == 0 && (sums.pictures >= 2 || strstr(text, "not whole")), "%zu pictures", sums.pictures);
    return text;
}

/* Makes runs 1 to 4 of the folder's database: two chips, a machine, two workloads at once. */
static bool with_runs(void)
{
    static bool made;
    if (made)
        return true;
    if (!cli_ask(&home, "run gemm:64x64x64 --unit amx --chip m1,m2"))
        return false;
    cli_ask(&home, "run gemm:64x64x64 --unit gpu --chip m1 --device macbook-air --duration 300");
    cli_ask(&home, "run stream-triad:1M[unit=gpu] + stream-triad:1M[unit=cpu] --chip m1");
    CHECK(home.outcome.code == 0, "%.300s", home.outcome.err);
    made = true;
    return true;
}

static void test_a_run_has_its_numbers_on_the_page(void)
{
    if (!with_runs())
        return;
    cli_ask(&home, "report 1 -o $/run.html");
    CHECK(home.outcome.code == 0, "%.300s", home.outcome.err);
    char *const page = page_of("run.html");
    cli_ask(&home, "run gemm:64x64x64 --unit amx --chip m1 --json");
    json_object *const d = cli_document(&home.outcome);
    json_object_object_foreach(document_at(d, "/stalls"), reason, share)
    {
        char want[64];
        CHECK(strstr(page, reason) != NULL, "no %s", reason);
        snprintf(want, sizeof want, "data-v=\"%.9g", json_object_get_double(share));
        want[strlen(want) - 2] = 0; /* the last digits may be rounded differently */
        CHECK(json_object_get_double(share) == 0 || strstr(page, want), "%s: no %s", reason, want);
    }
    for (size_t i = 0; i < json_object_array_length(document_at(d, "/assumptions")); i++) {
        const char *const key = document_text(json_object_array_get_idx(document_at(d, "/assumptions"), i), "/key");
        CHECK(strstr(page, key) != NULL, "no assumption %s", key);
    }
    CHECK(strstr(page, "Roofline") && strstr(page, "Energy by part") && strstr(page, "(90\xc2\xa0%)"), "a part is missing");
    CHECK(!strstr(page, "var uPlot="), "uPlot without a series");
    json_object_put(d);
    free(page);
}

static void test_a_machine_has_curves(void)
{
    if (!with_runs())
        return;
    cli_ask(&home, "report 3 -o $/device.html");
    char *const page = page_of("device.html");
    CHECK(strstr(page, "var uPlot=") && strstr(page, "<figcaption>Temperature</figcaption>") &&
              strstr(page, "<figcaption>Power</figcaption>"),
          "a curve is missing");
    cli_ask(&home, "report 3 -o $/again.html");
    char *const again = page_of("again.html");
    CHECK(strcmp(page, again) == 0, "another page of the same run");
    free(page);
    free(again);
}

/* The cards of a page have the words of the summary: shares by what they are of, hours and minutes as such. */
static void test_cards_say_what_the_summary_says(void)
{
    if (!with_runs())
        return;
    cli_ask(&home, "report 3 -o $/cards.html");
    char *const page = page_of("cards.html");
    CHECK(strstr(page, ">busy<") != NULL && strstr(page, "gpu, share of the time"), "no share of the time");
    CHECK(strstr(page, ">5.00 min<") != NULL, "300 s are no 5 minutes");
    const char *const battery = strstr(page, "the battery lasts");
    CHECK(battery && strstr(battery, " h<") && strstr(battery, " h<") - battery < 120, "the battery is not told in hours");
    free(page);
    cli_ask(&home, "report 1 -o $/cards.html");
    char *const amx = page_of("cards.html");
    CHECK(strstr(amx, ">arrays of amx<") != NULL && !strstr(amx, "AMX busy"), "the share of the arrays has another name");
    free(amx);
}

static void test_runs_side_by_side_and_ops(void)
{
    if (!with_runs())
        return;
    cli_ask(&home, "report 1 2 3 4 -o $/many.html");
    char *const many = page_of("many.html");
    CHECK(strstr(many, "4 runs side by side") && strstr(many, "Operations over time"), "a part is missing");
    free(many);
    cli_ask(&home, "report");
    CHECK(home.outcome.code == 0, "%.300s", home.outcome.err);
    remove("report.html");
    cli_ask(&home, "report 77 -o $/none.html");
    CHECK(home.outcome.code == 2, "%d: %.300s", home.outcome.code, home.outcome.err);
    cli_ask(&home, "report 1 -o /nonexistent/x.html");
    CU_ASSERT_EQUAL(home.outcome.code, 2);
}

static void test_compare_shows_what_differs(void)
{
    if (!with_runs())
        return;
    cli_ask(&home, "compare 1 2 --json");
    json_object *const d = cli_document(&home.outcome);
    json_object *const seconds = document_at(d, "/numbers/seconds");
    CHECK(fabs(document_number(seconds, "/b") / document_number(seconds, "/a") / document_number(seconds, "/ratio") - 1) < 1e-8,
          "ratio");
    CHECK(fabs(document_number(d, "/speedup") * document_number(seconds, "/ratio") - 1) < 1e-8, "speedup");
    CHECK(document_at(d, "/chip_values/p_max_mhz") != NULL, "the clock does not differ");
    CU_ASSERT_STRING_EQUAL(document_text(d, "/settings/chip/a"), "m1_4p4e_8g");
    /* The seconds of all reasons grow by as much as the whole. */
    double grew = 0;
    json_object_object_foreach(document_at(d, "/stall_seconds"), reason, row)
    {
        (void)reason;
        grew += document_number(row, "/b") - document_number(row, "/a");
    }
    CHECK(fabs(grew - (document_number(seconds, "/b") - document_number(seconds, "/a"))) < 1e-3 * document_number(seconds, "/a"),
          "%g s by reason", grew);
    json_object_put(d);
    cli_ask(&home, "compare 1 1");
    CHECK(strstr(home.outcome.out, "no differences") != NULL, "%s", home.outcome.out);
    cli_ask(&home, "compare 1");
    CU_ASSERT_EQUAL(home.outcome.code, 2);
}

static void test_a_sweep_has_its_points_and_effects(void)
{
    char want[64];
    if (!cli_ask(&home, "sweep gemm:64x64x64 --unit gpu --name shapes -L gpu_max_mhz=1000:1400:3 -L precision=f32,f16 --jobs 1"))
        return;
    CHECK(home.outcome.code == 0, "%.300s", home.outcome.err);
    cli_ask(&home, "report --sweep last -o $/sweep.html");
    CHECK(home.outcome.code == 0, "%.300s", home.outcome.err);
    char *const page = page_of("sweep.html");
    CHECK(strstr(page, "Sweep shapes") && strstr(page, "What each key alone does to seconds") &&
              strstr(page, "seconds over each key") && strstr(page, "Energy over time") && strstr(page, "Mean seconds by level"),
          "a part is missing");
    /* Every point of the database appears in a table. */
    cli_ask(&home, "db sql SELECT/**/seconds/**/FROM/**/v_sweep --json");
    json_object *const rows = cli_document(&home.outcome);
    CHECK(json_object_is_type(rows, json_type_array) && json_object_array_length(rows) >= 6, "%s",
          json_object_to_json_string(rows));
    for (size_t i = 0; json_object_is_type(rows, json_type_array) && i < json_object_array_length(rows); i++) {
        snprintf(want, sizeof want, "data-v=\"%.9g", document_number(json_object_array_get_idx(rows, i), "/seconds"));
        want[strlen(want) - 2] = 0;
        CHECK(strstr(page, want) != NULL, "no %s", want);
    }
    json_object_put(rows);
    free(page);
}

static void test_a_regression_shows_what_moved(void)
{
    if (!cli_ask(&home, "regress record base --chip m1 --only amx.peak"))
        return;
    CHECK(home.outcome.code == 0, "%.300s", home.outcome.err);
    cli_ask(&home, "report --regression base --chip m1 --only amx.peak -o $/same.html");
    CHECK(home.outcome.code == 0, "%.300s", home.outcome.err);
    cli_ask(&home, "report --regression base --chip m1 --only amx.peak --set amx.array_f32_cycles=2 -o $/moved.html");
    char *const page = page_of("moved.html");
    CHECK(strstr(page, "What moved most") && strstr(page, "m1_4p4e_8g amx.peak_f32") && strstr(page, "amx.array_f32_cycles"),
          "no cause, or nothing moved");
    free(page);
    cli_ask(&home, "report --regression bose -o $/none.html");
    CU_ASSERT_EQUAL(home.outcome.code, 2);
}

/* A single figure is the picture of the page. */
static void test_a_figure_alone(void)
{
    if (!with_runs())
        return;
    cli_ask(&home, "report 1 --figure Roofline -o -");
    CHECK(home.outcome.code == 0 && strncmp(home.outcome.out, "<svg", 4) == 0 && strstr(home.outcome.out, "xmlns="), "%.200s",
          home.outcome.out);
    cli_ask(&home, "report 1 --figure Rofline -o -");
    CHECK(home.outcome.code == 2 && strstr(home.outcome.err, "did you mean Roofline"), "%.200s", home.outcome.err);
}

/* More than two runs, and the page of a comparison. */
static void test_compare_takes_several(void)
{
    if (!with_runs() || !cli_ask(&home, "compare 1 2 3 --json -o $/compare.html"))
        return;
    json_object *const d = cli_document(&home.outcome);
    const double first = document_number(d, "/runs/0/seconds"), second = document_number(d, "/runs/1/seconds");
    CHECK(fmin(document_number(d, "/runs/0/relative"), document_number(d, "/runs/1/relative")) == 1 &&
              fabs(document_number(d, "/runs/0/relative") / document_number(d, "/runs/1/relative") / (first / second) - 1) < 1e-6,
          "%s", json_object_to_json_string(d));
    json_object_put(d);
    cli_ask(&home, "compare 1 2 3");
    CHECK(strstr(home.outcome.out, "fastest: run ") != NULL, "%s", home.outcome.out);
    char *const page = page_of("compare.html");
    CHECK(page && strstr(page, "Settings and values of the chips") && strstr(page, "Numbers that differ"),
          "the page lacks tables");
    free(page);
    cli_ask(&home, "compare 1 2 -o /nonexistent/x.html");
    CU_ASSERT_EQUAL(home.outcome.code, 2);
}

/* A run that failed has a page that says so; beside others it is refused. */
static void test_a_run_that_failed(void)
{
    if (!with_runs() || !cli_ask(&home, "run gemm:64x64x64 --unit amx --precision bf16 --chip m1"))
        return;
    CU_ASSERT_EQUAL(home.outcome.code, 3);
    cli_ask(&home, "db sql SELECT/**/max(id)/**/AS/**/id/**/FROM/**/run --json");
    const char *const digits = home.outcome.out + strcspn(home.outcome.out, "0123456789");
    const long id = strtol(digits, NULL, 10);
    cli_ask(&home, "report %ld -o $/failed.html", id);
    CU_ASSERT_EQUAL(home.outcome.code, 0);
    char *const page = page_of("failed.html");
    CHECK(page && strstr(page, "This run is not whole: it failed: gemm in bf16 on amx needs"), "the page does not say so");
    free(page);
    cli_ask(&home, "report 1 %ld -o $/both.html", id);
    CHECK(home.outcome.code == 2 && strstr(home.outcome.err, "failed"), "%d %s", home.outcome.code, home.outcome.err);
}

static void test_claims_are_asked_anew(void)
{
    if (!cli_ask(&home, "report --claims --only microsecond --json -o $/claims.html"))
        return;
    json_object *const d = cli_document(&home.outcome);
    CHECK(document_number(d, "/plausible") == 1 && document_number(d, "/claims/0/answers/0/value") < 1e-6, "%s",
          json_object_to_json_string(d));
    cli_ask(&home, "run gemm:32x32x32 --unit amx --mode timing --chip m1 --json");
    json_object *const run = cli_document(&home.outcome);
    CHECK(document_number(run, "seconds") == document_number(d, "/claims/0/answers/0/value"), "a claim is not asked of run");
    json_object_put(run);
    json_object_put(d);
    char *const page = page_of("claims.html");
    CHECK(page && strstr(page, "1 of 1") && strstr(page, "orchard run gemm:32x32x32 --unit amx"), "the page lacks the claim");
    free(page);
    /* the table has both figures, and no page is left behind */
    cli_ask(&home, "report --claims --only microsecond -q");
    CHECK(strstr(home.outcome.out, "claimed") && strstr(home.outcome.out, "simulated") && strstr(home.outcome.out, " 1.00 ") &&
              access("report.html", F_OK) != 0,
          "%s", home.outcome.out);
    cli_ask(&home, "report --claims --only nobody-claims-that -o $/none.html");
    CU_ASSERT_EQUAL(home.outcome.code, 2);
    cli_ask(&home, "report 1 --claims -o $/none.html");
    CU_ASSERT_EQUAL(home.outcome.code, 2);
}

static void test_compare_knows_what_was_set(void)
{
    if (!with_runs() || !cli_ask(&home, "run gemm:64x64x64 --unit amx --chip m1 --set amx.clock_ghz=2"))
        return;
    cli_ask(&home, "compare 1 last --json");
    json_object *const d = cli_document(&home.outcome), *const keys = document_at(d, "/chip_values");
    CHECK(json_object_object_get_ex(keys, "amx.clock_ghz", NULL), "%s", json_object_to_json_string(keys));
    json_object_put(d);
    CHECK(cli_home_remove(&home), "something stays in %s", home.folder);
}

/* Four rows of a table: a fitted one, an unmodelled one, and names that look like markup. */
static void test_validation_has_its_scores_on_the_page(void)
{
    char path[128], want[64];
    if (!cli_ask(&home, "db init"))
        return;
    snprintf(path, sizeof path, "%s/small.csv", home.folder);
    FILE *const f = fopen(path, "w");
    fputs("chip,instruction_or_kernel,condition,value,unit,kind,source,chip_id\n"
          "M1 Max,fma16 in matrix mode Z=f16[32][32],\"1 thread(s), 1 Z accumulators per thread, no loads or "
          "stores\",1453.0,GFLOPS,measured,<b>a & b</b>,m1_max_8p2e_32g\n"
          "M1 Max,fma16 in matrix mode Z=f16[32][32],\"1 thread(s), 2 Z accumulators per thread, no loads or "
          "stores\",2958.4,GFLOPS,measured,<b>a & b</b>,m1_max_8p2e_32g\n"
          "M1 Max,fma32 in matrix mode Z=f32[16][16],\"1 thread(s), 1 Z accumulators per thread, no loads or "
          "stores\",370,GFLOPS,measured,source two,m1_max_8p2e_32g\n"
          "M1 Max,fma32 in matrix mode Z=f32[16][16],\"1 thread(s), 2 Z accumulators per thread, no loads or "
          "stores\",740,GFLOPS,measured,source two,m1_max_8p2e_32g\n"
          "M1 Max,\"</script>\",no such thing,1,bananas,measured,source two,m1_max_8p2e_32g\n",
          f);
    fclose(f);
    cli_ask(&home, "validate $/small.csv --json");
    json_object *const d = cli_document(&home.outcome);
    cli_ask(&home, "report --validation small -o $/validation.html");
    CHECK(home.outcome.code == 0, "%.300s", home.outcome.err);
    char *const page = page_of("validation.html");
    json_object *const rows = document_at(d, "/rows_detail");
    CHECK(json_object_array_length(rows) >= 4, "%zu rows", json_object_array_length(rows));
    for (size_t i = 0; i < json_object_array_length(rows); i++) {
        snprintf(want, sizeof want, ">%s<", document_text(json_object_array_get_idx(rows, i), "/id"));
        CHECK(strstr(page, want) != NULL, "no row %s", want);
    }
    CHECK(strstr(page, "Predicted over measured, GFLOPS") && strstr(page, "&lt;b&gt;a &amp; b&lt;/b&gt;") &&
              strstr(page, "&lt;/script&gt;"),
          "a part is missing");
    snprintf(want, sizeof want, "%.1f %%", 100 * document_number(d, "/mape"));
    CHECK(strstr(page, want) != NULL, "no mean error %s", want);
    free(page);
    json_object_put(d);
    cli_ask(&home, "report --validation bananas -o $/none.html");
    CU_ASSERT_EQUAL(home.outcome.code, 2);
}

/* A network has a timeline of its kernels, with a row for each. */
static void test_network(void)
{
    if (!cli_ask(&home, "run model:mobilenet-v3-small --unit gpu --chip m1 --mode timing --dim size=32 --json"))
        return;
    json_object *const d = cli_document(&home.outcome);
    char report[64];
    snprintf(report, sizeof report, "report %d -o $/network.html", (int)document_number(d, "/run_id"));
    cli_ask(&home, "%s", report);
    char *const page = page_of("network.html");
    CHECK(strstr(page, "The network on its units") && strstr(page, " kernels, one after another") &&
              strstr(page, document_text(d, "/placement/1/kernel")),
          "no timeline");
    free(page);
    json_object_put(d);
}

static const struct suite_test tests[] = {
    {"a run has its numbers on the page", test_a_run_has_its_numbers_on_the_page},
    {"a run in a machine has curves", test_a_machine_has_curves},
    {"cards say what the summary says", test_cards_say_what_the_summary_says},
    {"runs stand side by side with their ops", test_runs_side_by_side_and_ops},
    {"compare shows what differs", test_compare_shows_what_differs},
    {"compare takes several runs and makes a page", test_compare_takes_several},
    {"a run that failed has a page that says so", test_a_run_that_failed},
    {"a validation has its scores on the page", test_validation_has_its_scores_on_the_page},
    {"a sweep has its points and effects", test_a_sweep_has_its_points_and_effects},
    {"a regression shows what moved", test_a_regression_shows_what_moved},
    {"a single figure can be written", test_a_figure_alone},
    {"compare shows what --set changed", test_compare_knows_what_was_set},
    {"a network has a timeline of its kernels", test_network},
    {"claims are asked anew", test_claims_are_asked_anew},
};
SUITE_MAIN("report and compare", tests)
