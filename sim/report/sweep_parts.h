/* Parts of the page about a sweep, each for one workload. */
#ifndef ORCHARD_SIM_REPORT_SWEEP_PARTS_H
#define ORCHARD_SIM_REPORT_SWEEP_PARTS_H

#include "reports/page.h"
#include "sim/ask/sweep/effects.h"
#include "sim/ask/sweep/pareto.h"

/* What each key does alone: bars around the base. Nothing until the points for that are done. */
bool sweep_part_tornado(struct page *page, const struct sweep_data *data, const struct sweep_effects *effects);
/* The response over each key, and the table of main effects. */
bool sweep_part_curves(struct page *page, const struct sweep_data *data, const struct sweep_effects *effects);
/* Energy over time, with the points that no other point beats. Nothing without energies. */
bool sweep_part_pareto(struct page *page, const struct sweep_data *data, size_t workload, struct orch_error *error);
/* The points, fastest first. */
bool sweep_part_points(struct page *page, const struct sweep_data *data, size_t workload);

/* Writes the setting of a point, "gpu_cores=20, chip=m2"; returns text. */
const char *sweep_setting_text(const struct sweep_data *data, const struct sweep_point *point, char *text, size_t size);
/* Writes a value of a key, a number or the name of a level; returns text. */
const char *sweep_key_text(const struct sweep_key *key, double value, char *text, size_t size);

#endif
