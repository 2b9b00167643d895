/* The verb isa: disassembles and assembles programs, prints instruction tables, and runs golden vectors. */
#include "isa/a64/a64_isa.h"
#include "isa/agx/agx_isa.h"
#include "isa/ane/ane_text.h"
#include "sim/base/output_file.h"
#include "sim/prove/check/amx_vectors.h"
#include "sim/base/json_out.h"
#include "sim/api/listing.h"
#include "sim/api/verb_isa.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const struct orchard_option option_table[] = {
    {"output", 'o', "FILE", false, "where asm writes its code; agx: a folder (OUT/) gets a launch description too"},
    {"path", 0, "PATH", false, "check: execute by fast (default), portable (amx) or reference"},
    {0},
};

enum { A64, AMX, AGX, ANE }; /* in the order of the choices of the family */

static void print_line(void *context, const struct listing_line *line)
{
    FILE *out = context;
    if (line->label)
        fprintf(out, "\n%016" PRIx64 " <%s>:\n", line->address, line->label);
    else
        fprintf(out, "%8" PRIx64 ":\t%08" PRIx32 "\t%s\n", line->address, line->word, line->text);
}

/* AMX listings are input of the assembler, so the address and the word go into a comment. */
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

static int disassemble(struct api_context *context, enum listing_family family, const char *path)
{
    struct orch_error error = {0};
    uint8_t *bytes;
    size_t size;
    if (!api_read_file(path, &bytes, &size, &error))
        return api_fail(context, &error);
    json_object *rows = json_object_new_array();
    const struct listing_sink text = {family == LISTING_AMX ? print_amx_line : print_line, context->out},
                              json = {add_json_line, rows};
    bool ok = true;
    if (api_wants_text(context))
        ok = listing_walk(family, bytes, size, &text, &error);
    if (ok && api_wants_document(context))
        ok = listing_walk(family, bytes, size, &json, &error);
    if (ok && api_wants_document(context))
        api_document(context, json_object_get(rows));
    json_object_put(rows);
    free(bytes);
    if (ok)
        return ORCH_OK;
    orch_fail_in(&error, "%.300s", path);
    return api_fail(context, &error);
}

static bool write_words(const char *path, const uint32_t *words, size_t count, struct orch_error *error)
{
    uint8_t *bytes = malloc(4 * count + 1);
    if (!bytes)
        return orch_no_memory(error);
    for (size_t i = 0; i < count; i++)
        for (unsigned b = 0; b < 4; b++)
            bytes[4 * i + b] = (uint8_t)(words[i] >> 8 * b);
    const bool ok = output_file_write(path, bytes, 4 * count, error);
    free(bytes);
    return ok;
}

bool verb_isa_source(struct api_context *context, const char *path, uint8_t **text, size_t *size, const char **output, int *code)
{
    struct orch_error error = {0};
    *output = api_value(&context->args, "output");
    if (!*output || !(*output)[0]) {
        *code = api_usage(context, "asm needs " ORCH_LETTER("o", "output") " OUT");
        return false;
    }
    if (api_read_file(path, text, size, &error))
        return true;
    *code = api_fail(context, &error);
    return false;
}

static int assemble(struct api_context *context, const char *path)
{
    struct orch_error error = {0};
    const char *output;
    uint8_t *text;
    size_t size, count = 0;
    uint32_t *words = NULL;
    int code;
    if (!verb_isa_source(context, path, &text, &size, &output, &code))
        return code;
    bool ok = strlen((const char *)text) == size || orch_fail(&error, ORCH_USAGE, "is not text");
    ok = ok && listing_assemble((const char *)text, &words, &count, &error);
    if (!ok)
        orch_fail_in(&error, "%.300s", path);
    ok = ok && write_words(output, words, count, &error);
    free(text);
    free(words);
    if (!ok)
        return api_fail(context, &error);
    api_note(context, "%s: %zu words", output, count);
    return ORCH_OK;
}

static int table(struct api_context *context, unsigned family)
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

