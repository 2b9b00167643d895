/* The file or folder that a workload names. */
#ifndef ORCHARD_SIM_RUN_RUN_FILE_H
#define ORCHARD_SIM_RUN_RUN_FILE_H

#include "sim/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct run_file {
    const char *path;
    bool is_folder;
    uint8_t *bytes; /* of a file, unpacked when it was gzip; NULL of a folder. free() */
    size_t size;
};

/* False with what is wrong: not there, not a regular file, larger than 1 GiB, unreadable. */
bool run_file_read(const char *path, struct run_file *file, struct orch_error *error);
void run_file_free(struct run_file *file);
/* Names what a file of no kind is, as far as its first bytes tell; returns false. */
bool run_file_refuse(const struct run_file *file, struct orch_error *error);

#endif
