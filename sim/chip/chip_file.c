#include "isa/array_count.h"
#include "sim/chip/chip_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check_keys(const struct json_node *values)
{
    struct json_node value;
    for (struct json_walk walk = {.of = values}; json_next(&walk, &value);) {
        if (!chip_key_find(value.name)) {
            const char *const nearest = chip_key_nearest(value.name);
            json_wrong(values->parent, NULL, "unknown key \"%.60s\"%s%s", value.name, nearest ? "; did you mean " : "",
                       nearest ? nearest : "");
        } else if (!json_object_is_type(value.value, json_type_object)) {
            json_wrong(&value, NULL, "expected an object with value, unit, kind and source");
        }
    }
}

static void read_members(struct chip_file *file, const struct json_node *top)
{
    static const char *const known[] = {"about", "chip", "experimental", "aliases", "inherits", "values"};
    json_known(top, known, ARRAY_COUNT(known));
    file->chip = json_find_string(top, "chip", NULL);
    file->experimental = json_find_boolean(top, "experimental", false);
    json_find_string(top, "about", NULL);
    json_find_array(top, "inherits", 0, SIZE_MAX);
    const struct json_node aliases = json_find_array(top, "aliases", 0, SIZE_MAX), values = json_get_object(top, "values");
    struct json_node alias;
    for (struct json_walk walk = {.of = &aliases}; json_next(&walk, &alias);)
        json_get_string(&alias, NULL);
    file->values = values.value;
    file->aliases = aliases.value;
    if (file->chip && strcmp(file->chip, file->stem) != 0)
        json_wrong(top, NULL, "describes chip \"%.60s\": file and chip must have one name", file->chip);
    else if (aliases.present && !file->chip)
        json_wrong(top, NULL, "aliases without \"chip\"");
    check_keys(&values);
}

void chip_file_name(const struct chip_file *file, char name[CHIP_FILE_NAME_SIZE])
{
    snprintf(name, CHIP_FILE_NAME_SIZE, "%.250s.json", file->stem);
}

bool chip_file_parse(struct chip_file *file, const char *stem, const char *text, size_t size, struct orch_error *error)
{
    char name[CHIP_FILE_NAME_SIZE];
    struct json_reader r;
    *file = (struct chip_file){.stem = strdup(stem)};
    if (!file->stem)
        return orch_no_memory(error);
    chip_file_name(file, name);
    if (!json_reader_open(&r, name, text, size, error)) {
        chip_file_free(file);
        return false;
    }
    const struct json_node top = json_top(&r);
    file->root = json_object_get(r.root);
    read_members(file, &top);
    if (json_reader_close(&r))
        return true;
    chip_file_free(file);
    return false;
}

void chip_file_free(struct chip_file *file)
{
    free(file->stem);
    json_object_put(file->root);
    *file = (struct chip_file){0};
}
