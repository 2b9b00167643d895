/* Tables of a run: assumptions, operators, placement, counters, and what decided the answer. */
#include "isa/array_count.h"
#include "reports/chart.h"
#include "sim/base/format.h"
#include "sim/report/run_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { OPS_MAX = 400, LANES_MAX = 64, BARS_MAX = 12 };

/* ---- assumptions ---- */

struct ranked {
    const struct run_assumption *a;
    double share, known, swing; /* it decides `share` of time or energy and is known to `known`, so the answer moves by `swing` */
    bool energy;
    size_t place;
};

/* Reads "decides 63 % of the time, known to 1 %", as run/run_interval.c and run/run_joules_judge.c write it. */
static struct ranked rank_of(const struct run_assumption *a, size_t place)
{
    struct ranked r = {a, NAN, NAN, NAN, false, place};
    char what[16] = "";
    if (a->effect && sscanf(a->effect, "decides %lf %% of the %15[a-z], known to %lf %%", &r.share, what, &r.known) == 3) {
        r.share /= 100;
        r.known /= 100;
        r.swing = r.share * r.known;
        r.energy = strcmp(what, "energy") == 0;
    }
    return r;
}

static int by_swing(const void *a, const void *b)
{
    const struct ranked *const x = a, *const y = b;
    const double s = isnan(x->swing) ? HUGE_VAL : x->swing,
                 t = isnan(y->swing) ? HUGE_VAL : y->swing; /* assumptions that were not measured come first */
    return s != t ? (s > t ? -1 : 1) : x->place < y->place ? -1 : 1;
}

static struct result_table *assumption_table(const struct ranked *r, size_t count)
{
    static const struct result_column columns[] = {{"assumption", NULL, false}, {"kind", NULL, false},
                                                   {"of", NULL, false},         {"decides", NULL, true},
                                                   {"known to", NULL, true},    {"moves the answer by", NULL, true},
                                                   {"in words", NULL, false}};
    struct result_table *const t = result_table_create(columns, ARRAY_COUNT(columns));
    char text[FORMAT_SIZE];
    for (size_t i = 0; i < count; i++) {
        const bool measured = !isnan(r[i].swing);
        result_table_text(t, r[i].a->key);
        result_table_text(t, r[i].a->kind);
        result_table_text(t, !measured ? NULL : r[i].energy ? "energy" : "time");
        result_table_number(t, r[i].share, format_share(text, r[i].share));
        result_table_number(t, r[i].known, format_share(text, r[i].known));
        result_table_number(t, r[i].swing, format_share(text, r[i].swing));
        result_table_text(t, measured ? NULL : r[i].a->effect);
    }
    return t;
}

void run_part_assumptions(struct page *page, const struct report_run *run)
{
    const size_t count = run->r.assumptions.count;
    struct ranked *const r = calloc(count + 1, sizeof *r);
    struct chart_bar bar[BARS_MAX];
    char name[BARS_MAX][96], shown[BARS_MAX][FORMAT_SIZE];
    size_t bars = 0;
    for (size_t i = 0; r && i < count; i++)
        r[i] = rank_of(&run->r.assumptions.item[i], i);
    if (r)
        qsort(r, count, sizeof *r, by_swing);
    struct result_table *const table = assumption_table(r, r ? count : 0);
    for (size_t i = 0; r && i < count && bars < BARS_MAX; i++) {
        if (isnan(r[i].swing))
            continue;
        snprintf(name[bars], sizeof name[0], "%.70s (%.20s)", r[i].a->key ? r[i].a->key : "?", r[i].a->kind ? r[i].a->kind : "?");
        bar[bars] = (struct chart_bar){name[bars],         format_share(shown[bars], r[i].swing), 100 * r[i].swing, NAN, NAN,
                                       r[i].energy ? 1 : 0};
        bars++;
    }
    const struct chart_bars chart = {{.label = "moves the answer by", .unit = "%", .zero = true}, bar, bars};
    const struct page_figure figure = {.title = "Assumptions by how much they matter",
                                       .caption = "Share of the time (blue) or energy (orange) that a value decides, times how "
                                                  "well it is known (one standard deviation).",
                                       .draw = chart_bars,
                                       .chart = &chart,
                                       .table = table};
    if (bars)
        page_figure(page, &figure);
    else if (count)
        page_table(page, "Assumptions", table);
    result_table_free(table);
    free(r);
}

