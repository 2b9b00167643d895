#include "units/amx/kernels/gemm_tile.h"

/* Every loop below is software-pipelined: the operands of a later step are loaded into the other X/Y registers before
 * the present step's products, so that the latency of a load hides behind the array. */

static inline void load_x_two(struct amx_ctx *ctx, uint64_t from, unsigned reg)
{
    AMX_ISSUE(ctx, AMXI_LDX, from | AMX_REG(reg) | AMX_PAIR);
}

static inline void load_y_two(struct amx_ctx *ctx, uint64_t from, unsigned reg)
{
    AMX_ISSUE(ctx, AMXI_LDY, from | AMX_REG(reg) | AMX_PAIR);
}

static inline void load_x_four(struct amx_ctx *ctx, uint64_t from, unsigned reg, int quad)
{
    if (quad) {
        AMX_ISSUE(ctx, AMXI_LDX, from | AMX_REG(reg) | AMX_QUAD);
    } else {
        load_x_two(ctx, from, reg);
        load_x_two(ctx, from + 128, reg + 2);
    }
}

static inline void load_y_four(struct amx_ctx *ctx, uint64_t from, unsigned reg, int quad)
{
    if (quad) {
        AMX_ISSUE(ctx, AMXI_LDY, from | AMX_REG(reg) | AMX_QUAD);
    } else {
        load_y_two(ctx, from, reg);
        load_y_two(ctx, from + 128, reg + 2);
    }
}

/* f32, 32 x 32: the four accumulators are (Y half, X half). */
static inline void products_f32(struct amx_ctx *ctx, unsigned x, unsigned y, uint64_t z)
{
    const uint64_t op = AMX_XOFF(64 * x) | AMX_YOFF(64 * y) | z;
    AMX_ISSUE(ctx, AMXI_FMA32, op | AMX_ZROW(0));
    AMX_ISSUE(ctx, AMXI_FMA32, (op + AMX_XOFF(64)) | AMX_ZROW(1));
    AMX_ISSUE(ctx, AMXI_FMA32, (op + AMX_YOFF(64)) | AMX_ZROW(2));
    AMX_ISSUE(ctx, AMXI_FMA32, (op + AMX_XOFF(64) + AMX_YOFF(64)) | AMX_ZROW(3));
}

static void tile_f32_pairs(struct amx_ctx *ctx, uint64_t a, uint64_t b, uint32_t k, uint64_t first)
{
    for (unsigned s = 0; s < 3; s++, a += 128, b += 128) {
        load_y_two(ctx, a, 2 * s);
        load_x_two(ctx, b, 2 * s);
    }
    uint64_t z = first;
    for (uint32_t i = 0; i < k; i += 4) {
        for (unsigned s = 0; s < 4; s++, a += 128, b += 128) {
            load_y_two(ctx, a, 2 * ((s + 3) & 3));
            load_x_two(ctx, b, 2 * ((s + 3) & 3));
            products_f32(ctx, 2 * s, 2 * s, z);
            z = 0;
        }
    }
}

static void tile_f32_quads(struct amx_ctx *ctx, uint64_t a, uint64_t b, uint32_t k, uint64_t first)
{
    load_y_four(ctx, a, 0, 1);
    load_x_four(ctx, b, 0, 1);
    uint64_t z = first;
    for (uint32_t i = 0; i < k; i += 4) {
        for (unsigned s = 0; s < 2; s++) {
            a += 256;
            b += 256;
            load_y_four(ctx, a, 4 * (1 - s), 1);
            load_x_four(ctx, b, 4 * (1 - s), 1);
            products_f32(ctx, 4 * s, 4 * s, z);
            products_f32(ctx, 4 * s + 2, 4 * s + 2, 0);
            z = 0;
        }
    }
}

