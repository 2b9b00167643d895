/* The option unit of the verb run where it names no unit: all of them, or the fastest; and the table of several answers. */
#ifndef ORCHARD_SIM_API_VERB_RUN_UNITS_H
#define ORCHARD_SIM_API_VERB_RUN_UNITS_H

#include "sim/api/api.h"
#include "sim/base/table.h"
#include "sim/run/kinds/unit_choice.h"

/* What runs on one chip: `count` units, or once as the request says. */
struct verb_run_units {
    bool every, fastest; /* what was asked for, of a kernel */
    bool policies;       /* all policies of a network are asked for */
    bool tokens;         /* of a language model */
    bool told;           /* the precision, of all */
    unsigned count;
    const char *unit[UNIT_CHOICES], *precision;
    struct unit_choice choice;
    char why[512];
};
/* Reads the option; returns the unit of the request, NULL = none stated. */
const char *verb_run_units_read(const struct api_args *args, const char *workload, struct verb_run_units *units);
/* Calls `run` for the unit that was asked for; for the fastest one on the request's chip, which is told; or for each, where one
 * that does not run the workload is told and left out. Meanwhile the request is one of that unit. */
bool verb_run_units_each(struct api_context *context, struct verb_run_units *units, struct run_request *request,
                         bool (*run)(void *own, struct orch_error *error), void *own, struct orch_error *error);

/* A row for each answer; with the unit where units or policies differ. */
struct table *verb_run_table_create(const struct verb_run_units *units);
void verb_run_table_line(struct table *table, const struct run_result *result, const struct verb_run_units *units,
                         const struct run_request *request);

#endif
