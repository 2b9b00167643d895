/* orchard validate: published measurements against the programs they describe, run on the simulated chip. */
#include "isa/ane/ane_program.h"
#include "sim/cli/json_out.h"
#include "sim/cmd/cmd.h"
#include "sim/cmd/cmd_validate_curve.h"
#include "sim/run/validate_kernel.h"
#include "sim/validate/soc_runner.h"
#include "sim/validate/validate.h"

#include <stdlib.h>
#include <string.h>

const struct cli_option cmd_validate_options[] = {
    {"group-by", 0, "COLS", false, "columns that make a group, separated by commas (default chip,source)"},
    {"dump", 0, "ID", false, "write the program of this row instead of scoring: an ELF file, GPU rows as assembler text, "
     "those of the Neural Engine as descriptors"},
    {"fit-overheads", 0, NULL, false, "write what frameworks add, fitted on these rows, as lines of sim/validate/overheads.inc"},
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
                       : " of assembler text", elf || ane ? path : "", elf || ane ? " shows it" : "");
    free(file);
    return ok;
}

static bool score(struct cmd_context *context, struct validation *v, struct orch_error *error)
{
    const struct chip_overrides overrides = {context->common.sets, context->common.set_count};
    const char *group_by = cli_value(&context->args, "group-by");
    struct chip_db *db = cmd_chip_db(context, error);
    struct validate_kernel library = {db, &overrides};
    const struct validate_runner kernels = validate_kernel_runner(&library);
    struct soc_runner *runner = db ? soc_runner_create(db, &overrides, &kernels) : NULL;
    bool ok = runner != NULL;
    if (db && !runner)
        orch_fail(error, ORCH_INTERNAL, "out of memory");
    if (ok) {
        const struct validate_runner hook = soc_runner_hook(runner);
        ok = validation_run(v, &hook, error);
    }
    if (ok && cli_has(&context->args, "fit-overheads")) {
        ok = validation_fit_overheads(v, context->out, error);
    } else if (ok && context->common.json) {
        json_object *document = validation_json(v, group_by, error);
        ok = document != NULL;
        if (ok)
            json_print(document, context->out);
    } else if (ok) {
        ok = validation_write_text(v, group_by, context->out, error);
    }
    soc_runner_free(runner);
    return ok;
}

int cmd_validate(struct cmd_context *context, int argc, char **argv)
{
    struct orch_error error = {0};
    if (argc < 1)
        return cmd_usage(context, "a table of measurements is missing (FILE.csv)");
    if (argc == 1 && cmd_is_curve(argv[0]))
        return cmd_validate_curve(context, argv[0], &error) ? ORCH_OK : cmd_fail(context, &error);
    struct validation *v = validation_create();
    bool ok = v || orch_fail(&error, ORCH_INTERNAL, "out of memory");
    for (int i = 0; ok && i < argc; i++)
        ok = validation_add_file(v, argv[i], &error);
    const char *id = cli_value(&context->args, "dump");
    if (ok)
        ok = id ? dump(context, v, id, &error) : score(context, v, &error);
    validation_free(v);
    return ok ? ORCH_OK : cmd_fail(context, &error);
}
