/* Inside of the fit. */
#ifndef ORCHARD_SIM_PROVE_CALIBRATE_FIT_H
#define ORCHARD_SIM_PROVE_CALIBRATE_FIT_H

#include "sim/prove/calibrate/calibrate.h"

/* A parameter ten per cent off must move some row by a thousandth. */
#define CALIBRATE_LEAST_EFFECT 0.01

/* Predictions by parameters; the same parameters are predicted once. */
struct calibrate_model {
    const struct calibrate_request *q;
    const struct calibrate_rows *rows;
    struct calibrate_bounds bounds[CALIBRATE_KEYS];
    struct calibrate_known {
        double log_factor[CALIBRATE_KEYS];
        double *residual; /* ln(predicted / measured) of every row */
    } * known;
    size_t count;
    size_t evaluations;
    double *idle; /* residuals of idle rows; NULL = there are none */
    struct orch_error *error;
};
void calibrate_model_free(struct calibrate_model *model);
/* Residuals at these parameters; the model's. NULL with *error, also when a row that was predicted is not any more. */
const double *calibrate_residuals(struct calibrate_model *model, const double *log_factor);
/* Forgets all predictions; rows that the derivatives say nothing moves become idle, or (jacobian NULL) none is any more. */
bool calibrate_settle(struct calibrate_model *model, struct calibrate_rows *rows, const double *log_factor,
                      const double *jacobian);
/* Derivatives of the residuals by the parameters, rows x keys. */
bool calibrate_jacobian(struct calibrate_model *model, const double *log_factor, double *jacobian);

/* Whether the rows tell the parameters apart; else ORCH_FAILED names those that they do not. Fills condition and covariance (not
 * scaled by the variance of the residuals). */
bool calibrate_identify(const struct calibrate_model *model, const double *jacobian, double *condition,
                        double covariance[CALIBRATE_KEYS][CALIBRATE_KEYS]);

/* Least squares over the rows whose fold is not `without` (UINT_MAX: all), from the values as they are. */
bool calibrate_least_squares(struct calibrate_model *model, unsigned without, double *log_factor);

#endif
