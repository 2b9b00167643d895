/* Writers put general.architecture first; where it is not, the whole file is opened. Format: ggml, docs/gguf.md. */
#include "sim/language/gguf_peek.h"

#include "sim/language/gguf.h"

#include <stdio.h>
#include <string.h>

static const char wanted[] = "general.architecture";
enum { COUNTS_BYTES = 24, KEY_BYTES = sizeof wanted - 1, BEFORE_TEXT = COUNTS_BYTES + 8 + KEY_BYTES + 4 + 8, TEXT_MOST = 64 };

static uint64_t number_at(const uint8_t *bytes, unsigned count)
{
    uint64_t number = 0;
    for (unsigned i = count; i-- > 0;)
        number = number << 8 | bytes[i];
    return number;
}

/* Whether the first key is the one that is wanted, and its value a short text. */
static bool is_first(const uint8_t *head, size_t size, char *text, size_t room)
{
    if (size < BEFORE_TEXT || number_at(head + COUNTS_BYTES, 8) != KEY_BYTES ||
        memcmp(head + COUNTS_BYTES + 8, wanted, KEY_BYTES) != 0 || number_at(head + BEFORE_TEXT - 12, 4) != GGUF_STRING)
        return false;
    const uint64_t length = number_at(head + BEFORE_TEXT - 8, 8);
    if (length > size - BEFORE_TEXT)
        return false;
    snprintf(text, room, "%.*s", (int)length, (const char *)head + BEFORE_TEXT);
    return true;
}

bool gguf_peek_architecture(const char *path, char *text, size_t size)
{
    uint8_t head[BEFORE_TEXT + TEXT_MOST];
    FILE *const f = fopen(path, "rb");
    const size_t read = f ? fread(head, 1, sizeof head, f) : 0;
    if (f)
        fclose(f);
    if (!gguf_is(head, read))
        return false;
    if (is_first(head, read, text, size))
        return true;
    struct orch_error unused = {0};
    struct gguf *const gguf = gguf_open(path, &unused);
    const struct gguf_value *const value = gguf ? gguf_find(gguf, wanted) : NULL;
    gguf_text(value, text, size);
    gguf_close(gguf);
    return value != NULL;
}
