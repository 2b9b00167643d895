/* Programs with threads, signals and files, through the command line: what they print, how they end, and that equal runs are
 * equal to the last digit. */
#define _GNU_SOURCE
#include "tests/guest/host/guest_files.h"
#include "tests/support/cli_binary.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct cli_home home = {.name = "programs", .options = "-q"};

/* Runs a guest; false: skipped. */
static bool ask(const char *guest, const char *options)
{
    char path[4096];
    snprintf(path, sizeof path, "%s", guest_path(guest));
    if (access(path, R_OK) != 0) {
        suite_skip("the guests are not built: aarch64-linux-gnu-gcc is not installed");
        return false;
    }
    return cli_ask(&home, "run %s %s", path, options);
}

static void expect(const char *guest, const char *options, int code, const char *out, const char *err)
{
    if (!ask(guest, options))
        return;
    CHECK(home.outcome.code == code, "%s: exit code %d, expected %d: %s", options, home.outcome.code, code, home.outcome.err);
    CHECK(!out || strstr(home.outcome.out, out), "%s: no '%s' in '%.400s'", options, out, home.outcome.out);
    CHECK(!err || strstr(home.outcome.err, err), "%s: no '%s' in '%s'", options, err, home.outcome.err);
}

static void test_threads(void)
{
    static const char *const modes[] = {"--mode functional", "--mode full", "--mode full --cold", "--mode full --thread-cores 2",
                                        "--mode full --core e --chip m1-max"};
    char options[128];
    for (size_t i = 0; i < ARRAY_COUNT(modes); i++) {
        snprintf(options, sizeof options, "%s --args count --args 4", modes[i]);
        expect("threads", options, 0, "sum 360 counted 12000 total 12000 mine 0\n", NULL);
    }
    expect("threads", "--args count --args 20", 0, "sum 11400 counted 60000 total 60000 mine 0\n", NULL);
    expect("threads", "--args sleep", 0, "thread 3\nthread 2\nthread 1\nthread 0\ntimed out 1, late 1\n", NULL);
    expect("threads", "--mode functional --args sleep", 0, "thread 3\nthread 2\nthread 1\nthread 0\ntimed out 1, late 1\n", NULL);
    expect("threads", "--args pipe", 0, "total 199990000\n", NULL);
    expect("threads", "--args robust", 0, "owner gone 1, semaphore 1\n", NULL);
    expect("threads", "--args priority", 0, "sum 17994000 owner gone 1 again 1 timed 1\n", NULL);
}

static void test_signals(void)
{
    expect("threads", "--args signals", 0, "ticks 1 interrupted 1 users 3 x 1\n", NULL);
    expect("threads", "--mode functional --args signals", 0, "ticks 1 interrupted 1 users 3 x 1\n", NULL);
    expect("threads", "--mode functional --args fault --exit-code program", 7, "signal 11 at ", NULL);
}

/* Threads take time together, and the same time in every run. */
static void test_time(void)
{
    double seconds[4] = {0};
    static const char *const options[] = {"--args count --args 8 --json --rerun", "--args count --args 8 --json --rerun",
                                          "--args count --args 8 --json --thread-cores 1", "--args count --args 1 --json"};
    for (size_t i = 0; i < ARRAY_COUNT(options) && ask("threads", options[i]); i++) {
        json_object *d = cli_document(&home.outcome);
        if (!d)
            return;
        seconds[i] = document_number(d, "seconds");
        if (i < 2)
            CU_ASSERT_STRING_EQUAL(document_text(d, "program_output"), "sum 1680 counted 24000 total 24000 mine 0\n");
        json_object_put(d);
    }
    CHECK(seconds[0] == seconds[1], "%.17g and %.17g s", seconds[0], seconds[1]);
    CHECK(seconds[0] < seconds[2] / 2, "eight cores %g s, one %g s", seconds[0], seconds[2]);
    CHECK(seconds[3] < seconds[0], "one thread %g s, eight of the same %g s", seconds[3], seconds[0]);
}

/* A program that sleeps lasts as long as its own clock says: 15 ms alone, and twice 1 ms for a thread. What it sleeps is as long
 * on any machine, and nothing is busy meanwhile. */
