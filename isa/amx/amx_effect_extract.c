/* The effect of extrx, extry, extrh, extrv and genlut. */
#include "isa/amx/amx_effect_parts.h"

/* Lane formats of the wide forms: bytes in the destination and in Z, and the row step of the narrowing forms. */
struct extract_lanes {
    unsigned dest, source, step;
    bool is_float;
};

static struct extract_lanes wide_lanes(uint64_t operand, enum amx_gen gen)
{
    if (AMX_GET(operand, EXTR_FLOAT)) {
        const unsigned mode = AMX_GET(operand, EXTR_LANES_F);
        if (mode == 1 || mode == 8)
            return (struct extract_lanes){mode == 1 ? 8 : 4, mode == 1 ? 8 : 4, 0, true};
        if ((mode == 9 || mode == 10) && gen >= AMX_GEN_M2)
            return (struct extract_lanes){2, 4, mode - 8, true};
        return (struct extract_lanes){2, 2, 0, true};
    }
    switch (AMX_GET(operand, EXTR_LANES_I)) {
    case 0: return (struct extract_lanes){1, 1, 0, false};
    case 8: return (struct extract_lanes){4, 4, 0, false};
    case 9: return (struct extract_lanes){2, 4, 1, false};
    case 10: return (struct extract_lanes){2, 4, 2, false};
    case 11: return (struct extract_lanes){1, 4, 1, false};
    case 13: return (struct extract_lanes){1, 2, 1, false};
    default: return (struct extract_lanes){2, 2, 0, false};
    }
}

static enum amx_element element_of(unsigned bytes, bool is_float)
{
    if (bytes == 8)
        return AMX_E_F64; /* 8-byte lanes are only copied; there is no 64-bit integer format */
    if (!is_float || bytes == 1)
        return amx_integer(bytes);
    return bytes == 4 ? AMX_E_F32 : AMX_E_F16;
}

/* The destination registers that receive bytes of the enabled lanes. */
static uint8_t written_registers(uint64_t lanes, unsigned lane_bytes, unsigned written_bytes, unsigned offset)
{
    uint8_t registers = 0;
    for (; lanes; lanes &= lanes - 1)
        registers |= amx_span(offset + lane_bytes * (unsigned)__builtin_ctzll(lanes), written_bytes);
    return registers;
}

/* The Z rows that the enabled destination lanes come from; c is the row or column field. */
static uint64_t source_rows(uint64_t enabled, const struct extract_lanes *lanes, bool column, unsigned c)
{
    uint64_t rows = 0;
    const unsigned cell = lanes->source - 1;
    for (; enabled; enabled &= enabled - 1) {
        const unsigned b = lanes->dest * (unsigned)__builtin_ctzll(enabled);
        const unsigned sub = (b & cell) / lanes->dest * lanes->step;
        rows |= amx_bit(((column ? b : c) & ~cell) | ((c + sub) & cell));
    }
    return rows;
}

static void effect_wide(bool column, uint64_t operand, enum amx_gen gen, struct amx_effect *e)
{
    const struct extract_lanes lanes = wide_lanes(operand, gen);
    const bool repeat = gen >= AMX_GEN_M2 && AMX_GET(operand, EXTR_REPEAT), to_y = AMX_GET(operand, EXTR_TO_Y);
    const unsigned count = 64 / lanes.dest, mode = repeat ? 0 : AMX_GET(operand, EXTR_MASK9_MODE);
    const unsigned n = repeat ? 0 : AMX_GET(operand, EXTR_MASK9_N), c = AMX_GET(operand, EXTR_Z);
    const uint64_t enabled = amx_mask9(mode, n, count);
    const unsigned iterations = !repeat ? 1 : c & 32 ? 4 : 2, stride = 64 / iterations;
    unsigned offset = AMX_GET(operand, EXTR_DST);
    if (repeat && gen >= AMX_GEN_M4)
        offset &= ~63u;
    uint8_t written = 0;
    for (unsigned q = 0; q < iterations; q++) {
        written |= written_registers(enabled, lanes.dest, lanes.dest, offset + 64 * q);
        e->z_read |= source_rows(enabled, &lanes, column, c % stride + q * stride);
    }
    if (amx_mask_is(mode, n, AMX_MASK_WRITE_ZERO))
        e->z_read = 0;
    *(to_y ? &e->y_write : &e->x_write) = written;
    const enum amx_element dest =
        lanes.is_float && lanes.step && AMX_GET(operand, EXTR_BF16) ? AMX_E_BF16 : element_of(lanes.dest, lanes.is_float);
    *(to_y ? &e->y_element : &e->x_element) = dest;
    e->z_element = element_of(lanes.source, lanes.is_float);
    e->masked = enabled != amx_first_lanes(count);
}

