/* The verb validate: runs the programs that published measurements describe, and scores the model against them. */
#include "isa/ane/ane_program.h"
#include "isa/array_count.h"
#include "sim/base/output_file.h"
#include "sim/base/host_time.h"
#include "sim/base/json_out.h"
#include "sim/base/table.h"
#include "sim/api/api.h"
#include "sim/api/verb_validate_curve.h"
#include "sim/prove/validate/jobs.h"
#include "sim/prove/validate/recipe.h"
#include "sim/prove/validate/record.h"
#include "sim/prove/validate/require.h"
#include "sim/prove/validate/tables.h"
#include "sim/prove/validate/validate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct orchard_option option_table[] = {
    {"group-by", 0, "COLS", false,
     "columns that make a group, separated by commas; also chip, file, level, part (unit), work, framework (whose kernels)"},
    {"jobs", 0, "N", false, "rows at the same time (default: all cores of this host); the answer is the same for any N"},
    {"markdown", 0, NULL, false, "the table of accuracy by file and unit, for a README"},
    {"own-kernels", 0, NULL, false,
     "rows of MLX and PyTorch run orchard's own kernels (default: kernels after their framework's, in the version of their "
     "table)"},
    {"language", 0, NULL, false,
     "rows of whole language models as well (llama.cpp): minutes of processor time for each chip and format"},
    {"every", 0, "N", false, "only the first of every N rows of each table: a quick look at all kinds of rows"},
    {"fitted", 0, NULL, false, "print each value that was taken from measured rows or chosen over them, with these rows"},
    {"template", 0, NULL, false, "print a table without rows, for measurements of one's own"},
    {"columns", 0, NULL, false, "print what each of its columns means, with unit and allowed values; nothing runs"},
    {"history", 0, NULL, false, "scores recorded so far, by version; FILE: of this table only"},
    {"require", 0, "BOUNDS", false, "exit 1 unless the score keeps them: 'mape<0.2,within25>0.6'"},
    {"dump", 0, "ID", false,
     "print the orchard run commands that give this row's number instead of scoring; programs that no library has are written "
     "as well: an ELF file, loops of the GPU as assembler text, the Neural Engine's as descriptors"},
    {"measure-overheads", 0, NULL, false,
     "write what frameworks take beside the device, by the rows that measure it, as lines of sim/prove/validate/overheads.inc"},
    {"fit-residuals", 0, NULL, false,
     "write how far these rows are from hardware, by kind of work, as lines of sim/run/residuals.inc"},
    {"residuals", 0, "FILE", false, "write these lines into FILE and the scores where they always go: one run for both"},
    {"output", 'o', "FILE", false, "where --dump writes a program (default: the row's id with .elf, .s or .ane)"},
    {"device", 0, "NAME", false, "for curves of a machine (time_s,soc_power_W,soc_temp_C): which one (default macbook-air)"},
    {"csv", 0, NULL, false, "a table on standard output (RFC 4180): a row for each measurement"},
    {0},
};

/* ---- the program of a row, and the commands that give its number ---- */

static bool write_program(struct api_context *context, const struct validation *v, const char *id,
                          const struct chip_overrides *overrides, const char *path, struct orch_error *error)
{
    size_t bytes;
    uint8_t *const file = validation_dump(v, id, context->chip_db, overrides, &bytes, error);
    if (!file)
        return false;
    const bool elf = bytes > 4 && memcmp(file, "\177ELF", 4) == 0, ane = !elf && ane_program_recognise(file, bytes);
    const bool ok = output_file_write(path, file, bytes, error);
    if (ok)
        api_note(context, "%s: %zu bytes%s%s%s", path, bytes,
                 elf   ? "; orchard isa disasm a64 "
                 : ane ? "; orchard isa disasm ane "
                       : " of assembler text",
                 elf || ane ? path : "", elf || ane ? " shows it" : "");
    free(file);
    return ok;
}

static void give_recipe(struct api_context *context, const char *id, const struct validate_recipe *r)
{
    json_object *const document = json_object_new_object(), *const runs = json_object_new_array();
    json_add_text(document, "id", id);
    for (unsigned i = 0; i < r->runs; i++) {
        json_object *const run = json_object_new_object();
        json_add_text(run, "command", r->run[i].command);
        json_add_text(run, "takes", r->run[i].takes);
        json_add_number(run, "times", r->run[i].times);
        json_add_number(run, "device_times", r->run[i].more);
        json_object_array_add(runs, run);
    }
    json_object_object_add(document, "runs", runs);
    json_add_text(document, "file", *r->file ? r->file : NULL);
    json_add_text(document, "framework", *r->framework ? r->framework : NULL);
    json_add_number(document, "framework_seconds", r->framework_seconds);
    json_add_text(document, "value", r->value);
    api_document(context, document);
}

