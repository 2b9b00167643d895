/* The summary that a person reads after a run. */
#ifndef ORCHARD_SIM_LISTEN_SUMMARY_H
#define ORCHARD_SIM_LISTEN_SUMMARY_H

#include "sim/base/run_result.h"

#include <stdio.h>

struct summary_options {
    bool colour;
    size_t counters_max;   /* how many counters are shown */
    size_t placements_max; /* how many ops are shown */
};

/* Prints to `out`; false when that failed. */
bool summary_print(FILE *out, const struct run_result *result, const struct summary_options *options);

#endif
