/* The verb calibrate: fits guessed parameters to published measurements and keeps the result as a named set. */
#include "isa/array_count.h"
#include "sim/prove/calibrate/calibrate.h"
#include "sim/base/format.h"
#include "sim/base/json_out.h"
#include "sim/base/table.h"
#include "sim/api/api.h"
#include "sim/db/db.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct orchard_option option_table[] = {
    {"vary", 0, "KEY", true, "a parameter to move; repeat for more"},
    {"rows", 0, "ID,...", false, "only these rows of the table (ids as in orchard validate --json)"},
    {"max", 0, "N", false, "at most so many rows, evenly spread over the table (default: all)"},
    {"folds", 0, "K", false, "of the cross-validation (default 3; 0 = none)"},
    {"folds-by", 0, "WHAT", false, "source (default, when there are as many as folds) or row"},
    {"save", 0, "NAME", false, "name of the set (default calibrated-FILE)"},
    {"dry-run", 0, NULL, false, "only show the result"},
    {"keys", 0, NULL, false, "list what may be varied on --chip, with bounds; nothing runs"},
    {0},
};

/* ---- what may be varied ---- */

static void list_keys(const struct chip *chip, struct table *table)
{
    for (size_t i = 0; i < chip_key_count(); i++) {
        const struct chip_value *const v = chip_value_at(chip, i);
        struct calibrate_bounds b;
        char why[200];
        if (!v || !calibrate_tunable(v, &b, why, sizeof why))
            continue;
        table_row(table);
        table_cell(table, "%s", chip_id(chip));
        table_cell(table, "%s", v->key->name);
        table_cell(table, "%s", v->json);
        table_cell(table, "%s", format_unit(v->key->unit));
        table_cell(table, "%s", chip_kind_name(v->kind));
        table_cell(table, "%.3g", exp(b.low));
        table_cell(table, "%.3g", exp(b.high));
    }
}

static bool print_keys(struct api_context *context, struct orch_error *error)
{
    static const struct table_column columns[] = {{"chip", NULL, false, 0}, {"key", NULL, false, 0},  {"value", NULL, true, 30},
                                                  {"unit", NULL, false, 0}, {"kind", NULL, false, 0}, {"from", "x", true, 0},
                                                  {"to", "x", true, 0}};
    struct api_chips chips;
    if (!api_chips_open(context, NULL, &chips, error))
        return false;
    struct table *const table = table_create(columns, ARRAY_COUNT(columns));
    for (size_t i = 0; i < chips.count; i++)
        list_keys(chips.chip[i], table);
    api_table(context, table);
    api_chips_close(&chips);
    return true;
}

/* ---- the result ---- */

static void print_parameters(struct api_context *context, const struct calibrate_request *q, const struct calibrate_result *r)
{
    static const struct table_column columns[] = {{"parameter", NULL, false, 0}, {"factor", NULL, true, 0}, {"+-", "%", true, 0},
                                                  {"from", "x", true, 0},        {"to", "x", true, 0},      {"", NULL, false, 0}};
    struct table *const table = table_create(columns, ARRAY_COUNT(columns));
    for (size_t k = 0; k < r->keys; k++) {
        table_row(table);
        table_cell(table, "%s", q->key[k]);
        table_cell(table, "%.4f", r->factor[k]);
        table_cell(table, "%.2f", 100 * r->log_error[k]);
        table_cell(table, "%.3f", exp(r->bounds[k].low));
        table_cell(table, "%.3f", exp(r->bounds[k].high));
        table_cell(table, "%s", r->at_bound[k] ? "at its bound: the rows want more than is plausible" : "");
    }
    api_table(context, table);
}

static void print_errors(struct api_context *context, const struct calibrate_result *r)
{
    static const struct table_column columns[] = {{"error", NULL, false, 0},
                                                  {"MAPE before", "%", true, 0},
                                                  {"after", "%", true, 0},
                                                  {"rms of ln, before", NULL, true, 0},
                                                  {"after", NULL, true, 0}};
    const struct {
        const char *name;
        const struct calibrate_score *before, *after;
    } lines[] = {{"all rows", &r->before, &r->after},
                 {"in the folds", &r->before, &r->in_fold},
                 {"out of the folds", &r->out_before, &r->out_of_fold}};
    struct table *const table = table_create(columns, ARRAY_COUNT(columns));
    for (unsigned i = 0; i < (r->folds ? 3U : 1U); i++) {
        table_row(table);
        table_cell(table, "%s", lines[i].name);
        table_cell(table, "%.2f", 100 * lines[i].before->mape);
        table_cell(table, "%.2f", 100 * lines[i].after->mape);
        table_cell(table, "%.4f", lines[i].before->rms_log);
        table_cell(table, "%.4f", lines[i].after->rms_log);
    }
    api_table(context, table);
}

static void print_text(struct api_context *context, const struct calibrate_request *q, const struct calibrate_result *r,
                       const char *name)
{
    fprintf(context->out,
            "%s: %zu rows fitted of %zu (%zu name no chip of the database, %zu not modelled), %u chip%s, %zu evaluations\n\n",
            q->name, r->rows, r->given, r->no_chip, r->unmodelled, r->chips, r->chips == 1 ? "" : "s", r->evaluations);
    print_parameters(context, q, r);
    fputc('\n', context->out);
    print_errors(context, r);
    if (r->folds)
        fprintf(context->out, "\n%u folds by %s. Condition number %.3g.\n", r->folds, r->folds_by_source ? "source" : "row",
                r->condition);
    if (r->folds && r->out_of_fold.rms_log > r->out_before.rms_log)
        fprintf(context->out, "Rows that were not fitted are predicted worse than before: the set does not carry over.\n");
    if (name)
        fprintf(context->out, "Saved as %s: orchard run ... --fitted %s\n", name, name);
}

