/* The set of parameters that a simulation read from a chip, and timings by the values of these parameters. */
#ifndef ORCHARD_SIM_ASK_STUDY_READ_SET_H
#define ORCHARD_SIM_ASK_STUDY_READ_SET_H

#include "sim/chip/chip.h"
#include "sim/db/db.h"
#include "sim/run/run_timing.h"

struct read_set;
/* Creates a set from bits of enum chip_read by key, or from names as the database has them; NULL with *error. */
struct read_set *read_set_create(const uint8_t *reads, struct orch_error *error);
struct read_set *read_set_parse(const char *names, struct orch_error *error);
void read_set_free(struct read_set *set);

const uint8_t *read_set_reads(const struct read_set *set);
bool read_set_is(const struct read_set *set, const uint8_t *reads);
/* The set as parameters of a characteristic, sorted by name; free the array, not the names. */
struct db_parameter *read_set_parameters(const struct read_set *set, const struct chip *chip, size_t *count,
                                         struct orch_error *error);

/* The timing for the values that the chip has; NULL when the set has none. */
const struct run_timing *read_set_find(const struct read_set *set, const struct chip *chip);
/* Takes over the timing even when it fails; NULL with *error. The set must not have a timing for these values yet. */
const struct run_timing *read_set_add(struct read_set *set, const struct chip *chip, struct run_timing *timing,
                                      struct orch_error *error);
size_t read_set_count(const struct read_set *set);
void read_set_empty(struct read_set *set);

#endif
