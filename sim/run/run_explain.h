/* Why a run took as long as it did, in words: `orchard run --explain`. */
#ifndef ORCHARD_SIM_RUN_RUN_EXPLAIN_H
#define ORCHARD_SIM_RUN_RUN_EXPLAIN_H

#include "sim/run/run.h"

#include <stdio.h>

/* Prints the limit, what would move it, and, unless run is NULL, the roofline of unit and memory. Assumptions and stalls are part
 * of every summary. */
void run_explain(FILE *out, const struct run *run, const struct run_result *result);

/* What a stall reason means for somebody who wants to change it; "" when nothing is known. */
const char *run_reason_meaning(const char *reason);

#endif