static void print_recipe(struct api_context *context, const char *id, const struct validate_recipe *r)
{
    char sum[512];
    for (unsigned i = 0; i < r->runs; i++)
        fprintf(context->out, "%s\n", r->run[i].command);
    validate_recipe_sum(r, sum, sizeof sum);
    if (!r->runs) {
        api_note(context, "%s: no command gives its number: %s", id,
                 r->several ? r->value
                 : *r->file ? "it is the difference of two launches of the program"
                            : "it is a chip that waits");
        return;
    }
    api_note(context, "%s: %s", id, sum);
    if (*r->framework)
        api_note(context, "%s adds %.6g s to it (measured by rows of its own)", r->framework, r->framework_seconds);
    api_note(context, "its number: %s", r->value);
}

static bool dump(struct api_context *context, const struct validation *v, const char *id, struct orch_error *error)
{
    struct validate_recipe r = {.runs = 0};
    const struct chip_overrides overrides = {context->common.sets, context->common.set_count};
    const struct chip_db *const db = api_chip_db(context, error);
    const bool ok = db && validation_recipe(v, id, db, &overrides, api_value(&context->args, "output"), &r, error) &&
                    (!*r.file || write_program(context, v, id, &overrides, r.file, error));
    if (ok && api_wants_document(context))
        give_recipe(context, id, &r);
    if (ok && api_wants_text(context))
        print_recipe(context, id, &r);
    validate_recipe_free(&r);
    return ok;
}

/* ---- scoring ---- */

static bool record(struct api_context *context, const struct validation *v, const char *version, struct orch_error *error)
{
    struct orch_db *db = db_open(context->common.db, DB_WRITE, error);
    const bool ok = db && validation_record(v, db, version, error);
    db_close(db);
    return ok;
}

static bool give_document(struct api_context *context, const struct validation *v, struct verb_curves *curves,
                          const char *version, struct orch_error *error)
{
    json_object *document = validation_json(v, api_value(&context->args, "group-by"), error),
                *residuals = document ? validation_residuals_json(v, error) : NULL;
    if (!residuals) {
        json_object_put(document);
        return false;
    }
    json_object_object_add(document, "residuals", residuals);
    json_add_text(document, "version", version);
    if (curves->count)
        json_object_object_add(document, "curves", verb_curves_json(curves));
    api_document(context, document);
    return true;
}

static bool print(struct api_context *context, const struct validation *v, struct verb_curves *curves, const char *version,
                  struct orch_error *error)
{
    const char *const group_by = api_value(&context->args, "group-by"), *const revision = context->session->revision;
    char made_by[160];
    snprintf(made_by, sizeof made_by, "orchard %.90s (%s)", version, revision ? revision : "unknown revision");
    if (!(api_has(&context->args, "markdown") ? validation_write_markdown(v, made_by, context->out, error)
                                              : validation_write_text(v, group_by, context->out, error)))
        return false;
    verb_curves_print(curves, context->out);
    return true;
}

struct watch {
    struct api_context *context;
    double began_s;
};

static void tell(void *context, size_t done, size_t rows)
{
    const struct watch *const w = context;
    const double passed_s = host_seconds() - w->began_s;
    char line[160];
    snprintf(line, sizeof line, "validate: %zu of %zu rows (%.0f %%)", done, rows, 100.0 * (double)done / (double)rows);
    api_progress(w->context, &(struct orchard_progress){line, NAN, (double)done, (double)rows, passed_s, NULL});
}

static bool simulate(struct api_context *context, struct validation *v, const struct chip_db *db,
                     const struct chip_overrides *overrides, unsigned jobs, struct orch_error *error)
{
    struct watch watch = {context, host_seconds()};
    const bool ok = validation_simulate(v, chip_db_folder(db), overrides, jobs, &(struct validate_listener){tell, &watch}, error);
    api_progress(context, &(struct orchard_progress){.fraction = NAN, .host_seconds = NAN});
    return ok;
}

static bool write_residuals(struct api_context *context, const struct validation *v, struct orch_error *error)
{
    const char *const path = api_value(&context->args, "residuals");
    struct output_file *const file = path ? output_file_open(path, OUTPUT_DURABLE, error) : NULL;
    if (!file)
        return !path;
    if (validation_fit_residuals(v, output_file_stream(file), error))
        return output_file_commit(file, error);
    output_file_discard(file);
    return false;
}

