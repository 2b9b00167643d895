/* Runs the kernels of the Neural Engine library that a row names, as one request on the simulated chip.
 *
 * Only the timing runs, without data. Equal programs on equal chips are run once.
 */
#ifndef ORCHARD_SIM_PROVE_VALIDATE_ANE_RUNNER_H
#define ORCHARD_SIM_PROVE_VALIDATE_ANE_RUNNER_H

#include "sim/chip/chip.h"
#include "sim/prove/validate/memo.h"
#include "sim/prove/validate/validate.h"
#include "units/ane/ane_timing.h"

struct ane_runner;

/* Times of one request. */
struct ane_spent {
    double device_ns, overhead_ns;
    double stalls[ANE_STALL_COUNT]; /* of device and overhead, in cycles of the engine */
};

/* `memo` holds values of struct ane_spent; the caller keeps it. */
struct ane_runner *ane_runner_create(const struct chip_db *db, const struct chip_overrides *overrides, struct memo *memo);
void ane_runner_free(struct ane_runner *runner);

/* Runs program->launch. `result` is one thread; with VALIDATE_RATIO the second launch is thread 1. */
bool ane_runner_run(struct ane_runner *runner, const struct validate_program *program, struct validate_timing *result,
                    struct orch_error *error);

/* The program of the first launch as a file (malloc); NULL with *error. */
uint8_t *ane_runner_dump(const struct validate_program *program, size_t *bytes, struct orch_error *error);

#endif
