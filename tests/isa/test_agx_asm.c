/* AGX programs: names, constants, arguments, macros, labels, sections, layout, messages with their places. */
#include "isa/agx/agx_asm.h"
#include "isa/array_count.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool assemble(const char *text, struct agx_assembly *assembly)
{
    struct isa_error error = {.text = ""};
    const bool done = agx_assemble(text, strlen(text), assembly, &error);
    CHECK(done, "line %lu: %s", error.line, error.text);
    return done;
}

/* Disassembles bytes from..to, one instruction on each line. */
static char *listing(const struct agx_assembly *assembly, size_t from, size_t to)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    while (from < to) {
        struct agx_inst inst;
        char line[AGX_TEXT_BYTES];
        const size_t length = agx_decode(assembly->code + from, to - from, &inst);
        agx_disasm(&inst, line, sizeof line);
        fprintf(out, "%s\n", line);
        from += length ? length : to - from;
    }
    fclose(out);
    return text;
}

static void check_main(const char *source, const char *expected)
{
    struct agx_assembly assembly;
    if (!assemble(source, &assembly))
        return;
    char *text = listing(&assembly, assembly.main_offset, assembly.main_end);
    CHECK(strcmp(text, expected) == 0, "%s", text);
    free(text);
    agx_assembly_free(&assembly);
}

static void test_names(void)
{
    check_main(".arg X u64\n.arg n u32\n.arg h f16\n.arg Y u64\n.reg acc r4..r7\n.half c r2h\n.uniform pre u20 f32\n"
               "fmadd32 acc[1], acc[{1+1}].neg, n, pre ; comment\n"
               "fadd16 c, h, c.abs # comment\n"
               "device_load 0, i32, xyzw, acc, X, r0, unsigned // comment\n"
               "device_store 1, i32, xy, acc[2..3], Y, 3, signed, 0\n"
               "stop\n",
               "fmadd32 r5, r6.neg, u2, u20\n"
               "fadd16 r2h, u3l, r2h.abs\n"
               "device_load 0, i32, xyzw, r4_r5_r6_r7, u0_u1, r0, unsigned\n"
               "device_store 1, i32, xy, r6_r7, u4_u5, 3, signed, 0\n"
               "stop\n");
}

static void test_arguments(void)
{
    struct agx_assembly assembly;
    if (!assemble(".arg a u16\n.arg b f32\n.arg c u64\n.arg d i16\nstop", &assembly))
        return;
    static const struct {
        const char *name, *type;
        unsigned offset, bytes;
    } want[] = {{"a", "u16", 0, 2}, {"b", "f32", 4, 4}, {"c", "u64", 8, 8}, {"d", "i16", 16, 2}};
    CU_ASSERT_EQUAL_FATAL(assembly.argument_count, 4);
    CU_ASSERT_EQUAL(assembly.argument_bytes, 18);
    for (unsigned i = 0; i < 4; i++) {
        const struct agx_argument *got = &assembly.arguments[i];
        CHECK(strcmp(got->name, want[i].name) == 0 && strcmp(got->type, want[i].type) == 0 &&
                  got->offset_bytes == want[i].offset && got->bytes == want[i].bytes,
              "%s %s at %u", got->type, got->name, got->offset_bytes);
    }
    agx_assembly_free(&assembly);
}

static void test_constants(void)
{
    struct agx_assembly assembly;
    if (!assemble(".arg X u64\n.const pi f32 3.14159274\n.const tenth f16 0.1\n.const same f32 3.14159274\n.const big u64 "
                  "0x123456789a\n"
                  "fadd32 r0, pi, same\nfadd16 r1l, r1h, tenth\nstop",
                  &assembly))
        return;
    static const uint8_t pool[] = {0xdb, 0x0f, 0x49, 0x40, 0x66, 0x2e, 0x00, 0x00,
                                   0x9a, 0x78, 0x56, 0x34, 0x12, 0x00, 0x00, 0x00};
    CU_ASSERT_EQUAL(assembly.constant_first_half, 4);
    CU_ASSERT_EQUAL(assembly.constant_halves, 8);
    CU_ASSERT_EQUAL(assembly.main_offset, 128);
    CU_ASSERT(memcmp(assembly.code + assembly.constants_offset, pool, sizeof pool) == 0);
    char *text = listing(&assembly, assembly.main_offset, assembly.main_end);
    CU_ASSERT_STRING_EQUAL(text, "fadd32 r0, u2, u2\nfadd16 r1l, r1h, u3l\nstop\n");
    free(text);
    agx_assembly_free(&assembly);
}

static void test_expansion(void)
{
    check_main(".macro step n r\n  fmul32 r{n*2}, {r}.neg, r{n+1}\n.end\n"
               ".set base 4*(1+1)\n"
               ".repeat 2 k\n step {k}, r{base+k}\n .repeat 2\n  wait {i & 1}\n .end\n.end\n"
               "mov r0, {0x10 | ~-2 << 3}\nstop",
               "fmul32 r0, r8.neg, r1\nwait 0\nwait 1\nfmul32 r2, r9.neg, r2\nwait 0\nwait 1\nmov r0, 24\nstop\n");
}

static void test_labels(void)
{
    check_main(
        "mov_imm r0l, 0\ntop: while_icmp ult, r1, r2, 1\njmp_exec_none out\njmp_exec_any top\nout:\npop_exec 1\nstop",
        "mov_imm r0l, 0\nwhile_icmp r0l, ult, r1, r2, 1\njmp_exec_none pc+12\njmp_exec_any pc-12\npop_exec r0l, 1\nstop\n");
}

