/* Statistics of the errors of a set of predictions. */
#ifndef ORCHARD_SIM_PROVE_VALIDATE_SCORE_H
#define ORCHARD_SIM_PROVE_VALIDATE_SCORE_H

#include <stdbool.h>
#include <stddef.h>

struct score_pair {
    double predicted, measured;
    double low, high; /* interval of the prediction; both 0 when there is none */
};

/* Fractions, not percents. The error of a row is |predicted - measured| / measured. NAN where undefined (no rows; ranks of fewer
 * than three). */
struct score {
    size_t count;
    double mape, median_ape, p90_ape;
    double bias; /* mean of (predicted - measured) / measured */
    /* Mean of |predicted - measured| / min(predicted, measured), so that twice as fast counts like half as fast. */
    double symmetric;
    double within10, within25;
    double spearman;
    double interval_coverage; /* over rows with an interval */
    double cross_coverage;    /* over rows that were compared with other sources; set by the caller who knows them */
};

/* False when memory is out. */
bool score_pairs(const struct score_pair *pairs, size_t count, struct score *score);

#endif
