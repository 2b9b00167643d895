/* Buffers in the unified memory: a pool over a mem_space with size classes, so that freed blocks are found again quickly.
 *
 * Sizes are rounded up to a class: four classes per doubling, starting at one cache line. Blocks below a page share pages of
 * their class; larger ones have pages of their own. Freed blocks stay with their class until the pool is trimmed, which it also
 * does by itself before it refuses a request. A pool has a capacity, that of the machine, and reports how close to it it is: the
 * pressure.
 *
 * macOS manages its memory differently, with paging and compression; here, what does not fit is refused.
 */
#ifndef ORCHARD_UNITS_MEM_MEM_POOL_H
#define ORCHARD_UNITS_MEM_MEM_POOL_H

#include "units/mem/mem_params.inc"
#include "units/mem/mem_space.h"
#include "units/unit_params.h"

enum mem_pressure { MEM_PRESSURE_NOMINAL, MEM_PRESSURE_WARN, MEM_PRESSURE_CRITICAL };

struct mem_pool_params {
    uint64_t capacity_bytes; /* 0 = no limit, no pressure */
    MEM_SHARED_PARAMS(PARAM_NONE, PARAM_NONE, PARAM_MEMBER, PARAM_NONE)
};
enum mem_pressure mem_pressure_of(const struct mem_pool_params *params, uint64_t bytes);
const char *mem_pressure_name(enum mem_pressure pressure); /* "nominal" ... */

struct mem_pool;

/* The space stays the caller's and must outlive the pool. NULL when memory is out. */
struct mem_pool *mem_pool_create(struct mem_space *space, const struct mem_pool_params *params);
void mem_pool_free(struct mem_pool *pool);

/* Returns a zero-filled block of at least `bytes`, with pages of its own or aligned to a cache line. 0 when it does not fit the
 * capacity or the space. */
uint64_t mem_pool_alloc(struct mem_pool *pool, uint64_t bytes);
/* Returns false when no block in use begins there. */
bool mem_pool_release(struct mem_pool *pool, uint64_t address);
/* Gives pages of free blocks back to the space. Returns their bytes. */
uint64_t mem_pool_trim(struct mem_pool *pool);
/* Size in bytes of the class that serves a request: what the request costs. */
uint64_t mem_pool_class_bytes(uint64_t bytes);

struct mem_pool_stats {
    uint64_t used_bytes, used_peak_bytes;      /* blocks in use, counted by their class: now, and the high-water mark */
    uint64_t held_bytes, held_peak_bytes;      /* pages taken from the space, free blocks included */
    uint64_t blocks;                           /* in use */
    uint64_t reused, refused;                  /* requests served from freed blocks; requests refused */
    enum mem_pressure pressure, pressure_peak; /* by used_bytes */
};
void mem_pool_stats(const struct mem_pool *pool, struct mem_pool_stats *stats);

#endif
