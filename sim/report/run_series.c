/* Power, temperature, clock ... of a run over time. */
#include "power/governor.h"
#include "reports/chart.h"
#include "sim/listen/place_name.h"
#include "sim/report/run_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PLACES_MAX = 24, ROWS_MAX = 1500, LIVE_ROWS = 100 };

/* One kind of sample: a row per moment, a column per place. */
struct series {
    char name[48], unit[24], place[PLACES_MAX][48];
    size_t places, rows, room;
    double *time, *value; /* seconds; row * PLACES_MAX + place */
};

/* ---- from the database ---- */

static bool new_row(struct series *s, double time)
{
    if (s->rows == s->room) {
        const size_t room = s->room ? 2 * s->room : 256;
        double *const times = realloc(s->time, room * sizeof *times);
        s->time = times ? times : s->time;
        double *const values = times ? realloc(s->value, room * PLACES_MAX * sizeof *values) : NULL;
        s->value = values ? values : s->value;
        if (!times || !values)
            return false;
        s->room = room;
    }
    s->time[s->rows] = time;
    for (size_t i = 0; i < PLACES_MAX; i++)
        s->value[s->rows * PLACES_MAX + i] = NAN;
    s->rows++;
    return true;
}

static size_t place_index(struct series *s, const char *part, uint32_t instance)
{
    char name[48];
    place_name(s->name, part, instance, name, sizeof name);
    size_t i = 0;
    while (i < s->places && strcmp(s->place[i], name) != 0)
        i++;
    if (i == s->places && i < PLACES_MAX)
        memcpy(s->place[s->places++], name, sizeof name);
    return i;
}

static bool take(struct series *s, sqlite3_stmt *row)
{
    const double time = sqlite3_column_double(row, 0) * 1e-9;
    const size_t place = place_index(s, (const char *)sqlite3_column_text(row, 1), (uint32_t)sqlite3_column_int64(row, 2));
    if ((s->rows == 0 || s->time[s->rows - 1] != time) && !new_row(s, time))
        return false;
    if (place < PLACES_MAX && sqlite3_column_type(row, 3) != SQLITE_NULL)
        s->value[(s->rows - 1) * PLACES_MAX + place] = sqlite3_column_double(row, 3);
    return true;
}

static bool read_series(struct orch_db *db, int64_t run_id, int64_t metric, struct series *s, struct orch_error *error)
{
    sqlite3_stmt *const rows = db_query(db, error,
                                        "SELECT time_ns, part, instance, value FROM sample WHERE run_id = ? AND metric_id = ? "
                                        "ORDER BY time_ns, part, instance", "ii", run_id, metric);
    int code = SQLITE_ERROR;
    bool stored = true;
    while (rows && stored && (code = db_step(db, rows, error)) == SQLITE_ROW)
        stored = take(s, rows) || orch_fail(error, ORCH_INTERNAL, "out of memory");
    sqlite3_finalize(rows);
    return rows && stored && code == SQLITE_DONE;
}

/* Means of as many neighbours as it takes to come below ROWS_MAX; their number. */
static size_t thin_out(struct series *s)
{
    const size_t each = (s->rows + ROWS_MAX - 1) / ROWS_MAX;
    if (each <= 1)
        return 1;
    size_t to = 0;
    for (size_t from = 0; from < s->rows; from += each, to++) {
        const size_t end = from + each < s->rows ? from + each : s->rows;
        for (size_t p = 0; p < s->places; p++) {
            double sum = 0;
            size_t count = 0;
            for (size_t i = from; i < end; i++)
                if (!isnan(s->value[i * PLACES_MAX + p])) {
                    sum += s->value[i * PLACES_MAX + p];
                    count++;
                }
            s->value[to * PLACES_MAX + p] = count ? sum / (double)count : (double)NAN;
        }
        s->time[to] = s->time[end - 1];
    }
    s->rows = to;
    return each;
}

/* Exchanges two places, their names and columns. */
static void swap_places(struct series *s, size_t a, size_t b)
{
    char name[sizeof s->place[0]];
    memcpy(name, s->place[a], sizeof name);
    memcpy(s->place[a], s->place[b], sizeof name);
    memcpy(s->place[b], name, sizeof name);
    for (size_t r = 0; r < s->rows; r++) {
        double *const v = &s->value[r * PLACES_MAX], other = v[a];
        v[a] = v[b];
        v[b] = other;
    }
}

