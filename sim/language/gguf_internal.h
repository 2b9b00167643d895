/* What the files of the GGUF reader share. */
#ifndef ORCHARD_SIM_LANGUAGE_GGUF_INTERNAL_H
#define ORCHARD_SIM_LANGUAGE_GGUF_INTERNAL_H

#include "sim/language/gguf.h"
#include "sim/language/mapped_file.h"

struct gguf {
    char *name;
    uint32_t version, alignment;
    struct mapped_files files;
    struct gguf_value *value;
    size_t values, value_room;
    struct weight_list weights;
};

/* Bytes of a number of this type; 0 for strings and arrays. */
unsigned gguf_type_bytes(enum gguf_type type);
/* Adds the metadata (of the first part alone) and the tensors of a file that is in memory. */
bool gguf_read(struct gguf *gguf, const uint8_t *bytes, size_t size, unsigned part, struct orch_error *error);

#endif
