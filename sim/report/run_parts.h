/* Parts of a page about runs. Each adds its figures, or nothing when there is nothing to show. */
#ifndef ORCHARD_SIM_REPORT_RUN_PARTS_H
#define ORCHARD_SIM_REPORT_RUN_PARTS_H

#include "reports/page.h"
#include "sim/report/report_run.h"

/* Key numbers: cards of one run, or bars and a table of several. */
void run_part_summary(struct page *page, const struct report_run *runs, size_t count);
/* Where the time went, by reason. */
bool run_part_stalls(struct page *page, const struct report_run *runs, size_t count);
bool run_part_roofline(struct page *page, const struct report_run *runs, size_t count);
bool run_part_energy(struct page *page, const struct report_run *runs, size_t count);
/* Power, temperature, clocks and so on of one run over time; more than `rows_max` samples become means of neighbours. */
bool run_part_series(struct page *page, struct orch_db *db, const struct report_run *run, size_t rows_max,
                     struct orch_error *error);
/* Power and temperature of several runs, in one chart each, if they have samples. */
bool run_part_overlays(struct page *page, struct orch_db *db, const struct report_run *runs, size_t count,
                       struct orch_error *error);
/* Timeline and table of the operators of one run, when there are several. */
bool run_part_ops(struct page *page, struct orch_db *db, const struct report_run *run, struct orch_error *error);
/* Timeline and table of the kernels of a network, when it is one. */
bool run_part_is_network(const struct report_run *run);
bool run_part_network(struct page *page, const struct report_run *run, struct orch_error *error);
/* Lines of GPU programs with what they cost, and warnings; nothing for a run without a profile. */
bool run_part_profile(struct page *page, const struct report_run *run);
/* Assumptions, those that matter most first. */
void run_part_assumptions(struct page *page, const struct report_run *run);
/* Placement, counters, outputs, and what decided the answer. */
bool run_part_details(struct page *page, struct orch_db *db, const struct report_run *run, struct orch_error *error);

/* The whole page of a run that has no result because it failed, was interrupted or is still being written. */
bool report_partial_run(struct orch_db *db, int64_t run_id, struct page **page, struct orch_error *error);

#endif
