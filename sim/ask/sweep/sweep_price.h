/* Joules between simulated points: worked out by the energy model itself, from what a simulated point of the group did and the
 * time that is interpolated. Voltages jump and bend with clocks, so joules themselves are much rougher than times.
 */
#ifndef ORCHARD_SIM_ASK_SWEEP_SWEEP_PRICE_H
#define ORCHARD_SIM_ASK_SWEEP_SWEEP_PRICE_H

#include "sim/ask/study/study.h"
#include "sim/ask/sweep/sweep_answer.h"
#include "sim/ask/sweep/sweep_design.h"

struct sweep_price {
    struct study *study; /* NULL = nobody can be asked */
    const struct sweep_design *design;
    const uint64_t *point; /* numbers in the design, by index */
    struct study_work work;
};

/* Takes over what the kernel does at the point with this index. Where that is not known, nobody can be asked any more. */
void sweep_price_begin(struct sweep_price *price, size_t index);
/* What the same work costs at another point, when it takes so much there. */
double sweep_price_joules(const struct sweep_price *price, size_t index, const struct run_timing_took *took);

/* The price at a simulated point, and by how many percent it changes for one percent more of each part of the time or of the
 * traffic. */
enum sweep_price_part { SWEEP_PRICE_BUSY, SWEEP_PRICE_REST, SWEEP_PRICE_BYTES, SWEEP_PRICE_PARTS };
struct sweep_priced {
    double joules, by[SWEEP_PRICE_PARTS];
};
/* False when the price or the answer's joules are not known. */
bool sweep_price_of(const struct sweep_price *price, size_t index, const struct sweep_answer *answer, struct sweep_priced *to);

#endif
