/* orchard run A + B: several workloads at once, for verb_run.c. */
#ifndef ORCHARD_SIM_API_VERB_RUN_TOGETHER_H
#define ORCHARD_SIM_API_VERB_RUN_TOGETHER_H

#include "sim/api/record.h"
#include "sim/db/db.h"
#include "sim/run/run.h"

#include <json-c/json.h>

struct verb_together {
    const struct api_record *record;
    const char *text;                 /* "A[unit=gpu] + B" */
    const struct run_request *common; /* every workload starts from it; its chip is the one to run on */
    uint64_t number;                  /* of the run, for events */
    json_object *rows;                /* with --json: gets the document */
};

/* Simulates, records and shows on one chip. */
bool verb_run_together(const struct verb_together *together, struct orch_error *error);

#endif
