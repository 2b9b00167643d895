/* orchard run from outside: programs that go wrong, what the database keeps, the document, interrupts. The programs are a handful
 * of instruction words, written here as an ELF file, so that no cross compiler is needed.
 */
#define _GNU_SOURCE
#include "isa/array_count.h"
#include "isa/elf/elf_write.h"
#include "sim/base/npy.h"
#include "tests/sim/document_keys.h"
#include "tests/support/cli_binary.h"
#include "tests/support/suite.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CODE_ADDR      UINT64_C(0x10000)
#define FUNCTION_WORDS 8

static const struct function {
    const char *name;
    uint32_t word[FUNCTION_WORDS];
} functions[] = {
    {"_start", {0xd2800000, 0xd2800ba8, 0xd4000001}}, /* exit(0) */
    {"fine", {0xd28000e0, 0xd65f03c0}},               /* mov x0, #7; ret */
    {"undefined", {0x00000000}},
    {"unmapped", {0xd2820001, 0xf2dbd5a1, 0xf9400420, 0xd65f03c0}},                 /* ldr x0, [0xdead00001000 + 8] */
    {"constant", {0x10000001, 0xf9000020, 0xd65f03c0}},                             /* str x0, [.] */
    {"amx_unset", {0x00201003, 0xd65f03c0}},                                        /* ldx x3 */
    {"amx_unmapped", {0x00201220, 0xd2802001, 0xf2b7dde1, 0x00201001, 0xd65f03c0}}, /* set; ldx [0xbeef0100] */
    {"amx_unknown", {0x00201220, 0x002012e0, 0xd65f03c0}},                          /* set; instruction 23 */
    {"no_call", {0xd2807ce8, 0xd4000001, 0xd65f03c0}},                              /* system call 999 */
    {"forever", {0x14000000}},                                                      /* b . */
    {"print", {0x100000c1, 0xd2800082, 0xd2800020, 0xd2800808, 0xd4000001, 0xd65f03c0, 0x0a216968}}, /* write(1, "hi!\n", 4) */
    {"loop", {0xd2807d01, 0xf1000421, 0x54ffffe1, 0xd65f03c0}}, /* x1 = 1000; do x1--; while (x1) */
    /* x1 = cntvct_el0; 8000 turns of subs, b.ne; exit(cntvct_el0 - x1) */
    {"stopwatch", {0xd53be041, 0xd283e802, 0xf1000442, 0x54ffffe1, 0xd53be040, 0xcb010000, 0xd2800ba8, 0xd4000001}},
    {"load", {0xf9400000, 0xd65f03c0}}, /* ldr x0, [x0] */
};
#define FUNCTION_COUNT (ARRAY_COUNT(functions))

static struct cli_home home = {.name = "run"};

static void write_bytes(const char *name, const void *bytes, size_t size)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", home.folder, name);
    FILE *f = fopen(path, "wb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    CU_ASSERT_EQUAL(fwrite(bytes, 1, size, f), size);
    fclose(f);
}

static uint8_t *make_program(size_t *size)
{
    uint32_t code[FUNCTION_COUNT][FUNCTION_WORDS];
    struct elf_label labels[FUNCTION_COUNT];
    struct isa_error error = {0};
    for (size_t i = 0; i < FUNCTION_COUNT; i++) {
        memcpy(code[i], functions[i].word, sizeof code[i]);
        labels[i] = (struct elf_label){functions[i].name, CODE_ADDR + i * sizeof code[i], sizeof code[i], true};
    }
    const struct elf_program program = {.code = {CODE_ADDR, code, sizeof code}, .labels = labels, .label_count = FUNCTION_COUNT};
    uint8_t *bytes = elf_write(&program, size, &error);
    CHECK(bytes != NULL, "%s", error.text);
    return bytes;
}

