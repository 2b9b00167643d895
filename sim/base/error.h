/* How functions in sim/ report failure: with an exit code of the command line and one line for a person to read. */
#ifndef ORCHARD_SIM_BASE_ERROR_H
#define ORCHARD_SIM_BASE_ERROR_H

#include <stdbool.h>

/* Exit codes of the command line. */
enum orch_exit {
    ORCH_OK = 0,
    ORCH_FAILED = 1,       /* a check does not hold: mismatch, regression, out of tolerance */
    ORCH_USAGE = 2,        /* wrong use, bad or unreadable input, impossible launch */
    ORCH_UNMODELLED = 3,   /* an instruction, operator or device that is not modelled; the text names it */
    ORCH_FAULT = 4,        /* the simulated program faulted */
    ORCH_INTERNAL = 70,    /* a bug in orchard, or the system below it failed */
    ORCH_INTERRUPTED = 130 /* SIGINT */
};

struct orch_error {
    int exit_code;  /* enum orch_exit; 0 while nothing has gone wrong */
    char text[512]; /* what is wrong and where; no newline */
};

/* Fills *e, which may be NULL, and returns false, so that a caller can write `return orch_fail(...)`. */
bool orch_fail(struct orch_error *e, int exit_code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Reports that the host has no memory left (ORCH_INTERNAL); returns false. */
bool orch_no_memory(struct orch_error *e);

/* Puts "prefix: " in front of the text that *e already holds; returns false. For callers that know the file or the place. */
bool orch_fail_in(struct orch_error *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