/* f64, 32 x 16: eight accumulators, (Y quarter, X half). */
static inline void products_f64(struct amx_ctx *ctx, unsigned x, unsigned y, uint64_t z)
{
    for (unsigned q = 0; q < 4; q++) {
        const uint64_t op = AMX_XOFF(64 * x) | AMX_YOFF(64 * (y + q)) | z;
        AMX_ISSUE(ctx, AMXI_FMA64, op | AMX_ZROW(2 * q));
        AMX_ISSUE(ctx, AMXI_FMA64, (op + AMX_XOFF(64)) | AMX_ZROW(2 * q + 1));
    }
}

static void tile_f64(struct amx_ctx *ctx, uint64_t a, uint64_t b, uint32_t k, uint64_t first, int quad)
{
    load_y_four(ctx, a, 0, quad);
    load_x_two(ctx, b, 0);
    uint64_t z = first;
    for (uint32_t i = 0; i < k; i += 2) {
        for (unsigned s = 0; s < 2; s++) {
            a += 256;
            b += 128;
            load_y_four(ctx, a, 4 * (1 - s), quad);
            load_x_two(ctx, b, 2 * (1 - s));
            products_f64(ctx, 2 * s, 4 * s, z);
            z = 0;
        }
    }
}

/* f16, 32 x 64: two accumulators, the halves of X; a step is two k. */
static void tile_f16(struct amx_ctx *ctx, uint64_t a, uint64_t b, uint32_t k, uint64_t first, int quad)
{
    load_y_two(ctx, a, 0);
    load_x_four(ctx, b, 0, quad);
    uint64_t z = first;
    for (uint32_t i = 0; i < k; i += 4) {
        for (unsigned s = 0; s < 2; s++) {
            a += 128;
            b += 256;
            load_y_two(ctx, a, 2 * (1 - s));
            load_x_four(ctx, b, 4 * (1 - s), quad);
            for (unsigned half = 0; half < 2; half++) {
                const uint64_t op = AMX_XOFF(64 * (4 * s + 2 * half)) | AMX_YOFF(64 * (2 * s + half)) | z;
                AMX_ISSUE(ctx, AMXI_FMA16, op | AMX_ZROW(0));
                AMX_ISSUE(ctx, AMXI_FMA16, (op + AMX_XOFF(64)) | AMX_ZROW(1));
                z = 0;
            }
        }
    }
}

/* 16-bit in, 32-bit out, 32 x 32: one accumulator, all of Z; a step is two k. */
static void tile_wide(struct amx_ctx *ctx, unsigned op, uint64_t mode, uint64_t a, uint64_t b, uint32_t k, uint64_t first)
{
    for (unsigned s = 0; s < 3; s++, a += 128, b += 128) {
        load_y_two(ctx, a, 2 * s);
        load_x_two(ctx, b, 2 * s);
    }
    uint64_t z = first;
    for (uint32_t i = 0; i < k; i += 8) {
        for (unsigned s = 0; s < 4; s++, a += 128, b += 128) {
            load_y_two(ctx, a, 2 * ((s + 3) & 3));
            load_x_two(ctx, b, 2 * ((s + 3) & 3));
            const uint64_t at = AMX_XOFF(128 * s) | AMX_YOFF(128 * s) | mode;
            if (op == AMXI_FMA16) {
                AMX_ISSUE(ctx, AMXI_FMA16, at | z);
                AMX_ISSUE(ctx, AMXI_FMA16, at + AMX_XOFF(64) + AMX_YOFF(64));
            } else if (op == AMXI_MAC16) {
                AMX_ISSUE(ctx, AMXI_MAC16, at | z);
                AMX_ISSUE(ctx, AMXI_MAC16, at + AMX_XOFF(64) + AMX_YOFF(64));
            } else {
                AMX_ISSUE(ctx, AMXI_MATFP, at);
                AMX_ISSUE(ctx, AMXI_MATFP, at + AMX_XOFF(64) + AMX_YOFF(64));
            }
            z = 0;
        }
    }
}

/* Bytes in, 32-bit out, 16 x 64: Y holds four k of 16 rows, byte offset q picks k + q; the X shuffle puts column 16 r + e
 * into lane 4 e + r, so that Z row 4 j + r holds columns 16 r .. 16 r + 15 of row j in order. A step is four k. */
