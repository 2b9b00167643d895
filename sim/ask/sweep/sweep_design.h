/* Turns the number of a point into its setting. */
#ifndef ORCHARD_SIM_ASK_SWEEP_SWEEP_DESIGN_H
#define ORCHARD_SIM_ASK_SWEEP_SWEEP_DESIGN_H

#include "sim/ask/sweep/sweep_read.h"
#include "sim/ask/sweep/sweep_spec.h"

/* Numbers from 0 to spec->points - 1 are the design, workload by workload, the last key changing fastest. Behind them come the
 * tornado points, workload by workload: the base, then each key alone. */
struct sweep_design;

/* Deterministic for a specification, which must outlive the design. NULL when memory is out. */
struct sweep_design *sweep_design_create(const struct sweep_spec *spec);
void sweep_design_free(struct sweep_design *design);
/* Number of points, including those of the tornado chart. */
uint64_t sweep_design_points(const struct sweep_design *design);

struct sweep_place {
    enum sweep_role role;
    size_t workload;
    size_t key; /* SWEEP_ALONE */
};
struct sweep_place sweep_design_place(const struct sweep_design *design, uint64_t point);
/* value[k] as in struct sweep_point, for every key. */
void sweep_design_values(const struct sweep_design *design, uint64_t point, double *value);
/* What differs from spec->base: the keys that vary, and the workload when there are several. Values are written as in the
 * `settings` of the row. */
bool sweep_design_varied(const struct sweep_design *design, uint64_t point, struct study_setting *setting);
/* The complete setting: base, workload, and what differs. */
bool sweep_design_setting(const struct sweep_design *design, uint64_t point, struct study_setting *setting);

#endif
