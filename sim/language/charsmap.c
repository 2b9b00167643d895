/* Sources: google/sentencepiece, normalizer.cc, for the layout; s-yata/darts-clone for the units. */
#include "sim/language/charsmap.h"

#include <string.h>

static uint32_t word_at(const uint8_t *bytes)
{
    uint32_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

bool charsmap_read(struct charsmap *map, const struct gguf_value *value, struct orch_error *error)
{
    *map = (struct charsmap){0};
    if (!value || value->size == 0)
        return true;
    if (value->type != GGUF_ARRAY || value->size != value->count || value->size < 4)
        return orch_fail(error, ORCH_USAGE, "tokenizer.ggml.precompiled_charsmap: expected bytes, four at least");
    const uint32_t bytes = word_at(value->bytes);
    if (bytes % 4 || bytes > value->size - 4 || value->bytes[value->size - 1] != 0)
        return orch_fail(error, ORCH_USAGE,
                         "tokenizer.ggml.precompiled_charsmap: a trie of %u bytes and texts that end with a zero do not make %zu",
                         bytes, value->size);
    map->trie = value->bytes + 4;
    map->units = bytes / 4;
    map->replacement = (const char *)value->bytes + 4 + bytes;
    map->replacement_bytes = value->size - 4 - bytes;
    return true;
}

/* A unit of the trie has an offset to its children's units, its own byte, and whether one of them has a value. */
static uint32_t unit_at(const struct charsmap *map, uint32_t index)
{
    return index < map->units ? word_at(map->trie + 4 * (size_t)index) : 0;
}

static uint32_t children_of(uint32_t unit)
{
    return (unit >> 10) << ((unit & 1u << 9) >> 6);
}

size_t charsmap_find(const struct charsmap *map, const char *text, size_t length, const char **by)
{
    uint32_t node = children_of(unit_at(map, 0));
    size_t longest = 0;
    for (size_t i = 0; map->units && i < length && text[i]; i++) {
        const uint8_t byte = (uint8_t)text[i];
        const uint32_t unit = unit_at(map, node ^ byte);
        if ((unit & (1u << 31 | 0xff)) != byte)
            break;
        node ^= byte ^ children_of(unit);
        const uint32_t value = unit_at(map, node) & 0x7fffffff;
        if (unit >> 8 & 1 && value < map->replacement_bytes) {
            longest = i + 1;
            *by = map->replacement + value;
        }
    }
    return longest;
}
