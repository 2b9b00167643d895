/* The verb measure: steps to run on a real Mac, and its answers as rows for validate and calibrate. */
#include "sim/api/api.h"
#include "sim/base/json_out.h"
#include "sim/base/output_file.h"
#include "sim/prove/measure/measure.h"

#include <stdlib.h>
#include <string.h>

static const struct orchard_option option_table[] = {
    {"unit", 0, "LIST", false, "cpu, amx, gpu (default: where there is a kernel, of products cpu and amx)"},
    {"precision", 0, "LIST", false, "element types: f32, f16, bf16, i8 on cpu, f32, f64, i8 on amx, f32 on gpu (default f32)"},
    {"output", 'o', "PATH", false, "the folder (default measure), or of read the table of rows (default: standard output)"},
    {0},
};

/* ---- the steps ---- */

/* Each part of a list between commas, in turn; false at its end. */
static bool next_part(const char **list, char part[16])
{
    const size_t length = strcspn(*list, ",");
    if (!**list)
        return false;
    snprintf(part, 16, "%.*s", length < 15 ? (int)length : 15, *list);
    *list += length + ((*list)[length] == ',');
    return true;
}

static bool add_cases(const char *workload, const char *units, const char *precisions, struct measure_case *cases, size_t *count,
                      struct orch_error *error)
{
    char unit[16], precision[16];
    while (next_part(&units, unit))
        for (const char *rest = precisions; next_part(&rest, precision); (*count)++) {
            if (*count == MEASURE_CASES)
                return orch_fail(error, ORCH_USAGE, "more than %d cases: split them over several folders", MEASURE_CASES);
            if (!measure_case_read(workload, unit, precision, &cases[*count], error))
                return false;
        }
    return true;
}

/* Types that only one of the units has are measured there, where the units were not named. */
static const char *units_of(const char *workload, const char *asked, const char *precisions)
{
    const bool stream = strncmp(workload, "stream-", 7) == 0 || strncmp(workload, "copy", 4) == 0;
    const bool on_cpu = !strstr(precisions, "f64"), on_amx = !strstr(precisions, "f16");
    return asked ? asked : stream ? "gpu" : on_cpu && on_amx ? "cpu,amx" : on_cpu ? "cpu" : "amx";
}

static int write_steps(struct api_context *context, int words, const char *const *word)
{
    struct orch_error error = {0};
    const char *const given = api_value(&context->args, "precision"), *const precisions = given ? given : "f32";
    const char *const to = api_value(&context->args, "output"), *const folder = to ? to : "measure";
    struct measure_case *const cases = calloc(MEASURE_CASES, sizeof *cases);
    size_t count = 0;
    bool ok = cases || orch_no_memory(&error);
    for (int i = 0; ok && i < words; i++)
        ok = add_cases(word[i], units_of(word[i], api_value(&context->args, "unit"), precisions), precisions, cases, &count,
                       &error);
    ok = ok && measure_write(cases, count, folder, &error);
    free(cases);
    if (!ok)
        return api_fail(context, &error);
    if (api_wants_document(context)) {
        json_object *const document = json_object_new_object();
        json_add_text(document, "folder", folder);
        json_add_count(document, "cases", count);
        api_document(context, document);
    }
    if (api_wants_text(context))
        fprintf(context->out,
                "%s: %zu case%s. On the Mac: sh run.sh, which writes result.csv (%s/README.txt says what it needs)\n"
                "then here: orchard measure read result.csv -o rows.csv\n",
                folder, count, count == 1 ? "" : "s", folder);
    return ORCH_OK;
}

/* ---- the answers ---- */

static bool save(const struct measure_rows *rows, const char *path, struct orch_error *error)
{
    struct output_file *const file = output_file_open(path, OUTPUT_PLAIN, error);
    if (!file)
        return false;
    measure_rows_write(rows, output_file_stream(file));
    return output_file_commit(file, error);
}

static int read_answers(struct api_context *context, const char *path)
{
    struct orch_error error = {0};
    const char *const to = api_value(&context->args, "output");
    const struct chip_db *const db = api_chip_db(context, &error);
    const char *const chip = api_value(&context->args, "chip");
    struct measure_rows *const rows = db ? measure_read(path, db, chip, &error) : NULL;
    bool ok = rows != NULL;
    for (size_t i = 0; ok && i < rows->faults; i++)
        api_warn(context, "%s", rows->fault[i]);
    if (ok && rows->faults)
        ok = orch_fail(&error, ORCH_USAGE, "%s: %zu fault%s; nothing was written", path, rows->faults,
                       rows->faults == 1 ? "" : "s");
    if (ok && to)
        ok = save(rows, to, &error);
    else if (ok)
        measure_rows_write(rows, context->out);
    if (ok && to)
        api_note(context, "%s: %zu row%s of %s; orchard validate %s scores them", to, rows->count, rows->count == 1 ? "" : "s",
                 rows->row[0].chip_id, to);
    measure_rows_free(rows);
    return ok ? ORCH_OK : api_fail(context, &error);
}

static int ask(struct api_context *context, int words, const char *const *word)
{
    if (words && strcmp(word[0], "read") == 0)
        return words == 2 ? read_answers(context, word[1]) : api_usage(context, "read takes the result.csv of the Mac");
    return words ? write_steps(context, words, word)
                 : api_usage(context, "what shall be measured? as in measure gemm:512x512x512 gemm:1024x1024x1024");
}

const struct api_verb verb_measure = {
    .help =
        {
            .name = "measure",
            .synopsis = "KERNEL:SHAPE... [--unit LIST] [--precision LIST] [-o FOLDER]\n"
                        "read RESULT.csv [-o ROWS.csv] [--chip ID]",
            .summary = "steps to measure kernels on a real Mac; reads the answers for validate and calibrate",
            .text =
                "Writes a folder to copy to a Mac with Apple Silicon and run there (sh run.sh): orchard's own NEON and AMX "
                "products\n"
                "as C, its streams through memory and its product of 64 x 64 tiles as Metal, a script that builds and times\n"
                "them, and a README. Kernels: gemm:MxNxK on one thread or, with --unit gpu, on the GPU; copy:BYTES,\n"
                "stream-scale, stream-add and stream-triad on the GPU. There are no steps for the Neural Engine.\n"
                "read makes a table in the columns of validate --template of what came back: the median of each case, for the\n"
                "chip that the machine says it is. Lines that are not sound are named, and then nothing is written.\n"
                "The steps were written without a Mac at hand: the C and Metal code is compiled and executed by the tests, the\n"
                "script's questions to macOS and the program that asks Metal for times are not.",
            .examples = "orchard measure gemm:256x256x256 gemm:512x512x512 -o mac\n"
                        "orchard measure copy:64KiB copy:16MiB stream-triad:256MiB -o mac-gpu\n"
                        "orchard measure gemm:512x512x512 gemm:2048x2048x2048 --unit gpu -o mac-gemm\n"
                        "orchard measure gemm:512x512x512 --unit cpu --precision f16,bf16,i8 -o mac-types\n"
                        "orchard measure read examples/measurements/result.csv --chip m1 -o rows.csv\n"
                        "orchard validate rows.csv",
            .options = option_table,
        },
    .ask = ask,
};
