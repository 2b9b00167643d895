/* The metric dictionary: what every number in the database means. Totals of runs come from sim/base/run_result.h, activity from
 * power/activity.h, stall reasons from the units' own tables; counters and series are listed in metric_table.c.
 */
#ifndef ORCHARD_SIM_DB_METRIC_TABLE_H
#define ORCHARD_SIM_DB_METRIC_TABLE_H

#include <stdbool.h>
#include <stddef.h>

struct metric_entry {
    const char *kind, *name, *unit, *definition;
    int higher_is_better; /* 1, 0, or -1: neither */
};

/* Calls `visit` for every entry, always in the same order. A name occurs once per kind; only stall reasons occur once per unit
 * that has them, with the unit in the definition. Stops and returns false when `visit` returns false. */
typedef bool metric_visit(void *context, const struct metric_entry *entry);
bool metric_table_visit(metric_visit *visit, void *context);

#endif
