/* External data: weights in files beside the model. A model may name only files in its own folder or below it. Each part of the
 * path is opened by itself and not followed if it is a link, so that nothing outside can be reached. */
#ifndef ORCHARD_SIM_BASE_FILE_BELOW_H
#define ORCHARD_SIM_BASE_FILE_BELOW_H

#include "sim/base/error.h"

#include <stddef.h>
#include <stdint.h>

/* Reads a part of the file `location`, a path below the folder that `path` is in. */
bool file_below_read(const char *path, const char *location, uint64_t offset, uint8_t *to, size_t bytes,
                     struct orch_error *error);
bool file_below_length(const char *path, const char *location, uint64_t *bytes, struct orch_error *error);

#endif
