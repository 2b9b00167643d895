#include "isa/a64/a64_table.h"

const char *a64_class_name(enum a64_class c)
{
    static const char *const names[A64_CLASS_COUNT] = {
        [A64_C_NOP] = "nop",
        [A64_C_INT] = "int",
        [A64_C_INT_SHIFT] = "int_shift",
        [A64_C_INT_FLAGS] = "int_flags",
        [A64_C_MUL] = "mul",
        [A64_C_MADD] = "madd",
        [A64_C_DIV] = "div",
        [A64_C_BRANCH] = "branch",
        [A64_C_BRANCH_COND] = "branch_cond",
        [A64_C_BRANCH_INDIRECT] = "branch_indirect",
        [A64_C_LOAD] = "load",
        [A64_C_LOAD_PAIR] = "load_pair",
        [A64_C_LOAD_V] = "load_v",
        [A64_C_LOAD_V_PAIR] = "load_v_pair",
        [A64_C_STORE] = "store",
        [A64_C_STORE_PAIR] = "store_pair",
        [A64_C_STORE_V] = "store_v",
        [A64_C_STORE_V_PAIR] = "store_v_pair",
        [A64_C_ATOMIC] = "atomic",
        [A64_C_BARRIER] = "barrier",
        [A64_C_FP_ADD] = "fp_add",
        [A64_C_FP_MUL] = "fp_mul",
        [A64_C_FP_FMA] = "fp_fma",
        [A64_C_FP_DIV] = "fp_div",
        [A64_C_FP_DIV_S] = "fp_div_s",
        [A64_C_FP_DIV_H] = "fp_div_h",
        [A64_C_FP_SQRT] = "fp_sqrt",
        [A64_C_FP_SQRT_D] = "fp_sqrt_d",
        [A64_C_FP_CVT] = "fp_cvt",
        [A64_C_FP_CMP] = "fp_cmp",
        [A64_C_FP_MINMAX] = "fp_minmax",
        [A64_C_FP_MOVE] = "fp_move",
        [A64_C_FP_ESTIMATE] = "fp_estimate",
        [A64_C_V_INT] = "v_int",
        [A64_C_V_MUL] = "v_mul",
        [A64_C_V_PERM] = "v_perm",
        [A64_C_V_REDUCE] = "v_reduce",
        [A64_C_V_FROM_GPR] = "v_from_gpr",
        [A64_C_V_TO_GPR] = "v_to_gpr",
        [A64_C_CVT_TO_GPR] = "cvt_to_gpr",
        [A64_C_SYSTEM] = "system",
        [A64_C_AMX] = "amx",
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

/* Text with the letters kept and tabs made visible, safe inside a table cell. */
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
