/* How functions in sim/ report failure: with an exit code and one line for a person to read.
 *
 * Most mistakes are about an option, and the two users of the library spell options differently: the command line writes
 * --unit, a program passes unit=amx. A text therefore marks the names of options,
 *
 *     orch_fail(error, ORCH_USAGE, ORCH_OPTION("unit") " %s: GPU machine code runs on the gpu", unit);
 *
 * and both spellings are kept: "--unit amx: ..." in `text` and "unit amx: ..." in `plain`.
 */
#ifndef ORCHARD_SIM_BASE_ERROR_H
#define ORCHARD_SIM_BASE_ERROR_H

#include <stdbool.h>
#include <stddef.h>

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

enum { ORCH_ERROR_SIZE = 512 };

struct orch_error {
    int exit_code;               /* enum orch_exit; 0 while nothing has gone wrong */
    char text[ORCH_ERROR_SIZE];  /* what is wrong and where; no newline; options with their dashes */
    char plain[ORCH_ERROR_SIZE]; /* the same with options by name alone, for programs that use the library */
};

/* An option inside a text or format: "--name", or "name" in the plain spelling. The name may be a conversion ("%s"). */
#define ORCH_OPTION(name) "\001" name
/* The same for an option that the command line writes by its letter: "-o", or "output" in the plain spelling. */
#define ORCH_LETTER(letter, name) "\001" letter "\002" name
/* Spells the options of a marked text in one of the two ways; what does not fit is cut off. */
void orch_spell_options(const char *marked, bool dashes, char *text, size_t size);

/* Fills *e, which may be NULL, and returns false, so that a caller can write `return orch_fail(...)`. */
bool orch_fail(struct orch_error *e, int exit_code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Reports that the host has no memory left (ORCH_INTERNAL); returns false. */
bool orch_no_memory(struct orch_error *e);

/* Puts "prefix: " in front of the text that *e already holds; returns false. For callers that know the file or the place. */
bool orch_fail_in(struct orch_error *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds to the end of the text that is already there; returns false. */
bool orch_fail_more(struct orch_error *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