/* ---- ops ---- */

struct ops {
    struct chart_interval interval[OPS_MAX];
    char name[OPS_MAX][160], lane[LANES_MAX][32];
    const char *lanes[LANES_MAX];
    size_t count, lane_count;
};

static unsigned lane_of(struct ops *o, const char *part, long long instance)
{
    char name[32];
    size_t i = 0;
    snprintf(name, sizeof name, "%.16s %lld", part, instance);
    while (i < o->lane_count && strcmp(o->lane[i], name) != 0)
        i++;
    if (i == o->lane_count && i < LANES_MAX) {
        memcpy(o->lane[i], name, sizeof name);
        o->lanes[i] = o->lane[i];
        o->lane_count++;
    }
    return (unsigned)(i < LANES_MAX ? i : LANES_MAX - 1);
}

static void take_op(struct ops *o, struct result_table *t, sqlite3_stmt *row)
{
    const char *const texts[] = {db_column_text(row, 1), db_column_text(row, 2), db_column_text(row, 3)};
    const char *const part = db_column_text(row, 4);
    const double begin = sqlite3_column_double(row, 6) * 1e-9, seconds = sqlite3_column_double(row, 7),
                 flops = sqlite3_column_double(row, 8);
    char text[FORMAT_SIZE];
    const unsigned lane = lane_of(o, part, sqlite3_column_int64(row, 5));
    const size_t i = o->count++;
    snprintf(o->name[i], sizeof o->name[i], "%.60s %.70s: %s", texts[0] ? texts[0] : "op", texts[2] ? texts[2] : "",
             format_quantity(text, seconds, "s"));
    o->interval[i] = (struct chart_interval){lane, lane, begin, begin + seconds, o->name[i]};
    result_table_number(t, (double)sqlite3_column_int64(row, 0), NULL);
    for (int k = 0; k < 3; k++)
        result_table_text(t, texts[k]);
    result_table_text(t, o->lane[lane]);
    result_table_number(t, begin, format_quantity(text, begin, "s"));
    result_table_number(t, seconds, format_quantity(text, seconds, "s"));
    result_table_number(t, flops / seconds, format_quantity(text, flops / seconds, "flop/s"));
    result_table_number(t, sqlite3_column_double(row, 9), format_share(text, sqlite3_column_double(row, 9)));
}

static bool read_ops(struct orch_db *db, int64_t run_id, struct ops *o, struct result_table *t, struct orch_error *error)
{
    sqlite3_stmt *const rows =
        db_query(db, error,
                 "SELECT op, name, kernel, shape, unit, instance, started_ns, seconds, flops, share FROM v_op "
                 "WHERE run_id = ? ORDER BY seconds DESC, op",
                 "i", run_id);
    int code = SQLITE_ERROR;
    while (rows && (code = db_step(db, rows, error)) == SQLITE_ROW && o->count < OPS_MAX)
        take_op(o, t, rows);
    sqlite3_finalize(rows);
    return rows && (code == SQLITE_DONE || code == SQLITE_ROW);
}

bool run_part_ops(struct page *page, struct orch_db *db, const struct report_run *run, struct orch_error *error)
{
    static const struct result_column columns[] = {{"op", NULL, true},     {"name", NULL, false},    {"kernel", NULL, false},
                                                   {"shape", NULL, false}, {"on", NULL, false},      {"begin", "s", true},
                                                   {"time", "s", true},    {"rate", "flop/s", true}, {"share", NULL, true}};
    int64_t count = 0;
    if (!db_number(db, error, 0, &count, "SELECT count(*) FROM op WHERE run_id = ?", "i", run->r.run_id))
        return false;
    if (count < 2)
        return true;
    struct ops *const o = calloc(1, sizeof *o);
    struct result_table *const t = result_table_create(columns, ARRAY_COUNT(columns));
    const bool ok = o ? read_ops(db, run->r.run_id, o, t, error) : orch_no_memory(error);
    char caption[96] = "";
    if (ok && count > OPS_MAX)
        snprintf(caption, sizeof caption, "The %d longest of %lld ops.", OPS_MAX, (long long)count);
    if (ok) {
        const struct chart_timeline chart = {
            {.label = "simulated time", .unit = "s", .si = true, .zero = true}, o->lanes, o->lane_count, o->interval, o->count};
        const struct page_figure figure = {.title = "Operations over time",
                                           .caption = *caption ? caption : NULL,
                                           .draw = chart_timeline,
                                           .chart = &chart,
                                           .table = t};
        page_figure(page, &figure);
    }
    result_table_free(t);
    free(o);
    return ok;
}

