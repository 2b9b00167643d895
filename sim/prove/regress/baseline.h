/* A baseline holds the characteristics of the chips, and the values of the chips at the time. It lives in the performance
 * database under a name, or as a text to commit.
 *
 * The text has one JSON object a line: a head that says how many lines of each kind follow; characteristics with unit and
 * tolerance; values in order of characteristic and chip; sets of chips; parameters, each once per distinct value, with the number
 * of the set of chips that have it.
 */
#ifndef ORCHARD_SIM_PROVE_REGRESS_BASELINE_H
#define ORCHARD_SIM_PROVE_REGRESS_BASELINE_H

#include "sim/chip/chip.h"
#include "sim/db/db.h"

#include <stdio.h>

#define BASELINE_FORMAT 1

struct baseline_value {
    char *chip, *name;
    double value, tolerance;
};
struct baseline_parameter {
    char *chip, *key, *json;
};

struct baseline {
    char version[64], created[32]; /* of the model */
    struct baseline_value *value;
    size_t values, value_room;
    struct baseline_parameter *parameter;
    size_t parameters, parameter_room;
};

void baseline_free(struct baseline *baseline); /* Leaves an empty baseline. */
bool baseline_add_value(struct baseline *baseline, const char *chip, const char *name, double value, double tolerance);
bool baseline_add_parameter(struct baseline *baseline, const char *chip, const char *key, const char *json);
/* Adds every effective value of a chip. */
bool baseline_add_chip(struct baseline *baseline, const struct chip *chip);
/* Sorts values by characteristic and chip and parameters by key and chip, for searching and so that texts do not depend on the
 * order of adding. */
void baseline_sort(struct baseline *baseline);
/* Search a sorted baseline; NULL when it has no such entry. */
const struct baseline_value *baseline_find(const struct baseline *baseline, const char *chip, const char *name);
const char *baseline_parameter_of(const struct baseline *baseline, const char *chip, const char *key);
bool baseline_has_chip(const struct baseline *baseline, const char *chip);

/* The baseline to write must be sorted; reading sorts. Errors name file and line. */
bool baseline_write(const struct baseline *baseline, FILE *out);
bool baseline_read_text(struct baseline *baseline, const char *name, const char *text, size_t size, struct orch_error *error);

/* Putting replaces a baseline of the same name; getting sorts. *found tells whether there is one. */
bool baseline_put(struct orch_db *db, const char *name, const struct baseline *baseline, struct orch_error *error);
bool baseline_get(struct orch_db *db, const char *name, struct baseline *baseline, bool *found, struct orch_error *error);
/* ORCH_USAGE with the nearest name of a baseline. */
bool baseline_unknown(struct orch_db *db, const char *name, struct orch_error *error);

#endif
