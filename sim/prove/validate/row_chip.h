/* The chip that a row names, with the overrides of the row and of the user. Chips stay open for later rows. */
#ifndef ORCHARD_SIM_PROVE_VALIDATE_ROW_CHIP_H
#define ORCHARD_SIM_PROVE_VALIDATE_ROW_CHIP_H

#include "sim/chip/chip.h"
#include "sim/prove/validate/validate.h"

struct row_chip;

/* The caller keeps `db` and `overrides`, which may be NULL. NULL when memory is out. */
struct row_chip *row_chip_create(const struct chip_db *db, const struct chip_overrides *overrides);
void row_chip_free(struct row_chip *chips);

/* The chip of the program, valid until the next call; NULL with *error. */
const struct chip *row_chip_open(struct row_chip *chips, const struct validate_program *program, struct orch_error *error);
/* What is set in it: "KEY=VALUE" by the row, then by the user, whose values win. Valid until the next call. */
const struct chip_overrides *row_chip_sets(const struct row_chip *chips);
/* From where it can be opened at another clock, with what is set. Valid until the next call. */
const struct run_source *row_chip_source(const struct row_chip *chips);

#endif
