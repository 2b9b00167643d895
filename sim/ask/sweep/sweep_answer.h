/* The answer at a point of a sweep: the numbers of a run document that sweeps keep. */
#ifndef ORCHARD_SIM_ASK_SWEEP_SWEEP_ANSWER_H
#define ORCHARD_SIM_ASK_SWEEP_SWEEP_ANSWER_H

#include "sim/db/db.h"
#include "sim/base/run_result.h"

#include <stdbool.h>

/* In the order of DB_SWEEP_VALUE_TABLE: SWEEP_seconds, SWEEP_joules ... */
enum sweep_response {
#define X(name) SWEEP_##name,
    DB_SWEEP_VALUE_TABLE(X)
#undef X
        SWEEP_RESPONSE_COUNT
};
const char *sweep_response_name(enum sweep_response response);
const char *sweep_response_unit(enum sweep_response response);
int sweep_response_better(enum sweep_response response); /* 1 when higher is better, 0 when lower is, -1 when neither. */
/* ORCH_USAGE with the nearest name when there is no such response. */
bool sweep_response_find(const char *name, enum sweep_response *response, struct orch_error *error);

enum sweep_status { SWEEP_OPEN, SWEEP_DONE, SWEEP_FAILED };
enum sweep_method { SWEEP_SIMULATED, SWEEP_KNOWN, SWEEP_INTERPOLATED, SWEEP_METHOD_COUNT };
const char *sweep_status_name(enum sweep_status status);
const char *sweep_method_name(enum sweep_method method);

enum { SWEEP_BOUND_SIZE = 48, SWEEP_ERROR_SIZE = 240 };

struct sweep_answer {
    enum sweep_status status;
    enum sweep_method method;              /* of a point that is done */
    double expected_error;                 /* interpolated: relative standard deviation expected of seconds; otherwise NAN */
    double response[SWEEP_RESPONSE_COUNT]; /* NAN where a response does not apply */
    char bound_by[SWEEP_BOUND_SIZE];       /* "" = none */
    char error[SWEEP_ERROR_SIZE];          /* why it failed */
};

/* Makes an answer that is still open. */
void sweep_answer_init(struct sweep_answer *answer);
/* Copies responses and bound_by from a run. */
void sweep_answer_from_run(struct sweep_answer *answer, const struct run_result *result);
/* Copies a row of the database. */
void sweep_answer_from_row(struct sweep_answer *answer, const struct db_sweep_point *row);

#endif
