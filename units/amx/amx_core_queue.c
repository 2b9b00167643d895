/* Work that is held back: batches per accumulator, and the rings that hold renamed X and Y registers. */
#include "units/amx/amx_core_state.h"

void amx_queue_run(struct amx_core *core, unsigned accumulator)
{
    struct amx_pair *queue = core->queue[accumulator];
    const unsigned count = (unsigned)(core->tail[accumulator] - queue);
    if (count == 0)
        return;
    core->tail[accumulator] = queue;
    const struct amx_batch batch = {.pairs = queue, .count = count, .passes = 1};
    amx_queue_apply(core, accumulator, &batch);
}

void amx_queue_apply(struct amx_core *core, unsigned accumulator, const struct amx_batch *batch)
{
    struct amx_batch flagged = *batch;
    flagged.flags = core->pending_key >> 8;
    core->kernels->outer[core->pending_key & 0xff](core->z, accumulator, &flagged);
}

void amx_queue_finish(struct amx_core *core)
{
    for (unsigned a = 0; a < AMX_ACCUMULATORS; a++)
        amx_queue_run(core, a);
}

void amx_queue_drop(struct amx_core *core, unsigned accumulator)
{
    core->tail[accumulator] = core->queue[accumulator];
}

void amx_queue_set_kind(struct amx_core *core, uint32_t key)
{
    amx_queue_finish(core);
    core->pending_key = key;
    for (unsigned op = 0; op < AMX_OP_COUNT; op++)
        core->shape[op] = (struct amx_shape){.operand = 1}; /* with no fixed bits, no operand agrees */
}

/* Registers still in slots 0..7 are in place: such a slot only ever holds the register of its number. */
static void settle_ring(struct amx_ring *ring)
{
    for (unsigned n = 0; n < 8; n++) {
        uint8_t *home = ring->bytes + n * AMX_ROW_BYTES;
        if (ring->slot[n] != home) {
            memcpy(home, ring->slot[n], AMX_ROW_BYTES);
            ring->slot[n] = home;
        }
    }
    ring->next = ring->bytes + AMX_POOL_BYTES;
}

void amx_core_settle(struct amx_core *core)
{
    amx_queue_finish(core);
    settle_ring(&core->x);
    settle_ring(&core->y);
}
