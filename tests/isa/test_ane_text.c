/* Neural Engine text: public programs named and listed, listings assembled to the same bytes, short listings, errors. */
#include "isa/ane/ane_half.h"
#include "isa/ane/ane_text.h"
#include "isa/array_count.h"
#include "tests/isa/ane_golden.h"
#include "units/ane/kernels/ane_kernels.h"

#include <math.h>
#include <string.h>

static bool open_golden(const char *file, struct ane_program *program)
{
    struct isa_error error = {.text = ""};
    size_t size;
    uint8_t *bytes = ane_golden_read(file, &size);
    const bool ok = bytes && ane_program_parse(bytes, size, program, &error);
    CHECK(ok, "%s: %s", file, error.text);
    free(bytes);
    return ok;
}

/* The listing; free it. Not inlined: gcc 12 takes the address that open_memstream keeps for a dangling one. */
__attribute__((noinline)) static char *list(const struct ane_program *program)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    ane_disassemble(program, out);
    fclose(out);
    return text;
}

static void check_bytes(const char *file, const struct ane_program *program, const struct ane_program *back)
{
    CHECK(back->container == program->container, "%s: another container", file);
    CHECK(back->size == program->size && memcmp(back->bytes, program->bytes, program->size) == 0, "%s: other bytes", file);
}

static void test_listings_come_back(void)
{
    for (size_t i = 0; i < ANE_GOLDENS; i++) {
        struct ane_program program, back;
        struct isa_error error = {.text = ""};
        if (!open_golden(ane_goldens[i].file, &program))
            continue;
        char *text = list(&program);
        const bool ok = ane_assemble(text, strlen(text), &back, &error);
        CHECK(ok, "%s: line %lu: %s", ane_goldens[i].file, error.line, error.text);
        if (ok) {
            check_bytes(ane_goldens[i].file, &program, &back);
            ane_program_free(&back);
        }
        free(text);
        ane_program_free(&program);
    }
}

static void put32(uint8_t *at, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> 8 * i);
}

/* The container of eiln/anecc around a raw stream; bytes that nobody reads come back too. */
static void test_anec_comes_back(void)
{
    enum { HEADER = 0x1000, TEXT_BYTES = 0xe74, TABLE_BYTES = 0x80 };
    struct ane_program program, back;
    struct isa_error error = {.text = ""};
    size_t size;
    uint8_t *raw = ane_golden_read("eiln/activation_softmax.bin.gz", &size), *file = calloc(1, HEADER + 0x2000);
    CU_ASSERT_FATAL(raw && file && size < 0x2000);
    put32(file + 8, ANE_TD_BYTES);
    put32(file + 12, 5);
    put32(file + 16, TEXT_BYTES);
    put32(file + 24, TABLE_BYTES);
    put32(file + 32, 1);
    put32(file + 36, 1);
    memset(file + 0xf00, 0x5a, 7);
    memcpy(file + HEADER, raw, size);
    const bool ok = ane_program_parse(file, HEADER + size, &program, &error);
    CHECK(ok, "0x%lx: %s", error.offset, error.text);
    if (ok) {
        char *text = list(&program);
        CU_ASSERT(strstr(text, "; softmax") && strstr(text, ".container anec"));
        const bool done = ane_assemble(text, strlen(text), &back, &error);
        CHECK(done, "line %lu: %s", error.line, error.text);
        if (done) {
            check_bytes("anec", &program, &back);
            ane_program_free(&back);
        }
        free(text);
        ane_program_free(&program);
    }
    free(raw);
    free(file);
}

/* Hex lines alone could carry a file: the fields must be what says the descriptors. */
static void test_fields_carry_the_descriptors(void)
{
    struct ane_program program, back;
    struct isa_error error = {.text = ""};
    if (!open_golden("eiln/activation_softmax.bin.gz", &program))
        return;
    char *text = list(&program), *width = strstr(text, "Common.InDim.Win = 1600");
    CU_ASSERT_PTR_NOT_NULL_FATAL(width);
    memcpy(width, "Common.InDim.Win = 1599", 23);
    if (ane_assemble(text, strlen(text), &back, &error)) {
        CU_ASSERT_EQUAL(back.task[0].width_in, 1599);
        ane_program_free(&back);
    } else {
        CHECK(error.line > 0 && strstr(error.text, "1599") != NULL, "line %lu: %s", error.line, error.text);
    }
    CU_ASSERT_PTR_NULL(strstr(text, ".word"));
    free(text);
    ane_program_free(&program);
}

