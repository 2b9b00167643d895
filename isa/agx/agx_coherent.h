/* Device atomics of GPUs whose clusters or dies have caches of their own: the same code with one more bit in each. */
#ifndef ORCHARD_ISA_AGX_AGX_COHERENT_H
#define ORCHARD_ISA_AGX_AGX_COHERENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sets the coherency bit (45) of every device atomic from `begin` on, up to what is no instruction. False when there is none.
 * Source: Mesa, agx_device.c and agx_pack.c: generation 13 with several clusters, and parts of several dies, need it. */
bool agx_make_coherent(uint8_t *code, size_t begin, size_t bytes);

#endif
