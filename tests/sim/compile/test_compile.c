/* From source or stored text to code that computes what it should. What needs clang is skipped where there is none. */
#include "sim/compile/compile.h"
#include "sim/compile/kernel_launch.h"
#include "sim/prove/check/gpu_sources.h"
#include "sim/workload/gpu/gpu_functional.h"
#include "tests/sim/agx_example.h"

#include <glob.h>
#include <math.h>
#include <sys/stat.h>

static char cache[] = "/tmp/orchard-cache-XXXXXX";

static bool compile(const char *path, const char *entry, const char *text, struct compile_result *r, struct orch_error *error)
{
    const struct compile_request q = {
        .path = path, .entry = entry, .text = text, .text_bytes = text ? strlen(text) : 0, .optimise = 2};
    *error = (struct orch_error){0};
    return compile_source(&q, r, error);
}

static const char *two(void)
{
    return suite_golden("agx/source/two.ll");
}

static void test_stored_text(void)
{
    struct compile_result r;
    struct orch_error error;
    CHECK(compile(two(), "scale", NULL, &r, &error), "%s", error.text);
    const struct abi_kernel *const k = &r.kernel;
    CU_ASSERT_STRING_EQUAL(k->name, "scale");
    CU_ASSERT_EQUAL_FATAL(k->args, 4);
    CHECK(strcmp(k->arg[0].name, "x") == 0 && k->arg[0].buffer && k->arg[0].type == ELEMENT_F32, "%s", k->arg[0].name);
    CHECK(strcmp(k->arg[3].name, "n") == 0 && !k->arg[3].buffer && k->arg[3].type == ELEMENT_U32, "%s", k->arg[3].name);
    CU_ASSERT_TRUE(k->code_bytes > 20 && k->register_halves > 0 && k->group[0] == 0);
    CU_ASSERT_TRUE_FATAL(r.lines > 2 && r.files > 0);
    for (size_t i = 0; i < r.lines; i++) {
        CHECK(r.line[i].offset < k->code_bytes && r.line[i].line <= 11, "line %u at %u", r.line[i].line, r.line[i].offset);
        CHECK(r.line[i].line == 0 || strstr(r.file[r.line[i].file], "two.cl"), "%s", r.file[r.line[i].file]);
    }
    compile_result_free(&r);
}

struct every {
    unsigned count;
    bool same;
};

static bool compare_kernel(void *context, const struct compile_result *r)
{
    struct every *const e = context;
    struct compile_result one;
    struct orch_error error;
    CHECK(compile(two(), r->kernel.name, NULL, &one, &error), "%s", error.text);
    e->same =
        e->same && one.kernel.hash == r->kernel.hash && one.lines == r->lines && strcmp(one.kernel.path, r->kernel.path) == 0;
    compile_result_free(&one);
    return ++e->count < 2;
}

/* All kernels at once are what each is alone, and the caller says when it has enough. */
static void test_every_kernel(void)
{
    const struct compile_request q = {.path = two(), .optimise = 2};
    struct compile_request bad = q;
    struct every e = {.same = true};
    struct orch_error error = {0};
    CHECK(compile_every(&q, compare_kernel, &e, &error), "%s", error.text);
    CU_ASSERT_TRUE(e.count == 2 && e.same);
    bad.text = "no module";
    bad.text_bytes = strlen(bad.text);
    CU_ASSERT_FALSE(compile_every(&bad, compare_kernel, &e, &error));
    CHECK(error.exit_code == ORCH_USAGE && strstr(error.text, "two.ll:1"), "%s", error.text);
}

/* Sizes of the launch, which the hardware does not tell, come as arguments that nobody gives. */
static void test_sizes(void)
{
    const char *const args[] = {"u32:96"};
    const struct kernel_launch l = {{96, 1, 1}, {32, 1, 1}, args, 1};
    struct compile_result r;
    struct orch_error error;
    uint32_t value[2] = {0, 0};
    CHECK(compile(two(), "count", NULL, &r, &error), "%s", error.text);
    CHECK(kernel_launch_complete(&r.kernel, &l, &error), "%s", error.text);
    for (unsigned i = 1; i < r.kernel.args; i++)
        memcpy(&value[strncmp(r.kernel.arg[i].name, "grid_threadgroups", 17) == 0], r.kernel.arg[i].scalar, 4);
    CU_ASSERT_EQUAL(value[0], 96);
    CU_ASSERT_EQUAL(value[1], 3);
    compile_result_free(&r);
}

