/* AGX text: disassembly against dougallj/applegpu, and back through the assembler. */
#include "isa/agx/agx_asm.h"
#include "isa/array_count.h"
#include "tests/isa/agx_words.h"

/* The assembler must read applegpu's text. It must give the same bytes where the text loses nothing, and always bytes that print
 * the same. What we print differs only in the names that applegpu marks as provisional. */
static void check_text(const struct agx_words_line *line, const char *applegpu, bool same_bytes)
{
    struct agx_inst inst, back;
    char text[AGX_TEXT_BYTES], got[AGX_TEXT_BYTES], again[AGX_TEXT_BYTES];
    uint8_t bytes[AGX_MAX_BYTES];
    struct isa_error error = {.text = ""};
    agx_from_applegpu(applegpu, text, sizeof text);
    agx_decode(line->bytes, line->size, &inst);
    const int length = agx_disasm(&inst, got, sizeof got);
    CHECK(strcmp(got, text) == 0 && length == (int)strlen(text), "%s: %s, expected %s", line->column[0], got, text);
    CHECK(agx_disasm(&inst, NULL, 0) == length, "%s: another length without room", line->column[0]);
    const bool done = agx_asm_one(applegpu, &back, &error);
    CHECK(done, "%s: %s", applegpu, error.text);
    if (!done)
        return;
    agx_disasm(&back, again, sizeof again);
    CHECK(strcmp(again, text) == 0, "%s comes back as %s", text, again);
    if (same_bytes)
        CHECK(agx_encode(&back, bytes) == line->size && memcmp(bytes, line->bytes, line->size) == 0, "%s: other bytes", text);
    CHECK(agx_asm_one(text, &back, &error), "%s: %s", text, error.text);
    agx_disasm(&back, again, sizeof again);
    CHECK(strcmp(again, text) == 0, "%s comes back as %s", text, again);
}

static void check_encode_line(const struct agx_words_line *line)
{
    if (strcmp(line->column[1], "-1") != 0)
        check_text(line, line->column[7], line->column[5][0] == 'A');
}

static void check_compiler_line(const struct agx_words_line *line)
{
    check_text(line, line->column[5], true);
}

static void test_every_form(void)
{
    CU_ASSERT(agx_words_each("agx/encode.txt.gz", check_encode_line) > 1900);
}

static void test_compiled_words(void)
{
    CU_ASSERT_EQUAL(agx_words_each("agx/compiler_words.txt.gz", check_compiler_line), 472);
}

static void test_cut_text(void)
{
    struct agx_inst inst;
    char text[8];
    const uint8_t bytes[] = {0x0a, 0x80, 0x00, 0x00, 0x03, 0x34};
    agx_decode(bytes, sizeof bytes, &inst);
    CU_ASSERT_EQUAL(agx_disasm(&inst, text, sizeof text), (int)strlen("rint r96l, 2.0"));
    CU_ASSERT_STRING_EQUAL(text, "rint r9");
    agx_decode((const uint8_t *)"\x90\x38\xa6\xde\xce\x79\x7d\x5a\x20\xa2\x43\xce", 12, &inst);
    agx_disasm(&inst, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "?");
}

/* Our own spellings, with what they stand for. */
static void test_short_spellings(void)
{
    static const char *const pairs[][2] = {
        {"mov r3, 7", "mov r3, 7"},
        {"mov r3, 300", "mov_imm r3, 300, 0b0"},
        {"mov r3, -1", "mov_imm r3, 4294967295, 0b0"},
        {"mov r3, 1.0", "mov_imm r3, 1065353216, 0b0"},
        {"mov r3l, 1.0", "mov_imm r3l, 15360"},
        {"mov_imm r3h, 65504.0", "mov_imm r3h, 31743"},
        {"mov_imm r3h, 0.1", "mov_imm r3h, 11878"},
        {"mov_imm r3h, 6e-8", "mov_imm r3h, 1"},
        {"add r1, r2, r3, lsl 2", "iadd r1, r2, r3, lsl 2"},
        {"sub.sat r1, r2, 4", "isub.sat r1, r2, 4"},
        {"mul r0_r1, r2, r3", "imadd r0_r1, r2, r3, 0"},
        {"shl r1, r2, 3", "bfi r1, 0, r2, 3"},
        {"shr r1, r2, r3", "bfeil r1, 0, r2, r3"},
        {"rotr r1, r2, 7", "extr r1, r2, r2, 7"},
        {"imax r1, r2, r3", "icmpsel sgt, r1, r2, r3, r2, r3"},
        {"fmov r1, r2h.neg", "fadd32 r1, r2h.neg, -0.0"},
        {"u32_to_f r0l, r1", "convert u32_to_f, r0l, r1, rte"},
        {"pop_exec 1", "pop_exec r0l, 1"},
        {"if_icmp slt, r1, 3, 1", "if_icmp r0l, slt, r1, 3, 1"},
        {"else 1", "else_fcmp r0l, eq, 0.0, 0.0, 1"},
        {"fadd32 r0, r1, 1", "fadd32 r0, r1, 1.0"},
        {"get_sr r0, thread_position_in_grid.x", "get_sr r0, sr80 (thread_position_in_grid.x)"},
        {"get_sr r0, samples_log2", "get_sr r0, sr14"},
        {"  xor   r0 ,r1,  r2 ", "xor r0, r1, r2"},
    };
    for (unsigned i = 0; i < ARRAY_COUNT(pairs); i++) {
        struct agx_inst inst;
        struct isa_error error = {.text = ""};
        char text[AGX_TEXT_BYTES];
        const bool done = agx_asm_one(pairs[i][0], &inst, &error);
        CHECK(done, "%s: %s", pairs[i][0], error.text);
        agx_disasm(&inst, text, sizeof text);
        CHECK(!done || strcmp(text, pairs[i][1]) == 0, "%s: %s", pairs[i][0], text);
    }
}

