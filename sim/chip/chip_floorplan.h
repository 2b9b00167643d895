/* The floorplan of a chip's die, and which power domain each of its blocks belongs to. */
#ifndef ORCHARD_SIM_CHIP_CHIP_FLOORPLAN_H
#define ORCHARD_SIM_CHIP_CHIP_FLOORPLAN_H

#include "power/energy.h"
#include "power/floorplan.h"
#include "sim/chip/chip.h"

struct chip_block {
    enum power_domain domain;
    unsigned slice; /* of the domain: core, controller ...; shared blocks have the number of slices */
    bool sensor;    /* counts in the mean die temperature: not memory interfaces and I/O */
};
struct chip_floorplan {
    struct floorplan plan;    /* one die */
    struct chip_block *block; /* owned, same order as plan.block */
    unsigned dies;            /* equal dies side by side under one spreader: power of each is half of a domain's */
};

/* Areas are keys "area.*"; what they leave of the die is the rest of the SoC. Free with chip_floorplan_free. */
bool chip_floorplan(const struct chip *chip, struct chip_floorplan *floorplan, struct orch_error *error);
void chip_floorplan_free(struct chip_floorplan *floorplan);

/* Spreads watts of the domains over the blocks of one die: slices at work by `running` (share of every slice's time), what a
 * domain burns beyond its slices in its shared block. watts[block] is set. */
void chip_floorplan_spread(const struct chip_floorplan *floorplan, const double domain_w[POWER_DOMAIN_COUNT],
                           const unsigned busy_slices[POWER_DOMAIN_COUNT], double *watts);

#endif
