/* Loads of a loop that run over arrays: each period touches the next lines of each array. Where whole pages are known to be in L2
 * (mem_later.h), many periods are accounted for at once; for the files mem_st*.c only.
 */
#ifndef ORCHARD_UNITS_MEM_MEM_STREAMS_H
#define ORCHARD_UNITS_MEM_MEM_STREAMS_H

#include "units/mem/mem_steady.h"

/* False when the loads are not made of streams from L2, or L2 cannot keep notes. */
bool mem_streams_find(struct mem_steady *steady);
/* Returns how many of the next periods stay in pages of which all lines are known. 0 when they must be looked at line by line,
 * and then *apart is how many. Changes nothing but the ages of translations. */
uint32_t mem_streams_known(struct mem_steady *steady, uint32_t most, uint32_t *apart);
/* Touches the lines of that many known periods and goes on behind them; the second function only goes on. */
void mem_streams_touch(struct mem_steady *steady, uint32_t periods);
void mem_streams_advance(struct mem_steady *steady, uint32_t periods);

/* Handles a load that comes to another page. Returns true when the first level of the TLB knows the page. Pages that share a hint
 * displace each other, which only mem_port_access models. */
bool mem_steady_enter(const struct mem_steady *steady, uint64_t page);

#endif
