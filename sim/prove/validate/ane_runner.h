/* Runs kernels of the Neural Engine's library that a row names, as one request, on the simulated chip.
 *
 * No data: only the timing runs. Equal programs on equal chips are run once.
 */
#ifndef ORCHARD_SIM_PROVE_VALIDATE_ANE_RUNNER_H
#define ORCHARD_SIM_PROVE_VALIDATE_ANE_RUNNER_H

#include "sim/chip/chip.h"
#include "sim/prove/validate/memo.h"
#include "sim/prove/validate/validate.h"
#include "units/ane/ane_timing.h"

struct ane_runner;

/* What one request took. */
struct ane_spent {
    double device_ns, overhead_ns;
    double stalls[ANE_STALL_COUNT]; /* of both, in cycles of the engine */
};

/* `memo` holds a struct ane_spent each and stays the caller's. */
struct ane_runner *ane_runner_create(const struct chip_db *db, const struct chip_overrides *overrides, struct memo *memo);
void ane_runner_free(struct ane_runner *runner);

/* Runs program->launch. `result` is one thread; with VALIDATE_RATIO the second launch is thread 1. */
bool ane_runner_run(struct ane_runner *runner, const struct validate_program *program, struct validate_timing *result,
                    struct orch_error *error);

/* The program of the first launch as a file (malloc); NULL with *error. */
uint8_t *ane_runner_dump(const struct validate_program *program, size_t *bytes, struct orch_error *error);

#endif
