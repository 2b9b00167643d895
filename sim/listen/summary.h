/* What a person sees after a run. */
#ifndef ORCHARD_SIM_LISTEN_SUMMARY_H
#define ORCHARD_SIM_LISTEN_SUMMARY_H

#include "sim/base/run_result.h"

#include <stdio.h>

struct summary_options {
    bool colour;
    size_t counters_max;   /* counters shown; 0 = none */
    size_t placements_max; /* ops shown; 0 = none */
};

/* Prints to `out`; false when writing failed. */
bool summary_print(FILE *out, const struct run_result *result, const struct summary_options *options);

#endif