static void test_operations(void)
{
    for (size_t i = 0; i < ANE_GOLDENS; i++) {
        struct ane_program program;
        char detail[160];
        if (!open_golden(ane_goldens[i].file, &program))
            continue;
        const char *name = ane_program_operation(&program, detail, sizeof detail);
        CHECK(name && strcmp(name, ane_goldens[i].operation) == 0, "%s: %s", ane_goldens[i].file, name ? name : "(none)");
        if (strstr(ane_goldens[i].file, "gemm"))
            CHECK(strstr(detail, "gemm 1x64x64") != NULL, "%s", detail);
        if (strstr(ane_goldens[i].file, "1dcaecacc4"))
            CHECK(strstr(detail, "channels=3->2 with bias") != NULL, "%s", detail);
        ane_program_free(&program);
    }
}

static void test_operands(void)
{
    struct ane_program program;
    struct ane_operation operation;
    if (open_golden("tinygrad/sum.6ca449afd2.hwx.gz", &program)) {
        CU_ASSERT(ane_program_find_operation(&program, &operation));
        CU_ASSERT(operation.inputs == 2 && operation.input[0] == 6 && operation.input[1] == 5 && operation.output == 4);
        ane_program_free(&program);
    }
    if (open_golden("eiln/binary_div.bin.gz", &program)) { /* the divisor is the one whose reciprocal is taken */
        CU_ASSERT(ane_program_find_operation(&program, &operation));
        CU_ASSERT(operation.inputs == 2 && operation.input[0] == 5 && operation.input[1] == 6);
        ane_program_free(&program);
    }
}

/* By structure: the program with another table is another function. */
static void test_every_table_in_a_program(void)
{
    static const char *const differs[][2] = {{"leaky_relu", "alpha=0.01"}, {"hardtanh", "alpha=1"}};
    struct ane_program program;
    const char *name;
    if (!open_golden("eiln/activation_gelu.bin.gz", &program))
        return;
    for (size_t i = 0; (name = ane_table_at(i, NULL)); i++) {
        struct ane_table table;
        char detail[160];
        ane_table_make(name, (double)NAN, &table);
        ane_table_write(&table, program.bytes + program.const_offset);
        const char *found = ane_program_operation(&program, detail, sizeof detail);
        CHECK(found && strcmp(found, name) == 0, "%s is %s", name, found ? found : "(none)");
        for (size_t k = 0; found && k < 2; k++)
            CHECK(strcmp(name, differs[k][0]) != 0 || strncmp(detail, differs[k][1], strlen(differs[k][1])) == 0, "%s %s", name,
                  detail);
    }
    ane_program_free(&program);
}

/* Tasks changed in place: names follow what is computed, and nothing is named that is not computed. */
static void test_structure_decides(void)
{
    struct ane_program program;
    char detail[160];
    if (open_golden("eiln/binary_add.bin.gz", &program)) {
        program.task[0].pe_scale = 0.5F;
        CU_ASSERT_STRING_EQUAL(ane_program_operation(&program, detail, sizeof detail), "ave");
        program.task[0].pe_scale = 0.25F;
        CU_ASSERT_PTR_NULL(ane_program_operation(&program, detail, sizeof detail));
        program.task[0].pe_scale = 1;
        program.task[0].pe_pre_scale = -1;
        CU_ASSERT_STRING_EQUAL(ane_program_operation(&program, detail, sizeof detail), "sub");
        CU_ASSERT_STRING_EQUAL(detail, "x=bar 6 y=bar 5");
        program.task[0].pe_pre_scale = 1;
        program.task[0].pe_op = ANE_PE_MUL;
        program.task[0].second.bar = program.task[0].source.bar;
        CU_ASSERT_STRING_EQUAL(ane_program_operation(&program, detail, sizeof detail), "square");
        program.task[0].pe_op = ANE_PE_ADD;
        program.task[0].pe_reduce = ANE_REDUCE_SUM; /* sum(x + x): of no name */
        CU_ASSERT_PTR_NULL(ane_program_operation(&program, detail, sizeof detail));
        ane_program_free(&program);
    }
    if (open_golden("eiln/unary_abs.bin.gz", &program)) { /* a mean needs the factor of its width */
        program.task[0].pe_absolute = false;
        program.task[0].pe_reduce = ANE_REDUCE_SUM;
        program.task[0].pe_scale = 1.0F / 1600;
        CU_ASSERT_STRING_EQUAL(ane_program_operation(&program, detail, sizeof detail), "reduce_mean");
        program.task[0].pe_scale = 1.0F / 800;
        CU_ASSERT_PTR_NULL(ane_program_operation(&program, detail, sizeof detail));
        ane_program_free(&program);
    }
    if (open_golden("eiln/activation_softmax.bin.gz", &program)) {
        program.task[3].pe_reciprocal = false;
        CU_ASSERT_PTR_NULL(ane_program_operation(&program, detail, sizeof detail));
        ane_program_free(&program);
    }
    if (open_golden("tinygrad/golden.1dcaecacc4.hwx.gz", &program)) {
        program.task[0].nonlinear = ANE_RELU;
        CU_ASSERT_STRING_EQUAL(ane_program_operation(&program, detail, sizeof detail), "conv2d");
        CHECK(strstr(detail, "then relu") != NULL, "%s", detail);
        ane_program_free(&program);
    }
}

