/* orchard report: one self-contained HTML page about runs, a sweep, or the validation. */
#include "sim/base/suggest.h"
#include "sim/api/verb_regress.h"
#include "sim/db/db.h"
#include "sim/listen/perfetto_listener.h"
#include "sim/report/report.h"
#include "sim/report/run_events.h"
#include "sim/base/whole_file.h"

#include <stdlib.h>
#include <string.h>

const struct cli_option cmd_report_options[] = {
    {"output", 'o', "FILE", false, "the page (default: report.html)"},
    {"perfetto", 0, "FILE", false, "also write the runs as a Chrome trace (JSON)"},
    {"figure", 0, "TITLE", false, "only this figure of the page, as SVG: 'Roofline', 'Temperature', ..."},
    {"sweep", 0, "ID", false, "a sweep: its number, name, beginning of its hash, or last"},
    {"regression", 0, NULL, false,
     "a baseline (a word after it names it) against the simulated chips of now: all, or those of --chip"},
    {"only", 0, "PREFIX", false, "--regression: characteristics whose names begin so (amx., gpu.gemm)"},
    {"validation", 0, NULL, false,
     "predictions beside measurements; a word after it chooses a version or a file of measurements"},
    {NULL, 0, NULL, false, NULL},
};

static bool write_trace(struct orch_db *db, const char *path, const int64_t *ids, size_t count, struct orch_error *error)
{
    struct perfetto_listener *const trace = perfetto_listener_open(path, error);
    const struct event_listener to = {perfetto_listener_on_event, trace, false};
    bool ok = trace != NULL;
    for (size_t i = 0; ok && i < count; i++)
        ok = run_events(db, ids[i], i + 1, &to, error);
    if (ok)
        return perfetto_listener_close(trace, error);
    perfetto_listener_discard(trace);
    return false;
}

static bool runs_page(struct cmd_context *context, struct orch_db *db, int argc, char **argv, struct page **page,
                      struct orch_error *error)
{
    const struct chip_db *const chips = cmd_chip_db(context, error);
    int64_t *const ids = calloc((size_t)argc + 1, sizeof *ids);
    const size_t count = argc ? (size_t)argc : 1;
    bool ok = chips != NULL && (ids || orch_no_memory(error));
    for (size_t i = 0; ok && i < count; i++)
        ok = db_resolve_run(db, argc ? argv[i] : "last", &ids[i], error);
    const char *const trace = cli_value(&context->args, "perfetto");
    ok = ok && (!trace || write_trace(db, trace, ids, count, error)) && report_runs(db, chips, ids, count, page, error);
    free(ids);
    return ok;
}

/* Chips of --chip, or all, that the baseline knows. */
static bool regression_chips(struct cmd_context *context, const struct baseline *b, const char ***chip, size_t *count,
                             struct orch_error *error)
{
    struct chip_db *const db = cmd_chip_db(context, error);
    struct cmd_chips given = {0};
    if (!db || (context->common.chips_given && !cmd_chips_open(context, NULL, &given, error)))
        return false;
    const size_t most = context->common.chips_given ? given.count : chip_db_count(db);
    const char **const list = calloc(most + 1, sizeof *list);
    bool ok = list || orch_no_memory(error);
    for (size_t i = 0; ok && i < most; i++) {
        const char *id;
        ok = chip_db_resolve(db, context->common.chips_given ? chip_id(given.chip[i]) : chip_db_id(db, i), &id, error);
        if (ok && baseline_has_chip(b, id))
            list[(*count)++] = id;
    }
    cmd_chips_close(&given);
    *chip = list;
    return ok && (*count || orch_fail(error, ORCH_USAGE, "the baseline has none of these chips"));
}

static bool regression_page(struct cmd_context *context, const char *name, struct page **page, struct orch_error *error)
{
    const struct cli_common *const c = &context->common;
    struct baseline b = {0};
    const char **chip = NULL;
    size_t count = 0;
    bool ok = cmd_open_baseline(context, name, &b, error) && regression_chips(context, &b, &chip, &count, error);
    if (ok) {
        const struct regress_request request = {.chips = context->chip_db,
                                                .sets = {c->sets, c->set_count},
                                                .chip = chip,
                                                .chip_count = count,
                                                .threads = c->threads,
                                                .only = cli_value(&context->args, "only")};
        ok = report_regression(&request, &b, name, page, error);
    }
    free(chip);
    baseline_free(&b);
    return ok;
}

static bool make_page(struct cmd_context *context, struct orch_db *db, int argc, char **argv, struct page **page,
                      struct orch_error *error)
{
    if (cli_has(&context->args, "regression"))
        return regression_page(context, argc ? argv[0] : "default", page, error);
    if (cli_has(&context->args, "validation"))
        return report_validation(db, argc ? argv[0] : NULL, page, error);
    if (cli_has(&context->args, "sweep"))
        return argc ? orch_fail(error, ORCH_USAGE, "--sweep and runs are pages of their own")
                    : report_sweep(db, cli_value(&context->args, "sweep"), page, error);
    return runs_page(context, db, argc, argv, page, error);
}

/* The figure of that title; ORCH_USAGE with the nearest otherwise. */
static bool find_figure(const struct page *page, const char *title, size_t *index, struct orch_error *error)
{
    struct suggest nearest;
    char phrase[160];
    suggest_start(&nearest, title);
    for (*index = 0; page_picture_title(page, *index); ++*index) {
        if (strcmp(page_picture_title(page, *index), title) == 0)
            return true;
        suggest_offer(&nearest, page_picture_title(page, *index));
    }
    return orch_fail(error, ORCH_USAGE, "no figure '%.100s' on this page%s", title,
                     suggest_phrase(&nearest, phrase, sizeof phrase));
}

/* The page, or one figure of it. */
static bool write_page(struct cmd_context *context, struct page *page, struct orch_error *error)
{
    const char *const figure = cli_value(&context->args, "figure"), *const given = cli_value(&context->args, "output");
    const char *const path = given ? given : figure ? "report.svg" : "report.html";
    const bool standard = strcmp(path, "-") == 0;
    struct whole_file file = {.file = context->out};
    size_t index = 0;
    if ((figure && !find_figure(page, figure, &index, error)) || (!standard && !whole_file_open(&file, path, error)))
        return false;
    bool ok = figure ? page_write_picture(page, index, file.file) : page_write(page, file.file);
    ok = ok || orch_fail(error, ORCH_USAGE, "%.400s: cannot be written, or memory is short", path);
    if (standard)
        return ok;
    if (!ok)
        whole_file_discard(&file);
    ok = ok && whole_file_commit(&file, error);
    if (ok)
        cmd_note(context, "%s", path);
    return ok;
}

int cmd_report(struct cmd_context *context, int argc, char **argv)
{
    struct orch_error error = {0};
    struct page *page = NULL;
    struct orch_db *const db = cli_has(&context->args, "regression")
                                   ? NULL
                                   : db_open(context->common.db, DB_READ, &error); /* a baseline may be a file */
    const bool ok =
        error.exit_code == 0 && make_page(context, db, argc, argv, &page, &error) && write_page(context, page, &error);
    page_free(page);
    db_close(db);
    return ok ? ORCH_OK : cmd_fail(context, &error);
}
