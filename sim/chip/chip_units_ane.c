/* The Neural Engine: its timing, what it accepts, and the rules of its arithmetic. */
#include "sim/chip/chip_reader.h"
#include "sim/chip/chip_units.h"

#include <string.h>

bool chip_ane_generation(const struct chip *chip, enum ane_generation *generation, struct orch_error *error)
{
    static const enum ane_generation generations[] = {ANE_H13, ANE_H14, ANE_H15, ANE_H16};
    unsigned number;
    if (!chip_generation(chip, "Neural Engine", &number, error))
        return false;
    *generation = generations[number];
    return true;
}

bool chip_ane_params(const struct chip *chip, struct ane_params *to, struct orch_error *error)
{
    struct chip_reader reader = chip_reader_start(chip, "ane.", 1, error), *const r = &reader;
    memset(to, 0, sizeof *to);
    ANE_PARAMS(FILL_FIELD)
    return r->ok;
}

bool chip_ane_limits(const struct chip *chip, struct ane_limits *to, struct orch_error *error)
{
    struct chip_reader reader = chip_reader_start(chip, "ane.", 1, error), *const r = &reader;
    memset(to, 0, sizeof *to);
    to->l2_bytes = (uint32_t)chip_read(r, "l2_bytes");
    ANE_LIMITS(FILL_FIELD)
    return r->ok && chip_ane_generation(chip, &to->generation, error);
}

bool chip_ane_numeric(const struct chip *chip, struct ane_numeric *to, struct orch_error *error)
{
    struct chip_reader reader = chip_reader_start(chip, "ane.", 1, error), *const r = &reader;
    memset(to, 0, sizeof *to);
    ANE_NUMERIC(FILL_FIELD)
    return r->ok;
}
