/* Whole programs: prepared by sim/program, run by orchard's core and by Unicorn from the same start; output, exit code,
 * registers and every byte of memory must be equal in the end. Programs with a C library also run under qemu.
 */
#include "isa/array_count.h"
#include "sim/workload/cpu/program.h"
#include "sim/workload/cpu/program_args.h"
#include "tests/guest/host/guest_files.h"
#include "tests/guest/host/unicorn_machine.h"
#include "tests/support/suite.h"
#include "units/amx/amx_core.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SPACE_BYTES (UINT64_C(1) << 29) /* small, so that comparing all of it is quick */
#define BUDGET      UINT64_C(400000000)

static bool amx_execute(void *context, unsigned op, uint64_t operand, struct unit_fault *fault)
{
    return amx_core_execute(context, op, operand, fault);
}

static void amx_finish(void *context)
{
    amx_core_finish(context);
}

/* One run of one program on one engine. */
struct outcome {
    struct program *program;
    struct amx_core *amx;
    enum cpu_stop stop;
    int exit_code;
    struct unit_fault fault;
};

static struct program *open_guest(const char *guest, const struct program_options *options, struct orch_error *error)
{
    size_t size = 0;
    uint8_t *file = guest_read(guest, &size);
    if (!file) {
        suite_skip("the guests are not built: aarch64-linux-gnu-gcc is not installed");
        return NULL;
    }
    struct program_options o = *options;
    o.path = guest;
    o.space_bytes = o.space_bytes ? o.space_bytes : SPACE_BYTES;
    struct program *p = program_open(file, size, &o, error);
    free(file); /* the program keeps a copy */
    return p;
}

static bool start(struct outcome *o, const char *guest, const struct program_options *options)
{
    struct orch_error error = {0};
    memset(o, 0, sizeof *o);
    o->program = open_guest(guest, options, &error);
    CHECK(o->program || !error.text[0], "%s", error.text);
    if (!o->program)
        return false;
    o->amx = amx_core_create(AMX_GEN_M1, program_space(o->program), AMX_PATH_FAST);
    const struct cpu_coprocessor hook = {amx_execute, amx_finish, o->amx};
    cpu_core_set_coprocessor(program_core(o->program), &hook);
    return true;
}

static void finish(struct outcome *o)
{
    amx_core_free(o->amx);
    program_close(o->program);
}

static bool run_ours(struct outcome *o, const char *guest, const struct program_options *options)
{
    if (!start(o, guest, options))
        return false;
    o->stop = cpu_core_run(program_core(o->program), BUDGET, NULL, &o->fault);
    o->exit_code = cpu_core_exit_code(program_core(o->program));
    amx_core_finish(o->amx);
    return true;
}

static bool run_unicorn(struct outcome *o, const char *guest, const struct program_options *options)
{
    if (!start(o, guest, options))
        return false;
    struct cpu_linux *linux_system = cpu_linux_create(program_space(o->program), program_linux(o->program));
    const struct cpu_coprocessor hook = {amx_execute, amx_finish, o->amx};
    const struct machine m = {.space = program_space(o->program),
                              .core = program_core(o->program),
                              .system = cpu_linux_hook(linux_system),
                              .coprocessor = &hook,
                              .timeout_us = 60000000};
    o->stop = machine_run(&m, &o->exit_code, &o->fault);
    cpu_linux_free(linux_system);
    amx_core_finish(o->amx);
    return true;
}

/* ---- comparing ---- */

static unsigned prot_at(const struct mem_space *space, uint64_t addr)
{
    unsigned prot = 0;
    for (unsigned bit = MEM_READ; bit <= MEM_EXEC; bit <<= 1)
        prot |= mem_at(space, addr, 1, bit) ? bit : 0;
    return prot;
}

