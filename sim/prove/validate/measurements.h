/* Tables of published measurements: comma-separated, with a column "value". Rows that nobody can use are left out, each with its
 * place and what would put it right (csv_faults). */
#ifndef ORCHARD_SIM_PROVE_VALIDATE_MEASUREMENTS_H
#define ORCHARD_SIM_PROVE_VALIDATE_MEASUREMENTS_H

#include "sim/prove/validate/csv.h"

#include <stddef.h>

/* Both return NULL when it is no such table at all. Free with csv_free. */
struct csv_table *measurements_parse(const char *name, const char *text, size_t bytes, struct orch_error *error);
struct csv_table *measurements_read(const char *path, struct orch_error *error);

#endif
