/* A sweep as a job array of an existing Slurm, and a job behind it that merges the shards. */
#ifndef ORCHARD_SIM_API_SWEEP_SLURM_H
#define ORCHARD_SIM_API_SWEEP_SLURM_H

#include "sim/api/api.h"
#include "sim/ask/sweep/sweep_spec.h"

/* Writes SPEC.json and two scripts into --slurm-folder, submits them with sbatch and prints the ids; with --dry-run it prints the
 * scripts only. Returns the exit code. */
int sweep_slurm(struct api_context *context, const struct sweep_spec *spec);

#endif
