/* The page about predictions and measurements: how far apart, where, since when, and what is not modelled. */
#include "isa/array_count.h"
#include "reports/chart.h"
#include "sim/base/format.h"
#include "sim/report/report.h"
#include "sim/report/validation_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SCATTERS_MAX = 6, BARS_MAX = 24, WORST_MAX = 400, HISTORY_FILES = 8, HISTORY_MAX = 64 };

static const char *chip_of(const struct validation_row *r)
{
    return r->chip ? r->chip : "no chip";
}

static const char *source_of(const struct validation_row *r)
{
    return r->source ? r->source : "no source";
}

static const char *quantity_of(const struct validation_row *r)
{
    return r->value_unit ? r->value_unit : "";
}

static const char *unit_of(const struct validation_row *r)
{
    return r->unit ? r->unit : "other";
}

/* ---- summary ---- */

static bool summary(struct page *page, const struct validation_rows *rows, struct orch_error *error)
{
    struct score open, fit;
    size_t open_rows, fit_rows;
    char value[8][FORMAT_SIZE], more[8][FORMAT_SIZE];
    if (!validation_score_of(rows, false, &open, &open_rows, error) || !validation_score_of(rows, true, &fit, &fit_rows, error))
        return false;
    snprintf(value[0], FORMAT_SIZE, "%zu of %zu", open.count, open_rows);
    snprintf(more[1], FORMAT_SIZE, "median %.1f %%, bias %+.1f %%", 100 * open.median_ape, 100 * open.bias);
    snprintf(more[4], FORMAT_SIZE, "over %zu rows", fit.count);
    const struct page_card card[] = {
        {"rows modelled", value[0], "parameters were taken from none of them"},
        {"mean error", format_share(value[1], open.mape), more[1]},
        {"symmetrical error", format_share(value[2], open.symmetric), "twice as fast counts like half as fast"},
        {"within 25 %", format_share(value[3], open.within25), "of the modelled rows"},
        {"fitted rows, mean error", format_share(value[4], fit.mape), more[4]},
        {"inside the 90 % interval", format_share(value[5], open.interval_coverage), "of rows that have one"},
    };
    page_cards(page, card, 5 + !isnan(open.interval_coverage));
    return true;
}

/* ---- predicted over measured ---- */

static bool scatters(struct page *page, const struct validation_rows *rows, struct orch_error *error)
{
    struct validation_part *quantity = NULL, *chip = NULL;
    size_t quantities, chips;
    bool ok = validation_parts_by(rows, quantity_of, &quantity, &quantities, error) &&
              validation_parts_by(rows, chip_of, &chip, &chips, error);
    for (size_t i = 0; ok && i < quantities && i < SCATTERS_MAX; i++)
        ok = validation_scatter(page, rows, quantity[i].name, chip, chips) || orch_no_memory(error);
    if (ok && quantities > SCATTERS_MAX)
        page_note(page, "%zu more quantities with fewer rows have no picture of their own.", quantities - SCATTERS_MAX);
    free(quantity);
    free(chip);
    return ok;
}

static int by_error(const void *a, const void *b)
{
    const struct validation_row *const x = *(const struct validation_row *const *)a;
    const struct validation_row *const y = *(const struct validation_row *const *)b;
    return x->ape < y->ape ? 1 : x->ape > y->ape ? -1 : x < y ? -1 : 1;
}