/* Makes a fresh folder with the program in it. */
static void open_folder(void)
{
    size_t size = 0;
    cli_home_open(&home);
    uint8_t *bytes = make_program(&size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
    write_bytes("p.elf", bytes, size);
    write_bytes("short.elf", bytes, 100);
    bytes[18] = 62; /* e_machine: x86-64 */
    write_bytes("x86.elf", bytes, size);
    write_bytes("empty", bytes, 0);
    free(bytes);
}

struct expectation {
    const char *arguments;
    int code;
    const char *err[4]; /* each must be in the one line on standard error */
};

static void check_expectations(const struct expectation *rows, size_t count)
{
    open_folder();
    for (size_t i = 0; i < count && cli_ask(&home, "%s", rows[i].arguments); i++) {
        CHECK(home.outcome.code == rows[i].code, "orchard %s: exit %d: %s", rows[i].arguments, home.outcome.code,
              home.outcome.err);
        CHECK(!home.outcome.out[0], "orchard %s: out: %.200s", rows[i].arguments, home.outcome.out);
        for (int k = 0; k < 4 && rows[i].err[k]; k++)
            CHECK(strstr(home.outcome.err, rows[i].err[k]) != NULL, "orchard %s: no '%s' in: %s", rows[i].arguments,
                  rows[i].err[k], home.outcome.err);
        CHECK(strchr(home.outcome.err, '\n') == home.outcome.err + strlen(home.outcome.err) - 1, "orchard %s: one line: %s",
              rows[i].arguments, home.outcome.err);
    }
    cli_home_remove(&home);
}

static void test_faults(void)
{
    static const struct expectation rows[] = {
        {"run $/p.elf --entry undefined", 4, {"0x10040 (undefined)", "udf #0", "undefined instruction"}},
        {"run $/p.elf --entry unmapped", 4, {"0x10068 (unmapped+0x8)", "ldr x0, [x1, #8]", "0xdead00001008", "not mapped"}},
        {"run $/p.elf --entry constant", 4, {"(constant+0x4)", "str x0, [x1]", "0x10080", "not writable"}},
        {"run $/p.elf --entry amx_unset", 4, {"0x100a0 (amx_unset)", "ldx x3", "set must come first"}},
        {"run $/p.elf --entry amx_unmapped", 4, {"(amx_unmapped+0xc)", "ldx x1", "register x0", "0xbeef0100"}},
        {"run $/p.elf --entry amx_unknown", 4, {"(amx_unknown+0x4)", "0x002012e0", "23 does not exist"}},
        {"run $/p.elf --entry no_call --mode functional", 4, {"svc", "999"}},
    };
    check_expectations(rows, ARRAY_COUNT(rows));
}

static void test_wrong_use(void)
{
    static const struct expectation rows[] = {
        {"run", 2, {"workload is missing"}},
        {"run $/nothing", 2, {"No such file"}},
        {"run $", 2, {"not a file"}},
        {"run $/empty", 2, {"empty"}},
        {"run $/short.elf", 2, {"short.elf", "100 bytes"}},
        {"run $/x86.elf", 2, {"62", "AArch64"}},
        {"run $/p.elf --entry fin", 2, {"did you mean fine?"}},
        {"run $/p.elf --entry load --args in:$/nothing.npy", 2, {"nothing.npy", "No such file"}},
        {"run $/p.elf --cores 9", 2, {"4 P and 4 E cores", "9"}},
        {"run $/p.elf --chip m1-mux", 2, {"did you mean m1-max?"}},
        {"run gem:64x64x64", 2, {"did you mean gemm:MxNxK"}},
        {"run gemm:64x64", 2, {"MxNxK", "64x64"}},
        {"run gemm:64x64x64 --unt amx", 2, {"did you mean --unit?"}},
        {"run gemm:64x64x64 --unit apx", 2, {"did you mean amx?"}},
        {"run gemm:64x64x64 --mode ful", 2, {"did you mean full?"}},
        {"run gemm:64x64x64 --precision f31", 2, {"f31", "f32"}},
        {"run gemm:64x64x64 --set amx.z_latency_cycle=3", 2, {"did you mean amx.z_latency_cycles"}},
        {"run gemm:64x64x64 --repeat 0", 2, {"--repeat 0"}},
        {"run gemm:64x64x64 --entry fine", 2, {"--entry", "kernel"}},
        {"run gemm:64x64x64 --args 3", 2, {"--args", "kernel"}},
        {"run gemv:64x64 --cores 2", 2, {"one core"}},
        {"run gemm:64x64x64 --precision bf16 --chip m1", 3, {"bf16"}},
        {"run $/p.elf --detail op", 3, {"not an operator", "kernels"}},
        {"run gemm:64x64x64 --detail opp", 2, {"did you mean op?"}},
        {"run gemm:64x64x64 --detail op --output $/x", 2, {"--output", "no values"}},
        {"run gemm:64x64x64 + stream-triad:64K[unit=cpu,detail=op]", 3, {"operators"}},
    };
    check_expectations(rows, ARRAY_COUNT(rows));
}

static void check_document(json_object *d, const char *mode)
{
    const bool timed = strcmp(mode, "functional") != 0;
    double sum = 0;
    for (size_t i = 0; i < ARRAY_COUNT(document_keys); i++)
        document_at(d, document_keys[i]);
    CU_ASSERT_STRING_EQUAL(json_object_get_string(document_at(d, "mode")), mode);
    CU_ASSERT_EQUAL(document_at(d, "seconds") != NULL, timed);
    json_object_object_foreach(document_at(d, "stalls"), reason, share)
    {
        CHECK(json_object_get_double(share) > 0, "%s", reason);
        sum += json_object_get_double(share);
    }
    CHECK(timed ? fabs(sum - 1) < 1e-6 : sum == 0, "stalls sum to %g", sum);
    const double seconds = document_number(d, "seconds");
    CU_ASSERT(!timed || (document_number(d, "seconds_low") <= seconds && seconds <= document_number(d, "seconds_high")));
}

/* Every key is there in every mode, and `db check` holds after each kind of run. */
static void test_documents(void)
{
    static const char *const modes[] = {"full", "functional", "timing"};
    char checksum[3][64] = {{0}};
    open_folder();
    for (int i = 0; i < 3 && cli_ask(&home, "run gemm:48x32x16 --json -q --mode %s", modes[i]); i++) {
        json_object *d = cli_document(&home.outcome), *c = NULL;
        if (!d)
            break;
        check_document(d, modes[i]);
        if (json_object_object_get_ex(document_at(d, "checksum"), "c", &c))
            snprintf(checksum[i], sizeof checksum[i], "%s", json_object_get_string(c));
        json_object_put(d);
        CHECK(cli_ask(&home, "run $/p.elf --entry loop --json -q --mode %s", modes[i]) &&
                  (d = cli_document(&home.outcome)) != NULL,
              "loop");
        check_document(d, modes[i]);
        CU_ASSERT_EQUAL(document_number(document_at(d, "counters"), "cpu.instructions"), 2002);
        json_object_put(d);
    }
    CU_ASSERT_STRING_EQUAL(checksum[0], checksum[1]);
    CU_ASSERT_STRING_EQUAL(checksum[2], ""); /* without values there is no checksum */
    if (cli_ask(&home, "db check"))
        CHECK(home.outcome.code == 0 && strstr(home.outcome.out, " 0 failed"), "%s", home.outcome.out);
    cli_home_remove(&home);
}

/* Ten times 2002 instructions. With a decrement and a branch per cycle, one pass takes at least 1000 cycles. */
static void test_repeat(void)
{
    open_folder();
    double cycles[2] = {0};
    for (int i = 0; i < 2 && cli_ask(&home, "run $/p.elf --entry loop --json -q --repeat %d", i ? 10 : 1); i++) {
        json_object *d = cli_document(&home.outcome);
        if (!d)
            break;
        CU_ASSERT_EQUAL(document_number(document_at(d, "counters"), "cpu.instructions"), i ? 20020 : 2002);
        cycles[i] = document_number(d, "cycles");
        check_document(d, "full");
        json_object_put(d);
    }
    CHECK(cycles[0] >= 1000 && cycles[1] >= 10000 && cycles[1] <= 10 * cycles[0], "%g and %g cycles", cycles[0], cycles[1]);
    cli_home_remove(&home);
}

/* The counter that a program reads (24 MHz) follows simulated time: the time that the run takes, at any clock. */
static void test_programs_read_simulated_time(void)
{
    static const char *const chips[] = {"m1", "m1 --set cpu_p.clock_ghz=1.6"};
    double seconds[2] = {0};
    open_folder();
    for (int i = 0; i < 2 && cli_ask(&home, "run $/p.elf --entry stopwatch --json -q --rerun --chip %s", chips[i]); i++) {
        json_object *d = cli_document(&home.outcome);
        if (!d)
            break;
        const double ticks = document_number(document_at(d, "counters"), "program.exit_code");
        seconds[i] = document_number(d, "seconds");
        CHECK(fabs(ticks / 24e6 - seconds[i]) <= 1.5 / 24e6 + 0.02 * seconds[i], "%s: %g ticks, %g s", chips[i], ticks,
              seconds[i]);
        json_object_put(d);
    }
    CHECK(seconds[1] > 1.8 * seconds[0], "%g and %g s", seconds[0], seconds[1]);
    cli_home_remove(&home);
}

static int run_id(const char *arguments)
{
    int id = -1;
    if (!cli_ask(&home, "%s --json", arguments))
        return id;
    json_object *d = cli_document(&home.outcome);
    if (d)
        id = json_object_get_int(document_at(d, "run_id"));
    json_object_put(d);
    return id;
}

static void write_input(uint64_t value)
{
    struct npy_array a = {.type = NPY_U64, .dims = 1, .shape = {1}, .data = (const uint8_t *)&value};
    struct orch_error error = {0};
    char path[128];
    snprintf(path, sizeof path, "%s/in.npy", home.folder);
    CHECK(npy_measure(&a) && npy_save(path, &a, &error), "%s", error.text);
}

/* Equal runs are found. A program that prints, or whose input has changed, runs again. */
static void test_found_again(void)
{
    open_folder();
    const int first = run_id("run $/p.elf --entry loop");
    CU_ASSERT_EQUAL(run_id("run $/p.elf --entry loop"), first);
    CU_ASSERT(strstr(home.outcome.err, "--rerun") != NULL);
    CU_ASSERT_NOT_EQUAL(run_id("run $/p.elf --entry loop --rerun"), first);
    for (int i = 0; i < 2 && cli_ask(&home, "run $/p.elf --entry print -q"); i++)
        CHECK(strstr(home.outcome.out, "hi!\n") != NULL, "time %d: %.100s", i, home.outcome.out);
    write_input(5);
    const int five = run_id("run $/p.elf --entry load --args in:$/in.npy");
    CU_ASSERT_EQUAL(run_id("run $/p.elf --entry load --args in:$/in.npy"), five);
    write_input(6);
    CU_ASSERT_NOT_EQUAL(run_id("run $/p.elf --entry load --args in:$/in.npy"), five);
    for (int i = 0; i < 2 && cli_ask(&home, "run $/p.elf --entry fine --args out:f32:4:$/out.npy -q"); i++) {
        char path[128];
        snprintf(path, sizeof path, "%s/out.npy", home.folder);
        CHECK(home.outcome.code == 0 && unlink(path) == 0, "time %d: %s", i, home.outcome.err);
    }
    cli_home_remove(&home);
}

/* An operator is simulated once. It is not simulated again when a value changes that its timing does not read. */
static void test_operators(void)
{
    static const char *const workloads[] = {
        "gemm:64x64x64 --unit gpu --set ane.clock_ghz=", "gemm:64x64x64 --unit amx --set ane.clock_ghz=",
        "softmax:64x64 --unit ane --set cpu_p.dispatch_width=", "copy:64K --unit cpu --set ane.clock_ghz="};
    for (size_t i = 0; i < ARRAY_COUNT(workloads); i++) {
        for (int known = 0; known < 2; known++) {
            if (!cli_ask(&home, "run %s%d --detail op --json", workloads[i], 1 + known))
                break;
            json_object *d = json_tokener_parse(home.outcome.out);
            CHECK(home.outcome.code == 0 && d, "%s: %s", workloads[i], home.outcome.err);
            if (!d)
                continue;
            json_object *first = json_object_array_get_idx(document_at(d, "placement"), 0);
            const char *const why = json_object_get_string(document_at(first, "why"));
            CHECK(strstr(why, known ? "was known" : "made by simulating") != NULL, "%s: %s", workloads[i], why);
            CU_ASSERT_STRING_EQUAL(json_object_get_string(document_at(d, "detail")), "op");
            CHECK(json_object_object_length(document_at(d, "checksum")) == 0 && document_number(d, "joules") > 0,
                  "%s: no values, but energy", workloads[i]);
            json_object_put(d);
        }
    }
    CU_ASSERT(cli_ask(&home, "db check") && home.outcome.code == 0);
    cli_home_remove(&home);
}

/* Ctrl-C ends with 130. After a kill the database is whole and usable. */
static void test_ended_early(void)
{
    static const int signals[] = {SIGINT, SIGKILL};
    open_folder();
    CU_ASSERT_EQUAL(run_id("run $/p.elf --entry fine"), 1);
    for (int i = 0; i < 2; i++) {
        char line[256];
        snprintf(line, sizeof line, "run %s/p.elf --entry forever --db %s/runs.db", home.folder, home.folder);
        const pid_t child = cli_start(line, -1);
        if (child < 0) {
            suite_skip("the orchard binary is not built");
            break;
        }
        usleep(500000);
        const int status = cli_end(child, signals[i]);
        CHECK(i == 0 ? WIFEXITED(status) && WEXITSTATUS(status) == 130 : WIFSIGNALED(status), "status %x", (unsigned)status);
        CHECK(cli_ask(&home, "db check") && home.outcome.code == 0, "%s", home.outcome.out);
    }
    CU_ASSERT_EQUAL(run_id("run $/p.elf --entry fine"), 1);
    cli_home_remove(&home);
}

/* Starts a launch that takes minutes and ends it by a signal as soon as it tells others how far it is. Returns the status. */
static int end_while_it_runs(int number)
{
    char line[256];
    snprintf(line, sizeof line, "run gemm:4096x4096x4096 --unit gpu --detail instr --mode timing -q --db %s/runs.db",
             home.folder);
    const pid_t child = cli_start(line, -1);
    if (child < 0)
        return -1;
    for (int i = 0; i < 200; i++) {
        usleep(50000);
        cli_ask(&home, "db sql SELECT/**/fraction/**/FROM/**/progress -q");
        if (strchr(home.outcome.out, '.'))
            break;
    }
    return cli_end(child, number);
}

/* However a launch of the GPU ends, its row says that it did not finish, and where it stood. */
static void test_killed_launches(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGKILL};
    char line[160];
    open_folder();
    CU_ASSERT_EQUAL(run_id("run $/p.elf --entry fine"), 1);
    for (int i = 0; i < 3 && cli_binary(); i++) {
        const int status = end_while_it_runs(signals[i]);
        CHECK(signals[i] == SIGKILL ? WIFSIGNALED(status) : WIFEXITED(status) && WEXITSTATUS(status) == 128 + signals[i],
              "status %x", (unsigned)status);
        /* The page only reads: it finds the row as the dead process left it. */
        CHECK(cli_ask(&home, "report %d -o $/left.html -q", i + 2) && home.outcome.code == 0, "%s", home.outcome.err);
        snprintf(line, sizeof line, "grep -q 'it was interrupted: .* stood at executing gemm (' %s/left.html", home.folder);
        CHECK(system(line) == 0, "the page does not say where it stood");
        snprintf(line, sizeof line, "grep -q 'gemm:4096x4096x4096 on .*: not finished' %s/left.html", home.folder);
        CHECK(system(line) == 0, "the page does not say that it is not finished");
        CHECK(cli_ask(&home, "db sql SELECT/**/status,error/**/FROM/**/run/**/WHERE/**/id=%d", i + 2) &&
                  strstr(home.outcome.out, "interrupted") && strstr(home.outcome.out, "stood at executing gemm ("),
              "%s", home.outcome.out);
        CHECK(cli_ask(&home, "db check") && home.outcome.code == 0, "%s", home.outcome.out);
    }
    cli_home_remove(&home);
}

