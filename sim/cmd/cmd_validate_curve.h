/* The part of `orchard validate` that scores measured curves of machines. */
#ifndef ORCHARD_SIM_CMD_VALIDATE_CURVE_H
#define ORCHARD_SIM_CMD_VALIDATE_CURVE_H

#include "sim/cmd/cmd.h"

/* Is the file a curve (time, watts, degrees)? False when it cannot be read. */
bool cmd_is_curve(const char *path);
/* Chip of --chip, machine of --device (macbook-air when not given). */
bool cmd_validate_curve(struct cmd_context *context, const char *path, struct orch_error *error);

#endif
