/* A runner that executes programs of rows on the chips of the database: interpreter, CPU, memory and AMX
 * timing. */
#ifndef ORCHARD_SIM_VALIDATE_SOC_RUNNER_H
#define ORCHARD_SIM_VALIDATE_SOC_RUNNER_H

#include "sim/chip/chip.h"
#include "sim/validate/validate.h"

struct soc_runner;

/* `db` and `overrides` (may be NULL) stay the caller's. `kernel` runs programs that name a workload of the
 * kernel library instead of code; NULL = they are not modelled. */
struct soc_runner *soc_runner_create(const struct chip_db *db, const struct chip_overrides *overrides,
                                     const struct validate_runner *kernel);
void soc_runner_free(struct soc_runner *runner);
struct validate_runner soc_runner_hook(struct soc_runner *runner);

#endif
