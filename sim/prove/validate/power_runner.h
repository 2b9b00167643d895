/* Runs the workloads of rows about power and returns the joules of every domain.
 *
 * Kernels of the libraries run as in `orchard run` (run_runner.h), in a loop with caches as warm as the row says; launches of a
 * row follow one another in one request or command buffer. A row without any work is the chip at idle.
 */
#ifndef ORCHARD_SIM_PROVE_VALIDATE_POWER_RUNNER_H
#define ORCHARD_SIM_PROVE_VALIDATE_POWER_RUNNER_H

#include "sim/machine/power/run_energy.h"
#include "sim/prove/validate/run_runner.h"

/* Runs programs with launches, or with nothing at all (idle). `memo` as for run_runner_ask. */
bool power_runner_run(struct row_chip *chips, struct memo *memo, const struct validate_program *program,
                      struct validate_timing *result, struct orch_error *error);

/* Puts the joules of a run at the program's temperature into the result. */
void power_runner_report(const struct energy_run *run, const struct energy_model *model, const struct validate_program *program,
                         struct validate_timing *result);

#endif
