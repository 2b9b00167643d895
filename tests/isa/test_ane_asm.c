/* The assembler of the Neural Engine: short listings written by hand, and errors. */
#include "isa/ane/ane_half.h"
#include "isa/ane/ane_text.h"
#include "isa/array_count.h"
#include "tests/isa/ane_listing.h"

#include <string.h>

#define SHAPE(channels)                                                                                                          \
    ".td\n"                                                                                                                      \
    " Header[8].RBase0 = 5\n Header[8].WBase = 4\n"                                                                              \
    " Common.InDim.Win = 16\n Common.InDim.Hin = 1\n Common.OutDim.Wout = 16\n Common.OutDim.Hout = 1\n"                         \
    " Common.Cin.Cin = " channels "\n Common.Cout.Cout = " channels "\n"                                                         \
    " L2.SourceCfg.SourceType = 2\n L2.ResultCfg.ResultType = 2\n"                                                               \
    " TileDMASrc.RowStride.Stride = 0x40\n TileDMASrc.PlaneStride.PlaneStride = 0x40\n"                                          \
    " TileDMADst.RowStride.RowStride = 0x40\n TileDMADst.PlaneStride.PlaneStride = 0x40\n"
#define ELEMENT " NE.MACCfg.OpMode = 4\n NE.MACCfg.KernelMode = 1\n"

static bool assemble(const char *text, struct ane_program *program)
{
    struct isa_error error = {.text = ""};
    const bool ok = ane_assemble(text, strlen(text), program, &error);
    CHECK(ok, "line %lu: %s", error.line, error.text);
    return ok;
}

static void check_operation(const char *text, const char *expected)
{
    struct ane_program program;
    char detail[160];
    if (!assemble(text, &program))
        return;
    const char *name = ane_program_operation(&program, detail, sizeof detail);
    CHECK(name && strcmp(name, expected) == 0, "%s, expected %s", name ? name : "(none)", expected);
    ane_program_free(&program);
}

static void test_short_listings(void)
{
    check_operation(SHAPE("1") ELEMENT " NE.MACCfg.NonlinearMode = 1\n", "relu");
    check_operation(SHAPE("1") ELEMENT " .table tanh\n", "tanh");
    check_operation(SHAPE("1") ELEMENT " .table leaky_relu 0.25 ; with a comment\n", "leaky_relu");
    check_operation(SHAPE("1") ELEMENT " NE.PostScale.PostScale = 1.4427\n .table exp2\n", "exp");
    check_operation(".container hwx\n" SHAPE("1") ELEMENT " .table gelu\n", "gelu");
}

static void test_short_convolution(void)
{
    static const char text[] = SHAPE("2") " Common.Cfg.ActiveNE = 1\n .weights 1 2\n   3 4.5\n .bias 0.5 -0.5\n";
    struct ane_program program;
    struct ane_weights weights;
    struct isa_error error = {.text = ""};
    if (!assemble(text, &program))
        return;
    const bool ok =
        ane_weights_unpack(&program.task[0], program.bytes + program.const_offset, program.const_bytes, &weights, &error);
    CHECK(ok, "%s", error.text);
    if (ok) {
        static const double expected[] = {1, 2, 3, 4.5};
        for (unsigned i = 0; i < 4; i++)
            CU_ASSERT_EQUAL(ane_half_value(weights.weight[i]), expected[i]);
        CU_ASSERT(weights.bias && ane_half_value(weights.bias[0]) == 0.5 && ane_half_value(weights.bias[1]) == -0.5);
        ane_weights_free(&weights);
    }
    ane_program_free(&program);
}

/* The listing of a program that a short listing made is complete, and gives the same file. */
static void test_short_listings_become_complete(void)
{
    struct ane_program program, back;
    if (!assemble(SHAPE("3") ELEMENT " .table silu\n" SHAPE("3") ELEMENT " Header[8].RBase0 = 4\n .table relu6\n", &program))
        return;
    CU_ASSERT(program.count == 2);
    char *text = listing_of(&program);
    if (assemble(text, &back)) {
        listing_check_bytes("short", &program, &back);
        ane_program_free(&back);
    }
    free(text);
    ane_program_free(&program);
}

static void test_errors_name_the_line(void)
{
    static const struct {
        const char *text, *why;
        unsigned long line;
    } wrong[] = {
        {"", "no .td", 0},
        {"Common.Cin.Cin = 1\n", "before the first .td", 1},
        {".td\nCommon.Cin.Cim = 1\n", "did you mean Common.Cin.Cin?", 2},
        {".td\n\n; x\nCommon.Cin.Cin = 131072\n", "does not fit 17 bits", 4},
        {".td\nCommon.Cin.Cin 1\n", "expected =", 2},
        {".td\nCommon.Cin.Cin =\n", "expected a value", 2},
        {".td\nCommon.Cin.Cin = one\n", "expected a number, found: one", 2},
        {".td\nTileDMASrc.RowStride.Stride = 0x41\n", "no multiple of 64 bytes", 2},
        {".td\nKernelDMASrc.CoeffDMAConfig[0..16].En = 1\n", "elements", 2},
        {".td\nKernelDMASrc.CoeffDMAConfig[0..2].En = 1 1\n", "fewer values", 2},
        {".td\nKernelDMASrc.CoeffDMAConfig[0].En = 1 1\n", "more values", 2},
        {".td\n.word 0x2 = 1\n", "multiple of 4", 2},
        {".td\n.table tanx\n", "did you mean tanh?", 2},
        {".td\n.nothing\n", "no such directive", 2},
        {".container elf\n", "raw, hwx or anec", 1},
        {".size 0x400\n.td 0x200\n", "beyond the file", 2},
        {".size 0x400\n.td 0x0\n.bytes 0x3ff\n 00 00\n", "beyond the file", 3},
        {".size 0x400\n.td 0x0\n.bytes 0x3f0\n 0g\n", "hex", 4},
        {".size 0x99999999999\n", "beyond what fits", 1},
        {SHAPE("2") " .weights 1 2 3\n", "3 weights, the shape asks for 4", 16},
        {SHAPE("1") ELEMENT " Header[0].TID = 7\n", "Header[0].TID = 7, but", 18},
    };
    for (size_t i = 0; i < ARRAY_COUNT(wrong); i++) {
        struct ane_program program;
        struct isa_error error = {.text = ""};
        const bool ok = ane_assemble(wrong[i].text, strlen(wrong[i].text), &program, &error);
        CHECK(!ok && strstr(error.text, wrong[i].why) && (error.line == wrong[i].line || !wrong[i].line), "%zu: line %lu: %s", i,
              error.line, error.text);
        if (ok)
            ane_program_free(&program);
        else
            CU_ASSERT(program.bytes == NULL && program.td == NULL);
    }
}

static const struct suite_test tests[] = {
    {"short listings", test_short_listings},
    {"short convolution with weights and bias", test_short_convolution},
    {"short listings become complete", test_short_listings_become_complete},
    {"errors name the line", test_errors_name_the_line},
};
SUITE_MAIN("ane_asm", tests)
