/* Golden vectors of the AMX unit: reads the files and executes them on struct amx_core.
 * Formats (one instruction per line, programs, full states): tests/golden/amx/README.md; the name says which.
 */
#ifndef ORCHARD_SIM_PROVE_CHECK_AMX_VECTORS_H
#define ORCHARD_SIM_PROVE_CHECK_AMX_VECTORS_H

#include "sim/base/check.h"
#include "sim/base/error.h"
#include "units/amx/amx_core.h"

/* Whether the file's name up to its first dot is one of fma fms ldst extr mac16 matfp matint vecfp vecint genlut programs
 * full_states. */
bool check_amx_knows(const char *path);

/* Adds a case for each vector, program or state of the file (gzip or plain). Mismatches go into the report as "file:line: vector:
 * what differs". False when the file cannot be read, is malformed ("file:line: reason") or empty. */
bool check_amx_vectors(const char *path, enum amx_path exec_path, struct check_report *report, struct orch_error *error);

/* The same from an open descriptor, which is left open; `name` chooses the format. */
bool check_amx_vectors_fd(int fd, const char *name, enum amx_path exec_path, struct check_report *report,
                          struct orch_error *error);

#endif
