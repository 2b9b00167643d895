/* Golden vectors of the GPU's instruction set: words (encode, compiler-words, mesa-words) and execution (exec-single,
 * exec-program, exec-load). Formats: tests/golden/agx/README.md; the name says which.
 */
#ifndef ORCHARD_SIM_PROVE_CHECK_AGX_VECTORS_H
#define ORCHARD_SIM_PROVE_CHECK_AGX_VECTORS_H

#include "sim/base/check.h"
#include "sim/base/error.h"

/* Whether the file's name up to its first dot is one of encode compiler-words mesa-words exec-single exec-program exec-load. */
bool check_agx_knows(const char *path);

/* How instructions are executed: the fast way, or one lane at a time by the plain rules. */
enum check_agx_path { CHECK_AGX_FAST, CHECK_AGX_REFERENCE };

/* Adds a case for each line of the file (gzip or plain). Mismatches go into the report as "file:line: what differs". False when
 * the file cannot be read, is malformed ("file:line: reason") or empty. */
bool check_agx_vectors(const char *path, enum check_agx_path exec_path, struct check_report *report, struct orch_error *error);
/* The same from an open descriptor, which is left open; `name` chooses the format. */
bool check_agx_vectors_fd(int fd, const char *name, enum check_agx_path exec_path, struct check_report *report,
                          struct orch_error *error);

#endif
