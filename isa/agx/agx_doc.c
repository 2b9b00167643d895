#include "isa/agx/agx_table.h"

#include <inttypes.h>

static const char *const sure_names[] = {"tested on hardware", "emulated", "described", "unknown"};

static void write_bits(FILE *out, const struct agx_field_row *field)
{
    for (unsigned i = 0; i < 6 && field->run[i + 1]; i += 2) {
        const unsigned low = field->run[i], high = low + field->run[i + 1] - 1u;
        fprintf(out, "%s", i ? " + " : "");
        if (low == high)
            fprintf(out, "%u", low);
        else
            fprintf(out, "%u..%u", low, high);
    }
}

static void write_length(FILE *out, const struct agx_form *form)
{
    if (form->length_bit == AGX_FIXED_LENGTH)
        fprintf(out, "%u bytes", form->bytes_short);
    else
        fprintf(out, "%u bytes, %u with bit %u", form->bytes_short, form->bytes_long, form->length_bit);
}

static void write_syntax(FILE *out, const struct agx_form *form)
{
    fprintf(out, "`%s", form->mnemonic);
    for (unsigned i = 0; i < form->operand_count; i++)
        fprintf(out, "%s %s", i ? "," : "", agx_operand_text(&form->operands[i]));
    fprintf(out, "`");
}

static void write_values(FILE *out, const struct agx_form *form)
{
    for (unsigned i = 0; i < form->operand_count; i++) {
        const struct agx_operand_row *row = &form->operands[i];
        if (row->kind != AGX_KIND_ENUM)
            continue;
        fprintf(out, "\n%s:", agx_operand_text(row));
        for (unsigned v = 0; v < agx_values_count; v++)
            if (agx_values[v].list == row->extra)
                fprintf(out, " %u %s", agx_values[v].value, *agx_values[v].text ? agx_values[v].text : "(not printed)");
        fprintf(out, "\n");
    }
}

static void write_form(FILE *out, unsigned number)
{
    const struct agx_form *form = &agx_forms[number];
    fprintf(out, "\n## %s (form %u)\n\n", form->mnemonic, number);
    write_syntax(out, form);
    fprintf(out, "%s%s. ", *form->does ? ": " : "", form->does);
    write_length(out, form);
    fprintf(out, "; 0x%" PRIx64 " under mask 0x%" PRIx64 "; %s.\n", form->value, form->mask, sure_names[form->sure]);
    if (form->field_count)
        fprintf(out, "\n| field | bits |\n|---|---|\n");
    for (unsigned i = 0; i < form->field_count; i++) {
        fprintf(out, "| %s | ", agx_field_text((enum agx_field_id)form->fields[i].id));
        write_bits(out, &form->fields[i]);
        fprintf(out, " |\n");
    }
    write_values(out, form);
}

static void write_names(FILE *out)
{
    fprintf(out, "\n# Names by field values\n\n| operation | printed as |\n|---|---|\n");
    for (unsigned i = 0; i < agx_renames_count; i++)
        fprintf(out, "| %s | %s |\n", agx_op_name(agx_renames[i].op), agx_renames[i].name);
    fprintf(out, "\n# Special registers\n\n| number | name |\n|---|---|\n");
    for (unsigned i = 0; i < agx_specials_count; i++)
        fprintf(out, "| %u | %s |\n", agx_specials[i].number, agx_specials[i].name);
}

void agx_table_markdown(FILE *out)
{
    fprintf(
        out,
        "# AGX instructions (G13, G14)\n\nLittle-endian words of 2 to 12 bytes; bit 0 is the lowest bit of the first byte. The "
        "first matching form counts.\nFields list their bits lowest part first.\nSources: dougallj/applegpu, commit 4c5bae6; "
        "Mesa, src/asahi/compiler.\n\n| form | mnemonic | bytes | does |\n|---|---|---|---|\n");
    for (unsigned i = 0; i < agx_forms_count; i++)
        fprintf(out, "| %u | %s | %u..%u | %s |\n", i, agx_forms[i].mnemonic, agx_forms[i].bytes_short, agx_forms[i].bytes_long,
                agx_forms[i].does);
    for (unsigned i = 0; i < agx_forms_count; i++)
        write_form(out, i);
    write_names(out);
}
