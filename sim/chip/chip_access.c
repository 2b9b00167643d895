#include "sim/chip/chip_internal.h"

#include <stdlib.h>
#include <string.h>

const char *chip_id(const struct chip *chip)
{
    return chip->base->id;
}

const char *chip_name(const struct chip *chip)
{
    const struct chip_value *name = chip_value(chip, "name");
    return name && name->known ? name->json : chip->base->id;
}

bool chip_experimental(const struct chip *chip)
{
    return chip->base->experimental;
}

bool chip_modified(const struct chip *chip)
{
    return chip->modified;
}

uint32_t chip_name_hash(const char *name)
{
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (; *name; name++)
        hash = (hash ^ (uint8_t)*name) * 16777619u;
    return (hash ^ hash >> 15) % CHIP_HASHED;
}

struct chip_slot *chip_slot_of(const struct chip *chip, const char *key)
{
    const uint16_t *const table = chip->base->by_hash;
    for (uint32_t at = chip_name_hash(key); table[at]; at = (at + 1) % CHIP_HASHED)
        if (strcmp(key, chip_key_at(table[at] - 1u)->name) == 0)
            return &chip->slot[table[at] - 1u];
    return NULL;
}

bool chip_slot_overridden(const struct chip_slot *slot)
{
    return slot->origin && strcmp(slot->origin, "--set") == 0;
}

/* Notes, when `chip` is a view, what of the slot is read. */
static const struct chip_slot *noted(const struct chip *chip, const struct chip_slot *slot, unsigned what)
{
    if (slot && chip->reads)
        chip->reads[slot - chip->slot] |= (uint8_t)what;
    return slot;
}

const struct chip_value *chip_value(const struct chip *chip, const char *key)
{
    const struct chip_slot *slot = noted(chip, chip_slot_of(chip, key), CHIP_READ_NUMBER | CHIP_READ_CERTAINTY);
    return slot ? &slot->value : NULL;
}

const struct chip_value *chip_value_at(const struct chip *chip, size_t index)
{
    return index < chip_key_count() ? &noted(chip, &chip->slot[index], CHIP_READ_NUMBER | CHIP_READ_CERTAINTY)->value : NULL;
}

double chip_mark(const struct chip *chip, size_t index)
{
    return chip->slot[index].mark;
}

double chip_certainty_mark(const struct chip *chip, size_t index)
{
    const struct chip_value *value = &chip->slot[index].value;
    double others = 0; /* of further numbers of busy cores, each in its own place */
    for (size_t i = 1; value->uncertainties && i < value->count; i++)
        others = others * 64 + value->uncertainties[i] + 1;
    return value->known ? (double)value->kind * 16 + value->uncertainty + others * 4096 : -1; /* uncertainties end at 10 */
}

bool chip_value_same(const struct chip_value *a, const struct chip_value *b)
{
    const enum chip_type type = a->key->type;
    if (a->known != b->known)
        return false;
    if (type == CHIP_INT || type == CHIP_REAL)
        return a->number == b->number;
    return strcmp(a->json, b->json) == 0;
}

static const struct chip_value *known_value(const struct chip *chip, const char *key, struct orch_error *error)
{
    const struct chip_slot *slot = noted(chip, chip_slot_of(chip, key), CHIP_READ_NUMBER);
    if (!slot) {
        orch_fail(error, ORCH_INTERNAL, "%s: no such key", key);
        return NULL;
    }
    const struct chip_value *value = &slot->value;
    if (!value->known) {
        orch_fail(error, ORCH_UNMODELLED, "chip %s: %s is not known%s", chip->base->id, key,
                  chip->base->experimental ? " (experimental chip); give it with " ORCH_OPTION("set")
                                           : "; give it with " ORCH_OPTION("set"));
        return NULL;
    }
    return value;
}

bool chip_number(const struct chip *chip, const char *key, double *number, struct orch_error *error)
{
    return chip_number_active(chip, key, 1, number, error);
}

bool chip_number_active(const struct chip *chip, const char *key, unsigned active, double *number, struct orch_error *error)
{
    const struct chip_value *value = known_value(chip, key, error);
    if (!value)
        return false;
    switch (value->key->type) {
    case CHIP_INT:
    case CHIP_REAL: *number = value->number; return true;
    case CHIP_CORES: {
        const size_t index = active ? active - 1 : 0;
        *number = value->list[index < value->count ? index : value->count - 1];
        return true;
    }
    default: return orch_fail(error, ORCH_INTERNAL, "%s is not a number", key);
    }
}

static bool entry_number(json_object *object, const char *name, double *number)
{
    json_object *const entry = json_peek_any(object, name);
    if (!entry)
        return false;
    *number = json_object_get_double(entry);
    return true;
}

bool chip_map_number(const struct chip *chip, const char *key, const char *entry, double *number)
{
    const struct chip_slot *slot = noted(chip, chip_slot_of(chip, key), CHIP_READ_NUMBER);
    return slot && slot->value.key->type == CHIP_MAP && entry_number(slot->object, entry, number);
}

bool chip_table_number(const struct chip *chip, const char *key, size_t row, const char *column, double *number)
{
    const struct chip_slot *slot = noted(chip, chip_slot_of(chip, key), CHIP_READ_NUMBER);
    if (!slot || slot->value.key->type != CHIP_TABLE || !slot->value.known || row >= slot->value.count)
        return false;
    return entry_number(json_object_array_get_idx(slot->object, row), column, number);
}