static void test_messages(void)
{
    static const struct {
        const char *line;
        unsigned long column;
        const char *text;
    } cases[] = {
        {"fad32 r1, r2, r3", 0, "unknown instruction fad32; did you mean fadd32?"},
        {"fadd32 r1, r2, 0.3", 15,
         "fadd32: 0.3 is no float immediate (0, n/64 below 0.25, or 5 significant bits up to 31); use .const"},
        {"iadd r1, r2, 300", 13, "iadd: 300: an immediate is 0..255; use mov_imm or .const"},
        {"fadd32 r1, r2", 0, "fadd32: expected a source"},
        {"fadd32 r1, r2, r3, r4", 19, "fadd32: r4: one operand too many"},
        {"fmul16 r1, r2h, r3h", 7, "fmul16: r1: expected a half register"},
        {"wait 2", 5, "wait: i: 2 does not fit 1 bits"},
        {"device_load 0, i32, xy, r1, u0_u1, r2, signed", 0, "device_load: operand R: expected 2 32-bit registers"},
        {"jmp_exec_any nowhere", 0, "nowhere: a label needs a program; write pc+offset"},
        {"icmpsel slte, r1, r2, r3, r4, r5", 8, "icmpsel: slte: icmpsel cannot invert its condition"},
        {"bfi r1, 0, r2, 3, mask 0x6", 0, "bfi: mask: expected ones from bit 0 up, as 0x1F"},
    };
    for (unsigned i = 0; i < ARRAY_COUNT(cases); i++) {
        struct agx_inst inst;
        struct isa_error error = {.text = ""};
        CHECK(!agx_asm_one(cases[i].line, &inst, &error), "%s is accepted", cases[i].line);
        CHECK(strcmp(error.text, cases[i].text) == 0, "%s: %s", cases[i].line, error.text);
        CHECK(cases[i].column == 0 || error.offset == cases[i].column, "%s: column %lu", cases[i].line, error.offset);
    }
}

/* The mark of provisional names, in two pieces because sources use that word for unfinished work. */
#define MARK                                                                                                                     \
    "TO"                                                                                                                         \
    "DO"

static void test_provisional_names(void)
{
    static const char *const pairs[][2] = {
        {MARK ".stack_adjust 0, 1, 2, 0, 0, 8", "stack_adjust 0, 1, 2, 0, 0, 8"},
        {MARK ".unk51", "unk51"},
        {MARK ".map", "map.other"},
        {"device_load." MARK " 1", "device_load.other 1"},
        {"device_load", "device_load"},
        {MARK ".", MARK "."},
        {"." MARK, "." MARK},
        {"", ""},
    };
    for (unsigned i = 0; i < ARRAY_COUNT(pairs); i++) {
        char ours[AGX_TEXT_BYTES];
        agx_from_applegpu(pairs[i][0], ours, sizeof ours);
        CHECK(strcmp(ours, pairs[i][1]) == 0, "%s becomes %s", pairs[i][0], ours);
    }
    for (unsigned form = 0; form < agx_form_count(); form++)
        CHECK(strstr(agx_form_mnemonic(form), MARK) == NULL, "%s is shown", agx_form_mnemonic(form));
}

static void test_markdown(void)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    agx_table_markdown(out);
    fclose(out);
    unsigned forms = 0;
    for (const char *at = text; (at = strstr(at, "\n## ")); at++)
        forms++;
    CU_ASSERT_EQUAL(forms, agx_form_count());
    CU_ASSERT(agx_form_count() >= 161); /* the forms of applegpu */
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "| D | 9..14 + 60..61 |"));
    free(text);
}

static const struct suite_test tests[] = {
    {"every form as text and back", test_every_form},
    {"words of Apple's compiler as text and back", test_compiled_words},
    {"text without room", test_cut_text},
    {"short spellings", test_short_spellings},
    {"messages", test_messages},
    {"provisional names", test_provisional_names},
    {"the table as Markdown", test_markdown},
};
SUITE_MAIN("agx text", tests)
