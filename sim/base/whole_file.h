/* Files that are either written whole or not at all: written beside their place, renamed at the end. */
#ifndef ORCHARD_SIM_BASE_WHOLE_FILE_H
#define ORCHARD_SIM_BASE_WHOLE_FILE_H

#include "sim/base/error.h"

#include <stdio.h>

struct whole_file {
    FILE *file;
    char *path, *temporary;
};

/* Opens PATH.partPROCESS for writing. */
bool whole_file_open(struct whole_file *w, const char *path, struct orch_error *error);
/* Closes and renames; on failure nothing is left. */
bool whole_file_commit(struct whole_file *w, struct orch_error *error);
/* Closes and deletes what was written; harmless after commit and on one that was never opened but zeroed. */
void whole_file_discard(struct whole_file *w);

#endif
