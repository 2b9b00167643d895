/* The verb compare: sets recorded runs beside each other. */
#include "isa/array_count.h"
#include "sim/base/format.h"
#include "sim/base/json_out.h"
#include "sim/base/table.h"
#include "sim/api/api.h"
#include "sim/api/verb_compare_many.h"
#include "sim/api/write_page.h"
#include "sim/report/compare.h"
#include "sim/report/report.h"

#include <math.h>
#include <string.h>

enum { RUNS_MOST = 16 };

/* ---- JSON ---- */

static json_object *numbers_json(const struct compare_number *list, size_t count)
{
    json_object *const object = json_object_new_object();
    for (size_t i = 0; i < count; i++) {
        json_object *const row = json_object_new_object();
        json_add_number(row, "a", list[i].a);
        json_add_number(row, "b", list[i].b);
        json_add_number(row, "ratio", list[i].ratio);
        json_add_text(row, "unit", list[i].unit);
        json_object_object_add(object, list[i].name, row);
    }
    return object;
}

static json_object *sides(const char *a, const char *b)
{
    json_object *const row = json_object_new_object();
    json_add_text(row, "a", a);
    json_add_text(row, "b", b);
    return row;
}

static void give_document(struct api_context *context, const struct comparison *c)
{
    json_object *const document = json_object_new_object(), *const texts = json_object_new_object(),
                       *const keys = json_object_new_object();
    json_add_count(document, "a", (uint64_t)c->a->r.run_id);
    json_add_count(document, "b", (uint64_t)c->b->r.run_id);
    json_add_number(document, "speedup", c->a->r.seconds / c->b->r.seconds);
    if (c->has_intervals)
        json_add_bool(document, "intervals_overlap", c->intervals_overlap);
    else
        json_add_null(document, "intervals_overlap");
    for (size_t i = 0; i < c->texts; i++)
        json_object_object_add(texts, c->text[i].name, sides(c->text[i].a, c->text[i].b));
    for (size_t i = 0; i < c->keys; i++)
        json_object_object_add(
            keys, c->key[i].a->key->name,
            sides(c->key[i].a->known ? c->key[i].a->json : NULL, c->key[i].b->known ? c->key[i].b->json : NULL));
    json_object_object_add(document, "settings", texts);
    json_object_object_add(document, "numbers", numbers_json(c->number, c->numbers));
    json_object_object_add(document, "stall_seconds", numbers_json(c->stall, c->stalls));
    json_object_object_add(document, "chip_values", keys);
    api_document(context, document);
}

/* ---- text ---- */

enum { KEYS_MAX = 40 };

/* Writes SI prefixes where they read well: 34.9 µs, but 962.0 Gflop/s and 104220 cycles. */
static const char *quantity(char text[FORMAT_SIZE], double value, const char *unit)
{
    static const char *const prefixed[] = {"s", "J", "W"};
    if (isnan(value))
        return NULL;
    for (size_t i = 0; i < ARRAY_COUNT(prefixed); i++)
        if (strcmp(unit, prefixed[i]) == 0)
            return format_si(text, value, unit);
    format_number(text, value, 6);
    const size_t used = strlen(text);
    if (*unit && strcmp(unit, "1") != 0)
        snprintf(text + used, FORMAT_SIZE - used, " %s", unit);
    return text;
}

static void print_texts(struct api_context *context, const struct comparison *c)
{
    static const struct table_column columns[] = {{"setting", NULL, false, 0}, {"A", NULL, false, 60}, {"B", NULL, false, 60}};
    if (!c->texts)
        return;
    struct table *const t = table_create(columns, 3);
    for (size_t i = 0; i < c->texts; i++) {
        table_row(t);
        table_cell(t, "%s", c->text[i].name);
        table_cell(t, "%s", c->text[i].a ? c->text[i].a : "-");
        table_cell(t, "%s", c->text[i].b ? c->text[i].b : "-");
    }
    fputc('\n', context->out);
    api_table(context, t);
}

static void print_numbers(struct api_context *context, const char *title, const struct compare_number *list, size_t count,
                          bool growth)
{
    const struct table_column columns[] = {
        {title, NULL, false, 44}, {"A", NULL, true, 0}, {"B", NULL, true, 0}, {growth ? "grew by" : "B / A", NULL, true, 0}};
    if (!count)
        return;
    struct table *const t = table_create(columns, 4);
    char a[FORMAT_SIZE], b[FORMAT_SIZE], last[FORMAT_SIZE];
    for (size_t i = 0; i < count; i++) {
        const char *const left = quantity(a, list[i].a, list[i].unit), *const right = quantity(b, list[i].b, list[i].unit);
        table_row(t);
        table_cell(t, "%s", list[i].name);
        table_cell(t, "%s", left ? left : "-");
        table_cell(t, "%s", right ? right : "-");
        if (growth)
            table_cell(t, "%s", format_si(last, list[i].b - list[i].a, list[i].unit));
        else
            table_cell(t, "%s", isnan(list[i].ratio) ? "" : format_digits(last, list[i].ratio, 4));
    }
    fputc('\n', context->out);
    api_table(context, t);
}

