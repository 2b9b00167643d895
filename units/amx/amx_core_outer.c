/* Outer products on the fast path that are not quite plain: their operands are built in fresh slots (offsets, lookups, shuffles,
 * sign changes), and masked ones run on a copy whose disabled elements are restored afterwards. */
#include "units/amx/amx_core_state.h"

static enum amx_outer float_kind(const struct amx_decoded *d)
{
    if (d->alu > AMX_ALU_NEG_MUL)
        return AMX_OUTER_NONE;
    switch (d->in_fp) {
    case AMX_FP_F64: return AMX_OUTER_F64;
    case AMX_FP_F32: return AMX_OUTER_F32;
    case AMX_FP_F16: return d->z_fp == AMX_FP_F32 ? AMX_OUTER_F16_F32 : AMX_OUTER_F16;
    default: return d->z_fp == AMX_FP_F32 ? AMX_OUTER_BF16_F32 : AMX_OUTER_BF16;
    }
}

static enum amx_outer mac16_kind(const struct amx_decoded *d, unsigned *flags)
{
    if (d->shift != 0 || d->skip_x || d->skip_y)
        return AMX_OUTER_NONE;
    *flags = (d->x.low_part ? AMX_X_LOW_BYTE : 0) | (d->y.low_part ? AMX_Y_LOW_BYTE : 0);
    return d->z_bytes == 4 ? AMX_OUTER_I16_I32 : AMX_OUTER_I16;
}

static enum amx_outer matint_kind(const struct amx_decoded *d, unsigned *flags)
{
    if (d->shift != 0)
        return AMX_OUTER_NONE;
    if (d->alu == AMX_INT_BYTES) {
        if (d->y.bytes != 1)
            return AMX_OUTER_NONE;
        *flags = (d->x.is_signed ? AMX_X_SIGNED : 0) | (d->y.is_signed ? AMX_Y_SIGNED : 0);
        return d->z_bytes == 4 ? AMX_OUTER_I8_I32 : AMX_OUTER_I8_I16;
    }
    if (d->alu != AMX_INT_ADD_MUL)
        return AMX_OUTER_NONE;
    if (d->z_bytes == 2)
        return AMX_OUTER_I16; /* modulo 2^16 the signs make no difference */
    return d->x.is_signed && d->y.is_signed ? AMX_OUTER_I16_I32 : AMX_OUTER_NONE;
}

enum amx_outer amx_outer_kind(const struct amx_decoded *d, unsigned *flags)
{
    *flags = 0;
    if (d->vector || d->write_zero)
        return AMX_OUTER_NONE;
    switch (d->op) {
    case AMX_MAC16: return mac16_kind(d, flags);
    case AMX_MATINT: return matint_kind(d, flags);
    default: return float_kind(d);
    }
}

unsigned amx_outer_accumulators(enum amx_outer kind)
{
    switch (kind) {
    case AMX_OUTER_F64: return 8;
    case AMX_OUTER_F32: return 4;
    case AMX_OUTER_F16:
    case AMX_OUTER_BF16:
    case AMX_OUTER_I16: return 2;
    default: return 1;
    }
}

static bool unmasked(const struct amx_decoded *d)
{
    return d->x_mask == amx_all_lanes(AMX_ROW_BYTES / d->x.bytes) && d->y_mask == amx_all_lanes(AMX_ROW_BYTES / d->y.bytes);
}

static bool replaces_z(const struct amx_decoded *d)
{
    return amx_is_float(d) ? d->alu == AMX_ALU_MUL || d->alu == AMX_ALU_NEG_MUL : d->keep_z_out;
}

bool amx_outer_is_plain(const struct amx_decoded *d)
{
    return unmasked(d) && !replaces_z(d) && !amx_negates_x(d) && amx_is_whole_register(d, &d->x) &&
           amx_is_whole_register(d, &d->y);
}

/* --- operands --- */

/* Writes the lanes of one operand to a fresh slot. */
static uint8_t *prepare_operand(struct amx_core *core, struct amx_ring *ring, const struct amx_decoded *d,
                                const struct amx_input *in)
{
    uint8_t *slot = amx_ring_take(core, ring, 1);
    amx_operand_fetch(ring, d, in, 0, slot);
    return slot;
}