/* Adds the table of rows, those farthest off first. */
static bool row_table(struct page *page, const struct validation_rows *rows)
{
    static const struct result_column columns[] = {{"row", NULL, false},      {"chip", NULL, false},  {"unit", NULL, false},
                                                   {"workload", NULL, false}, {"shape", NULL, false}, {"measured", NULL, true},
                                                   {"predicted", NULL, true}, {"low", NULL, true},    {"high", NULL, true},
                                                   {"quantity", NULL, false}, {"error", NULL, true},  {"fitted", NULL, false}};
    const struct validation_row **const order = calloc(rows->count + 1, sizeof *order);
    struct result_table *const t = result_table_create(columns, ARRAY_COUNT(columns));
    char text[FORMAT_SIZE], title[96];
    size_t count = 0;
    for (size_t i = 0; order && i < rows->count; i++)
        if (!isnan(rows->row[i].ape))
            order[count++] = &rows->row[i];
    if (order)
        qsort(order, count, sizeof *order, by_error);
    for (size_t i = 0; order && i < count && i < WORST_MAX; i++) {
        const struct validation_row *const r = order[i];
        const char *const texts[] = {r->label, r->chip, r->unit, r->workload, r->shape};
        for (size_t k = 0; k < 5; k++)
            result_table_text(t, texts[k]);
        result_table_number(t, r->measured, NULL);
        result_table_number(t, r->predicted, NULL);
        result_table_number(t, r->high > 0 ? r->low : (double)NAN, NULL);
        result_table_number(t, r->high > 0 ? r->high : (double)NAN, NULL);
        result_table_text(t, r->value_unit);
        result_table_number(t, r->ape, format_share(text, r->ape));
        result_table_text(t, r->fitted ? "fitted" : NULL);
    }
    snprintf(title, sizeof title, count > WORST_MAX ? "The %d rows that are farthest off, of %zu" : "Rows, farthest off first",
             WORST_MAX, count);
    page_table(page, title, t);
    if (count > WORST_MAX)
        page_note(page, "All rows: orchard db export v_validation");
    const bool ok = order && !result_table_failed(t);
    result_table_free(t);
    free(order);
    return ok;
}

/* ---- errors by group ---- */

static struct result_table *part_table(const struct validation_part *part, size_t count, const char *what)
{
    const struct result_column columns[] = {{what, NULL, false},         {"rows", NULL, true},
                                            {"modelled", NULL, true},    {"mean error", NULL, true},
                                            {"symmetrical", NULL, true}, {"median", NULL, true},
                                            {"bias", NULL, true},        {"within 10 %", NULL, true},
                                            {"within 25 %", NULL, true}, {"in 90 % interval", NULL, true}};
    struct result_table *const t = result_table_create(columns, ARRAY_COUNT(columns));
    char text[FORMAT_SIZE];
    for (size_t i = 0; i < count; i++) {
        const struct score *const s = &part[i].score;
        const double shares[] = {s->mape, s->symmetric, s->median_ape, s->bias, s->within10, s->within25, s->interval_coverage};
        result_table_text(t, part[i].name);
        result_table_number(t, (double)part[i].rows, NULL);
        result_table_number(t, (double)s->count, NULL);
        for (size_t k = 0; k < ARRAY_COUNT(shares); k++)
            result_table_number(t, shares[k], format_share(text, shares[k]));
    }
    return t;
}

static bool errors_by(struct page *page, const struct validation_rows *rows, validation_column *column, const char *what,
                      struct orch_error *error)
{
    struct validation_part *part = NULL;
    struct chart_bar bar[BARS_MAX];
    char shown[BARS_MAX][FORMAT_SIZE + 24], title[64], share[FORMAT_SIZE];
    size_t count, bars = 0;
    if (!validation_parts_by(rows, column, &part, &count, error)) {
        free(part);
        return false;
    }
    for (size_t i = 0; i < count && bars < BARS_MAX; i++)
        if (part[i].score.count) {
            snprintf(shown[bars], sizeof shown[0], "%s, %zu row%s", format_share(share, part[i].score.symmetric),
                     part[i].score.count, part[i].score.count == 1 ? "" : "s");
            bar[bars] = (struct chart_bar){part[i].name, shown[bars], 100 * part[i].score.symmetric, NAN, NAN, 0};
            bars++;
        }
    snprintf(title, sizeof title, "Error by %s", what);
    struct result_table *const t = part_table(part, count, what);
    const struct chart_bars chart = {{.label = "symmetrical error, mean", .unit = "%", .zero = true}, bar, bars};
    const struct page_figure figure = {.title = title,
                                       .caption = "Rows that no parameter was taken from, groups with most rows first.",
                                       .draw = chart_bars,
                                       .chart = &chart,
                                       .table = t};
    if (bars)
        page_figure(page, &figure);
    const bool ok = !result_table_failed(t) || orch_no_memory(error);
    result_table_free(t);
    free(part);
    return ok;
}

