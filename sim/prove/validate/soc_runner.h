/* A runner that executes programs of rows on the chips of the database: interpreter and timing of CPU, memory and AMX. */
#ifndef ORCHARD_SIM_PROVE_VALIDATE_SOC_RUNNER_H
#define ORCHARD_SIM_PROVE_VALIDATE_SOC_RUNNER_H

#include "sim/chip/chip.h"
#include "sim/prove/validate/validate.h"

struct soc_runner;

/* What several runners in threads of their own remember together, so that equal work of all rows is done once. */
struct soc_runner_memory;
struct soc_runner_memory *soc_runner_memory_create(void);
void soc_runner_memory_free(struct soc_runner_memory *memory);

/* The caller keeps `db` and `overrides` (which may be NULL). `kernel` runs programs that name a workload of the kernel library
 * instead of code; NULL when they are not modelled. `memory` has to outlive the runner; NULL gives it its own. */
struct soc_runner *soc_runner_create(const struct chip_db *db, const struct chip_overrides *overrides,
                                     const struct validate_runner *kernel, struct soc_runner_memory *memory);
void soc_runner_free(struct soc_runner *runner);
struct validate_runner soc_runner_hook(struct soc_runner *runner);

#endif
