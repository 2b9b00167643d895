/* The orchard binary built beside the tests, started with real arguments: exit code and both streams. */
#ifndef ORCHARD_TESTS_CLI_BINARY_H
#define ORCHARD_TESTS_CLI_BINARY_H

#include <stdbool.h>
#include <sys/types.h>

struct cli_outcome {
    int code; /* exit code, or 128 + signal */
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

#endif
