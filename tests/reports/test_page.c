/* Pages and charts are well-formed whatever they are given, complete, and the same each time; they load nothing. */
#include "isa/array_count.h"
#include "reports/chart.h"
#include "reports/page.h"
#include "tests/reports/html_check.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdlib.h>

static const char *const hostile[] = {
    "</td></table><script>alert(1)</script>",
    "\"><svg onload=alert(1)>",
    "' onmouseover='x",
    "]]>",
    "<!--",
    "&lt;&nbsp;",
    "\x01\x7f\xff\xfe",
    "\xed\xa0\x80",
    "%s%n%d",
    "a very long name that does not fit into any legend, column or axis of a chart 0123456789 0123456789",
};
enum { HOSTILE = ARRAY_COUNT(hostile) };

/* Writes and frees the page; the caller frees the text. */
static char *written(struct page *p)
{
    char *text = NULL;
    size_t size = 0;
    FILE *const f = open_memstream(&text, &size);
    CHECK(page_write(p, f), "the page was not written");
    fclose(f);
    page_free(p);
    return text;
}

static struct result_table *example_table(size_t rows)
{
    const struct result_column columns[] = {{hostile[0], hostile[1], false}, {"time", "s", true}, {"power", "W", true}};
    struct result_table *const t = result_table_create(columns, 3);
    for (size_t i = 0; i < rows; i++) {
        result_table_text(t, hostile[i % HOSTILE]);
        result_table_number(t, 0.001 * (double)i + 0.0005, "shown");
        result_table_number(t, i % 3 ? 1.5 * (double)i : NAN, NULL);
    }
    return t;
}

/* Every kind of chart, with hostile names and numbers that are not finite. */
static void all_charts(struct page *page, const struct result_table *table, bool series)
{
    struct chart_point point[40];
    struct chart_series line[HOSTILE];
    struct chart_bar bar[HOSTILE];
    struct chart_swing swing[HOSTILE];
    struct chart_interval interval[HOSTILE];
    double values[HOSTILE * 2];
    bool front[40];
    for (int i = 0; i < 40; i++) {
        point[i] = (struct chart_point){i % 9 ? i * 0.1 : NAN, i % 7 ? pow(1.3, i) : -1, i, i + 1, hostile[i % HOSTILE]};
        front[i] = i % 5 == 0;
    }
    for (size_t i = 0; i < HOSTILE; i++) {
        line[i] = (struct chart_series){hostile[i], (unsigned)i, (enum svg_mark)(i % SVG_MARKS), i % 2, i % 3 == 0, i % 4 == 0,
                                        point,      40 - i};
        bar[i] = (struct chart_bar){hostile[i], hostile[i], i == 3 ? NAN : (double)i - 2, 0, (double)i, (unsigned)i};
        swing[i] = (struct chart_swing){hostile[i], hostile[i], NULL, i == 4 ? NAN : 1 - 0.1 * (double)i, 1 + 0.2 * (double)i};
        interval[i] = (struct chart_interval){(unsigned)i % 3, 0, (double)i, (double)i + 2, hostile[i]};
        values[2 * i] = i == 2 ? NAN : (double)i;
        values[2 * i + 1] = -1;
    }
    const struct chart_axis plain = {.label = hostile[1], .unit = hostile[2]},
                            log = {.label = "l", .unit = "s", .log = true, .si = true};
    const struct chart_xy xy = {plain, log, line, HOSTILE, true, 1.25, 0};
    const struct chart_scatter scatter = {"s", line, HOSTILE};
    const struct chart_roof roof[] = {{hostile[0], 1e12, 1e11, 0, false}, {NULL, 2e12, 1e11, 1, true}};
    const struct chart_roofline roofline = {"flop/s", roof, 2, line, HOSTILE};
    const struct chart_bars bars = {plain, bar, HOSTILE};
    const struct chart_stack stack = {plain, hostile, HOSTILE, hostile, 2, values, NULL};
    const struct chart_tornado tornado = {plain, 1, swing, HOSTILE};
    const struct chart_pareto pareto = {plain, log, point, front, 40};
    const struct chart_panel panel[] = {
        {hostile[0], plain, line, 2}, {hostile[3], log, line, 2}, {"c", plain, line, 1}, {"d", plain, line, 0}};
    const struct chart_curves curves = {log, panel, 4};
    const struct chart_lines lines = {plain, plain, line, HOSTILE};
    const struct chart_timeline timeline = {plain, hostile, 3, interval, HOSTILE};
    struct chart_listing_row listed[HOSTILE];
    for (size_t i = 0; i < HOSTILE; i++)
        listed[i] =
            (struct chart_listing_row){i == 1 ? NULL : "7", hostile[i], i == 2 ? NULL : &values[2 * i], hostile[i], hostile[i]};
    const struct chart_listing listing = {plain, hostile, 2, listed, HOSTILE};
    const struct {
        page_draw *draw;
        const void *chart;
    } kinds[] = {{chart_xy, &xy},       {chart_scatter, &scatter},   {chart_roofline, &roofline}, {chart_bars, &bars},
                 {chart_stack, &stack}, {chart_tornado, &tornado},   {chart_pareto, &pareto},     {chart_curves, &curves},
                 {chart_lines, &lines}, {chart_timeline, &timeline}, {chart_listing, &listing}};
    for (size_t i = 0; i < ARRAY_COUNT(kinds); i++) {
        const struct page_figure figure = {
            hostile[i % HOSTILE], hostile[0], kinds[i].draw, kinds[i].chart, table, series && i == 8, hostile[1], 2, true};
        page_figure(page, &figure);
    }
}

