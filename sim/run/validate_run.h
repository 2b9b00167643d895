/* Runs the microbenchmark programs of sim/validate on simulated chips. */
#ifndef ORCHARD_SIM_RUN_VALIDATE_RUN_H
#define ORCHARD_SIM_RUN_VALIDATE_RUN_H

#include "sim/chip/chip.h"
#include "sim/validate/validate.h"

struct validate_host;

/* Chips are opened from `db` with `overrides` when first needed. NULL only without memory. Both must outlive the host. */
struct validate_host *validate_host_create(const struct chip_db *db, const struct chip_overrides *overrides);
void validate_host_free(struct validate_host *host);
/* What validation_run takes; valid as long as the host. */
struct validate_runner validate_host_runner(struct validate_host *host);

#endif
