/* Calls of functions in object files: arguments in registers, on the stack and in buffers, results, and refused entries. */
#include "sim/base/npy.h"
#include "tests/sim/program_example.h"

#include <math.h>
#include <unistd.h>

static struct program_options call_of(const char *entry, const char *const *args, size_t count)
{
    return (struct program_options){.entry = entry, .args = args, .arg_count = count};
}

static void test_many_arguments(void)
{
    static const char *const args[] = {"1",    "0xffffffff", "3",   "4",    "5",    "6",     "7",    "8",    "9",    "-10",
                                       "0.5d", "1.5f",       "2.d", "-3.d", "4e0d", "5.25d", "6.0d", "7.0d", "8.5d", "9.75f"};
    const struct program_options options = call_of("kernel_many", args, 20);
    struct guest_run o;
    if (!guest_run_both(&o, "kernels", &options))
        return;
    const double sum = 0.5 + 2 * 1.5 + 3 * 2.0 + 4 * -3.0 + 5 * 4.0 + 6 * 5.25 + 7 * 6.0 + 8 * 7.0 + 9 * 8.5 + 10 * 9.75;
    const uint64_t want = 1 + UINT64_C(0xfffffffe) + 9 + 16 + 25 + 36 + 49 + 64 + 81 - 100 + (uint64_t)(sum * 16);
    CU_ASSERT_EQUAL(o.stop, CPU_STOP_RETURN);
    CHECK(cpu_core_x(program_core(o.program), 0) == want, "%lu, expected %lu",
          (unsigned long)cpu_core_x(program_core(o.program), 0), (unsigned long)want);
    guest_finish(&o);
}

static void test_float_result(void)
{
    static const char *const args[] = {"0.75f", "1e-3f"};
    const struct program_options options = call_of("kernel_half", args, 2);
    struct guest_run o;
    if (!guest_run_both(&o, "kernels", &options))
        return;
    uint8_t v[16];
    float value;
    cpu_core_v(program_core(o.program), 0, v);
    memcpy(&value, v, sizeof value);
    CHECK(value == (0.75f + 1e-3f) * 0.5f, "%g", (double)value);
    guest_finish(&o);
}

static void test_string_argument(void)
{
    static const char *const args[] = {"str:seventeen letters"};
    const struct program_options options = call_of("kernel_length", args, 1);
    struct guest_run o;
    if (!guest_run_both(&o, "kernels", &options))
        return;
    CU_ASSERT_EQUAL(cpu_core_x(program_core(o.program), 0), 17);
    guest_finish(&o);
}

static void save_floats(const char *path, const float *data, uint64_t count)
{
    struct npy_array a = {.type = NPY_F32, .dims = 1, .shape = {count}, .data = (const uint8_t *)data};
    struct orch_error error = {0};
    CU_ASSERT_TRUE(npy_measure(&a));
    CHECK(npy_save(path, &a, &error), "%s", error.text);
}

/* y = 2 x + y, with both arrays from files and y written to another file. */
static void test_buffers_through_files(void)
{
    enum { N = 37 };
    char x_path[64], y_path[64], in[80], inout[160];
    float x[N], y[N];
    snprintf(x_path, sizeof x_path, "/tmp/orchard_x_%ld.npy", (long)getpid());
    snprintf(y_path, sizeof y_path, "/tmp/orchard_y_%ld.npy", (long)getpid());
    for (int i = 0; i < N; i++) {
        x[i] = (float)i * 0.3f;
        y[i] = 10.0f - (float)i;
    }
    save_floats(x_path, x, N);
    save_floats(y_path, y, N);
    snprintf(in, sizeof in, "in:%s", x_path);
    snprintf(inout, sizeof inout, "inout:%s:%s.out.npy", y_path, y_path);
    const char *args[] = {"37", "2.0f", in, inout};
    const struct program_options options = call_of("kernel_saxpy", args, 4);
    struct guest_run o;
    if (guest_run_both(&o, "kernels", &options)) {
        struct program_result r;
        struct orch_error error = {0};
        struct npy_array got;
        char out_path[80];
        CU_ASSERT_EQUAL(program_result_count(o.program), 1);
        CU_ASSERT_TRUE(program_result(o.program, 0, &r) && strcmp(r.name, "arg4") == 0 && strcmp(r.type, "f32") == 0);
        CHECK(program_save_results(o.program, &error), "%s", error.text);
        snprintf(out_path, sizeof out_path, "%s.out.npy", y_path);
        CHECK(npy_load(out_path, &got, &error) && got.count == N, "%s", error.text);
        for (int i = 0; i < N; i++)
            y[i] = fmaf(2.0f, x[i], y[i]);
        CU_ASSERT_TRUE(got.data && memcmp(got.data, y, sizeof y) == 0);
        npy_release(&got);
        remove(out_path);
        guest_finish(&o);
    }
    remove(x_path);
    remove(y_path);
}

