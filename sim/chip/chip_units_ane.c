/* From keys to the parameters of the Neural Engine. */
#include "isa/array_count.h"
#include "sim/chip/chip_keys.inc"
#include "sim/chip/chip_units.h"

#include <stdio.h>
#include <string.h>

const char *const chip_ane_prefixes[] = {"ane.", "ane_cores", "mem.", "dram.", "dies", "slc_MB", "memory_peak_GBps", "family"};
const size_t chip_ane_prefix_count = ARRAY_COUNT(chip_ane_prefixes);

bool chip_ane_generation(const struct chip *chip, enum ane_generation *generation, struct orch_error *error)
{
    static const enum ane_generation generations[] = {ANE_H13, ANE_H14, ANE_H15, ANE_H16};
    const struct chip_value *family = chip_value(chip, "family");
    const char *name = family && family->known ? family->json : "";
    if (name[0] == 'M' && name[1] >= '1' && name[1] <= '4' && !name[2]) {
        *generation = generations[name[1] - '1'];
        return true;
    }
    return orch_fail(error, ORCH_UNMODELLED, "chip %s: Neural Engine of family '%.20s'", chip_id(chip), name);
}

static double number(const struct chip *chip, const char *name, bool *ok, struct orch_error *error)
{
    char key[96];
    double value = 0;
    snprintf(key, sizeof key, "ane.%s", name);
    *ok = *ok && chip_number(chip, key, &value, error);
    return *ok ? value : 0;
}

#define FIELD(name, ...) to->name = (__typeof__(to->name))number(chip, #name, &ok, error);

bool chip_ane_params(const struct chip *chip, struct ane_params *to, struct orch_error *error)
{
    bool ok = true;
    memset(to, 0, sizeof *to);
    CHIP_ANE_FIELDS(FIELD)
    return ok;
}

bool chip_ane_limits(const struct chip *chip, struct ane_limits *to, struct orch_error *error)
{
    bool ok = true;
    memset(to, 0, sizeof *to);
    to->l2_bytes = (uint32_t)number(chip, "l2_bytes", &ok, error);
    CHIP_ANE_LIMITS(FIELD)
    return ok && chip_ane_generation(chip, &to->generation, error);
}

bool chip_ane_numeric(const struct chip *chip, struct ane_numeric *to, struct orch_error *error)
{
    bool ok = true;
    memset(to, 0, sizeof *to);
    CHIP_ANE_NUMERIC(FIELD)
    return ok;
}
