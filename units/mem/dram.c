#include "units/mem/dram.h"

#include <stdlib.h>
#include <string.h>

/* The controller sees its queue, not the history: the mix is averaged over about this many lines. */
#define MIX_LINES 64.0
/* A smaller share adds nothing to any sum it enters. Without this limit it would shrink to denormals, which are slow on the host.
 */
#define LEAST_SHARE 1e-30

bool mem_dram_init(struct mem_dram *dram, const struct mem_params *params)
{
    memset(dram, 0, sizeof *dram);
    if (params->dram_channels == 0 || params->dram_peak_gbps <= 0.0 || params->dram_efficiency_read <= 0.0 ||
        params->dram_efficiency_mixed <= 0.0)
        return false;
    dram->channels = params->dram_channels;
    dram->channel_mask = (dram->channels & (dram->channels - 1)) == 0 ? dram->channels - 1 : 0;
    dram->peak_ns_per_byte = params->dram_channels / params->dram_peak_gbps;
    dram->read_cost = 1.0 / params->dram_efficiency_read;
    dram->mixed_cost = 1.0 / params->dram_efficiency_mixed;
    dram->channel = calloc(dram->channels, sizeof dram->channel[0]);
    return dram->channel != NULL;
}

void mem_dram_release(struct mem_dram *dram)
{
    free(dram->channel);
    memset(dram, 0, sizeof *dram);
}

void mem_dram_restart(struct mem_dram *dram, double now_ns)
{
    for (uint32_t i = 0; i < dram->channels; i++)
        mem_link_restart(&dram->channel[i], now_ns);
}

/* Time per byte relative to the peak: grows in proportion from pure reads to an even mix and stays constant beyond. */
static double mix_cost(const struct mem_dram *dram)
{
    const double mixed = dram->write_share < 0.5 ? 2.0 * dram->write_share : 1.0;
    return dram->read_cost + mixed * (dram->mixed_cost - dram->read_cost);
}

double mem_dram_take(struct mem_dram *dram, double now_ns, uint32_t channel, uint32_t bytes, bool write)
{
    dram->write_share += ((write ? 1.0 : 0.0) - dram->write_share) / MIX_LINES;
    if (dram->write_share < LEAST_SHARE)
        dram->write_share = 0.0;
    return mem_link_take_ns(&dram->channel[channel], now_ns, bytes * dram->peak_ns_per_byte * mix_cost(dram));
}