static void test_sleep(void)
{
    static const char *const options[] = {"--args nap --json", "--args nap --json --detail sampled",
                                          "--args nap --json --core e"};
    for (size_t i = 0; i < ARRAY_COUNT(options) && ask("threads", options[i]); i++) {
        json_object *d = cli_document(&home.outcome);
        if (!d)
            return;
        const char *const text = document_text(d, "program_output"), *const took = text ? strstr(text, "took ") : NULL;
        const double own_s = took ? atof(took + strlen("took ")) * 1e-9 : NAN, seconds = document_number(d, "seconds");
        CHECK(own_s > 17e-3 && own_s < 17.2e-3, "%s: the program says '%s'", options[i], text);
        CHECK(fabs(seconds / own_s - 1) < 0.005, "%s: %g s, the program's clock says %g s", options[i], seconds, own_s);
        CHECK(document_number(d, "seconds_low") >= 15e-3, "%s: %g s at least", options[i], document_number(d, "seconds_low"));
        CHECK(document_number(d, "device_seconds") < 2.2e-3, "%s: busy for %g s", options[i],
              document_number(d, "device_seconds"));
        json_object_put(d);
    }
}

/* Of five threads one waits: the four others have the four P cores of the M1, the last of them after a start on an E core. */
static void test_idle_core(void)
{
    double seconds[2] = {0};
    static const char *const options[] = {"--args four --json --chip m1", "--args four --json --chip m1 --core p"};
    for (size_t i = 0; i < ARRAY_COUNT(options) && ask("threads", options[i]); i++) {
        json_object *d = cli_document(&home.outcome);
        if (!d)
            return;
        seconds[i] = document_number(d, "seconds");
        json_object_put(d);
    }
    CHECK(seconds[0] < seconds[1] * 1.1, "%g s on all cores, %g s on P cores", seconds[0], seconds[1]);
}

static void test_refused(void)
{
    expect("threads", "--args deadlock", 4, "now both wait\n", "deadlock, all 2 threads wait: 1000 for the futex at 0x");
    CHECK(!home.outcome.err[0] || strstr(home.outcome.err, "lock_both"), "%s", home.outcome.err);
    expect("threads", "--args alone", 4, NULL, "deadlock: the only thread waits: 1000 for the futex at 0x");
    expect("threads", "--args alone", 4, NULL, " (syscall < ");
    expect("threads", "--args fork", 3, NULL, "another process (fork)");
    expect("threads", "--args system", 3, NULL,
           "another process (vfork, posix_spawn, system): there is one process, with threads; run the other program by itself");
    expect("threads", "--args requeue", 3, NULL, "FUTEX_WAIT_REQUEUE_PI is not modelled");
    expect("threads", "--args stack", 4, NULL, "which is not mapped: the stack of 8 MiB is full");
    expect("threads", "--args forever --max-instructions 3000000", 4, NULL, "--max-instructions): it stood at 0x");
    expect("threads", "--mode functional --args forever --max-instructions 3000000", 4, NULL, "(main+0x");
}

/* Interrupts an endless loop after so many seconds. Returns whether it said where it stood. */
static bool interrupt_after(unsigned seconds)
{
    char line[9000];
    snprintf(line, sizeof line, "timeout --preserve-status -s INT %u %s run %s --args forever -q --db %s/i.db 2>%s/err", seconds,
             cli_binary(), guest_path("threads"), home.folder, home.folder);
    const int status = system(line);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 130, "status %x", (unsigned)status);
    snprintf(line, sizeof line, "grep -q 'interrupted after [0-9]* instructions: it stood at 0x[0-9a-f]* (main+0x' %s/err",
             home.folder);
    return system(line) == 0;
}

/* Ctrl-C says where an endless loop stood, once the loop runs: a host that is busy takes its time until then. */
static void test_interrupt(void)
{
    bool said = false;
    cli_home_open(&home);
    if (!cli_binary() || access(guest_path("threads"), R_OK) != 0) {
        suite_skip("the binary or the guests are not built");
    } else {
        for (unsigned seconds = 1; !said && seconds <= 16; seconds *= 2)
            said = interrupt_after(seconds);
        CU_ASSERT(said);
    }
    cli_home_remove(&home);
}

static void test_end(void)
{
    expect("files", "--args status", 0, "status    42", NULL);
    expect("files", "--args status --exit-code program", 42, "about to end\n", NULL);
    expect("files", "--args crash", 4, "about to crash\n", "store of 4 bytes at 0x0");
    if (!ask("files", "--args status --json"))
        return;
    json_object *d = cli_document(&home.outcome);
    CU_ASSERT_EQUAL(document_number(d, "program_exit_status"), 42);
    CU_ASSERT_STRING_EQUAL(document_text(d, "program_output"), "about to end\n");
    json_object_put(d);
}

