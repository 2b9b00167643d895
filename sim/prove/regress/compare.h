/* What moved between a baseline and the simulated chips of today, and why.
 *
 * The cause is found by experiment: each value of the chip's file that differs from the baseline is put back alone, and what
 * moves back was caused by it. What moved although no value differs, or moves back with none of them, was caused by the code.
 */
#ifndef ORCHARD_SIM_PROVE_REGRESS_COMPARE_H
#define ORCHARD_SIM_PROVE_REGRESS_COMPARE_H

#include "sim/base/check.h"
#include "sim/prove/regress/baseline.h"
#include "sim/prove/regress/measure.h"

struct regress_request {
    const struct chip_db *chips;
    struct chip_overrides sets; /* for every chip */
    const char *const *chip;    /* ids */
    size_t chip_count;
    const char *only; /* beginnings of names, separated by commas; NULL = all */
    unsigned threads;
    void (*done)(void *context, const struct regress_job *job); /* may be NULL */
    void *context;
};

/* Measures everything asked for, with one job per chip. Free with regress_jobs_free. */
bool regress_run(const struct regress_request *request, struct regress_job **jobs, struct orch_error *error);
void regress_jobs_free(struct regress_job *jobs);

/* Makes a baseline of what was measured. */
bool regress_record(const struct regress_request *request, const struct regress_job *jobs, struct baseline *baseline,
                    struct orch_error *error);

struct regress_moved {
    const char *chip; /* of the request */
    struct regress_metric metric;
    double before, after; /* NAN when not modelled */
    const char *why;      /* why it is not modelled any more; owned by the jobs */
    char *cause;          /* "amx.clock_ghz 2.9 -> 3.1", or the versions of the code */
};
struct regress_comparison {
    struct regress_moved *moved;
    size_t moved_count;
    struct check_report report;
};
bool regress_compare(const struct regress_request *request, const struct regress_job *jobs, const struct baseline *baseline,
                     struct regress_comparison *comparison, struct orch_error *error);
void regress_comparison_free(struct regress_comparison *comparison);

#endif
