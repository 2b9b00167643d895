/* Shared by the files together*.c, and by nobody else. */
#ifndef ORCHARD_SIM_SCENARIO_TOGETHER_INTERNAL_H
#define ORCHARD_SIM_SCENARIO_TOGETHER_INTERNAL_H

#include "sim/scenario/together.h"
#include "sim/scenario/together_machine.h"

struct member {
    struct together_part part;
    struct run *run;
    struct run_measure measure;
    struct together_load load;
    struct together_outcome outcome;
    unsigned first_core, cores; /* of the CPU; cores = 0 for workloads of other units */
    int slice;                  /* number of the slice of its busy phase */
    struct energy_run energy;   /* alone */
    bool has_energy;
};

struct together {
    struct member member[TOGETHER_PARTS];
    unsigned count;
    char *text;
    struct event_run_begin begin;
    char *options; /* of the event */
    char program_hash[20], unit[64];
    struct together_machine machine;
    struct together_resource resource[FAIR_RESOURCES_MAX];
    unsigned resources;
    bool line_by_line;
    bool by_rates; /* share rates even where the programs could meet on one time line */
};

/* ---- together_share.c ---- */

/* Shares the chip at max-min fair rates: fills the outcomes and the resources. Emits DRAM utilisation; bus may be NULL. */
bool together_share(struct together *t, struct event_bus *bus, uint64_t number, double *end_ns, struct orch_error *error);

/* ---- together_meet.c ---- */

/* True for programs of the CPU that are submitted at once and are equal in rank: they can meet on one time line. */
bool together_may_meet(const struct together *t);
/* Runs them there and fills the outcomes. */
bool together_meet(struct together *t, double *end_ns, struct orch_error *error);

/* ---- together_result.c ---- */

/* Makes the result of the whole, which must be initialised, and the dynamic energy of each outcome. */
bool together_fill_result(struct together *t, double end_ns, struct run_result *whole, struct orch_error *error);

#endif
