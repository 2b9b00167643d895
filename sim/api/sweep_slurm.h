/* A sweep as a job array of an existing Slurm, followed by a job that merges the shards. */
#ifndef ORCHARD_SIM_API_SWEEP_SLURM_H
#define ORCHARD_SIM_API_SWEEP_SLURM_H

#include "sim/api/api.h"
#include "sim/ask/sweep/sweep_spec.h"

/* Writes SPEC.json and two scripts into the folder of the option slurm-folder, submits them with sbatch, and answers with their
 * ids. With dry-run it only prints the scripts. Returns an exit code. */
int sweep_slurm(struct api_context *context, const struct sweep_spec *spec);

#endif
