#include "sim/soc/dram_share.h"

struct dram_share dram_share_of(const struct mem_params *m)
{
    return (struct dram_share){m->dram_peak_gbps, mem_dram_stream_gbps(m, 0), mem_dram_stream_gbps(m, 0.5)};
}

double dram_share_bytes(const struct dram_share *s, double read, double written)
{
    const double share = read + written > 0 ? written / (read + written) : 0;
    const double mixed = share < 0.5 ? 2 * share : 1;
    const double pure = s->peak_gbps / s->read_gbps, turned = s->peak_gbps / s->mixed_gbps;
    return (read + written) * (pure + mixed * (turned - pure));
}
