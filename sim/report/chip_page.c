/* Chips and where their values come from. */
#include "reports/chart.h"
#include "sim/base/format.h"
#include "sim/report/report.h"

#include <math.h>
#include <string.h>

/* ---- all chips ---- */

static void count_kinds(const struct chip *chip, size_t count[CHIP_KIND_COUNT])
{
    for (size_t i = 0; i < chip_key_count(); i++) {
        const struct chip_value *const v = chip_value_at(chip, i);
        if (v && v->known)
            count[v->kind]++;
    }
}

static double number_of(const struct chip *chip, const char *key)
{
    const struct chip_value *const v = chip_value(chip, key);
    return v && v->known ? v->number : (double)NAN;
}

static void chip_row(struct result_table *t, const struct chip *chip)
{
    static const char *const keys[] = {"gpu_cores", "ane_cores", "memory_peak_GBps"};
    size_t kinds[CHIP_KIND_COUNT] = {0};
    count_kinds(chip, kinds);
    result_table_text(t, chip_id(chip));
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        result_table_number(t, number_of(chip, keys[i]), NULL);
    for (enum chip_kind k = 0; k < CHIP_KIND_COUNT; k++)
        result_table_number(t, (double)kinds[k], NULL);
}

bool report_chips(const struct chip_db *chips, const char *link, struct page **page, struct orch_error *error)
{
    struct result_column columns[4 + CHIP_KIND_COUNT] = {
        {"chip", NULL, false}, {"GPU cores", NULL, true}, {"ANE cores", NULL, true}, {"memory", "GB/s", true}};
    for (enum chip_kind k = 0; k < CHIP_KIND_COUNT; k++)
        columns[4 + k] = (struct result_column){chip_kind_name(k), NULL, true};
    struct result_table *const t = result_table_create(columns, 4 + CHIP_KIND_COUNT);
    bool ok = true;
    for (size_t i = 0; ok && i < chip_db_count(chips); i++) {
        struct chip *const chip = chip_open(chips, chip_db_id(chips, i), NULL, error);
        ok = chip != NULL;
        if (ok)
            chip_row(t, chip);
        chip_close(chip);
    }
    *page = ok ? page_create("Chips", "what is known about each, by the kind of its source") : NULL;
    const struct page_list how = {.link = link};
    page_section(*page, "Chips");
    page_paragraph(*page,
                   "Columns on the right count values by where they come from; a guess is a parameter that nobody has measured.");
    page_list(*page, "Chips and the origin of their values", t, &how);
    result_table_free(t);
    return ok && (*page || orch_no_memory(error));
}

/* ---- one chip ---- */

static void value_row(struct result_table *t, const struct chip_value *v)
{
    const double u = chip_value_uncertainty(v, 0);
    char text[FORMAT_SIZE];
    result_table_text(t, v->key->name);
    result_table_text(t, v->known ? v->json : NULL);
    result_table_text(t, format_unit(v->key->unit));
    result_table_text(t, v->known ? chip_kind_name(v->kind) : NULL);
    snprintf(text, sizeof text, "%.3g %%", 100 * u);
    result_table_number(t, v->known && u > 0 ? u : (double)NAN, text);
    result_table_text(t, v->source && *v->source ? v->source : NULL);
    result_table_text(t, v->note ? v->note : v->adopted);
    result_table_text(t, v->key->text);
}

static void kinds_figure(struct page *page, const struct chip *chip)
{
    static const struct result_column columns[] = {{"kind", NULL, false}, {"values", NULL, true}};
    struct chart_bar bar[CHIP_KIND_COUNT];
    char shown[CHIP_KIND_COUNT][24];
    size_t kinds[CHIP_KIND_COUNT] = {0};
    struct result_table *const t = result_table_create(columns, 2);
    count_kinds(chip, kinds);
    for (enum chip_kind k = 0; k < CHIP_KIND_COUNT; k++) {
        snprintf(shown[k], sizeof shown[k], "%zu", kinds[k]);
        bar[k] = (struct chart_bar){chip_kind_name(k), shown[k], (double)kinds[k], NAN, NAN, (unsigned)k};
        result_table_text(t, chip_kind_name(k));
        result_table_number(t, (double)kinds[k], NULL);
    }
    const struct chart_bars bars = {{.label = "values", .unit = "", .zero = true, .whole = true}, bar, CHIP_KIND_COUNT};
    const struct page_figure figure = {.title = "Where the values come from",
                                       .caption = "From what the maker says to what somebody supposes.",
                                       .draw = chart_bars,
                                       .chart = &bars,
                                       .table = t};
    page_figure(page, &figure);
    result_table_free(t);
}

bool report_chip(const struct chip_db *chips, const char *id, struct page **page, struct orch_error *error)
{
    static const struct result_column columns[] = {
        {"key", NULL, false},        {"value", NULL, false},  {"unit", NULL, false},   {"kind", NULL, false},
        {"uncertainty", NULL, true}, {"source", NULL, false}, {"remark", NULL, false}, {"what it means", NULL, false}};
    struct chip *const chip = chip_open(chips, id, NULL, error);
    *page = NULL;
    if (!chip)
        return false;
    struct result_table *const t = result_table_create(columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < chip_key_count(); i++)
        value_row(t, chip_value_at(chip, i));
    *page = page_create(chip_id(chip), "every value with its kind, uncertainty and source");
    page_section(*page, "Origin");
    kinds_figure(*page, chip);
    page_section(*page, "Values");
    page_table(*page, "Values", t);
    result_table_free(t);
    chip_close(chip);
    return *page || orch_no_memory(error);
}
