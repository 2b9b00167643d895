#include "isa/array_count.h"
#include "sim/chip/chip_internal.h"
#include "sim/base/suggest.h"
#include "sim/base/json_text.h"

#include <stdlib.h>
#include <string.h>

/* Returns the member of that name, NULL when it is missing. *ok becomes false when it is there with another type. */
static json_object *member(json_object *root, const char *name, json_type type, bool *ok)
{
    json_object *object = NULL;
    if (!json_object_object_get_ex(root, name, &object))
        return NULL;
    if (!json_object_is_type(object, type)) {
        *ok = false;
        return NULL;
    }
    return object;
}

static bool all_strings(json_object *array)
{
    for (size_t i = 0; array && i < json_object_array_length(array); i++)
        if (!json_object_is_type(json_object_array_get_idx(array, i), json_type_string))
            return false;
    return true;
}

static bool check_members(const char *stem, json_object *root, struct orch_error *error)
{
    static const char *const known[] = {"about", "chip", "experimental", "aliases", "inherits", "values"};
    json_object_object_foreach(root, name, unused)
    {
        (void)unused;
        struct suggest s;
        suggest_start(&s, name);
        bool found = false;
        for (size_t i = 0; i < ARRAY_COUNT(known); i++) {
            found |= strcmp(known[i], name) == 0;
            suggest_offer(&s, known[i]);
        }
        char hint[96];
        if (!found)
            return orch_fail(error, ORCH_USAGE, "%s.json: unknown member \"%.60s\"%s", stem, name,
                             suggest_phrase(&s, hint, sizeof hint));
    }
    return true;
}

static bool check_keys(const char *stem, json_object *values, struct orch_error *error)
{
    json_object_object_foreach(values, name, value)
    {
        if (!chip_key_find(name)) {
            const char *nearest = chip_key_nearest(name);
            return orch_fail(error, ORCH_USAGE, "%s.json: unknown key \"%.60s\"%s%s", stem, name,
                             nearest ? "; did you mean " : "", nearest ? nearest : "");
        }
        if (!json_object_is_type(value, json_type_object))
            return orch_fail(error, ORCH_USAGE, "%s.json: %s: expected {\"value\", \"unit\", \"kind\", \"source\"}", stem, name);
    }
    return true;
}

bool chip_file_parse(struct chip_file *file, const char *stem, const char *text, size_t size, struct orch_error *error)
{
    *file = (struct chip_file){.root = json_text_parse(stem, text, size, error)};
    if (!file->root)
        return false;
    bool ok = true;
    json_object *chip = member(file->root, "chip", json_type_string, &ok);
    json_object *experimental = member(file->root, "experimental", json_type_boolean, &ok);
    json_object *aliases = member(file->root, "aliases", json_type_array, &ok);
    member(file->root, "inherits", json_type_array, &ok);
    member(file->root, "about", json_type_string, &ok);
    file->values = member(file->root, "values", json_type_object, &ok);
    file->chip = chip ? json_object_get_string(chip) : NULL;
    file->experimental = experimental && json_object_get_boolean(experimental);
    file->stem = strdup(stem);
    if (!check_members(stem, file->root, error))
        ok = false;
    else if (!ok || !all_strings(aliases) || !file->values)
        ok = orch_fail(error, ORCH_USAGE,
                       "%s.json: chip and about are texts, experimental a truth value, aliases a list "
                       "of texts, inherits a list, values an object that must be there",
                       stem);
    else if (file->chip && strcmp(file->chip, stem) != 0)
        ok =
            orch_fail(error, ORCH_USAGE, "%s.json: describes chip \"%.60s\": file and chip must have one name", stem, file->chip);
    else if (aliases && !file->chip)
        ok = orch_fail(error, ORCH_USAGE, "%s.json: aliases without \"chip\"", stem);
    else
        ok = check_keys(stem, file->values, error);
    if (!ok)
        chip_file_free(file);
    return ok;
}

void chip_file_free(struct chip_file *file)
{
    free(file->stem);
    json_object_put(file->root);
    *file = (struct chip_file){0};
}
