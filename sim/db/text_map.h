/* Maps texts to numbers: the ids of a connection, the texts of a buffered run. */
#ifndef ORCHARD_SIM_DB_TEXT_MAP_H
#define ORCHARD_SIM_DB_TEXT_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text_map_entry {
    char *text; /* NULL = free slot */
    int64_t number;
};

/* A zeroed map is empty. */
struct text_map {
    struct text_map_entry *slot;
    size_t count, capacity; /* capacity is 0 or a power of two */
};

/* The number of a text, or `absent` when the text is not in the map. */
int64_t text_map_get(const struct text_map *map, const char *text, int64_t absent);
/* Adds a text that is not in the map yet. Returns the map's copy, which lives until text_map_clear; NULL when memory has run out.
 */
const char *text_map_add(struct text_map *map, const char *text, int64_t number);
void text_map_clear(struct text_map *map);

#endif