static struct amx_pair prepare_pair(struct amx_core *core, const struct amx_decoded *d)
{
    /* Make room in both rings first: settling in between would hand out the first slot again. */
    if (!amx_ring_has(&core->x, 1) || !amx_ring_has(&core->y, 1))
        amx_core_settle(core);
    struct amx_pair pair = {core->x.slot[d->x.offset / AMX_ROW_BYTES], core->y.slot[d->y.offset / AMX_ROW_BYTES]};
    if (!amx_is_whole_register(d, &d->x) || amx_negates_x(d)) {
        uint8_t *x = prepare_operand(core, &core->x, d, &d->x);
        if (amx_negates_x(d))
            amx_flip_signs(x, d->x.bytes);
        pair.x = x;
    }
    if (!amx_is_whole_register(d, &d->y))
        pair.y = prepare_operand(core, &core->y, d, &d->y);
    return pair;
}

/* --- accumulators --- */

/* Sets z so that z + x*y equals x*y in every bit: -0 for floating point, 0 for integers. */
static void clear_accumulator(struct amx_core *core, const struct amx_decoded *d, unsigned accumulators, unsigned a)
{
    uint8_t row[AMX_ROW_BYTES] = {0};
    if (amx_is_float(d))
        amx_flip_signs(row, d->z_bytes);
    for (unsigned r = a; r < 64; r += accumulators)
        memcpy(core->z[r], row, sizeof row);
}

/* Restores the elements of accumulator a that the masks disable. */
static void restore_disabled(struct amx_core *core, const struct amx_decoded *d, const uint8_t (*before)[AMX_ROW_BYTES],
                             unsigned accumulators, unsigned a)
{
    const unsigned parts = d->z_bytes / d->x.bytes; /* Z rows per y lane when Z lanes are wider */
    amx_row_words enabled[4];
    for (unsigned part = 0; part < parts; part++)
        enabled[part] = amx_enabled_bytes(d, parts, part);
    for (unsigned r = a; r < 64; r += accumulators) {
        const unsigned j = r / (parts == 1 ? accumulators : parts);
        const unsigned y_lane = d->x.bytes == 1 ? j * parts : j; /* of byte lanes only every parts-th is used */
        if (d->y_mask >> y_lane & 1)
            amx_put_back(core->z[r], before[r], enabled[r % parts]);
        else
            memcpy(core->z[r], before[r], AMX_ROW_BYTES);
    }
}

static void run_masked(struct amx_core *core, const struct amx_decoded *d, enum amx_outer kind, unsigned flags, unsigned a,
                       struct amx_pair pair)
{
    const unsigned accumulators = amx_outer_accumulators(kind);
    uint8_t before[64][AMX_ROW_BYTES];
    amx_queue_run(core, a);
    for (unsigned r = a; r < 64; r += accumulators)
        memcpy(before[r], core->z[r], AMX_ROW_BYTES);
    if (replaces_z(d))
        clear_accumulator(core, d, accumulators, a);
    const struct amx_batch batch = {.pairs = &pair, .count = 1, .passes = 1, .flags = flags};
    core->kernels->outer[kind](core->z, a, &batch);
    restore_disabled(core, d, (const uint8_t(*)[AMX_ROW_BYTES])before, accumulators, a);
}

void amx_outer_execute(struct amx_core *core, const struct amx_decoded *d, enum amx_outer kind, unsigned flags)
{
    const unsigned accumulators = amx_outer_accumulators(kind);
    const unsigned a = d->z_row & (accumulators - 1);
    const struct amx_pair pair = prepare_pair(core, d);
    if (!unmasked(d)) {
        run_masked(core, d, kind, flags, a, pair);
        return;
    }
    if (replaces_z(d)) {
        amx_queue_drop(core, a); /* nothing has read those results */
        clear_accumulator(core, d, accumulators, a);
    }
    amx_queue_add(core, a, pair);
}