static void compare_memory(const char *guest, const struct outcome *a, const struct outcome *b)
{
    const struct mem_space *x = program_space(a->program), *y = program_space(b->program);
    unsigned mapped = 0, shown = 0;
    for (uint64_t page = 0; page < x->bytes; page += MEM_PAGE_BYTES) {
        const unsigned prot = prot_at(x, page);
        CHECK(prot == prot_at(y, page), "%s: page 0x%lx has permissions %u and %u", guest, (unsigned long)page, prot,
              prot_at(y, page));
        mapped += prot != 0;
        if (!prot || !prot_at(y, page) || memcmp(x->host + page, y->host + page, MEM_PAGE_BYTES) == 0)
            continue;
        for (uint64_t at = page; at < page + MEM_PAGE_BYTES && shown < 8; at++)
            if (x->host[at] != y->host[at]) {
                char place[200];
                shown++;
                CHECK(0, "%s: byte 0x%lx %s is %02x, Unicorn has %02x", guest, (unsigned long)at,
                      program_place(a->program, at, place, sizeof place), x->host[at], y->host[at]);
            }
    }
    CHECK(mapped > 4, "%s: %u pages", guest, mapped);
}

static void compare_registers(const char *guest, const struct outcome *a, const struct outcome *b)
{
    const struct cpu_core *x = program_core(a->program), *y = program_core(b->program);
    for (unsigned i = 0; i < 32; i++) {
        uint8_t v[16], w[16];
        CHECK(cpu_core_x(x, i) == cpu_core_x(y, i), "%s: x%u is 0x%lx, Unicorn has 0x%lx", guest, i,
              (unsigned long)cpu_core_x(x, i), (unsigned long)cpu_core_x(y, i));
        cpu_core_v(x, i, v);
        cpu_core_v(y, i, w);
        CHECK(memcmp(v, w, sizeof v) == 0, "%s: v%u differs", guest, i);
    }
}

static void compare_text(const char *guest, const struct outcome *a, const struct outcome *b)
{
    for (int fd = 1; fd <= 2; fd++) {
        size_t n = 0, m = 0;
        const char *x = program_text(a->program, fd, &n), *y = program_text(b->program, fd, &m);
        CHECK(n == m && memcmp(x, y, n) == 0, "%s: descriptor %d: '%.*s', Unicorn has '%.*s'", guest, fd, (int)n, x, (int)m, y);
    }
}

/* Runs on both and compares everything; leaves our run to the caller. False = skipped. */
static bool run_both(struct outcome *ours, const char *guest, const struct program_options *options)
{
    struct outcome other;
    if (!run_ours(ours, guest, options))
        return false;
    if (!run_unicorn(&other, guest, options)) {
        finish(ours);
        return false;
    }
    CHECK(ours->stop == other.stop, "%s: stop %d (fault %d at 0x%lx: %s), Unicorn %d (fault %d at 0x%lx)", guest, ours->stop,
          ours->fault.kind, (unsigned long)ours->fault.pc, ours->fault.text, other.stop, other.fault.kind,
          (unsigned long)other.fault.pc);
    CHECK(ours->exit_code == other.exit_code, "%s: exit code %d, Unicorn %d", guest, ours->exit_code, other.exit_code);
    compare_text(guest, ours, &other);
    if (ours->stop == other.stop) { /* else one line says it all */
        compare_registers(guest, ours, &other);
        compare_memory(guest, ours, &other);
    }
    finish(&other);
    return true;
}

static void expect_text(const struct outcome *o, const char *guest, const char *expected)
{
    size_t n = 0;
    const char *text = program_text(o->program, 1, &n);
    char *copy = strndup(text, n);
    CHECK(copy && strstr(copy, expected), "%s: no '%s' in '%s'", guest, expected, copy ? copy : "");
    free(copy);
}

/* The same program and arguments under qemu-user: the same output and exit code. */
static void compare_qemu(const struct outcome *o, const char *guest, const char *args)
{
    char command[4400];
    int code = 0;
    size_t n = 0;
    const char *text = program_text(o->program, 1, &n);
    snprintf(command, sizeof command, "HOME_OF_TESTS=here qemu-aarch64-static -0 %s %s %s 2>/dev/null", guest, guest_path(guest),
             args);
    char *want = guest_shell(command, &code);
    if (code == 127)
        suite_skip("qemu-aarch64-static is not installed");
    else
        CHECK(want && code == o->exit_code && strlen(want) == n && memcmp(want, text, n) == 0,
              "%s: exit code %d, qemu %d\n%.*s---- qemu:\n%s", guest, o->exit_code, code, (int)n, text, want ? want : "");
    free(want);
}

/* ---- processes ---- */

