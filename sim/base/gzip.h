/* Files that may be compressed: bytes that start with the magic of gzip are unpacked, all others stay as they are. */
#ifndef ORCHARD_SIM_BASE_GZIP_H
#define ORCHARD_SIM_BASE_GZIP_H

#include "sim/base/error.h"

#include <stddef.h>
#include <stdint.h>

#define GZIP_UNPACKED_MAX (UINT64_C(1) << 30)

/* Replaces *bytes, which malloc returned, with the unpacked content. False with ORCH_USAGE when the stream is damaged or unpacks
 * to more than GZIP_UNPACKED_MAX; the caller still owns *bytes then. */
bool gzip_unpack(uint8_t **bytes, size_t *size, struct orch_error *error);

#endif
