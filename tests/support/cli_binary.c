#define _GNU_SOURCE
#include "tests/support/cli_binary.h"
#include "tests/support/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORDS_MAX 128

const char *cli_binary(void)
{
    static const char path[] = ORCHARD_BUILD_DIR "/orchard";
    return access(path, X_OK) == 0 ? path : NULL;
}

static void read_back(FILE *file, char *text, size_t size)
{
    rewind(file);
    const size_t n = fread(text, 1, size - 1, file);
    text[n] = 0;
    fclose(file);
}

/* In the child: becomes orchard, or ends with 127. */
static void become(const char *path, const char *arguments)
{
    char line[2048], *words[WORDS_MAX] = {(char *)(uintptr_t) "orchard"}, *rest = NULL;
    int count = 1;
    snprintf(line, sizeof line, "%s", arguments);
    for (char *w = strtok_r(line, " ", &rest); w && count < WORDS_MAX - 1; w = strtok_r(NULL, " ", &rest))
        words[count++] = w;
    unsetenv("ORCHARD_DATA");
    execv(path, words);
    _exit(127);
}

bool cli_run(const char *arguments, struct cli_outcome *outcome)
{
    const char *path = cli_binary();
    FILE *out = tmpfile(), *err = tmpfile();
    if (!path || !out || !err)
        return false;
    const pid_t child = fork();
    if (child == 0) {
        dup2(fileno(out), STDOUT_FILENO);
        dup2(fileno(err), STDERR_FILENO);
        become(path, arguments);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    snprintf(outcome->line, sizeof outcome->line, "%s", arguments);
    outcome->code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    read_back(out, outcome->out, sizeof outcome->out);
    read_back(err, outcome->err, sizeof outcome->err);
    return true;
}

bool cli_run_or_skip(const char *arguments, struct cli_outcome *outcome)
{
    if (cli_run(arguments, outcome))
        return true;
    suite_skip("the orchard binary is not built");
    return false;
}

pid_t cli_start(const char *arguments, int input)
{
    const char *path = cli_binary();
    if (!path)
        return -1;
    const pid_t child = fork();
    if (child == 0) {
        const int nothing = open("/dev/null", O_WRONLY);
        if (input >= 0)
            dup2(input, STDIN_FILENO);
        dup2(nothing, STDOUT_FILENO);
        dup2(nothing, STDERR_FILENO);
        become(path, arguments);
    }
    return child;
}

int cli_wait(pid_t child, double seconds)
{
    int status = 0;
    pid_t ended = 0;
    for (double waited = 0; waited < seconds && ended == 0; waited += 0.02) {
        ended = waitpid(child, &status, WNOHANG);
        if (ended == 0)
            usleep(20000);
    }
    if (ended == 0) {
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
    }
    return status;
}

/* Whether the process has a handler for this signal, from the kernel's own words. */
static bool handles(pid_t process, int number)
{
    char line[256];
    unsigned long long caught = 0;
    snprintf(line, sizeof line, "/proc/%d/status", (int)process);
    FILE *const status = fopen(line, "r");
    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "SigCgt: %llx", &caught) == 1)
            break;
    if (status)
        fclose(status);
    return caught >> (number - 1) & 1;
}

int cli_end(pid_t child, int number)
{
    enum { SECONDS_AT_MOST = 30 };
    const double pause_s = 0.01;
    for (double waited = 0; number != SIGKILL && waited < SECONDS_AT_MOST && !handles(child, number); waited += pause_s)
        usleep((useconds_t)(1e6 * pause_s));
    kill(child, number);
    return cli_wait(child, SECONDS_AT_MOST);
}

/* ---- commands in a folder of their own ---- */

void cli_home_open(struct cli_home *home)
{
    if (home->folder[0])
        return;
    snprintf(home->folder, sizeof home->folder, "/tmp/orchard-%s-XXXXXX", home->name);
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(home->folder));
}

bool cli_home_remove(struct cli_home *home)
{
    const bool gone = !home->folder[0] || suite_remove(home->folder);
    home->folder[0] = 0;
    return gone;
}

bool cli_ask(struct cli_home *home, const char *format, ...)
{
    char asked[2048], line[2048];
    size_t n = 0;
    va_list args;
    va_start(args, format);
    vsnprintf(asked, sizeof asked, format, args);
    va_end(args);
    cli_home_open(home);
    for (const char *p = asked; *p && n < sizeof line - 2 * sizeof home->folder - 40; p++) {
        if (*p == '$')
            n += (size_t)snprintf(line + n, sizeof home->folder, "%s", home->folder);
        else
            line[n++] = *p;
    }
    snprintf(line + n, sizeof line - n, " %s --db %s/runs.db", home->options ? home->options : "", home->folder);
    return cli_run_or_skip(line, &home->outcome);
}

static bool one_line(const char *text)
{
    const char *const end = strchr(text, '\n');
    return end && !end[1];
}

void cli_all_wrong(struct cli_home *home, const struct cli_wrong *rows, size_t count)
{
    const struct cli_outcome *const o = &home->outcome;
    for (size_t i = 0; i < count && cli_ask(home, "%s", rows[i].arguments); i++)
        CHECK(o->code == rows[i].code && strstr(o->err, rows[i].says) && one_line(o->err), "%s: exit %d: %s", rows[i].arguments,
              o->code, o->err);
    cli_home_remove(home);
}

/* ---- documents ---- */

json_object *cli_document(const struct cli_outcome *outcome)
{
    json_object *d = outcome->code == 0 ? json_tokener_parse(outcome->out) : NULL;
    CHECK(d != NULL, "orchard %s: exit %d: %.200s%.300s", outcome->line, outcome->code, outcome->out, outcome->err);
    return d;
}

json_object *document_at(json_object *document, const char *path)
{
    json_object *value = NULL;
    const bool found =
        path[0] == '/' ? json_pointer_get(document, path, &value) == 0 : json_object_object_get_ex(document, path, &value);
    CHECK(found, "%s is missing", path);
    return value;
}

double document_number(json_object *document, const char *path)
{
    return json_object_get_double(document_at(document, path));
}

const char *document_text(json_object *document, const char *path)
{
    const char *text = json_object_get_string(document_at(document, path));
    return text ? text : "";
}

bool cli_in_path(char *folder)
{
    char path[4096], line[8300];
    static bool made;
    if (made)
        return true;
    if (!cli_binary() || !mkdtemp(folder)) {
        suite_skip("the orchard binary is not built");
        return false;
    }
    snprintf(path, sizeof path, "%s", cli_binary());
    *strrchr(path, '/') = 0;
    snprintf(line, sizeof line, "%s:%s", path, getenv("PATH"));
    setenv("PATH", line, 1);
    made = true;
    return true;
}
