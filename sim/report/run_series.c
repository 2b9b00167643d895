/* Charts of power, temperature, clocks and so on over the time of a run. */
#include "isa/array_count.h"
#include "power/governor.h"
#include "reports/chart.h"
#include "sim/report/run_parts.h"
#include "sim/report/series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LIVE_ROWS = 100 }; /* charts with at least so many rows can be zoomed */

static double highest(const struct series *s, size_t place)
{
    double most = 0;
    for (size_t r = 0; r < s->rows; r++)
        most = fmax(most, fabs(s->value[r * SERIES_PLACES + place]));
    return most;
}

/* Moves the places worth a line to the front and returns their number: those that reach a hundredth of the largest, largest first
 * except for temperatures. */
static size_t choose(struct series *s)
{
    const bool in_order = strcmp(s->name, "temperature") == 0;
    double most = 0;
    size_t count = 0;
    for (size_t a = 0; !in_order && a < s->places; a++)
        for (size_t b = a + 1; b < s->places; b++)
            if (highest(s, b) > highest(s, a))
                series_swap_places(s, a, b);
    for (size_t p = 0; p < s->places; p++)
        most = fmax(most, highest(s, p));
    for (size_t p = 0; p < s->places; p++)
        if (highest(s, p) > most * 0.01)
            series_swap_places(s, count++, p);
    return count;
}

static bool constant(const struct series *s)
{
    for (size_t r = 0; r < s->rows; r++)
        for (size_t p = 0; p < s->places; p++)
            if (s->value[r * SERIES_PLACES + p] != s->value[p])
                return false;
    return s->places <= 1;
}

static struct result_table *table_of(const struct series *s)
{
    struct result_column columns[SERIES_PLACES + 1] = {{"time", "s", true}};
    char text[32];
    for (size_t p = 0; p < s->places; p++)
        columns[p + 1] = (struct result_column){s->place[p], s->unit[0] == '1' ? NULL : s->unit, true};
    struct result_table *const t = result_table_create(columns, s->places + 1);
    for (size_t r = 0; r < s->rows; r++) {
        snprintf(text, sizeof text, "%.6g", s->time[r]);
        result_table_number(t, strtod(text, NULL), text);
        for (size_t p = 0; p < s->places; p++) {
            snprintf(text, sizeof text, "%.4g", s->value[r * SERIES_PLACES + p]);
            result_table_number(t, strtod(text, NULL), text);
        }
    }
    return t;
}

static const struct {
    const char *series, *title, *caption;
} titles[] = {
    {"temperature", "Temperature", NULL},
    {"power", "Power", "Means of each interval."},
    {"clock", "Clocks", "Means of each interval; a clock at idle is where it would start."},
    {"bandwidth", "DRAM bandwidth", NULL},
    {"utilisation", "Utilisation", "Share of each interval in which the part was at work."},
    {"pressure", "Thermal pressure", NULL},
    {"battery", "Charge of the battery", NULL},
    {"memory_used", "Memory in use", NULL},
    {"voltage", "Voltage", NULL},
};
enum { TITLES = ARRAY_COUNT(titles) };

static size_t title_of(const char *series)
{
    size_t i = 0;
    while (i < TITLES && strcmp(titles[i].series, series) != 0)
        i++;
    return i;
}

/* Writes the caption: what the picture does not show. */
static void caption_of(const struct series *s, size_t each, size_t shown, char *text, size_t size)
{
    const size_t t = title_of(s->name);
    int used = snprintf(text, size, "%s", t < TITLES && titles[t].caption ? titles[t].caption : "");
    if (strcmp(s->name, "pressure") == 0)
        for (unsigned level = 0; level < PRESSURE_COUNT; level++)
            used += snprintf(text + used, size - (size_t)used, "%s%u %s", level ? ", " : "", level,
                             thermal_pressure_name((enum thermal_pressure)level));
    if (each > 1)
        used += snprintf(text + used, size - (size_t)used, "%sEach point is the mean of %zu samples.", used ? " " : "", each);
    if (shown < s->places)
        snprintf(text + used, size - (size_t)used, "%sParts below 1 %% of the largest are only in the table.", used ? " " : "");
}

