/* Metrics of runs and sweeps that are going on, in any process. */
#ifndef ORCHARD_SIM_SERVE_OBSERVED_NOW_H
#define ORCHARD_SIM_SERVE_OBSERVED_NOW_H

#include "reports/text.h"
#include "sim/db/db.h"

/* Appends them to *to. Returns how many are going on; the first 64 have metrics of their own. */
size_t observed_now(struct orch_db *db, struct text *to);

#endif
