/* The verb report: writes one self-contained HTML page about runs, a sweep, or the validation. */
#include "sim/api/verb_regress.h"
#include "sim/api/verb_report_claims.h"
#include "sim/api/write_page.h"
#include "sim/db/db.h"
#include "sim/listen/perfetto_listener.h"
#include "sim/report/report.h"
#include "sim/report/run_events.h"

#include <stdlib.h>
#include <string.h>

static const struct orchard_option option_table[] = {
    {"output", 'o', "FILE", false, "the page (default: report.html; with --claims none)"},
    {"perfetto", 0, "FILE", false, "also write the runs as a Chrome trace (JSON)"},
    {"figure", 0, "TITLE", false, "only this figure of the page, as SVG: 'Roofline', 'Temperature', ..."},
    {"sweep", 0, "ID", false, "a sweep: its number, name, beginning of its hash, or last"},
    {"regression", 0, NULL, false,
     "a baseline (a word after it names it) against the simulated chips of now: all, or those of --chip"},
    {"only", 0, "PREFIX", false,
     "regression: characteristics whose names begin so (amx., gpu.gemm); claims: those with this, or one of several between "
     "commas, in topic or text"},
    {"validation", 0, NULL, false,
     "predictions beside measurements; a word after it chooses a version or a file of measurements"},
    {"claims", 0, NULL, false,
     "what is claimed about these chips, asked anew: plausible or not, and why; takes minutes at first"},
    {0},
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

static bool runs_page(struct api_context *context, struct orch_db *db, int words, const char *const *word, struct page **page,
                      struct orch_error *error)
{
    const struct chip_db *const chips = api_chip_db(context, error);
    int64_t *const ids = calloc((size_t)words + 1, sizeof *ids);
    const size_t count = words ? (size_t)words : 1;
    bool ok = chips != NULL && (ids || orch_no_memory(error));
    for (size_t i = 0; ok && i < count; i++)
        ok = db_resolve_run(db, words ? word[i] : "last", &ids[i], error);
    const char *const trace = api_value(&context->args, "perfetto");
    ok = ok && (!trace || write_trace(db, trace, ids, count, error)) && report_runs(db, chips, ids, count, page, error);
    free(ids);
    return ok;
}

/* Chooses the chips of the option chip, or all chips, as far as the baseline knows them. */
static bool regression_chips(struct api_context *context, const struct baseline *b, const char ***chip, size_t *count,
                             struct orch_error *error)
{
    size_t asked = 0;
    if (!api_chip_ids(context, chip, &asked, error))
        return false;
    for (size_t i = 0; i < asked; i++)
        if (baseline_has_chip(b, (*chip)[i]))
            (*chip)[(*count)++] = (*chip)[i];
    return *count || orch_fail(error, ORCH_USAGE, "the baseline has none of these chips");
}

static bool regression_page(struct api_context *context, const char *name, struct page **page, struct orch_error *error)
{
    const struct api_common *const c = &context->common;
    struct baseline b = {0};
    const char **chip = NULL;
    size_t count = 0;
    bool ok = verb_open_baseline(context, name, &b, error) && regression_chips(context, &b, &chip, &count, error);
    if (ok) {
        const struct regress_request request = {.chips = context->chip_db,
                                                .sets = {c->sets, c->set_count},
                                                .chip = chip,
                                                .chip_count = count,
                                                .threads = c->threads,
                                                .only = api_value(&context->args, "only")};
        ok = report_regression(&request, &b, name, page, error);
    }
    free(chip);
    baseline_free(&b);
    return ok;
}

static bool make_page(struct api_context *context, struct orch_db *db, int words, const char *const *word, struct page **page,
                      struct orch_error *error)
{
    if (api_has(&context->args, "regression"))
        return regression_page(context, words ? word[0] : "default", page, error);
    if (api_has(&context->args, "claims"))
        return words ? orch_fail(error, ORCH_USAGE, ORCH_OPTION("claims") " takes no words")
                     : verb_report_claims(context, page, error);
    if (api_has(&context->args, "validation"))
        return report_validation(db, words ? word[0] : NULL, page, error);
    if (api_has(&context->args, "sweep"))
        return words ? orch_fail(error, ORCH_USAGE, ORCH_OPTION("sweep") " and runs are pages of their own")
                     : report_sweep(db, api_value(&context->args, "sweep"), page, error);
    return runs_page(context, db, words, word, page, error);
}

/* Claims are a table already: a page of them is written when it is asked for. */
static bool writes_page(const struct api_context *context)
{
    return !api_has(&context->args, "claims") || api_has(&context->args, "output") || api_has(&context->args, "figure");
}

static int ask(struct api_context *context, int words, const char *const *word)
{
    struct orch_error error = {0};
    struct page *page = NULL;
    struct orch_db *const db = api_has(&context->args, "regression") || api_has(&context->args, "claims")
                                   ? NULL
                                   : db_open(context->common.db, DB_READ, &error); /* a baseline may be a file */
    const bool ok = error.exit_code == 0 && make_page(context, db, words, word, &page, &error) &&
                    (!writes_page(context) || verb_write_page(context, page, "report", &error));
    page_free(page);
    db_close(db);
    return ok ? ORCH_OK : api_fail(context, &error);
}

const struct api_verb verb_report = {
    .help =
        {
            .name = "report",
            .synopsis = "[RUN...] [-o FILE.html]\n"
                        "--sweep ID [-o FILE.html]\n"
                        "--validation [VERSION|FILE] [-o FILE.html]\n"
                        "--regression [BASELINE] [-o FILE.html]\n"
                        "--claims [-o FILE.html]",
            .summary = "one self-contained HTML page to look at",
            .text = "Charts with a table under each, nothing loaded from anywhere. RUN is a number, the beginning of a uid, or "
                    "last (default);\n"
                    "several runs are shown side by side. --figure writes one picture as SVG instead. --regression measures the "
                    "chips anew.",
            .examples = "orchard report -o run.html\n"
                        "orchard report 1 2 -o both.html\n"
                        "orchard report 1 --figure Roofline -o roofline.svg\n"
                        "orchard report --sweep last -o sweep.html\n"
                        "orchard validate examples/measurements/mine.csv && orchard report --validation -o accuracy.html\n"
                        "orchard report --regression default --chip m1 -o moved.html\n"
                        "orchard report --claims --only microsecond -o claims.html\n"
                        "orchard report --claims --only ResNet-50,Whisper",
            .options = option_table,
        },
    .ask = ask,
};
