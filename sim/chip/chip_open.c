#include "sim/base/json_out.h"
#include "sim/base/quantity.h"
#include "sim/chip/chip_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool find_chip_file(const struct chip_db *db, const char *id, size_t *file)
{
    for (size_t i = 0; i < db->chips; i++) {
        if (strcmp(db->file[db->chip[i]].chip, id) == 0) {
            *file = db->chip[i];
            return true;
        }
    }
    return false;
}

static bool load_values(struct chip_base *base, const struct chip_db *db, size_t file, struct orch_error *error)
{
    for (size_t i = 0; i < chip_key_count(); i++) {
        const struct chip_key *key = chip_key_at(i);
        struct chip_found found;
        struct json_reader nothing = json_reader_of(key->name, NULL, error);
        const struct json_node null = json_top(&nothing);
        chip_db_find(db, file, key->name, &found);
        if (found.file ? !chip_slot_parse(&base->slot[i], key, &found, error) : !chip_slot_set(&base->slot[i], key, &null))
            return false;
    }
    return true;
}

/* Accepts "3.2", and "3.2GHz", "3200 MHz" ... when the key is a clock. */
static json_object *parse_quantity(const struct chip_key *key, const char *text)
{
    double number;
    return quantity_read(text, key->unit, &number) ? json_number(number) : NULL;
}

/* Accepts JSON, and an array without its brackets. */
static json_object *parse_composite(const struct chip_key *key, const char *text)
{
    char list[4096];
    if ((key->type == CHIP_LIST || key->type == CHIP_CORES) && text[0] != '[' && strlen(text) < sizeof list - 3) {
        strcat(strcat(strcpy(list, "["), text), "]");
        text = list;
    }
    struct json_reader r;
    return json_reader_open_value(&r, key->name, text, strlen(text), NULL) ? r.root : NULL;
}

static json_object *parse_override(const struct chip_key *key, const char *text)
{
    if (key->type == CHIP_TEXT)
        return json_object_new_string(text);
    if (key->type == CHIP_INT || key->type == CHIP_REAL)
        return parse_quantity(key, text);
    json_object *value = key->type == CHIP_CORES ? parse_quantity(key, text) : NULL;
    return value ? value : parse_composite(key, text);
}

/* A copy in which every number is `factor` times what it was. */
static json_object *scaled(json_object *value, double factor)
{
    if (json_object_is_type(value, json_type_int) || json_object_is_type(value, json_type_double))
        return json_number(factor * json_object_get_double(value));
    if (json_object_is_type(value, json_type_array)) {
        json_object *const array = json_object_new_array();
        for (size_t i = 0; array && i < json_object_array_length(value); i++)
            json_object_array_add(array, scaled(json_object_array_get_idx(value, i), factor));
        return array;
    }
    json_object *const object = json_object_is_type(value, json_type_object) ? json_object_new_object() : NULL;
    if (object) {
        json_object_object_foreach(value, name, member) json_object_object_add(object, name, scaled(member, factor));
    }
    return object;
}

/* "2x" and "+20%": against the value that the chip has so far. Counts stay whole. */
static json_object *scaled_value(const struct chip_slot *slot, double factor)
{
    const struct chip_key *const key = slot->value.key;
    if (!slot->value.known || key->type == CHIP_TEXT || key->type == CHIP_TABLE)
        return NULL;
    if (key->type == CHIP_INT)
        return json_number(round(slot->value.number * factor));
    struct json_reader r;
    if (!json_reader_open_value(&r, key->name, slot->value.json, strlen(slot->value.json), NULL))
        return NULL;
    json_object *const value = scaled(r.root, factor);
    json_object_put(r.root);
    return value;
}