/* A table of structures in constant memory: a buffer that nobody gives, kept by the cache with its contents. */
static void test_tables(void)
{
    static const char text[] =
        "target datalayout = \"e-i64:64\"\ntarget triple = \"spir64\"\n"
        "@t = internal addrspace(2) constant [2 x { i8, [2 x i16], i64 }] [{ i8, [2 x i16], i64 } { i8 1, [2 x i16] [i16 2, i16 "
        "-3],"
        " i64 4294967296 }, { i8, [2 x i16], i64 } zeroinitializer], align 8\n"
        "declare i64 @_Z13get_global_idj(i32)\n"
        "define spir_kernel void @k(ptr addrspace(1) %o) {\n"
        "  %i = call i64 @_Z13get_global_idj(i32 0)\n"
        "  %p = getelementptr [2 x { i8, [2 x i16], i64 }], ptr addrspace(2) @t, i64 0, i64 %i, i32 1, i64 1\n"
        "  %x = load i16, ptr addrspace(2) %p, align 2\n"
        "  store i16 %x, ptr addrspace(1) %o, align 2\n"
        "  ret void\n}\n";
    static const uint8_t wanted[32] = {1, 0, 2, 0, 0xfd, 0xff, 0, 0, 0, 0, 0, 0, 1};
    for (int cached = 0; cached < 2; cached++) {
        const char *const args[] = {"u16:8"};
        const struct kernel_launch l = {{2, 1, 1}, {2, 1, 1}, args, 1};
        struct compile_result r;
        struct orch_error error;
        CHECK(compile("k.ll", NULL, text, &r, &error), "%s", error.text);
        CU_ASSERT_EQUAL(r.cached, cached != 0);
        CHECK(kernel_launch_complete(&r.kernel, &l, &error), "%s", error.text);
        CU_ASSERT_EQUAL_FATAL(r.kernel.args, 2);
        const struct abi_arg *const a = &r.kernel.arg[1];
        CHECK(strcmp(a->name, "constant_table_0") == 0 && a->buffer && a->unchanged && a->offset == 8, "%s", a->name);
        CU_ASSERT_EQUAL_FATAL(a->bytes, sizeof wanted);
        CU_ASSERT_EQUAL(memcmp(a->initial, wanted, sizeof wanted), 0);
        compile_result_free(&r);
    }
}

static void test_refused(void)
{
    static const char triple[] = "target datalayout = \"e-i64:64\"\ntarget triple = \"spir64\"\n";
    static const struct {
        const char *path, *entry, *text;
        int code;
        const char *says;
    } rows[] = {
        {"two.ll", NULL, NULL, ORCH_USAGE, "2 kernels (scale, count); choose one with --entry"},
        {"two.ll", "scael", NULL, ORCH_USAGE, "no kernel is named scael; did you mean scale"},
        {"k.ll", NULL, triple, ORCH_USAGE, "no kernel"},
        {"k.ll", NULL, "define spir_kernel void @f() {\n  ret voidd\n}\n", ORCH_USAGE, "k.ll:2:"},
        {"k.txt", NULL, "", ORCH_USAGE, "must end in .cl, .metal or .ll"},
        {"/nonexistent/k.ll", NULL, NULL, ORCH_USAGE, "No such file"},
        {"k.ll", NULL, "define spir_kernel void @f(ptr %x) {\n  ret void\n}\n", ORCH_UNMODELLED, "argument x points to priv"},
        {"k.ll", "f",
         "declare i32 @printf(ptr addrspace(2), ...)\ndefine spir_kernel void @e() {\n  ret void\n}\n"
         "define spir_kernel void @f() {\n  %x = call i32 (ptr addrspace(2), ...) @printf(ptr addrspace(2) null, i32 1)\n"
         "  ret void\n}\n",
         ORCH_UNMODELLED, "printf is not supported"},
        {"k.ll", NULL, "declare void @g()\ndefine spir_kernel void @f() {\n  call void @g()\n  ret void\n}\n", ORCH_UNMODELLED,
         "g"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct compile_result r;
        struct orch_error error;
        const bool stored = strcmp(rows[i].path, "two.ll") == 0;
        CHECK(!compile(stored ? two() : rows[i].path, rows[i].entry, rows[i].text, &r, &error), "row %zu", i);
        CHECK(error.exit_code == rows[i].code && strstr(error.text, rows[i].says), "row %zu: %d %s", i, error.exit_code,
              error.text);
        compile_result_free(&r);
    }
}

static void test_cache(void)
{
    struct compile_result first, second;
    struct orch_error error;
    char pattern[100];
    glob_t found;
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(cache));
    setenv("XDG_CACHE_HOME", cache, 1);
    CHECK(compile(two(), "scale", NULL, &first, &error) && !first.cached, "%s", error.text);
    CHECK(compile(two(), "scale", NULL, &second, &error) && second.cached, "%s", error.text);
    CU_ASSERT_TRUE(first.kernel.hash == second.kernel.hash && first.kernel.args == second.kernel.args);
    CU_ASSERT_TRUE(first.lines == second.lines && memcmp(first.line, second.line, first.lines * sizeof *first.line) == 0);
    compile_result_free(&second);
    CHECK(compile(two(), "count", NULL, &second, &error) && !second.cached, "%s", error.text);
    compile_result_free(&second);
    snprintf(pattern, sizeof pattern, "%s/orchard/compile/*.json", cache);
    CU_ASSERT_EQUAL_FATAL(glob(pattern, 0, NULL, &found), 0);
    CU_ASSERT_EQUAL(found.gl_pathc, 2);
    for (size_t i = 0; i < found.gl_pathc; i++)
        CU_ASSERT_EQUAL(truncate(found.gl_pathv[i], 100), 0);
    globfree(&found);
    CHECK(compile(two(), "scale", NULL, &second, &error) && !second.cached, "a damaged entry was used");
    CU_ASSERT_EQUAL(first.kernel.hash, second.kernel.hash);
    compile_result_free(&first);
    compile_result_free(&second);
    CU_ASSERT_TRUE(suite_remove(cache));
}