static void give_document(struct api_context *context, json_object *body, const struct calibrate_result *r, const char *name)
{
    json_object *const document = json_object_new_object();
    json_add_text(document, "saved_as", name);
    json_add_count(document, "rows", r->rows);
    json_add_count(document, "given", r->given);
    json_add_count(document, "no_chip", r->no_chip);
    json_add_count(document, "unmodelled", r->unmodelled);
    json_add_count(document, "evaluations", r->evaluations);
    json_object_object_add(document, "set", json_object_get(body));
    api_document(context, document);
}

/* ---- the verb ---- */

static void on_evaluated(void *context, size_t evaluations)
{
    char line[64];
    snprintf(line, sizeof line, "%zu evaluations", evaluations);
    api_progress(context, &(struct orchard_progress){line, NAN, (double)evaluations, 0, NAN, NULL});
}

static bool read_request(struct api_context *context, struct calibrate_request *q, const char **keys, struct orch_error *error)
{
    const struct api_args *const a = &context->args;
    uint64_t most = 0, folds = 3;
    unsigned choice = 0;
    if (!api_unsigned(a, "max", 1, 1000000, &most, error) || !api_unsigned(a, "folds", 0, 20, &folds, error) ||
        !api_chosen(a, "folds-by", "source|row", &choice, error))
        return false;
    if (folds == 1)
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("folds") " 1: two at least, or 0 for none");
    for (size_t i = 0; i < api_count(a, "vary") && i < CALIBRATE_KEYS; i++)
        keys[i] = api_value_at(a, "vary", i);
    q->sets = (struct chip_overrides){context->common.sets, context->common.set_count};
    q->rows = api_value(a, "rows");
    q->most = most;
    q->key = keys;
    q->keys = api_count(a, "vary");
    q->folds = (unsigned)folds;
    q->folds_by_row = choice == 1;
    q->threads = context->common.threads;
    q->evaluated = on_evaluated;
    q->context = context;
    q->chips = api_chip_db(context, error);
    return q->chips != NULL;
}

static bool save(struct api_context *context, const char *name, json_object *body, struct orch_error *error)
{
    struct orch_db *const db = db_open(context->common.db, DB_WRITE, error);
    const bool ok =
        db && db_put_fitted_set(db, name, "calibrated", json_object_to_json_string_ext(body, JSON_C_TO_STRING_PLAIN), error);
    db_close(db);
    return ok;
}

static bool calibrate(struct api_context *context, const char *path, struct orch_error *error)
{
    const char *keys[CALIBRATE_KEYS], *ids[CALIBRATE_CHIPS], *name = api_value(&context->args, "save");
    const char *const base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    struct calibrate_request q = {.name = path};
    struct calibrate_result result = {0};
    char usual_name[128];
    uint8_t *bytes = NULL;
    struct api_chips chips = {0};
    snprintf(usual_name, sizeof usual_name, "calibrated-%.*s", (int)strcspn(base, "."), base);
    name = api_has(&context->args, "dry-run") ? NULL : name ? name : usual_name;
    bool ok = read_request(context, &q, keys, error) && api_read_file(path, &bytes, &q.size, error);
    if (ok && context->common.chips_given)
        ok = api_chips_open(context, NULL, &chips, error);
    for (; ok && q.chip_count < chips.count && q.chip_count < CALIBRATE_CHIPS; q.chip_count++)
        ids[q.chip_count] = chip_id(chips.chip[q.chip_count]);
    q.chip = ids;
    q.text = (const char *)bytes;
    ok = ok && calibrate_run(&q, &result, error);
    json_object *const body = ok ? calibrate_body(&q, &result, error) : NULL;
    ok = body && (!name || save(context, name, body, error));
    if (ok && api_wants_document(context))
        give_document(context, body, &result, name);
    if (ok && api_wants_text(context))
        print_text(context, &q, &result, name);
    json_object_put(body);
    calibrate_result_free(&result);
    api_chips_close(&chips);
    free(bytes);
    return ok;
}

static int ask(struct api_context *context, int words, const char *const *word)
{
    struct orch_error error = {0};
    if (api_has(&context->args, "keys"))
        return print_keys(context, &error) ? ORCH_OK : api_fail(context, &error);
    if (words != 1)
        return api_usage(
            context, words ? "one table of measurements, got '%s' and more" : "a table of measurements is missing (FILE.csv)%s",
            words ? word[0] : "");
    if (!api_count(&context->args, "vary"))
        return api_usage(context,
                         ORCH_OPTION("vary") " KEY is missing: which parameters may move (orchard calibrate " ORCH_OPTION(
                             "keys") " lists them)");
    return calibrate(context, word[0], &error) ? ORCH_OK : api_fail(context, &error);
}

const struct api_verb verb_calibrate = {
    .help =
        {
            .name = "calibrate",
            .synopsis = "FILE.csv --vary KEY [--vary KEY...] [options]\n"
                        "--keys [--chip ID]",
            .summary = "moves guessed parameters until measurements are predicted better",
            .text =
                "Least squares on the logarithm of predicted over measured, within what is known of each parameter (three "
                "standard deviations);\n"
                "only guesses, fitted and inferred values may be varied. Refuses, by name, parameters that the rows do not tell "
                "apart. Errors are given in\n"
                "and out of the folds of a cross-validation. --chip fits rows of those chips only. Runs use the result only "
                "with --fitted NAME.",
            .examples = "orchard calibrate --keys --chip m1-max\n"
                        "orchard calibrate examples/measurements/loops.csv --vary amx.z_latency_cycles --max 2\n"
                        "orchard run gemm:512x512x512 --chip m1-max --fitted calibrated-loops",
            .options = option_table,
        },
    .ask = ask,
};
