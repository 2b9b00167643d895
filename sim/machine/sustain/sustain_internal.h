/* Shared by the files of sustained operation: sustain.c steps through time, sustain_account.c keeps the books, sustain_safe.c
 * finds clocks. */
#ifndef ORCHARD_SIM_MACHINE_SUSTAIN_SUSTAIN_INTERNAL_H
#define ORCHARD_SIM_MACHINE_SUSTAIN_SUSTAIN_INTERNAL_H

#include "sim/machine/sustain/load.h"
#include "sim/machine/sustain/machine.h"
#include "sim/machine/sustain/steering.h"
#include "sim/machine/sustain/sustain.h"

struct sustain_loop {
    const struct sustain_setup *setup;
    struct sustain_result *result;
    struct machine machine;
    struct governor governor;
    struct steering steering;
    struct battery battery;
    double time_s, end_s, tick_s, step_s, step_max_s;
    double sample_s, next_sample_s, sampled_s;
    struct sustain_sample sum; /* sums weighted by time since the last sample */
    double last_w;
    double last_mhz[POWER_DOMAIN_COUNT], last_pace[SUSTAIN_WORKLOADS];
    double worked_s;       /* time of the load so far */
    double tail_j, tail_s; /* energy and time of the last tenth of the load */
    size_t room;
};

/* ORCH_USAGE when the setup is impossible. */
bool sustain_check(const struct sustain_setup *s, struct orch_error *error);
/* Cores per P cluster that the workloads use, at least one. */
unsigned sustain_p_cores(const struct sustain_setup *s);
/* Whether the workloads are at work now; they are not before they begin and while the machine cools. */
bool sustain_running(const struct sustain_loop *l);

/* Adds a step to the result and to the sample that is being gathered. */
void sustain_account(struct sustain_loop *l, const struct load_step *step, const double mhz[POWER_DOMAIN_COUNT], double seconds);
/* Ends the sample, with means over its time and temperatures at its end. Does nothing when no time has passed. */
bool sustain_sample(struct sustain_loop *l, enum thermal_pressure pressure, double rpm, struct orch_error *error);
/* Fills in what is known only at the end. */
void sustain_finish(struct sustain_loop *l);

#endif