static void make_folder(const char *name)
{
    char path[160];
    snprintf(path, sizeof path, "%s/%s", home.folder, name);
    CU_ASSERT(mkdir(path, 0700) == 0);
}

static void make_link(const char *target, const char *name)
{
    char path[160];
    snprintf(path, sizeof path, "%s/out/%s", home.folder, name);
    CU_ASSERT(symlink(target, path) == 0);
}

static void test_files(void)
{
    cli_home_open(&home);
    make_folder("in");
    make_folder("out");
    suite_write_text(home.folder, "in/in.txt", "first\nsecond\n");
    if (!ask("files", "--mount $/in:/data --mount $/out:/out:rw"))
        return;
    CHECK(home.outcome.code == 0, "%s", home.outcome.err);
    static const char *const yes[] = {"read", "seek",  "pread",  "size",       "map",     "change", "folder",
                                      "make", "again", "rename", "shared map", "shorten", "append", "two names"};
    for (size_t i = 0; i < ARRAY_COUNT(yes); i++) {
        char line[64];
        snprintf(line, sizeof line, "%s: yes\n", yes[i]);
        CHECK(strstr(home.outcome.out, line) != NULL, "no '%s' in %.900s", line, home.outcome.out);
    }
    CHECK(strstr(home.outcome.out, "write to what is read-only: Read-only file system\n") &&
              strstr(home.outcome.out, "remove from what is read-only: Read-only file system\n") &&
              strstr(home.outcome.out, "at the top: . .. data out\nterminal: 0\n"),
          "%.900s", home.outcome.out);
    char path[160], text[16] = "";
    snprintf(path, sizeof path, "%s/out/b.txt", home.folder);
    FILE *f = fopen(path, "r");
    CHECK(f && fgets(text, sizeof text, f) && strcmp(text, "jell") == 0, "the host's file has '%s'", text);
    if (f)
        fclose(f);
    expect("files", "--mode functional", 0, "read: No such file or directory\n", "asked for /data/in.txt, which is not mounted");
    CHECK(strstr(home.outcome.out, "make: No such file or directory\n") != NULL, "%.900s", home.outcome.out);
    expect("files", "--mount $/in:data", 2, NULL, "absolute path");
    expect("files", "--mount $/nothing:/data", 2, NULL, "No such file");
    expect("files", "--mount $/in:/data --mount $/out:/data/", 2, NULL, "two mounts");
    cli_home_remove(&home);
}

/* Expected: what Linux says, and the examples of FIPS 197 (appendix B) and FIPS 180-4. */
static void test_calls(void)
{
    cli_home_open(&home);
    make_folder("out");
    expect("calls", "--mode functional --args /out --mount $/out:/out:rw", 4, "done\n", "the program aborted");
    CHECK(!strstr(home.outcome.out, "not as on Linux") && !strstr(home.outcome.out, "came back"), "%.900s", home.outcome.out);
    cli_home_remove(&home);
    expect("crypto", "--mode functional", 0,
           "aes 3925841d02dc09fbdc118597196a0b32 back 1\n"
           "sha256 ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\n",
           NULL);
}

static void test_escape(void)
{
    cli_home_open(&home);
    make_folder("out");
    suite_write_text(home.folder, "secret", "secret\n");
    suite_write_text(home.folder, "out/kept", "");
    make_link("/etc", "link_to_etc");
    make_link("..", "link_up");
    make_link("/etc/passwd", "link_absolute");
    make_link("link_absolute", "link_chain");
    make_link("/proc/self/root/etc/passwd", "link_proc");
    char path[160];
    snprintf(path, sizeof path, "%s/out/pipe", home.folder);
    CU_ASSERT(mkfifo(path, 0600) == 0);
    expect("files", "--args escape --args $/secret --args ../secret --args link_up/secret --mount $/out:/out:rw", 0,
           "/etc/passwd no\n", NULL);
    CHECK(!strstr(home.outcome.out, "REACHED"), "%.900s", home.outcome.out);
    CHECK(strstr(home.outcome.out, "link no\n") != NULL, "%.900s", home.outcome.out);
    cli_home_remove(&home);
}

static void test_input(void)
{
    cli_home_open(&home);
    suite_write_text(home.folder, "lines", "one\ntwo\n");
    expect("files", "--args stdin --stdin $/lines --env WHAT=that", 0, "got one\ngot two\nenv that 0\n", NULL);
    expect("files", "--args stdin", 0, "env none 0\n", NULL);
    expect("files", "--args stdin --env WHAT", 2, NULL, "NAME=VALUE");
    expect("files", "--args stdin --stdin $/nothing", 2, NULL, "No such file");
    cli_home_remove(&home);
}

