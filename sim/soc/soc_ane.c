/* The Neural Engine of a chip, opened when something runs on it: its timing model and the path of its DMA to memory. */
#include "sim/soc/soc_internal.h"

#include "sim/chip/chip_units.h"

/* A buffer without an address lies in the region of its base register; regions are 1 << REGION_BITS bytes apart. */
#define REGION_BITS 40

static double stream_ns(void *context, unsigned bar, uint64_t offset, uint64_t bytes, bool write, uint64_t *held)
{
    const struct soc_ane *const ane = context;
    const uint64_t base = bar < ANE_BARS ? ane->address[bar] : 0;
    return mem_bulk_ns(ane->bulk, (base ? base : (uint64_t)(bar + 1) << REGION_BITS) + offset, bytes, write, held);
}

struct soc_ane *soc_ane(struct soc *soc, struct orch_error *error)
{
    struct soc_ane *const ane = &soc->ane;
    if (ane->timing)
        return ane;
    if (!chip_ane_params(soc->chip, &ane->params, error))
        return NULL;
    if (!ane->bulk)
        ane->bulk = mem_bulk_create(soc->memory);
    const struct ane_memory memory = {ane, stream_ns};
    if (ane->bulk)
        ane->timing = ane_timing_create(&ane->params, &memory);
    if (!ane->timing) {
        orch_fail(error, ORCH_INTERNAL, "cannot create the model of the Neural Engine: out of memory or a parameter is zero");
        return NULL;
    }
    return ane;
}
