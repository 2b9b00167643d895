/* Sequences that go through the layers of a model at the same time, each on another unit: a unit takes a token of one after the
 * other, and what it has done with a token the next unit goes on with. Units that work at the same time share SLC and DRAM. */
#ifndef ORCHARD_SIM_RUN_LANGUAGE_LANGUAGE_PIPELINE_H
#define ORCHARD_SIM_RUN_LANGUAGE_LANGUAGE_PIPELINE_H

#include "sim/run/language/language_shards.h"
#include "sim/run/run_slices.h"

/* What the layers of a unit take for one token, or for a prompt. */
struct language_stage {
    enum orch_part part;
    struct run_piece piece;
    double before_ns; /* until the unit begins: the command buffer, which is made while the unit does other things */
};

/* Time in which so many sequences go through the stages so often; *lost_ns: of all pieces, because others used memory at the same
 * time. Many rounds are like some of them. False with *error. */
bool language_pipeline_run(const struct chip *chip, const struct language_stage *stage, unsigned stages, unsigned sequences,
                           unsigned rounds, double *end_ns, double *lost_ns, struct orch_error *error);

#endif
