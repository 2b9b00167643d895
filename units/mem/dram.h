/* DRAM of one die: channels of 16 bits (dram_channel.h), and where a line lies in them. */
#ifndef ORCHARD_UNITS_MEM_DRAM_H
#define ORCHARD_UNITS_MEM_DRAM_H

#include "units/mem/dram_channel.h"
#include "units/mem/mem_timing.h"

struct mem_dram {
    uint32_t channels;
    uint32_t channel_mask; /* channels - 1 when that is a power of two, else 0 */
    struct dram_channel *channel;
    struct dram_timing timing;
    struct dram_policy policy;
    int bank_shift; /* so many low bits of a line's number in its channel choose a column, before those of the bank */
    double clock_ns, clocks_per_ns;
    double origin_ns;       /* the channels' clock 0 */
    uint64_t untimed_bytes; /* moved while time stood still, since counts were last taken */
    double way_ns; /* from the L2 to the channel and back: what is left of the latency when the device's part is taken off */
};

bool mem_dram_init(struct mem_dram *dram, const struct mem_params *params);
void mem_dram_release(struct mem_dram *dram);
/* Forgets what is under way: all rows closed, nothing posted. Time goes on from now_ns. */
void mem_dram_restart(struct mem_dram *dram, double now_ns);
/* Returns the channel of a line. The lines of a page go round the channels. A hash of the page, which the caller has at hand,
 * decides where the page begins, so that strides do not pile up on one channel. */
static inline uint32_t mem_dram_channel(const struct mem_dram *dram, uint64_t line, uint64_t page_hash)
{
    const uint64_t at = line + page_hash;
    return (uint32_t)(dram->channel_mask ? at & dram->channel_mask : at % dram->channels);
}

/* Reads `bytes` of a line over its channel. Returns when they are back at the L2. */
double mem_dram_read(struct mem_dram *dram, double now_ns, uint32_t channel, uint64_t line, uint32_t bytes);
/* Writes them. Returns when the channel has accepted them: at once, unless it is behind. */
double mem_dram_write(struct mem_dram *dram, double now_ns, uint32_t channel, uint64_t line, uint32_t bytes);
/* Adds what the channels did since the last call. Bytes moved while time stood still count with as many activates as the others.
 */
void mem_dram_take_counts(struct mem_dram *dram, struct dram_counts *into);
/* The same without beginning anew: nobody's later answer hangs on whether this was asked. */
void mem_dram_counts(const struct mem_dram *dram, struct dram_counts *into);

#endif
