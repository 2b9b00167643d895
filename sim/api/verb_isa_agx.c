/* The verb isa for the family agx: GPU code. */
#include "isa/agx/agx_asm.h"
#include "sim/workload/gpu/abi_skeleton.h"
#include "sim/workload/gpu/agx_listing.h"
#include "sim/prove/check/agx_vectors.h"
#include "sim/base/json_out.h"
#include "sim/api/verb_isa.h"
#include "sim/base/output_file.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void print_line(void *context, const struct agx_listing_line *line)
{
    FILE *out = context;
    if (line->part)
        fprintf(out, "; ---- %s\n", line->part);
    else
        fprintf(out, "%5x: %-24s  %s\n", line->offset, line->bytes, line->text);
}

static void add_json_line(void *context, const struct agx_listing_line *line)
{
    json_object *rows = context, *row = json_object_new_object();
    json_add_count(row, "address", line->offset);
    if (line->part) {
        json_add_text(row, "label", line->part);
    } else {
        json_add_text(row, "bytes", line->bytes);
        json_add_text(row, "text", line->text);
    }
    json_object_array_add(rows, row);
}

static bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool walk(const char *path, const struct agx_listing_sink *sink, struct orch_error *error)
{
    const struct abi_target target = {"g13g", false};
    struct abi_kernel kernel;
    uint8_t *bytes = NULL;
    size_t size = 0;
    const bool folder = is_folder(path);
    if (!folder && !api_read_file(path, &bytes, &size, error))
        return false;
    bool ok = true;
    if (folder || abi_is_description(bytes, size)) {
        ok = abi_kernel_open(&kernel, path, &target, error);
        if (ok)
            agx_listing_kernel(&kernel, sink);
        abi_kernel_free(&kernel);
    } else if (size < 2 || size > UINT32_MAX) {
        ok = orch_fail(error, ORCH_USAGE, "%.300s: no GPU code: %zu bytes", path, size);
    } else {
        agx_listing_image(bytes, size, sink);
    }
    free(bytes);
    return ok;
}

int verb_isa_agx_disasm(struct api_context *context, const char *path)
{
    struct orch_error error = {0};
    json_object *rows = json_object_new_array();
    const struct agx_listing_sink text = {print_line, context->out}, json = {add_json_line, rows};
    bool ok = true;
    if (api_wants_text(context))
        ok = walk(path, &text, &error);
    if (ok && api_wants_document(context))
        ok = walk(path, &json, &error);
    if (ok && api_wants_document(context))
        api_document(context, json_object_get(rows));
    json_object_put(rows);
    return ok ? ORCH_OK : api_fail(context, &error);
}

/* Writes code.bin into the folder, and a launch description for the user to fill in. */
static bool write_folder(const char *folder, const struct agx_assembly *a, struct orch_error *error)
{
    char path[PATH_MAX + 128], name[64];
    const char *slash = strrchr(folder, '/');
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return orch_fail(error, ORCH_USAGE, "%.300s: %s", folder, strerror(errno));
    while (slash && slash > folder && slash[-1] != '/')
        slash--;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(slash ? slash : folder, "/"), slash ? slash : folder);
    snprintf(path, sizeof path, "%s/code.bin", folder);
    if (!output_file_write(path, a->code, a->code_bytes, error))
        return false;
    json_object *document = abi_skeleton(a, name);
    const char *text =
        document ? json_object_to_json_string_ext(document, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED) : NULL;
    snprintf(path, sizeof path, "%s/abi.json", folder);
    const bool ok = text ? output_file_write(path, text, strlen(text), error) : orch_no_memory(error);
    json_object_put(document);
    return ok;
}

int verb_isa_agx_asm(struct api_context *context, const char *path)
{
    const char *output;
    struct orch_error error = {0};
    struct isa_error why = {0};
    struct agx_assembly assembly;
    uint8_t *text;
    size_t size;
    int code;
    if (!verb_isa_source(context, path, &text, &size, &output, &code))
        return code;
    bool ok = agx_assemble((const char *)text, size, &assembly, &why) ||
              orch_fail(&error, ORCH_USAGE, "%.300s:%lu: %s", path, why.line, why.text);
    free(text);
    if (!ok)
        return api_fail(context, &error);
    const bool folder = output[strlen(output) - 1] == '/' || is_folder(output);
    ok = folder ? write_folder(output, &assembly, &error) : output_file_write(output, assembly.code, assembly.code_bytes, &error);
    if (ok)
        api_note(context, "%s: %zu bytes, main at %zu, %u register halves", output, assembly.code_bytes, assembly.main_offset,
                 assembly.register_halves);
    agx_assembly_free(&assembly);
    return ok ? ORCH_OK : api_fail(context, &error);
}

int verb_isa_agx_check(struct api_context *context, int files, const char *const *paths)
{
    const char *name = api_value(&context->args, "path");
    struct orch_error error = {0};
    unsigned path = 0;
    bool ok = !name || api_choice("path", name, "fast|reference", &path, &error);
    for (int i = 0; ok && i < files; i++)
        if (!check_agx_knows(paths[i]))
            ok = orch_fail(&error, ORCH_USAGE,
                           "%.200s: the name before the first dot must be one of encode compiler-words "
                           "mesa-words exec-single exec-program exec-load",
                           paths[i]);
    struct check_report report = {0};
    for (int i = 0; ok && i < files; i++)
        ok = check_agx_vectors(paths[i], path ? CHECK_AGX_REFERENCE : CHECK_AGX_FAST, &report, &error);
    const int code = ok ? api_report(context, &report) : api_fail(context, &error);
    check_report_free(&report);
    return code;
}