/* A file-size limit stands for the full disk: one line reports it, and what was there stays readable. */
static void test_no_room(void)
{
    char line[4400];
    open_folder();
    CU_ASSERT_EQUAL(run_id("run $/p.elf --entry fine"), 1);
    if (!cli_binary()) {
        suite_skip("the orchard binary is not built");
        cli_home_remove(&home);
        return;
    }
    snprintf(line, sizeof line, "ulimit -f 8; %s run %s/p.elf --entry loop -q --db %s/runs.db >/dev/null 2>%s/err", cli_binary(),
             home.folder, home.folder, home.folder);
    const int status = system(line);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 2, "status %x", (unsigned)status);
    snprintf(line, sizeof line, "test $(grep -c '' %s/err) = 1 && grep -q 'runs.db' %s/err", home.folder, home.folder);
    CHECK(system(line) == 0, "%s", line);
    CHECK(cli_ask(&home, "db check") && home.outcome.code == 0, "%s", home.outcome.out);
    CU_ASSERT_EQUAL(run_id("run $/p.elf --entry fine"), 1);
    cli_home_remove(&home);
}

/* Shares have keys of their own. The GPU of an M1: 8 cores x 128 lanes x 2 flop x 1.278 GHz (philipturner/metal-benchmarks). */
static void test_shares_say_what_they_are_of(void)
{
    if (!cli_ask(&home, "run gemm:128x128x128 --unit gpu --chip m1 --json -q"))
        return;
    json_object *const gpu = cli_document(&home.outcome);
    CHECK(fabs(document_number(gpu, "/issue_share/gpu") - document_number(gpu, "/utilisation/gpu")) < 1e-12, "issue slots");
    CHECK(fabs(document_number(gpu, "/peak_share/gpu") / (document_number(gpu, "/gflops") / 2617.3) - 1) < 0.01, "%g of the peak",
          document_number(gpu, "/peak_share/gpu"));
    CHECK(fabs(document_number(gpu, "/peak_share/dram") - document_number(gpu, "/utilisation/dram")) < 1e-12, "DRAM");
    CHECK(!document_at(gpu, "/issue_share/amx") && !document_at(gpu, "/peak_share/cpu"), "other units took no part");
    json_object_put(gpu);
    cli_ask(&home, "run gemm:128x128x128 --unit amx --chip m1 --json -q");
    json_object *const amx = cli_document(&home.outcome);
    CHECK(document_number(amx, "/peak_share/amx") > 0.1 && document_number(amx, "/peak_share/amx") <= 1, "AMX");
    CHECK(document_number(amx, "/issue_share/cpu") > 0 && !document_at(amx, "/issue_share/amx"), "AMX has no issue slots");
    json_object_put(amx);
}

static const struct suite_test tests[] = {
    {"operators are simulated once", test_operators},
    {"faults exit with 4 and say where and why", test_faults},
    {"wrong use exits with 2 and a hint", test_wrong_use},
    {"the document has every key in every mode", test_documents},
    {"shares say what they are of", test_shares_say_what_they_are_of},
    {"repeat runs a program back to back", test_repeat},
    {"a program that reads the clock sees simulated time", test_programs_read_simulated_time},
    {"equal runs are found, but side effects are not skipped", test_found_again},
    {"runs that end early leave a whole database", test_ended_early},
    {"a launch that a signal ends says where it stood", test_killed_launches},
    {"a full disk is reported", test_no_room},
};
SUITE_MAIN("run_cli", tests)
