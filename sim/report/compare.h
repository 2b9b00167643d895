/* Compares two runs: what differs, and by how much. */
#ifndef ORCHARD_SIM_REPORT_COMPARE_H
#define ORCHARD_SIM_REPORT_COMPARE_H

#include "sim/report/report_run.h"

/* A number that at least one run has and that differs. */
struct compare_number {
    char name[80];
    const char *unit; /* as in the dictionary of metrics; "" = none */
    double a, b;      /* NAN where the run lacks it */
    double ratio;     /* b / a; NAN where a ratio has no meaning */
};

/* A property that decides the answer and differs. */
struct compare_text {
    const char *name, *a, *b; /* a, b: NULL = not set */
};

struct comparison {
    const struct report_run *a, *b;
    struct compare_text *text;
    struct compare_number *number, *stall; /* stall: shares of the time, sorted by the seconds they grew */
    size_t texts, numbers, stalls;
    bool intervals_overlap, has_intervals; /* intervals of seconds */
    struct {
        const struct chip_value *a, *b;
    } * key; /* of the chips, if both could be opened */
    size_t keys;
};

/* The runs must outlive the comparison. Free with compare_free, also after an error. */
bool compare_runs(const struct report_run *a, const struct report_run *b, struct comparison *c, struct orch_error *error);
void compare_free(struct comparison *c);

#endif