/* ---- history ---- */

struct history {
    char file[HISTORY_FILES][96];
    struct chart_point point[HISTORY_FILES][HISTORY_MAX];
    char name[HISTORY_FILES][HISTORY_MAX][160];
    size_t count[HISTORY_FILES], files;
    struct result_table *table;
};

static void take_score(struct history *h, sqlite3_stmt *row)
{
    const char *const file = db_column_text(row, 0);
    const char *const version = db_column_text(row, 1);
    const char *const created = db_column_text(row, 2);
    size_t f = 0;
    char text[FORMAT_SIZE];
    while (f < h->files && strcmp(h->file[f], file) != 0)
        f++;
    if (f == HISTORY_FILES)
        return;
    if (f == h->files)
        snprintf(h->file[h->files++], sizeof h->file[0], "%s", file);
    if (h->count[f] < HISTORY_MAX && sqlite3_column_type(row, 5) != SQLITE_NULL) {
        const size_t i = h->count[f]++;
        snprintf(h->name[f][i], sizeof h->name[0][0], "%.40s %.60s: %s", file, version,
                 format_share(text, sqlite3_column_double(row, 5)));
        h->point[f][i] = (struct chart_point){(double)i + 1, 100 * sqlite3_column_double(row, 5), NAN, NAN, h->name[f][i]};
    }
    result_table_text(h->table, file);
    result_table_text(h->table, version);
    result_table_text(h->table, created);
    result_table_number(h->table, sqlite3_column_double(row, 3), NULL);
    result_table_number(h->table, sqlite3_column_double(row, 4), NULL);
    for (int k = 5; k < 10; k++) {
        const double share = db_column_number(row, k);
        result_table_number(h->table, share, format_share(text, share));
    }
}

static bool read_history(struct orch_db *db, struct history *h, struct orch_error *error)
{
    sqlite3_stmt *const rows =
        db_query(db, error,
                 "SELECT file, version, created, rows, modelled, symmetric, mape, median_ape, within25, interval_coverage "
                 "FROM validation_score WHERE grouping = '' AND fitted = 0 ORDER BY created, file, id",
                 "");
    int code = SQLITE_ERROR;
    while (rows && (code = db_step(db, rows, error)) == SQLITE_ROW)
        take_score(h, rows);
    sqlite3_finalize(rows);
    return rows && code == SQLITE_DONE;
}

static bool history(struct page *page, struct orch_db *db, struct orch_error *error)
{
    static const struct result_column columns[] = {
        {"file", NULL, false},       {"version", NULL, false},        {"when", NULL, false},      {"rows", NULL, true},
        {"modelled", NULL, true},    {"symmetrical", NULL, true},     {"mean error", NULL, true}, {"median", NULL, true},
        {"within 25 %", NULL, true}, {"in 90 % interval", NULL, true}};
    struct history *const h = calloc(1, sizeof *h);
    struct chart_series line[HISTORY_FILES];
    size_t most = 0;
    bool ok = h || orch_no_memory(error);
    if (ok) {
        h->table = result_table_create(columns, ARRAY_COUNT(columns));
        ok = read_history(db, h, error);
    }
    for (size_t f = 0; ok && f < h->files; f++) {
        line[f] = (struct chart_series){h->file[f], (unsigned)f, SVG_CIRCLE, false, true, false, h->point[f], h->count[f]};
        most = h->count[f] > most ? h->count[f] : most;
    }
    if (ok && most > 1) {
        const struct chart_lines chart = {{.label = "validation", .unit = "1", .low = 1, .high = (double)most, .whole = true},
                                          {.label = "symmetrical error, mean", .unit = "%", .zero = true},
                                          line,
                                          h->files};
        const struct page_figure figure = {.title = "Accuracy across versions",
                                           .caption =
                                               "Whole files, rows that no parameter was taken from; oldest validation left.",
                                           .draw = chart_lines,
                                           .chart = &chart,
                                           .table = h->table};
        page_figure(page, &figure);
    } else if (ok && h->files) {
        page_table(page, "Scores of whole files", h->table);
    }
    if (h)
        result_table_free(h->table);
    free(h);
    return ok;
}

