/* Every command of README.md and of every help page runs as it is typed, in one empty folder with the examples, in their order.
 */
#include "sim/orchard.h"
#include "tests/support/cli_binary.h"
#include "tests/support/suite.h"

#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LINE_BYTES = 1200, MOST_COMMANDS = 400, OUT_BYTES = 4000 };

static char folder[] = "/tmp/orchard-documented-XXXXXX";
static unsigned commands;

/* Exit code of a line of the shell in the folder; both streams go to `out`. */
static int shell(const char *line, char out[OUT_BYTES])
{
    char command[LINE_BYTES + 200];
    snprintf(command, sizeof command, "cd %s && exec 2>&1 && { %s; } > out.txt; status=$?; head -c 3000 out.txt; exit $status",
             folder, line);
    FILE *const pipe = popen(command, "r");
    const size_t used = pipe ? fread(out, 1, OUT_BYTES - 1, pipe) : 0;
    out[used] = 0;
    const int status = pipe ? pclose(pipe) : -1;
    return status != -1 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool prepare(void)
{
    if (!cli_in_path(folder))
        return false;
    setenv("XDG_DATA_HOME", folder, 1);
    setenv("XDG_CACHE_HOME", folder, 1);
    unsetenv("ORCHARD_DB");
    return true;
}

/* A server runs until it is told to end: it has to say where it listens, and then to end well. */
static void check_server(const char *line)
{
    char out[OUT_BYTES], command[LINE_BYTES + 300];
    snprintf(command, sizeof command,
             "timeout -s INT 60 sh -c '%s > serve.txt 2>&1 & p=$!; for i in $(seq 300); do grep -q http serve.txt && break; "
             "sleep 0.1; "
             "done; kill -INT $p; wait $p; cat serve.txt'",
             line);
    shell(command, out);
    CHECK(strstr(out, "http") != NULL, "%s: %s", line, out);
}

static bool has_clang(void)
{
    char out[OUT_BYTES];
    return shell("command -v clang-16", out) == 0;
}

static bool needs_clang(const char *line)
{
    return strstr(line, ".metal") || strstr(line, ".cl ") || strstr(line, "row.json");
}

/* Whether the same line ran before, on another page. */
static bool ran_before(const char *line)
{
    static char *ran[MOST_COMMANDS];
    static unsigned count;
    for (unsigned i = 0; i < count; i++)
        if (strcmp(ran[i], line) == 0)
            return true;
    if (count < MOST_COMMANDS && (ran[count] = strdup(line)))
        count++;
    return false;
}

static void check_command(const char *line)
{
    char out[OUT_BYTES];
    if (++commands > MOST_COMMANDS || ran_before(line) || (needs_clang(line) && !has_clang()))
        return;
    if (strncmp(line, "orchard serve", 13) == 0) {
        check_server(line);
        return;
    }
    /* All rows take minutes; README names --every for less. */
    const int code = shell(strcmp(line, "orchard validate") == 0 ? "orchard validate --every 1500" : line, out);
    /* Checks of a machine may find that something is missing: that is an answer. */
    const bool answers = strncmp(line, "orchard doctor", 14) == 0 && code == 1;
    CHECK(code == 0 || answers, "%s: %d %s", line, code, out);
}

/* The command in a line of a text, without its comment (behind # or three blanks); false when there is none. */
static bool command_of(const char *at, size_t length, char line[LINE_BYTES])
{
    while (length && *at == ' ') {
        at++;
        length--;
    }
    snprintf(line, LINE_BYTES, "%.*s", (int)length, at);
    static const char *const comments[] = {" # ", "   "};
    for (unsigned i = 0; i < 2; i++) {
        char *const comment = strstr(line, comments[i]);
        if (comment)
            *comment = 0;
    }
    if (strncmp(line, "build/orchard ", 14) == 0)
        memmove(line, line + 6, strlen(line + 6) + 1);
    for (size_t end = strlen(line); end && isspace((unsigned char)line[end - 1]);)
        line[--end] = 0;
    return strncmp(line, "orchard ", 8) == 0;
}

static void test_readme(void)
{
    FILE *const f = fopen(ORCHARD_SOURCE_DIR "/README.md", "r");
    char text[LINE_BYTES], line[LINE_BYTES];
    bool block = false;
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    if (!prepare())
        return;
    char link[200];
    snprintf(link, sizeof link, "%s/tests", folder);
    CHECK(symlink(ORCHARD_SOURCE_DIR "/tests", link) == 0, "%s", link); /* commands that are typed in a clone */
    const unsigned before = commands;
    while (fgets(text, sizeof text, f)) {
        if (strncmp(text, "```", 3) == 0)
            block = !block;
        else if (block && command_of(text, strcspn(text, "\n"), line))
            check_command(line);
        for (char *quote = block ? NULL : strchr(text, '`'); quote; quote = strchr(quote, '`')) {
            const size_t length = strcspn(quote + 1, "`");
            if (command_of(quote + 1, length, line))
                check_command(line);
            quote += 1 + length + (quote[1 + length] == '`');
        }
    }
    fclose(f);
    CHECK(commands - before >= 25, "%u commands in README.md", commands - before);
}

/* The pages as they are printed: what --help shows is what counts. */
static void test_help_pages(void)
{
    char line[LINE_BYTES];
    if (!prepare())
        return;
    check_command("orchard examples copy examples");
    for (size_t v = 0; v < orchard_verb_count(); v++) {
        const struct orchard_verb *const verb = orchard_verb_at(v);
        CHECK(verb->examples != NULL, "%s has no examples", verb->name);
        for (const char *at = verb->examples; at && *at; at += strcspn(at, "\n") + (at[strcspn(at, "\n")] == '\n')) {
            const bool command = command_of(at, strcspn(at, "\n"), line);
            CHECK(command, "%s: '%s' is no command", verb->name, line);
            if (command)
                check_command(line);
        }
    }
}

static void test_what_orchard_alone_says(void)
{
    FILE *const pipe = prepare() ? popen("orchard", "r") : NULL;
    char text[LINE_BYTES], line[LINE_BYTES];
    unsigned found = 0;
    while (pipe && fgets(text, sizeof text, pipe))
        if (strncmp(text, "  orchard ", 10) == 0 && command_of(text, strcspn(text, "\n"), line)) {
            check_command(line);
            found++;
        }
    CHECK(!pipe || (pclose(pipe) == 0 && found >= 3), "%u commands", found);
}

static void test_nothing_is_left(void)
{
    char line[100], out[OUT_BYTES];
    snprintf(line, sizeof line, "cd / && rm -rf %s", folder);
    CHECK(shell(line, out) == 0 || access(folder, F_OK) != 0, "%s", folder);
}

static const struct suite_test tests[] = {
    {"what orchard alone says", test_what_orchard_alone_says},
    {"help pages", test_help_pages},
    {"README", test_readme},
    {"nothing is left", test_nothing_is_left},
};
SUITE_MAIN("documented commands", tests)
