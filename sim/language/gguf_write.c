/* Format: ggml, docs/gguf.md. */
#include "sim/language/gguf_write.h"

#include <stdlib.h>
#include <string.h>

enum { HEADER_BYTES = 24, VALUES_AT = 16 };

static void put(struct gguf_writer *w, const void *bytes, size_t count)
{
    const size_t used = w->size ? w->size : HEADER_BYTES;
    if (used + count > w->room && !w->failed) {
        const size_t room = 2 * (used + count) + 1024;
        uint8_t *const grown = realloc(w->byte, room);
        w->failed = !grown;
        w->byte = grown ? grown : w->byte;
        w->room = grown ? room : w->room;
    }
    if (w->failed)
        return;
    if (count)
        memcpy(w->byte + used, bytes, count);
    w->size = used + count;
}

static void put_number(struct gguf_writer *w, uint64_t number, unsigned bytes)
{
    uint8_t little[8];
    for (unsigned i = 0; i < bytes; i++)
        little[i] = (uint8_t)(number >> 8 * i);
    put(w, little, bytes);
}

void gguf_put_string(struct gguf_writer *w, const char *text, size_t length)
{
    put_number(w, length, 8);
    put(w, text, length);
}

void gguf_put_u8(struct gguf_writer *w, uint8_t number)
{
    put_number(w, number, 1);
}

void gguf_put_u32(struct gguf_writer *w, uint32_t number)
{
    put_number(w, number, 4);
}

void gguf_put_f32(struct gguf_writer *w, float number)
{
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    put_number(w, bits, 4);
}

static void begin(struct gguf_writer *w, const char *key, enum gguf_type type)
{
    gguf_put_string(w, key, strlen(key));
    put_number(w, type, 4);
    w->values++;
}

void gguf_write_string(struct gguf_writer *w, const char *key, const char *text, size_t length)
{
    begin(w, key, GGUF_STRING);
    gguf_put_string(w, text, length);
}

void gguf_write_u32(struct gguf_writer *w, const char *key, uint32_t number)
{
    begin(w, key, GGUF_U32);
    gguf_put_u32(w, number);
}

void gguf_write_bool(struct gguf_writer *w, const char *key, bool on)
{
    begin(w, key, GGUF_BOOL);
    put_number(w, on, 1);
}

void gguf_write_array(struct gguf_writer *w, const char *key, enum gguf_type item, uint64_t count)
{
    begin(w, key, GGUF_ARRAY);
    put_number(w, item, 4);
    put_number(w, count, 8);
}

uint8_t *gguf_write_end(struct gguf_writer *w, size_t *size, struct orch_error *error)
{
    static const uint8_t start[VALUES_AT] = {'G', 'G', 'U', 'F', 3}; /* version 3, no tensors */
    uint8_t *const bytes = w->byte;
    put(w, NULL, 0);
    if (w->failed || !bytes) {
        free(bytes);
        orch_no_memory(error);
        *w = (struct gguf_writer){0};
        return NULL;
    }
    memcpy(bytes, start, sizeof start);
    for (unsigned i = 0; i < 8; i++)
        bytes[VALUES_AT + i] = (uint8_t)(w->values >> 8 * i);
    *size = w->size;
    *w = (struct gguf_writer){0};
    return bytes;
}
