/* SentencePiece's table of characters that texts replace: a double array of bytes, and what to put in their place. */
#ifndef ORCHARD_SIM_LANGUAGE_CHARSMAP_H
#define ORCHARD_SIM_LANGUAGE_CHARSMAP_H

#include "sim/language/gguf.h"

struct charsmap {
    const uint8_t *trie; /* units of four bytes; NULL = nothing is replaced */
    uint32_t units;
    const char *replacement; /* texts that end with a zero each, as does the last */
    size_t replacement_bytes;
};

/* The bytes of the key tokenizer.ggml.precompiled_charsmap; NULL or an empty array = an empty table. */
bool charsmap_read(struct charsmap *map, const struct gguf_value *value, struct orch_error *error);
/* The longest beginning of a text that the table replaces, and by what; 0 = none. */
size_t charsmap_find(const struct charsmap *map, const char *text, size_t length, const char **by);

#endif