static char *example_page(bool series)
{
    const struct page_card card = {hostile[0], hostile[1], hostile[2]};
    struct result_table *const table = example_table(20);
    struct page *const p = page_create(hostile[0], hostile[1]);
    page_section(p, hostile[2]);
    page_section(p, hostile[3]);
    page_paragraph(p, "%s", hostile[5]);
    page_note(p, "%s", hostile[6]);
    page_cards(p, &card, 1);
    page_table(p, hostile[7], table);
    all_charts(p, table, series);
    page_brush(p, hostile[0], hostile[1], table);
    page_list(p, hostile[1], table, &(struct page_list){.link = "/"});
    page_form(p, "/", hostile[0], &(struct page_field){hostile[1], hostile[2], hostile[0]}, 1);
    page_callout(p, "%s", hostile[1]);
    page_foot(p, "%s", hostile[0]);
    result_table_free(table);
    return written(p);
}

static void test_hostile_names_stay_text(void)
{
    struct html_sums sums;
    char *const page = example_page(true);
    CHECK(html_check(page, &sums), "%s", sums.error);
    CU_ASSERT_EQUAL(sums.pictures, 22); /* ten charts, each wide and narrow */
    CU_ASSERT_EQUAL(sums.tables, 14);
    CHECK(!strstr(page, "alert(1)</script>"), "a script got in");
    CHECK(!strstr(page, "nan") && !strstr(page, "=\"inf"), "a number that is none: %.40s",
          strstr(page, "nan") ? strstr(page, "nan") : "inf");
    free(page);
}

/* Lists of a server alone carry the script that asks it for more. */
static void test_lists_that_grow(void)
{
    struct result_table *const table = example_table(3);
    struct page *const p = page_create("a", "b");
    page_list(p, "c", table, &(struct page_list){.link = "/", .rows = hostile[1], .pick = hostile[0]});
    result_table_free(table);
    char *const page = written(p);
    CHECK(strstr(page, "fetch(") && strstr(page, "data-rows=\"&quot;&gt;&lt;svg") && !strstr(page, "alert(1)</script>"), "%s",
          page);
    free(page);
}

static void test_the_checker_finds_what_is_wrong(void)
{
    static const char *const bad[] = {"<p>",
                                      "<!DOCTYPE html><p>",
                                      "<!DOCTYPE html><p></q></p>",
                                      "<!DOCTYPE html><p class=x></p>",
                                      "<!DOCTYPE html>&nbsp;",
                                      "<!DOCTYPE html><img src=\"x.png\"/>",
                                      "<!DOCTYPE html><a href=\"https://example.org\">x</a>",
                                      "<!DOCTYPE html>a < b",
                                      "<!DOCTYPE html><script><![CDATA[fetch('x')]]></script>",
                                      "<!DOCTYPE html>\x01"};
    struct html_sums sums;
    for (size_t i = 0; i < ARRAY_COUNT(bad); i++)
        CHECK(!html_check(bad[i], &sums), "accepted: %s", bad[i]);
}

static void test_the_same_bytes_each_time(void)
{
    char *const a = example_page(true), *const b = example_page(true);
    CU_ASSERT_STRING_EQUAL(a, b);
    free(a);
    free(b);
}

static void test_uplot_only_with_a_long_series(void)
{
    char *const with = example_page(true), *const without = example_page(false);
    CHECK(strstr(with, "var uPlot=") && strstr(with, "Leon Sorokin"), "no script, or none of its licence");
    CHECK(!strstr(without, "var uPlot=") && strlen(without) < strlen(with) - 40000, "the script is there without need");
    free(with);
    free(without);
}

static void test_tables_carry_every_number(void)
{
    struct result_table *const t = example_table(50);
    struct page *const p = page_create("t", "s");
    char want[64];
    page_table(p, "x", t);
    result_table_free(t);
    char *const page = written(p);
    for (int i = 0; i < 50; i++) {
        snprintf(want, sizeof want, "data-v=\"%.9g\">shown<", 0.001 * i + 0.0005);
        CHECK(strstr(page, want) != NULL, "row %d: no %s", i, want);
        snprintf(want, sizeof want, ">%.6g</td>", 1.5 * i);
        CHECK(i % 3 == 0 || strstr(page, want), "row %d: no %s", i, want);
    }
    free(page);
}

