/* The verb regress: measures characteristics of all simulated chips, records them, and compares them with a baseline. */
#include "isa/array_count.h"
#include "sim/base/format.h"
#include "sim/base/json_out.h"
#include "sim/base/output_file.h"
#include "sim/base/table.h"
#include "sim/api/verb_regress.h"
#include "sim/prove/regress/compare.h"
#include "sim/run/run_version.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct orchard_option option_table[] = {
    {"only", 0, "PREFIX", false, "characteristics whose names begin so; several separated by commas (amx., gpu.gemm)"},
    {"output", 'o', "FILE", false, "record: write a text to commit instead of the database"},
    {"list", 0, NULL, false, "what is measured, how, and with which tolerance; nothing runs"},
    {0},
};

struct session {
    struct api_context *context;
    struct regress_request request;
    const char **chip; /* ids, owned */
    struct regress_job *jobs;
    size_t measured;
};

/* ---- what is measured ---- */

static const char *way_text(const struct regress_program *p)
{
    return p->way == REGRESS_KERNEL ? "kernel" : p->way == REGRESS_DEVICE ? "kernel, 600 s in a machine" : "loop";
}

static void list_metrics(struct api_context *context)
{
    static const struct table_column columns[] = {{"characteristic", NULL, false, 0},
                                                  {"unit", NULL, false, 0},
                                                  {"tolerance", "%", true, 0},
                                                  {"measured by", NULL, false, 0},
                                                  {"what runs", NULL, false, 70}};
    struct table *table = table_create(columns, ARRAY_COUNT(columns));
    struct regress_metric m;
    char tolerance[FORMAT_SIZE];
    for (size_t i = 0; regress_metric_at(i, &m); i++) {
        table_row(table);
        table_cell(table, "%s", m.name);
        table_cell(table, "%s", m.unit);
        table_cell(table, "%s", format_number(tolerance, 100 * m.tolerance, 3));
        table_cell(table, "%s", way_text(m.program));
        table_cell(table, "%s", m.program->what);
    }
    api_table(context, table);
}

/* ---- measuring ---- */

static void on_done(void *context, const struct regress_job *job)
{
    struct session *s = context;
    s->measured++;
    char line[160];
    snprintf(line, sizeof line, "%zu/%zu %s", s->measured, s->request.chip_count, job->chip);
    api_progress(s->context,
                 &(struct orchard_progress){line, NAN, (double)s->measured, (double)s->request.chip_count, NAN, NULL});
}

/* Chooses the chips of the option chip, or all of the database. */
static bool choose_chips(struct session *s, struct orch_error *error)
{
    const bool ok = api_chip_ids(s->context, &s->chip, &s->request.chip_count, error);
    s->request.chip = s->chip;
    s->request.chips = s->context->chip_db;
    return ok;
}

static void read_options(struct session *s)
{
    const struct api_common *c = &s->context->common;
    s->request.sets = (struct chip_overrides){c->sets, c->set_count};
    s->request.only = api_value(&s->context->args, "only");
    s->request.threads = c->threads;
    s->request.done = on_done;
    s->request.context = s;
}

/* ---- record ---- */

static bool write_text(const char *path, const struct baseline *b, struct orch_error *error)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    bool ok = out && baseline_write(b, out);
    ok = out && fclose(out) == 0 && ok;
    ok = ok ? output_file_write(path, text, size, error) : orch_no_memory(error);
    free(text);
    return ok;
}

static bool write_database(struct api_context *context, const char *name, const struct baseline *b, struct orch_error *error)
{
    struct orch_db *db = db_open(context->common.db, DB_WRITE, error);
    const bool ok = db && baseline_put(db, name, b, error);
    db_close(db);
    return ok;
}

static void tell_recorded(struct api_context *context, const char *where, const struct baseline *b, size_t chips)
{
    if (api_wants_document(context)) {
        json_object *document = json_object_new_object();
        json_add_text(document, "baseline", where);
        json_add_text(document, "version", b->version);
        json_add_count(document, "chips", chips);
        json_add_count(document, "values", b->values);
        json_add_count(document, "parameters", b->parameters);
        api_document(context, document);
    }
    if (api_wants_text(context))
        fprintf(context->out, "%s: %zu values of %zu chips, model version %s\n", where, b->values, chips, b->version);
}

