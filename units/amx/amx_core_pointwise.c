/* Pointwise z + x*y on the fast path: fma and fms in vector mode and vecfp, one Z row per iteration, all formats equal. */
#include "units/amx/amx_core_state.h"

static amx_row_kernel *kernel_of(const struct amx_core *core, const struct amx_decoded *d)
{
    if (!d->vector || !amx_is_float(d) || d->alu > AMX_ALU_NEG_MUL || d->write_zero || d->in_fp != d->z_fp)
        return NULL;
    switch (d->z_fp) {
    case AMX_FP_F64: return core->kernels->row[AMX_OUTER_F64];
    case AMX_FP_F32: return core->kernels->row[AMX_OUTER_F32];
    case AMX_FP_F16: return core->kernels->row[AMX_OUTER_F16];
    default: return NULL;
    }
}

static const uint8_t *operand(const struct amx_ring *ring, const struct amx_decoded *d, const struct amx_input *in,
                              unsigned iteration, uint8_t space[AMX_ROW_BYTES])
{
    if (iteration == 0 && amx_is_whole_register(d, in))
        return ring->slot[in->offset / AMX_ROW_BYTES];
    amx_operand_fetch(ring, d, in, iteration, space);
    return space;
}

static void run_row(struct amx_core *core, const struct amx_decoded *d, amx_row_kernel *kernel, unsigned iteration)
{
    _Alignas(64) uint8_t x_space[AMX_ROW_BYTES], y_space[AMX_ROW_BYTES], before[AMX_ROW_BYTES];
    uint8_t *z = core->z[d->z_row + iteration * d->row_step];
    const uint8_t *x = operand(&core->x, d, &d->x, iteration, x_space);
    const uint8_t *y = operand(&core->y, d, &d->y, iteration, y_space);
    if (amx_negates_x(d)) {
        if (x != x_space)
            memcpy(x_space, x, sizeof x_space);
        x = x_space;
        amx_flip_signs(x_space, d->x.bytes);
    }
    const bool masked = d->x_mask != amx_all_lanes(AMX_ROW_BYTES / d->x.bytes);
    if (masked)
        memcpy(before, z, sizeof before);
    if (d->alu == AMX_ALU_MUL || d->alu == AMX_ALU_NEG_MUL) { /* -0 + x*y equals x*y in every bit */
        memset(z, 0, AMX_ROW_BYTES);
        amx_flip_signs(z, d->z_bytes);
    }
    kernel(z, x, y);
    if (masked)
        amx_put_back(z, before, amx_enabled_bytes(d, 1, 0));
}

bool amx_pointwise_execute(struct amx_core *core, const struct amx_decoded *d)
{
    amx_row_kernel *kernel = kernel_of(core, d);
    if (!kernel)
        return false;
    amx_queue_finish(core);
    for (unsigned q = 0; q < d->iterations; q++)
        run_row(core, d, kernel, q);
    return true;
}