static void test_a_picture_alone_has_its_style(void)
{
    const struct chart_point point[] = {{1, 1, NAN, NAN, NULL}, {2, 3, NAN, NAN, NULL}};
    const struct chart_series line = {"x", 0, SVG_NO_MARK, false, true, false, point, 2};
    const struct chart_lines lines = {{.label = "t", .unit = "s"}, {.label = "y", .unit = "W"}, &line, 1};
    struct text t = {0};
    chart_lines(&t, &(struct svg_frame){600, "title", "description", true, true}, &lines);
    CHECK(t.data && strstr(t.data, "xmlns=\"http://www.w3.org/2000/svg\"") && strstr(t.data, "prefers-color-scheme: dark") &&
              strstr(t.data, "<desc>description</desc>"),
          "%.300s", t.data);
    text_free(&t);
}

/* A line of many points is reduced to at most four in each column of pixels, and keeps its peak. */
static void test_long_lines_are_thinned_and_keep_their_peaks(void)
{
    enum { POINTS = 100000 };
    struct chart_point *const point = calloc(POINTS, sizeof *point);
    for (int i = 0; point && i < POINTS; i++)
        point[i] = (struct chart_point){i, i == 54321 ? 100 : i % 2, NAN, NAN, NULL};
    const struct chart_series line = {"x", 0, SVG_NO_MARK, false, true, false, point, POINTS};
    const struct chart_lines lines = {{.label = "t", .unit = "s"}, {.label = "y", .unit = "W"}, &line, 1};
    struct text t = {0};
    chart_lines(&t, &(struct svg_frame){600, "t", NULL, false, false}, &lines);
    CHECK(t.size < 60000, "%zu bytes", t.size);
    /* The peak is at the top of the box, so some vertex has the least y of the grid lines. */
    const char *const path = strstr(t.data, "<path d=\"M");
    double least = 1e9;
    for (const char *c = path; c && *c && *c != '>'; c++)
        if (*c == ' ' && c[-1] != 'h')
            least = fmin(least, strtod(c + 1, NULL) > 0 ? strtod(c + 1, NULL) : 1e9);
    CHECK(least < 60, "the peak is gone: highest point at %g", least);
    text_free(&t);
    free(point);
}

/* A curve drawn with fewer vertices stays within a fifth of a pixel of the points. */
static void test_curves_lose_vertices_and_not_their_shape(void)
{
    enum { POINTS = 400 };
    struct chart_point point[POINTS];
    for (int i = 0; i < POINTS; i++)
        point[i] = (struct chart_point){i, 100 * (1 - exp(-i / 60.0)) + (i > 200 ? 20 : 0), NAN, NAN, NULL};
    const struct chart_series line = {"x", 0, SVG_NO_MARK, false, true, false, point, POINTS};
    const struct chart_lines lines = {
        {.label = "t", .unit = "s", .low = 0, .high = 400}, {.label = "y", .unit = "W", .low = 0, .high = 150}, &line, 1};
    struct text t = {0};
    chart_lines(&t, &(struct svg_frame){880, "t", NULL, false, false}, &lines);
    double vx[POINTS], vy[POINTS];
    size_t count = 0;
    const char *c = strstr(t.data, "<path d=\"M");
    for (c += 9; *c == 'M' || *c == 'L'; count++) {
        char *end;
        vx[count] = strtod(c + 1, &end);
        vy[count] = strtod(end, &end);
        c = end;
    }
    CHECK(count >= 4 && count < POINTS / 4, "%zu vertices", count);
    /* The pixels per unit follow from the first and last points, and from y of the first, which is 0. */
    const double sx = (vx[count - 1] - vx[0]) / (POINTS - 1), bottom = vy[0];
    const double sy = (bottom - vy[count - 1]) / point[POINTS - 1].y;
    double worst = 0;
    for (int i = 0; i < POINTS; i++) {
        const double px = vx[0] + sx * i, py = bottom - sy * point[i].y;
        size_t k = 1;
        while (k + 1 < count && vx[k] < px)
            k++;
        const double share = (px - vx[k - 1]) / (vx[k] - vx[k - 1]);
        worst = fmax(worst, fabs(vy[k - 1] + share * (vy[k] - vy[k - 1]) - py));
    }
    CHECK(worst < 0.2, "off by %g pixels", worst);
    text_free(&t);
}

static const struct suite_test tests[] = {
    {"hostile names stay text", test_hostile_names_stay_text},
    {"lists that grow", test_lists_that_grow},
    {"the checker finds what is wrong", test_the_checker_finds_what_is_wrong},
    {"the same bytes each time", test_the_same_bytes_each_time},
    {"uPlot only with a long series", test_uplot_only_with_a_long_series},
    {"tables carry every number", test_tables_carry_every_number},
    {"a picture alone has its style", test_a_picture_alone_has_its_style},
    {"curves lose vertices and not their shape", test_curves_lose_vertices_and_not_their_shape},
    {"long lines are thinned and keep their peaks", test_long_lines_are_thinned_and_keep_their_peaks},
};
SUITE_MAIN("report pages", tests)
