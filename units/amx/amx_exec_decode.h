/* Operands of the computing instructions (op 8..22 except 17), decoded once into plain fields and kept in a small cache. Facts:
 * github corsix/amx (fma.md, mac16.md, vecint.md, vecfp.md, matint.md, matfp.md, extr_*.md, genlut.md).
 */
#ifndef ORCHARD_UNITS_AMX_AMX_EXEC_DECODE_H
#define ORCHARD_UNITS_AMX_AMX_EXEC_DECODE_H

#include "isa/amx/amx_isa.h"
#include "units/amx/amx_exec_fp.h"
#include "units/amx/amx_exec_parts.h"

struct amx_decoded;
typedef void amx_run(const struct amx_regs *regs, const struct amx_decoded *d);

/* How X or Y becomes 64 bytes of lanes: span, indexed lookup, shuffle, broadcast, forced zero. */
struct amx_input {
    uint16_t offset, step; /* bytes; step per iteration of a repeat form */
    uint8_t bytes;         /* lane */
    uint8_t shuffle;
    uint8_t index_bits; /* 0 = not indexed */
    uint8_t table;      /* register that indices point into */
    bool broadcast, zero, is_signed;
    uint8_t broadcast_lane;
    bool low_part; /* only the low half of each lane counts: f16 in f32 lanes, i8 in i16 lanes */
};

/* What an outer or pointwise floating-point instruction does with one element. */
enum amx_fp_alu {
    AMX_ALU_FMA,     /* z + x*y */
    AMX_ALU_FMS,     /* z - x*y */
    AMX_ALU_MUL,     /* x*y */
    AMX_ALU_NEG_MUL, /* -0 - x*y */
    AMX_ALU_ADD_X,
    AMX_ALU_SUB_X,
    AMX_ALU_ADD_Y,
    AMX_ALU_SUB_Y,
    AMX_ALU_COPY_X,
    AMX_ALU_NEG_X,
    AMX_ALU_COPY_Y,
    AMX_ALU_NEG_Y,
    AMX_ALU_ZERO,
    AMX_ALU_NEG_ZERO,
    AMX_ALU_SELECT, /* x <= 0 ? +0 : y */
    AMX_ALU_MIN,
    AMX_ALU_MAX /* of x and z */
};

enum amx_int_alu { /* numbers as in operand bits 47..52 of vecint and matint */
                   AMX_INT_ADD_MUL,
                   AMX_INT_SUB_MUL,
                   AMX_INT_ADD_SUM,
                   AMX_INT_SUB_SUM,
                   AMX_INT_NARROW,
                   AMX_INT_ADD_MULH,
                   AMX_INT_SUB_MULH,
                   AMX_INT_BYTES = 8,
                   AMX_INT_XNOR_COUNT = 9,
                   AMX_INT_MUL = 10,
                   AMX_INT_ADD_X = 11,
                   AMX_INT_ADD_Y = 12
};

/* extrh, extrv, extrx, extry */
struct amx_extract {
    bool to_y, column;
    bool whole_register;
    bool odd_bytes_kept;    /* lane mode 3 of the short form writes even bytes only */
    uint8_t source, target; /* registers of a whole-register copy */
    uint8_t z_bytes, bytes; /* element read, lane written */
    uint8_t step;           /* rows between neighbouring narrow lanes of one element */
    uint16_t offset;
    enum { AMX_EXTRACT_COPY, AMX_EXTRACT_INT, AMX_EXTRACT_F16, AMX_EXTRACT_BF16 } convert;
};

struct amx_genlut {
    bool source_y, table_y, to_y, to_z, generate;
    uint8_t target, table, index_bits, bytes;
    bool is_float, is_signed;
    enum amx_fp fp;
    uint16_t offset;
};

struct amx_decoded {
    uint64_t operand;
    uint8_t op;
    bool filled;
    amx_run *run; /* NULL: the encoding does nothing */

    struct amx_input x, y;
    uint64_t x_mask, y_mask; /* enabled lanes; vector forms use x_mask on X lanes, y_mask on Y lanes */
    uint8_t z_row;           /* of iteration 0; matrix forms: already reduced to the accumulator number */
    uint8_t row_step;        /* Z rows between iterations */
    uint8_t iterations;
    uint8_t z_bytes;
    uint8_t shift;
    bool vector;
    bool write_zero;     /* every enabled element becomes +0 */
    bool negative_nan;   /* widened NaN inputs carry the sign (fms) */
    bool keep_z_out;     /* mac16: the sum leaves z out */
    bool skip_x, skip_y; /* mac16 */
    uint8_t alu;         /* enum amx_fp_alu or enum amx_int_alu */
    enum amx_fp in_fp, z_fp;
    struct amx_narrow narrow;
    struct amx_extract extract;
    struct amx_genlut genlut;
};

/* Fills *d. d->run is NULL when the encoding does nothing on this generation. */
void amx_decode(struct amx_decoded *d, unsigned op, uint64_t operand, enum amx_gen gen);

void amx_decode_fma(struct amx_decoded *d, enum amx_gen gen);
void amx_decode_mac16(struct amx_decoded *d, enum amx_gen gen);
void amx_decode_vecfp(struct amx_decoded *d, enum amx_gen gen);
void amx_decode_matfp(struct amx_decoded *d, enum amx_gen gen);
void amx_decode_vecint(struct amx_decoded *d, enum amx_gen gen);
void amx_decode_matint(struct amx_decoded *d, enum amx_gen gen);
void amx_decode_extr(struct amx_decoded *d, enum amx_gen gen);
void amx_decode_genlut(struct amx_decoded *d, enum amx_gen gen);

void amx_run_fp_matrix(const struct amx_regs *regs, const struct amx_decoded *d);
void amx_run_fp_vector(const struct amx_regs *regs, const struct amx_decoded *d);

/* Decodes the fields shared by op 18..21. Must be called after the lane widths and signs of d->x and d->y are known. */
void amx_decode_inputs(struct amx_decoded *d);
/* Decodes the mask, broadcast and repeat fields of vecint and vecfp; n_bits is the width of the mask number. */
void amx_decode_vector_control(struct amx_decoded *d, enum amx_gen gen, unsigned n_bits);
/* True when operand bit 53 selects an indexed load. */
static inline bool amx_is_indexed(uint64_t operand)
{
    return amx_bit(operand, 53);
}

/* The 64 bytes that iteration `iteration` works on. */
void amx_input_fetch(const uint8_t *pool, const struct amx_input *in, unsigned iteration, uint8_t out[AMX_ROW_BYTES]);

/* Outer-product position of (i, j) for lanes of `bytes` bytes and equally wide or doubled Z lanes (RegisterFile.md). */
static inline uint8_t *amx_matrix_element(const struct amx_regs *regs, const struct amx_decoded *d, unsigned bytes, unsigned i,
                                          unsigned j)
{
    if (d->z_bytes == bytes)
        return regs->z[j * bytes + d->z_row] + i * bytes;
    return regs->z[2 * j + (i & 1)] + (i >> 1) * d->z_bytes;
}

#endif
