/* What a memory system has counted on behalf of one port, so that counts of some accesses can stand for those of more: between
 * the timed parts of a sample only the latest accesses are made, which decide what caches hold, and they count for all.
 */
#ifndef ORCHARD_UNITS_MEM_TALLY_H
#define ORCHARD_UNITS_MEM_TALLY_H

#include "units/mem/mem_timing.h"

struct mem_tally {
    struct mem_counters port;
    uint64_t l1_read_bytes, l1_write_bytes;
    uint64_t l2_read_bytes, l2_write_bytes, writebacks;
    uint64_t untimed_bytes[MEM_DIES_MAX], die_writebacks[MEM_DIES_MAX];
    struct activity activity;
    struct mem_traffic traffic;
};

void mem_tally_take(const struct mem_port *port, struct mem_tally *tally);
/* What was counted since the tally was taken counts so many times as much from now on. */
void mem_tally_stretch(struct mem_port *port, const struct mem_tally *since, double factor);
/* Lines that the caches hold on the way of the port: no older access decides what they hold. */
uint64_t mem_port_lines(const struct mem_port *port);

#endif
