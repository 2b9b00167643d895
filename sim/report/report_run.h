/* A recorded run and the chip it ran on, for pages and comparisons. */
#ifndef ORCHARD_SIM_REPORT_REPORT_RUN_H
#define ORCHARD_SIM_REPORT_REPORT_RUN_H

#include "sim/chip/chip.h"
#include "sim/db/db.h"
#include "sim/base/run_result.h"

struct report_run {
    struct run_result r;
    char *uid, *options, *version, *started, *chip_hash, *program;
    int64_t seed;
    struct chip *chip; /* opened again with the run's --set values; NULL when that is not possible */
    bool chip_same;    /* it has the values it had in the run: the chip files have not changed since */
    char label[160];   /* short name for rows of charts */
};

/* Fills a zeroed run; free it whatever the result. A run that is not done is ORCH_USAGE. */
bool report_run_read(struct orch_db *db, const struct chip_db *chips, int64_t run_id, struct report_run *run,
                     struct orch_error *error);
void report_run_free(struct report_run *run);
/* Reads several runs, with labels; NULL when one cannot be read. Owned by the caller: report_runs_free. */
struct report_run *report_runs_read(struct orch_db *db, const struct chip_db *chips, const int64_t *run_ids, size_t count,
                                    struct orch_error *error);
void report_runs_free(struct report_run *runs, size_t count);
/* Makes labels such as "12: m1_4p4e_8g gpu", with the workload before the chip when the runs have different ones. */
void report_run_labels(struct report_run *runs, size_t count);

#endif
