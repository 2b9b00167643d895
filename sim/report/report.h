/* `orchard report`: pages about what is in the database. sim/report gathers rows into tables and series, reports/ writes them.
 *
 * Free a page with page_free, also after an error (it is NULL then).
 */
#ifndef ORCHARD_SIM_REPORT_REPORT_H
#define ORCHARD_SIM_REPORT_REPORT_H

#include "reports/page.h"
#include "sim/chip/chip.h"
#include "sim/db/db.h"
#include "sim/prove/regress/compare.h"

/* One run, or several side by side. A run alone may have failed or been interrupted: its page says so. */
bool report_runs(struct orch_db *db, const struct chip_db *chips, const int64_t *run_ids, size_t count, struct page **page,
                 struct orch_error *error);

/* The same with what differs between the first and each of the others. */
bool report_comparison(struct orch_db *db, const struct chip_db *chips, const int64_t *run_ids, size_t count, struct page **page,
                       struct orch_error *error);

/* Predictions beside measurements. `which` is NULL for the newest version of each row, a version, or the name of a file of
 * measurements. */
bool report_validation(struct orch_db *db, const char *which, struct page **page, struct orch_error *error);

/* `which` is the id of a sweep, its name, the beginning of its hash, or "last". */
bool report_sweep(struct orch_db *db, const char *which, struct page **page, struct orch_error *error);

/* All chips; `link` stands before their names (NULL: no links). One chip with all its values. */
bool report_chips(const struct chip_db *chips, const char *link, struct page **page, struct orch_error *error);
bool report_chip(const struct chip_db *chips, const char *id, struct page **page, struct orch_error *error);

/* Measures the chips of the request and compares them with a baseline. `name` goes into the title. */
bool report_regression(const struct regress_request *request, const struct baseline *baseline, const char *name,
                       struct page **page, struct orch_error *error);

#endif
