/* Two runs beside each other: what differs, and by how much. */
#ifndef ORCHARD_SIM_REPORT_COMPARE_H
#define ORCHARD_SIM_REPORT_COMPARE_H

#include "sim/report/report_run.h"

/* A number that both, or one, have and that differs. */
struct compare_number {
    char name[80];
    const char *unit; /* of the metric dictionary; "" = none */
    double a, b;      /* NAN = it has none */
    double ratio;     /* b / a; NAN where it says nothing */
};

/* What decides the answer and is not the same. */
struct compare_text {
    const char *name, *a, *b; /* NULL = not given */
};

struct comparison {
    const struct report_run *a, *b;
    struct compare_text *text;
    struct compare_number *number, *stall; /* stall: shares of the time, by what they grew in seconds */
    size_t texts, numbers, stalls;
    bool intervals_overlap, has_intervals; /* of seconds */
    struct {
        const struct chip_value *a, *b;
    } * key; /* of the chips, where both could be opened */
    size_t keys;
};

/* The runs must outlive the comparison. Free with compare_free, also after an error. */
bool compare_runs(const struct report_run *a, const struct report_run *b, struct comparison *c, struct orch_error *error);
void compare_free(struct comparison *c);

#endif
