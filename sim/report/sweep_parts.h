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

/* All points of a workload with their keys and responses, to choose from. */
bool sweep_part_brush(struct page *page, const struct sweep_data *data, size_t workload);

#endif