static void print_keys(struct api_context *context, const struct comparison *c)
{
    static const struct table_column columns[] = {
        {"value of the chip", NULL, false, 0}, {"unit", NULL, false, 0}, {"A", NULL, false, 40}, {"B", NULL, false, 40}};
    if (!c->keys)
        return;
    struct table *const t = table_create(columns, 4);
    for (size_t i = 0; i < c->keys && i < KEYS_MAX; i++) {
        const struct chip_value *const a = c->key[i].a, *const b = c->key[i].b;
        table_row(t);
        table_cell(t, "%s", a->key->name);
        table_cell(t, "%s", format_unit(a->key->unit));
        table_cell(t, "%s", a->known ? a->json : "-");
        table_cell(t, "%s", b->known ? b->json : "-");
    }
    fputc('\n', context->out);
    api_table(context, t);
    if (c->keys > KEYS_MAX)
        fprintf(context->out, "and %zu more (orchard chips diff, or --json)\n", c->keys - KEYS_MAX);
}

static void print_side(FILE *out, char letter, const struct report_run *run)
{
    char text[FORMAT_SIZE];
    fprintf(out, "%c  run %lld: %s on %s%s%s%s%s, %s\n", letter, (long long)run->r.run_id, run->r.workload,
            run->r.chip ? run->r.chip : "?", run->r.unit ? " " : "", run->r.unit ? run->r.unit : "", run->r.device ? " in " : "",
            run->r.device ? run->r.device : "", format_seconds(text, run->r.seconds, run->r.seconds_low, run->r.seconds_high));
}

static void print_text(struct api_context *context, const struct comparison *c)
{
    const double ratio = c->a->r.seconds / c->b->r.seconds;
    char text[FORMAT_SIZE];
    print_side(context->out, 'A', c->a);
    print_side(context->out, 'B', c->b);
    if (c->numbers == 0 && c->texts == 0) {
        fprintf(context->out, "no differences\n");
        return;
    }
    if (ratio == 1)
        fprintf(context->out, "both take the same time\n");
    else if (isfinite(ratio))
        fprintf(context->out, "B is %s times as %s%s\n", format_digits(text, ratio > 1 ? ratio : 1 / ratio, 3),
                ratio > 1 ? "fast" : "slow",
                !c->has_intervals      ? ""
                : c->intervals_overlap ? "; their 90 % intervals overlap"
                                       : "; their 90 % intervals do not overlap");
    print_texts(context, c);
    print_numbers(context, "number", c->number, c->numbers, false);
    print_numbers(context, "time by reason", c->stall, c->stalls, true);
    print_keys(context, c);
}

static bool read_runs(struct api_context *context, struct orch_db *db, int words, const char *const *word, int64_t *id,
                      struct report_run *run, struct orch_error *error)
{
    const struct chip_db *const chips = api_chip_db(context, error);
    bool ok = chips != NULL;
    for (int i = 0; ok && i < words; i++)
        ok = db_resolve_run(db, word[i], &id[i], error) && report_run_read(db, chips, id[i], &run[i], error);
    return ok;
}

static bool say_two(struct api_context *context, const struct report_run *run, struct orch_error *error)
{
    struct comparison c = {0};
    const bool ok = compare_runs(&run[0], &run[1], &c, error);
    if (ok && api_wants_document(context))
        give_document(context, &c);
    if (ok && api_wants_text(context))
        print_text(context, &c);
    compare_free(&c);
    return ok;
}

static bool make_page(struct api_context *context, struct orch_db *db, const int64_t *id, size_t count, struct orch_error *error)
{
    struct page *page = NULL;
    const bool ok =
        report_comparison(db, context->chip_db, id, count, &page, error) && verb_write_page(context, page, "compare", error);
    page_free(page);
    return ok;
}

static int ask(struct api_context *context, int words, const char *const *word)
{
    struct orch_error error = {0};
    struct report_run run[RUNS_MOST] = {0};
    int64_t id[RUNS_MOST];
    if (words < 2 || words > RUNS_MOST)
        return api_usage(context, "two to %d runs to compare, as in compare 12 last", RUNS_MOST);
    struct orch_db *const db = db_open(context->common.db, DB_READ, &error);
    bool ok = db && read_runs(context, db, words, word, id, run, &error);
    if (ok && words == 2)
        ok = say_two(context, run, &error);
    else if (ok)
        verb_compare_many(context, run, (size_t)words);
    if (ok && api_has(&context->args, "output"))
        ok = make_page(context, db, id, (size_t)words, &error);
    for (int i = 0; i < words; i++)
        report_run_free(&run[i]);
    db_close(db);
    return ok ? ORCH_OK : api_fail(context, &error);
}

static const struct orchard_option option_table[] = {
    {"output", 'o', "FILE", false, "also a page: the runs side by side, and what differs from the first"},
    {"csv", 0, NULL, false, "a table on standard output (RFC 4180): a row for each number, or of several runs for each run"},
    {0},
};

const struct api_verb verb_compare = {
    .help =
        {
            .name = "compare",
            .synopsis = "RUN RUN [RUN...] [-o FILE.html]",
            .summary = "recorded runs beside each other",
            .text = "Of two: every number that differs with its ratio, whether the intervals overlap, which reasons grew, and "
                    "which\n"
                    "values of the chips differ. Of more: how each stands to the fastest, with the interval of the ratio.",
            .examples = "orchard compare 1 2\n"
                        "orchard compare 1 last --json\n"
                        "orchard compare 1 2 3\n"
                        "orchard compare 1 2 3 -o three.html",
            .options = option_table,
        },
    .ask = ask,
};
