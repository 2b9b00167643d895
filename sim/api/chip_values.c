/* Chips and their values, for programs. */
#include "sim/api/api.h"
#include "sim/chip/chip.h"

#include <math.h>

/* Both are handles of sim/chip under names of their own. */
static const struct chip_db *db_of(const struct orchard_chips *chips)
{
    return (const struct chip_db *)(const void *)chips;
}

static const struct chip *chip_of(const struct orchard_chip *chip)
{
    return (const struct chip *)(const void *)chip;
}

struct orchard_chips *orchard_chips_open(struct orchard_error *error)
{
    struct orch_error why = {0};
    struct chip_db *const db = chip_db_open(NULL, &why);
    if (!db)
        api_hand_over(error, &why, false);
    return (struct orchard_chips *)(void *)db;
}

void orchard_chips_close(struct orchard_chips *chips)
{
    chip_db_close((struct chip_db *)(void *)chips);
}

size_t orchard_chips_count(const struct orchard_chips *chips)
{
    return chip_db_count(db_of(chips));
}

const char *orchard_chips_id(const struct orchard_chips *chips, size_t index)
{
    return index < orchard_chips_count(chips) ? chip_db_id(db_of(chips), index) : NULL;
}

struct orchard_chip *orchard_chip_open(struct orchard_chips *chips, const char *name, const char *const *sets,
                                       struct orchard_error *error)
{
    struct orch_error why = {0};
    struct chip_overrides overrides = {sets, 0};
    while (sets && sets[overrides.count])
        overrides.count++;
    struct chip *const chip = chip_open(db_of(chips), name, &overrides, &why);
    if (!chip)
        api_hand_over(error, &why, false);
    return (struct orchard_chip *)(void *)chip;
}

void orchard_chip_close(struct orchard_chip *chip)
{
    if (chip)
        chip_close((struct chip *)(void *)chip);
}

const char *orchard_chip_id(const struct orchard_chip *chip)
{
    return chip_id(chip_of(chip));
}

const char *orchard_chip_name(const struct orchard_chip *chip)
{
    return chip_name(chip_of(chip));
}

static void fill(struct orchard_value *to, const struct chip_value *v)
{
    const bool is_number = v->key->type == CHIP_INT || v->key->type == CHIP_REAL || v->key->type == CHIP_CORES;
    *to = (struct orchard_value){.key = v->key->name,
                                 .unit = v->key->unit,
                                 .description = v->key->text,
                                 .kind = chip_kind_name(v->kind),
                                 .source = v->source,
                                 .origin = v->origin,
                                 .note = v->note,
                                 .known = v->known,
                                 .number = v->known && is_number ? v->number : NAN,
                                 .uncertainty = v->uncertainty,
                                 .text = v->known ? v->json : "",
                                 .list = v->known ? v->list : NULL,
                                 .list_count = v->known && v->list ? v->count : 0};
}

size_t orchard_chip_value_count(const struct orchard_chip *chip)
{
    (void)chip;
    return chip_key_count();
}

bool orchard_chip_value_at(const struct orchard_chip *chip, size_t index, struct orchard_value *value)
{
    if (index >= chip_key_count())
        return false;
    fill(value, chip_value_at(chip_of(chip), index));
    return true;
}

bool orchard_chip_value(const struct orchard_chip *chip, const char *key, struct orchard_value *value)
{
    const struct chip_value *const v = chip_value(chip_of(chip), key);
    if (v)
        fill(value, v);
    return v != NULL;
}
