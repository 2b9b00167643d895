/* Calibration: parameters that are guesses or inferred are moved, within bounds, until published measurements are predicted
 * better.
 *
 * Residuals are logarithms of predicted over measured, from the programs of `orchard validate`. A parameter is moved by one
 * factor on every chip that the rows are of. Nothing changes in the chip files: the result is an overlay, kept under a name.
 */
#ifndef ORCHARD_SIM_PROVE_CALIBRATE_CALIBRATE_H
#define ORCHARD_SIM_PROVE_CALIBRATE_CALIBRATE_H

#include "sim/chip/chip.h"

#include <stddef.h>
#include <stdint.h>

enum { CALIBRATE_KEYS = 16, CALIBRATE_CHIPS = 32, CALIBRATE_ID = 96 };

struct calibrate_request {
    const struct chip_db *chips;
    struct chip_overrides sets; /* overrides that hold in addition */
    const char *name;           /* of the table, for messages and provenance */
    const char *text;           /* contents of the table */
    size_t size;
    const char *const *chip; /* use only rows of these chips (ids); chip_count 0 = all */
    size_t chip_count;
    const char *rows;       /* ids of rows, separated by commas; NULL = all */
    size_t most;            /* use at most this many rows, evenly spread; 0 = all */
    const char *const *key; /* parameters to vary */
    size_t keys;
    unsigned folds;    /* folds of the cross-validation; 0 = none */
    bool folds_by_row; /* otherwise folds are sources, when there are at least as many sources as folds */
    unsigned threads;
    void (*evaluated)(void *context, size_t evaluations); /* may be NULL */
    void *context;
};

/* ---- which parameters (tunable.c) ---- */

/* Natural logarithms of the factors that a value may be multiplied by. */
struct calibrate_bounds {
    double low, high;
};
/* Whether a value of a chip may be calibrated; otherwise `why` has the reason in words. */
bool calibrate_tunable(const struct chip_value *value, struct calibrate_bounds *bounds, char *why, size_t size);

/* ---- rows (rows.c) ---- */

struct calibrate_row {
    char id[CALIBRATE_ID], *source;
    char *line;       /* line of the table, as validation reads it */
    const char *chip; /* id of the chip database */
    double measured;
    unsigned fold;
    bool idle; /* no parameter changes its prediction: it is not simulated again */
};
struct calibrate_rows {
    struct calibrate_row *row; /* the rows that a program predicts */
    size_t count;
    size_t given, no_chip, unmodelled; /* rows of the table: chosen; of chips that are not known; that nothing predicts */
    char *head;                        /* the line with the names of the columns */
    const char *chip[CALIBRATE_CHIPS];
    unsigned chips;
    bool by_source; /* folds consist of whole sources */
    char hash[33];  /* of the whole table */
};
bool calibrate_rows_read(const struct calibrate_request *request, struct calibrate_rows *rows, struct orch_error *error);
void calibrate_rows_free(struct calibrate_rows *rows);

/* ---- predictions (predict.c) ---- */

/* KEY=VALUE with the value of a parameter times a factor (malloc); NULL when the chip does not have it. */
char *calibrate_override(const struct chip *chip, const char *key, double log_factor);
/* Predicts all rows with the parameters multiplied by exp(log_factor[k]). Idle rows, and rows that cannot be predicted, become
 * NAN. */
bool calibrate_predict(const struct calibrate_request *request, const struct calibrate_rows *rows, const double *log_factor,
                       double *predicted, struct orch_error *error);

/* ---- the fit (fit.c) ---- */

struct calibrate_score {
    double mape, rms_log; /* mean |predicted - measured| / measured; root mean square of ln(predicted / measured) */
};

struct calibrate_result {
    size_t rows, given, no_chip, unmodelled;
    char hash[33];
    size_t keys;
    double factor[CALIBRATE_KEYS], log_error[CALIBRATE_KEYS]; /* standard error of the factor's logarithm */
    struct calibrate_bounds bounds[CALIBRATE_KEYS];
    bool at_bound[CALIBRATE_KEYS];
    double covariance[CALIBRATE_KEYS][CALIBRATE_KEYS]; /* of the logarithms of the factors */
    double condition;                                  /* condition of the scaled Jacobian at the result */
    struct calibrate_score before, after;              /* over all rows */
    struct calibrate_score in_fold, out_of_fold,
        out_before; /* means over the folds, by row; out_before: the same rows before the fit */
    unsigned folds;
    bool folds_by_source;
    size_t evaluations;
    const char *chip[CALIBRATE_CHIPS];
    unsigned chips;
    char **id; /* of the rows that were used */
};
/* ORCH_FAILED when the rows cannot tell the parameters apart; the text says which, and why. */
bool calibrate_run(const struct calibrate_request *request, struct calibrate_result *result, struct orch_error *error);
void calibrate_result_free(struct calibrate_result *result);

/* Makes the body of the fitted set (sim/ask/study/fitted.h); the caller puts it. NULL with *error. */
struct json_object *calibrate_body(const struct calibrate_request *request, const struct calibrate_result *result,
                                   struct orch_error *error);

#endif
