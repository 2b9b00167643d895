/* Files that may be compressed: whatever starts like gzip is unpacked, everything else stays as it is. */
#ifndef ORCHARD_SIM_BASE_GZIP_H
#define ORCHARD_SIM_BASE_GZIP_H

#include "sim/base/error.h"

#include <stddef.h>
#include <stdint.h>

#define GZIP_UNPACKED_MAX (UINT64_C(1) << 30)

/* Replaces *bytes (malloc) by what it unpacks to. False with exit code 2 when the stream is damaged or larger than
 * GZIP_UNPACKED_MAX; *bytes is still the caller's then. */
bool gzip_unpack(uint8_t **bytes, size_t *size, struct orch_error *error);

#endif
