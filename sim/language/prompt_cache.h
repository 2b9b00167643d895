/* Files with keys and values of a prompt.
 *
 *     head, tokens (u32), logits behind the last token (f32), for each layer the keys of all tokens, then the values, checksum
 *
 * A file belongs to a model (a checksum of its weights) and to the type of its values. Numbers are in the order of bytes of the
 * host, as GGUF has them. */
#ifndef ORCHARD_SIM_LANGUAGE_PROMPT_CACHE_H
#define ORCHARD_SIM_LANGUAGE_PROMPT_CACHE_H

#include "sim/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROMPT_CACHE_MAGIC "ORCHKV1\n"

struct prompt_cache_head {
    char magic[8];
    uint64_t model;
    uint32_t layers, row, value_bytes, vocabulary, tokens, unused;
};

/* What a model's cache looks like. */
struct prompt_cache_shape {
    uint64_t model;                                /* checksum of its weights */
    uint32_t layers, row, value_bytes, vocabulary; /* row: values of a token's keys in a layer */
};

/* The contents of a file, in its bytes. */
struct prompt_cache_view {
    uint32_t tokens;
    const uint8_t *token, *logits, *rows; /* u32; f32; for each layer the keys of all tokens, then the values */
};

/* Checks everything before anything is used. False with what is wrong; `path` is for messages. */
bool prompt_cache_view(const char *path, const uint8_t *bytes, size_t size, const struct prompt_cache_shape *shape,
                       struct prompt_cache_view *view, struct orch_error *error);

#endif
