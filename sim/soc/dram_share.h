/* How bytes count against the peak bandwidth of DRAM when several units share it: streams of reads reach less than the peak, and
 * a mix of reads and writes less than that, so their bytes count more. */
#ifndef ORCHARD_SIM_SOC_DRAM_SHARE_H
#define ORCHARD_SIM_SOC_DRAM_SHARE_H

#include "units/mem/mem_timing.h"

struct dram_share {
    double peak_gbps, read_gbps,
        mixed_gbps; /* of one die: the peak, what streams of reads reach, what half reads half writes do */
};

struct dram_share dram_share_of(const struct mem_params *memory);
/* Bytes that so many read and written ones count as. */
double dram_share_bytes(const struct dram_share *share, double read_bytes, double written_bytes);

#endif
