/* Metadata that stands under the name of an architecture: "bert.block_count". Reads stop at the first error. */
#ifndef ORCHARD_SIM_LANGUAGE_GGUF_KEYS_H
#define ORCHARD_SIM_LANGUAGE_GGUF_KEYS_H

#include "sim/language/gguf.h"

enum { GGUF_KEY_BYTES = 128, GGUF_ARCHITECTURE_BYTES = 64 };

/* general.architecture, "" when there is none. Control characters, which no name has, are written as ?. */
void gguf_architecture(const struct gguf *gguf, char text[GGUF_ARCHITECTURE_BYTES]);

struct gguf_keys {
    const struct gguf *gguf;
    const char *architecture;
    struct orch_error *error;
    bool ok;
};

/* The value of `name`, whose whole key is written into `key`; NULL when there is none. */
const struct gguf_value *gguf_key(const struct gguf_keys *k, const char *name, char key[GGUF_KEY_BYTES]);
/* An integer from 1 to `most`; of an array, whose items stand for layers, all have to be the same. `absent` 0: it must be there.
 */
unsigned gguf_key_whole(struct gguf_keys *k, const char *name, uint64_t most, unsigned absent);
double gguf_key_number(struct gguf_keys *k, const char *name, double low, double high, double absent);

#endif
