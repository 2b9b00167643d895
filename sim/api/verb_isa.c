/* orchard isa: programs as text. */
#include "isa/a64/a64_isa.h"
#include "isa/agx/agx_isa.h"
#include "isa/ane/ane_text.h"
#include "sim/prove/check/amx_vectors.h"
#include "sim/base/json_out.h"
#include "sim/api/listing.h"
#include "sim/api/verb_isa.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const struct cli_option cmd_isa_options[] = {
    {"output", 'o', "FILE", false, "where asm writes its code; agx: a folder (OUT/) gets a launch description too"},
    {"path", 0, "PATH", false, "check: execute by fast (default), portable (amx) or reference"},
    {0},
};

enum { A64, AMX, AGX, ANE }; /* in the order of the choices */

static void print_line(void *context, const struct listing_line *line)
{
    FILE *out = context;
    if (line->label)
        fprintf(out, "\n%016" PRIx64 " <%s>:\n", line->address, line->label);
    else
        fprintf(out, "%8" PRIx64 ":\t%08" PRIx32 "\t%s\n", line->address, line->word, line->text);
}

/* AMX listings are assembler input: the place and the word stand in the comment. */
static void print_amx_line(void *context, const struct listing_line *line)
{
    FILE *out = context;
    if (line->label)
        fprintf(out, "\n; %s\n", line->label);
    else
        fprintf(out, "%-24s; %" PRIx64 ": %08" PRIx32 "\n", line->text, line->address, line->word);
}

static void add_json_line(void *context, const struct listing_line *line)
{
    json_object *rows = context, *row = json_object_new_object();
    char text[24];
    json_add_count(row, "address", line->address);
    if (line->label) {
        json_add_text(row, "label", line->label);
    } else {
        snprintf(text, sizeof text, "0x%08" PRIx32, line->word);
        json_add_text(row, "word", text);
        json_add_text(row, "text", line->text);
    }
    json_object_array_add(rows, row);
}

static int disassemble(struct cmd_context *context, enum listing_family family, const char *path)
{
    struct orch_error error = {0};
    uint8_t *bytes;
    size_t size;
    if (!cmd_read_file(path, &bytes, &size, &error))
        return cmd_fail(context, &error);
    json_object *rows = json_object_new_array();
    struct listing_sink sink = {family == LISTING_AMX ? print_amx_line : print_line, context->out};
    if (context->common.json)
        sink = (struct listing_sink){add_json_line, rows};
    const bool ok = listing_walk(family, bytes, size, &sink, &error);
    if (ok && context->common.json)
        json_print(json_object_get(rows), context->out);
    json_object_put(rows);
    free(bytes);
    if (ok)
        return ORCH_OK;
    orch_fail_in(&error, "%.300s", path);
    return cmd_fail(context, &error);
}

static bool write_words(const char *path, const uint32_t *words, size_t count, struct orch_error *error)
{
    uint8_t *bytes = malloc(4 * count + 1);
    if (!bytes)
        return orch_no_memory(error);
    for (size_t i = 0; i < count; i++)
        for (unsigned b = 0; b < 4; b++)
            bytes[4 * i + b] = (uint8_t)(words[i] >> 8 * b);
    const bool ok = cmd_write_file(path, bytes, 4 * count, error);
    free(bytes);
    return ok;
}

bool cmd_isa_source(struct cmd_context *context, const char *path, uint8_t **text, size_t *size, const char **output, int *code)
{
    struct orch_error error = {0};
    *output = cli_value(&context->args, "output");
    if (!*output || !(*output)[0]) {
        *code = cmd_usage(context, "asm needs -o OUT");
        return false;
    }
    if (cmd_read_file(path, text, size, &error))
        return true;
    *code = cmd_fail(context, &error);
    return false;
}

