/* Objects and archives become one object, with the runtime where something asks for it. */
#ifndef ORCHARD_SIM_WORKLOAD_CPU_PROGRAM_LINK_H
#define ORCHARD_SIM_WORKLOAD_CPU_PROGRAM_LINK_H

#include "sim/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct program_link_file {
    const char *path;
    const uint8_t *bytes;
    size_t size;
};

bool program_is_archive(const void *bytes, size_t size);
/* Whether a file has to be linked before it is loaded: an archive, or an object that does not define all it uses. */
bool program_needs_link(const void *bytes, size_t size);
/* Returns the joined object, from malloc; NULL with *error. `entry` (may be NULL) is looked for in archives, too. */
uint8_t *program_link(const struct program_link_file *files, size_t count, const char *entry, size_t *size,
                      struct orch_error *error);

#endif
