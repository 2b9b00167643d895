#include "sim/chip/chip_reader.h"

#include <stdio.h>

struct chip_reader chip_reader_start(const struct chip *chip, const char *prefix, unsigned active, struct orch_error *error)
{
    return (struct chip_reader){.chip = chip, .error = error, .prefix = prefix, .active = active, .ok = true};
}

double chip_read_key(struct chip_reader *r, const char *key)
{
    double value = 0;
    r->ok = r->ok && chip_number_active(r->chip, key, r->active, &value, r->error);
    return r->ok ? value : 0;
}

double chip_read(struct chip_reader *r, const char *name)
{
    char key[96];
    snprintf(key, sizeof key, "%s%s", r->prefix, name);
    return chip_read_key(r, key);
}

bool chip_generation(const struct chip *chip, const char *what, unsigned *generation, struct orch_error *error)
{
    const struct chip_value *family = chip_value(chip, "family");
    const char *name = family && family->known ? family->json : "";
    if (name[0] == 'M' && name[1] >= '1' && name[1] <= '4' && !name[2]) {
        *generation = (unsigned)(name[1] - '1');
        return true;
    }
    return orch_fail(error, ORCH_UNMODELLED, "chip %s: %s of family '%.20s'", chip_id(chip), what, name);
}
