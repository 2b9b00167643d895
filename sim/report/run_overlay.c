/* Several runs over time in one chart: power of all parts in one, the hottest block in another. */
#include "reports/chart.h"
#include "sim/report/run_parts.h"
#include "sim/report/series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS_MAX = 16, ROWS = 150 };

struct overlay {
    const char *kind, *title, *place, *unit;
    struct chart_series line[RUNS_MAX];
    struct chart_point *point[RUNS_MAX];
    size_t lines;
    struct result_table *table;
};

static size_t place_of(const struct series *s, const char *place)
{
    size_t i = 0;
    while (i < s->places && strcmp(s->place[i], place) != 0)
        i++;
    return i;
}

static bool add_line(struct overlay *o, const struct report_run *run, unsigned colour, const struct series *s)
{
    const size_t place = place_of(s, o->place);
    if (s->rows < 2 || place == s->places)
        return true;
    struct chart_point *const point = calloc(s->rows, sizeof *point);
    if (!point)
        return false;
    char number[32];
    snprintf(number, sizeof number, "%lld", (long long)run->r.run_id);
    for (size_t r = 0; r < s->rows; r++) {
        const double value = s->value[r * SERIES_PLACES + place];
        point[r] = (struct chart_point){s->time[r], value, NAN, NAN, NULL};
        result_table_text(o->table, number);
        result_table_number(o->table, s->time[r], NULL);
        result_table_number(o->table, value, NULL);
    }
    o->point[o->lines] = point;
    o->line[o->lines++] =
        (struct chart_series){run->label, colour, SVG_NO_MARK, false, true, colour >= SVG_COLOURS, point, s->rows};
    return true;
}

static bool read_line(struct overlay *o, struct orch_db *db, const struct report_run *run, unsigned colour,
                      struct orch_error *error)
{
    struct series_kind kind[SERIES_KINDS];
    size_t count;
    bool ok = series_kinds(db, run->r.run_id, kind, &count, error);
    for (size_t i = 0; ok && i < count; i++) {
        struct series s = {0};
        if (strcmp(kind[i].name, o->kind) != 0)
            continue;
        ok = series_read(db, run->r.run_id, kind[i].metric, kind[i].name, kind[i].unit, &s, error);
        series_thin_out(&s, ROWS);
        series_add_sum(&s);
        ok = ok && (add_line(o, run, colour, &s) || orch_no_memory(error));
        series_free(&s);
    }
    return ok;
}

static bool one_overlay(struct overlay *o, struct page *page, struct orch_db *db, const struct report_run *runs, size_t count,
                        struct orch_error *error)
{
    const struct result_column columns[] = {{"run", NULL, false}, {"time", "s", true}, {o->title, o->unit, true}};
    bool ok = true;
    o->table = result_table_create(columns, 3);
    for (size_t i = 0; ok && i < count && i < RUNS_MAX; i++)
        ok = read_line(o, db, &runs[i], (unsigned)i, error);
    const struct chart_lines chart = {{.label = "simulated time", .unit = "s", .zero = true},
                                      {.label = o->title, .unit = o->unit, .zero = strcmp(o->kind, "power") == 0},
                                      o->line,
                                      o->lines};
    const struct page_figure figure = {.title = o->title, .draw = chart_lines, .chart = &chart, .table = o->table};
    if (ok && o->lines > 1)
        page_figure(page, &figure);
    for (size_t i = 0; i < o->lines; i++)
        free(o->point[i]);
    result_table_free(o->table);
    return ok;
}

bool run_part_overlays(struct page *page, struct orch_db *db, const struct report_run *runs, size_t count,
                       struct orch_error *error)
{
    struct overlay power = {.kind = "power", .title = "Power of all parts", .place = "all parts", .unit = "W"};
    struct overlay heat = {.kind = "temperature",
                           .title = "Hottest block of the die",
                           .place = "die, hottest block",
                           .unit = "\xc2\xb0"
                                   "C"};
    struct overlay clock = {.kind = "clock", .title = "Clock of the P cores", .place = "P cores", .unit = "MHz"};
    return one_overlay(&power, page, db, runs, count, error) && one_overlay(&heat, page, db, runs, count, error) &&
           one_overlay(&clock, page, db, runs, count, error);
}
