#include "sim/chip/chip_internal.h"
#include "sim/cli/json_out.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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

static bool load_values(struct chip *chip, const struct chip_db *db, size_t file, struct orch_error *error)
{
    for (size_t i = 0; i < chip_key_count(); i++) {
        const struct chip_key *key = chip_key_at(i);
        struct chip_found found;
        chip_db_find(db, file, key->name, &found);
        if (found.object ? !chip_slot_parse(&chip->slot[i], key, &found, error)
                         : !chip_slot_set(&chip->slot[i], key, NULL, error))
            return false;
    }
    return true;
}

/* "3.2", "3.2GHz" or "3.2 GHz" when GHz is the key's unit. */
static json_object *parse_quantity(const struct chip_key *key, const char *text)
{
    char *end;
    const double number = strtod(text, &end);
    if (end == text)
        return NULL;
    while (isspace((unsigned char)*end))
        end++;
    return *end == 0 || strcasecmp(end, key->unit) == 0 ? json_number(number) : NULL;
}

/* JSON; a list also without its brackets. */
static json_object *parse_composite(const struct chip_key *key, const char *text)
{
    char list[4096];
    if ((key->type == CHIP_LIST || key->type == CHIP_CORES) && text[0] != '[' && strlen(text) < sizeof list - 3) {
        strcat(strcat(strcpy(list, "["), text), "]");
        text = list;
    }
    json_tokener *tokener = json_tokener_new_ex(8);
    if (!tokener)
        return NULL;
    json_tokener_set_flags(tokener, JSON_TOKENER_STRICT);
    json_object *value = json_tokener_parse_ex(tokener, text, (int)strlen(text) + 1);
    if (json_tokener_get_error(tokener) != json_tokener_success) {
        json_object_put(value);
        value = NULL;
    }
    json_tokener_free(tokener);
    return value;
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

static bool apply_override(struct chip *chip, const char *text, struct orch_error *error)
{
    const char *equals = strchr(text, '=');
    char name[96];
    if (!equals || equals == text || (size_t)(equals - text) >= sizeof name)
        return orch_fail(error, ORCH_USAGE, "--set %.60s: expected KEY=VALUE", text);
    memcpy(name, text, (size_t)(equals - text));
    name[equals - text] = 0;
    const struct chip_key *key = chip_key_find(name);
    if (!key) {
        const char *nearest = chip_key_nearest(name);
        return orch_fail(error, ORCH_USAGE, "--set: unknown key '%.60s'%s%s", name, nearest ? "; did you mean " : "",
                         nearest ? nearest : "");
    }
    json_object *value = parse_override(key, equals + 1);
    if (!value)
        return orch_fail(error, ORCH_USAGE, "--set %s: '%.60s' is not a value%s%s", name, equals + 1,
                         key->unit[0] ? " in " : "", key->unit);
    struct chip_slot *slot = chip_slot_of(chip, name);
    if (!chip_slot_set(slot, key, value, error))
        return orch_fail_in(error, "--set");
    /* What the user supposes is exact by definition. */
    chip_slot_describe(slot, CHIP_GUESS, 0, "supposed on the command line", NULL, "--set");
    chip->modified = true;
    return true;
}

static int compare_by_name(const void *a, const void *b)
{
    return strcmp(chip_key_at(*(const uint16_t *)a)->name, chip_key_at(*(const uint16_t *)b)->name);
}

static void sort_by_name(struct chip *chip)
{
    for (size_t i = 0; i < chip_key_count(); i++)
        chip->by_name[i] = (uint16_t)i;
    qsort(chip->by_name, chip_key_count(), sizeof *chip->by_name, compare_by_name);
}

static struct chip *new_chip(const char *id, bool experimental)
{
    struct chip *chip = calloc(1, sizeof *chip);
    if (!chip)
        return NULL;
    chip->id = strdup(id);
    chip->experimental = experimental;
    chip->slot = calloc(chip_key_count(), sizeof *chip->slot);
    chip->by_name = calloc(chip_key_count(), sizeof *chip->by_name);
    if (chip->id && chip->slot && chip->by_name) {
        sort_by_name(chip);
        return chip;
    }
    free(chip->id);
    free(chip->slot);
    free(chip->by_name);
    free(chip);
    return NULL;
}

/* Values, then overrides, then what follows from both, then the relations that must hold. `plain` is the chip without
 * overrides, for derived values that keep a proportion. */
static bool build(struct chip *chip, struct chip *plain, const struct chip_db *db, size_t file,
                  const struct chip_overrides *overrides, struct orch_error *error)
{
    if (!load_values(plain, db, file, error) || !load_values(chip, db, file, error))
        return false;
    for (size_t i = 0; overrides && i < overrides->count; i++)
        if (!apply_override(chip, overrides->text[i], error))
            return false;
    return chip_derive(chip, plain->slot, error) && chip_check(chip, error);
}

struct chip *chip_open(const struct chip_db *db, const char *id_or_alias, const struct chip_overrides *overrides,
                       struct orch_error *error)
{
    const char *id;
    size_t file;
    if (!chip_db_resolve(db, id_or_alias, &id, error))
        return NULL;
    if (!find_chip_file(db, id, &file)) {
        orch_fail(error, ORCH_INTERNAL, "%s: chip without a file", id);
        return NULL;
    }
    struct chip *chip = new_chip(id, db->file[file].experimental), *plain = new_chip(id, false);
    if (!chip || !plain) {
        orch_fail(error, ORCH_INTERNAL, "out of memory");
    } else if (build(chip, plain, db, file, overrides, error)) {
        chip_close(plain);
        return chip;
    }
    chip_close(chip);
    chip_close(plain);
    return NULL;
}

void chip_close(struct chip *chip)
{
    if (!chip)
        return;
    for (size_t i = 0; i < chip_key_count(); i++)
        chip_slot_clear(&chip->slot[i]);
    free(chip->slot);
    free(chip->by_name);
    free(chip->id);
    free(chip);
}
