/* The command line from outside: starts the orchard binary built beside this test with real arguments. */
#define _GNU_SOURCE
#include "isa/array_count.h"
#include "tests/support/cli_binary.h"
#include "tests/support/suite.h"

#include <json-c/json.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct cli_outcome outcome;

static bool run_or_skip(const char *arguments)
{
    return cli_run_or_skip(arguments, &outcome);
}

static void test_codes_and_streams(void)
{
    static const struct {
        const char *arguments;
        int code;
        const char *out, *err; /* NULL = must be empty */
    } rows[] = {
        {"", 0, "first steps", NULL},
        {"--version", 0, "orchard 0.", NULL},
        {"--help", 0, "commands:", NULL},
        {"chips --help", 0, "SYNOPSIS", NULL},
        {"help chips", 0, "SYNOPSIS", NULL},
        {"chips", 0, "m1_max_8p2e_32g", NULL},
        {"chips show m1 -q", 0, "amx.z_latency_cycles", NULL},
        {"chips diff m1-max m1-max-24", 0, "gpu_cores", NULL},
        {"chips diff m1 m1", 0, "no differences", NULL},
        {"capabilities --chip m2-ultra", 0, "ray tracing", NULL},
        {"--chip m1 --json capabilities", 0, "\"peaks\"", NULL},
        {"isa table amx", 0, "genlut", NULL},
        {"chps", 2, NULL, "did you mean chips?"},
        {"chips show m1-mx", 2, NULL, "did you mean m1-max?"},
        {"chips --jsno", 2, NULL, "did you mean --json?"},
        {"chips show m1 --set gpu_core=3", 2, NULL, "did you mean gpu_cores"},
        {"chips show m1 --set", 2, NULL, "needs a value"},
        {"chips diff m1", 2, NULL, "two IDs"},
        {"isa disasm amx /nowhere", 2, NULL, "/nowhere"},
        {"isa asm amx x", 2, NULL, "-o OUT"},
        {"isa disasm ane x", 2, NULL, "x: No such file"},
        {"isa disasm agx /nowhere", 2, NULL, "/nowhere"},
        {"isa table agx", 0, "fmadd32", NULL},
        {"kernel check /nowhere", 2, NULL, "/nowhere"},
        {"run /nowhere/abi.json", 2, NULL, "/nowhere"},
        {"isa check amx README.md", 2, NULL, "README.md"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        if (!run_or_skip(rows[i].arguments))
            return;
        CHECK(outcome.code == rows[i].code, "orchard %s: exit %d", rows[i].arguments, outcome.code);
        CHECK(rows[i].out ? strstr(outcome.out, rows[i].out) != NULL : !outcome.out[0], "orchard %s: out: %.200s",
              rows[i].arguments, outcome.out);
        CHECK(rows[i].err ? strstr(outcome.err, rows[i].err) != NULL : !outcome.err[0], "orchard %s: err: %.200s",
              rows[i].arguments, outcome.err);
        CHECK(!rows[i].err || strchr(outcome.err, '\n') == outcome.err + strlen(outcome.err) - 1, "orchard %s: one line: %s",
              rows[i].arguments, outcome.err);
        CHECK(!strchr(outcome.out, '\033'), "orchard %s: colour in a file", rows[i].arguments);
    }
}

static void test_json_is_one_document(void)
{
    static const char *const lines[] = {"chips --json",
                                        "chips show m3 --json",
                                        "chips show m1,m2 --json",
                                        "chips diff m1 m4 --json",
                                        "capabilities --json --chip m1,m2,m3",
                                        "doctor --json"};
    for (size_t i = 0; i < ARRAY_COUNT(lines); i++) {
        if (!run_or_skip(lines[i]))
            return;
        json_tokener *tokener = json_tokener_new();
        json_tokener_set_flags(tokener, JSON_TOKENER_STRICT);
        json_object *document = json_tokener_parse_ex(tokener, outcome.out, (int)strlen(outcome.out) + 1);
        CHECK(document != NULL && json_tokener_get_error(tokener) == json_tokener_success, "orchard %s: %s", lines[i],
              json_tokener_error_desc(json_tokener_get_error(tokener)));
        json_object_put(document);
        json_tokener_free(tokener);
    }
}

/* Assembled words give the same words when they are listed and assembled again. */
static void test_assemble_and_list(void)
{
    char folder[] = "/tmp/orchard-test-XXXXXX", source[64], first[64], listing[64], second[64], line[512];
    if (!mkdtemp(folder))
        return;
    snprintf(source, sizeof source, "%s/a.s", folder);
    snprintf(first, sizeof first, "%s/a.bin", folder);
    snprintf(listing, sizeof listing, "%s/b.s", folder);
    snprintf(second, sizeof second, "%s/b.bin", folder);
    FILE *file = fopen(source, "w");
    fputs("set\nldx x3\nldy x4\nfma32 {z=1}\nstz x5\nclr\n", file);
    fclose(file);
    snprintf(line, sizeof line, "isa asm amx %s -q -o %s", source, first);
    if (run_or_skip(line)) {
        CHECK(outcome.code == 0, "%s", outcome.err);
        snprintf(line, sizeof line, "isa disasm amx %s", first);
        CHECK(cli_run(line, &outcome) && outcome.code == 0, "%s", outcome.err);
        file = fopen(listing, "w");
        fputs(outcome.out, file);
        fclose(file);
        snprintf(line, sizeof line, "isa asm amx %s -q --output=%s", listing, second);
        CHECK(cli_run(line, &outcome) && outcome.code == 0, "%s", outcome.err);
        snprintf(line, sizeof line, "cmp -s %s %s", first, second);
        CHECK(system(line) == 0, "%s", line);
    }
    snprintf(line, sizeof line, "rm -r %s", folder);
    CHECK(system(line) == 0, "%s", line);
}

/* Ctrl-C ends the command with 130. It waits for standard input, which never comes. */
static void test_interrupt(void)
{
    int input[2];
    const pid_t child = pipe(input) == 0 ? cli_start("isa disasm amx -", input[0]) : -1;
    if (child < 0) {
        suite_skip("the orchard binary is not built");
        return;
    }
    const int status = cli_end(child, SIGINT);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 130, "status %x", (unsigned)status);
    close(input[0]);
    close(input[1]);
}

static const struct suite_test tests[] = {
    {"every exit code and stream is used as documented", test_codes_and_streams},
    {"--json writes one document", test_json_is_one_document},
    {"a listing assembles to the words that were listed", test_assemble_and_list},
    {"an interrupt ends with 130", test_interrupt},
};
SUITE_MAIN("cli_binary", tests)