static bool record(struct session *s, const char *name, struct orch_error *error)
{
    struct baseline b = {0};
    const char *path = api_value(&s->context->args, "output");
    bool ok =
        choose_chips(s, error) && regress_run(&s->request, &s->jobs, error) && regress_record(&s->request, s->jobs, &b, error);
    ok = ok && (path ? write_text(path, &b, error) : write_database(s->context, name, &b, error));
    if (ok)
        tell_recorded(s->context, path ? path : name, &b, s->request.chip_count);
    baseline_free(&b);
    return ok;
}

/* ---- check ---- */

static bool read_text(const char *path, struct baseline *b, struct orch_error *error)
{
    uint8_t *bytes = NULL;
    size_t size = 0;
    const bool ok = api_read_file(path, &bytes, &size, error) && baseline_read_text(b, path, (const char *)bytes, size, error);
    free(bytes);
    return ok;
}

/* The baseline that comes with orchard: beside the sources, or installed. */
static const char *shipped(void)
{
    static const char *const places[] = {ORCHARD_SOURCE_DIR "/sim/prove/regress/default.baseline",
                                         ORCHARD_DATA_DIR "/default.baseline"};
    for (size_t i = 0; i < ARRAY_COUNT(places); i++)
        if (access(places[i], R_OK) == 0)
            return places[i];
    return NULL;
}

bool verb_open_baseline(struct api_context *context, const char *name, struct baseline *b, struct orch_error *error)
{
    bool found = false;
    if (strchr(name, '/') || access(name, F_OK) == 0)
        return read_text(name, b, error);
    struct orch_db *db = db_open(context->common.db, DB_WRITE, error);
    bool ok = db && (baseline_get(db, name, b, &found, error) || (error->exit_code == 0 && !found));
    if (ok && !found) {
        const char *path = strcmp(name, "default") == 0 ? shipped() : NULL;
        ok = path ? read_text(path, b, error) : baseline_unknown(db, name, error);
        if (ok)
            api_note(context, "no baseline '%s' was recorded here: %s is used", name, path);
    }
    db_close(db);
    return ok;
}

/* Skips chips that the baseline does not know, with one line for each. */
static void leave_out_unknown(struct session *s, const struct baseline *b, struct check_report *report)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->request.chip_count; i++) {
        if (baseline_has_chip(b, s->chip[i]))
            s->chip[kept++] = s->chip[i];
        else
            check_skip(report, "%s: not in the baseline", s->chip[i]);
    }
    s->request.chip_count = kept;
}

static void print_moved(struct api_context *context, const struct regress_comparison *r)
{
    static const struct table_column columns[] = {
        {"chip", NULL, false, 0}, {"characteristic", NULL, false, 0}, {"unit", NULL, false, 0},    {"before", NULL, true, 0},
        {"after", NULL, true, 0}, {"change", "%", true, 0},           {"tolerance", "%", true, 0}, {"cause", NULL, false, 120}};
    if (!r->moved_count)
        return;
    struct table *const table = table_create(columns, ARRAY_COUNT(columns));
    char text[FORMAT_SIZE];
    for (size_t i = 0; i < r->moved_count; i++) {
        const struct regress_moved *m = &r->moved[i];
        const bool modelled = isfinite(m->after);
        table_row(table);
        table_cell(table, "%s", m->chip);
        table_cell(table, "%s", m->metric.name);
        table_cell(table, "%s", m->metric.unit);
        table_cell(table, "%s", format_number(text, m->before, 6));
        table_cell(table, "%s", modelled ? format_number(text, m->after, 6) : "not modelled");
        table_cell(table, modelled ? "%+.2f" : "-", 100 * (m->after / m->before - 1));
        table_cell(table, "%s", format_number(text, 100 * m->metric.tolerance, 3));
        table_cell(table, "%s", m->cause);
    }
    api_table(context, table);
}

