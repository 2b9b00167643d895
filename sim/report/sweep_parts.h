/* The parts of the page about a sweep, a workload each. */
#ifndef ORCHARD_SIM_REPORT_SWEEP_PARTS_H
#define ORCHARD_SIM_REPORT_SWEEP_PARTS_H

#include "reports/page.h"
#include "sim/ask/sweep/effects.h"
#include "sim/ask/sweep/pareto.h"

/* What each key alone does: bars around the base. Nothing before those points are done. */
bool sweep_part_tornado(struct page *page, const struct sweep_data *data, const struct sweep_effects *effects);
/* The response over each key, and the table of main effects. */
bool sweep_part_curves(struct page *page, const struct sweep_data *data, const struct sweep_effects *effects);
/* Energy over time, with the points that no other beats. Nothing without energies. */
bool sweep_part_pareto(struct page *page, const struct sweep_data *data, size_t workload, struct orch_error *error);
/* The points, fastest first. */
bool sweep_part_points(struct page *page, const struct sweep_data *data, size_t workload);

/* "gpu_cores=20, chip=m2" of a point; returns text. */
const char *sweep_setting_text(const struct sweep_data *data, const struct sweep_point *point, char *text, size_t size);
/* Text of a value of a key: the number, or the level. Returns text. */
const char *sweep_key_text(const struct sweep_key *key, double value, char *text, size_t size);

#endif
