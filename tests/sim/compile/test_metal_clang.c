/* The Metal library and the pre-pass with clang 16: kernels of our own reach LLVM's representation. Skipped without clang 16. */
#include "sim/compile/metal_prepass.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEADERS ORCHARD_SOURCE_DIR "/sim/compile/metal"
#define KERNELS ORCHARD_SOURCE_DIR "/tests/sim/compile/kernels.metal"

static bool missing_clang(void)
{
    if (system("command -v clang-16 >/dev/null 2>&1") == 0)
        return false;
    suite_skip("clang-16 is not installed");
    return true;
}

/* Standard output of a command; NULL when it fails. To be freed. */
static char *output_of(const char *command)
{
    FILE *pipe = popen(command, "r");
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    if (!pipe || !out)
        return NULL;
    for (int c; (c = fgetc(pipe)) != EOF;)
        fputc(c, out);
    fclose(out);
    if (pclose(pipe) == 0)
        return text;
    free(text);
    return NULL;
}

static void options(char *command, size_t size, const char *const *option)
{
    for (; *option; option++)
        snprintf(command + strlen(command), size - strlen(command), " '%s'", *option);
}

/* The representation of a file's kernels; NULL = all or the one wanted. To be freed. */
static char *compiled(const char *path, const char *wanted, struct metal_unit *unit, const char *behind)
{
    char command[2048] = "clang-16", file[] = "/tmp/orchard-metal-XXXXXX";
    options(command, sizeof command, metal_preprocess_options());
    snprintf(command + strlen(command), sizeof command - strlen(command), " -isystem %s %s", HEADERS, path);
    char *text = output_of(command);
    *unit = (struct metal_unit){.wanted = wanted};
    CU_ASSERT_PTR_NOT_NULL(text);
    if (!text)
        return NULL;
    struct orch_error error = {0};
    const bool ok = metal_prepass(text, strlen(text), unit, &error);
    CHECK(ok, "%s", error.text);
    free(text);
    const int at = ok ? mkstemp(file) : -1;
    if (at < 0)
        return NULL;
    CU_ASSERT_EQUAL(write(at, unit->text, unit->bytes), (ssize_t)unit->bytes);
    close(at);
    snprintf(command, sizeof command, "clang-16");
    options(command, sizeof command, metal_compile_options());
    snprintf(command + strlen(command), sizeof command - strlen(command), " -O2 -S -emit-llvm %s -o - %s", file, behind);
    char *llvm = output_of(command);
    CU_ASSERT_PTR_NOT_NULL(llvm);
    unlink(file);
    return llvm;
}

static void test_all_kernels(void)
{
    if (missing_clang())
        return;
    static const char *const name[] = {"saxpy",        "tiled",   "mm",         "softmax_f32", "softmax_f16",
                                       "softmax_bf16", "swz_f32", "arithmetic", "together"};
    struct metal_unit unit;
    char *llvm = compiled(KERNELS, NULL, &unit, "");
    CU_ASSERT_EQUAL_FATAL(unit.kernels, ARRAY_COUNT(name));
    for (size_t i = 0; llvm && i < unit.kernels; i++) {
        char part[128];
        CU_ASSERT_STRING_EQUAL(unit.kernel[i].name, name[i]);
        snprintf(part, sizeof part, "@%s = dso_local addrspace(1) constant ptr @", unit.kernel[i].entry);
        CHECK(strstr(llvm, part) != NULL, "no %s", part);
        snprintf(part, sizeof part, "c\"host_name=%s\\00\"", name[i]);
        CHECK(strstr(llvm, part) != NULL, "no %s", part);
    }
    free(llvm);
    metal_unit_free(&unit);
}

static void expect_calls(const char *llvm, const char *const *call, size_t calls)
{
    for (size_t i = 0; llvm && i < calls; i++)
        CHECK(strstr(llvm, call[i]) != NULL, "no %s in\n%s", call[i], llvm);
}