static json_object *moved_json(const struct regress_comparison *r)
{
    json_object *list = json_object_new_array();
    for (size_t i = 0; i < r->moved_count; i++) {
        const struct regress_moved *m = &r->moved[i];
        json_object *o = json_object_new_object();
        json_add_text(o, "chip", m->chip);
        json_add_text(o, "characteristic", m->metric.name);
        json_add_text(o, "unit", m->metric.unit);
        json_add_number(o, "before", m->before);
        json_add_number(o, "after", m->after);
        json_add_number(o, "change", m->after / m->before - 1);
        json_add_number(o, "tolerance", m->metric.tolerance);
        json_add_text(o, "why", isfinite(m->after) ? NULL : m->why);
        json_add_text(o, "cause", m->cause);
        json_object_array_add(list, o);
    }
    return list;
}

static void give_comparison(struct api_context *context, const struct baseline *b, const struct regress_comparison *r)
{
    json_object *document = check_report_json(&r->report);
    json_add_text(document, "version", run_model_version());
    json_add_text(document, "version_of_baseline", b->version);
    json_object_object_add(document, "moved", moved_json(r));
    api_document(context, document);
}

static void print_comparison(struct api_context *context, const struct regress_comparison *r)
{
    print_moved(context, r);
    /* The table has shown what moved; here is the rest. */
    for (size_t i = 0; i < r->report.failures.count; i++)
        if (i >= r->moved_count)
            fprintf(context->out, "FAILED %s\n", r->report.failures.text[i]);
    for (size_t i = 0; i < r->report.skips.count; i++)
        fprintf(context->out, "skipped %s\n", r->report.skips.text[i]);
    check_print_closing(&r->report, context->out);
}

static bool check(struct session *s, const char *name, bool *holds, struct orch_error *error)
{
    struct baseline b = {0};
    struct regress_comparison comparison = {0};
    bool ok = verb_open_baseline(s->context, name, &b, error) && choose_chips(s, error);
    if (ok)
        leave_out_unknown(s, &b, &comparison.report);
    const size_t chips = s->request.chip_count;
    if (ok && !chips)
        ok = orch_fail(error, ORCH_USAGE, "the baseline has none of these chips");
    ok = ok && regress_run(&s->request, &s->jobs, error) && regress_compare(&s->request, s->jobs, &b, &comparison, error);
    if (ok && api_wants_document(s->context))
        give_comparison(s->context, &b, &comparison);
    if (ok && api_wants_text(s->context))
        print_comparison(s->context, &comparison);
    *holds = check_holds(&comparison.report);
    regress_comparison_free(&comparison);
    baseline_free(&b);
    return ok;
}

static int ask(struct api_context *context, int words, const char *const *word)
{
    struct session s = {.context = context};
    struct orch_error error = {0};
    const char *name = words > 1 ? word[1] : "default";
    bool ok, holds = true;
    unsigned form;
    if (api_has(&context->args, "list")) {
        list_metrics(context);
        return ORCH_OK;
    }
    if (words < 1 || words > 2)
        return api_usage(context, words ? "one baseline, got '%s' and more" : "record or check?%s", words ? word[1] : "");
    if (!api_choice("regress", word[0], "record|check", &form, &error))
        return api_fail(context, &error);
    read_options(&s);
    ok = form == 0 ? record(&s, name, &error) : check(&s, name, &holds, &error);
    regress_jobs_free(s.jobs);
    free(s.chip);
    if (!ok)
        return api_fail(context, &error);
    return holds ? ORCH_OK : ORCH_FAILED;
}

const struct api_verb verb_regress = {
    .help =
        {
            .name = "regress",
            .synopsis = "record [NAME] [-o FILE]\n"
                        "check [NAME|FILE]\n"
                        "--list",
            .summary = "what the simulated chips do, recorded and compared",
            .text =
                "Measures characteristics (peaks, latencies, bandwidths, kernels, energies, temperatures) of all chips, or of "
                "those of --chip, by\n"
                "running microbenchmarks and kernels. check compares with a baseline: what moved by more than its tolerance, and "
                "which value of\n"
                "the chip or version of the model did it. The baseline `default` comes with orchard until another is recorded.",
            .examples = "orchard regress record before-my-change --only amx. --chip m1\n"
                        "orchard regress check before-my-change --only amx. --chip m1",
            .options = option_table,
        },
    .ask = ask,
};
