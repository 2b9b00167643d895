#include "sim/network/onnx/onnx_internal.h"

#include <stdlib.h>
#include <string.h>

static size_t hash(const char *name)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (; *name; name++)
        h = (h ^ (uint8_t)*name) * UINT64_C(0x100000001b3);
    return (size_t)(h ^ h >> 29);
}

/* The place of the name, or the free one where it would go; the room is a power of two and never full. */
static size_t place(const struct onnx_names *names, const char *name)
{
    size_t at = hash(name) & (names->room - 1);
    while (names->name[at] && strcmp(names->name[at], name) != 0)
        at = (at + 1) & (names->room - 1);
    return at;
}

static bool grow(struct onnx_names *names)
{
    struct onnx_names larger = {.outer = names->outer, .count = names->count, .room = names->room ? 2 * names->room : 64};
    larger.name = calloc(larger.room, sizeof(*larger.name));
    larger.id = calloc(larger.room, sizeof *larger.id);
    if (!larger.name || !larger.id) {
        onnx_names_free(&larger);
        return false;
    }
    for (size_t k = 0; k < names->room; k++)
        if (names->name[k]) {
            const size_t at = place(&larger, names->name[k]);
            larger.name[at] = names->name[k];
            larger.id[at] = names->id[k];
        }
    onnx_names_free(names);
    *names = larger;
    return true;
}

bool onnx_names_add(struct onnx_names *names, const char *name, net_id id)
{
    if (2 * names->count >= names->room && !grow(names))
        return false;
    const size_t at = place(names, name);
    names->count += names->name[at] == NULL;
    names->name[at] = name;
    names->id[at] = id;
    return true;
}

net_id onnx_names_here(const struct onnx_names *names, const char *name)
{
    if (names->room == 0)
        return NET_NONE;
    const size_t at = place(names, name);
    return names->name[at] ? names->id[at] : NET_NONE;
}

net_id onnx_names_find(const struct onnx_names *names, const char *name)
{
    net_id id = NET_NONE;
    for (; names && id == NET_NONE; names = names->outer)
        id = onnx_names_here(names, name);
    return id;
}

void onnx_names_free(struct onnx_names *names)
{
    free(names->name);
    free(names->id);
    names->name = NULL;
    names->id = NULL;
    names->room = names->count = 0;
}