/* Power of all parts together is a column of its own, the first. */
static void add_sum(struct series *s)
{
    if (strcmp(s->name, "power") != 0 || s->places < 2 || s->places == PLACES_MAX)
        return;
    for (size_t p = s->places; p > 0; p--)
        memcpy(s->place[p], s->place[p - 1], sizeof s->place[0]);
    snprintf(s->place[0], sizeof s->place[0], "all parts");
    s->places++;
    for (size_t r = 0; r < s->rows; r++) {
        double *const v = &s->value[r * PLACES_MAX], sum = 0;
        for (size_t p = s->places - 1; p > 0; p--) {
            v[p] = v[p - 1];
            sum += isnan(v[p]) ? 0 : v[p];
        }
        v[0] = sum;
    }
}

/* ---- figures ---- */

static double highest(const struct series *s, size_t place)
{
    double most = 0;
    for (size_t r = 0; r < s->rows; r++)
        most = fmax(most, fabs(s->value[r * PLACES_MAX + place]));
    return most;
}

/* Places worth a line come first: those that reach a hundredth of the largest, largest first unless it is temperatures. Their number. */
static size_t choose(struct series *s)
{
    const bool in_order = strcmp(s->name, "temperature") == 0;
    double most = 0;
    size_t count = 0;
    for (size_t a = 0; !in_order && a < s->places; a++)
        for (size_t b = a + 1; b < s->places; b++)
            if (highest(s, b) > highest(s, a))
                swap_places(s, a, b);
    for (size_t p = 0; p < s->places; p++)
        most = fmax(most, highest(s, p));
    for (size_t p = 0; p < s->places; p++)
        if (highest(s, p) > most * 0.01)
            swap_places(s, count++, p);
    return count;
}

static bool constant(const struct series *s)
{
    for (size_t r = 0; r < s->rows; r++)
        for (size_t p = 0; p < s->places; p++)
            if (s->value[r * PLACES_MAX + p] != s->value[p])
                return false;
    return s->places <= 1;
}