static bool refuse_value(const struct chip_slot *slot, const char *text, struct orch_error *error)
{
    const struct chip_key *const key = slot->value.key;
    const bool number = key->type != CHIP_TEXT && key->type != CHIP_TABLE;
    char list[160];
    quantity_units(key->unit, list, sizeof list);
    return orch_fail(error, ORCH_USAGE, ORCH_OPTION("set") " %s: '%.60s' is not a value%s%s%s%s%s%s%.80s", key->name, text,
                     key->unit[0] ? " in " : "", key->unit, list[0] ? " (" : "", list, list[0] ? ")" : "",
                     number ? "; it is now " : "",
                     number && slot->value.known ? slot->value.json
                     : number                    ? "not known"
                                                 : "");
}

static struct chip *new_chip(const struct chip_base *base, struct orch_error *error);

/* The same value, which another chip owns. */
static struct chip_slot borrowed(const struct chip_slot *slot)
{
    struct chip_slot copy = *slot;
    copy.shared = true;
    return copy;
}

/* "0.5x" of a value that follows from others: against what it is with the overrides so far. */
static json_object *scaled_derived(const struct chip *chip, const char *name, double factor)
{
    struct chip *const now = new_chip(chip->base, NULL);
    json_object *value = NULL;
    for (size_t i = 0; now && i < chip_key_count(); i++)
        if (chip_slot_overridden(&chip->slot[i]))
            now->slot[i] = borrowed(&chip->slot[i]);
    if (now && chip_derive(now, chip->base->slot, NULL))
        value = scaled_value(chip_slot_of(now, name), factor);
    chip_close(now);
    return value;
}

static bool apply_override(struct chip *chip, const char *text, struct orch_error *error)
{
    const char *equals = strchr(text, '=');
    char name[96];
    if (!equals || equals == text || (size_t)(equals - text) >= sizeof name)
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("set") " %.60s: expected KEY=VALUE", text);
    memcpy(name, text, (size_t)(equals - text));
    name[equals - text] = 0;
    struct chip_slot *slot = chip_slot_of(chip, name);
    if (!slot) {
        const char *nearest = chip_key_nearest(name);
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("set") ": unknown key '%.60s'%s%s%s", name,
                         nearest ? "; did you mean " : "; `orchard chips show ", nearest ? nearest : chip->base->id,
                         nearest ? "?" : "` lists them");
    }
    const struct chip_key *key = slot->value.key;
    double factor;
    const bool relative = quantity_factor(equals + 1, &factor);
    json_object *value = relative ? scaled_value(slot, factor) : parse_override(key, equals + 1);
    if (!value && relative)
        value = scaled_derived(chip, name, factor);
    if (!value)
        return refuse_value(slot, equals + 1, error);
    char place[128];
    snprintf(place, sizeof place, ORCH_OPTION("set") " %s", name);
    struct json_reader r = json_reader_of(place, value, error);
    const struct json_node top = json_top(&r);
    chip_slot_set(slot, key, &top);
    if (!json_reader_close(&r))
        return false;
    /* What the user supposes is exact by definition. */
    chip_slot_describe(slot, CHIP_GUESS, 0, "supposed on the command line", NULL, "--set");
    chip->modified = true;
    return true;
}

static int compare_by_name(const void *a, const void *b)
{
    return strcmp(chip_key_at(*(const uint16_t *)a)->name, chip_key_at(*(const uint16_t *)b)->name);
}

static void sort_by_name(struct chip_base *base)
{
    for (size_t i = 0; i < chip_key_count(); i++)
        base->by_name[i] = (uint16_t)i;
    qsort(base->by_name, chip_key_count(), sizeof *base->by_name, compare_by_name);
}

/* Fills by_hash, of which at most a quarter may be taken. */
static bool hash_names(struct chip_base *base)
{
    if (4 * chip_key_count() > CHIP_HASHED)
        return false;
    for (size_t i = 0; i < chip_key_count(); i++) {
        uint32_t at = chip_name_hash(chip_key_at(i)->name);
        while (base->by_hash[at])
            at = (at + 1) % CHIP_HASHED;
        base->by_hash[at] = (uint16_t)(i + 1);
    }
    return true;
}

