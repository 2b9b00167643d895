/* Files that are mapped whole, for reading. */
#ifndef ORCHARD_SIM_LANGUAGE_MAPPED_FILE_H
#define ORCHARD_SIM_LANGUAGE_MAPPED_FILE_H

#include "sim/base/error.h"

#include <stddef.h>
#include <stdint.h>

struct mapped_file {
    const uint8_t *bytes;
    size_t size;
    bool mapped; /* false: the bytes are the caller's */
};

/* Errors begin with the path. An empty file is one. */
bool mapped_file_open(struct mapped_file *file, const char *path, struct orch_error *error);
void mapped_file_close(struct mapped_file *file);

/* Several of them, which grow one by one. */
struct mapped_files {
    struct mapped_file *file;
    size_t count, room;
};

bool mapped_files_add(struct mapped_files *files, struct mapped_file file, struct orch_error *error);
uint64_t mapped_files_bytes(const struct mapped_files *files);
void mapped_files_close(struct mapped_files *files);

#endif
