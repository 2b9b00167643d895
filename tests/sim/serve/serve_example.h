/* A server of orchard on a free port, for suites: a network, a language model, requests. */
#ifndef ORCHARD_TESTS_SIM_SERVE_SERVE_EXAMPLE_H
#define ORCHARD_TESTS_SIM_SERVE_SERVE_EXAMPLE_H

#include "tests/sim/serve/http_client.h"
#include "tests/sim/served_example.h"
#include "tests/support/cli_binary.h"
#include "tests/support/suite.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>

static struct cli_home home = {.name = "serve", .options = "--quiet"};
static pid_t server = -1;
static unsigned port;

/* ---- the server ---- */

/* Starts orchard with these arguments and waits until it listens. */
static inline bool start_line(const char *line)
{
    server = cli_start(line, -1);
    if (server < 0) {
        suite_skip("orchard is not built");
        return false;
    }
    for (unsigned i = 0; i < 400; i++) {
        const int s = http_connect(port);
        if (s >= 0) {
            close(s);
            return true;
        }
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    }
    CU_FAIL_FATAL("no server");
    return false;
}

static inline bool start(const char *options)
{
    char line[700];
    cli_home_open(&home);
    CU_ASSERT_TRUE_FATAL(served_network(home.folder, "dense"));
    snprintf(line, sizeof line, "%s/dense", home.folder);
    suite_write_text(line, "config.pbtxt",
                     "max_batch_size: 8\n"
                     "optimization { execution_accelerators { gpu_execution_accelerator : [ { name : \"metal\"\n"
                     "  parameters { key: \"power_mode\" value: \"balanced\" } } ] } }\n");
    port = http_free_port();
    snprintf(line, sizeof line,
             "serve %s/dense %s/language/stories260K/stories260K-q8_0.gguf --db %s/runs.db --port %u --quiet %s", home.folder,
             suite_golden(""), home.folder, port, options);
    return start_line(line);
}

static inline void stop(void)
{
    kill(server, SIGTERM);
    const int status = cli_wait(server, 20);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %x", (unsigned)status);
    server = -1;
    cli_home_remove(&home);
}

static inline struct http_answer ask(const char *method, const char *path, const char *headers, const void *body, size_t size)
{
    struct http_answer a;
    const int s = http_connect(port);
    const bool ok = s >= 0 && http_ask(s, method, path, headers, body, size, &a);
    CHECK(ok, "%s %s", method, path);
    if (s >= 0)
        close(s);
    return a;
}

static inline json_object *post(const char *path, const char *body, unsigned status)
{
    struct http_answer a = ask("POST", path, "", body, strlen(body));
    CHECK(a.status == status, "%s %s: %u %s", path, body, a.status, a.body ? a.body : "");
    json_object *const o = a.body ? json_tokener_parse(a.body) : NULL;
    free(a.body);
    return o;
}

static inline json_object *get(const char *path)
{
    struct http_answer a = ask("GET", path, "", NULL, 0);
    CHECK(a.status == 200, "%s: %u %s", path, a.status, a.body ? a.body : "");
    json_object *const o = a.body ? json_tokener_parse(a.body) : NULL;
    CHECK(o != NULL, "%s", path);
    free(a.body);
    return o;
}

#endif
