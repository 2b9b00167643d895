#include "sim/base/format.h"
#include "sim/report/report.h"
#include "sim/report/run_parts.h"

#include <string.h>

enum { RUNS_MOST = 16, ROWS_MOST = 900 }; /* ROWS_MOST: samples of all runs together */

static struct page *begin(const struct report_run *runs, size_t count)
{
    const struct run_result *const r = &runs[0].r;
    char title[256], sub[256];
    if (count > 1) {
        snprintf(title, sizeof title, "%zu runs side by side", count);
        snprintf(sub, sizeof sub, "orchard, simulated; first run of %.24s", runs[0].started ? runs[0].started : "?");
    } else {
        snprintf(title, sizeof title, "%.160s on %.60s", r->workload ? r->workload : "run", r->chip ? r->chip : "?");
        snprintf(sub, sizeof sub, "run %lld: %.24s%s%.16s%s%.40s, %.16s, %.16s; simulated by orchard %.40s, %.24s",
                 (long long)r->run_id, r->unit ? r->unit : "", r->precision ? " " : "", r->precision ? r->precision : "",
                 r->device ? " in " : "", r->device ? r->device : "", r->detail ? r->detail : "", r->mode ? r->mode : "",
                 runs[0].version ? runs[0].version : "", runs[0].started ? runs[0].started : "");
    }
    return page_create(title, sub);
}

/* Adds what belongs to one run alone; nothing when it has neither samples nor several operators nor kernels. */
static bool own_parts(struct page *page, struct orch_db *db, const struct report_run *run, const char *title, size_t rows_max,
                      struct orch_error *error)
{
    int64_t moments;
    if (!db_number(db, error, 0, &moments,
                   "SELECT EXISTS (SELECT 1 FROM sample WHERE run_id = ?1) OR (SELECT count(*) FROM op WHERE run_id = ?1) > 1",
                   "i", run->r.run_id))
        return false;
    if (moments == 0 && !title && !run_part_is_network(run))
        return true;
    page_section(page, title ? title : "Over time");
    return run_part_series(page, db, run, rows_max, error) && run_part_ops(page, db, run, error) &&
           run_part_network(page, run, error);
}

static bool all_parts(struct page *page, struct orch_db *db, const struct report_run *runs, size_t count,
                      struct orch_error *error)
{
    char host[FORMAT_SIZE];
    page_section(page, count > 1 ? "Comparison" : "Summary");
    run_part_summary(page, runs, count);
    bool ok = run_part_stalls(page, runs, count) && run_part_roofline(page, runs, count) && run_part_energy(page, runs, count);
    ok = ok || orch_no_memory(error);
    ok = ok && (count == 1 || run_part_overlays(page, db, runs, count, error));
    for (size_t i = 0; ok && i < count; i++) {
        ok = own_parts(page, db, &runs[i], count > 1 ? runs[i].label : NULL, ROWS_MOST / count, error) &&
             (run_part_profile(page, &runs[i]) || orch_no_memory(error));
        if (ok && count == 1)
            page_section(page, "What it rests on");
        run_part_assumptions(page, &runs[i]);
        if (ok && count == 1) {
            page_section(page, "Details");
            ok = run_part_details(page, db, &runs[i], error);
        }
        page_foot(page,
                  "Run %lld took %s of host time. Times, energies and temperatures are simulated, not measured; intervals are of "
                  "90 %%.",
                  (long long)runs[i].r.run_id, format_quantity(host, runs[i].r.host_seconds, "s"));
    }
    return ok;
}

bool report_runs(struct orch_db *db, const struct chip_db *chips, const int64_t *run_ids, size_t count, struct page **page,
                 struct orch_error *error)
{
    *page = NULL;
    if (count == 0 || count > RUNS_MOST)
        return orch_fail(error, ORCH_USAGE, "a page takes 1 to %d runs, not %zu", RUNS_MOST, count);
    int64_t partial = 0;
    if (count == 1 && !db_number(db, error, 0, &partial, "SELECT status <> 'done' FROM run WHERE id = ?", "i", run_ids[0]))
        return false;
    if (partial)
        return report_partial_run(db, run_ids[0], page, error);
    struct report_run *const runs = report_runs_read(db, chips, run_ids, count, error);
    if (!runs)
        return false;
    *page = begin(runs, count);
    const bool ok = all_parts(*page, db, runs, count, error);
    report_runs_free(runs, count);
    if (!ok) {
        page_free(*page);
        *page = NULL;
    }
    return ok;
}