/* ---- kernel check --compile ---- */

static void check(const char *folder, const char *name, struct check_report *report, struct check_source_rows *rows,
                  struct orch_error *error)
{
    const struct check_gpu_options options = {.threads = 1};
    const struct compile_request how = {.optimise = 2, .fresh = true};
    *report = (struct check_report){0};
    *error = (struct orch_error){0};
    check_gpu_sources(folder, &name, name ? 1 : 0, &options, &how, report, rows, error);
}

static void test_folder(void)
{
    static const char abi[] =
        "{\"name\":\"scale\",\"files\":{\"code\":\"absent.bin\"},\"launch\":{\"threads_per_threadgroup\":[32],"
        "\"threadgroups\":[3]},\"args\":["
        "{\"name\":\"x\",\"dtype\":\"f32\",\"count\":96,\"initial\":\"index\",\"expected\":\"unchanged\"},"
        "{\"name\":\"y\",\"dtype\":\"f32\",\"count\":96,\"expected\":\"%s*index\"},"
        "{\"name\":\"factor\",\"dtype\":\"f32\",\"value\":2},{\"name\":\"n\",\"dtype\":\"u32\",\"value\":96}],"
        "\"reference_run\":{\"simdgroup_instructions\":36,\"active_lane_instructions\":1152,\"by_mnemonic\":{}}}";
    char folder[] = "/tmp/orchard-sources-XXXXXX", text[1024];
    struct check_report report;
    struct check_source_rows rows;
    struct orch_error error;
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
    FILE *const f = fopen(two(), "rb");
    char *const llvm = calloc(1, 1 << 16);
    const size_t size = fread(llvm, 1, (1 << 16) - 1, f);
    fclose(f);
    example_write(folder, "kernel.ll", llvm, size);
    free(llvm);
    for (int wrong = 0; wrong < 2; wrong++) {
        snprintf(text, sizeof text, abi, wrong ? "3" : "2");
        example_write(folder, "abi.json", text, strlen(text));
        check(folder, NULL, &report, &rows, &error);
        CHECK(report.passed == !wrong && report.failed == (unsigned)wrong, "%lu passed, %s %s", report.passed, error.text,
              report.failures.count ? report.failures.text[0] : "");
        CU_ASSERT_EQUAL_FATAL(rows.count, 1);
        CHECK(rows.row[0].instructions > 0 && rows.row[0].reference == 36 && rows.row[0].right == !wrong, "%lu instructions",
              (unsigned long)rows.row[0].instructions);
        CHECK((check_source_mean(&rows) > 0) == !wrong, "mean %g", check_source_mean(&rows));
        check_report_free(&report);
        check_source_rows_free(&rows);
    }
    CU_ASSERT_TRUE(suite_remove(folder));
}

/* The golden kernels compute the same after our compiler, in at most 15 percent more instructions than after Mesa's. */
static void test_golden(void)
{
    struct check_report report;
    struct check_source_rows rows;
    struct orch_error error = {0};
    if (!compile_is_possible(COMPILE_OPENCL, &error)) {
        suite_skip(error.text);
        return;
    }
    check(suite_golden("agx/kernels"), NULL, &report, &rows, &error);
    CHECK(report.passed == 3 && report.failed == 0, "%lu passed, %s%s", report.passed, error.text,
          report.failures.count ? report.failures.text[0] : "");
    for (size_t i = 0; i < rows.count; i++)
        CHECK((double)rows.row[i].instructions <= 1.15 * (double)rows.row[i].reference, "%s: %lu instructions, reference %lu",
              rows.row[i].name, (unsigned long)rows.row[i].instructions, (unsigned long)rows.row[i].reference);
    check_report_free(&report);
    check_source_rows_free(&rows);
}

/* ---- Metal ---- */

