/* Summaries of a sweep as text and as JSON. */
#ifndef ORCHARD_SIM_ASK_SWEEP_SWEEP_SUMMARY_H
#define ORCHARD_SIM_ASK_SWEEP_SWEEP_SUMMARY_H

#include "sim/ask/sweep/sweep_engine.h"
#include "sim/ask/sweep/sweep_read.h"

#include <json-c/json.h>
#include <stdio.h>

struct sweep_summary {
    enum sweep_response response; /* the response that effects are about */
    size_t rows;                  /* points shown per workload */
    bool color;
};

/* Prints points, methods and errors of a run; `done` is NULL when the sweep is only shown. */
bool sweep_summary_print(FILE *out, const struct sweep_data *data, const struct sweep_done *done, const struct sweep_summary *how,
                         struct orch_error *error);
/* NULL with *error. */
json_object *sweep_summary_json(const struct sweep_data *data, const struct sweep_done *done, const struct sweep_summary *how,
                                struct orch_error *error);

#endif
