/* The verb run with A + B: several workloads at the same time. */
#ifndef ORCHARD_SIM_API_VERB_RUN_TOGETHER_H
#define ORCHARD_SIM_API_VERB_RUN_TOGETHER_H

#include "sim/api/record.h"
#include "sim/api/verb_run_parts.h"
#include "sim/db/db.h"
#include "sim/run/run.h"

#include <json-c/json.h>

struct verb_together {
    const struct api_record *record;
    const char *text;                   /* "A[unit=gpu] + B" */
    const struct run_request *common;   /* what all workloads have in common, the chip above all */
    const struct verb_run_parts *parts; /* what they have of their own */
    uint64_t number;                    /* of the run, for events */
    json_object *rows;                  /* gets the document */
};

/* Simulates and records on one chip; prints the text and adds the document to `rows`. */
bool verb_run_together(const struct verb_together *together, struct orch_error *error);

#endif
