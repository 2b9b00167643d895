/* Disassembly of GPU code: a raw image from its first byte, or the parts that a launch description names. */
#ifndef ORCHARD_SIM_WORKLOAD_GPU_AGX_LISTING_H
#define ORCHARD_SIM_WORKLOAD_GPU_AGX_LISTING_H

#include "sim/workload/gpu/abi_kernel.h"

struct agx_listing_line {
    const char *part; /* not NULL: "main", "preamble" or "constants" begins here */
    uint32_t offset;  /* byte offset in the image */
    char bytes[32];   /* hex digits, in memory order */
    const char *text; /* the instruction; ".half 0x..." for what does not decode */
};
struct agx_listing_sink {
    void (*line)(void *context, const struct agx_listing_line *line);
    void *context;
};

/* Lists every instruction from byte 0 to the end. */
void agx_listing_image(const uint8_t *code, size_t bytes, const struct agx_listing_sink *sink);
/* Lists constants as half-words, then each program up to the next part or to the first trap after a stop. */
void agx_listing_kernel(const struct abi_kernel *kernel, const struct agx_listing_sink *sink);

#endif