/* Looks at all names before the first file is executed: a typing mistake should not cost the time of a run. */
static int check_amx(struct api_context *context, int files, const char *const *paths)
{
    static const enum amx_path by_choice[] = {AMX_PATH_FAST, AMX_PATH_PORTABLE, AMX_PATH_REFERENCE};
    const char *path_name = api_value(&context->args, "path");
    struct orch_error error = {0};
    unsigned path = 0;
    bool ok = !path_name || api_choice("path", path_name, "fast|portable|reference", &path, &error);
    for (int i = 0; ok && i < files; i++)
        if (!check_amx_knows(paths[i]))
            ok = orch_fail(&error, ORCH_USAGE,
                           "%.200s: the name before the first dot must be one of fma fms ldst extr mac16 matfp matint "
                           "vecfp vecint genlut programs full_states",
                           paths[i]);
    struct check_report report = {0};
    for (int i = 0; ok && i < files; i++)
        ok = check_amx_vectors(paths[i], by_choice[path], &report, &error);
    const int code = ok ? api_report(context, &report) : api_fail(context, &error);
    check_report_free(&report);
    return code;
}

static int unmodelled(struct api_context *context, const char *what)
{
    struct orch_error error = {0};
    orch_fail(&error, ORCH_UNMODELLED, "isa: %s", what);
    return api_fail(context, &error);
}

static int ask(struct api_context *context, int words, const char *const *word)
{
    enum { DISASM, ASM, TABLE, CHECK };
    struct orch_error error = {0};
    unsigned verb, family;
    if (words < 2)
        return api_usage(context, "expected disasm, asm, table or check, and a family");
    if (!api_choice("isa command", word[0], "disasm|asm|table|check", &verb, &error) ||
        !api_choice("instruction set", word[1], "a64|amx|agx|ane", &family, &error))
        return api_fail(context, &error);
    const enum listing_family listing = family == AMX ? LISTING_AMX : LISTING_A64;
    if (verb == TABLE)
        return words == 2 ? table(context, family) : api_usage(context, "table takes a family alone");
    if (words < 3 || (verb != CHECK && words > 3))
        return api_usage(context, "%s takes one FILE", word[0]);
    if (family == AGX)
        return verb == DISASM ? verb_isa_agx_disasm(context, word[2])
               : verb == ASM  ? verb_isa_agx_asm(context, word[2])
                              : verb_isa_agx_check(context, words - 2, word + 2);
    if (family == ANE)
        return verb == DISASM ? verb_isa_ane_disasm(context, word[2])
               : verb == ASM  ? verb_isa_ane_asm(context, word[2])
                              : verb_isa_ane_check(context, words - 2, word + 2);
    if (verb == DISASM)
        return disassemble(context, listing, word[2]);
    if (verb == ASM)
        return family == AMX ? assemble(context, word[2])
                             : unmodelled(context, "a64 has no assembler here; use aarch64-linux-gnu-as");
    return family == AMX ? check_amx(context, words - 2, word + 2) : unmodelled(context, "there are no golden vectors of a64");
}

const struct api_verb verb_isa = {
    .help =
        {
            .name = "isa",
            .synopsis = "disasm FAMILY FILE\n"
                        "asm FAMILY FILE -o OUT\n"
                        "table FAMILY\n"
                        "check FAMILY FILE...",
            .summary = "disassembler, assembler, instruction tables, golden vectors",
            .text = "FAMILY is a64, amx, agx or ane. disasm reads ELF files and raw code, for agx also abi.json, for ane program "
                    "files;\n"
                    "asm (amx, agx, ane) writes raw code or a program; table prints the instruction table as Markdown; check "
                    "runs golden\n"
                    "vectors, for ane program files against the operation that they implement, plain or gzip.",
            .examples = "orchard isa disasm a64 examples/cpu/words.elf\n"
                        "orchard isa asm amx examples/cpu/loop.s -o loop.bin\n"
                        "orchard isa disasm amx loop.bin\n"
                        "orchard isa table amx\n"
                        "orchard isa check amx examples/vectors/genlut.txt.gz",
            .options = option_table,
        },
    .ask = ask,
};
