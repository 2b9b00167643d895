/* Listings of Neural Engine programs: what they say, and that they assemble to the same bytes. */
#include "isa/ane/ane_text.h"
#include "isa/array_count.h"
#include "tests/isa/ane_listing.h"
#include "units/ane/kernels/ane_kernels.h"

#include <string.h>

static void test_listings_come_back(void)
{
    for (size_t i = 0; i < ANE_GOLDENS; i++) {
        struct ane_program program, back;
        struct isa_error error = {.text = ""};
        if (!listing_open_golden(ane_goldens[i].file, &program))
            continue;
        char *text = listing_of(&program);
        const bool ok = ane_assemble(text, strlen(text), &back, &error);
        CHECK(ok, "%s: line %lu: %s", ane_goldens[i].file, error.line, error.text);
        if (ok) {
            listing_check_bytes(ane_goldens[i].file, &program, &back);
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

/* The container of eiln/anecc around a raw stream. Bytes that nobody reads must come back too. */
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
        char *text = listing_of(&program);
        CU_ASSERT(strstr(text, "; softmax") && strstr(text, ".container anec"));
        const bool done = ane_assemble(text, strlen(text), &back, &error);
        CHECK(done, "line %lu: %s", error.line, error.text);
        if (done) {
            listing_check_bytes("anec", &program, &back);
            ane_program_free(&back);
        }
        free(text);
        ane_program_free(&program);
    }
    free(raw);
    free(file);
}

/* Hex lines alone could carry a file, but the fields must determine the descriptors. */
static void test_fields_carry_the_descriptors(void)
{
    struct ane_program program, back;
    struct isa_error error = {.text = ""};
    if (!listing_open_golden("eiln/activation_softmax.bin.gz", &program))
        return;
    char *text = listing_of(&program), *width = strstr(text, "Common.InDim.Win = 1600");
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
        if (!listing_open_golden(notes[i].file, &program))
            continue;
        char *text = listing_of(&program);
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
    char *text = listing_of(&kernel.program);
    const bool ok = ane_assemble(text, strlen(text), &back, &error);
    CHECK(ok, "%s: line %lu: %s", workload, error.line, error.text);
    if (ok) {
        listing_check_bytes(workload, &kernel.program, &back);
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
    {"notes", test_notes},
    {"programs of the kernel library are named and come back", test_library_programs},
    {"the document lists every field", test_document},
};
SUITE_MAIN("ane_text", tests)
