/* One pass over a trace: is it whole, what is in it. Memory does not grow with the trace. */
#ifndef ORCHARD_SIM_TRACE_TRACE_SURVEY_H
#define ORCHARD_SIM_TRACE_TRACE_SURVEY_H

#include "sim/base/error.h"
#include "traces/trace_read.h"

struct trace_survey {
    struct trace_account account;
    bool text;
    char chip[64], workload[200], orchard[32], level[32], source[64]; /* of the header; "" = not said */
    uint64_t records[TRACE_KIND_END];
    uint64_t runs, first_run;
    uint64_t works[3];     /* launches by work: kernel, estimate, none */
    uint64_t dependent;    /* launches that wait for others */
    double seconds;        /* of runs that tell, else from the first to the last time */
    double op_seconds;     /* of operators, sum */
    char program_hash[40]; /* of the first run */
    uint64_t wrong;        /* records that cannot be: operators out of order, ends without a launch ... */
    char first_wrong[200];
};

/* False with *error when the file cannot be read or, without force, is damaged. */
bool trace_survey(const char *path, bool force, struct trace_survey *survey, struct orch_error *error);

#endif