/* Asked before hours of work, not behind them. */
static bool may_write_residuals(struct api_context *context, struct orch_error *error)
{
    const char *const path = api_value(&context->args, "residuals");
    struct output_file *const file = path ? output_file_open(path, OUTPUT_PLAIN, error) : NULL;
    output_file_discard(file);
    return file || !path;
}

static bool score(struct api_context *context, struct validation *v, struct verb_curves *curves, struct orch_error *error)
{
    const struct chip_overrides overrides = {context->common.sets, context->common.set_count};
    uint64_t jobs, every = 1;
    char version[VALIDATION_VERSION_SIZE];
    const char *bounds = api_value(&context->args, "require");
    struct chip_db *db = api_chip_db(context, error);
    if (!db || !validation_check_groups(v, api_value(&context->args, "group-by"), error) ||
        !api_jobs(&context->args, VALIDATION_JOBS_MAX, &jobs, error) ||
        !api_unsigned(&context->args, "every", 1, UINT32_MAX, &every, error) ||
        !validation_version(db, &overrides, version, error) || !may_write_residuals(context, error))
        return false;
    /* A part of a table has no place in its history, nor have answers of other kernels. */
    const bool partial = every > 1 || api_has(&context->args, "own-kernels") || api_has(&context->args, "language");
    validation_keep_every(v, every);
    if (!simulate(context, v, db, &overrides, (unsigned)jobs, error) || !validation_cross_validate(v, error) ||
        !write_residuals(context, v, error))
        return false;
    if (api_has(&context->args, "measure-overheads"))
        return validation_measure_overheads(v, context->out, error);
    if (api_has(&context->args, "fit-residuals"))
        return validation_fit_residuals(v, context->out, error);
    return (!api_wants_document(context) || give_document(context, v, curves, version, error)) &&
           (!api_wants_text(context) || print(context, v, curves, version, error)) &&
           (partial || record(context, v, version, error)) && (!bounds || validation_require(v, bounds, error));
}

static bool list_fitted(struct api_context *context, struct validation *v, struct orch_error *error)
{
    const struct chip_db *const db = api_chip_db(context, error);
    if (!db || !validation_find_fitted(v, db, error))
        return false;
    if (api_wants_document(context))
        api_document(context, validation_fitted_json(v));
    if (api_wants_text(context))
        validation_write_fitted(v, context->out);
    return true;
}

static bool history(struct api_context *context, const char *file, struct orch_error *error)
{
    const char *slash = file ? strrchr(file, '/') : NULL;
    const char *name = slash ? slash + 1 : file;
    struct orch_db *db = db_open(context->common.db, DB_EXISTING, error);
    bool ok = db != NULL;
    if (ok && api_wants_document(context)) {
        json_object *const document = validation_history_json(db, name, error);
        ok = document != NULL;
        if (ok)
            api_document(context, document);
    }
    if (ok && api_wants_text(context))
        ok = validation_history_text(db, name, context->out, error);
    db_close(db);
    return ok;
}

/* Adds tables of measurements and curves of machines, which may come in any order. */
static bool add_files(struct api_context *context, int count, const char *const *path, struct validation *v,
                      struct verb_curves *curves, struct orch_error *error)
{
    bool ok = true;
    for (int i = 0; ok && i < count; i++)
        ok = verb_is_curve(path[i]) ? verb_curves_add(context, path[i], curves, error) : validation_add_file(v, path[i], error);
    return ok;
}

/* The tables that come with orchard; and, for a whole score, the curve of a machine that comes with it. */
static bool add_shipped(struct api_context *context, struct validation *v, struct verb_curves *curves, struct orch_error *error)
{
    static const char *const parts[] = {"dump", "fitted", "every", "measure-overheads", "fit-residuals"};
    bool whole = true;
    for (size_t i = 0; i < ARRAY_COUNT(parts); i++)
        whole = whole && !api_has(&context->args, parts[i]);
    if (!validation_add_shipped(v, error))
        return false;
    char *const path = whole ? validation_shipped_path("curve-macbook-air-m1.csv", error) : NULL;
    const bool ok = !whole || (path && verb_curves_add(context, path, curves, error));
    free(path);
    return ok;
}