/* Fills in the points of a place. A mean of the interval that ends at its time stands for the whole interval; if there are few,
 * they are drawn as steps. */
static size_t fill_points(const struct series *s, size_t place, bool steps, struct chart_point *point)
{
    size_t count = 0;
    for (size_t r = 0; r < s->rows; r++) {
        const double value = s->value[r * SERIES_PLACES + place];
        if (steps)
            point[count++] = (struct chart_point){r ? s->time[r - 1] : 0, value, NAN, NAN, NULL};
        point[count++] = (struct chart_point){s->time[r], value, NAN, NAN, NULL};
    }
    return count;
}

static bool draw(struct page *page, struct series *s, size_t each)
{
    const size_t count = choose(s);
    struct chart_series line[SERIES_PLACES];
    struct chart_point *const point = calloc(2 * s->rows * (count ? count : 1) + 1, sizeof *point);
    struct result_table *const table = table_of(s);
    char caption[320];
    const size_t t = title_of(s->name);
    const bool degrees = strcmp(s->unit, "degC") == 0, ok = point && !result_table_failed(table);
    const bool steps = s->rows <= LIVE_ROWS && !degrees && strcmp(s->name, "battery") != 0 && strcmp(s->name, "memory_used") != 0;
    for (size_t k = 0; ok && k < count; k++) {
        struct chart_point *const own = &point[2 * k * s->rows];
        line[k] = (struct chart_series){s->place[k], (unsigned)k,      SVG_NO_MARK, false,
                                        true,        k >= SVG_COLOURS, own,         fill_points(s, k, steps, own)};
    }
    caption_of(s, each, count, caption, sizeof caption);
    const char *const title = t < TITLES ? titles[t].title : s->name;
    const struct chart_lines chart = {{.label = "simulated time", .unit = "s", .zero = true, .si = s->rows <= LIVE_ROWS},
                                      {.label = title,
                                       .unit = degrees ? "\xc2\xb0"
                                                         "C"
                                                       : s->unit,
                                       .zero = !degrees},
                                      line,
                                      count};
    const struct page_figure figure = {.title = title,
                                       .caption = *caption ? caption : NULL,
                                       .draw = chart_lines,
                                       .chart = &chart,
                                       .table = table,
                                       .series = s->rows > LIVE_ROWS,
                                       .axis = degrees             ? "\xc2\xb0"
                                                                     "C"
                                               : s->unit[0] == '1' ? "share or level"
                                                                   : s->unit,
                                       .shown = count,
                                       .zero = !degrees};
    if (ok)
        page_figure(page, &figure);
    result_table_free(table);
    free(point);
    return ok;
}

static bool one_series(struct page *page, struct orch_db *db, int64_t run_id, const struct series_kind *kind, size_t rows_max,
                       struct orch_error *error)
{
    const size_t title = title_of(kind->name);
    const bool plain = kind->unit[0] == '1';
    struct series s = {0};
    bool ok = series_read(db, run_id, kind->metric, kind->name, kind->unit, &s, error);
    if (ok && s.rows > 0) {
        const size_t each = series_thin_out(&s, rows_max);
        series_add_sum(&s);
        if (constant(&s)) /* a constant is no line to look at */
            page_note(page, "%s: %.6g%s%s throughout.", title < TITLES ? titles[title].title : kind->name, s.value[0],
                      plain ? "" : " ", plain ? "" : kind->unit);
        else
            ok = draw(page, &s, each) || orch_no_memory(error);
    }
    series_free(&s);
    return ok;
}

bool run_part_series(struct page *page, struct orch_db *db, const struct report_run *run, size_t rows_max,
                     struct orch_error *error)
{
    struct series_kind kind[SERIES_KINDS];
    size_t count;
    bool ok = series_kinds(db, run->r.run_id, kind, &count, error);
    for (size_t t = 0; ok && t <= TITLES; t++) /* known kinds in their order, then all others */
        for (size_t i = 0; ok && i < count; i++)
            if (title_of(kind[i].name) == t)
                ok = one_series(page, db, run->r.run_id, &kind[i], rows_max, error);
    return ok;
}
