/* Reads a trace once: whether it is whole, and what is in it. Memory does not grow with the trace. */
#ifndef ORCHARD_SIM_TRACE_TRACE_SURVEY_H
#define ORCHARD_SIM_TRACE_TRACE_SURVEY_H

#include "sim/base/error.h"
#include "traces/trace_read.h"

struct trace_survey {
    struct trace_account account;
    bool text;
    char chip[64], workload[200], orchard[32], level[32], source[64]; /* from the header; "" = not recorded */
    uint64_t records[TRACE_KIND_END];
    uint64_t runs, first_run;
    uint64_t works[3];     /* kernels, estimates, launches without work */
    uint64_t dependent;    /* launches that wait for other launches */
    double seconds;        /* of the runs if recorded, else from the first to the last time stamp */
    double op_seconds;     /* sum over operators */
    char program_hash[40]; /* of the first run */
    uint64_t wrong;        /* records that cannot be: operators out of order, ends without a launch ... */
    char first_wrong[200];
};

/* False with *error when the file cannot be read or, without force, is damaged. */
bool trace_survey(const char *path, bool force, struct trace_survey *survey, struct orch_error *error);

#endif
