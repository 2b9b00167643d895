/* How long a kernel is expected to take on a unit before anything is executed: what `--unit auto` chooses by. A rule of thumb,
 * not an answer: times of results are simulated. */
#ifndef ORCHARD_SIM_RUN_NETWORK_RUN_NETWORK_PREDICT_H
#define ORCHARD_SIM_RUN_NETWORK_RUN_NETWORK_PREDICT_H

#include "sim/run/kind.h"

struct network_speeds {
    double ghz[PART_COUNT]; /* clock; of the GPU times its cores */
    double gpu_ghz;
    double hand_over_s;          /* a command buffer of the GPU, from submission to completion beyond its kernels: */
    double submit_s, complete_s; /* before them, and behind */
};

/* Of the units of a chip; ghz 0 = it has none. */
void network_speeds_of(const struct chip *chip, struct network_speeds *speeds);

/* Seconds of a step on that unit, or on an E core of it, simulated without values; INFINITY when it cannot be. */
struct run_network;
struct lowered_step;
double network_time(const struct run_network *network, const struct lowered_step *step, enum orch_part part, bool e_core);
/* The same where it is known already; NAN = it would have to be simulated. */
double network_known_time(const struct run_network *network, const struct lowered_step *step, enum orch_part part);

/* Seconds of a prepared kernel with so many elements in its operands and its result; INFINITY on a unit that the chip lacks. */
double network_predict(const struct network_speeds *speeds, const struct run *run, double operand_elements,
                       double result_elements);

#endif
