/* The floorplan of a chip's die, and which power domain each of its blocks belongs to. */
#ifndef ORCHARD_SIM_CHIP_CHIP_FLOORPLAN_H
#define ORCHARD_SIM_CHIP_CHIP_FLOORPLAN_H

#include "power/energy.h"
#include "power/floorplan.h"
#include "sim/chip/chip.h"

struct chip_block {
    enum power_domain domain;
    unsigned slice; /* of the domain: core, controller ...; UINT32_MAX: shared by all */
    bool sensor;    /* counts in the mean temperature of the die; memory interfaces and I/O do not */
};
struct chip_floorplan {
    struct floorplan plan;    /* one die */
    struct chip_block *block; /* owned; in the order of plan.block */
    unsigned dies;            /* equal dies side by side under one spreader; each burns its part of a domain's power */
};

/* The keys "area.*" give the areas; what they leave of the die is the rest of the SoC. Free with chip_floorplan_free. */
bool chip_floorplan(const struct chip *chip, struct chip_floorplan *floorplan, struct orch_error *error);
void chip_floorplan_free(struct chip_floorplan *floorplan);

/* Spreads the watts of all domains over the blocks of one die: watts[block]. A domain burns in its busy slices and its shared
 * blocks, in proportion to their area; without a busy slice it burns all over its area. */
void chip_floorplan_spread(const struct chip_floorplan *floorplan, const double domain_w[POWER_DOMAIN_COUNT],
                           const unsigned busy_slices[POWER_DOMAIN_COUNT], double *watts);

#endif
