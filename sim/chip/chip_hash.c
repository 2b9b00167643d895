/* The hash of a chip's values: FNV-1a64 over "key=value\n" in the order of the keys' names, with numbers as doubles and members
 * of objects in the order of their names. */
#include "isa/array_count.h"
#include "sim/chip/chip_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_bytes(uint64_t *hash, const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        *hash = (*hash ^ (uint8_t)bytes[i]) * UINT64_C(0x100000001b3);
}

static void add_text(uint64_t *hash, const char *text)
{
    add_bytes(hash, text, strlen(text));
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void add_json(uint64_t *hash, json_object *object);

static void add_members(uint64_t *hash, json_object *object)
{
    const char *names[64];
    size_t count = 0;
    json_object_object_foreach(object, name, unused)
    {
        (void)unused;
        if (count < ARRAY_COUNT(names))
            names[count++] = name;
    }
    qsort(names, count, sizeof names[0], compare_names);
    for (size_t i = 0; i < count; i++) {
        add_text(hash, names[i]);
        add_text(hash, ":");
        add_json(hash, json_object_object_get(object, names[i]));
    }
}

static void add_json(uint64_t *hash, json_object *object)
{
    char number[32];
    switch (json_object_get_type(object)) {
    case json_type_int:
    case json_type_double:
        snprintf(number, sizeof number, "%.17g", json_object_get_double(object));
        add_text(hash, number);
        break;
    case json_type_array:
        for (size_t i = 0; i < json_object_array_length(object); i++)
            add_json(hash, json_object_array_get_idx(object, i));
        break;
    case json_type_object: add_members(hash, object); break;
    case json_type_string: add_text(hash, json_object_get_string(object)); break;
    default: add_text(hash, "null");
    }
    add_text(hash, ",");
}

static void add_value(uint64_t *hash, const struct chip_slot *slot)
{
    const struct chip_value *value = &slot->value;
    add_text(hash, value->key->name);
    add_text(hash, "=");
    /* A clock given as one number and as a list of one number is the same clock. */
    for (size_t k = 0; value->list && k < value->count; k++) {
        char number[32];
        snprintf(number, sizeof number, "%.17g,", value->list[k]);
        add_text(hash, number);
    }
    if (!value->list)
        add_json(hash, slot->object);
    add_text(hash, "\n");
}

uint64_t chip_hash(const struct chip *chip)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < chip_key_count(); i++) {
        const struct chip_slot *slot = &chip->slot[chip->base->by_name[i]];
        if (slot->value.known)
            add_value(&hash, slot);
    }
    return hash;
}