/* Names the rows that could not be read, all but very many of them. */
static void tell_skipped(struct api_context *context, const struct validation *v)
{
    enum { SHOWN = 50 };
    const size_t count = validation_skipped(v);
    char text[400];
    for (size_t i = 0; i < count && i < SHOWN; i++) {
        validation_skipped_say(v, i, text, sizeof text);
        api_warn(context, "%s", text);
    }
    if (count > SHOWN)
        api_warn(context, "%zu more rows like these; " ORCH_OPTION("json") " lists all", count - SHOWN);
}

/* ---- tables of one's own ---- */

static void tell_columns(struct api_context *context)
{
    static const struct table_column columns[] = {
        {"column", NULL, false, 0}, {"unit", NULL, false, 0}, {"values", NULL, false, 0}, {"meaning", NULL, false, 0}};
    const struct validation_column *c;
    json_object *const document = json_object_new_array();
    struct table *const table = table_create(columns, ARRAY_COUNT(columns));
    for (size_t i = 0; (c = validation_column_at(i)); i++) {
        json_object *const o = json_object_new_object();
        json_add_text(o, "name", c->name);
        json_add_text(o, "unit", *c->unit ? c->unit : NULL);
        json_add_text(o, "values", c->values);
        json_add_text(o, "text", c->text);
        json_object_array_add(document, o);
        table_row(table);
        table_cell(table, "%s", c->name);
        table_cell(table, "%s", c->unit);
        table_cell(table, "%s", c->values);
        table_cell(table, "%s", c->text);
    }
    if (api_wants_text(context))
        api_table(context, table);
    else
        table_free(table);
    if (api_wants_document(context))
        api_document(context, document);
    else
        json_object_put(document);
}

static int ask(struct api_context *context, int words, const char *const *word)
{
    struct orch_error error = {0};
    struct verb_curves curves = {0};
    if (api_has(&context->args, "history"))
        return words > 1 ? api_usage(context, ORCH_OPTION("history") " is of one table, or of all")
               : history(context, words ? word[0] : NULL, &error) ? ORCH_OK
                                                                  : api_fail(context, &error);
    if (api_has(&context->args, "template")) {
        validation_write_template(context->out);
        return ORCH_OK;
    }
    if (api_has(&context->args, "columns")) {
        tell_columns(context);
        return ORCH_OK;
    }
    struct validation *v = validation_create();
    bool ok = v || orch_no_memory(&error);
    ok = ok && (words ? add_files(context, words, word, v, &curves, &error) : add_shipped(context, v, &curves, &error));
    if (ok && api_has(&context->args, "own-kernels"))
        validation_run_own_kernels(v);
    if (ok && api_has(&context->args, "language"))
        validation_run_language(v);
    if (ok)
        tell_skipped(context, v);
    const char *id = api_value(&context->args, "dump");
    if (ok && words && (int)curves.count == words) /* nothing but curves */
        verb_curves_report(context, &curves);
    else if (ok && api_has(&context->args, "fitted"))
        ok = list_fitted(context, v, &error);
    else if (ok)
        ok = id ? dump(context, v, id, &error) : score(context, v, &curves, &error);
    const size_t skipped = ok ? validation_skipped(v) : 0;
    if (skipped)
        ok = orch_fail(&error, ORCH_USAGE, "%zu row%s could not be read and %s skipped; the others are scored", skipped,
                       skipped == 1 ? "" : "s", skipped == 1 ? "was" : "were");
    validation_free(v);
    verb_curves_free(&curves);
    return ok ? ORCH_OK : api_fail(context, &error);
}

const struct api_verb verb_validate = {
    .help =
        {
            .name = "validate",
            .synopsis = "[FILE.csv...] [--group-by COLS] [--jobs N]\n"
                        "--history [FILE]\n"
                        "[FILE.csv...] --dump ID [-o OUT]",
            .summary = "scores the model against published measurements",
            .text = "Without files, the tables that come with orchard. Each row becomes the microbenchmark program it describes "
                    "and is run on the simulated chip. Rows whose value "
                    "a parameter\n"
                    "was taken from are scored apart as fitted; rows that cannot be modelled are listed with the reason. "
                    "Measurements,\n"
                    "predictions and scores are recorded with the version of the model; --history shows how scores went.",
            .examples = "orchard validate examples/measurements/mine.csv --markdown\n"
                        "orchard validate --template\n"
                        "orchard validate --columns\n"
                        "orchard validate examples/measurements/mine.csv --group-by chip\n"
                        "orchard validate --dump amx-timing:20 -o row.elf",
            .options = option_table,
            .more_title = "COLUMNS OF A TABLE OF ONE'S OWN (--template, --columns)",
            .more = validation_columns_help,
        },
    .ask = ask,
};
