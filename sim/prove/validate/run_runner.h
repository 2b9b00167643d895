/* Predicts rows that are kernels of orchard's libraries by asking what a user would ask: `orchard run KERNEL:SHAPE`, see
 * request.h. Nothing is estimated here: times of several requests are added up. Equal requests are run once. */
#ifndef ORCHARD_SIM_PROVE_VALIDATE_RUN_RUNNER_H
#define ORCHARD_SIM_PROVE_VALIDATE_RUN_RUNNER_H

#include "sim/prove/validate/memo.h"
#include "sim/prove/validate/row_chip.h"
#include "sim/run/run.h"

/* What `orchard run` says of one request. */
struct run_answer {
    double seconds, device_seconds, overhead_seconds, cycles;
    double parameters; /* relative standard deviation of `seconds`, from its parameters */
    bool has_energy;
    struct energy_run energy;
};

/* Asks, or remembers: `memo` holds values of struct run_answer. */
bool run_runner_ask(struct row_chip *chips, struct memo *memo, const struct validate_program *program, unsigned number,
                    struct run_answer *answer, struct orch_error *error);

/* Runs all requests of the program. `result` is one thread; its cycles are those of all GPU cores together; with VALIDATE_RATIO
 * the second request is thread 1. */
bool run_runner_run(struct row_chip *chips, struct memo *memo, const struct validate_program *program,
                    struct validate_timing *result, struct orch_error *error);

#endif
