#include "sim/report/report.h"
bool report_validation(struct orch_db *db, const char *which, struct page **page, struct orch_error *error)
{
    (void)db;(void)which;(void)page; return orch_fail(error, ORCH_USAGE, "x");
}