/* An argument that is only read is protected, so that a store to it faults. */
static void test_input_is_protected(void)
{
    static const char *const args[] = {"4", "2.0f", "f32:4:seq", "str:0123456789abcdef"};
    const struct program_options options = call_of("kernel_saxpy", args, 4);
    struct guest_run o;
    if (!guest_run_ours(&o, "kernels", &options))
        return;
    CHECK(o.stop == CPU_STOP_FAULT && o.fault.kind == UNIT_FAULT_PERMISSION, "stop %d fault %d", o.stop, o.fault.kind);
    guest_finish(&o);
}

static void test_amx_matmul(void)
{
    static const char *const args[] = {"f32:24x16:rand:1", "f32:24x16:rand:2", "out:f32:16x16", "24"};
    const char *const entries[] = {"amx_matmul", "amx_then_cpu"};
    for (int e = 0; e < 2; e++) {
        const struct program_options options = call_of(entries[e], args, 4);
        struct guest_run o;
        struct program_result at, b, c;
        if (!guest_run_both(&o, "amx", &options))
            return;
        CU_ASSERT_EQUAL(o.stop, CPU_STOP_RETURN);
        CU_ASSERT_TRUE_FATAL(program_result(o.program, 0, &at) && program_result(o.program, 1, &b) &&
                             program_result(o.program, 2, &c));
        float x[24][16], y[24][16], want[16][16] = {{0}}, sum = 0, got;
        memcpy(y, at.array.data, sizeof y);
        memcpy(x, b.array.data, sizeof x);
        for (int k = 0; k < 24; k++)
            for (int i = 0; i < 16; i++)
                for (int j = 0; j < 16; j++)
                    want[i][j] = k ? fmaf(x[k][j], y[k][i], want[i][j]) : x[k][j] * y[k][i];
        CU_ASSERT_EQUAL(memcmp(c.array.data, want, sizeof want), 0);
        for (int i = 0; i < 256; i++)
            sum += want[i / 16][i % 16];
        uint8_t v[16];
        cpu_core_v(program_core(o.program), 0, v);
        memcpy(&got, v, sizeof got);
        CHECK(e == 0 || got == sum, "%g, expected %g", (double)got, (double)sum);
        guest_finish(&o);
    }
}

static void expect_refusal(const char *guest, const struct program_options *options, const char *expected)
{
    struct orch_error error = {0};
    struct program *p = guest_open(guest, options, &error);
    CHECK(!p && error.exit_code == ORCH_USAGE && strncmp(error.text, guest, strlen(guest)) == 0 && strstr(error.text, expected),
          "'%s' (exit code %d), expected '%s'", error.text, error.exit_code, expected);
    program_close(p);
}

static void test_entry_errors(void)
{
    size_t size;
    uint8_t *there = guest_read("kernels", &size);
    if (!there) {
        suite_skip("the guests are not built: aarch64-linux-gnu-gcc is not installed");
        return;
    }
    free(there);
    struct program_options o = call_of("kernel_saxpi", NULL, 0);
    expect_refusal("kernels", &o, "no function is named kernel_saxpi; did you mean kernel_saxpy?");
    o = call_of("zzzzzzzzzzz", NULL, 0);
    expect_refusal("kernels", &o, "it has kernel_dispatch, ");
    o = call_of("kernel_common", NULL, 0);
    expect_refusal("kernels", &o, "is not code");
    o = call_of(NULL, NULL, 0);
    expect_refusal("kernels", &o, "name a function with --entry; it has kernel_dispatch");
    expect_refusal("undefined", &o, "name a function with --entry; it has needs");
    o.space_bytes = 1 << 20;
    expect_refusal("integer_o2", &o, "leave the simulated address space");
}

static const struct suite_test tests[] = {
    {"twenty arguments go to registers and the stack", test_many_arguments},
    {"float arguments give a float result", test_float_result},
    {"a string is an argument", test_string_argument},
    {"arrays come from and go to files", test_buffers_through_files},
    {"read-only arguments are protected from stores", test_input_is_protected},
    {"AMX words multiply matrices", test_amx_matmul},
    {"unknown entries are refused with the names that exist", test_entry_errors},
};
SUITE_MAIN("program calls", tests)
