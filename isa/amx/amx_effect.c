/* The effect of an instruction, and in particular of loads, stores, fma, fms and mac16. */
#include "isa/amx/amx_effect_parts.h"

#include <string.h>

uint64_t amx_matrix_rows(uint64_t x_lanes, uint64_t y_lanes, unsigned lane_bytes, unsigned z_bytes, unsigned z)
{
    uint64_t first = 0; /* the rows of y lane 0 */
    if (lane_bytes == z_bytes)
        first = x_lanes ? amx_bit(z & (lane_bytes - 1)) : 0;
    else
        first = (x_lanes & AMX_EVEN_LANES ? 1u : 0u) | (x_lanes & AMX_ODD_LANES ? 2u : 0u);
    uint64_t rows = 0;
    for (uint64_t left = y_lanes; left; left &= left - 1)
        rows |= first << (lane_bytes * (unsigned)__builtin_ctzll(left));
    return rows;
}

static void effect_load_xy(uint64_t operand, enum amx_gen gen, uint8_t *written, struct amx_effect *e)
{
    const unsigned reg = AMX_GET(operand, LOAD_XY_REG), pair = AMX_GET(operand, LOAD_XY_PAIR);
    const bool quad = pair && gen >= AMX_GEN_M2 && AMX_GET(operand, LOAD_XY_QUAD);
    const bool stride = pair && gen >= AMX_GEN_M3 && AMX_GET(operand, LOAD_XY_STRIDE);
    const unsigned count = quad ? 4 : pair ? 2 : 1, step = stride ? (quad ? 2 : 4) : 1;
    for (unsigned i = 0; i < count; i++)
        *written |= (uint8_t)(1u << ((reg + i * step) & 7));
    e->memory_bytes = 64 * count;
}

static void effect_store_xy(uint64_t operand, uint8_t *read, struct amx_effect *e)
{
    const unsigned reg = AMX_GET(operand, STORE_XY_REG), pair = AMX_GET(operand, STORE_XY_PAIR);
    *read = (uint8_t)(1u << reg | pair << ((reg + 1) & 7));
    e->memory_bytes = 64 * (1 + pair);
}

static void effect_move_z(uint64_t operand, uint64_t *rows, struct amx_effect *e)
{
    const unsigned row = AMX_GET(operand, MOVE_Z_ROW), pair = AMX_GET(operand, MOVE_Z_PAIR);
    *rows = amx_bit(row) | (pair ? amx_bit(row + 1) : 0);
    e->memory_bytes = 64 * (1 + pair);
}

static void effect_memory(unsigned op, uint64_t operand, enum amx_gen gen, struct amx_effect *e)
{
    const bool load = op == AMX_LDX || op == AMX_LDY || op == AMX_LDZ || op == AMX_LDZI;
    e->unit_class = load ? AMX_CLASS_LOAD : AMX_CLASS_STORE;
    uint64_t *rows = load ? &e->z_write : &e->z_read;
    if (op == AMX_LDX || op == AMX_LDY) {
        effect_load_xy(operand, gen, op == AMX_LDX ? &e->x_write : &e->y_write, e);
    } else if (op == AMX_STX || op == AMX_STY) {
        effect_store_xy(operand, op == AMX_STX ? &e->x_read : &e->y_read, e);
    } else if (op == AMX_LDZ || op == AMX_STZ) {
        effect_move_z(operand, rows, e);
    } else {
        *rows = UINT64_C(3) << (2 * AMX_GET(operand, MOVE_ZI_ROWS));
        e->memory_bytes = 64;
    }
    e->needs_128_alignment = e->memory_bytes > 64;
}

