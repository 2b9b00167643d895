/* The table of fields and activation functions as Markdown. */
#include "isa/ane/ane_disasm_parts.h"

#include <string.h>

static void write_place(const struct ane_field_info *info, FILE *out)
{
    const unsigned low = info->byte % 4u * 8u + info->bit, word = info->byte / 4u * 4u;
    fprintf(out, "0x%03x", word);
    if (info->count > 1)
        fprintf(out, " + 4i");
    if (info->width == 1)
        fprintf(out, " | %u", low);
    else
        fprintf(out, " | %u..%u", low, low + info->width - 1u);
}

static void write_unit(enum ane_field field, FILE *out)
{
    const struct ane_field_info *info = ane_field_info(field);
    const unsigned float_bits = ane_field_float_bits(field);
    if (info->shift)
        fprintf(out, "%u bytes", 1u << info->shift);
    else if (float_bits)
        fprintf(out, "fp%u", float_bits);
}

static void write_row(enum ane_field field, FILE *out)
{
    const struct ane_field_info *info = ane_field_info(field);
    const char *part = strrchr(info->name, '.');
    fprintf(out, "| `");
    if (info->count > 1 && part)
        fprintf(out, "%.*s[i]%s", (int)(part - info->name), info->name, part);
    else
        fprintf(out, "%s", info->name);
    fprintf(out, "` | ");
    write_place(info, out);
    fprintf(out, " | ");
    write_unit(field, out);
    fprintf(out, " | ");
    if (info->count > 1)
        fprintf(out, "i = 0..%u%s", info->count - 1u, info->text[0] ? ". " : "");
    fprintf(out, "%s |\n", info->text);
}

/* The length of what stands before the first dot or bracket: "Header", "Common" ... */
static size_t block_length(const char *name)
{
    return strcspn(name, ".[");
}

void ane_document(FILE *out)
{
    const char *block = "", *name, *text;
    fprintf(out,
            "# Neural Engine task descriptors of H13 (M1 family, A14)\n\n"
            "0x%x bytes, %u words, at a pitch of 0x%x bytes. Byte: offset of the word; bits: inside the word.\n"
            "Fields with a unit of bytes hold multiples of it; listings write them in bytes.\n",
            ANE_TD_BYTES, (unsigned)ANE_TD_WORDS, ANE_TD_PITCH);
    for (unsigned i = 0; i < ANE_FIELD_COUNT; i++) {
        const struct ane_field_info *info = ane_field_info((enum ane_field)i);
        const size_t length = block_length(info->name);
        if (length != block_length(block) || strncmp(block, info->name, length) != 0)
            fprintf(out, "\n## %.*s\n\n| field | byte | bits | unit | meaning |\n|---|---|---|---|---|\n", (int)length,
                    info->name);
        block = info->name;
        write_row((enum ane_field)i, out);
    }
    fprintf(out, "\n## Activation tables\n\n| name | function |\n|---|---|\n");
    for (size_t i = 0; (name = ane_table_at(i, &text)); i++)
        fprintf(out, "| `%s` | %s |\n", name, text);
}
