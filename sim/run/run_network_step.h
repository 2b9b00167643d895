/* One kernel of a network, on the unit whose library has it. */
#ifndef ORCHARD_SIM_RUN_RUN_NETWORK_STEP_H
#define ORCHARD_SIM_RUN_RUN_NETWORK_STEP_H

#include "sim/run/lowering.h"
#include "sim/run/run_network.h"

struct network_step {
    struct run_request request;
    struct run *run;
    enum orch_part asked;
    bool elsewhere; /* the library of the asked unit has no such kernel */
};

/* Opens the kernel: on the asked unit, else on the CPU. False with why neither has it. */
bool network_step_open(const struct run_network *network, enum orch_part asked, const struct lowered_step *lowered,
                       struct network_step *step, struct orch_error *error);
void network_step_close(struct network_step *step);
/* Runs it, adds what it did to the network, and its line to the placement. */
bool network_step_run(struct run_network *network, const char *title, const struct lowered_step *lowered,
                      struct network_step *step, struct orch_error *error);

#endif
