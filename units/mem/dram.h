/* DRAM of one die: channels with a peak rate, and the share of it that a mix of reads and writes reaches. Banks and rows are not
 * modelled: their mean effect is part of the latency and of the two efficiencies.
 */
#ifndef ORCHARD_UNITS_MEM_DRAM_H
#define ORCHARD_UNITS_MEM_DRAM_H

#include "units/mem/mem_queue.h"
#include "units/mem/mem_timing.h"

struct mem_dram {
    uint32_t channels;
    uint32_t channel_mask; /* channels - 1 when that is a power of two, else 0 */
    struct mem_link *channel;
    double peak_ns_per_byte;      /* of one channel */
    double read_cost, mixed_cost; /* 1 / efficiency */
    double write_share;           /* of recent traffic, 0..1 */
};

bool mem_dram_init(struct mem_dram *dram, const struct mem_params *params);
void mem_dram_release(struct mem_dram *dram);
void mem_dram_restart(struct mem_dram *dram, double now_ns);
/* Returns the channel of a line. The lines of a page go round the channels. A hash of the page, which the caller has at hand,
 * decides where the page begins, so that strides do not pile up on one channel. */
static inline uint32_t mem_dram_channel(const struct mem_dram *dram, uint64_t line, uint64_t page_hash)
{
    const uint64_t at = line + page_hash;
    return (uint32_t)(dram->channel_mask ? at & dram->channel_mask : at % dram->channels);
}

/* Moves `bytes` of a line over a channel. Returns when the channel starts on it. */
double mem_dram_take(struct mem_dram *dram, double now_ns, uint32_t channel, uint32_t bytes, bool write);

#endif
