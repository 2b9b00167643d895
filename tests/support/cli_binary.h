/* Starts the orchard binary built beside the tests with real arguments, and reads its exit code, both streams and documents. */
#ifndef ORCHARD_TESTS_SUPPORT_CLI_BINARY_H
#define ORCHARD_TESTS_SUPPORT_CLI_BINARY_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct cli_outcome {
    char line[256]; /* the beginning of the arguments */
    int code;       /* exit code, or 128 + signal */
    char out[1 << 20], err[4096];
};

/* Path of the binary; NULL when it is not built. Static storage. */
const char *cli_binary(void);

/* Makes the folder of a mkdtemp template and puts the binary's own folder first in PATH, at the first call; false where the
 * binary is not built: the test is skipped then. */
bool cli_in_path(char *folder);
/* Runs "orchard ARGUMENTS" (blanks separate arguments, there is no quoting). False: the binary is not there. */
bool cli_run(const char *arguments, struct cli_outcome *outcome);
/* Like cli_run, but marks the running test as skipped when the binary is not there. */
bool cli_run_or_skip(const char *arguments, struct cli_outcome *outcome);
/* Starts the binary without waiting, both streams to /dev/null. `input` becomes standard input unless it is negative. Returns -1
 * when the binary is not there. */
pid_t cli_start(const char *arguments, int input);
/* Waits for a started process, kills it after so many seconds, and returns the status of waitpid. */
int cli_wait(pid_t child, double seconds);
/* Sends a signal once the process handles it (a busy host takes its time until then), or at once when nobody can handle it.
 * Returns the status of waitpid. */
int cli_end(pid_t child, int number);

/* A private folder with a database of runs, made at first use, and the outcome of the last command in it. */
struct cli_home {
    const char *name, *options; /* part of the folder's name; options for every command, e.g. "-q" */
    char folder[64];
    struct cli_outcome outcome;
};
/* Makes the folder unless it exists. */
void cli_home_open(struct cli_home *home);
/* Deletes the folder. The next use makes another one. */
bool cli_home_remove(struct cli_home *home);
/* Runs a line in which $ stands for the folder, with the folder's database. Skips the test when there is no binary. */
bool cli_ask(struct cli_home *home, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Requests that are wrong: each must end with its code and say so in one line on standard error. Removes the folder. */
struct cli_wrong {
    const char *arguments;
    int code;
    const char *says;
};
void cli_all_wrong(struct cli_home *home, const struct cli_wrong *rows, size_t count);

/* The document on standard output. NULL and a failed check when the command failed or wrote none. Free with json_object_put. */
json_object *cli_document(const struct cli_outcome *outcome);
/* A member by name ("seconds") or by JSON pointer ("/device_run/final_mhz/gpu"); a failed check when it is missing. */
json_object *document_at(json_object *document, const char *path);
double document_number(json_object *document, const char *path);
const char *document_text(json_object *document, const char *path); /* "" for null */

#endif
