/* Names, and the table as Markdown. */
#include "isa/a64/a64_table.h"

const char *a64_class_name(enum a64_class c)
{
    static const char *const names[A64_CLASS_COUNT] = {
#define X(enumerator, name) [A64_C_##enumerator] = #name,
        A64_CLASS_TABLE(X)
#undef X
    };
    return c < A64_CLASS_COUNT ? names[c] : "?";
}

const char *a64_form_name(unsigned form)
{
    static const char *const names[A64_FORM_COUNT] = {
        [A64_UNDEFINED] = "UNDEFINED",
        [A64_AMX] = "AMX",
#define A64_ROW(form, ...) [A64_##form] = #form,
#include "isa/a64/a64_table.inc"
#undef A64_ROW
    };
    return form < A64_FORM_COUNT ? names[form] : "?";
}

static void write_sizes(FILE *out, unsigned sizes)
{
    static const char letters[] = "BHSDQ";
    for (unsigned i = 0; i < 5; i++)
        if (sizes >> i & 1)
            fputc(letters[i], out);
}

/* Writes a row's text with its letters, and with tabs as spaces, so that it stands safely in a table cell. */
static void write_text(FILE *out, const char *text)
{
    fputc('`', out);
    for (; *text; text++)
        fputc(*text == '\t' ? ' ' : *text, out);
    fputc('`', out);
}

static void write_bits(FILE *out, uint32_t mask, uint32_t bits)
{
    for (int bit = 31; bit >= 0; bit--)
        fputc(mask >> bit & 1 ? (char)('0' + (bits >> bit & 1)) : '.', out);
}

void a64_table_markdown(FILE *out)
{
    fprintf(
        out,
        "# AArch64 instructions\n\nBits: fixed ones as digits, operand fields as dots. Sizes: B 1 byte ... Q 16 bytes; S and D "
        "are W and X of general registers.\nIn the text, %%<kind><place> is a register (places d n m a), other %% signs are "
        "immediates; isa/a64/a64_table.h explains the letters.\n");
    for (unsigned g = 0; g < a64_group_count; g++) {
        fprintf(out, "\n## %s\n\nGroup ", a64_groups[g].title);
        write_bits(out, a64_groups[g].mask, a64_groups[g].bits);
        fprintf(out, "\n\n| form | bits 31..0 | sizes | class | text |\n| --- | --- | --- | --- | --- |\n");
        for (unsigned form = a64_groups[g].first; form < a64_groups[g + 1].first; form++) {
            const struct a64_row *row = &a64_rows[form];
            fprintf(out, "| %s | ", a64_form_name(form));
            write_bits(out, row->mask, row->bits);
            fprintf(out, " | ");
            write_sizes(out, row->sizes);
            fprintf(out, " | %s | ", a64_class_name(row->cls));
            write_text(out, row->text);
            fprintf(out, " |\n");
        }
    }
}
