/* Shared by the files of the fit only. */
#ifndef ORCHARD_SIM_PROVE_CALIBRATE_FIT_H
#define ORCHARD_SIM_PROVE_CALIBRATE_FIT_H

#include "sim/prove/calibrate/calibrate.h"

/* Moving a parameter by ten per cent must move some row by a thousandth. */
#define CALIBRATE_LEAST_EFFECT 0.01

/* Predictions by parameters; no point is predicted twice. */
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
    double *idle; /* residuals of the idle rows; NULL when there are none */
    struct orch_error *error;
};
void calibrate_model_free(struct calibrate_model *model);
/* Residuals at these parameters; the model owns them. NULL with *error, also when a row that was predicted before cannot be
 * predicted any more. */
const double *calibrate_residuals(struct calibrate_model *model, const double *log_factor);
/* Forgets all predictions. Rows that no parameter moves, by the derivatives, become idle; with jacobian NULL all rows are active
 * again. */
bool calibrate_settle(struct calibrate_model *model, struct calibrate_rows *rows, const double *log_factor,
                      const double *jacobian);
/* Derivatives of the residuals by the parameters, rows x keys. */
bool calibrate_jacobian(struct calibrate_model *model, const double *log_factor, double *jacobian);

/* Whether the rows tell the parameters apart; otherwise ORCH_FAILED names those that they do not. Fills in condition and
 * covariance, the latter not scaled by the variance of the residuals. */
bool calibrate_identify(const struct calibrate_model *model, const double *jacobian, double *condition,
                        double covariance[CALIBRATE_KEYS][CALIBRATE_KEYS]);

/* Least squares over the rows outside the fold `without` (UINT_MAX: over all rows), starting from the values in the files. */
bool calibrate_least_squares(struct calibrate_model *model, unsigned without, double *log_factor);

#endif