/* ---- what is not modelled ---- */

static const char *reason_of(const struct validation_row *r)
{
    return r->unmodelled ? r->unmodelled : "";
}

static bool unmodelled(struct page *page, const struct validation_rows *rows, struct orch_error *error)
{
    static const struct result_column columns[] = {{"reason", NULL, false}, {"rows", NULL, true}, {"for example", NULL, false}};
    struct validation_part *part = NULL;
    size_t count, listed = 0;
    const bool ok = validation_parts_by(rows, reason_of, &part, &count, error);
    struct result_table *const t = result_table_create(columns, 3);
    char example[200];
    for (size_t i = 0; ok && i < count; i++) {
        const struct validation_row *first = NULL;
        for (size_t k = 0; *part[i].name && k < rows->count && !first; k++)
            first = !rows->row[k].fitted && strcmp(reason_of(&rows->row[k]), part[i].name) == 0 ? &rows->row[k] : NULL;
        if (!first)
            continue;
        snprintf(example, sizeof example, "%.40s: %.100s", first->label ? first->label : "", first->workload);
        result_table_text(t, part[i].name);
        result_table_number(t, (double)part[i].rows, NULL);
        result_table_text(t, example);
        listed++;
    }
    if (ok && listed)
        page_table(page, "Why", t);
    else if (ok)
        page_paragraph(page, "Every row is modelled.");
    result_table_free(t);
    free(part);
    return ok;
}

/* ---- the page ---- */

static bool sections(struct page *page, struct orch_db *db, const struct validation_rows *rows, struct orch_error *error)
{
    page_section(page, "Summary");
    if (!summary(page, rows, error))
        return false;
    if (rows->by_label)
        page_note(page, "The rows of this file have identifiers of their own; rows of other such files would be among them.");
    page_section(page, "Predicted over measured");
    if (!scatters(page, rows, error))
        return false;
    if (!row_table(page, rows))
        return orch_no_memory(error);
    page_section(page, "Where it is off");
    if (!errors_by(page, rows, unit_of, "unit", error) || !errors_by(page, rows, chip_of, "chip", error) ||
        !errors_by(page, rows, source_of, "source", error))
        return false;
    page_section(page, "History");
    if (!history(page, db, error))
        return false;
    page_section(page, "Not modelled");
    return unmodelled(page, rows, error);
}

/* The newest version among the rows, for the head of the page. */
static const char *newest(const struct validation_rows *rows)
{
    const char *version = NULL;
    for (size_t i = 0; i < rows->count; i++)
        if (rows->row[i].version && (!version || strcmp(rows->row[i].version, version) > 0))
            version = rows->row[i].version;
    return version ? version : "?";
}

bool report_validation(struct orch_db *db, const char *which, struct page **page, struct orch_error *error)
{
    struct validation_rows rows;
    char title[200], sub[200];
    *page = NULL;
    bool ok = validation_rows_read(db, which, &rows, error);
    if (ok) {
        snprintf(title, sizeof title, "How far orchard is from hardware%s%.100s", which ? ": " : "", which ? which : "");
        snprintf(sub, sizeof sub, "%zu published measurements, the newest prediction of each; version %.80s", rows.count,
                 newest(&rows));
        *page = page_create(title, sub);
        page_foot(*page, "Error: |predicted \xe2\x88\x92 measured| / measured. Symmetrical: over the smaller of both. Made by "
                         "orchard validate; measurements and "
                         "their sources are in tables measurement and source.");
        ok = sections(*page, db, &rows, error);
    }
    validation_rows_free(&rows);
    if (!ok) {
        page_free(*page);
        *page = NULL;
    }
    return ok;
}
