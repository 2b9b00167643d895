/* The verb validate with a curve.csv: thermal models of machines against measured curves. */
#ifndef ORCHARD_SIM_API_VERB_VALIDATE_CURVE_H
#define ORCHARD_SIM_API_VERB_VALIDATE_CURVE_H

#include "sim/api/api.h"
#include "sim/machine/thermal/device_closed.h"

#include <json-c/json.h>

/* How well one curve is predicted. */
struct verb_curve {
    char *path;
    char chip[64], device[64];
    size_t points;
    struct device_curve_score score;
    unsigned cores; /* of the closed loop */
    struct device_closed_score closed;
};
struct verb_curves {
    struct verb_curve *item;
    size_t count;
};

/* Whether the file begins like a curve of a machine; false also when it cannot be read. */
bool verb_is_curve(const char *path);
/* Scores a curve on the chip and device of the options: with the measured watts, and in the closed loop with a renderer's loop on
 * all cores. */
bool verb_curves_add(struct api_context *context, const char *path, struct verb_curves *curves, struct orch_error *error);
void verb_curves_free(struct verb_curves *curves);

void verb_curves_print(const struct verb_curves *curves, FILE *out);    /* two lines each */
struct json_object *verb_curves_json(const struct verb_curves *curves); /* an array */
/* The whole answer when there is nothing else; a document of one curve is that curve. */
void verb_curves_report(struct api_context *context, const struct verb_curves *curves);

#endif
