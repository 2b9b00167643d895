/* Why a run took as long as it did, in words: `orchard run --explain`. */
#ifndef ORCHARD_SIM_RUN_EXPLAIN_H
#define ORCHARD_SIM_RUN_EXPLAIN_H

#include "sim/run/run.h"

#include <stdio.h>

/* The limit, the roofline of the unit and memory, and the assumptions the answer leans on. */
void run_explain(FILE *out, const struct run *run, const struct run_result *result);

#endif
