/* The tables of published measurements that come with orchard (sim/prove/tables). */
#ifndef ORCHARD_SIM_PROVE_VALIDATE_TABLES_H
#define ORCHARD_SIM_PROVE_VALIDATE_TABLES_H

#include "sim/prove/validate/validate.h"

/* Adds all of them. */
bool validation_add_shipped(struct validation *v, struct orch_error *error);
/* The path of one of them, from malloc; NULL when it is not there or memory is out. */
char *validation_shipped_path(const char *name, struct orch_error *error);
/* Writes a table without rows, for measurements of one's own. */
void validation_write_template(FILE *out);
/* Their columns, one by one; NULL past the last. */
struct validation_column {
    const char *name, *unit, *values, *text; /* unit "" = none */
};
const struct validation_column *validation_column_at(size_t index);
/* The same as a chapter of help. */
extern const char validation_columns_help[];

#endif
