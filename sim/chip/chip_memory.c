/* The memory of a machine: its sizes on sale, and from where on it is short. */
#include "sim/chip/chip_reader.h"
#include "sim/chip/chip_units.h"

#include <stdio.h>
#include <string.h>

#define GIB (UINT64_C(1) << 30)

void chip_memory_options(const struct chip *chip, char *text, size_t size)
{
    const struct chip_value *v = chip_value(chip, "memory_options_GB");
    size_t used = 0;
    text[0] = 0;
    for (size_t i = 0; v && v->known && i < v->count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%.0f", i ? ", " : "", v->list[i]);
}

bool chip_memory(const struct chip *chip, unsigned gib, struct mem_pool_params *to, struct orch_error *error)
{
    struct chip_reader reader = chip_reader_start(chip, "mem.", 1, error), *const r = &reader;
    const struct chip_value *v = chip_value(chip, "memory_options_GB");
    char options[96];
    const struct chip_value *const size = chip_value(chip, "memory_GB");
    double most = 0;
    if (!gib && size && size->known)
        gib = (unsigned)size->number;
    bool found = gib == 0;
    *to = (struct mem_pool_params){0};
    if (!v || !v->known || v->count == 0)
        return orch_fail(error, ORCH_UNMODELLED, "chip %s: memory_options_GB is not known", chip_id(chip));
    for (size_t i = 0; i < v->count; i++) {
        most = v->list[i] > most ? v->list[i] : most;
        found |= v->list[i] == gib;
    }
    chip_memory_options(chip, options, sizeof options);
    if (!found)
        return orch_fail(error, ORCH_USAGE, "%s has no option with %u GiB of memory; there are %s GiB", chip_id(chip), gib,
                         options);
    to->capacity_bytes = (uint64_t)(gib ? gib : most) * GIB;
    MEM_SHARED_PARAMS(PARAM_NONE, PARAM_NONE, FILL_MEMBER, PARAM_NONE)
    return r->ok;
}