static void tile_i8(struct amx_ctx *ctx, uint64_t a, uint64_t b, uint32_t k, int quad)
{
    const uint64_t mode = AMX_ALU(8) | AMX_LANES(10) | AMX_INT_SIGNED | AMX_X_SHUFFLE(2);
    AMX_ISSUE(ctx, AMXI_LDY, a | AMX_REG(0));
    load_x_four(ctx, b, 0, quad);
    for (uint32_t i = 0; i < k; i += 8) {
        for (unsigned s = 0; s < 2; s++) {
            a += 64;
            b += 256;
            AMX_ISSUE(ctx, AMXI_LDY, a | AMX_REG(1 - s));
            load_x_four(ctx, b, 4 * (1 - s), quad);
            for (unsigned q = 0; q < 4; q++)
                AMX_ISSUE(ctx, AMXI_MATINT, mode | AMX_XOFF(64 * (4 * s + q)) | AMX_YOFF(64 * s + q));
        }
    }
}

/* Kinds whose instruction has no "skip Z" start from a Z of zeros: mac16 with both inputs skipped writes 0 everywhere. */
static void clear_z(struct amx_ctx *ctx)
{
    AMX_ISSUE(ctx, AMXI_MAC16, AMX_FMA_WIDE_Z | AMX_SKIP_Z | UINT64_C(1) << 28 | UINT64_C(1) << 29);
}

void gemm_tile(struct amx_ctx *ctx, enum gemm_kind kind, uint64_t panel_a, uint64_t panel_b, uint32_t k, int keep_z,
               int quad)
{
    const uint64_t first = keep_z ? 0 : AMX_SKIP_Z;
    switch (kind) {
    case GEMM_F64:
        tile_f64(ctx, panel_a, panel_b, k, first, quad);
        break;
    case GEMM_F32:
        if (quad)
            tile_f32_quads(ctx, panel_a, panel_b, k, first);
        else
            tile_f32_pairs(ctx, panel_a, panel_b, k, first);
        break;
    case GEMM_F16:
        tile_f16(ctx, panel_a, panel_b, k, first, quad);
        break;
    case GEMM_F16_F32:
        tile_wide(ctx, AMXI_FMA16, AMX_FMA_WIDE_Z, panel_a, panel_b, k, first);
        break;
    case GEMM_I16_I32:
        tile_wide(ctx, AMXI_MAC16, AMX_FMA_WIDE_Z, panel_a, panel_b, k, first);
        break;
    case GEMM_BF16_F32:
        if (!keep_z)
            clear_z(ctx);
        tile_wide(ctx, AMXI_MATFP, AMX_LANES(1), panel_a, panel_b, k, 0);
        break;
    case GEMM_I8_I32:
        if (!keep_z)
            clear_z(ctx);
        tile_i8(ctx, panel_a, panel_b, k, quad);
        break;
    case GEMM_KIND_COUNT:
        break;
    }
}

static int is_interleaved(enum gemm_kind kind)
{
    return kind == GEMM_F16_F32 || kind == GEMM_BF16_F32 || kind == GEMM_I16_I32;
}

/* First of the consecutive Z rows that hold row j of the tile. */
static inline unsigned z_row_of(enum gemm_kind kind, unsigned j)
{
    switch (kind) {
    case GEMM_F64:
        return 8 * (j & 7) + 2 * (j >> 3);
    case GEMM_F32:
        return 4 * (j & 15) + 2 * (j >> 4);
    case GEMM_I8_I32:
        return 4 * j;
    default:
        return 2 * j;
    }
}

static inline unsigned z_rows_per_row(enum gemm_kind kind)
{
    return kind == GEMM_I8_I32 ? 4 : 2;
}

