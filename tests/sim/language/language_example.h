/* What suites of sim/language share: files in memory, golden files, GGUF files made here. */
#ifndef ORCHARD_TESTS_SIM_LANGUAGE_LANGUAGE_EXAMPLE_H
#define ORCHARD_TESTS_SIM_LANGUAGE_LANGUAGE_EXAMPLE_H

#include "sim/base/file_read.h"
#include "sim/base/gzip.h"
#include "sim/language/gguf.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct example_file {
    uint8_t *bytes;
    size_t size;
};

/* A file, unpacked when it is compressed; false when there is none. */
static inline bool example_read(const char *path, struct example_file *file)
{
    struct orch_error error = {0};
    FILE *const in = fopen(path, "rb");
    if (!in)
        return false;
    const bool ok =
        file_read_all(in, (size_t)1 << 30, &file->bytes, &file->size) && gzip_unpack(&file->bytes, &file->size, &error);
    fclose(in);
    CHECK(ok, "%s: %s", path, error.text);
    return ok;
}

/* From tests/golden/language, else from the folder of additional public data. */
static inline bool example_golden(const char *name, struct example_file *file)
{
    char place[256], shared[256];
    snprintf(place, sizeof place, "language/%s", name);
    snprintf(shared, sizeof shared, "models/llm/%s", name);
    const char *const other = suite_shared(shared);
    return example_read(suite_golden(place), file) || (other && example_read(other, file));
}

/* Bytes of a file that a test writes. */
struct example_writer {
    uint8_t bytes[1 << 16];
    size_t size;
};

static inline void example_bytes(struct example_writer *w, const void *bytes, size_t size)
{
    if (w->size + size <= sizeof w->bytes && size)
        memcpy(w->bytes + w->size, bytes, size);
    w->size += size;
}

static inline void example_u32(struct example_writer *w, uint32_t number)
{
    example_bytes(w, &number, sizeof number);
}

static inline void example_u64(struct example_writer *w, uint64_t number)
{
    example_bytes(w, &number, sizeof number);
}

static inline void example_string(struct example_writer *w, const char *text)
{
    example_u64(w, strlen(text));
    example_bytes(w, text, strlen(text));
}

static inline void example_header(struct example_writer *w, uint32_t version, uint64_t tensors, uint64_t values)
{
    w->size = 0;
    example_bytes(w, "GGUF", 4);
    example_u32(w, version);
    example_u64(w, tensors);
    example_u64(w, values);
}

static inline void example_key(struct example_writer *w, const char *key, uint32_t type)
{
    example_string(w, key);
    example_u32(w, type);
}

static inline void example_number(struct example_writer *w, const char *key, uint32_t number)
{
    example_key(w, key, GGUF_U32);
    example_u32(w, number);
}

static inline void example_text(struct example_writer *w, const char *key, const char *text)
{
    example_key(w, key, GGUF_STRING);
    example_string(w, text);
}

static inline void example_strings(struct example_writer *w, const char *key, const char *const *item, size_t count)
{
    example_key(w, key, GGUF_ARRAY);
    example_u32(w, GGUF_STRING);
    example_u64(w, count);
    for (size_t i = 0; i < count; i++)
        example_string(w, item[i]);
}

static inline void example_tensor(struct example_writer *w, const char *name, unsigned dims, const uint64_t *shape, uint32_t type,
                                  uint64_t offset)
{
    example_string(w, name);
    example_u32(w, dims);
    for (unsigned i = 0; i < dims; i++)
        example_u64(w, shape[i]);
    example_u32(w, type);
    example_u64(w, offset);
}

/* Zeros up to a multiple of 32. */
static inline void example_align(struct example_writer *w)
{
    while (w->size % 32)
        example_bytes(w, "", 1);
}

#endif
