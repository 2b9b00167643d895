/* Runs the GPU programs of rows: assembled, executed and timed on as many cores as the row asks for. */
#ifndef ORCHARD_SIM_PROVE_VALIDATE_GPU_RUNNER_H
#define ORCHARD_SIM_PROVE_VALIDATE_GPU_RUNNER_H

#include "sim/chip/chip.h"
#include "sim/prove/validate/validate.h"

bool gpu_runner_run(const struct chip *chip, const struct validate_program *program, struct validate_timing *result,
                    struct orch_error *error);

#endif
