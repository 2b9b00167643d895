/* How far runs of a kind were from hardware: the spread of measured over predicted times, by unit and kind of work, of the
 * published measurements that no parameter was taken from. The table is written by `orchard validate FILE... --fit-residuals`,
 * or with the scores of the same run by `--residuals FILE`.
 */
#ifndef ORCHARD_SIM_RUN_RESIDUAL_H
#define ORCHARD_SIM_RUN_RESIDUAL_H

#include <stddef.h>

/* Logarithms of measured over predicted time: 5 % of the rows lie below `low`, 5 % above `high`. */
struct residual {
    const char *part, *work; /* unit and kind of work; "" = all of them */
    double low, high;
    double parameter; /* what the parameters of these rows contribute: relative, one standard deviation, in the middle */
    unsigned rows, sources;
};

/* Groups with fewer rows or sources say too little: the unit's spread stands for them, or that of all rows. */
enum { RESIDUAL_LEAST_ROWS = 12, RESIDUAL_LEAST_SOURCES = 2 };

/* The narrowest group of `count` that is there: part and work, else the part's, else all rows; NULL when the table is empty. */
const struct residual *residual_in(const struct residual *table, size_t count, const char *part, const char *work);
/* The same in the table of this build. */
const struct residual *residual_of(const char *part, const char *work);

/* "gemm:64x64x64" -> gemm, gemv, conv, attention, reduce, stream; "" for kernels that have no group of their own.
 * The groups of kernels are in workload/kernels.inc. */
const char *residual_work(const char *workload);
/* Work whose time is for the most part submission, launch and waiting. */
#define RESIDUAL_LAUNCH "launch"

#endif
