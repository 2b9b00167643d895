/* Runs the workloads of rows about power and returns the joules of every domain.
 *
 * Kernels of the libraries run as in `orchard run --mode timing`, in a loop with caches as warm as the row says; launches of a
 * row follow one another in one request or command buffer. A row without any work is the chip at idle.
 */
#ifndef ORCHARD_SIM_PROVE_VALIDATE_POWER_RUNNER_H
#define ORCHARD_SIM_PROVE_VALIDATE_POWER_RUNNER_H

#include "sim/machine/power/run_energy.h"
#include "sim/prove/validate/memo.h"
#include "sim/prove/validate/validate.h"

struct power_runner;

/* `memo` holds values of struct energy_run; the caller keeps it. */
struct power_runner *power_runner_create(const struct chip_db *db, const struct chip_overrides *overrides, struct memo *memo);
void power_runner_free(struct power_runner *runner);

/* Runs programs with launches, or with nothing at all (idle). */
bool power_runner_run(struct power_runner *runner, const struct validate_program *program, struct validate_timing *result,
                      struct orch_error *error);

/* Puts the joules of a run at the program's temperature into the result. */
void power_runner_report(const struct energy_run *run, const struct energy_model *model, const struct validate_program *program,
                         struct validate_timing *result);

#endif
