/* Lists of what the database holds, for the live pages: filters are bound, never pasted into a query. */
#ifndef ORCHARD_SIM_SERVE_PAGE_ROWS_H
#define ORCHARD_SIM_SERVE_PAGE_ROWS_H

#include "reports/result_table.h"
#include "sim/serve/protocol.h"

enum { ROWS_FILTERS = 5 };
/* Names of the fields of a request that filter runs: workload, chip, unit, precision, status. */
const char *rows_filter_name(size_t index);

/* The latest runs that the filters of a request let through, newest first. */
struct result_table *rows_runs(const struct protocol_context *context, const struct http_request *request);
/* The address that gives newer ones; `to` takes it. */
void rows_address(const struct http_request *request, struct text *to);
/* Runs newer than the field `after`, as reports/live.js reads them. */
void rows_answer(const struct protocol_context *context, const struct http_request *request, struct http_reply *reply);

/* What living processes are doing now, runs and sweeps, the oldest first; and as reports/live.js reads it. */
struct result_table *rows_now(const struct protocol_context *context);
void rows_now_answer(const struct protocol_context *context, struct http_reply *reply);

struct result_table *rows_sweeps(const struct protocol_context *context);

#endif
