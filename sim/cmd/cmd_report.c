/* orchard report: one self-contained HTML page about runs, a sweep, or the validation. */
#include "sim/cli/suggest.h"
#include "sim/cmd/cmd.h"
#include "sim/db/db.h"
#include "sim/report/report.h"
#include "sim/whole_file.h"

#include <stdlib.h>
#include <string.h>

const struct cli_option cmd_report_options[] = {
    {"output", 'o', "FILE", false, "the page (default: report.html)"},
    {"figure", 0, "TITLE", false, "only this figure of the page, as SVG: 'Roofline', 'Temperature', ..."},
    {"sweep", 0, "ID", false, "a sweep: its number, name, beginning of its hash, or last"},
    {"validation", 0, NULL, false, "predictions beside measurements; a word after it chooses a version or a file of measurements"},
    {NULL, 0, NULL, false, NULL},
};

static bool runs_page(struct cmd_context *context, struct orch_db *db, int argc, char **argv, struct page **page, struct orch_error *error)
{
    const struct chip_db *const chips = cmd_chip_db(context, error);
    int64_t *const ids = calloc((size_t)argc + 1, sizeof *ids);
    const size_t count = argc ? (size_t)argc : 1;
    bool ok = chips != NULL && (ids || orch_fail(error, ORCH_INTERNAL, "out of memory"));
    for (size_t i = 0; ok && i < count; i++)
        ok = db_resolve_run(db, argc ? argv[i] : "last", &ids[i], error);
    ok = ok && report_runs(db, chips, ids, count, page, error);
    free(ids);
    return ok;
}

static bool make_page(struct cmd_context *context, struct orch_db *db, int argc, char **argv, struct page **page, struct orch_error *error)
{
    if (cli_has(&context->args, "validation"))
        return report_validation(db, argc ? argv[0] : NULL, page, error);
    if (cli_has(&context->args, "sweep"))
        return argc ? orch_fail(error, ORCH_USAGE, "--sweep and runs are pages of their own") : report_sweep(db, cli_value(&context->args, "sweep"), page, error);
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
    return orch_fail(error, ORCH_USAGE, "no figure '%.100s' on this page%s", title, suggest_phrase(&nearest, phrase, sizeof phrase));
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
    struct orch_db *const db = db_open(context->common.db, DB_READ, &error);
    const bool ok = db && make_page(context, db, argc, argv, &page, &error) && write_page(context, page, &error);
    page_free(page);
    db_close(db);
    return ok ? ORCH_OK : cmd_fail(context, &error);
}
