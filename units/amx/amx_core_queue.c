/* Work that is held back: batches per accumulator, and the rings that renamed X and Y registers live in. */
#include "units/amx/amx_core_state.h"

void amx_queue_run(struct amx_core *core, unsigned accumulator)
{
    const unsigned count = core->queued[accumulator];
    if (count == 0)
        return;
    const struct amx_batch batch = {.x = core->x_bytes, .y = core->y_bytes, .pairs = core->queue[accumulator],
                                    .count = count, .flags = core->pending_key >> 8};
    core->queued[accumulator] = 0;
    core->kernels->outer[core->pending_key & 0xff](core->z, accumulator, &batch);
}

void amx_queue_finish(struct amx_core *core)
{
    uint64_t any;
    memcpy(&any, core->queued, sizeof any);
    if (any == 0)
        return;
    for (unsigned a = 0; a < AMX_ACCUMULATORS; a++)
        amx_queue_run(core, a);
}
_Static_assert(AMX_ACCUMULATORS == sizeof(uint64_t), "the queue lengths are tested as one word");
_Static_assert(AMX_QUEUE_LIMIT < 256, "a queue length fits a byte");

/* Registers still in slots 0..7 are where they belong: such a slot only ever holds the register of its number. */
static void settle_ring(struct amx_ring *ring)
{
    for (uint32_t n = 0; n < 8; n++) {
        const uint32_t home = n * AMX_ROW_BYTES;
        if (ring->slot[n] != home) {
            memcpy(ring->bytes + home, ring->bytes + ring->slot[n], AMX_ROW_BYTES);
            ring->slot[n] = home;
        }
    }
    ring->next = AMX_POOL_BYTES;
}

void amx_core_settle(struct amx_core *core)
{
    amx_queue_finish(core);
    settle_ring(&core->x);
    settle_ring(&core->y);
}
