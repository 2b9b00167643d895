/* Inside sim/chip: how code that fills parameters reads a chip. */
#ifndef ORCHARD_SIM_CHIP_CHIP_READER_H
#define ORCHARD_SIM_CHIP_CHIP_READER_H

#include "sim/chip/chip.h"

/* Reads one number after another. The first failure sticks and the numbers after it are 0, so callers check `ok` once, at the
 * end. */
struct chip_reader {
    const struct chip *chip;
    struct orch_error *error;
    const char *prefix; /* comes before the names that chip_read is given: "amx." */
    unsigned active;    /* busy cores of the cluster, for keys of type CORES */
    bool ok;
};

struct chip_reader chip_reader_start(const struct chip *chip, const char *prefix, unsigned active, struct orch_error *error);
/* The number of prefix + name, which must be known: ORCH_UNMODELLED names the key otherwise. */
double chip_read(struct chip_reader *r, const char *name);
/* The same of a key with its whole name. */
double chip_read_key(struct chip_reader *r, const char *key);

/* Set one member of a parameter struct from the key in the same row of a unit's list. They use two pointers of the caller, `r` to
 * a reader and `to` to the struct. FILL_FIELD takes rows (name, ...), FILL_MEMBER the rows (how, member, name, ...) of the memory
 * system; units/unit_params.h describes both. */
#define FILL_FIELD(name, ...)               to->name = (__typeof__(to->name))chip_read(r, #name);
#define FILL_MEMBER(how, member, name, ...) to->member = (__typeof__(to->member))chip_read(r, #name);

/* Number of the chip's generation: 0 for M1 to 3 for M4. ORCH_UNMODELLED says that `what` of another family is not known. */
bool chip_generation(const struct chip *chip, const char *what, unsigned *generation, struct orch_error *error);

#endif
