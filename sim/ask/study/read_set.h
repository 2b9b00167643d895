/* A set of what a simulation read of a chip, and timings by the values that it had. */
#ifndef ORCHARD_SIM_ASK_STUDY_READ_SET_H
#define ORCHARD_SIM_ASK_STUDY_READ_SET_H

#include "sim/chip/chip.h"
#include "sim/db/db.h"
#include "sim/run/run_timing.h"

struct read_set;
/* From bits of enum chip_read by key, or from names as the database has them; NULL with *error. */
struct read_set *read_set_create(const uint8_t *reads, struct orch_error *error);
struct read_set *read_set_parse(const char *names, struct orch_error *error);
void read_set_free(struct read_set *set);

const uint8_t *read_set_reads(const struct read_set *set);
bool read_set_is(const struct read_set *set, const uint8_t *reads);
/* As parameters of a characteristic, in order of names; free with free, names belong to the set. */
struct db_parameter *read_set_parameters(const struct read_set *set, const struct chip *chip, size_t *count,
                                         struct orch_error *error);

/* The timing with the values that the chip has; NULL = not here. */
const struct run_timing *read_set_find(const struct read_set *set, const struct chip *chip);
/* Takes the timing over, in any case. The set must not have one with these values. NULL with *error. */
const struct run_timing *read_set_add(struct read_set *set, const struct chip *chip, struct run_timing *timing,
                                      struct orch_error *error);
size_t read_set_count(const struct read_set *set);
void read_set_empty(struct read_set *set);

#endif