/* ---- values of the files ---- */

void chip_base_close(struct chip_base *base)
{
    if (!base)
        return;
    for (size_t i = 0; base->slot && i < chip_key_count(); i++)
        chip_slot_clear(&base->slot[i]);
    free(base->slot);
    free(base->by_name);
    free(base->id);
    free(base);
}

static struct chip_base *new_base(const char *id, bool experimental, struct orch_error *error)
{
    struct chip_base *base = calloc(1, sizeof *base);
    if (base) {
        base->id = strdup(id);
        base->experimental = experimental;
        base->slot = calloc(chip_key_count(), sizeof *base->slot);
        base->by_name = calloc(chip_key_count(), sizeof *base->by_name);
    }
    if (base && base->id && base->slot && base->by_name && hash_names(base)) {
        sort_by_name(base);
        return base;
    }
    chip_base_close(base);
    orch_no_memory(error);
    return NULL;
}

struct chip_base *chip_base_open(const struct chip_db *db, const char *id_or_alias, struct orch_error *error)
{
    const char *id;
    size_t file;
    if (!chip_db_resolve(db, id_or_alias, &id, error))
        return NULL;
    if (!find_chip_file(db, id, &file)) {
        orch_fail(error, ORCH_INTERNAL, "%s: chip without a file", id);
        return NULL;
    }
    struct chip_base *base = new_base(id, db->file[file].experimental, error);
    if (base && !load_values(base, db, file, error)) {
        chip_base_close(base);
        return NULL;
    }
    return base;
}

/* ---- chips ---- */

static struct chip *new_chip(const struct chip_base *base, struct orch_error *error)
{
    struct chip *chip = calloc(1, sizeof *chip);
    if (chip)
        chip->slot = malloc(chip_key_count() * sizeof *chip->slot);
    if (!chip || !chip->slot) {
        free(chip);
        orch_no_memory(error);
        return NULL;
    }
    chip->base = base;
    memcpy(chip->slot, base->slot, chip_key_count() * sizeof *chip->slot);
    for (size_t i = 0; i < chip_key_count(); i++)
        chip->slot[i].shared = true;
    return chip;
}

/* Applies the overrides, then computes what follows from them and the files, then checks the relations that must hold. Derived
 * values that keep a proportion also need the values without overrides, which the base has. */
struct chip *chip_open_on(const struct chip_base *base, const struct chip_overrides *overrides, struct orch_error *error)
{
    struct chip *chip = new_chip(base, error);
    bool ok = chip != NULL;
    for (size_t i = 0; ok && overrides && i < overrides->count; i++)
        ok = apply_override(chip, overrides->text[i], error);
    if (ok && chip_derive(chip, base->slot, error) && chip_check(chip, error))
        return chip;
    chip_close(chip);
    return NULL;
}

struct chip *chip_open(const struct chip_db *db, const char *id_or_alias, const struct chip_overrides *overrides,
                       struct orch_error *error)
{
    struct chip_base *base = chip_base_open(db, id_or_alias, error);
    struct chip *chip = base ? chip_open_on(base, overrides, error) : NULL;
    if (chip)
        chip->own_base = base;
    else
        chip_base_close(base);
    return chip;
}

struct chip *chip_view(const struct chip *chip, uint8_t *reads)
{
    struct chip *view = malloc(sizeof *view);
    if (view) {
        *view = *chip;
        view->own_base = NULL;
        view->seen = chip;
        view->reads = reads;
    }
    return view;
}

void chip_close(struct chip *chip)
{
    if (!chip)
        return;
    for (size_t i = 0; !chip->seen && i < chip_key_count(); i++)
        if (!chip->slot[i].shared)
            chip_slot_clear(&chip->slot[i]);
    if (!chip->seen)
        free(chip->slot);
    chip_base_close(chip->own_base);
    free(chip);
}
