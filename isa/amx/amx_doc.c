#include "isa/amx/amx_table.h"

#include <inttypes.h>
#include <string.h>

static void write_place(FILE *out, const struct amx_field *field)
{
    if (field->width == 1)
        fprintf(out, "%d", field->pos);
    else
        fprintf(out, "%d..%d", field->pos + field->width - 1, field->pos);
}

/* Writes a condition with the names of the fields at its bits. */
static void write_condition(FILE *out, const struct amx_form *form, const struct amx_field *field)
{
    const bool flag = (field->when_mask & (field->when_mask - 1)) == 0, negated = field->when == AMX_WHEN_NOT_EQUAL;
    const uint64_t value = flag && negated ? ~field->when_value : field->when_value; /* "not 1" of one bit is 0 */
    uint64_t mask = field->when_mask;
    const char *separator = negated && !flag ? "unless " : "";
    for (const struct amx_field *f = NULL; mask && (f = amx_next_field(form, f, AMX_GEN_M4)) && f != field;) {
        const uint64_t bits = amx_field_mask(f);
        if ((bits & mask) != bits || (f->when_mask & field->when_mask && !amx_field_applies(f, field->when_value)))
            continue;
        fprintf(out, "%s%s %s %" PRIu64, separator, f->name, field->when == AMX_WHEN_AT_LEAST ? ">=" : "=",
                (value & bits) >> f->pos);
        separator = " and ";
        mask &= ~bits;
    }
}

static void write_values(FILE *out, const struct amx_field *field)
{
    const char *separator = ": ";
    for (size_t i = 0; i < amx_value_count && field->list != AMX_LIST_NO_NAMES; i++)
        if (amx_values[i].list == field->list) {
            fprintf(out, "%s%d %s", separator, amx_values[i].value, amx_values[i].name);
            separator = ", ";
        }
}

static void write_fields(FILE *out, const struct amx_form *form)
{
    if (form->layout[0] == AMX_LAYOUT_NONE)
        return;
    fprintf(out, "| bits | field | since | only when | meaning |\n|---|---|---|---|---|\n");
    if (form->fixed_mask)
        fprintf(out, "| | | | | operand bits 26, 27 are 0, 1 |\n");
    for (const struct amx_field *field = NULL; (field = amx_next_field(form, field, AMX_GEN_M4));) {
        fprintf(out, "| ");
        write_place(out, field);
        fprintf(out, " | %s | M%d | ", field->name, field->first_gen);
        write_condition(out, form, field);
        fprintf(out, " | %s", field->note);
        write_values(out, field);
        fprintf(out, " |\n");
    }
    fprintf(out, "\n");
}

void amx_table_markdown(FILE *out)
{
    fprintf(
        out,
        "# AMX instructions\n\nWord: 0x%08" PRIx32 " | op << 5 | register. The register holds the 64-bit operand "
        "whose fields are listed here.\nSource: github corsix/amx, commit 483714b.\n\n| op | mnemonic | does |\n|---|---|---|\n",
        AMX_WORD_BASE);
    for (size_t i = 0; i < amx_form_count; i++)
        fprintf(out, "| %d | %s | %s |\n", amx_forms[i].op, amx_forms[i].mnemonic, amx_forms[i].semantics);
    for (size_t i = 0; i < amx_form_count; i++) {
        const struct amx_form *form = &amx_forms[i];
        fprintf(out, "\n## %s (op %d)\n\n%s\n\n", form->mnemonic, form->op, form->semantics);
        write_fields(out, form);
        if (form->generations[0])
            fprintf(out, "%s\n", form->generations);
    }
}