/* Two Z rows at a time when the address allows it. */
#define MOVE_ROWS(ctx, op, at, row, count)                                                                   \
    do {                                                                                                     \
        for (unsigned r_ = 0; r_ < (count); r_ += 2) {                                                       \
            const uint64_t at_ = (at) + 64 * r_;                                                             \
            if (at_ % 128 == 0) {                                                                            \
                AMX_ISSUE(ctx, op, at_ | AMX_REG((row) + r_) | AMX_PAIR);                                    \
            } else {                                                                                         \
                AMX_ISSUE(ctx, op, at_ | AMX_REG((row) + r_));                                               \
                AMX_ISSUE(ctx, op, (at_ + 64) | AMX_REG((row) + r_ + 1));                                    \
            }                                                                                                \
        }                                                                                                    \
    } while (0)

void gemm_tile_store(struct amx_ctx *ctx, enum gemm_kind kind, uint64_t c, uint64_t row_bytes, uint32_t rows)
{
    for (uint32_t j = 0; j < rows; j++, c += row_bytes) {
        if (is_interleaved(kind)) {
            AMX_ISSUE(ctx, AMXI_STZI, c | AMX_ZHALF(j, 0));
            AMX_ISSUE(ctx, AMXI_STZI, (c + 64) | AMX_ZHALF(j, 1));
        } else {
            MOVE_ROWS(ctx, AMXI_STZ, c, z_row_of(kind, j), z_rows_per_row(kind));
        }
    }
}

void gemm_tile_load(struct amx_ctx *ctx, enum gemm_kind kind, uint64_t c, uint64_t row_bytes, uint32_t rows)
{
    for (uint32_t j = 0; j < rows; j++, c += row_bytes) {
        if (is_interleaved(kind)) {
            AMX_ISSUE(ctx, AMXI_LDZI, c | AMX_ZHALF(j, 0));
            AMX_ISSUE(ctx, AMXI_LDZI, (c + 64) | AMX_ZHALF(j, 1));
        } else {
            MOVE_ROWS(ctx, AMXI_LDZ, c, z_row_of(kind, j), z_rows_per_row(kind));
        }
    }
}

/* z[row] = x * y or z[row] += x * y on one 64-byte line of the output type. */
static inline void blend_line(struct amx_ctx *ctx, enum gemm_kind kind, uint64_t operand)
{
    if (kind == GEMM_F64)
        AMX_ISSUE(ctx, AMXI_FMA64, operand | AMX_FMA_VECTOR);
    else if (kind == GEMM_F16)
        AMX_ISSUE(ctx, AMXI_FMA16, operand | AMX_FMA_VECTOR);
    else
        AMX_ISSUE(ctx, AMXI_FMA32, operand | AMX_FMA_VECTOR);
}

void gemm_tile_blend(struct amx_ctx *ctx, enum gemm_kind kind, uint64_t acc, uint64_t in, uint64_t in_row_bytes,
                     uint64_t out, uint64_t out_row_bytes, uint64_t scale, uint32_t rows)
{
    /* Y0 = alphas, Y1 = betas; lines rotate through X and through the Z rows, so that they overlap. */
    load_y_two(ctx, scale, 0);
    unsigned z = 0;
    for (uint32_t j = 0; j < rows; j++, acc += 128, in += in_row_bytes, out += out_row_bytes) {
        for (unsigned half = 0; half < 2; half++) {
            const unsigned xa = (z & 3) * 2, xb = xa + 1;
            AMX_ISSUE(ctx, AMXI_LDX, (acc + 64 * half) | AMX_REG(xa));
            blend_line(ctx, kind, AMX_XOFF(64 * xa) | AMX_YOFF(0) | AMX_ZROW(z) | AMX_SKIP_Z);
            if (in) {
                AMX_ISSUE(ctx, AMXI_LDX, (in + 64 * half) | AMX_REG(xb));
                blend_line(ctx, kind, AMX_XOFF(64 * xb) | AMX_YOFF(64) | AMX_ZROW(z));
            }
            AMX_ISSUE(ctx, AMXI_STZ, (out + 64 * half) | AMX_REG(z));
            z = (z + 1) & 63;
        }
        if (!in)
            in -= in_row_bytes;
    }
}
