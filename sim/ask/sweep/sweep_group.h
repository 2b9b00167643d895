/* Which points of a sweep are simulated, and which are interpolated between them.
 *
 * Points that differ in numbers only are a group. A group asks for points in rounds: first a subset that fills its space, then
 * those where the error is greatest, until leaving points out and the expected error of each remaining point stay below the
 * tolerance. A group that does not get there is simulated wholly. Nothing depends on the order in which answers come.
 */
#ifndef ORCHARD_SIM_ASK_SWEEP_SWEEP_GROUP_H
#define ORCHARD_SIM_ASK_SWEEP_SWEEP_GROUP_H

#include "sim/ask/study/study.h"
#include "sim/ask/sweep/sweep_design.h"
#include "sim/ask/sweep/sweep_rounds.h"

/* Smaller groups are simulated completely. */
enum { SWEEP_GROUP_LEAST = 40 };

struct sweep_groups;

/* Groups the points given by their numbers in the design, in rising order; the array is copied. `rounds`, by index
 * of the point, says how threadgroups are dealt out to cores; it must outlive the groups, NULL = nothing is known of that. The
 * study prices joules, NULL = nobody does. NULL when memory is out. */
struct sweep_groups *sweep_groups_create(const struct sweep_spec *spec, const struct sweep_design *design, const uint64_t *point,
                                         size_t count, const struct sweep_rounds *rounds, struct study *study);
void sweep_groups_free(struct sweep_groups *groups);

/* The next round: indices of points that need simulated answers. *count 0 when all is done. *want stays valid until the next
 * call. */
bool sweep_groups_round(struct sweep_groups *groups, const size_t **want, size_t *count, struct orch_error *error);
/* Takes the simulated, known or failed answer for the point with this index. */
bool sweep_groups_answer(struct sweep_groups *groups, size_t index, const struct sweep_answer *answer, struct orch_error *error);
/* Call repeatedly after a round: returns the points that can be interpolated now, each once; false when there are no more for the
 * moment. */
bool sweep_groups_interpolated(struct sweep_groups *groups, size_t *index, struct sweep_answer *answer);

struct sweep_groups_stats {
    size_t groups, interpolating;           /* groups, and how many of them ended with interpolation */
    size_t left_out_points;                 /* their simulated points */
    double left_out_rms, left_out_greatest; /* relative error of seconds at left-out points; NAN when there are none */
    size_t scattering;  /* points that are simulated because answers scatter under the way in which threadgroups are dealt out */
    double scatter_rms; /* by so much, relative, of seconds; NAN when there are none */
};
void sweep_groups_stats(const struct sweep_groups *groups, struct sweep_groups_stats *stats);

#endif
