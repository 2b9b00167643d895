/* Launch descriptions: what they mean, and which are refused and how. The files are in memory. */
#include "isa/agx/agx_coherent.h"
#include "isa/array_count.h"
#include "tests/sim/agx_example.h"

#include "sim/workload/gpu/abi_generator.h"

#include <math.h>

static const struct abi_target g13g = {"g13g", false}, g13x = {"g13x", true}, g14x = {"g14x", false};
static const uint8_t image[] = {0x62, 0x00, 0x00, 0x00, 0x88, 0x00, 0x08, 0x00}; /* mov_imm r0l, 0; stop; trap */
static const uint8_t coherent_image[] = {0x62, 0x00, 0x00, 0x00, 0x88, 0x00};
static const float four_floats[] = {1, 2, 3, 4};

static const struct example_file files[] = {{"code.bin", image, sizeof image},
                                            {"code.g13x.bin", coherent_image, sizeof coherent_image},
                                            {"four.bin", four_floats, sizeof four_floats},
                                            {"scale.s", example_scale, sizeof example_scale - 1},
                                            {"bad.s", "get_sr r0, sr80\nfmul33 r1, r1, r1\nstop\n", 39},
                                            {0}};

static bool parse(struct abi_kernel *k, const char *text, const struct abi_target *target, struct orch_error *error)
{
    const struct abi_files from = {example_read, (void *)(uintptr_t)files};
    *error = (struct orch_error){0};
    return abi_kernel_parse(k, "here/abi.json", text, strlen(text), &from, target, error);
}

#define LAUNCH "\"launch\":{\"threads_per_threadgroup\":[32],\"threadgroups\":[2]}"
#define CODE   "\"files\":{\"code\":\"code.bin\"}"

static void test_smallest(void)
{
    struct abi_kernel k;
    struct orch_error e;
    const bool ok = parse(&k,
                          "{" CODE "," LAUNCH ",\"args\":[{\"name\":\"x\",\"dtype\":\"f32\",\"count\":64},"
                          "{\"name\":\"n\",\"kind\":\"scalar\",\"dtype\":\"u16\",\"value\":7},"
                          "{\"name\":\"a\",\"kind\":\"scalar\",\"dtype\":\"f32\",\"value\":-1.5}]}",
                          &g13g, &e);
    CHECK(ok, "%s", e.text);
    if (!ok)
        return;
    CU_ASSERT_EQUAL(k.main_offset, 0);
    CU_ASSERT_FALSE(k.has_preamble || k.has_reference);
    CU_ASSERT_EQUAL(k.code_bytes, sizeof image);
    CU_ASSERT_EQUAL(k.grid[0], 64);
    CU_ASSERT_EQUAL(k.grid[1] * k.grid[2] * k.group[1] * k.group[2], 1);
    CU_ASSERT_EQUAL(k.args, 3);
    CU_ASSERT_TRUE(k.arg[0].buffer);
    CU_ASSERT_EQUAL(k.arg[0].bytes, 256);
    CU_ASSERT_EQUAL(k.arg[0].start, ABI_START_ZEROS);
    CU_ASSERT_EQUAL(k.arg[1].offset, 8);
    CU_ASSERT_EQUAL(k.arg[2].offset, 12); /* naturally aligned */
    CU_ASSERT_EQUAL(k.argument_bytes, 16);
    const uint8_t minus_one_and_a_half[] = {0, 0, 0xc0, 0xbf};
    CU_ASSERT_EQUAL(memcmp(k.arg[2].scalar, minus_one_and_a_half, 4), 0);
    abi_kernel_free(&k);
}

static void test_assembler_fills_in(void)
{
    struct abi_kernel k;
    struct orch_error e;
    const bool ok = parse(&k,
                          "{\"files\":{\"code\":\"scale.s\"},\"launch\":{\"grid_threads\":[100]},\"args\":["
                          "{\"name\":\"factor\",\"value\":2},{\"name\":\"ys\",\"dtype\":\"f32\",\"count\":100},"
                          "{\"name\":\"xs\",\"dtype\":\"f32\",\"count\":100,\"initial\":\"f32 seed 1\"}]}",
                          &g13g, &e);
    CHECK(ok, "%s", e.text);
    if (!ok)
        return;
    CU_ASSERT_EQUAL(k.group[0], 32);
    CU_ASSERT_EQUAL(k.grid[0], 100);
    CU_ASSERT_EQUAL(abi_kernel_arg(&k, "xs")->offset, 0);
    CU_ASSERT_EQUAL(abi_kernel_arg(&k, "ys")->offset, 8);
    CU_ASSERT_EQUAL(abi_kernel_arg(&k, "factor")->offset, 16);
    CU_ASSERT_EQUAL(abi_kernel_arg(&k, "factor")->type, ELEMENT_F32);
    CU_ASSERT_EQUAL(k.code[k.code_bytes - 1] & 0x80, 0); /* ends in padding or a stop, never in text */
    abi_kernel_free(&k);
    CU_ASSERT_FALSE(parse(&k, "{\"files\":{\"code\":\"scale.s\"},\"launch\":{\"grid_threads\":[100]},\"args\":[]}", &g13g, &e));
    CHECK(strstr(e.text, "the assembler text has the argument xs") != NULL, "%s", e.text);
    abi_kernel_free(&k);
    CU_ASSERT_FALSE(parse(&k, "{\"files\":{\"code\":\"bad.s\"}," LAUNCH "}", &g13g, &e));
    CHECK(strstr(e.text, "bad.s:2:") != NULL, "%s", e.text);
    abi_kernel_free(&k);
}