static struct result_table *table_of(const struct series *s)
{
    struct result_column columns[PLACES_MAX + 1] = {{"time", "s", true}};
    char text[32];
    for (size_t p = 0; p < s->places; p++)
        columns[p + 1] = (struct result_column){s->place[p], s->unit[0] == '1' ? NULL : s->unit, true};
    struct result_table *const t = result_table_create(columns, s->places + 1);
    for (size_t r = 0; r < s->rows; r++) {
        snprintf(text, sizeof text, "%.6g", s->time[r]);
        result_table_number(t, strtod(text, NULL), text);
        for (size_t p = 0; p < s->places; p++) {
            snprintf(text, sizeof text, "%.4g", s->value[r * PLACES_MAX + p]);
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
    {"utilisation", "Utilisation", "Busy share of each interval."},
    {"pressure", "Thermal pressure", NULL},
    {"battery", "Charge of the battery", NULL},
    {"memory_used", "Memory in use", NULL},
    {"voltage", "Voltage", NULL},
};
enum { TITLES = sizeof titles / sizeof titles[0] };

static size_t title_of(const char *series)
{
    size_t i = 0;
    while (i < TITLES && strcmp(titles[i].series, series) != 0)
        i++;
    return i;
}

/* What the figure says besides its picture. */
static void caption_of(const struct series *s, size_t each, size_t shown, char *text, size_t size)
{
    const size_t t = title_of(s->name);
    int used = snprintf(text, size, "%s", t < TITLES && titles[t].caption ? titles[t].caption : "");
    if (strcmp(s->name, "pressure") == 0)
        for (unsigned level = 0; level < PRESSURE_COUNT; level++)
            used += snprintf(text + used, size - (size_t)used, "%s%u %s", level ? ", " : "", level, thermal_pressure_name((enum thermal_pressure)level));
    if (each > 1)
        used += snprintf(text + used, size - (size_t)used, "%sEach point is the mean of %zu samples.", used ? " " : "", each);
    if (shown < s->places)
        snprintf(text + used, size - (size_t)used, "%sParts below 1 %% of the largest are only in the table.", used ? " " : "");
}

static bool draw(struct page *page, struct series *s, size_t each)
{
    const size_t count = choose(s);
    struct chart_series line[PLACES_MAX];
    struct chart_point *const point = calloc(s->rows * (count ? count : 1) + 1, sizeof *point);
    struct result_table *const table = table_of(s);
    char caption[320];
    const size_t t = title_of(s->name);
    const bool degrees = strcmp(s->unit, "degC") == 0, ok = point && !result_table_failed(table);
    for (size_t k = 0; ok && k < count; k++) {
        for (size_t r = 0; r < s->rows; r++)
            point[k * s->rows + r] = (struct chart_point){s->time[r], s->value[r * PLACES_MAX + k], NAN, NAN, NULL};
        line[k] = (struct chart_series){s->place[k], (unsigned)k, SVG_NO_MARK, false, true, k >= SVG_COLOURS, &point[k * s->rows], s->rows};
    }
    caption_of(s, each, count, caption, sizeof caption);
    const char *const title = t < TITLES ? titles[t].title : s->name;
    const struct chart_lines chart = {{.label = "simulated time", .unit = "s", .zero = true, .si = s->rows <= LIVE_ROWS},
                                      {.label = title, .unit = degrees ? "\xc2\xb0""C" : s->unit, .zero = !degrees}, line, count};
    const struct page_figure figure = {.title = title, .caption = *caption ? caption : NULL, .draw = chart_lines, .chart = &chart, .table = table,
                                       .series = s->rows > LIVE_ROWS, .axis = degrees ? "\xc2\xb0""C" : s->unit, .shown = count};
    if (ok)
        page_figure(page, &figure);
    result_table_free(table);
    free(point);
    return ok;
}

static bool one_series(struct page *page, struct orch_db *db, int64_t run_id, int64_t metric, const char *name, const char *unit,
                       struct orch_error *error)
{
    struct series *const s = calloc(1, sizeof *s);
    bool ok = s || orch_fail(error, ORCH_INTERNAL, "out of memory");
    if (ok) {
        snprintf(s->name, sizeof s->name, "%s", name);
        snprintf(s->unit, sizeof s->unit, "%s", unit);
        ok = read_series(db, run_id, metric, s, error);
    }
    if (ok && s->rows > 0) {
        const size_t each = thin_out(s);
        add_sum(s);
        if (constant(s)) /* no line to look at */
            page_note(page, "%s: %.6g%s%s throughout.", title_of(name) < TITLES ? titles[title_of(name)].title : name, s->value[0],
                      unit[0] == '1' ? "" : " ", unit[0] == '1' ? "" : unit);
        else
            ok = draw(page, s, each) || orch_fail(error, ORCH_INTERNAL, "out of memory");
    }
    if (s) {
        free(s->time);
        free(s->value);
    }
    free(s);
    return ok;
}

bool run_part_series(struct page *page, struct orch_db *db, const struct report_run *run, struct orch_error *error)
{
    struct {
        int64_t metric;
        char name[48], unit[24];
    } kind[32];
    size_t count = 0;
    sqlite3_stmt *const rows = db_query(db, error,
                                        "SELECT m.id, m.name, m.unit FROM metric m WHERE m.kind = 'sample' AND EXISTS "
                                        "(SELECT 1 FROM sample s WHERE s.run_id = ? AND s.metric_id = m.id) ORDER BY m.name", "i", run->r.run_id);
    int code = SQLITE_ERROR;
    while (rows && (code = db_step(db, rows, error)) == SQLITE_ROW && count < sizeof kind / sizeof kind[0]) {
        kind[count].metric = sqlite3_column_int64(rows, 0);
        snprintf(kind[count].name, sizeof kind[0].name, "%s", (const char *)sqlite3_column_text(rows, 1));
        snprintf(kind[count++].unit, sizeof kind[0].unit, "%s", (const char *)sqlite3_column_text(rows, 2));
    }
    sqlite3_finalize(rows);
    bool ok = rows && (code == SQLITE_DONE || code == SQLITE_ROW);
    for (size_t t = 0; ok && t <= TITLES; t++) /* known kinds in their order, then the rest */
        for (size_t i = 0; ok && i < count; i++)
            if (title_of(kind[i].name) == t)
                ok = one_series(page, db, run->r.run_id, kind[i].metric, kind[i].name, kind[i].unit, error);
    return ok;
}
