/* What the verbs sweep and whatif share. */
#ifndef ORCHARD_SIM_CMD_SWEEP_H
#define ORCHARD_SIM_CMD_SWEEP_H

#include "sim/cmd/cmd.h"
#include "sim/sweep/sweep_spec.h"

/* --unit, --precision, --chip, --set ... into the base of a specification. */
bool cmd_sweep_base(struct cmd_context *context, struct sweep_spec *spec, struct orch_error *error);
/* --jobs, else the cores of the host. */
bool cmd_sweep_jobs(struct cmd_context *context, uint64_t *jobs, struct orch_error *error);

#endif
