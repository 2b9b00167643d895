/* AMX words and operands as text: encodings, assembler, disassembler, round trips, messages, documentation. */
#include "isa/amx/amx_isa.h"
#include "isa/amx/amx_table.h"
#include "tests/support/suite.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Words as written in corsix/amx aarch64.h: 0x201000 + (op << 5) + register. */
static void test_words(void)
{
    CU_ASSERT_EQUAL(amx_encode(AMX_LDX, 0), 0x00201000);
    CU_ASSERT_EQUAL(amx_encode(AMX_FMA32, 5), 0x00201185);
    CU_ASSERT_EQUAL(amx_encode(AMX_SETCLR, 0), 0x00201220);
    CU_ASSERT_EQUAL(amx_encode(AMX_SETCLR, 1), 0x00201221);
    CU_ASSERT_EQUAL(amx_encode(AMX_GENLUT, 31), 0x002012df);
    CU_ASSERT(amx_word_is_defined(0x00201221));
    CU_ASSERT_FALSE(amx_word_is_defined(0x00201222));
    CU_ASSERT(amx_word_is_defined(0x002012c0));
    CU_ASSERT_FALSE(amx_word_is_defined(0x002012e0));
    CU_ASSERT_FALSE(amx_word_is_defined(0x00201400));
    CU_ASSERT_FALSE(amx_word_is_defined(0xd503201f));
}

static void test_every_word_comes_back(void)
{
    for (uint32_t low = 0; low < 1024; low++) {
        const uint32_t word = AMX_WORD_BASE | low;
        char text[AMX_TEXT_BYTES];
        uint32_t back;
        uint64_t operand;
        bool has_operand;
        struct isa_error error;
        amx_disasm_word(word, text, sizeof text);
        CHECK(amx_asm_line(text, &back, &operand, &has_operand, &error), "%s", text);
        CHECK(back == word && !has_operand, "%s: %08" PRIx32, text, back);
    }
}

static uint64_t assemble(const char *line)
{
    uint32_t word;
    uint64_t operand = 0;
    bool has_operand = false;
    struct isa_error error = {.text = ""};
    CHECK(amx_asm_line(line, &word, &operand, &has_operand, &error) && has_operand, "%s: %s", line, error.text);
    return operand;
}

/* The bit positions were computed by hand from Instructions.md and the page of each instruction. */
static void test_known_operands(void)
{
    CU_ASSERT_EQUAL(assemble("ldx {addr=0x1000, reg=3, pair}"), UINT64_C(0x4300000000001000));
    CU_ASSERT_EQUAL(assemble("ldy {stride, quad, pair}"), UINT64_C(0x7000000000000000));
    CU_ASSERT_EQUAL(assemble("ldzi {half, rows=1}"), UINT64_C(0x0300000000000000));
    CU_ASSERT_EQUAL(assemble("fma32 {x=64, y=1, z=1, skip_z}"), 64u << 10 | 1u | 1u << 20 | 1u << 27);
    CU_ASSERT_EQUAL(assemble("fma16 {vector}"), UINT64_C(1) << 63);
    CU_ASSERT_EQUAL(assemble("mac16 { shift = 31 , z_i32 } // all of Z"), UINT64_C(31) << 55 | UINT64_C(1) << 62);
    CU_ASSERT_EQUAL(assemble("extrx {xreg=2, yreg=5}"), UINT64_C(1) << 27 | 2u << 16 | 5u << 20);
    CU_ASSERT_EQUAL(assemble("extrh {mask=first, mask_n=3}"), UINT64_C(2) << 46 | UINT64_C(3) << 41);
    CU_ASSERT_EQUAL(assemble("extrh {mask=first, wide, mask_n=3}"), UINT64_C(2) << 38 | UINT64_C(3) << 32 | 1u << 26);
    CU_ASSERT_EQUAL(assemble("vecfp {repeat, bcast=lane0_y, alu=max}"),
                    UINT64_C(7) << 47 | UINT64_C(7) << 32 | UINT64_C(1) << 31);
    CU_ASSERT_EQUAL(assemble("vecint {alu=shift_sat, round, saturate}"), UINT64_C(4) << 47 | UINT64_C(3) << 29);
    CU_ASSERT_EQUAL(assemble("matfp {indexed, indexed_y, table=7, ymask_n=31}"),
                    UINT64_C(1) << 53 | UINT64_C(1) << 47 | UINT64_C(7) << 49 | UINT64_C(31) << 58);
    CU_ASSERT_EQUAL(assemble("genlut {mode=lut5_8, to_z, row=63}"), UINT64_C(15) << 53 | 1u << 26 | 63u << 20);
    CU_ASSERT_EQUAL(assemble("stz {raw=0x8000000000000000}"), UINT64_C(1) << 63);
    CU_ASSERT_EQUAL(assemble("stz {}"), 0);
}

