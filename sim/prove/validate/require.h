/* Bounds that scores have to keep: "mape<0.2,within25>0.6". */
#ifndef ORCHARD_SIM_PROVE_VALIDATE_REQUIRE_H
#define ORCHARD_SIM_PROVE_VALIDATE_REQUIRE_H

#include "sim/prove/validate/validate.h"

/* False with ORCH_USAGE for a bound that cannot be read, or ORCH_FAILED with the values that break theirs. A score that is
 * undefined (no rows) breaks every bound. */
bool validation_require(const struct validation *v, const char *bounds, struct orch_error *error);

#endif