/* ---- the rest ---- */

static void placements(struct page *page, const struct run_placements *list)
{
    static const struct result_column columns[] = {
        {"op", NULL, false}, {"unit", NULL, false}, {"kernel", NULL, false}, {"why", NULL, false}};
    struct result_table *const t = result_table_create(columns, 4);
    for (size_t i = 0; i < list->count; i++) {
        result_table_text(t, list->item[i].op);
        result_table_text(t, list->item[i].unit);
        result_table_text(t, list->item[i].kernel);
        result_table_text(t, list->item[i].why);
    }
    if (list->count)
        page_table(page, "Placement", t);
    result_table_free(t);
}

static bool counters(struct page *page, struct orch_db *db, const struct report_run *run, struct orch_error *error)
{
    static const struct result_column columns[] = {
        {"counter", NULL, false}, {"value", NULL, true}, {"unit", NULL, false}, {"definition", NULL, false}};
    struct result_table *const t = result_table_create(columns, 4);
    sqlite3_stmt *const rows = db_query(
        db, error, "SELECT name, value, unit, definition FROM v_counters WHERE run_id = ? ORDER BY name", "i", run->r.run_id);
    int code = SQLITE_ERROR;
    char text[FORMAT_SIZE];
    while (rows && (code = db_step(db, rows, error)) == SQLITE_ROW) {
        const double value = sqlite3_column_double(rows, 1);
        result_table_text(t, db_column_text(rows, 0));
        result_table_number(t, value, format_count(text, value));
        result_table_text(t, db_column_text(rows, 2));
        result_table_text(t, db_column_text(rows, 3));
    }
    sqlite3_finalize(rows);
    if (result_table_rows(t))
        page_table(page, "Counters", t);
    result_table_free(t);
    return rows && code == SQLITE_DONE;
}

static void identity(struct page *page, const struct report_run *run)
{
    static const struct result_column columns[] = {{"what decides the answer", NULL, false}, {"value", NULL, false}};
    struct result_table *const t = result_table_create(columns, 2);
    char seed[32], hash[24];
    snprintf(seed, sizeof seed, "%lld", (long long)run->seed);
    const char *const rows[][2] = {{"workload", run->r.workload},
                                   {"chip", run->r.chip},
                                   {"values of the chip", run->chip_hash},
                                   {"device", run->r.device},
                                   {"unit", run->r.unit},
                                   {"precision", run->r.precision},
                                   {"detail", run->r.detail},
                                   {"mode", run->r.mode},
                                   {"program", run->program},
                                   {"options", run->options},
                                   {"version", run->version},
                                   {"seed", seed},
                                   {"uid", run->uid}};
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
        if (rows[i][1]) {
            result_table_text(t, rows[i][0]);
            result_table_text(t, rows[i][1]);
        }
    for (size_t i = 0; i < run->r.checksum.count; i++) {
        char name[96];
        snprintf(name, sizeof name, "output %.60s, fnv1a64", run->r.checksum.item[i].output);
        snprintf(hash, sizeof hash, "%016llx", (unsigned long long)run->r.checksum.item[i].fnv1a64);
        result_table_text(t, name);
        result_table_text(t, hash);
    }
    page_table(page, "Identity", t);
    result_table_free(t);
    if (run->chip && !run->chip_same)
        page_note(page, "The chip files have changed since this run: peaks on this page are those of today.");
}

bool run_part_details(struct page *page, struct orch_db *db, const struct report_run *run, struct orch_error *error)
{
    placements(page, &run->r.placement);
    if (!counters(page, db, run, error))
        return false;
    identity(page, run);
    return true;
}
