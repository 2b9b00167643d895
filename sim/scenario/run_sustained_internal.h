/* What the files of run_sustained.h share. */
#ifndef ORCHARD_SIM_SCENARIO_RUN_SUSTAINED_INTERNAL_H
#define ORCHARD_SIM_SCENARIO_RUN_SUSTAINED_INTERNAL_H

#include "sim/scenario/run_sustained.h"
#include "sim/scenario/together_profile.h"

struct run_sustained {
    const struct run_sustained_request *request;
    struct run *base;                              /* a single workload; otherwise NULL */
    struct together *together;                     /* several workloads; otherwise NULL */
    struct together_profiles profiles;             /* a single workload has only the first */
    struct power_profile moved[SUSTAIN_WORKLOADS]; /* profiles on the E cores, or on the unit that is asked for */
    char precision[16];                            /* of the first there; "" = as here */
    bool may_move[SUSTAIN_WORKLOADS];
    struct event_run_begin begin;
    char *options;                        /* of the event */
    const struct work_progress *progress; /* who waits while it is executed; NULL = nobody */
};

/* run_sustained_move.c: profiles of the workloads where they may move to; false when one cannot go to the unit that is asked
 * for. */
bool run_sustained_move(struct run_sustained *run, struct orch_error *error);
/* Another unit may compute in another precision. False = out of memory. */
bool run_sustained_tell_move(const struct run_sustained *run, struct run_result *result);

#endif
