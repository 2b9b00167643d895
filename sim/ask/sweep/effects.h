/* What the keys of a sweep do to a response. */
#ifndef ORCHARD_SIM_ASK_SWEEP_EFFECTS_H
#define ORCHARD_SIM_ASK_SWEEP_EFFECTS_H

#include "sim/ask/sweep/sweep_read.h"

/* The points whose value of a key is this level, or falls into this bin of a range. */
struct sweep_level {
    double low, high; /* numeric: edges of the bin, equal for a level; otherwise the index of the level twice */
    double mean, lowest, highest;
    size_t count;
};

struct sweep_effect {
    size_t key; /* index in spec->key */
    struct sweep_level *level;
    size_t level_count;
    /* First-order index: the share of the response's variance that the means of the levels explain, 0 to 1. Whole grids: eta
     * squared. Else epsilon squared, which leaves out what scatter of few points shows between bins; when those of all keys sum
     * to more than 1, because settings of keys go together by chance, each is divided by the sum. */
    double first_order;
    double elasticity;  /* Relative change of the response per relative change of the key: the slope in logarithms of a regression
                           over all numeric keys with positive values; NAN where it does not apply. */
    double coefficient; /* standardised regression coefficient, with the same conditions */
    /* Tornado: where the response is least and greatest when the key alone moves away from the base. NAN until those points are
     * done, or when they failed. Values as in struct sweep_point. */
    double low_value, low_response, high_value, high_response;
};

struct sweep_effects {
    enum sweep_response response;
    size_t workload;
    size_t points;                      /* points that count */
    double mean, lowest, highest, base; /* base: NAN until it is done */
    bool sum_to_one;                    /* first_order of all keys, and what they do together, are the whole variance */
    double explained;                   /* R squared of the regression; NAN = none */
    struct sweep_effect *effect;        /* widest swing of the tornado first, else greatest first_order */
    size_t count;
};

/* False when memory is out, or with ORCH_USAGE when no point counts. Free with sweep_effects_free. */
bool sweep_effects_of(const struct sweep_data *data, size_t workload, enum sweep_response response, struct sweep_effects *effects,
                      struct orch_error *error);
/* How shares of the variance were estimated, in words. */
const char *sweep_effects_estimate(const struct sweep_effects *effects);
void sweep_effects_free(struct sweep_effects *effects);

#endif
