/* Bounds that a score must keep: "mape<0.2,within25>0.6". */
#ifndef ORCHARD_SIM_PROVE_VALIDATE_REQUIRE_H
#define ORCHARD_SIM_PROVE_VALIDATE_REQUIRE_H

#include "sim/prove/validate/validate.h"

/* False: *error has ORCH_USAGE for a bound that cannot be read, ORCH_FAILED with the values that do not keep theirs. A score that
 * is not defined (no rows) keeps none. */
bool validation_require(const struct validation *v, const char *bounds, struct orch_error *error);

#endif
