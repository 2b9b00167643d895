#include "sim/network/coreml/coreml_names.h"

#include <stdlib.h>

static uint64_t hash_of(struct pb name)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (const uint8_t *p = name.at; p < name.end; p++)
        h = (h ^ *p) * UINT64_C(0x100000001b3);
    return h ^ h >> 29;
}

static struct coreml_named *place_of(struct coreml_named *slot, size_t room, struct pb name, uint64_t hash)
{
    size_t at = (size_t)hash & (room - 1);
    while (slot[at].name.state && !(slot[at].hash == hash && pb_same(slot[at].name, name)))
        at = (at + 1) & (room - 1);
    return &slot[at];
}

const struct coreml_value *coreml_names_find(const struct coreml_names *names, struct pb name)
{
    const uint64_t hash = hash_of(name);
    for (; names; names = names->outer) {
        const struct coreml_named *const n = names->room ? place_of(names->slot, names->room, name, hash) : NULL;
        if (n && n->name.state)
            return &n->value;
    }
    return NULL;
}

void coreml_names_add(struct coreml *c, struct coreml_names *names, struct pb name, const struct coreml_value *value)
{
    const uint64_t hash = hash_of(name);
    if (2 * names->count >= names->room) {
        const size_t room = names->room ? 2 * names->room : 64;
        struct coreml_named *const grown = calloc(room, sizeof *grown);
        if (!grown) {
            coreml_fail(c, ORCH_INTERNAL, "out of memory");
            return;
        }
        for (size_t k = 0; k < names->room; k++)
            if (names->slot[k].name.state)
                *place_of(grown, room, names->slot[k].name, names->slot[k].hash) = names->slot[k];
        free(names->slot);
        names->slot = grown;
        names->room = room;
    }
    struct coreml_named *const n = place_of(names->slot, names->room, name, hash);
    names->count += n->name.state == NULL;
    *n = (struct coreml_named){name, hash, *value};
}

void coreml_names_free(struct coreml_names *names)
{
    free(names->slot);
    names->slot = NULL;
    names->count = names->room = 0;
}
