/* Long streams of a requester without caches of its own (the Neural Engine's DMA), at steady rates instead of line by line: what
 * the SLC holds of a stream, by blocks and by what came in since, and what DRAM moves.
 *
 * This is simpler than a port (mem_timing.h): in the SLC, streams see only the traffic of streams, one at a time and without
 * latency. Of two dies the requester is on the first; what the other one holds takes the link.
 */
#ifndef ORCHARD_UNITS_MEM_MEM_BULK_H
#define ORCHARD_UNITS_MEM_MEM_BULK_H

#include "units/mem/mem_timing.h"

#define MEM_BULK_BLOCK (64u * 1024u)

struct mem_bulk;
/* Traffic is counted with that of the system (mem_system_take_activity). NULL when memory is out. */
struct mem_bulk *mem_bulk_create(struct mem_system *system);
void mem_bulk_free(struct mem_bulk *bulk);
/* Time in ns that the memory side takes for `bytes` from (write: to) `address`, requested back to back. `held`: those that the
 * SLC had. */
double mem_bulk_ns(struct mem_bulk *bulk, uint64_t address, uint64_t bytes, bool write, uint64_t *held);
/* Empties the SLC of what earlier streams left there. */
void mem_bulk_flush(struct mem_bulk *bulk);

#endif
