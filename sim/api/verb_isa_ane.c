/* The verb isa for the family ane: Neural Engine programs as text, and checked against independent truth. */
#include "sim/api/verb_isa.h"

#include "isa/ane/ane_text.h"
#include "sim/prove/check/ane_programs.h"
#include "sim/base/json_out.h"
#include "sim/base/output_file.h"
#include "sim/base/gzip.h"

#include <stdlib.h>
#include <string.h>

static bool read_program_file(const char *path, uint8_t **bytes, size_t *size, struct orch_error *error)
{
    if (!api_read_file(path, bytes, size, error))
        return false;
    if (gzip_unpack(bytes, size, error))
        return true;
    free(*bytes);
    return orch_fail_in(error, "%.300s", path);
}

static bool open_program(const char *path, struct ane_program *program, struct orch_error *error)
{
    uint8_t *bytes;
    size_t size;
    struct isa_error why = {0};
    if (!read_program_file(path, &bytes, &size, error))
        return false;
    const bool ok = ane_program_parse(bytes, size, program, &why) ||
                    orch_fail(error, ORCH_USAGE, "%.250s: byte 0x%lx: %s", path, why.offset, why.text);
    free(bytes);
    return ok;
}

/* ---- disasm ---- */

static json_object *lines_of(const struct ane_program *program)
{
    char *text = NULL, *rest = NULL;
    size_t size;
    json_object *lines = json_object_new_array();
    FILE *out = open_memstream(&text, &size);
    if (out) {
        ane_disassemble(program, out);
        fclose(out);
    }
    for (char *line = text ? strtok_r(text, "\n", &rest) : NULL; line; line = strtok_r(NULL, "\n", &rest)) {
        json_object *row = json_object_new_object();
        json_add_text(row, "text", line);
        json_object_array_add(lines, row);
    }
    free(text);
    return lines;
}

int verb_isa_ane_disasm(struct api_context *context, const char *path)
{
    struct orch_error error = {0};
    struct ane_program program;
    if (!open_program(path, &program, &error))
        return api_fail(context, &error);
    if (api_wants_document(context))
        api_document(context, lines_of(&program));
    if (api_wants_text(context))
        ane_disassemble(&program, context->out);
    ane_program_free(&program);
    return ORCH_OK;
}

/* ---- asm ---- */

int verb_isa_ane_asm(struct api_context *context, const char *path)
{
    const char *output;
    struct orch_error error = {0};
    struct isa_error why = {0};
    struct ane_program program;
    uint8_t *text;
    size_t size;
    int code;
    if (!verb_isa_source(context, path, &text, &size, &output, &code))
        return code;
    bool ok = ane_assemble((const char *)text, size, &program, &why) ||
              orch_fail(&error, ORCH_USAGE, "%.250s:%lu: %s", path, why.line, why.text);
    free(text);
    if (!ok)
        return api_fail(context, &error);
    ok = output_file_write(output, program.bytes, program.size, &error);
    if (ok)
        api_note(context, "%s: %zu bytes, %zu descriptors", output, program.size, program.count);
    ane_program_free(&program);
    return ok ? ORCH_OK : api_fail(context, &error);
}

/* ---- check ---- */

static void tell_file(struct api_context *context, json_object *files, const char *path, const struct check_ane_result *r)
{
    if (api_wants_text(context))
        fprintf(context->out, "%s: %zu descriptor%s: %s\n", path, r->descriptors, r->descriptors == 1 ? "" : "s", r->text);
    json_object *file = json_object_new_object();
    json_add_text(file, "file", path);
    json_add_count(file, "descriptors", r->descriptors);
    json_add_text(file, "operation", r->operation[0] ? r->operation : NULL);
    json_add_bool(file, "executed", r->executed);
    json_add_number(file, "worst", r->executed ? r->worst : __builtin_nan(""));
    json_add_text(file, "text", r->text);
    json_object_array_add(files, file);
}

/* Among several files, those that are not programs (notes, tables) are skipped. A single file that is none is a mistake. */
static bool check_file(struct api_context *context, const char *path, bool alone, const struct check_ane_options *options,
                       json_object *files, struct check_report *report, struct orch_error *error)
{
    struct check_ane_result result;
    uint8_t *bytes;
    size_t size;
    bool ok = true;
    if (!read_program_file(path, &bytes, &size, error))
        return false;
    if (!alone && !ane_program_recognise(bytes, size)) {
        check_skip(report, "%.300s: not a Neural Engine program", path);
    } else {
        ok = check_ane_program(path, bytes, size, options, report, &result, error);
        if (ok)
            tell_file(context, files, path, &result);
    }
    free(bytes);
    return ok;
}

static int close_report(struct api_context *context, const struct check_report *report, json_object *files)
{
    if (api_wants_text(context)) {
        for (size_t i = 0; i < report->skips.count; i++)
            fprintf(context->out, "skipped: %s\n", report->skips.text[i]);
        check_print_closing(report, context->out);
    }
    if (api_wants_document(context)) {
        json_object *document = check_report_json(report);
        if (document) {
            json_object_object_add(document, "files", json_object_get(files));
            api_document(context, document);
        }
    }
    return check_holds(report) ? ORCH_OK : ORCH_FAILED;
}

int verb_isa_ane_check(struct api_context *context, int count, const char *const *paths)
{
    struct orch_error error = {0};
    struct check_report report = {0};
    struct api_chips chips = {0};
    json_object *files = json_object_new_array();
    bool ok = api_chips_open(context, NULL, &chips, &error);
    if (ok && chips.count != 1)
        ok = orch_fail(&error, ORCH_USAGE, ORCH_OPTION("chip") ": one chip, whose arithmetic rules count");
    for (int i = 0; ok && i < count; i++) {
        const struct check_ane_options options = {chips.chip[0], context->common.threads, context->common.seed};
        ok = check_file(context, paths[i], count == 1, &options, files, &report, &error);
    }
    const int code = ok ? close_report(context, &report, files) : api_fail(context, &error);
    json_object_put(files);
    check_report_free(&report);
    api_chips_close(&chips);
    return code;
}