static void test_operand_text(void)
{
    char text[AMX_TEXT_BYTES];
    CU_ASSERT_EQUAL(amx_disasm_operand(AMX_FMA32, 64u << 10 | 1u << 20 | 1u << 27, AMX_GEN_M1, text, sizeof text), 17);
    CU_ASSERT_STRING_EQUAL(text, "x=64, z=1, skip_z");
    amx_disasm_operand(AMX_LDX, UINT64_C(0x7300000000001000), AMX_GEN_M3, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "addr=0x1000, reg=3, pair, quad, stride");
    amx_disasm_operand(AMX_LDX, UINT64_C(0x7300000000001000), AMX_GEN_M2, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "addr=0x1000, reg=3, pair, quad, raw=0x2000000000000000");
    amx_disasm_operand(AMX_LDX, UINT64_C(0x3300000000001000), AMX_GEN_M3, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "addr=0x1000, reg=3, raw=0x3000000000000000");
    CU_ASSERT_EQUAL(amx_disasm_operand(AMX_STX, 0, AMX_GEN_M1, text, sizeof text), 0);
    CU_ASSERT_STRING_EQUAL(text, "");
    CU_ASSERT_EQUAL(amx_disasm_operand(AMX_FMA32, 64u << 10, AMX_GEN_M1, text, 3), 4);
    CU_ASSERT_STRING_EQUAL(text, "x=");
}

static void test_names_follow_operand_bits(void)
{
    CU_ASSERT_STRING_EQUAL(amx_op_name(AMX_EXTRX, 1u << 27), "extrx");
    CU_ASSERT_STRING_EQUAL(amx_op_name(AMX_EXTRX, 3u << 26), "extrh");
    CU_ASSERT_STRING_EQUAL(amx_op_name(AMX_EXTRY, 0), "extrv");
    CU_ASSERT_STRING_EQUAL(amx_op_name(AMX_EXTRY, 1u << 27), "extry");
    CU_ASSERT_STRING_EQUAL(amx_op_name(AMX_SETCLR, 1), "clr");
    CU_ASSERT_STRING_EQUAL(amx_op_name(23, 0), "?");
}

static void check_round_trip(unsigned op, uint64_t operand, enum amx_gen gen)
{
    char fields[AMX_TEXT_BYTES], line[AMX_TEXT_BYTES + 32];
    uint32_t word;
    uint64_t back;
    bool has_operand;
    struct isa_error error = {.text = ""};
    const int length = amx_disasm_operand(op, operand, gen, fields, sizeof fields);
    CHECK(length == (int)strlen(fields), "length of %s", fields);
    snprintf(line, sizeof line, "%s {%s}", amx_op_name(op, operand), fields);
    const bool ok = amx_asm_line(line, &word, &back, &has_operand, &error);
    CHECK(ok && back == operand && amx_word_op(word) == op, "op %u %016" PRIx64 " M%d: %s -> %016" PRIx64 " %s", op, operand,
          (int)gen, line, back, error.text);
}

static void test_random_operands_come_back(void)
{
    uint64_t state = 1;
    for (unsigned op = 0; op < AMX_OP_COUNT; op++)
        for (unsigned i = 0; i < 4000 && op != AMX_SETCLR; i++) {
            uint64_t operand = suite_random(&state);
            if (i & 1) /* sparse operands reach conditions that dense ones miss */
                operand &= suite_random(&state) & suite_random(&state);
            check_round_trip(op, operand, (enum amx_gen)(AMX_GEN_M1 + i / 2 % 4));
        }
}

static void test_single_bits_come_back(void)
{
    for (unsigned op = 0; op < AMX_OP_COUNT; op++)
        for (unsigned a = 0; a < 64 && op != AMX_SETCLR; a++)
            for (unsigned b = a; b < 64; b++)
                check_round_trip(op, UINT64_C(1) << a | UINT64_C(1) << b, AMX_GEN_M4);
}