static void test_code_for_parts(void)
{
    static const char text[] = "{\"files\":{\"code\":\"code.bin\",\"code_g13x\":\"code.g13x.bin\"},"
                               "\"targets\":{\"code.bin\":[\"g13g\",\"g14x\"],\"code.g13x.bin\":[\"g13x\"]}," LAUNCH "}";
    static const struct {
        const struct abi_target *target;
        size_t bytes;
    } rows[] = {{&g13g, sizeof image}, {&g13x, sizeof coherent_image}, {&g14x, sizeof image}};
    for (size_t i = 0; i < 3; i++) {
        struct abi_kernel k;
        struct orch_error e;
        CU_ASSERT_TRUE(parse(&k, text, rows[i].target, &e));
        CU_ASSERT_EQUAL(k.code_bytes, rows[i].bytes);
        abi_kernel_free(&k);
    }
}

#define BUFFER(more) "{" CODE "," LAUNCH ",\"args\":[{\"name\":\"x\",\"dtype\":\"f32\"," more "}]}"
#define TOP(more)    "{" CODE "," LAUNCH "," more "}"

/* Wrong descriptions, and words that the error line must have: the place, then the reason. */
static const struct {
    const char *text, *place, *reason;
} wrong[] = {
    {"", "abi.json:1", "empty file"},
    {"{", "abi.json:1", "ends in the middle"},
    {"[1]", "abi.json:1", "expected an object"},
    {"{\"a\":1,}", "abi.json:1", ""},
    {"{\n\n\"a\":x}", "abi.json:3", ""},
    {"{} {}", "abi.json:1", "unexpected character"},
    {"{}", "files", "is missing"},
    {"{\"files\":{}}", "files.code", "is missing"},
    {"{\"files\":{\"code\":\"none.bin\"}}", "files.code", "No such file"},
    {"{\"files\":{\"code\":7}}", "files.code", "expected a string, got 7"},
    {"{" CODE "}", "launch", "is missing"},
    {"{" CODE ",\"lauch\":{}}", "abi.json", "did you mean launch?"},
    {"{" CODE ",\"launch\":{\"threadgroups\":[1]}}", "launch.threads_per_threadgroup", "is missing"},
    {"{" CODE ",\"launch\":{\"threads_per_threadgroup\":[32]}}", "launch", "size of the grid is missing"},
    {"{" CODE ",\"launch\":{\"threads_per_threadgroup\":[1025],\"threadgroups\":[1]}}", "threads_per_threadgroup",
     "impossible launch"},
    {"{" CODE ",\"launch\":{\"threads_per_threadgroup\":[32,32,2],\"threadgroups\":[1]}}", "threads_per_threadgroup",
     "at most 1024"},
    {"{" CODE ",\"launch\":{\"threads_per_threadgroup\":[4294967295,4294967295,4294967295],\"threadgroups\":[1]}}",
     "threads_per_threadgroup", "impossible launch"},
    {"{" CODE ",\"launch\":{\"threads_per_threadgroup\":[0],\"threadgroups\":[1]}}", "threads_per_threadgroup",
     "impossible launch"},
    {"{" CODE ",\"launch\":{\"threads_per_threadgroup\":[32],\"threadgroups\":[-1]}}", "launch.threadgroups",
     "impossible launch"},
    {"{" CODE ",\"launch\":{\"threads_per_threadgroup\":[32],\"threadgroups\":[4294967295]}}", "launch.threadgroups",
     "impossible launch"},
    {"{" CODE ",\"launch\":{\"threads_per_threadgroup\":[32],\"threadgroups\":[1,1,1,1]}}", "launch.threadgroups",
     "one to three"},
    {"{" CODE ",\"launch\":{\"threads_per_threadgroup\":[1],\"grid_threads\":[4294967295,4294967295]}}", "launch", "2^40"},
    {"{" CODE ",\"launch\":{\"threads_per_threadgroup\":[32],\"threadgroups\":[2],\"grid_threads\":[65]}}", "grid_threads",
     "are not the 2"},
    {TOP("\"threadgroup_memory_bytes\":32769"), "threadgroup_memory_bytes", "impossible launch"},
    {TOP("\"gpr_halfregs\":257"), "gpr_halfregs", "from 0 to 256"},
    {TOP("\"main\":{\"offset\":8}"), "main.offset", "inside the 8 bytes"},
    {TOP("\"main\":{\"offset\":1}"), "main.offset", "even"},
    {TOP("\"main\":{\"offset\":1.5}"), "main.offset", "expected an integer"},
    {TOP("\"preamble\":{}"), "preamble.offset", "is missing"},
    {TOP("\"constants\":{\"file_offset\":4,\"first_uniform_halfreg\":0,\"count_halfregs\":3}"), "constants.file_offset",
     "beyond the 8"},
    {TOP("\"constants\":{\"first_uniform_halfreg\":511,\"count_halfregs\":2}"), "constants.count_halfregs", "do not fit"},
    {TOP("\"binary_size\":9"), "binary_size", "has 8 bytes"},
    {TOP("\"code_sha256\":\"00\""), "code_sha256", "64 hexadecimal"},
    {TOP("\"code_sha256\":\"0000000000000000000000000000000000000000000000000000000000000000\""), "code_sha256",
     "does not match"},
    {TOP("\"args\":{}"), "args", "expected an array"},
    {TOP("\"args\":[3]"), "args[0]", "expected an object"},
    {TOP("\"args\":[{\"kind\":\"texture\"}]"), "args[0].kind", "neither"},
    {TOP("\"args\":[{\"name\":\"a/b\"}]"), "args[0].name", "without /"},
    {TOP("\"args\":[{\"dtype\":\"f33\"}]"), "args[0].dtype", "unknown element type"},
    {TOP("\"args\":[{\"value\":1}]"), "args[0].dtype", "is missing"},
    {TOP("\"args\":[{\"kind\":\"scalar\",\"dtype\":\"u32\"}]"), "args[0].value", "is missing"},
    {TOP("\"args\":[{\"dtype\":\"u8\",\"value\":256}]"), "args[0].value", "does not fit u8"},
    {TOP("\"args\":[{\"dtype\":\"u32\",\"value\":1,\"bytes_hex\":\"02000000\"}]"), "args[0].bytes_hex", "keep one of the two"},
    {TOP("\"args\":[{\"dtype\":\"u32\",\"bytes_hex\":\"0200\"}]"), "args[0].bytes_hex", "8 hexadecimal digits"},
    {TOP("\"args\":[{\"dtype\":\"u32\",\"value\":1,\"offset_bytes\":3}]"), "args[0].offset_bytes", "even"},
    {TOP("\"args\":[{\"dtype\":\"u32\",\"value\":1,\"offset_bytes\":1022}]"), "args[0].offset_bytes", "1024 bytes"},
    {TOP("\"args\":[{\"dtype\":\"u32\",\"value\":1,\"offset_bytes\":4,\"uniform_halfreg\":4}]"), "args[0].uniform_halfreg",
     "half of"},
    {TOP("\"args\":[{\"name\":\"a\",\"dtype\":\"u32\",\"value\":1},{\"name\":\"b\",\"dtype\":\"u32\",\"value\":1,\"offset_"
         "bytes\":2}]"),
     "args", "a and b overlap"},
    {TOP("\"args\":[{\"name\":\"a\",\"dtype\":\"u32\",\"value\":1},{\"name\":\"a\",\"dtype\":\"u32\",\"value\":1}]"), "args",
     "two arguments"},
    {TOP("\"argument_block_bytes\":2,\"args\":[{\"dtype\":\"u32\",\"value\":1}]"), "argument_block_bytes", "need 4 bytes"},
    {BUFFER("\"initial\":\"zeros\""), "args[0].count", "is missing"},
    {BUFFER("\"count\":0"), "args[0].count", "from 1"},
    {BUFFER("\"count\":1e3"), "args[0].count", "expected an integer"},
    {BUFFER("\"count\":99999999999999999999999"), "args[0].count", "expected an integer from 1"},
    {BUFFER("\"count\":4294967296"), "args", "8 GiB"},
    {BUFFER("\"count\":4,\"bytes\":12"), "args[0].bytes", "correct one of them"},
    {BUFFER("\"bytes\":13"), "args[0].bytes", "not a multiple"},
    {BUFFER("\"count\":5,\"initial\":\"four.bin\""), "args[0].initial", "holds 16 bytes"},
    {BUFFER("\"count\":4,\"initial\":\"none.bin\""), "args[0].initial", "No such file"},
    {BUFFER("\"count\":4,\"initial\":\"f32 seed\""), "args[0].initial", "seed"},
    {BUFFER("\"count\":4,\"initial\":\"u32 seed 3\""), "args[0].initial", "cannot hold"},
    {BUFFER("\"count\":4,\"initial\":\"four.bin\",\"initial_sha256\":"
            "\"0000000000000000000000000000000000000000000000000000000000000000\""),
     "args[0].initial_sha256", "has SHA-256"},
    {BUFFER("\"count\":4,\"compare\":{\"mode\":\"close\"}"), "args[0].compare.mode",
     "expected \"bits\", \"float_eq\" or \"tol\""},
    {BUFFER("\"count\":4,\"compare\":{\"mode\":\"tol\",\"rtol\":-1}"), "args[0].compare", "negative"},
    {BUFFER("\"count\":4,\"size_bytes\":4"), "args[0].size_bytes", "64-bit address"},
    {BUFFER("\"count\":4,\"inital\":\"zeros\""), "args[0]", "did you mean initial?"},
    {TOP("\"reference_run\":{\"simdgroup_instructions\":1}"), "reference_run.active_lane_instructions", "is missing"},
};