static void test_integer_programs(void)
{
    static const char *const guests[] = {"integer_plain", "integer_o2", "integer_o3", "integer_os", "integer_pie"};
    static const char *const args[] = {"one", "two words"};
    const struct program_options options = {.args = args, .arg_count = 2, .seed = 1};
    for (size_t i = 0; i < ARRAY_COUNT(guests); i++) {
        struct outcome o;
        if (!run_both(&o, guests[i], &options))
            return;
        CU_ASSERT_EQUAL(o.exit_code, 42);
        expect_text(&o, guests[i], "crc 00000000cbf43926\n");    /* the check value of CRC-32 */
        expect_text(&o, guests[i], "primes 00000000000008d6\n"); /* 2262 primes below 20000 */
        expect_text(&o, guests[i], "sorted 0000000000000001\n");
        expect_text(&o, guests[i], "argc 0000000000000003\none\ntwo words\n");
        finish(&o);
    }
}

static void test_float_programs(void)
{
    static const char *const guests[] = {"float_o3", "float_ofast", "float_f16"};
    const struct program_options options = {.seed = 1};
    for (size_t i = 0; i < ARRAY_COUNT(guests); i++) {
        struct outcome o;
        if (!run_both(&o, guests[i], &options))
            return;
        CU_ASSERT_EQUAL(o.stop, CPU_STOP_EXIT);
        compare_qemu(&o, guests[i], "");
        finish(&o);
    }
}

static void test_c_library(void)
{
    static const char *const guests[] = {"text", "text_pie"};
    static const char *const args[] = {"a", "b c"}, *const envp[] = {"HOME_OF_TESTS=here"};
    const struct program_options options = {.args = args, .arg_count = 2, .envp = envp, .env_count = 1, .seed = 1};
    for (size_t i = 0; i < ARRAY_COUNT(guests); i++) {
        struct outcome o;
        if (!run_both(&o, guests[i], &options))
            return;
        size_t n = 0;
        const char *text = program_text(o.program, 2, &n);
        CHECK(n == 10 && memcmp(text, "to stderr\n", 10) == 0, "%.*s", (int)n, text);
        CU_ASSERT_EQUAL(o.exit_code, 17);
        compare_qemu(&o, guests[i], "a 'b c'");
        finish(&o);
    }
}

static void test_memory_calls(void)
{
    static const char *const guests[] = {"memory", "memory_4k"};
    const struct program_options options = {.seed = 1};
    for (size_t i = 0; i < ARRAY_COUNT(guests); i++) {
        struct outcome o;
        if (!run_both(&o, guests[i], &options))
            return;
        compare_qemu(&o, guests[i], "");
        CHECK(program_space(o.program)->mapped_peak_bytes < 100u << 20, "%s: %lu bytes at most", guests[i],
              (unsigned long)program_space(o.program)->mapped_peak_bytes);
        finish(&o);
    }
}

/* The same seed gives the same run, another one does not change what a program computes. */
static void test_repeats(void)
{
    const struct program_options one = {.seed = 1}, other = {.seed = 2};
    struct outcome a, b, c;
    if (!run_ours(&a, "memory", &one) || !run_ours(&b, "memory", &one) || !run_ours(&c, "memory", &other))
        return;
    compare_memory("memory", &a, &b);
    compare_registers("memory", &a, &b);
    compare_text("memory", &a, &c);
    CU_ASSERT_EQUAL(cpu_core_instructions(program_core(a.program)), cpu_core_instructions(program_core(b.program)));
    finish(&a);
    finish(&b);
    finish(&c);
}

/* ---- faults ---- */