/* Sets the elements of x, y and z; returns the bytes of a lane. */
static unsigned fma_formats(unsigned op, uint64_t operand, bool vector, bool use_x, bool use_y, struct amx_effect *e)
{
    enum amx_element x, y, z;
    unsigned bytes = 2;
    if (op == AMX_FMA64 || op == AMX_FMS64) {
        bytes = 8;
        x = y = z = AMX_E_F64;
    } else if (op == AMX_FMA32 || op == AMX_FMS32) {
        bytes = 4;
        x = AMX_GET(operand, FMA32_X_F16) ? AMX_E_F16 : AMX_E_F32;
        y = AMX_GET(operand, FMA32_Y_F16) ? AMX_E_F16 : AMX_E_F32;
        z = AMX_E_F32;
    } else if (op == AMX_MAC16) {
        x = AMX_GET(operand, MAC16_X_I8) ? AMX_E_I8 : AMX_E_I16;
        y = AMX_GET(operand, MAC16_Y_I8) ? AMX_E_I8 : AMX_E_I16;
        z = !vector && AMX_GET(operand, MAC16_Z_I32) ? AMX_E_I32 : AMX_E_I16;
    } else {
        x = y = AMX_E_F16;
        z = !vector && AMX_GET(operand, FMA16_Z_F32) ? AMX_E_F32 : AMX_E_F16;
    }
    e->x_element = use_x ? x : AMX_E_NONE;
    e->y_element = use_y ? y : AMX_E_NONE;
    e->z_element = z;
    return bytes;
}

static void amx_effect_fma(unsigned op, uint64_t operand, struct amx_effect *e)
{
    const bool vector = AMX_GET(operand, FMA_VECTOR), use_z = !AMX_GET(operand, FMA_SKIP_Z);
    const bool use_x = !AMX_GET(operand, FMA_SKIP_X), use_y = !AMX_GET(operand, FMA_SKIP_Y);
    const unsigned bytes = fma_formats(op, operand, vector, use_x, use_y, e), lanes = 64 / bytes;
    const unsigned z_bytes = e->z_element == AMX_E_F32 || e->z_element == AMX_E_I32 ? 4 : bytes;
    e->unit_class = vector ? AMX_CLASS_VECTOR : AMX_CLASS_MATRIX;
    uint64_t rows = amx_bit(AMX_GET(operand, FMA_Z));
    unsigned elements = lanes;
    if (!vector) {
        const uint64_t x = amx_mask7(AMX_GET(operand, FMA_XMASK_MODE), AMX_GET(operand, FMA_XMASK_N), lanes);
        const uint64_t y = amx_mask7(AMX_GET(operand, FMA_YMASK_MODE), AMX_GET(operand, FMA_YMASK_N), lanes);
        rows = amx_matrix_rows(x, y, bytes, z_bytes, AMX_GET(operand, FMA_Z));
        elements = amx_count(x) * amx_count(y);
        e->masked = elements != lanes * lanes;
    }
    if (!use_x && !use_y && use_z)
        return; /* Z unchanged */
    e->x_read = use_x ? amx_span(AMX_GET(operand, FMA_X), 64) : 0;
    e->y_read = use_y ? amx_span(AMX_GET(operand, FMA_Y), 64) : 0;
    e->z_read = use_z ? rows : 0;
    e->z_write = rows;
    if ((use_x && use_y) || use_z)
        e->macs = elements;
}

static void effect_setclr(uint64_t operand, struct amx_effect *e)
{
    if (operand > 1)
        return; /* undefined immediates */
    e->unit_class = operand ? AMX_CLASS_CLR : AMX_CLASS_SET;
    if (!operand) {
        e->x_write = e->y_write = UINT8_MAX;
        e->z_write = UINT64_MAX;
    }
}

void amx_effect_of(unsigned op, uint64_t operand, enum amx_gen gen, struct amx_effect *effect)
{
    memset(effect, 0, sizeof *effect);
    effect->unit_class = AMX_CLASS_NOP;
    if (op <= AMX_STZI)
        effect_memory(op, operand, gen, effect);
    else if (op == AMX_EXTRX || op == AMX_EXTRY)
        amx_effect_extract(op, operand, gen, effect);
    else if (op < AMX_SETCLR)
        amx_effect_fma(op, operand, effect);
    else if (op == AMX_SETCLR)
        effect_setclr(operand, effect);
    else if (op == AMX_VECINT || op == AMX_VECFP)
        amx_effect_vec(op, operand, gen, effect);
    else if (op == AMX_MATINT || op == AMX_MATFP)
        amx_effect_mat(op, operand, gen, effect);
    else if (op == AMX_GENLUT)
        amx_effect_genlut(operand, gen, effect);
    effect->z_rows_written = amx_count(effect->z_write);
}