static void effect_copy_lanes(bool column, uint64_t operand, struct amx_effect *e)
{
    static const uint8_t bytes_of[4] = {8, 4, 2, 2};
    const unsigned mode = AMX_GET(operand, EXTR_LANES7), bytes = bytes_of[mode], count = 64 / bytes;
    const struct extract_lanes lanes = {bytes, bytes, 0, false};
    const unsigned written_bytes = mode == 3 ? 1 : bytes; /* mode 3 leaves the odd bytes alone */
    const uint64_t enabled = column ? amx_mask7(AMX_GET(operand, EXTR_V_MASK_MODE), AMX_GET(operand, EXTR_V_MASK_N), count)
                                    : amx_mask7(AMX_GET(operand, EXTR_H_MASK_MODE), AMX_GET(operand, EXTR_H_MASK_N), count);
    e->z_read = source_rows(enabled, &lanes, column, AMX_GET(operand, EXTR_Z));
    e->z_element = element_of(bytes, true);
    e->masked = mode == 3 || enabled != amx_first_lanes(count);
    if (column) {
        e->y_write = written_registers(enabled, bytes, written_bytes, AMX_GET(operand, EXTR_V_Y));
        e->y_element = e->z_element;
    } else {
        e->x_write = written_registers(enabled, bytes, written_bytes, AMX_GET(operand, EXTR_H_X));
        e->x_element = e->z_element;
    }
}

void amx_effect_extract(unsigned op, uint64_t operand, enum amx_gen gen, struct amx_effect *e)
{
    const struct amx_form *form = amx_form_of(op, operand);
    e->unit_class = AMX_CLASS_EXTRACT;
    if (form->layout[0] == AMX_LAYOUT_COPY_X) {
        e->x_write = (uint8_t)(1u << AMX_GET(operand, COPY_X_XREG));
        e->y_read = (uint8_t)(1u << AMX_GET(operand, COPY_X_YREG));
    } else if (form->layout[0] == AMX_LAYOUT_COPY_Y) {
        e->y_write = (uint8_t)(1u << AMX_GET(operand, COPY_Y_YREG));
        e->x_read = (uint8_t)(1u << AMX_GET(operand, COPY_Y_XREG));
    } else if (AMX_GET(operand, EXTR_WIDE)) {
        effect_wide(op == AMX_EXTRY, operand, gen, e);
    } else {
        effect_copy_lanes(op == AMX_EXTRY, operand, e);
    }
}

void amx_effect_genlut(uint64_t operand, enum amx_gen gen, struct amx_effect *e)
{
    enum { FIRST_LOOKUP = 7 };
    static const uint8_t index_bits[16] = {[7] = 2, 2, 2, 4, 4, 4, 4, 5, 5};
    static const uint8_t element_bytes[16] = {4, 2, 8, 4, 2, 4, 2, 4, 2, 1, 8, 4, 2, 1, 2, 1};
    const unsigned mode = AMX_GET(operand, GENLUT_MODE), bytes = element_bytes[mode];
    const bool lookup = mode >= FIRST_LOOKUP;
    const unsigned source_bytes = lookup ? 8 * index_bits[mode] / bytes : 64;
    enum amx_element element = element_of(bytes, mode < 3);
    if (mode == 1 && gen >= AMX_GEN_M2 && AMX_GET(operand, GENLUT_BF16))
        element = AMX_E_BF16;
    e->unit_class = AMX_CLASS_GENLUT;
    const uint8_t source = amx_span(AMX_GET(operand, GENLUT_SRC), source_bytes);
    const uint8_t table = (uint8_t)(1u << AMX_GET(operand, GENLUT_TABLE));
    const bool source_y = AMX_GET(operand, GENLUT_SRC_Y), table_y = AMX_GET(operand, GENLUT_TABLE_Y);
    e->x_read = (uint8_t)((source_y ? 0 : source) | (table_y ? 0 : table));
    e->y_read = (uint8_t)((source_y ? source : 0) | (table_y ? table : 0));
    e->x_element = e->x_read ? element : AMX_E_NONE;
    e->y_element = e->y_read ? element : AMX_E_NONE;
    const uint8_t dest = (uint8_t)(1u << AMX_GET(operand, GENLUT_REG));
    if (lookup && AMX_GET(operand, GENLUT_TO_Z)) {
        e->z_write = amx_bit(AMX_GET(operand, GENLUT_ROW));
        e->z_element = element;
    } else if (AMX_GET(operand, GENLUT_TO_Y)) {
        e->y_write = dest;
    } else {
        e->x_write = dest;
    }
}