static void test_faults(void)
{
    static const struct {
        const char *how;
        enum unit_fault_kind kind;
        const char *place, *text;
    } faults[] = {
        {"load", UNIT_FAULT_UNMAPPED, "load_null", "0x8"},      {"store", UNIT_FAULT_PERMISSION, "store_constant+0x4", ""},
        {"jump", UNIT_FAULT_PERMISSION, "words", ""},           {"wild", UNIT_FAULT_UNMAPPED, "0x123456789000", ""},
        {"undefined", UNIT_FAULT_UNDEFINED, "guest_main+", ""}, {"brk", UNIT_FAULT_TRAP, "guest_main+", ""},
        {"call", UNIT_FAULT_TRAP, "", "system call 9999"},      {"abort", UNIT_FAULT_TRAP, "", "SIGABRT"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(faults); i++) {
        const char *args[] = {faults[i].how};
        const struct program_options options = {.args = args, .arg_count = 1};
        struct outcome ours, other;
        struct orch_error error = {0};
        if (!run_ours(&ours, "faults", &options) || !run_unicorn(&other, "faults", &options))
            return;
        CHECK(ours.stop == CPU_STOP_FAULT && ours.fault.kind == faults[i].kind, "%s: stop %d, fault %d: %s", faults[i].how,
              ours.stop, ours.fault.kind, ours.fault.text);
        const bool same_place = other.fault.pc ? other.fault.pc == ours.fault.pc : other.fault.address == ours.fault.address;
        CHECK(other.stop == ours.stop && other.fault.kind == ours.fault.kind && same_place,
              "%s: fault %d at 0x%lx, Unicorn: stop %d, fault %d at 0x%lx", faults[i].how, ours.fault.kind,
              (unsigned long)ours.fault.pc, other.stop, other.fault.kind, (unsigned long)other.fault.pc);
        compare_registers(faults[i].how, &ours, &other);
        compare_memory(faults[i].how, &ours, &other);
        expect_text(&ours, faults[i].how, "before\n");
        CU_ASSERT_FALSE(program_explain_fault(ours.program, &ours.fault, &error));
        CHECK(error.exit_code == ORCH_FAULT && strncmp(error.text, "faults: at 0x", 13) == 0 &&
                  strstr(error.text, faults[i].place) && strstr(error.text, faults[i].text),
              "%s: '%s'", faults[i].how, error.text);
        finish(&ours);
        finish(&other);
    }
}

/* ---- calls ---- */

static struct program_options call_of(const char *entry, const char *const *args, size_t count)
{
    return (struct program_options){.entry = entry, .args = args, .arg_count = count};
}

static void test_many_arguments(void)
{
    static const char *const args[] = {"1",    "0xffffffff", "3",   "4",    "5",    "6",     "7",    "8",    "9",    "-10",
                                       "0.5d", "1.5f",       "2.d", "-3.d", "4e0d", "5.25d", "6.0d", "7.0d", "8.5d", "9.75f"};
    const struct program_options options = call_of("kernel_many", args, 20);
    struct outcome o;
    if (!run_both(&o, "kernels", &options))
        return;
    const double sum = 0.5 + 2 * 1.5 + 3 * 2.0 + 4 * -3.0 + 5 * 4.0 + 6 * 5.25 + 7 * 6.0 + 8 * 7.0 + 9 * 8.5 + 10 * 9.75;
    const uint64_t want = 1 + UINT64_C(0xfffffffe) + 9 + 16 + 25 + 36 + 49 + 64 + 81 - 100 + (uint64_t)(sum * 16);
    CU_ASSERT_EQUAL(o.stop, CPU_STOP_RETURN);
    CHECK(cpu_core_x(program_core(o.program), 0) == want, "%lu, expected %lu",
          (unsigned long)cpu_core_x(program_core(o.program), 0), (unsigned long)want);
    finish(&o);
}

static void test_float_result(void)
{
    static const char *const args[] = {"0.75f", "1e-3f"};
    const struct program_options options = call_of("kernel_half", args, 2);
    struct outcome o;
    if (!run_both(&o, "kernels", &options))
        return;
    uint8_t v[16];
    float value;
    cpu_core_v(program_core(o.program), 0, v);
    memcpy(&value, v, sizeof value);
    CHECK(value == (0.75f + 1e-3f) * 0.5f, "%g", (double)value);
    finish(&o);
}

static void test_string_argument(void)
{
    static const char *const args[] = {"str:seventeen letters"};
    const struct program_options options = call_of("kernel_length", args, 1);
    struct outcome o;
    if (!run_both(&o, "kernels", &options))
        return;
    CU_ASSERT_EQUAL(cpu_core_x(program_core(o.program), 0), 17);
    finish(&o);
}

static void save_floats(const char *path, const float *data, uint64_t count)
{
    struct npy_array a = {.type = NPY_F32, .dims = 1, .shape = {count}, .data = (const uint8_t *)data};
    struct orch_error error = {0};
    CU_ASSERT_TRUE(npy_measure(&a));
    CHECK(npy_save(path, &a, &error), "%s", error.text);
}

/* y = 2 x + y with both arrays from files and y written to another. */
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
    struct outcome o;
    if (run_both(&o, "kernels", &options)) {
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
        finish(&o);
    }
    remove(x_path);
    remove(y_path);
}

