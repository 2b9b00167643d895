/* Runs rows that are whole kernels (a matrix product of a BLAS) as kernels of orchard's library. */
#ifndef ORCHARD_SIM_PROVE_VALIDATE_VALIDATE_KERNEL_H
#define ORCHARD_SIM_PROVE_VALIDATE_VALIDATE_KERNEL_H

#include "sim/chip/chip.h"
#include "sim/prove/validate/validate.h"

struct validate_kernel {
    const struct chip_db *db;
    const struct chip_overrides *overrides; /* may be NULL */
};

/* The runner to hand to soc_runner_create; `context` must outlive it. */
struct validate_runner validate_kernel_runner(struct validate_kernel *context);

#endif
