/* orchard validate: published measurements against the programs they describe, run on the simulated chip. */
#include "isa/ane/ane_program.h"
#include "sim/base/json_out.h"
#include "sim/api/api.h"
#include "sim/api/verb_validate_curve.h"
#include "sim/prove/validate/jobs.h"
#include "sim/prove/validate/record.h"
#include "sim/prove/validate/require.h"
#include "sim/prove/validate/validate.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef ORCHARD_COMMIT
#error "the Makefile passes ORCHARD_COMMIT"
#endif

const struct cli_option cmd_validate_options[] = {
    {"group-by", 0, "COLS", false, "columns that make a group, separated by commas; also chip, file, level, part (unit), work"},
    {"jobs", 0, "N", false, "rows at the same time (default: all cores of this host); the answer is the same for any N"},
    {"markdown", 0, NULL, false, "the table of accuracy by file and unit, for a README"},
    {"history", 0, NULL, false, "scores recorded so far, by version; FILE: of this table only"},
    {"require", 0, "BOUNDS", false, "exit 1 unless the score keeps them: 'mape<0.2,within25>0.6'"},
    {"dump", 0, "ID", false,
     "write the program of this row instead of scoring: an ELF file, GPU rows as assembler text, "
     "those of the Neural Engine as descriptors"},
    {"fit-overheads", 0, NULL, false,
     "write what frameworks add, fitted on these rows, as lines of sim/prove/validate/overheads.inc"},
    {"fit-residuals", 0, NULL, false,
     "write how far these rows are from hardware, by kind of work, as lines of sim/run/residuals.inc"},
    {"output", 'o', "FILE", false, "where --dump writes (default: the row's id with .elf, .s or .ane)"},
    {"device", 0, "NAME", false, "for curves of a machine (time_s,soc_power_W,soc_temp_C): which one (default macbook-air)"},
    {NULL, 0, NULL, false, NULL},
};

static bool dump(struct cmd_context *context, const struct validation *v, const char *id, struct orch_error *error)
{
    char name[256];
    size_t bytes;
    const char *path = cli_value(&context->args, "output");
    uint8_t *file = validation_dump(v, id, &bytes, error);
    if (!file)
        return false;
    const bool elf = bytes > 4 && memcmp(file, "\177ELF", 4) == 0, ane = !elf && ane_program_recognise(file, bytes);
    if (!path) {
        snprintf(name, sizeof name, "%.240s.%s", id, elf ? "elf" : ane ? "ane" : "s");
        for (char *p = name; *p; p++)
            *p = *p == ':' || *p == '/' ? '-' : *p;
        path = name;
    }
    const bool ok = cmd_write_file(path, file, bytes, error);
    if (ok)
        cmd_note(context, "%s: %zu bytes%s%s%s", path, bytes,
                 elf   ? "; orchard isa disasm a64 "
                 : ane ? "; orchard isa disasm ane "
                       : " of assembler text",
                 elf || ane ? path : "", elf || ane ? " shows it" : "");
    free(file);
    return ok;
}

/* ---- scoring ---- */

static bool record(struct cmd_context *context, const struct validation *v, const char *version, struct orch_error *error)
{
    struct orch_db *db = db_open(context->common.db, DB_WRITE, error);
    const bool ok = db && validation_record(v, db, version, error);
    db_close(db);
    return ok;
}

static bool print(struct cmd_context *context, const struct validation *v, struct cmd_curves *curves, const char *version,
                  struct orch_error *error)
{
    const char *group_by = cli_value(&context->args, "group-by");
    char made_by[160];
    if (context->common.json) {
        json_object *document = validation_json(v, group_by, error),
                    *residuals = document ? validation_residuals_json(v, error) : NULL;
        if (!residuals) {
            json_object_put(document);
            return false;
        }
        json_object_object_add(document, "residuals", residuals);
        json_add_text(document, "version", version);
        if (curves->count)
            json_object_object_add(document, "curves", cmd_curves_json(curves));
        json_print(document, context->out);
        return true;
    }
    snprintf(made_by, sizeof made_by, "orchard %.90s (%s)", version, ORCHARD_COMMIT);
    if (!(cli_has(&context->args, "markdown") ? validation_write_markdown(v, made_by, context->out, error)
                                              : validation_write_text(v, group_by, context->out, error)))
        return false;
    cmd_curves_print(curves, context->out);
    return true;
}

static bool score(struct cmd_context *context, struct validation *v, struct cmd_curves *curves, struct orch_error *error)
{
    const struct chip_overrides overrides = {context->common.sets, context->common.set_count};
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t jobs = cores > 0 ? (uint64_t)cores : 1;
    char version[VALIDATION_VERSION_SIZE];
    const char *bounds = cli_value(&context->args, "require");
    struct chip_db *db = cmd_chip_db(context, error);
    if (!db || !cli_unsigned(&context->args, "jobs", 1, VALIDATION_JOBS_MAX, &jobs, error) ||
        !validation_version(db, &overrides, version, error) ||
        !validation_simulate(v, chip_db_folder(db), &overrides, (unsigned)jobs, error) || !validation_cross_validate(v, error))
        return false;
    if (cli_has(&context->args, "fit-overheads"))
        return validation_fit_overheads(v, context->out, error);
    if (cli_has(&context->args, "fit-residuals"))
        return validation_fit_residuals(v, context->out, error);
    return print(context, v, curves, version, error) && record(context, v, version, error) &&
           (!bounds || validation_require(v, bounds, error));
}

static bool history(struct cmd_context *context, const char *file, struct orch_error *error)
{
    const char *slash = file ? strrchr(file, '/') : NULL;
    const char *name = slash ? slash + 1 : file;
    struct orch_db *db = db_open(context->common.db, DB_EXISTING, error);
    json_object *document = NULL;
    bool ok = db != NULL;
    if (ok && context->common.json) {
        document = validation_history_json(db, name, error);
        ok = document != NULL;
    } else if (ok) {
        ok = validation_history_text(db, name, context->out, error);
    }
    if (document)
        json_print(document, context->out);
    db_close(db);
    return ok;
}

/* Tables of measurements and curves of machines, in any order. */
static bool add_files(struct cmd_context *context, int count, char **path, struct validation *v, struct cmd_curves *curves,
                      struct orch_error *error)
{
    bool ok = true;
    for (int i = 0; ok && i < count; i++)
        ok = cmd_is_curve(path[i]) ? cmd_curves_add(context, path[i], curves, error) : validation_add_file(v, path[i], error);
    return ok;
}

int cmd_validate(struct cmd_context *context, int argc, char **argv)
{
    struct orch_error error = {0};
    struct cmd_curves curves = {0};
    if (cli_has(&context->args, "history"))
        return argc > 1                                          ? cmd_usage(context, "--history is of one table, or of all")
               : history(context, argc ? argv[0] : NULL, &error) ? ORCH_OK
                                                                 : cmd_fail(context, &error);
    if (argc < 1)
        return cmd_usage(context, "a table of measurements is missing (FILE.csv)");
    struct validation *v = validation_create();
    bool ok = v || orch_no_memory(&error);
    ok = ok && add_files(context, argc, argv, v, &curves, &error);
    const char *id = cli_value(&context->args, "dump");
    if (ok && (int)curves.count == argc) /* nothing but curves */
        cmd_curves_report(context, &curves);
    else if (ok)
        ok = id ? dump(context, v, id, &error) : score(context, v, &curves, &error);
    validation_free(v);
    cmd_curves_free(&curves);
    return ok ? ORCH_OK : cmd_fail(context, &error);
}
