/* How far answers scatter under each way in which threadgroups are dealt out to cores.
 *
 * Where a few threadgroups are left for the last round, the moment at which others end decides whether they share a core: a clock
 * changed by a tenth of a percent can change the time by 20 %. No interpolation follows that, but it is confined to the numbers
 * of cores that leave such a rest. What left-out points are off by tells where it is.
 */
#ifndef ORCHARD_SIM_ASK_SWEEP_SWEEP_DEAL_H
#define ORCHARD_SIM_ASK_SWEEP_SWEEP_DEAL_H

#include "sim/ask/sweep/sweep_rounds.h"

#include <stddef.h>

struct sweep_deals;

/* Of the members of a group, given by their indices in `rounds`. NULL when memory is out. */
struct sweep_deals *sweep_deals_create(const struct sweep_rounds *rounds, const size_t *member, size_t count);
void sweep_deals_free(struct sweep_deals *deals);
/* Equal for members whose threadgroups are dealt out in the same way. */
size_t sweep_deals_number(const struct sweep_deals *deals, size_t which);

/* Judges by the relative errors of some members: the deals that scatter most count as wild, as many as have to for the others to
 * stay within the tolerance. */
void sweep_deals_judge(struct sweep_deals *deals, const size_t *which, const double *error, size_t count, double tolerance);
bool sweep_deals_wild(const struct sweep_deals *deals, size_t which);

/* How many times as much a member scatters as most others do, as variance, at least 1. */
double sweep_deals_noise(const struct sweep_deals *deals, size_t which);
/* Whether it is wild by enough points of its own. */
bool sweep_deals_surely_wild(const struct sweep_deals *deals, size_t which);

struct sweep_deals_sum {
    size_t wild;          /* members under wild deals */
    double all, wild_rms; /* root mean square error over all members, over those under wild deals */
};
struct sweep_deals_sum sweep_deals_sum(const struct sweep_deals *deals);

#endif