/* in: is read-only, and the fault says where the store was. */
static void test_input_is_protected(void)
{
    static const char *const args[] = {"4", "2.0f", "f32:4:seq", "str:0123456789abcdef"};
    const struct program_options options = call_of("kernel_saxpy", args, 4);
    struct outcome o;
    if (!run_ours(&o, "kernels", &options))
        return;
    CHECK(o.stop == CPU_STOP_FAULT && o.fault.kind == UNIT_FAULT_PERMISSION, "stop %d fault %d", o.stop, o.fault.kind);
    finish(&o);
}

static void test_amx_matmul(void)
{
    static const char *const args[] = {"f32:24x16:rand:1", "f32:24x16:rand:2", "out:f32:16x16", "24"};
    const char *const entries[] = {"amx_matmul", "amx_then_cpu"};
    for (int e = 0; e < 2; e++) {
        const struct program_options options = call_of(entries[e], args, 4);
        struct outcome o;
        struct program_result at, b, c;
        if (!run_both(&o, "amx", &options))
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
        finish(&o);
    }
}

/* ---- what a user gets wrong ---- */

static void expect_refusal(const char *guest, const struct program_options *options, const char *expected)
{
    struct orch_error error = {0};
    struct program *p = open_guest(guest, options, &error);
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
    expect_refusal("undefined", &o, "undefined symbols elsewhere, far_away");
    o.space_bytes = 1 << 20;
    expect_refusal("integer_o2", &o, "leave the simulated address space");
}

