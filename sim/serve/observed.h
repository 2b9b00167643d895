/* What others record in the performance database while a server runs, as metrics: a thread of its own looks once a second, so
 * that a scrape never waits for the database. Counters begin with what the file holds and only grow until the server ends. */
#ifndef ORCHARD_SIM_SERVE_OBSERVED_H
#define ORCHARD_SIM_SERVE_OBSERVED_H

#include "reports/text.h"
#include "sim/base/error.h"

struct observed;

/* Opens the file for reading and looks for the first time. NULL with *error. */
struct observed *observed_open(const char *path, struct orch_error *error);
void observed_close(struct observed *observed);
/* Adds the metrics of the last look; any thread may call. */
void observed_metrics(struct observed *observed, struct text *to);

#endif
