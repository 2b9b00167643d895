/* Open addressing with FNV-1a; tables are at most half full. */
#include "sim/base/checksum.h"
#include "sim/language/tokenizer_internal.h"

#include <stdlib.h>
#include <string.h>

static uint64_t spread(uint64_t hash)
{
    return hash ^ hash >> 32;
}

static bool is_equal(const struct piece_view *a, const char *text, size_t length)
{
    return a->length == length && memcmp(a->text, text, length) == 0;
}

bool piece_index_create(struct piece_index *index, const struct piece_view *view, size_t count, struct orch_error *error)
{
    size_t slots = 16;
    while (slots < 2 * count)
        slots *= 2;
    *index = (struct piece_index){view, calloc(slots, sizeof *index->slot), slots};
    if (!index->slot)
        return orch_no_memory(error);
    for (size_t i = 0; i < count; i++) {
        size_t at = spread(checksum_fnv1a64(view[i].text, view[i].length)) & (slots - 1);
        while (index->slot[at] && !is_equal(&view[index->slot[at] - 1], view[i].text, view[i].length))
            at = (at + 1) & (slots - 1);
        if (!index->slot[at])
            index->slot[at] = (uint32_t)i + 1;
    }
    return true;
}

void piece_index_free(struct piece_index *index)
{
    free(index->slot);
    *index = (struct piece_index){0};
}

uint32_t piece_find(const struct piece_index *index, const char *text, size_t length)
{
    size_t at = spread(checksum_fnv1a64(text, length)) & (index->slots - 1);
    while (index->slot[at] && !is_equal(&index->view[index->slot[at] - 1], text, length))
        at = (at + 1) & (index->slots - 1);
    return index->slot[at] ? index->slot[at] - 1 : TOKEN_NONE;
}

static bool is_pair(const struct piece_view *a, const char *left, size_t left_length, const char *right, size_t right_length)
{
    return a->length == left_length + 1 + right_length && memcmp(a->text, left, left_length) == 0 &&
           a->text[left_length] == ' ' && memcmp(a->text + left_length + 1, right, right_length) == 0;
}

uint32_t piece_find_pair(const struct piece_index *index, const char *left, size_t left_length, const char *right,
                         size_t right_length)
{
    const uint64_t hash = checksum_add(checksum_add(checksum_fnv1a64(left, left_length), " ", 1), right, right_length);
    size_t at = spread(hash) & (index->slots - 1);
    while (index->slot[at] && !is_pair(&index->view[index->slot[at] - 1], left, left_length, right, right_length))
        at = (at + 1) & (index->slots - 1);
    return index->slot[at] ? index->slot[at] - 1 : TOKEN_NONE;
}
