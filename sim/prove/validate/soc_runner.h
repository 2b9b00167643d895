/* The runner for all rows, on the chips of the database: kernels of the libraries are asked of sim/run (run_runner.h,
 * power_runner.h), loops of the GPU run in gpu_runner.h, and programs of CPU cores, AMX words included, here. */
#ifndef ORCHARD_SIM_PROVE_VALIDATE_SOC_RUNNER_H
#define ORCHARD_SIM_PROVE_VALIDATE_SOC_RUNNER_H

#include "sim/chip/chip.h"
#include "sim/prove/validate/validate.h"
#include "sim/soc/soc.h"

struct soc_runner;

/* What several runners in threads of their own remember together, so that equal work of all rows is done once. */
struct soc_runner_memory;
struct soc_runner_memory *soc_runner_memory_create(void);
void soc_runner_memory_free(struct soc_runner_memory *memory);

/* The caller keeps `db` and `overrides` (which may be NULL). `memory` has to outlive the runner; NULL gives it its own. */
struct soc_runner *soc_runner_create(const struct chip_db *db, const struct chip_overrides *overrides,
                                     struct soc_runner_memory *memory);
void soc_runner_free(struct soc_runner *runner);
struct validate_runner soc_runner_hook(struct soc_runner *runner);

/* On how many cores a program of CPU cores runs. */
unsigned soc_runner_cores(const struct soc *soc, const struct validate_program *program);

#endif
