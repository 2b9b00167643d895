/* orchard validate curve.csv: machines' thermal models against measured curves. */
#ifndef ORCHARD_SIM_API_VERB_VALIDATE_CURVE_H
#define ORCHARD_SIM_API_VERB_VALIDATE_CURVE_H

#include "sim/api/api.h"
#include "sim/machine/thermal/device_closed.h"

#include <json-c/json.h>

/* What became of one curve. */
struct cmd_curve {
    const char *path;
    char chip[64], device[64];
    size_t points;
    struct device_curve_score score;
    unsigned cores; /* of the closed loop */
    struct device_closed_score closed;
};
struct cmd_curves {
    struct cmd_curve *item;
    size_t count;
};

/* Whether the file begins like a curve of a machine; false also when it cannot be read. */
bool cmd_is_curve(const char *path);
/* Scores it on --chip and --device: with the measured watts, and in the closed loop with a renderer's loop on all cores. */
bool cmd_curves_add(struct cmd_context *context, const char *path, struct cmd_curves *curves, struct orch_error *error);
void cmd_curves_free(struct cmd_curves *curves);

void cmd_curves_print(const struct cmd_curves *curves, FILE *out);    /* two lines each */
struct json_object *cmd_curves_json(const struct cmd_curves *curves); /* an array */
/* The whole answer when there is nothing else; a document of one curve is that curve. */
void cmd_curves_report(struct cmd_context *context, const struct cmd_curves *curves);

#endif
