/* Shared by together*.c; not for others. */
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
    unsigned first_core, cores; /* of the CPU; 0 = none */
    int slice;                  /* its busy phase */
    struct energy_run energy;   /* alone */
    bool has_energy;
};

struct together {
    struct member member[TOGETHER_PARTS];
    unsigned count;
    char *text;
    struct event_run_begin begin;
    char options[64], program_hash[20], chip_hash[20], unit[64];
    struct together_machine machine;
    struct together_resource resource[FAIR_RESOURCES_MAX];
    unsigned resources;
    bool line_by_line;
    bool by_rates; /* whatever they are */
};

#endif
