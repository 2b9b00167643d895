/* DRAM of one die: channels with a peak rate, and how much of it a mix of reads and writes can use. Banks and rows are
 * not modelled: their mean effect is in the latency and in the two efficiencies.
 */
#ifndef ORCHARD_UNITS_MEM_DRAM_H
#define ORCHARD_UNITS_MEM_DRAM_H

#include "units/mem/mem_queue.h"
#include "units/mem/mem_timing.h"

struct mem_dram {
    uint32_t channels;
    struct mem_link *channel;
    double peak_ns_per_byte;      /* of one channel */
    double read_cost, mixed_cost; /* 1 / efficiency */
    double write_share;           /* of recent traffic, 0..1 */
};

bool mem_dram_init(struct mem_dram *dram, const struct mem_params *params);
void mem_dram_release(struct mem_dram *dram);
void mem_dram_restart(struct mem_dram *dram, double now_ns);
/* The channel of a line. */
uint32_t mem_dram_channel(const struct mem_dram *dram, uint64_t line);
/* Moves `bytes` of a line; returns when the channel starts on it. */
double mem_dram_take(struct mem_dram *dram, double now_ns, uint64_t line, uint32_t bytes, bool write);

#endif
