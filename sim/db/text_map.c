#include "sim/db/text_map.h"

#include <stdlib.h>
#include <string.h>

static uint64_t hash_of(const char *text)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return h;
}

/* Finds the slot of the text, or the free slot where it belongs. */
static struct text_map_entry *slot_of(const struct text_map *map, const char *text)
{
    size_t i = hash_of(text) & (map->capacity - 1);
    while (map->slot[i].text && strcmp(map->slot[i].text, text) != 0)
        i = (i + 1) & (map->capacity - 1);
    return &map->slot[i];
}

int64_t text_map_get(const struct text_map *map, const char *text, int64_t absent)
{
    if (map->capacity == 0)
        return absent;
    const struct text_map_entry *e = slot_of(map, text);
    return e->text ? e->number : absent;
}

static bool widen(struct text_map *map)
{
    const struct text_map old = *map;
    const size_t capacity = old.capacity ? old.capacity * 2 : 64;
    struct text_map_entry *slots = calloc(capacity, sizeof *slots);
    if (!slots)
        return false;
    *map = (struct text_map){slots, old.count, capacity};
    for (size_t i = 0; i < old.capacity; i++)
        if (old.slot[i].text)
            *slot_of(map, old.slot[i].text) = old.slot[i];
    free(old.slot);
    return true;
}

const char *text_map_add(struct text_map *map, const char *text, int64_t number)
{
    if (map->count * 2 >= map->capacity && !widen(map))
        return NULL;
    char *copy = strdup(text);
    if (!copy)
        return NULL;
    *slot_of(map, text) = (struct text_map_entry){copy, number};
    map->count++;
    return copy;
}

void text_map_clear(struct text_map *map)
{
    for (size_t i = 0; i < map->capacity; i++)
        free(map->slot[i].text);
    free(map->slot);
    *map = (struct text_map){0};
}
