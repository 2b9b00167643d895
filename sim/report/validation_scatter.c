/* Predicted over measured: a point for each row of one quantity, with its name under the pointer. */
#include "isa/array_count.h"
#include "reports/chart.h"
#include "reports/page.h"
#include "sim/report/validation_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SCATTER_ROWS_MIN = 4 };

static const char *chip_of(const struct validation_row *r)
{
    return r->chip ? r->chip : "no chip";
}

static const char *quantity_of(const struct validation_row *r)
{
    return r->value_unit ? r->value_unit : "";
}

/* Points of one quantity: a series per chip, with fitted rows apart. */
struct cloud {
    struct chart_series *series;
    struct chart_point *point;
    char (*name)[160];
    size_t count, points;
};

static bool belongs(const struct validation_row *r, const char *quantity, const char *chip, const struct validation_part *chips,
                    size_t named)
{
    if (strcmp(quantity_of(r), quantity) != 0 || isnan(r->ape) || !(r->predicted > 0) || !(r->measured > 0))
        return false;
    if (chip)
        return strcmp(chip_of(r), chip) == 0;
    for (size_t i = 0; i < named; i++)
        if (strcmp(chip_of(r), chips[i].name) == 0)
            return false;
    return true;
}

static void point_name(const struct validation_row *r, char *text, size_t size)
{
    snprintf(text, size, "%.24s %.40s %.60s: %.4g, predicted %.4g", r->label ? r->label : "", r->workload ? r->workload : "",
             r->shape ? r->shape : "", r->measured, r->predicted);
}

/* Adds a series; the last one, "others", is grey. */
static void add_series(struct cloud *c, const struct validation_rows *rows, const char *quantity,
                       const struct validation_part *chips, size_t chip, size_t named, bool fitted)
{
    const size_t first = c->points;
    const char *const name = chip < named ? chips[chip].name : NULL;
    for (size_t i = 0; i < rows->count; i++) {
        const struct validation_row *const r = &rows->row[i];
        if (r->fitted != fitted || !belongs(r, quantity, name, chips, named))
            continue;
        point_name(r, c->name[c->points], sizeof c->name[0]);
        c->point[c->points] = (struct chart_point){r->measured, r->predicted, NAN, NAN, c->name[c->points]};
        c->points++;
    }
    if (c->points > first) {
        const char *const shown = name ? name : "other chips";
        c->series[c->count++] = (struct chart_series){fitted ? NULL : shown,
                                                      name ? (unsigned)chip : SVG_COLOURS - 1,
                                                      (enum svg_mark)(1 + chip % (SVG_MARKS - 1)),
                                                      fitted,
                                                      false,
                                                      false,
                                                      &c->point[first],
                                                      c->points - first};
    }
}

/* The points of a cloud with their names. */
static struct result_table *cloud_table(const struct cloud *c, const char *unit)
{
    const struct result_column columns[] = {{"row", NULL, false}, {"measured", unit, true}, {"predicted", unit, true}};
    struct result_table *const t = result_table_create(columns, ARRAY_COUNT(columns));
    for (size_t i = 0; i < c->points; i++) {
        result_table_text(t, c->point[i].name);
        result_table_number(t, c->point[i].x, NULL);
        result_table_number(t, c->point[i].y, NULL);
    }
    return t;
}

bool validation_scatter(struct page *page, const struct validation_rows *rows, const char *quantity,
                        const struct validation_part *chips, size_t chip_count)
{
    const size_t named = chip_count < SVG_COLOURS ? chip_count : SVG_COLOURS - 1;
    struct cloud c = {.series = calloc(2 * (named + 1) + 1, sizeof *c.series),
                      .point = calloc(rows->count + 1, sizeof *c.point),
                      .name = calloc(rows->count + 1, sizeof *c.name)};
    const bool ok = c.series && c.point && c.name;
    for (int fitted = 0; ok && fitted < 2; fitted++)
        for (size_t i = 0; i <= named; i++)
            add_series(&c, rows, quantity, chips, i, named, fitted);
    char title[96], caption[160];
    snprintf(title, sizeof title, "Predicted over measured, %.60s", *quantity ? quantity : "no unit");
    snprintf(caption, sizeof caption,
             "%zu rows; inside the band the error is below 25 %%. Hollow: a parameter was taken from the row or its source.",
             c.points);
    const struct chart_scatter chart = {quantity, c.series, c.count};
    struct result_table *const table = ok ? cloud_table(&c, *quantity ? quantity : NULL) : NULL;
    const struct page_figure figure = {
        .title = title, .caption = caption, .draw = chart_scatter, .chart = &chart, .table = table};
    if (ok && c.points >= SCATTER_ROWS_MIN)
        page_figure(page, &figure);
    result_table_free(table);
    free(c.series);
    free(c.point);
    free(c.name);
    return ok;
}