/* No two fields of an operand share bits, whatever the operand. */
static void test_fields_do_not_overlap(void)
{
    uint64_t state = 2;
    for (unsigned i = 0; i < 200000; i++) {
        const uint64_t operand = suite_random(&state) & (i & 1 ? suite_random(&state) : UINT64_MAX);
        const struct amx_form *form = amx_form_of(i % AMX_OP_COUNT, i % AMX_OP_COUNT == AMX_SETCLR ? 0 : operand);
        uint64_t claimed = form->fixed_value, covered = form->fixed_mask;
        for (const struct amx_field *field = NULL; (field = amx_next_field(form, field, AMX_GEN_M4));) {
            if (!amx_field_applies(field, claimed))
                continue;
            const uint64_t mask = amx_field_mask(field);
            CHECK(!(covered & mask), "%s %016" PRIx64 ": %s overlaps another field", form->mnemonic, operand, field->name);
            covered |= mask;
            claimed |= operand & mask;
        }
    }
}

static void expect_error(const char *line, const char *part)
{
    uint32_t word;
    uint64_t operand;
    bool has_operand;
    struct isa_error error = {.text = ""};
    CHECK(!amx_asm_line(line, &word, &operand, &has_operand, &error), "%s", line);
    CHECK(strstr(error.text, part) != NULL, "\"%s\": \"%s\" has no \"%s\"", line, error.text, part);
}

static void test_messages(void)
{
    expect_error("fma23 {x=0}", "did you mean fma32?");
    expect_error("vecitn x0", "did you mean vecint?");
    expect_error("frobnicate x0", "unknown instruction frobnicate");
    expect_error("", "expected an instruction");
    expect_error("fma32", "expected a register");
    expect_error("fma32 x31", "x31 is no register");
    expect_error("fma32 x5 x6", "unexpected text");
    expect_error("fma32 {skp_z}", "did you mean skip_z?");
    expect_error("fma32 {x=512}", "does not fit 9 bits");
    expect_error("fma32 {x=-1}", "expected a value");
    expect_error("fma32 {x=99999999999999999999999}", "is no value");
    expect_error("fma32 {z}", "needs a value");
    expect_error("fma32 {z=1, z=2}", "given twice");
    expect_error("fma32 {z=1", "expected ',' or '}'");
    expect_error("fma32 {z=1,, x=1}", "expected an operand field");
    expect_error("ldx {quad}", "does not exist together with the other fields");
    expect_error("vecfp {alu=mxa}", "did you mean max?");
    expect_error("extrh {raw=0x8000000}", "make this extrx, not extrh");
    expect_error("set x0", "unexpected text");
}

static void test_markdown_names_every_field(void)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    amx_table_markdown(out);
    fclose(out);
    for (size_t i = 0; i < amx_form_count; i++) {
        char heading[64];
        snprintf(heading, sizeof heading, "\n## %s (op %d)\n", amx_forms[i].mnemonic, amx_forms[i].op);
        const char *section = strstr(text, heading);
        CHECK(section != NULL, "%s has no section", amx_forms[i].mnemonic);
        const char *end = section ? strstr(section + 1, "\n## ") : NULL;
        for (const struct amx_field *field = NULL; section && (field = amx_next_field(&amx_forms[i], field, AMX_GEN_M4));) {
            char cell[48];
            snprintf(cell, sizeof cell, " | %s | M%d | ", field->name, (int)field->first_gen);
            const char *found = strstr(section, cell);
            CHECK(found && (!end || found < end), "%s: %s is missing", amx_forms[i].mnemonic, field->name);
        }
    }
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "| 60 | quad | M2 | pair = 1 |"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "| 26 | sat_signed | M1 | indexed = 0 and alu = 4 |"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "| 26 | y_signed | M1 | unless indexed = 0 and alu = 4 |"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "| 25..20 | row | M1 | to_z = 1 |"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "| 26 | to_z | M1 | mode >= 7 |"));
    free(text);
}

static const struct suite_test tests[] = {
    {"encodes and recognises words", test_words},
    {"every word comes back from its text", test_every_word_comes_back},
    {"known operands assemble to their bits", test_known_operands},
    {"operands read as documented", test_operand_text},
    {"mnemonics follow operand bits", test_names_follow_operand_bits},
    {"random operands come back from their text", test_random_operands_come_back},
    {"every pair of bits comes back from its text", test_single_bits_come_back},
    {"fields do not overlap", test_fields_do_not_overlap},
    {"mistakes are explained", test_messages},
    {"the Markdown table names every field", test_markdown_names_every_field},
};
SUITE_MAIN("amx text", tests)
