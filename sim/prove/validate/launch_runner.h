/* Runs the kernels of the GPU library that a row names, and returns the time of the device.
 *
 * Only a part of each launch is simulated: some waves of its threadgroups (or, for launches with few and long threadgroups, two
 * smaller shapes), starting with caches as full as the whole launch leaves them; their pace is extrapolated. Equal launches on
 * equal chips are run once.
 */
#ifndef ORCHARD_SIM_PROVE_VALIDATE_LAUNCH_RUNNER_H
#define ORCHARD_SIM_PROVE_VALIDATE_LAUNCH_RUNNER_H

#include "sim/chip/chip.h"
#include "sim/prove/validate/launch_time.h"
#include "sim/prove/validate/memo.h"
#include "sim/prove/validate/validate.h"

struct launch_runner;

/* `memo` holds values of struct launch_spent; the caller keeps it. */
struct launch_runner *launch_runner_create(const struct chip_db *db, const struct chip_overrides *overrides, struct memo *memo);
void launch_runner_free(struct launch_runner *runner);

/* Runs program->launch. `result` is one thread; its cycles are those of all cores together. */
bool launch_runner_run(struct launch_runner *runner, const struct validate_program *program, struct validate_timing *result,
                       struct orch_error *error);

#endif