static void test_sections_and_layout(void)
{
    struct agx_assembly assembly;
    if (!assemble(".local_size 8, 4\n.threadgroup_memory 512\n.stack 16\n.registers 32\nfadd32 r7, r1, r2\n"
                  ".preamble\nmov_imm r9l, 7\nuniform_store x, r9l, 40\nstop\n.main\nstop\n",
                  &assembly))
        return;
    CU_ASSERT(assembly.local_size[0] == 8 && assembly.local_size[1] == 4 && assembly.local_size[2] == 1);
    CU_ASSERT(assembly.threadgroup_memory_bytes == 512 && assembly.stack_words == 16);
    CU_ASSERT_EQUAL(assembly.register_halves, 32);
    CU_ASSERT_EQUAL(assembly.preamble_register_halves, 19);
    CU_ASSERT(assembly.main_offset == 0 && assembly.main_end == 8);
    CU_ASSERT(assembly.has_preamble && assembly.preamble_offset == 128 && assembly.preamble_end == assembly.code_bytes);
    struct agx_inst inst;
    agx_decode(assembly.code + assembly.main_end, 2, &inst);
    CU_ASSERT_EQUAL(inst.op, AGX_OP_TRAP);
    CU_ASSERT_EQUAL(assembly.line_count, 5);
    CU_ASSERT(assembly.lines[1].offset == 6 && assembly.lines[1].line == 11);
    CU_ASSERT(assembly.lines[2].offset == 128 && assembly.lines[2].line == 7);
    agx_assembly_free(&assembly);
}

static void test_messages(void)
{
    static const struct {
        const char *text;
        unsigned long line, column;
        const char *message;
    } cases[] = {
        {"stop\n  fadd32 r0, r1, 0.3\n", 2, 17,
         "fadd32: 0.3 is no float immediate (0, n/64 below 0.25, or 5 significant bits up to 31); use .const"},
        {"jmp_exec_any top\nstop", 1, 0, "there is no label top"},
        {"a:\na:\nstop", 2, 0, "label a exists already"},
        {".arg x u64\nstop", 1, 0, "x means something in operands; choose another name"},
        {".arg X u65\nstop", 1, 0, "u65 is no type; expected u64, u32, i32, f32, u16, i16 or f16"},
        {".reg a r1\n.reg a r2\nstop", 2, 0, "a exists already"},
        {".reg a r1..r3\nfadd32 a[3], r1, r2\nstop", 2, 7, "a[3]: a has 3 registers"},
        {".repeat 3\nstop", 1, 0, "there is no .end for this block"},
        {".end\nstop", 1, 0, ".end without a block"},
        {"mov r0, {1/0}\nstop", 1, 0, "1/0: division by zero"},
        {"mov r0, {q}\nstop", 1, 0, "q: unknown name"},
        {"mov r0, {1\nstop", 1, 8, "{ without }"},
        {".macro m a\nmov r0, {a}\n.end\nm\nstop", 4, 0, "m takes 1 arguments"},
        {".macro m a\nmov r0, {a}, 1\n.end\nm 3\nstop", 2, 0, "mov: 1: one operand too many"},
        {".macro m\nm\n.end\nm\nstop", 2, 0, "macros and repetitions are nested deeper than 16 (macro used in line 4)"},
        {".local_size 33 33\nstop", 1, 0, "a threadgroup has 1 to 1024 threads"},
        {".registers 4\nfadd32 r7, r1, r2\nstop", 0, 0, "the program: .registers 4, but 16 halves are used"},
        {".frob 4\nstop", 1, 0, "unknown directive .frob"},
        {"fadd32 r7, r1, r2\n", 0, 0, "the program does not end with stop"},
        {"; nothing\n", 0, 0, "there are no instructions"},
        {"stop\x01\n", 1, 4, "a character that is no text"},
    };
    for (unsigned i = 0; i < ARRAY_COUNT(cases); i++) {
        struct agx_assembly assembly;
        struct isa_error error = {.text = ""};
        CHECK(!agx_assemble(cases[i].text, strlen(cases[i].text), &assembly, &error), "%s is accepted", cases[i].text);
        CHECK(error.line == cases[i].line && (cases[i].column == 0 || error.offset == cases[i].column), "%s: line %lu column %lu",
              cases[i].text, error.line, error.offset);
        const size_t length = strlen(cases[i].message);
        CHECK(strncmp(error.text, cases[i].message, length) == 0, "%s: %s", cases[i].text, error.text);
        CU_ASSERT_PTR_NULL(assembly.code);
    }
}

/* Texts that would grow without bound are refused in little time. */
static void test_runaway_texts(void)
{
    static const char *const texts[] = {
        ".repeat 200000\n.repeat 200000\n.set a 1\n.end\n.end\nstop",
        ".repeat 262144\nwait 0\nwait 1\n.end\nstop",
        ".macro a\n.repeat 1000\nb\n.end\n.end\n.macro b\n.repeat 1000\nwait 0\n.end\n.end\na\nstop",
    };
    for (unsigned i = 0; i < ARRAY_COUNT(texts); i++) {
        struct agx_assembly assembly;
        struct isa_error error;
        CHECK(!agx_assemble(texts[i], strlen(texts[i]), &assembly, &error), "%s is accepted", texts[i]);
    }
}

static const struct suite_test tests[] = {
    {"names of registers, uniforms and arguments", test_names},
    {"arguments are laid out in order", test_arguments},
    {"constants are pooled", test_constants},
    {"macros, repetitions, expressions", test_expansion},
    {"labels", test_labels},
    {"sections and layout", test_sections_and_layout},
    {"messages and their places", test_messages},
    {"runaway texts are refused", test_runaway_texts},
};
SUITE_MAIN("agx asm", tests)
