/* Pages in a real browser, where one is installed: the script runs, long series become charts that zoom, points can be chosen.
 */
#include "isa/array_count.h"
#include "reports/chart.h"
#include "reports/page.h"
#include "tests/support/browser.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64];

static bool make_folder(void)
{
    snprintf(folder, sizeof folder, "/tmp/orchard-browser-XXXXXX");
    return mkdtemp(folder) != NULL;
}

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

static size_t count_of(const char *text, const char *what)
{
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, what)) != NULL; at += strlen(what))
        count++;
    return count;
}

/* Writes the page that the browser is to open; false, and skipped, without a browser. */
static bool begin_page(bool (*write)(const char *path))
{
    char path[96];
    if (!browser_path()) {
        suite_skip("no Chromium is installed");
        return false;
    }
    CHECK(make_folder(), "no folder");
    snprintf(path, sizeof path, "%s/page.html", folder);
    CHECK(write(path), "no page");
    return true;
}

static void test_the_script_runs_in_a_browser(void)
{
    if (!begin_page(write_example))
        return;
    for (int width = 400; width <= 1280; width += 880) {
        char *const dom = browser_dom(folder, width);
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

/* Presses keys as a person would who has tabbed to each chart. */
static const char keys[] =
    "<script>function press(chart, names) { chart.focus(); names.forEach(function (name) { chart.dispatchEvent(new "
    "KeyboardEvent('keydown', {key: name, bubbles: true})); }); }\n"
    "press(document.querySelector('figure .wide svg[tabindex]'), ['ArrowRight', 'ArrowRight', 'ArrowRight', 'ArrowLeft']);\n"
    "press(document.querySelector('.live'), ['End', 'ArrowLeft']);\n"
    "document.body.dataset.still = getComputedStyle(document.querySelector('figure.series .still')).display;</script>\n";

static bool write_charts_and_keys(const char *path)
{
    static const struct chart_point points[] = {
        {1, 2, NAN, NAN, "first <of> three"}, {2, 3, NAN, NAN, "second & named"}, {3, 4, NAN, NAN, "third"}};
    const struct chart_series series = {"points", 0, SVG_CIRCLE, false, false, false, points, ARRAY_COUNT(points)};
    const struct chart_scatter scatter = {.unit = "ms", .series = &series, .count = 1};
    static const struct result_column columns[] = {{"time", "s", true}, {"power", "W", true}};
    struct result_table *const t = result_table_create(columns, 2);
    struct chart_point point[3];
    for (int i = 0; i < 3; i++) {
        point[i] = (struct chart_point){i, 5 + i, NAN, NAN, NULL};
        result_table_number(t, i, NULL);
        result_table_number(t, point[i].y, NULL);
    }
    const struct chart_series line = {"power", 0, SVG_NO_MARK, false, true, false, point, 3};
    const struct chart_lines lines = {{.label = "time", .unit = "s"}, {.label = "power", .unit = "W"}, &line, 1};
    struct page *const p = page_create("a page", "below it");
    page_figure(p, &(struct page_figure){.title = "Scatter", .draw = chart_scatter, .chart = &scatter, .table = t});
    page_figure(p,
                &(struct page_figure){
                    .title = "Power", .draw = chart_lines, .chart = &lines, .table = t, .series = true, .axis = "W", .shown = 1});
    FILE *const out = fopen(path, "wb");
    const bool ok = out && page_write(p, out) && fputs(keys, out) >= 0;
    if (out)
        fclose(out);
    page_free(p);
    result_table_free(t);
    return ok;
}

static void test_charts_are_read_by_keys(void)
{
    if (!begin_page(write_charts_and_keys))
        return;
    char *const dom = browser_dom(folder, 1280);
    if (strlen(dom) == 0)
        suite_skip("the browser does not start here");
    else {
        CHECK(count_of(dom, "<p class=\"said\" role=\"status\">second &amp; named</p>") == 1, "%.3000s",
              strstr(dom, "said\"") ? strstr(dom, "said\"") : "no line");
        CHECK(count_of(dom, "<p class=\"said\" role=\"status\">time [s] 1, power [W] 6</p>") == 1, "the series says nothing");
        CHECK(count_of(dom, "aria-label=\"Scatter: 3 marks, by arrow keys\"") == 1, "nobody says that there are keys");
        CHECK(count_of(dom, "data-still=\"none\"") == 1, "the still picture stands below the live one");
    }
    free(dom);
    CHECK(suite_remove(folder), "something stays in %s", folder);
}

static const struct suite_test tests[] = {
    {"charts are read by keys", test_charts_are_read_by_keys},
    {"the script runs in a browser", test_the_script_runs_in_a_browser},
};
SUITE_MAIN("report pages in a browser", tests)
