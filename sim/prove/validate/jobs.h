/* Runs a validation in several threads, each with simulated chips of its own. */
#ifndef ORCHARD_SIM_PROVE_VALIDATE_JOBS_H
#define ORCHARD_SIM_PROVE_VALIDATE_JOBS_H

#include "sim/chip/chip.h"
#include "sim/prove/validate/validate.h"

enum { VALIDATION_JOBS_MAX = 256 };

/* Runs every row on the chips of the folder (NULL = the installed ones). The results do not depend on the number of jobs.
 * `listener` may be NULL. */
bool validation_simulate(struct validation *v, const char *chips, const struct chip_overrides *overrides, unsigned jobs,
                         const struct validate_listener *listener, struct orch_error *error);

#endif
