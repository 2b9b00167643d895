/* Shared by the files about claims. */
#ifndef ORCHARD_SIM_REPORT_CLAIMS_INTERNAL_H
#define ORCHARD_SIM_REPORT_CLAIMS_INTERNAL_H

#include "sim/report/claims.h"

/* A number with its interval, and the run that it comes from. */
struct claim_number {
    double value, low, high;
    json_object *run;   /* borrowed; NULL = none */
    json_object *below; /* the run that it is divided by; NULL = none other */
    bool is_run_time;   /* what bounds the run bounds the number, too */
};

/* claims_only.c: the rows of the table whose topic or text has one of the texts of `only`, between commas, in it; NULL = all. */
json_object *claims_wanted(json_object *list, const char *only);
/* Why the answer is what it is, from the limits of the run, and what the claim would need. */
void claim_reason(const struct claim *claim, const struct claim_number *number, char *text, size_t size);
/* Fills in what a table of measurements says of the chip that answered: the claim's `measured`, the run of the answer. */
void claim_find_measured(const struct claims_asker *asker, json_object *measured, json_object *run, struct claim_answer *answer);
/* "2.70 ms", "8.60 TOPS/W" ... */
const char *claim_quantity(char *text, size_t size, double value, const char *unit);

#endif
