/* Help, printed from the tables of the library. */
#ifndef ORCHARD_SIM_CMD_HELP_H
#define ORCHARD_SIM_CMD_HELP_H

#include "sim/orchard.h"

/* All verbs, common options and two examples. */
void help_overview(FILE *out);
/* The page of one verb, laid out as a manual page. */
void help_verb(FILE *out, const struct orchard_verb *verb);

#endif
