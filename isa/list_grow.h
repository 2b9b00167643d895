/* Lists that grow by doubling. They stand in the lowest room so that every room above may use them. */
#ifndef ORCHARD_ISA_LIST_GROW_H
#define ORCHARD_ISA_LIST_GROW_H

#include <stdint.h>
#include <stdlib.h>

/* The items with room for one more after `count`; the caller keeps what is returned in place of the old pointer. NULL, with
 * nothing changed, when memory has run out. */
static inline void *list_grow(void *items, size_t count, size_t *room, size_t item_bytes)
{
    if (count < *room)
        return items;
    const size_t wanted = *room ? 2 * *room : 16;
    void *const grown = wanted > SIZE_MAX / item_bytes ? NULL : realloc(items, wanted * item_bytes);
    if (grown)
        *room = wanted;
    return grown;
}

#endif
