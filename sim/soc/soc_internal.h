/* The contents of struct soc, for the files of sim/soc only. */
#ifndef ORCHARD_SIM_SOC_SOC_INTERNAL_H
#define ORCHARD_SIM_SOC_SOC_INTERNAL_H

#include "sim/chip/chip_units.h"
#include "sim/soc/soc.h"

#define CORES_MAX 64

struct soc {
    const struct chip *chip;
    enum amx_gen gen;
    struct chip_clusters clusters;
    struct mem_system *memory;
    struct amx_block *block[MEM_CLUSTERS_MAX];
    bool opened[MEM_CLUSTERS_MAX];   /* clusters whose cores have their timing models */
    struct soc_core core[CORES_MAX]; /* cluster by cluster */
    unsigned core_count;
    bool has_gpu_memory;
    unsigned gpu_cluster; /* cluster number of the GPU's first L2 in the memory system */
    struct soc_gpu gpu;
    struct soc_ane ane;
};

#endif
