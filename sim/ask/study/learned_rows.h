/* The learned set of a chip: kernels in the performance database that were timed with the values that this chip has now. */
#ifndef ORCHARD_SIM_ASK_STUDY_LEARNED_ROWS_H
#define ORCHARD_SIM_ASK_STUDY_LEARNED_ROWS_H

#include "sim/chip/chip.h"
#include "sim/db/db.h"
#include "sim/run/learned.h"

/* Of characteristics at this detail (NULL, "auto" = op), which is what networks ask of their kernels. NULL with *error; an empty
 * set where nothing was learned. The caller frees it. */
struct learned_set *learned_rows_read(struct orch_db *db, const struct chip *chip, const char *detail, struct orch_error *error);

#endif