static int assemble(struct cmd_context *context, const char *path)
{
    struct orch_error error = {0};
    const char *output;
    uint8_t *text;
    size_t size, count = 0;
    uint32_t *words = NULL;
    int code;
    if (!cmd_isa_source(context, path, &text, &size, &output, &code))
        return code;
    bool ok = strlen((const char *)text) == size || orch_fail(&error, ORCH_USAGE, "is not text");
    ok = ok && listing_assemble((const char *)text, &words, &count, &error);
    if (!ok)
        orch_fail_in(&error, "%.300s", path);
    ok = ok && write_words(output, words, count, &error);
    free(text);
    free(words);
    if (!ok)
        return cmd_fail(context, &error);
    cmd_note(context, "%s: %zu words", output, count);
    return ORCH_OK;
}

static int table(struct cmd_context *context, unsigned family)
{
    if (family == ANE)
        ane_document(context->out);
    else if (family == AGX)
        agx_table_markdown(context->out);
    else if (family == AMX)
        amx_table_markdown(context->out);
    else
        a64_table_markdown(context->out);
    return ORCH_OK;
}

/* All names are looked at before the first file is executed: a typing mistake should not cost the run. */
static int check_amx(struct cmd_context *context, int files, char **paths)
{
    static const enum amx_path by_choice[] = {AMX_PATH_FAST, AMX_PATH_PORTABLE, AMX_PATH_REFERENCE};
    const char *path_name = cli_value(&context->args, "path");
    struct orch_error error = {0};
    unsigned path = 0;
    bool ok = !path_name || cli_choice("path", path_name, "fast|portable|reference", &path, &error);
    for (int i = 0; ok && i < files; i++)
        if (!check_amx_knows(paths[i]))
            ok = orch_fail(&error, ORCH_USAGE,
                           "%.200s: the name before the first dot must be one of fma fms ldst extr mac16 matfp matint "
                           "vecfp vecint genlut programs full_states",
                           paths[i]);
    struct check_report report = {0};
    for (int i = 0; ok && i < files; i++)
        ok = check_amx_vectors(paths[i], by_choice[path], &report, &error);
    const int code = ok ? cmd_print_report(context, &report) : cmd_fail(context, &error);
    check_report_free(&report);
    return code;
}

static int unmodelled(struct cmd_context *context, const char *what)
{
    struct orch_error error = {0};
    orch_fail(&error, ORCH_UNMODELLED, "isa: %s", what);
    return cmd_fail(context, &error);
}

int cmd_isa(struct cmd_context *context, int argc, char **argv)
{
    enum { DISASM, ASM, TABLE, CHECK };
    struct orch_error error = {0};
    unsigned verb, family;
    if (argc < 2)
        return cmd_usage(context, "expected disasm, asm, table or check, and a family");
    if (!cli_choice("isa command", argv[0], "disasm|asm|table|check", &verb, &error) ||
        !cli_choice("instruction set", argv[1], "a64|amx|agx|ane", &family, &error))
        return cmd_fail(context, &error);
    const enum listing_family listing = family == AMX ? LISTING_AMX : LISTING_A64;
    if (verb == TABLE)
        return argc == 2 ? table(context, family) : cmd_usage(context, "table takes a family alone");
    if (argc < 3 || (verb != CHECK && argc > 3))
        return cmd_usage(context, "%s takes one FILE", argv[0]);
    if (family == AGX)
        return verb == DISASM ? cmd_isa_agx_disasm(context, argv[2])
               : verb == ASM  ? cmd_isa_agx_asm(context, argv[2])
                              : cmd_isa_agx_check(context, argc - 2, argv + 2);
    if (family == ANE)
        return verb == DISASM ? cmd_isa_ane_disasm(context, argv[2])
               : verb == ASM  ? cmd_isa_ane_asm(context, argv[2])
                              : cmd_isa_ane_check(context, argc - 2, argv + 2);
    if (verb == DISASM)
        return disassemble(context, listing, argv[2]);
    if (verb == ASM)
        return family == AMX ? assemble(context, argv[2])
                             : unmodelled(context, "a64 has no assembler here; use aarch64-linux-gnu-as");
    return family == AMX ? check_amx(context, argc - 2, argv + 2) : unmodelled(context, "there are no golden vectors of a64");
}