static void test_notes(void)
{
    static const struct {
        const char *file, *text;
    } notes[] = {
        {"eiln/activation_softmax.bin.gz", "y = 1.4424 * (x - x2)"},
        {"eiln/activation_softmax.bin.gz", "y = 1 / (sum over width (x))"},
        {"eiln/activation_softmax.bin.gz", "one value per row for the whole width"},
        {"eiln/activation_softmax.bin.gz", "2560 rows of 1600 to one value each"},
        {"eiln/unary_exp.bin.gz", "y = exp2(1.4424 * x)"},
        {"eiln/unary_sigmoid.bin.gz", "y = x + 0.5"},
        {"eiln/unary_tanh.bin.gz", "tanh, mode 0x60, 33 knots 0.125 apart, clamped at 0 (y = 0) and 4 (y = 1)"},
        {"tinygrad/golden.1dcaecacc4.hwx.gz", "y = conv 1x1(x) + bias"},
        {"tinygrad/golden.1dcaecacc4.hwx.gz", "6 weights, 6 not zero, 3 to 3; bias 1, 1"},
        {"tinygrad/golden.1dcaecacc4.hwx.gz", "bar 5: input \"image\""},
        {"tinygrad/gemm.73ae6d7821.hwx.gz", "16 banks from 0x0, 0x2000 bytes"},
        {"tinygrad/gemm.73ae6d7821.hwx.gz", "KernelDMASrc.CoeffDMAConfig[0..15].En = 1"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(notes); i++) {
        struct ane_program program;
        if (!open_golden(notes[i].file, &program))
            continue;
        char *text = list(&program);
        CHECK(strstr(text, notes[i].text) != NULL, "%s: no \"%s\"", notes[i].file, notes[i].text);
        free(text);
        ane_program_free(&program);
    }
}

/* ---- programs of the kernel library ---- */

static const struct ane_limits limits = {.generation = ANE_H13,
                                         .l2_bytes = 1 << 21,
                                         .kernel_max = 29,
                                         .dimension_max = 16384,
                                         .channels_max = 65536,
                                         .pool_max = 29,
                                         .int8_weights = true,
                                         .int4_palette = true,
                                         .sparse_weights = true};

static void check_kernel(const char *workload, const char *precision, const char *operation, const char *in_detail)
{
    struct ane_kernel_request request = {.limits = limits, .seed = 1};
    struct ane_kernel kernel;
    struct ane_program back;
    struct isa_error error = {.text = ""};
    char detail[160];
    const bool built = ane_kernel_parse(workload, precision, &request, &error) && ane_kernel_build(&request, &kernel, &error);
    CHECK(built, "%s: %s", workload, error.text);
    if (!built)
        return;
    const char *name = ane_program_operation(&kernel.program, detail, sizeof detail);
    CHECK(name && strcmp(name, operation) == 0 && strstr(detail, in_detail) != NULL, "%s: %s %s", workload,
          name ? name : "(none)", detail);
    char *text = list(&kernel.program);
    const bool ok = ane_assemble(text, strlen(text), &back, &error);
    CHECK(ok, "%s: line %lu: %s", workload, error.line, error.text);
    if (ok) {
        check_bytes(workload, &kernel.program, &back);
        ane_program_free(&back);
    }
    free(text);
    ane_kernel_free(&kernel);
}

static void test_library_programs(void)
{
    static const char *const elementwise[][2] = {
        {"relu", "relu"},
        {"leaky_relu", "leaky_relu"},
        {"gelu", "gelu"},
        {"silu", "silu"},
        {"sigmoid", "sigmoid"},
        {"exp", "exp"},
        {"log", "log"},
        {"log10", "log10"},
        {"rsqrt", "rsqrt"},
        {"floor", "floor"},
        {"ceil", "ceil"},
        {"div", "div"},
        {"sub", "sub"},
        {"cube", "cube"},
        {"hard_swish", "hardswish"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(elementwise); i++) {
        char workload[64];
        snprintf(workload, sizeof workload, "elementwise:1000,op=%s", elementwise[i][0]);
        check_kernel(workload, NULL, elementwise[i][1], "");
    }
    check_kernel("softmax:128x1000", NULL, "softmax", "axis=width");
    check_kernel("softmax:3000x1000", NULL, "softmax", "axis=width"); /* in tiles */
    check_kernel("softmax:128x1000,log=1", NULL, "logsoftmax", "axis=width");
    check_kernel("gemv:256x256", NULL, "conv2d", "gemm 1x256x256");
    check_kernel("matmul:64x64x64", NULL, "matmul", "");
    check_kernel("attention:h=2,s=64,d=32", NULL, "attention", "alpha=0.1767");
    check_kernel("layernorm:32x128", NULL, "layernorm", "axis=width");
    check_kernel("rmsnorm:32x128", NULL, "rmsnorm", "axis=width");
    check_kernel("reduce:32x128,op=mean", NULL, "reduce_mean", "axis=width");
    check_kernel("reduce:32x128,op=min", NULL, "reduce_min", "axis=width");
    check_kernel("slice:32x64,h=8,w=16", NULL, "rearrange", "");
    check_kernel("concat:32x16x16", NULL, "concat", "");
    check_kernel("stream-triad:65536,s=3", NULL, "scaled_add", "alpha=3");
    check_kernel("pool:c=16,h=16,w=16,r=2,s=2,stride=2", NULL, "maxpool", "kernel=2x2 stride=2x2");
    check_kernel("conv_transpose2d:c=8,h=8,w=8,k=8,r=3,s=3,stride=2", NULL, "conv_transpose2d", "channels=8->8");
    check_kernel("conv2d:c=16,h=20,w=20,k=32,r=3,s=3,pad=1,bias=1,act=relu", NULL, "conv2d",
                 "channels=16->32 with bias, then relu");
    check_kernel("conv2d:c=16,h=20,w=20,k=32,r=3,s=3,pad=1", "i8", "conv2d", "kernel=3x3");
    check_kernel("conv2d:c=16,h=20,w=20,k=32,r=3,s=3,pad=1", "i4", "conv2d", "kernel=3x3");
    check_kernel("conv2d:c=16,h=20,w=20,k=32,r=3,s=3,pad=1", "sparse", "conv2d", "kernel=3x3");
}

/* ---- written by hand ---- */

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

/* A short listing's own listing is complete, and gives the same file. */
static void test_short_listings_become_complete(void)
{
    struct ane_program program, back;
    if (!assemble(SHAPE("3") ELEMENT " .table silu\n" SHAPE("3") ELEMENT " Header[8].RBase0 = 4\n .table relu6\n", &program))
        return;
    CU_ASSERT(program.count == 2);
    char *text = list(&program);
    if (assemble(text, &back)) {
        check_bytes("short", &program, &back);
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

static void test_document(void)
{
    char *text = NULL;
    size_t size, rows = 0;
    FILE *out = open_memstream(&text, &size);
    ane_document(out);
    fclose(out);
    for (const char *at = text; (at = strstr(at, "\n| `")); at++)
        rows++;
    size_t tables = 0;
    while (ane_table_at(tables, NULL))
        tables++;
    CU_ASSERT_EQUAL(rows, ANE_FIELD_COUNT + tables);
    CU_ASSERT(strstr(text, "| `KernelDMASrc.CoeffBaseAddr[i].Addr` | 0x074 + 4i | 6..31 | 64 bytes |") != NULL);
    free(text);
}

static const struct suite_test tests[] = {
    {"listings of public programs assemble to the same files", test_listings_come_back},
    {"a listing of .anec comes back", test_anec_comes_back},
    {"fields carry the descriptors", test_fields_carry_the_descriptors},
    {"operations of public programs", test_operations},
    {"operands of operations", test_operands},
    {"every activation table in a program", test_every_table_in_a_program},
    {"structure decides the name", test_structure_decides},
    {"notes", test_notes},
    {"programs of the kernel library are named and come back", test_library_programs},
    {"short listings", test_short_listings},
    {"short convolution with weights and bias", test_short_convolution},
    {"short listings become complete", test_short_listings_become_complete},
    {"errors name the line", test_errors_name_the_line},
    {"the document lists every field", test_document},
};
SUITE_MAIN("ane_text", tests)