/* SQL finds it, too. */
static void expect_in_database(const char *type, const char *value)
{
    char row[160];
    snprintf(row, sizeof row, "%s|%s", type, value);
    if (cli_ask(&home, "db sql SELECT/**/returned_type||'|'||returned_value/**/FROM/**/run"))
        CHECK(strstr(home.outcome.out, row) != NULL, "%s for %s", home.outcome.out, row);
}

/* As AAPCS64 says for each type. */
static void test_returned(void)
{
    static const struct {
        const char *entry, *type, *value;
    } cases[] = {
        {"kernel_byte", "u8", "250"},
        {"kernel_byte", "i8", "-6"},
        {"kernel_lanes", "f32x4", "[1, -2, 3, 0.25]"},
        {"kernel_small_lanes", "i8x8", "[1, 2, 3, 4, -5, -6, -7, -8]"},
        {"kernel_three", "{f32,f32,f32}", "[1.5, 2.5, -3.5]"},
        {"kernel_two", "{i64,i64}", "[7, -5000000000]"},
        {"kernel_mixed", "{i32,f32}", "[-3, 4.5]"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        char call[120], line[120];
        snprintf(call, sizeof call, "--entry %s --returns %s", cases[i].entry, cases[i].type);
        snprintf(line, sizeof line, "returned  %s (%s)", cases[i].value, cases[i].type);
        expect("kernels", call, 0, line, NULL);
    }
    expect_in_database("{i32,f32}", "[-3, 4.5]");
    /* Three floats are a struct, no vector; a large struct is in memory. */
    expect("kernels", "--entry kernel_three --returns f32x3", 2, NULL, "a vector of 8 or 16 bytes");
    expect("kernels", "--entry kernel_two --returns {i64,i64,i64}", 2, NULL, "larger ones are in memory");
}

static void test_functions(void)
{
    char others[600];
    expect("kernels", "--entry kernel_half --args 0.75f --args 1e-3f --returns f32", 0, "returned  0.375499994 (f32)", NULL);
    expect("kernels", "--entry kernel_half --args 0.75f --args 1e-3f --returns f33", 2, NULL, "--returns f33: expected");
    if (!ask("kernels", "--entry kernel_half --args 0.75f --args 0.25f --returns f32 --json"))
        return;
    for (int again = 0; again < 2; again++) { /* the second time it is found in the database */
        json_object *d = cli_document(&home.outcome);
        CU_ASSERT_EQUAL(document_number(d, "/returned/value"), 0.5);
        CU_ASSERT_STRING_EQUAL(document_text(d, "/returned/type"), "f32");
        CU_ASSERT_EQUAL(json_object_object_length(document_at(d, "checksum")), 0);
        json_object_put(d);
        ask("kernels", "--entry kernel_half --args 0.75f --args 0.25f --returns f32 --json");
    }
    snprintf(others, sizeof others, "--entry library_sum --args 5 --returns i32 --link %s", guest_path("library2"));
    snprintf(others + strlen(others), sizeof others - strlen(others), " --link %s", guest_path("library3"));
    expect("library1", others, 0, "returned  226 (i32)", NULL);
    expect("library1", "--entry library_sum --args 5", 4, NULL, "calls helper, which nothing defines");
    expect("library1", "--entry library_math --args 0 --args 1.0d --args 1.0d --returns f64", 0, "returned  2.718281828459045",
           NULL);
    expect("text", "--entry strlen --args str:seven.. --returns u64", 0, "returned  7 (u64)", NULL);
}

static const struct suite_test tests[] = {
    {"threads share, wait and end", test_threads},
    {"signals and timers interrupt", test_signals},
    {"threads take time together, and the same each time", test_time},
    {"an idle P core takes the thread of an E core", test_idle_core},
    {"a program that sleeps lasts as long as its own clock says", test_sleep},
    {"an interrupt says where the program stood", test_interrupt},
    {"deadlocks, other processes and endless loops are named", test_refused},
    {"a program's end and output are told", test_end},
    {"files are there when they are mounted", test_files},
    {"calls of runtimes and instructions of AES and SHA do what they should", test_calls},
    {"nothing leads out of a mount", test_escape},
    {"functions return, and find what they need", test_functions},
    {"what functions return", test_returned},
    {"standard input and environment are what was given", test_input},
};
SUITE_MAIN("programs_cli", tests)
