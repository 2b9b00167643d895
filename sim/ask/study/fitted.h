/* Fitted sets: tuned choices of kernels and calibrated values of chips. They are kept in the performance database under a name
 * and used only by runs that are given it. Body of a tuned set:
 *
 *     {"entries":[{"workload":"gemm:512x512x512","asked_unit":"gpu","precision":null,"chip":"m1_4p4e_8g",
 *                  "use":{"workload":"gemm:512x512x512,tile=32x32,split=2","unit":"gpu","cores":1}, "seconds":...,
 * "seconds_default":...}]}
 *
 * and of a calibrated one:
 *
 *     {"chips":{"m1_max_8p2e_32g":{"amx.clock_ghz":[3.01,2.79]}}, "parameters":[...], "provenance":{...}}
 */
#ifndef ORCHARD_SIM_ASK_STUDY_FITTED_H
#define ORCHARD_SIM_ASK_STUDY_FITTED_H

#include "sim/chip/chip.h"
#include "sim/db/db.h"
#include "sim/run/run.h"

#include <json-c/json.h>

struct fitted_set {
    char *name;
    char label[DB_HASH_SIZE + 128]; /* "tuned NAME HASH": goes into the configuration of runs */
    bool calibrated;                /* otherwise it is tuned */
    json_object *body;
};

/* Opens the set of that name. ORCH_USAGE, with the nearest name, when there is none or its body is not a set. */
bool fitted_open(struct orch_db *db, const char *name, struct fitted_set *set, struct orch_error *error);
const char *fitted_hash(const struct fitted_set *set); /* Hash of kind and body. */
void fitted_close(struct fitted_set *set);

/* The overrides that a calibrated set has for a chip, followed by those given, so that a user's own --set wins. A tuned set, and
 * a chip that the set does not know, add nothing. text and its strings are owned; free with fitted_sets_free. */
struct fitted_sets {
    struct chip_overrides overrides;
    const char **text;
    char **owned;
    size_t count;
};
bool fitted_sets_make(const struct fitted_set *set, const char *chip_id, const struct chip_overrides *given,
                      struct fitted_sets *sets, struct orch_error *error);
void fitted_sets_free(struct fitted_sets *sets);

/* Makes a request use the set: the hash of the set becomes part of its configuration, and a tuned entry for the same workload,
 * precision and chip replaces workload, unit and cores. *used tells whether the set had something for this request. The request
 * points into the set. */
void fitted_apply(const struct fitted_set *set, const char *chip_id, struct run_request *request, bool *used);

#endif
