/* Builds operands of the fast path from renamed registers, and restores the lanes of rows that are disabled. */
#include "units/amx/amx_core_state.h"

bool amx_is_float(const struct amx_decoded *d)
{
    return d->op != AMX_MAC16 && d->op != AMX_MATINT && d->op != AMX_VECINT;
}

bool amx_negates_x(const struct amx_decoded *d)
{
    return amx_is_float(d) && (d->alu == AMX_ALU_FMS || d->alu == AMX_ALU_NEG_MUL);
}

bool amx_is_whole_register(const struct amx_decoded *d, const struct amx_input *in)
{
    const bool widened = in->low_part && amx_is_float(d); /* integer kernels narrow their lanes themselves */
    return in->offset % AMX_ROW_BYTES == 0 && in->index_bits == 0 && in->shuffle == 0 && !in->zero && !in->broadcast && !widened;
}

/* Fetches a circular span of renamed registers. */
static void fetch_renamed(const struct amx_ring *ring, unsigned offset, uint8_t out[AMX_ROW_BYTES])
{
    const unsigned n = offset / AMX_ROW_BYTES % 8, inside = offset % AMX_ROW_BYTES;
    memcpy(out, ring->slot[n] + inside, AMX_ROW_BYTES - inside);
    memcpy(out + AMX_ROW_BYTES - inside, ring->slot[(n + 1) % 8], inside);
}

static void widen_low_halves(uint8_t lanes[AMX_ROW_BYTES])
{
    for (unsigned k = 0; k < AMX_ROW_BYTES; k += 4)
        amx_store_lane(lanes + k, amx_fp_widen(AMX_FP_F16, (uint16_t)amx_load_lane(lanes + k, 2)), 4);
}

void amx_flip_signs(uint8_t lanes[AMX_ROW_BYTES], unsigned bytes)
{
    for (unsigned k = bytes - 1; k < AMX_ROW_BYTES; k += bytes)
        lanes[k] ^= 0x80;
}

void amx_operand_fetch(const struct amx_ring *ring, const struct amx_decoded *d, const struct amx_input *in, unsigned iteration,
                       uint8_t lanes[AMX_ROW_BYTES])
{
    if (in->zero) {
        memset(lanes, 0, AMX_ROW_BYTES);
        return;
    }
    fetch_renamed(ring, in->offset + iteration * in->step, lanes);
    if (in->index_bits)
        amx_lookup(lanes, ring->slot[in->table], in->index_bits, in->bytes);
    amx_shuffle(lanes, in->shuffle, in->bytes);
    if (in->broadcast)
        amx_broadcast(lanes, in->broadcast_lane, in->bytes);
    if (in->low_part && amx_is_float(d))
        widen_low_halves(lanes);
}

amx_row_words amx_enabled_bytes(const struct amx_decoded *d, unsigned parts, unsigned part)
{
    uint8_t bytes[AMX_ROW_BYTES] = {0};
    for (unsigned e = 0; e < AMX_ROW_BYTES / d->z_bytes; e++)
        if (d->x_mask >> (e * parts + part) & 1)
            memset(bytes + e * d->z_bytes, 0xff, d->z_bytes);
    amx_row_words words;
    memcpy(&words, bytes, sizeof words);
    return words;
}

void amx_put_back(uint8_t now[AMX_ROW_BYTES], const uint8_t before[AMX_ROW_BYTES], amx_row_words enabled)
{
    amx_row_words a, b;
    memcpy(&a, now, sizeof a);
    memcpy(&b, before, sizeof b);
    a = (a & enabled) | (b & ~enabled);
    memcpy(now, &a, sizeof a);
}