static void test_refuses(void)
{
    for (size_t i = 0; i < ARRAY_COUNT(wrong); i++) {
        struct abi_kernel k;
        struct orch_error e;
        CHECK(!parse(&k, wrong[i].text, &g13g, &e), "accepted: %s", wrong[i].text);
        CHECK(e.exit_code == ORCH_USAGE, "%s: exit code %d", wrong[i].text, e.exit_code);
        CHECK(strncmp(e.text, "here/abi.json", 13) == 0 && strstr(e.text, wrong[i].place) && strstr(e.text, wrong[i].reason),
              "%s: %s", wrong[i].text, e.text);
        CHECK(!strchr(e.text, '\n'), "%s: more than one line", wrong[i].text);
        abi_kernel_free(&k);
    }
}

/* First values of the generator's published files: in_a.bin of vecadd (f32 seed 1), in_A.bin of hgemm_f32acc (f16c of 9 bits,
 * seed 16), in_x.bin of hash_u32 (u32 seed 44 or 48).
 */
static void test_generators(void)
{
    static const float seed_1[] = {0x1.10a2dp-3f, 0x1.f75c68p-2f, 0x1.e24e88p-1f, -0x1.c7cf4p-4f};
    static const uint16_t half_16[] = {0xb448, 0xbabc, 0x3990, 0x31c0};
    struct abi_generator g;
    const char *reason;
    float f[4];
    uint16_t h[4];
    uint32_t u[3];
    CU_ASSERT_TRUE(abi_generator_parse("f32 seed 1", ELEMENT_F32, &g, &reason));
    abi_generator_fill(&g, ELEMENT_F32, 4, (uint8_t *)f);
    CU_ASSERT_EQUAL(memcmp(f, seed_1, sizeof f), 0);
    CU_ASSERT_TRUE(abi_generator_parse("f32 seed 1, times 4", ELEMENT_F32, &g, &reason));
    abi_generator_fill(&g, ELEMENT_F32, 4, (uint8_t *)f);
    CU_ASSERT_EQUAL(f[0], 4 * seed_1[0]);
    CU_ASSERT_TRUE(abi_generator_parse("f16c(9 bits) seed 16", ELEMENT_F16, &g, &reason));
    abi_generator_fill(&g, ELEMENT_F16, 4, (uint8_t *)h);
    CU_ASSERT_EQUAL(memcmp(h, half_16, sizeof h), 0);
    CU_ASSERT_TRUE(abi_generator_parse("1000*index", ELEMENT_U32, &g, &reason));
    abi_generator_fill(&g, ELEMENT_U32, 3, (uint8_t *)u);
    CU_ASSERT_TRUE(u[0] == 0 && u[1] == 1000 && u[2] == 2000);
    static const char *const bad[] = {
        "f32",    "f32 seed", "f32 seed x", "f16c(11 bits) seed 1", "f32 seed 1, times", "f32 seed 1 more", "1000*", "nan",
        "seed 3", ""};
    for (size_t i = 0; i < ARRAY_COUNT(bad); i++)
        CHECK(!abi_generator_parse(bad[i], ELEMENT_F32, &g, &reason), "'%s' was read", bad[i]);
}