static void check_sums(const struct abi_kernel *k, bool real)
{
    struct gpu_setup setup = {.program = NULL};
    struct gpu_totals totals = {0};
    struct orch_error error = {0};
    struct mem_space *const space = mem_space_create(0);
    const struct gpu_functional functional = {.threads = 1, .cores = 8, .checks = {.poison = true}};
    const bool ok = gpu_setup_open(&setup, k, GPU_G14, space, NULL, &error) && gpu_totals_init(&totals, setup.program, &error) &&
                    gpu_functional_run(&setup, &functional, &totals, &error);
    CHECK(ok, "%s: %s", k->name, error.text);
    for (unsigned row = 0; ok && row < 4; row++) {
        const double sum = element_read(real ? ELEMENT_F32 : ELEMENT_I32, gpu_setup_bytes(&setup, 1) + 4 * row);
        CHECK(sum == 256.0 * 256 * row + 255 * 128, "%s: row %u has %g", k->name, row, sum);
    }
    gpu_totals_free(&totals);
    gpu_setup_close(&setup);
    mem_space_free(space);
}

/* Row sums of 0, 1, 2 ... in rows of 256: templates, function constants, simdgroup functions, threadgroup memory. */
static void test_metal(void)
{
    static const struct {
        const char *entry, *type;
    } rows[] = {{"row_sum_f32", "f32"}, {"row_sum_i32", "i32"}};
    struct orch_error error = {0};
    if (!compile_is_possible(COMPILE_METAL, &error)) {
        suite_skip(error.text);
        return;
    }
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        const char *const constant[] = {"WIDTH=256"};
        const struct compile_request q = {.path = suite_golden("agx/source/row_sum.metal"),
                                          .entry = rows[i].entry,
                                          .constant = constant,
                                          .constants = 1,
                                          .optimise = 2};
        char x[40], y[40];
        const char *const args[] = {x, y};
        const struct kernel_launch l = {{512, 1, 1}, {128, 1, 1}, args, 2};
        struct compile_result r;
        snprintf(x, sizeof x, "%s:4x256:seq", rows[i].type);
        snprintf(y, sizeof y, "%s:4", rows[i].type);
        const bool ok = compile_source(&q, &r, &error) && kernel_launch_complete(&r.kernel, &l, &error);
        CHECK(ok, "%s: %s", rows[i].entry, error.text);
        if (ok)
            check_sums(&r.kernel, i == 0);
        compile_result_free(&r);
    }
}

/* Element types of Metal's buffers, which LLVM's types do not tell: signs, halves of two kinds, elements of vectors, parameters
 * of templates. */
static void test_metal_types(void)
{
    static const char source[] =
        "#include <metal_stdlib>\n"
        "using namespace metal;\n"
        "template <class T, class U> [[kernel]] void k(device const T *a, device U *b, device uchar *c, constant short &d,\n"
        "    device packed_float3 *e, device atomic_int *f, device bfloat *g, device long *h, device half4 *l,\n"
        "    uint i [[thread_position_in_grid]])\n"
        "{ b[i] = U(a[i]) + c[i] + d; e[i] = packed_float3(1); g[i] = bfloat(1.0f); h[i] = i; l[i] = half4(1);\n"
        "  atomic_fetch_add_explicit(f, 1, memory_order_relaxed); }\n"
        "template [[host_name(\"k_iu\")]] [[kernel]] decltype(k<int, uint>) k<int, uint>;\n";
    static const char *const wanted[] = {"i32", "u32", "u8", "i16", "f32", "i32", "bf16", "i64", "f16"};
    const struct compile_request q = {.path = "types.metal", .text = source, .text_bytes = sizeof source - 1, .optimise = 2};
    struct compile_result r;
    struct orch_error error = {0};
    if (!compile_is_possible(COMPILE_METAL, &error)) {
        suite_skip(error.text);
        return;
    }
    const bool ok = compile_source(&q, &r, &error);
    CHECK(ok && r.kernel.args == ARRAY_COUNT(wanted), "%u arguments, %s", r.kernel.args, error.text);
    for (unsigned i = 0; ok && i < ARRAY_COUNT(wanted) && i < r.kernel.args; i++)
        CHECK(strcmp(element_type_name(r.kernel.arg[i].type), wanted[i]) == 0, "argument %u is %s, should be %s", i + 1,
              element_type_name(r.kernel.arg[i].type), wanted[i]);
    compile_result_free(&r);
}

static const struct suite_test tests[] = {
    {"the cache", test_cache}, /* first: it says where the cache is */
    {"stored text", test_stored_text},
    {"every kernel of a source", test_every_kernel},
    {"sizes of the launch", test_sizes},
    {"constant tables", test_tables},
    {"what is refused", test_refused},
    {"a folder with a stored text", test_folder},
    {"the golden kernels", test_golden},
    {"Metal", test_metal},
    {"element types of Metal", test_metal_types},
};
SUITE_MAIN("compile", tests)
