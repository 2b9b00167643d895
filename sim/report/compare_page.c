/* Runs side by side, and what differs between the first and each of the others. */
#include "sim/base/format.h"
#include "sim/report/compare.h"
#include "sim/report/report.h"

#include <math.h>
#include <string.h>

static void settings_table(struct page *page, const struct comparison *c)
{
    const struct result_column columns[] = {{"setting", NULL, false}, {c->a->label, NULL, false}, {c->b->label, NULL, false}};
    struct result_table *const t = result_table_create(columns, 3);
    for (size_t i = 0; i < c->texts; i++) {
        result_table_text(t, c->text[i].name);
        result_table_text(t, c->text[i].a);
        result_table_text(t, c->text[i].b);
    }
    for (size_t i = 0; i < c->keys; i++) {
        const struct chip_value *const a = c->key[i].a, *const b = c->key[i].b;
        result_table_text(t, a->key->name);
        result_table_text(t, a->known ? a->json : NULL);
        result_table_text(t, b->known ? b->json : NULL);
    }
    if (result_table_rows(t))
        page_table(page, "Settings and values of the chips", t);
    result_table_free(t);
}

static void numbers_table(struct page *page, const struct comparison *c, const char *title, const struct compare_number *list,
                          size_t count)
{
    const struct result_column columns[] = {{"number", NULL, false},
                                            {"unit", NULL, false},
                                            {c->a->label, NULL, true},
                                            {c->b->label, NULL, true},
                                            {"ratio", NULL, true}};
    struct result_table *const t = result_table_create(columns, 5);
    for (size_t i = 0; i < count; i++) {
        result_table_text(t, list[i].name);
        result_table_text(t, strcmp(list[i].unit, "1") == 0 ? "" : format_unit(list[i].unit));
        result_table_number(t, list[i].a, NULL);
        result_table_number(t, list[i].b, NULL);
        result_table_number(t, list[i].ratio, NULL);
    }
    if (result_table_rows(t))
        page_table(page, title, t);
    result_table_free(t);
}

static void say_ratio(struct page *page, const struct comparison *c)
{
    const double ratio = c->a->r.seconds / c->b->r.seconds;
    if (!isfinite(ratio))
        return;
    page_paragraph(page, "%s takes %.4g of the time of %s%s.", c->b->label, 1 / ratio, c->a->label,
                   !c->has_intervals      ? ""
                   : c->intervals_overlap ? "; their 90 % intervals overlap"
                                          : "; their 90 % intervals do not overlap");
}

static bool pair(struct page *page, const struct report_run *a, const struct report_run *b, struct orch_error *error)
{
    struct comparison c = {0};
    char title[400];
    const bool ok = compare_runs(a, b, &c, error);
    if (ok) {
        snprintf(title, sizeof title, "From %s to %s", a->label, b->label);
        page_section(page, title);
        say_ratio(page, &c);
        if (c.texts + c.numbers + c.keys == 0)
            page_paragraph(page, "Nothing differs.");
        settings_table(page, &c);
        numbers_table(page, &c, "Time by reason", c.stall, c.stalls);
        numbers_table(page, &c, "Numbers that differ", c.number, c.numbers);
    }
    compare_free(&c);
    return ok;
}

bool report_comparison(struct orch_db *db, const struct chip_db *chips, const int64_t *run_ids, size_t count, struct page **page,
                       struct orch_error *error)
{
    if (!report_runs(db, chips, run_ids, count, page, error))
        return false;
    struct report_run *const runs = report_runs_read(db, chips, run_ids, count, error);
    bool ok = runs != NULL;
    for (size_t i = 1; ok && i < count; i++)
        ok = pair(*page, &runs[0], &runs[i], error);
    report_runs_free(runs, count);
    if (!ok) {
        page_free(*page);
        *page = NULL;
    }
    return ok;
}
