/* A tool that runs as a process of its own: started without a shell, given its input whole, ended when it takes too much. */
#ifndef ORCHARD_SIM_COMPILE_PROCESS_H
#define ORCHARD_SIM_COMPILE_PROCESS_H

#include "sim/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct process_limits {
    unsigned cpu_seconds, wall_seconds;
    uint64_t memory_bytes; /* of address space */
    uint64_t output_bytes; /* of each of the two outputs, and of any file that it writes */
};

struct process_request {
    const char *program;     /* path of the executable */
    const char *const *word; /* its arguments behind its name; ends with NULL */
    const void *input;       /* what it reads from standard input */
    size_t input_bytes;
    struct process_limits limits;
};

/* How it ended. Texts have a NUL behind them. */
struct process_result {
    int code;              /* exit code; -1 when a signal ended it */
    int signal;            /* the signal; 0 = none */
    bool timed_out;        /* it was ended for its time on the wall */
    uint8_t *out, *errors; /* standard output, standard error */
    size_t out_bytes, error_bytes;
};

/* Runs the program in the folder "/" with an environment of PATH, LC_ALL and TMPDIR alone and waits for its end. False with
 * *error when it could not be started or watched; how it ended is the caller's to judge. Free the result in any case. */
bool process_run(const struct process_request *request, struct process_result *result, struct orch_error *error);
void process_result_free(struct process_result *result);

#endif