static void test_one_kernel(void)
{
    if (missing_clang())
        return;
    static const char *const mm[] = {"@__orchard_matrix_fma_f32(<2 x float>", "@__orchard_lane()", "@__orchard_group_id(i32",
                                     "(ptr addrspace(1) nocapture noundef", "ptr addrspace(6)"};
    struct metal_unit unit;
    char *llvm = compiled(KERNELS, "mm", &unit, "");
    expect_calls(llvm, mm, ARRAY_COUNT(mm));
    CU_ASSERT_TRUE(llvm && !strstr(llvm, "host_name=saxpy"));
    CU_ASSERT_TRUE(llvm && !strstr(llvm, "@__orchard_barrier"));
    free(llvm);
    metal_unit_free(&unit);
    static const char *const tiled[] = {"addrspace(3) global [16 x [16 x float]]", "@__orchard_barrier()", "@llvm.fma.f32("};
    llvm = compiled(KERNELS, "tiled", &unit, "");
    expect_calls(llvm, tiled, ARRAY_COUNT(tiled));
    free(llvm);
    metal_unit_free(&unit);
    static const char *const together[] = {"@__orchard_atomic_add_u32_as1(ptr addrspace(1)",
                                           "@__orchard_atomic_smax_i32_as3(ptr addrspace(3)",
                                           "@__orchard_atomic_cmpxchg_u32_as1",
                                           "@__orchard_simd_shuffle_xor_u32",
                                           "@__orchard_simd_prefix_fadd_f32",
                                           "@__orchard_quad_reduce_fadd_f32",
                                           "load volatile i32, ptr addrspace(3)",
                                           "@__orchard_simd_ballot(i1 noundef zeroext"};
    llvm = compiled(KERNELS, "together", &unit, "");
    expect_calls(llvm, together, ARRAY_COUNT(together));
    free(llvm);
    metal_unit_free(&unit);
}

/* A mistake in the source is reported where it stands. */
static void test_lines(void)
{
    if (missing_clang())
        return;
    static const char source[] = "#include <metal_stdlib>\nusing namespace metal;\n\nkernel void f(device int *a,\n"
                                 "  uint i [[thread_position_in_grid]]) {\n  threadgroup int s[4];\n  a[i] = missing + 1.0;\n}\n";
    char path[] = "/tmp/orchard-metal-XXXXXX.metal";
    const int at = mkstemps(path, 6);
    CU_ASSERT_TRUE_FATAL(at >= 0);
    CU_ASSERT_EQUAL(write(at, source, sizeof source - 1), (ssize_t)sizeof source - 1);
    close(at);
    struct metal_unit unit;
    char *text = compiled(path, NULL, &unit, "2>&1; true");
    char place[128];
    snprintf(place, sizeof place, "%s:7:10: error: use of undeclared identifier 'missing'", path);
    CHECK(text && strstr(text, place), "%s", text ? text : "nothing");
    free(text);
    metal_unit_free(&unit);
    unlink(path);
}

/* Each swizzle file is what the script writes. */
static void test_swizzle_files(void)
{
    char folder[] = "/tmp/orchard-metal-XXXXXX", command[512];
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
    snprintf(command, sizeof command,
             "sh %s/write_swizzles.sh %s/x && for n in 2 3 4; do cmp %s/orchard_swizzle$n %s/orchard_swizzle$n; done", HEADERS,
             folder, HEADERS, folder);
    char *text = output_of(command);
    CU_ASSERT_PTR_NOT_NULL(text);
    free(text);
    CU_ASSERT_TRUE(suite_remove(folder));
}

static const struct suite_test tests[] = {{"compiles kernels of every kind", test_all_kernels},
                                          {"compiles one kernel", test_one_kernel},
                                          {"reports lines of the source", test_lines},
                                          {"has the swizzles that the script writes", test_swizzle_files}};
SUITE_MAIN("metal with clang", tests)