static void test_argument_errors(void)
{
    static const struct {
        const char *text, *expected;
    } bad[] = {
        {"f32:4x", "not a shape"},
        {"f33:4", "unknown element type 'f33'; did you mean f32?"},
        {"f32", "not an argument"},
        {"f32:0", "not a shape"},
        {"f32:4:rnd:1", "zero, seq, rand:SEED"},
        {"f32:4:rand", "needs a seed"},
        {"f32:4:rand:x", "needs a seed"},
        {"f32:4:fill:", "needs a number"},
        {"f32:4:zero:1", "left over"},
        {"3.5", "3.5f (float) or 3.5d (double)"},
        {"99999999999999999999", "64 bits"},
        {"12abc", "needs its type"},
        {"in:/no/such.npy", "/no/such.npy: cannot be opened"},
        {"in:", "a .npy file must follow"},
        {"out:bf16:4:x.npy", "bf16 has no .npy type"},
        {"out:f32", "a shape must follow"},
        {"buf:", "not a shape"},
        {"f32:1G", "does not fit the simulated address space"},
        {"f32:9999999999x9999999999", "larger than 2^64"},
        {"hello", "not an argument"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
        struct program_arg arg;
        struct orch_error error = {0};
        char quoted[100];
        struct mem_space *space = mem_space_create(UINT64_C(1) << 28);
        bool ok = program_arg_parse(bad[i].text, &arg, &error);
        if (ok) {
            ok = program_arg_place(&arg, space, &error);
            program_arg_release(&arg);
        } else {
            snprintf(quoted, sizeof quoted, "argument '%s': ", bad[i].text);
            CHECK(strncmp(error.text, quoted, strlen(quoted)) == 0, "'%s'", error.text);
        }
        CHECK(!ok && error.exit_code == ORCH_USAGE && strstr(error.text, bad[i].expected), "%s: '%s'", bad[i].text, error.text);
        mem_space_free(space);
    }
}

/* Buffers hold what the grammar promises; f16 and bf16 bits from IEEE 754 and the definition of bfloat16. */
static void test_fills(void)
{
    static const struct {
        const char *text;
        size_t bytes;
        uint8_t first[8];
    } fills[] = {
        {"f16:3:seq", 6, {0, 0, 0x00, 0x3c, 0x00, 0x40}},
        {"bf16:3:seq", 6, {0, 0, 0x80, 0x3f, 0x00, 0x40}},
        {"f16:1:fill:65519", 2, {0xff, 0x7b}},
        {"f16:1:fill:65520", 2, {0x00, 0x7c}},
        {"f16:1:fill:-5.9604644775390625e-8", 2, {0x01, 0x80}},
        {"f16:1:fill:2.98e-8", 2, {0x00, 0x00}},
        {"f16:1:fill:2.99e-8", 2, {0x01, 0x00}},
        {"bf16:1:fill:1.00390625", 2, {0x80, 0x3f}},
        {"bf16:1:fill:1.01171875", 2, {0x82, 0x3f}},
        {"f16:1:fill:6.103515625e-5", 2, {0x00, 0x04}},
        {"i8:4:fill:-3", 4, {0xfd, 0xfd, 0xfd, 0xfd}},
        {"u16:2x2:seq", 8, {0, 0, 1, 0, 2, 0, 3, 0}},
        {"i32:2:seq", 8, {0, 0, 0, 0, 1, 0, 0, 0}},
        {"f64:1:fill:1", 8, {0, 0, 0, 0, 0, 0, 0xf0, 0x3f}},
        {"f32:2:seq", 8, {0, 0, 0, 0, 0, 0, 0x80, 0x3f}},
        {"buf:8", 8, {0}},
        {"buf:4:seq", 4, {0, 1, 2, 3}},
        {"str:ab", 3, {'a', 'b', 0}},
        {"out:u64:1", 8, {0}},
        {"f16:1:fill:inf", 2, {0x00, 0x7c}},
    };
    struct mem_space *space = mem_space_create(UINT64_C(1) << 28);
    for (size_t i = 0; i < ARRAY_COUNT(fills); i++) {
        struct program_arg arg;
        struct orch_error error = {0};
        CHECK(program_arg_parse(fills[i].text, &arg, &error) && program_arg_place(&arg, space, &error), "%s", error.text);
        const uint8_t *host = mem_at(space, arg.bits, fills[i].bytes, MEM_READ);
        CHECK(arg.array.bytes == fills[i].bytes && host && memcmp(host, fills[i].first, fills[i].bytes) == 0, "%s: %02x %02x",
              fills[i].text, host ? host[0] : 0, host ? host[1] : 0);
        program_arg_release(&arg);
    }
    struct program_arg arg;
    struct orch_error error = {0};
    CU_ASSERT_TRUE(program_arg_parse("f64:10K:rand:7", &arg, &error) && program_arg_place(&arg, space, &error));
    CU_ASSERT_EQUAL(arg.array.count, 10240);
    double sum = 0, square = 0;
    for (uint64_t i = 0; i < arg.array.count; i++) {
        double x;
        memcpy(&x, space->host + arg.bits + 8 * i, sizeof x);
        CU_ASSERT_TRUE_FATAL(x >= -1 && x < 1);
        sum += x;
        square += x * x;
    }
    CHECK(fabs(sum / 10240) < 0.03 && fabs(square / 10240 - 1.0 / 3) < 0.02, "mean %g, square %g", sum / 10240, square / 10240);
    program_arg_release(&arg);
    mem_space_free(space);
}

static const struct suite_test tests[] = {
    {"integer programs end as in Unicorn", test_integer_programs},
    {"float programs end as in Unicorn and qemu", test_float_programs},
    {"programs with a C library end as in Unicorn and qemu", test_c_library},
    {"memory calls work as under qemu", test_memory_calls},
    {"runs repeat", test_repeats},
    {"faults are at the instruction, with the reason", test_faults},
    {"twenty arguments in registers and on the stack", test_many_arguments},
    {"float arguments and result", test_float_result},
    {"string argument", test_string_argument},
    {"arrays come from and go to files", test_buffers_through_files},
    {"read-only arguments are protected", test_input_is_protected},
    {"AMX words multiply matrices", test_amx_matmul},
    {"entry errors name what is there", test_entry_errors},
    {"argument errors name the argument", test_argument_errors},
    {"buffers are filled as asked", test_fills},
};
SUITE_MAIN("program", tests)
