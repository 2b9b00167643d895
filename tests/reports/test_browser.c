/* Pages in a real browser, where one is installed: the script runs, long series become charts that zoom, points can be chosen.
 */
#include "isa/array_count.h"
#include "reports/chart.h"
#include "reports/page.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *browser(void)
{
    static const char *const names[] = {"/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"};
    for (size_t i = 0; i < ARRAY_COUNT(names); i++)
        if (access(names[i], X_OK) == 0)
            return names[i];
    return NULL;
}

static char folder[64] = "/tmp/orchard-browser-XXXXXX";

/* A page with a long series and a wide table. */
static bool write_example(const char *path)
{
    static const struct result_column columns[] = {{"time", "s", true}, {"power", "W", true}};
    enum { ROWS = 300 };
    static struct chart_point point[ROWS];
    struct result_table *const t = result_table_create(columns, 2);
    struct page *const p = page_create("a page", "below it");
    for (int i = 0; i < ROWS; i++) {
        point[i] = (struct chart_point){i, 5 + sin(i / 20.0), NAN, NAN, NULL};
        result_table_number(t, i, NULL);
        result_table_number(t, point[i].y, NULL);
    }
    const struct chart_series line = {"power", 0, SVG_NO_MARK, false, true, false, point, ROWS};
    const struct chart_lines lines = {{.label = "time", .unit = "s"}, {.label = "power", .unit = "W"}, &line, 1};
    const struct page_figure figure = {
        .title = "Power", .draw = chart_lines, .chart = &lines, .table = t, .series = true, .axis = "W", .shown = 1};
    page_section(p, "one");
    page_brush(p, "Points", "to choose from", t);
    page_figure(p, &figure);
    page_table(p, "again", t);
    FILE *const out = fopen(path, "wb");
    const bool ok = out && page_write(p, out);
    if (out)
        fclose(out);
    page_free(p);
    result_table_free(t);
    return ok;
}

/* The document after its scripts have run, at a width. */
static char *dom_at(int width)
{
    char command[512], *text = NULL;
    size_t size = 0;
    snprintf(command, sizeof command,
             "timeout 60 %s --headless --no-sandbox --disable-gpu --user-data-dir=%s/profile --window-size=%d,900 "
             "--virtual-time-budget=3000 "
             "--dump-dom file://%s/page.html 2>/dev/null",
             browser(), folder, width, folder);
    FILE *const in = popen(command, "r"), *const out = open_memstream(&text, &size);
    for (int c; in && (c = getc(in)) != EOF;)
        putc(c, out);
    if (in)
        pclose(in);
    fclose(out);
    return text;
}

static size_t count_of(const char *text, const char *what)
{
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, what)) != NULL; at += strlen(what))
        count++;
    return count;
}

static void test_the_script_runs_in_a_browser(void)
{
    char path[96];
    if (!browser()) {
        suite_skip("no Chromium is installed");
        return;
    }
    CHECK(mkdtemp(folder) != NULL, "no folder");
    snprintf(path, sizeof path, "%s/page.html", folder);
    CHECK(write_example(path), "no page");
    for (int width = 400; width <= 1280; width += 880) {
        char *const dom = dom_at(width);
        if (strlen(dom) == 0) {
            suite_skip("the browser does not start here");
            free(dom);
            break;
        }
        CHECK(count_of(dom, "<canvas") == 2 && count_of(dom, "class=\"live\"") == 1, "no live chart at %d pixels", width);
        CHECK(count_of(dom, "class=\"csv\"") == 2 && count_of(dom, "hidden=\"hidden\"") == 0,
              "the CSV buttons stay hidden at %d pixels", width);
        CHECK(count_of(dom, "<svg") == 2, "the still pictures are gone");
        CHECK(count_of(dom, "300 of 300 points; the first 200 are listed") == 1 &&
                  count_of(dom, "aria-label=\"power, least\"") == 1,
              "nothing to choose from at %d pixels", width);
        free(dom);
    }
    CHECK(suite_remove(folder), "something stays in %s", folder);
}

static const struct suite_test tests[] = {
    {"the script runs in a browser", test_the_script_runs_in_a_browser},
};
SUITE_MAIN("report pages in a browser", tests)
