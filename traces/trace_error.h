/* What is wrong with a trace and where. */
#ifndef ORCHARD_TRACES_TRACE_ERROR_H
#define ORCHARD_TRACES_TRACE_ERROR_H

#include <stdbool.h>

struct trace_error {
    bool memory;    /* memory ran out, and nothing is wrong with the file */
    char text[512]; /* "FILE: byte 1234, block 3: the checksum does not match" */
};

/* Fills *error (which may be NULL) and returns false. */
bool trace_fail(struct trace_error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool trace_no_memory(struct trace_error *error);

#endif
