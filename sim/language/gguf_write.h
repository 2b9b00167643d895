/* Metadata of GGUF files, written into memory: what other files say of a vocabulary, in the form that gguf_parse reads. */
#ifndef ORCHARD_SIM_LANGUAGE_GGUF_WRITE_H
#define ORCHARD_SIM_LANGUAGE_GGUF_WRITE_H

#include "sim/language/gguf.h"

struct gguf_writer {
    uint8_t *byte;
    size_t size, room;
    uint64_t values;
    bool failed; /* memory is out */
};

/* A writer starts zeroed. Values, by their keys; of an array as many items follow as were announced. */
void gguf_write_string(struct gguf_writer *w, const char *key, const char *text, size_t length);
void gguf_write_u32(struct gguf_writer *w, const char *key, uint32_t number);
void gguf_write_bool(struct gguf_writer *w, const char *key, bool on);
void gguf_write_array(struct gguf_writer *w, const char *key, enum gguf_type item, uint64_t count);
void gguf_put_string(struct gguf_writer *w, const char *text, size_t length);
void gguf_put_f32(struct gguf_writer *w, float number);
void gguf_put_u8(struct gguf_writer *w, uint8_t number);
void gguf_put_u32(struct gguf_writer *w, uint32_t number);
/* Completes the file. Its bytes are the caller's then; NULL = *error. */
uint8_t *gguf_write_end(struct gguf_writer *w, size_t *size, struct orch_error *error);

#endif
