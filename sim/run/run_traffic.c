/* Where the bytes of a run went: counters by unit and level, by die, and over the link between two dies. */
#include "sim/run/run_internal.h"

#include "sim/chip/chip_units.h"

#include <math.h>
#include <stdio.h>

static const char *const flow_names[MEM_FLOW_COUNT] = {
    [MEM_FLOW_L2] = "l2",         [MEM_FLOW_FABRIC_READ] = "fabric_read", [MEM_FLOW_FABRIC_WRITE] = "fabric_write",
    [MEM_FLOW_REMOTE] = "remote", [MEM_FLOW_DRAM_READ] = "dram_read",     [MEM_FLOW_DRAM_WRITE] = "dram_write",
};
static const char *const die_names[MEM_DIE_FLOW_COUNT] = {
    [MEM_DIE_SLC] = "slc",
    [MEM_DIE_DRAM_READ] = "dram_read",
    [MEM_DIE_DRAM_WRITE] = "dram_write",
    [MEM_DIE_LINK] = "link",
};

/* AMX blocks share the path of their cluster. The clusters after those of the CPU belong to the GPU. */
static const char *unit_of(unsigned requester, unsigned cpu_clusters)
{
    return requester < cpu_clusters ? "cpu" : requester < MEM_CLUSTERS_MAX ? "gpu" : "ane";
}

/* Zeros get no counter. */
static bool add_bytes(struct run_values *to, const char *who, const char *what, uint64_t bytes)
{
    char name[64];
    snprintf(name, sizeof name, "traffic.%s.%s_bytes", who, what);
    return bytes == 0 || run_values_add(to, name, (double)bytes);
}

/* How much more than the mean the busier of two carries. */
static double imbalance(double a, double b)
{
    return a + b > 0 ? 2 * fmax(a, b) / (a + b) - 1 : 0;
}

static double fabric_bytes(const struct mem_traffic *t, unsigned requester)
{
    return (double)(t->requester[requester][MEM_FLOW_FABRIC_READ] + t->requester[requester][MEM_FLOW_FABRIC_WRITE]);
}

static bool add_dies(const struct mem_traffic *t, unsigned gpu, struct run_values *to)
{
    double dram[MEM_DIES_MAX] = {0};
    bool ok = true;
    for (unsigned d = 0; d < MEM_DIES_MAX; d++) {
        char who[8];
        snprintf(who, sizeof who, "die%u", d);
        for (unsigned f = 0; f < MEM_DIE_FLOW_COUNT; f++)
            ok &= add_bytes(to, who, die_names[f], t->die[d][f]);
        dram[d] = (double)(t->die[d][MEM_DIE_DRAM_READ] + t->die[d][MEM_DIE_DRAM_WRITE]);
    }
    if (dram[0] + dram[1] > 0)
        ok &= run_values_add(to, "traffic.dram_imbalance", imbalance(dram[0], dram[1]));
    if (gpu + 1 < MEM_CLUSTERS_MAX && fabric_bytes(t, gpu) + fabric_bytes(t, gpu + 1) > 0)
        ok &= run_values_add(to, "traffic.gpu.imbalance", imbalance(fabric_bytes(t, gpu), fabric_bytes(t, gpu + 1)));
    return ok;
}

bool run_add_traffic(const struct chip *chip, const struct mem_traffic *t, struct run_values *to)
{
    struct chip_clusters clusters;
    double dies = 1;
    bool ok = true;
    if (!chip_clusters(chip, &clusters, NULL))
        return true;
    for (unsigned r = 0; r < MEM_REQUESTERS; r++)
        for (unsigned f = 0; f < MEM_FLOW_COUNT; f++)
            ok &= add_bytes(to, unit_of(r, clusters.count), flow_names[f], t->requester[r][f]);
    if (chip_number(chip, "dies", &dies, NULL) && dies > 1)
        ok &= add_dies(t, clusters.count, to);
    return ok;
}