static void test_compares(void)
{
    const float expected[] = {0.0f, 1.0f, INFINITY, 100.0f}, signs[] = {-0.0f, 1.0f, INFINITY, 100.0f},
                close[] = {1e-7f, 1.00005f, INFINITY, 100.005f}, far[] = {0, 1, INFINITY, 100.1f}, finite[] = {0, 1, 3e38f, 100},
                nan[] = {0, NAN, INFINITY, 100};
    const struct abi_compare bits = {ABI_COMPARE_BITS, 0, 0}, eq = {ABI_COMPARE_FLOAT_EQ, 0, 0},
                             tol = {ABI_COMPARE_TOL, 1e-4, 2e-7};
    const struct {
        const struct abi_compare *rule;
        const float *got;
        bool same;
    } rows[] = {{&bits, expected, true}, {&bits, signs, false}, {&eq, signs, true}, {&eq, close, false}, {&tol, close, true},
                {&tol, far, false},      {&tol, finite, false}, {&tol, nan, false}, {&eq, nan, false}};
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        char text[200] = "";
        CHECK(abi_compare(rows[i].rule, ELEMENT_F32, 4, (const uint8_t *)rows[i].got, (const uint8_t *)expected, text,
                          sizeof text) == rows[i].same,
              "row %zu: %s", i, text);
        CHECK((text[0] != 0) == !rows[i].same, "row %zu: %s", i, text);
    }
}

