/* How far uncertain parameters move the time of a run, by simulating it again and again: a Latin hypercube over the parameters
 * that seem to decide most, all moved at once, each by as much as it is uncertain. A regression of the times tells the elasticity
 * of each.
 *
 *     struct uncertainty u = {.chips = db, .sets = overrides, .runs = 32, .seed = 1};
 *     const struct run_uncertainty hook = uncertainty_as_run(&u);
 *     request.uncertainty = &hook;
 */
#ifndef ORCHARD_SIM_ASK_STUDY_UNCERTAINTY_H
#define ORCHARD_SIM_ASK_STUDY_UNCERTAINTY_H

#include "sim/chip/chip.h"
#include "sim/run/run.h"
#include "sim/ask/study/study.h"

enum {
    UNCERTAINTY_RUNS_LEAST = 8,
    UNCERTAINTY_RUNS_DEFAULT = 32,
    UNCERTAINTY_RUNS_MOST = 10000,
    UNCERTAINTY_PARAMETERS_MOST = 12
};

struct uncertainty {
    const struct chip_db *chips;
    struct chip_overrides sets; /* of the chip that runs */
    struct orch_db *db;         /* holds characteristics; may be NULL */
    unsigned runs;
    uint64_t seed;
};
struct run_uncertainty uncertainty_as_run(struct uncertainty *u);

/* Elasticity of a single parameter: d ln seconds / d ln key at a setting, from the times at key * (1 + step) and key / (1 +
 * step). */
bool uncertainty_elasticity(struct study *study, const struct chip *chip, const struct study_setting *setting, const char *key,
                            double step, double *elasticity, struct orch_error *error);

#endif
