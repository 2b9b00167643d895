/* The orchard binary built beside the tests, started with real arguments: exit code, both streams, documents. */
#ifndef ORCHARD_TESTS_SUPPORT_CLI_BINARY_H
#define ORCHARD_TESTS_SUPPORT_CLI_BINARY_H

#include <json-c/json.h>
#include <stdbool.h>
#include <sys/types.h>

struct cli_outcome {
    char line[256]; /* the begin of what was asked */
    int code;       /* exit code, or 128 + signal */
    char out[1 << 20], err[4096];
};

/* Path of the binary; NULL when it is not built. Static storage. */
const char *cli_binary(void);
/* Runs "orchard ARGUMENTS" (a blank separates, no quoting). False = the binary is not there. */
bool cli_run(const char *arguments, struct cli_outcome *outcome);
/* The same; marks the running test as skipped when the binary is not there. */
bool cli_run_or_skip(const char *arguments, struct cli_outcome *outcome);
/* Starts it without waiting, both streams to /dev/null; `input` becomes standard input unless negative. -1 = not there. */
pid_t cli_start(const char *arguments, int input);
/* Waits for a started one, at most so long; afterwards it is killed. The status of waitpid. */
int cli_wait(pid_t child, double seconds);

/* A folder of its own with a database of runs, made when it is first used; what the last command in it said. */
struct cli_home {
    const char *name, *options; /* of the folder; what every command gets, e.g. "-q" */
    char folder[64];
    struct cli_outcome outcome;
};
/* Makes the folder unless it is there. */
void cli_home_open(struct cli_home *home);
/* Deletes the folder; the next use makes another. */
bool cli_home_remove(struct cli_home *home);
/* Runs a line in which every $ is the folder, with the folder's database; skips the test when there is no binary. */
bool cli_ask(struct cli_home *home, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The document on standard output; NULL and a failed check when the command failed or there is none. Free with json_object_put.
 */
json_object *cli_document(const struct cli_outcome *outcome);
/* A member ("seconds") or what a pointer names ("/device_run/final_mhz/gpu"); a failed check when it is missing. */
json_object *document_at(json_object *document, const char *path);
double document_number(json_object *document, const char *path);
const char *document_text(json_object *document, const char *path); /* "" for null */

#endif
