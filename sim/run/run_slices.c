#include "sim/run/run_slices.h"

#include "sim/chip/chip_units.h"

#include <math.h>

bool run_slices_open(struct run_slices *s, const struct chip *chip, struct orch_error *error)
{
    struct mem_params memory;
    *s = (struct run_slices){.slices = NULL};
    if (!chip_mem_params(chip, NULL, &memory, error))
        return false;
    const double dies = memory.dies;
    const struct fair_resource resource[RUN_SHARED] = {
        [RUN_SLC] = {"slc", memory.slc.kib ? dies * memory.slc_gbps : INFINITY, FAIR_LINE_BYTES},
        [RUN_DRAM] = {"dram", dies * memory.dram_peak_gbps, FAIR_LINE_BYTES}};
    s->share = dram_share_of(&memory);
    for (unsigned j = 0; j < RUN_SHARED; j++)
        s->capacity[j] = resource[j].capacity_gbps;
    s->slices = slices_create(resource, RUN_SHARED);
    return s->slices || orch_no_memory(error);
}

void run_slices_close(struct run_slices *s)
{
    slices_free(s->slices);
}

int run_slices_add(struct run_slices *s, const struct run_piece *p, int queue, const int *after, size_t afters)
{
    const double dram = dram_share_bytes(&s->share, p->dram_read_bytes, p->dram_written_bytes);
    /* With bursts a mean rate may come out above the capacity, although that sufficed when alone. */
    const double bytes[RUN_SHARED] = {
        [RUN_SLC] = fmin(p->slc_bytes, p->ns * s->capacity[RUN_SLC]), [RUN_DRAM] = fmin(dram, p->ns * s->capacity[RUN_DRAM])};
    const struct slice slice = {.name = "kernel", .queue = queue, .alone_ns = p->ns, .bytes = bytes, .requesters = 1};
    return slices_add(s->slices, &slice, after, afters);
}

int run_slices_wait(struct run_slices *s, const char *name, double ns, const int *after, size_t afters)
{
    const struct slice wait = {.name = name, .queue = SLICES_NO_QUEUE, .alone_ns = ns};
    return slices_add(s->slices, &wait, after, afters);
}
