/* Whole programs: prepared by sim/workload/cpu, run by orchard's core and by Unicorn from the same start; output, exit code,
 * registers and every byte of memory must be equal in the end. Programs with a C library also run under qemu.
 */
#include "isa/array_count.h"
#include "tests/sim/program_example.h"

/* Runs the same program and arguments under qemu-user, which must give the same output and exit code. */
static void compare_qemu(const struct guest_run *o, const char *guest, const char *args)
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

static void test_integer_programs(void)
{
    static const char *const guests[] = {"integer_plain", "integer_o2", "integer_o3", "integer_os", "integer_pie"};
    static const char *const args[] = {"one", "two words"};
    const struct program_options options = {.args = args, .arg_count = 2, .seed = 1};
    for (size_t i = 0; i < ARRAY_COUNT(guests); i++) {
        struct guest_run o;
        if (!guest_run_both(&o, guests[i], &options))
            return;
        CU_ASSERT_EQUAL(o.exit_code, 42);
        guest_expect_text(&o, guests[i], "crc 00000000cbf43926\n");    /* the check value of CRC-32 */
        guest_expect_text(&o, guests[i], "primes 00000000000008d6\n"); /* 2262 primes below 20000 */
        guest_expect_text(&o, guests[i], "sorted 0000000000000001\n");
        guest_expect_text(&o, guests[i], "argc 0000000000000003\none\ntwo words\n");
        guest_finish(&o);
    }
}

static void test_float_programs(void)
{
    static const char *const guests[] = {"float_o3", "float_ofast", "float_f16"};
    const struct program_options options = {.seed = 1};
    for (size_t i = 0; i < ARRAY_COUNT(guests); i++) {
        struct guest_run o;
        if (!guest_run_both(&o, guests[i], &options))
            return;
        CU_ASSERT_EQUAL(o.stop, CPU_STOP_EXIT);
        compare_qemu(&o, guests[i], "");
        guest_finish(&o);
    }
}

static void test_c_library(void)
{
    static const char *const guests[] = {"text", "text_pie"};
    static const char *const args[] = {"a", "b c"}, *const envp[] = {"HOME_OF_TESTS=here"};
    const struct program_options options = {.args = args, .arg_count = 2, .envp = envp, .env_count = 1, .seed = 1};
    for (size_t i = 0; i < ARRAY_COUNT(guests); i++) {
        struct guest_run o;
        if (!guest_run_both(&o, guests[i], &options))
            return;
        size_t n = 0;
        const char *text = program_text(o.program, 2, &n);
        CHECK(n == 10 && memcmp(text, "to stderr\n", 10) == 0, "%.*s", (int)n, text);
        CU_ASSERT_EQUAL(o.exit_code, 17);
        compare_qemu(&o, guests[i], "a 'b c'");
        guest_finish(&o);
    }
}

static void test_memory_calls(void)
{
    static const char *const guests[] = {"memory", "memory_4k"};
    const struct program_options options = {.seed = 1};
    for (size_t i = 0; i < ARRAY_COUNT(guests); i++) {
        struct guest_run o;
        if (!guest_run_both(&o, guests[i], &options))
            return;
        compare_qemu(&o, guests[i], "");
        CHECK(program_space(o.program)->mapped_peak_bytes < 100u << 20, "%s: %lu bytes at most", guests[i],
              (unsigned long)program_space(o.program)->mapped_peak_bytes);
        guest_finish(&o);
    }
}

/* The same seed gives the same run. Another seed does not change what a program computes. */
static void test_repeats(void)
{
    const struct program_options one = {.seed = 1}, other = {.seed = 2};
    struct guest_run a, b, c;
    if (!guest_run_ours(&a, "memory", &one) || !guest_run_ours(&b, "memory", &one) || !guest_run_ours(&c, "memory", &other))
        return;
    guest_compare_memory("memory", &a, &b);
    guest_compare_registers("memory", &a, &b);
    guest_compare_text("memory", &a, &c);
    CU_ASSERT_EQUAL(cpu_core_instructions(program_core(a.program)), cpu_core_instructions(program_core(b.program)));
    guest_finish(&a);
    guest_finish(&b);
    guest_finish(&c);
}

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
        struct guest_run ours, other;
        struct orch_error error = {0};
        if (!guest_run_ours(&ours, "faults", &options) || !guest_run_unicorn(&other, "faults", &options))
            return;
        CHECK(ours.stop == CPU_STOP_FAULT && ours.fault.kind == faults[i].kind, "%s: stop %d, fault %d: %s", faults[i].how,
              ours.stop, ours.fault.kind, ours.fault.text);
        const bool same_place = other.fault.pc ? other.fault.pc == ours.fault.pc : other.fault.address == ours.fault.address;
        CHECK(other.stop == ours.stop && other.fault.kind == ours.fault.kind && same_place,
              "%s: fault %d at 0x%lx, Unicorn: stop %d, fault %d at 0x%lx", faults[i].how, ours.fault.kind,
              (unsigned long)ours.fault.pc, other.stop, other.fault.kind, (unsigned long)other.fault.pc);
        guest_compare_registers(faults[i].how, &ours, &other);
        guest_compare_memory(faults[i].how, &ours, &other);
        guest_expect_text(&ours, faults[i].how, "before\n");
        CU_ASSERT_FALSE(program_explain_fault(ours.program, &ours.fault, &error));
        CHECK(error.exit_code == ORCH_FAULT && strncmp(error.text, "faults: at 0x", 13) == 0 &&
                  strstr(error.text, faults[i].place) && strstr(error.text, faults[i].text),
              "%s: '%s'", faults[i].how, error.text);
        guest_finish(&ours);
        guest_finish(&other);
    }
}

static const struct suite_test tests[] = {
    {"integer programs end as in Unicorn", test_integer_programs},
    {"float programs end as in Unicorn and qemu", test_float_programs},
    {"programs with a C library end as in Unicorn and qemu", test_c_library},
    {"memory calls work as under qemu", test_memory_calls},
    {"equal seeds give equal runs", test_repeats},
    {"faults name the instruction and the reason", test_faults},
};
SUITE_MAIN("program", tests)