static void test_elements(void)
{
    uint8_t bytes[8] = {0};
    for (int t = 0; t < ELEMENT_TYPE_COUNT; t++) {
        CU_ASSERT_TRUE(element_write((enum element_type)t, 100, bytes));
        CHECK(element_read((enum element_type)t, bytes) == 100, "%s", element_type_name((enum element_type)t));
        CU_ASSERT_EQUAL(element_type_find(element_type_name((enum element_type)t)), (enum element_type)t);
    }
    CU_ASSERT_TRUE(element_write(ELEMENT_I16, -32768, bytes));
    CU_ASSERT_EQUAL(element_read(ELEMENT_I16, bytes), -32768);
    CU_ASSERT_FALSE(element_write(ELEMENT_I16, 32768, bytes));
    CU_ASSERT_FALSE(element_write(ELEMENT_U64, -1, bytes));
    CU_ASSERT_FALSE(element_write(ELEMENT_U32, NAN, bytes));
    CU_ASSERT_TRUE(element_write(ELEMENT_BF16, 1.00390625, bytes)); /* half way between two: rounds to the even one */
    CU_ASSERT_EQUAL(element_read(ELEMENT_BF16, bytes), 1);
    CU_ASSERT_EQUAL(element_type_find("s32"), ELEMENT_I32);
    CU_ASSERT_EQUAL(element_type_find("string"), ELEMENT_TYPE_COUNT);
}

/* Mesa's compiler made both images of the golden kernel: one becomes the other. */
static void test_coherent(void)
{
    struct orch_error error = {0};
    struct abi_kernel plain, coherent;
    const struct abi_target targets[] = {{"g13g", false}, {"g13x", true}};
    const char *const folder = suite_golden("agx/kernels/histogram");
    CHECK(abi_kernel_open(&plain, folder, &targets[0], &error), "%s", error.text);
    CHECK(abi_kernel_open(&coherent, folder, &targets[1], &error), "%s", error.text);
    CU_ASSERT_EQUAL_FATAL(plain.code_bytes, coherent.code_bytes);
    CU_ASSERT_NOT_EQUAL(memcmp(plain.code, coherent.code, plain.code_bytes), 0);
    CU_ASSERT_TRUE(agx_make_coherent(plain.code, plain.main_offset, plain.code_bytes));
    CU_ASSERT_EQUAL(memcmp(plain.code, coherent.code, plain.code_bytes), 0);
    abi_kernel_free(&plain);
    abi_kernel_free(&coherent);
}

static const struct suite_test tests[] = {
    {"code with coherent atomics", test_coherent},
    {"the smallest description has sensible defaults", test_smallest},
    {"assembler text supplies what the description leaves out", test_assembler_fills_in},
    {"chips with several clusters run the image made for them", test_code_for_parts},
    {"wrong descriptions are refused with place and reason", test_refuses},
    {"generators give the published values", test_generators},
    {"outputs are compared by their rule", test_compares},
    {"elements are read and written in every type", test_elements},
};
SUITE_MAIN("agx_abi", tests)
