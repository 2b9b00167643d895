/* A file whose name would be markup, an escape of terminals, a formula, a label: whatever shows it shows a text. */
#include "tests/reports/html_check.h"
#include "tests/reports/trace_check.h"
#include "tests/sim/served_example.h"
#include "tests/support/cli_binary.h"
#include "tests/support/suite.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct cli_home home = {.name = "hostile", .options = "-q"};

static const char name[] = "=HYPERLINK(\"x\")<script>alert(1)<!--\033[2J\xc2\x9b\x7f&'.onnx";

static char path[300];

/* A network under that name. */
static bool with_file(void)
{
    char from[200];
    cli_home_open(&home);
    if (*path)
        return true;
    CU_ASSERT_TRUE_FATAL(served_network(home.folder, "dense"));
    snprintf(from, sizeof from, "%s/dense/1/model.onnx", home.folder);
    snprintf(path, sizeof path, "%s/%s", home.folder, name);
    CU_ASSERT_TRUE_FATAL(rename(from, path) == 0);
    return true;
}

static bool has_control(const char *text)
{
    for (const unsigned char *c = (const unsigned char *)text; *c; c++)
        if ((*c < 0x20 && *c != '\n' && *c != '\t') || *c == 0x7f || (*c == 0xc2 && c[1] < 0xa0))
            return true;
    return false;
}

static char *file_of(const char *file)
{
    char full[200], *text = NULL;
    size_t size = 0;
    snprintf(full, sizeof full, "%s/%s", home.folder, file);
    FILE *const in = fopen(full, "rb"), *const out = open_memstream(&text, &size);
    CHECK(in != NULL, "no %s: %.300s", full, home.outcome.err);
    for (int c; in && (c = getc(in)) != EOF;)
        putc(c, out);
    if (in)
        fclose(in);
    fclose(out);
    return text;
}

static void test_what_terminals_see(void)
{
    static const char *const lines[] = {"run %s --unit amx --dim n=1",
                                        "run %s --unit gpu --dim n=1",
                                        "explain 1",
                                        "compare 1 2",
                                        "compare 1 2 1",
                                        "models show %s",
                                        "db sql SELECT/**/workload/**/FROM/**/run",
                                        "run %s --unit amx --dim n=1 --chip =1+1\033[2J",
                                        "run %s-is-gone",
                                        "run gemm:1x1\033[2J",
                                        "\033[2J"};
    if (!with_file())
        return;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char line[900];
        const char *const at = strstr(lines[i], "%s");
        snprintf(line, sizeof line, "%.*s%s%s", at ? (int)(at - lines[i]) : (int)strlen(lines[i]), lines[i], at ? path : "",
                 at ? at + 2 : "");
        if (!cli_ask(&home, "%s", line))
            return;
        CHECK(!has_control(home.outcome.out) && !has_control(home.outcome.err), "%zu: control characters", i);
        CHECK(i >= 7 || home.outcome.code == 0, "%zu: %d %.300s", i, home.outcome.code, home.outcome.err);
    }
}

static void test_pages(void)
{
    static const char *const pages[] = {"report 1 -o $/page.html", "report 1 2 -o $/page.html", "compare 1 2 -o $/page.html"};
    if (!with_file())
        return;
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
        struct html_sums sums;
        if (!cli_ask(&home, "%s", pages[i]))
            return;
        char *const page = file_of("page.html");
        CHECK(html_check(page, &sums), "%s: %s", pages[i], sums.error);
        CHECK(!strstr(page, "<script>alert") && !strchr(page, '\033') && strstr(page, "&lt;script&gt;alert(1)"), "%s", pages[i]);
        free(page);
    }
}

static void test_tables_and_traces(void)
{
    if (!with_file() || !cli_ask(&home, "db export v_run_summary -o $/runs.csv"))
        return;
    char *const csv = file_of("runs.csv");
    CHECK(!strstr(csv, ",=") && !strstr(csv, "\"=") && !has_control(csv), "%.300s", csv);
    free(csv);
    cli_ask(&home, "report 1 --perfetto $/view.json -o $/page.html");
    char *const view = file_of("view.json");
    json_object *const d = json_tokener_parse(view);
    struct trace_sums sums = {0};
    trace_check(d, &sums);
    CHECK(sums.slices > 1 && !strchr(view, '\033'), "%zu slices", sums.slices);
    json_object_put(d);
    free(view);
    CHECK(cli_home_remove(&home), "something stays in %s", home.folder);
}

static const struct suite_test tests[] = {
    {"terminals see text", test_what_terminals_see},
    {"pages have text", test_pages},
    {"tables have no formulas, traces are whole", test_tables_and_traces},
};
SUITE_MAIN("hostile names", tests)
