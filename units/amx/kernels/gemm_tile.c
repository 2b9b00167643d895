#include "units/amx/kernels/gemm_tile.h"

/* Every loop below is software-pipelined: the operands of a later step are loaded into the other X/Y registers before the
 * products of the present step, so that the latency of a load hides behind the array. */

static inline void load_x_two(struct amx_cursor *to, uint64_t from, unsigned reg)
{
    AMX_ISSUE(to, AMXI_LDX, from | AMX_REG(reg) | AMX_PAIR);
}

static inline void load_y_two(struct amx_cursor *to, uint64_t from, unsigned reg)
{
    AMX_ISSUE(to, AMXI_LDY, from | AMX_REG(reg) | AMX_PAIR);
}

static inline void load_x_four(struct amx_cursor *to, uint64_t from, unsigned reg, int quad)
{
    if (quad) {
        AMX_ISSUE(to, AMXI_LDX, from | AMX_REG(reg) | AMX_QUAD);
    } else {
        load_x_two(to, from, reg);
        load_x_two(to, from + 128, reg + 2);
    }
}

static inline void load_y_four(struct amx_cursor *to, uint64_t from, unsigned reg, int quad)
{
    if (quad) {
        AMX_ISSUE(to, AMXI_LDY, from | AMX_REG(reg) | AMX_QUAD);
    } else {
        load_y_two(to, from, reg);
        load_y_two(to, from + 128, reg + 2);
    }
}

/* f32, 32 x 32: the four accumulators are (Y half, X half). */
static inline void products_f32(struct amx_cursor *to, unsigned x, unsigned y, uint64_t z)
{
    const uint64_t op = AMX_XOFF(64 * x) | AMX_YOFF(64 * y) | z;
    AMX_ISSUE(to, AMXI_FMA32, op | AMX_ZROW(0));
    AMX_ISSUE(to, AMXI_FMA32, (op + AMX_XOFF(64)) | AMX_ZROW(1));
    AMX_ISSUE(to, AMXI_FMA32, (op + AMX_YOFF(64)) | AMX_ZROW(2));
    AMX_ISSUE(to, AMXI_FMA32, (op + AMX_XOFF(64) + AMX_YOFF(64)) | AMX_ZROW(3));
}

static void tile_f32_pairs(struct amx_ctx *ctx, uint64_t a, uint64_t b, uint32_t k, uint64_t first)
{
    AMX_ENTER(ctx, to);
    for (unsigned s = 0; s < 3; s++, a += 128, b += 128) {
        load_y_two(to, a, 2 * s);
        load_x_two(to, b, 2 * s);
    }
    uint64_t z = first;
    for (uint32_t i = 0; i < k && !AMX_PASS(to, (k - i) / 4); i += 4) {
#pragma GCC unroll 4
        for (unsigned s = 0; s < 4; s++, a += 128, b += 128) {
            load_y_two(to, a, 2 * ((s + 3) & 3));
            load_x_two(to, b, 2 * ((s + 3) & 3));
            products_f32(to, 2 * s, 2 * s, z);
            z = 0;
        }
    }
    AMX_LEAVE(ctx, to);
}

static void tile_f32_quads(struct amx_ctx *ctx, uint64_t a, uint64_t b, uint32_t k, uint64_t first)
{
    AMX_ENTER(ctx, to);
    load_y_four(to, a, 0, 1);
    load_x_four(to, b, 0, 1);
    uint64_t z = first;
    for (uint32_t i = 0; i < k && !AMX_PASS(to, (k - i) / 4); i += 4) {
#pragma GCC unroll 2
        for (unsigned s = 0; s < 2; s++) {
            a += 256;
            b += 256;
            load_y_four(to, a, 4 * (1 - s), 1);
            load_x_four(to, b, 4 * (1 - s), 1);
            products_f32(to, 4 * s, 4 * s, z);
            products_f32(to, 4 * s + 2, 4 * s + 2, 0);
            z = 0;
        }
    }
    AMX_LEAVE(ctx, to);
}

/* ---- f32 in other forms, and from where the operands are ---- */

struct form_place {
    struct gemm_lines a, b;
    int whole_a, whole_b; /* lines begin at whole pairs of registers */
    int quad;
};

static inline int is_whole(struct gemm_lines l)
{
    return (l.at | l.step_bytes) % 128 == 0;
}

/* One line of 16 * count elements into as many registers. */
static inline __attribute__((always_inline)) void load_line(struct amx_cursor *to, unsigned op, uint64_t from, unsigned reg,
                                                            unsigned count, int whole, int quad)
{
    const unsigned width = count == 1 || !whole ? 1 : count == 4 && quad ? 4 : 2;
    const uint64_t mode = width == 1 ? 0 : width == 2 ? AMX_PAIR : AMX_QUAD;
    for (unsigned r = 0; r < count; r += width) {
        const uint64_t operand = (from + 64 * r) | AMX_REG(reg + r) | mode;
        if (op == AMXI_LDY)
            AMX_ISSUE(to, AMXI_LDY, operand);
        else
            AMX_ISSUE(to, AMXI_LDX, operand);
    }
}

/* The lines of one k, counted from the first that `p` names, into set `set` of the registers. */
static inline __attribute__((always_inline)) void load_step(struct amx_cursor *to, struct gemm_form f, const struct form_place *p,
                                                            uint64_t k, unsigned set)
{
    load_line(to, AMXI_LDY, p->a.at + k * p->a.step_bytes, f.y * set, f.y, p->whole_a, p->quad);
    load_line(to, AMXI_LDX, p->b.at + k * p->b.step_bytes, f.x * set, f.x, p->whole_b, p->quad);
}

/* Accumulator (y, x) is in the Z rows f.x * y + x + 4 j. */
static inline __attribute__((always_inline)) void products_form(struct amx_cursor *to, struct gemm_form f, unsigned set,
                                                                uint64_t z)
{
    for (unsigned y = 0; y < f.y; y++)
        for (unsigned x = 0; x < f.x; x++)
            AMX_ISSUE(to, AMXI_FMA32,
                      AMX_XOFF(64 * (f.x * set + x)) | AMX_YOFF(64 * (f.y * set + y)) | AMX_ZROW(f.x * y + x) | z);
}

/* Loads run `sets` - 1 steps ahead, and no line beyond the last is read: the last steps are by themselves. */
static inline __attribute__((always_inline)) void tile_form(struct amx_ctx *ctx, struct gemm_form f, unsigned sets,
                                                            struct form_place p, uint32_t k, uint64_t first)
{
    const uint32_t ahead = sets - 1, passes = k > ahead ? (k - ahead) / sets : 0;
    const struct form_place begin = p;
    AMX_ENTER(ctx, to);
    for (uint32_t i = 0; i < ahead && i < k; i++)
        load_step(to, f, &p, i, i);
    uint64_t z = first;
    for (uint32_t pass = 0; pass < passes && !AMX_PASS(to, passes - pass); pass++) {
#pragma GCC unroll 8
        for (unsigned s = 0; s < sets; s++) {
            load_step(to, f, &p, s + ahead, (s + ahead) % sets);
            products_form(to, f, s, z);
            z = 0;
        }
        p.a.at += sets * p.a.step_bytes;
        p.b.at += sets * p.b.step_bytes;
    }
    z = passes ? 0 : first;
    for (uint32_t i = passes * sets; i < k; i++, z = 0) {
        if (i + ahead < k)
            load_step(to, f, &begin, i + ahead, (i + ahead) % sets);
        products_form(to, f, i % sets, z);
    }
    AMX_LEAVE(ctx, to);
}

void gemm_tile_form(struct amx_ctx *ctx, struct gemm_form form, struct gemm_lines a, struct gemm_lines b, uint32_t k, int keep_z,
                    int quad)
{
    const struct form_place p = {a, b, is_whole(a), is_whole(b), quad};
    const uint64_t first = keep_z ? 0 : AMX_SKIP_Z;
    switch (form.y << 4 | form.x) {
    case 0x11: tile_form(ctx, (struct gemm_form){1, 1}, 8, p, k, first); break;
    case 0x12: tile_form(ctx, (struct gemm_form){1, 2}, 4, p, k, first); break;
    case 0x14: tile_form(ctx, (struct gemm_form){1, 4}, 2, p, k, first); break;
    case 0x21: tile_form(ctx, (struct gemm_form){2, 1}, 4, p, k, first); break;
    case 0x41: tile_form(ctx, (struct gemm_form){4, 1}, 2, p, k, first); break;
    default: tile_form(ctx, (struct gemm_form){2, 2}, 4, p, k, first); break;
    }
}

/* f64, 32 x 16: eight accumulators, (Y quarter, X half). */
static inline void products_f64(struct amx_cursor *to, unsigned x, unsigned y, uint64_t z)
{
    for (unsigned q = 0; q < 4; q++) {
        const uint64_t op = AMX_XOFF(64 * x) | AMX_YOFF(64 * (y + q)) | z;
        AMX_ISSUE(to, AMXI_FMA64, op | AMX_ZROW(2 * q));
        AMX_ISSUE(to, AMXI_FMA64, (op + AMX_XOFF(64)) | AMX_ZROW(2 * q + 1));
    }
}

static void tile_f64(struct amx_ctx *ctx, uint64_t a, uint64_t b, uint32_t k, uint64_t first, int quad)
{
    AMX_ENTER(ctx, to);
    load_y_four(to, a, 0, quad);
    load_x_two(to, b, 0);
    uint64_t z = first;
    for (uint32_t i = 0; i < k && !AMX_PASS(to, (k - i) / 2); i += 2) {
#pragma GCC unroll 2
        for (unsigned s = 0; s < 2; s++) {
            a += 256;
            b += 128;
            load_y_four(to, a, 4 * (1 - s), quad);
            load_x_two(to, b, 2 * (1 - s));
            products_f64(to, 2 * s, 4 * s, z);
            z = 0;
        }
    }
    AMX_LEAVE(ctx, to);
}

/* f16, 32 x 64: two accumulators, the halves of X; a step is two k. */
static void tile_f16(struct amx_ctx *ctx, uint64_t a, uint64_t b, uint32_t k, uint64_t first, int quad)
{
    AMX_ENTER(ctx, to);
    load_y_two(to, a, 0);
    load_x_four(to, b, 0, quad);
    uint64_t z = first;
    for (uint32_t i = 0; i < k && !AMX_PASS(to, (k - i) / 4); i += 4) {
#pragma GCC unroll 2
        for (unsigned s = 0; s < 2; s++) {
            a += 128;
            b += 256;
            load_y_two(to, a, 2 * (1 - s));
            load_x_four(to, b, 4 * (1 - s), quad);
            for (unsigned half = 0; half < 2; half++) {
                const uint64_t op = AMX_XOFF(64 * (4 * s + 2 * half)) | AMX_YOFF(64 * (2 * s + half)) | z;
                AMX_ISSUE(to, AMXI_FMA16, op | AMX_ZROW(0));
                AMX_ISSUE(to, AMXI_FMA16, (op + AMX_XOFF(64)) | AMX_ZROW(1));
                z = 0;
            }
        }
    }
    AMX_LEAVE(ctx, to);
}

/* 16-bit in, 32-bit out, 32 x 32: one accumulator, all of Z; a step is two k. */
static void tile_wide(struct amx_ctx *ctx, unsigned op, uint64_t mode, uint64_t a, uint64_t b, uint32_t k, uint64_t first)
{
    AMX_ENTER(ctx, to);
    for (unsigned s = 0; s < 3; s++, a += 128, b += 128) {
        load_y_two(to, a, 2 * s);
        load_x_two(to, b, 2 * s);
    }
    uint64_t z = first;
    for (uint32_t i = 0; i < k && !AMX_PASS(to, (k - i) / 8); i += 8) {
#pragma GCC unroll 4
        for (unsigned s = 0; s < 4; s++, a += 128, b += 128) {
            load_y_two(to, a, 2 * ((s + 3) & 3));
            load_x_two(to, b, 2 * ((s + 3) & 3));
            const uint64_t at = AMX_XOFF(128 * s) | AMX_YOFF(128 * s) | mode;
            if (op == AMXI_FMA16) {
                AMX_ISSUE(to, AMXI_FMA16, at | z);
                AMX_ISSUE(to, AMXI_FMA16, at + AMX_XOFF(64) + AMX_YOFF(64));
            } else if (op == AMXI_MAC16) {
                AMX_ISSUE(to, AMXI_MAC16, at | z);
                AMX_ISSUE(to, AMXI_MAC16, at + AMX_XOFF(64) + AMX_YOFF(64));
            } else {
                AMX_ISSUE(to, AMXI_MATFP, at);
                AMX_ISSUE(to, AMXI_MATFP, at + AMX_XOFF(64) + AMX_YOFF(64));
            }
            z = 0;
        }
    }
    AMX_LEAVE(ctx, to);
}

/* Bytes in, 32-bit out, 16 x 64: Y holds four k of 16 rows, and byte offset q selects k + q. The X shuffle puts column 16 r + e
 * into lane 4 e + r, so that Z row 4 j + r holds columns 16 r .. 16 r + 15 of row j in order. A step is four k. */
static void tile_i8(struct amx_ctx *ctx, uint64_t a, uint64_t b, uint32_t k, int quad)
{
    AMX_ENTER(ctx, to);
    const uint64_t mode = AMX_ALU(8) | AMX_LANES(10) | AMX_INT_SIGNED | AMX_X_SHUFFLE(2);
    AMX_ISSUE(to, AMXI_LDY, a | AMX_REG(0));
    load_x_four(to, b, 0, quad);
    for (uint32_t i = 0; i < k && !AMX_PASS(to, (k - i) / 8); i += 8) {
#pragma GCC unroll 2
        for (unsigned s = 0; s < 2; s++) {
            a += 64;
            b += 256;
            AMX_ISSUE(to, AMXI_LDY, a | AMX_REG(1 - s));
            load_x_four(to, b, 4 * (1 - s), quad);
            for (unsigned q = 0; q < 4; q++)
                AMX_ISSUE(to, AMXI_MATINT, mode | AMX_XOFF(64 * (4 * s + q)) | AMX_YOFF(64 * s + q));
        }
    }
    AMX_LEAVE(ctx, to);
}

/* Kinds whose instruction has no "skip Z" start from a Z of zeros: mac16 with both inputs skipped writes 0 everywhere. */
static void clear_z(struct amx_ctx *ctx)
{
    AMX_ISSUE(ctx, AMXI_MAC16, AMX_FMA_WIDE_Z | AMX_SKIP_Z | UINT64_C(1) << 28 | UINT64_C(1) << 29);
}

void gemm_tile(struct amx_ctx *ctx, enum gemm_kind kind, uint64_t panel_a, uint64_t panel_b, uint32_t k, int keep_z, int quad)
{
    const uint64_t first = keep_z ? 0 : AMX_SKIP_Z;
    switch (kind) {
    case GEMM_F64: tile_f64(ctx, panel_a, panel_b, k, first, quad); break;
    case GEMM_F32:
        if (quad)
            tile_f32_quads(ctx, panel_a, panel_b, k, first);
        else
            tile_f32_pairs(ctx, panel_a, panel_b, k, first);
        break;
    case GEMM_F16: tile_f16(ctx, panel_a, panel_b, k, first, quad); break;
    case GEMM_F16_F32: tile_wide(ctx, AMXI_FMA16, AMX_FMA_WIDE_Z, panel_a, panel_b, k, first); break;
    case GEMM_I16_I32: tile_wide(ctx, AMXI_MAC16, AMX_FMA_WIDE_Z, panel_a, panel_b, k, first); break;
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
    case GEMM_KIND_COUNT: break;
    }
}

/* ---- moving the tile ---- */

/* How rows of a tile lie in Z: `groups` runs of group_rows rows; row j of run g is in the `width` consecutive Z rows from
 * width g + z_step j. */
struct tile_rows {
    unsigned group_rows, groups, z_step, width;
};

static inline struct tile_rows rows_of(enum gemm_kind kind, struct gemm_form form)
{
    switch (kind) {
    case GEMM_F64: return (struct tile_rows){8, 4, 8, 2};
    case GEMM_F32: return (struct tile_rows){16, form.y, 4, form.x};
    case GEMM_I8_I32: return (struct tile_rows){16, 1, 4, 4};
    default: return (struct tile_rows){32, 1, 2, 2};
    }
}

static int is_interleaved(enum gemm_kind kind)
{
    return kind == GEMM_F16_F32 || kind == GEMM_BF16_F32 || kind == GEMM_I16_I32;
}

/* One operand advances over the rows: its address and Z row step together, so that a row costs an addition. */
#define MOVE_FUNCTIONS(name, op, op_interleaved)                                                                                 \
    static void name##_pairs(struct amx_ctx *ctx, uint64_t operand, uint64_t step, unsigned rows)                                \
    {                                                                                                                            \
        for (unsigned r = 0; r < rows; r++, operand += step)                                                                     \
            AMX_ISSUE(ctx, op, operand | AMX_PAIR);                                                                              \
    }                                                                                                                            \
    static void name##_singles(struct amx_ctx *ctx, uint64_t operand, uint64_t step, unsigned rows)                              \
    {                                                                                                                            \
        for (unsigned r = 0; r < rows; r++, operand += step) {                                                                   \
            AMX_ISSUE(ctx, op, operand);                                                                                         \
            AMX_ISSUE(ctx, op, operand + 64 + AMX_REG(1));                                                                       \
        }                                                                                                                        \
    }                                                                                                                            \
    static void name##_interleaved(struct amx_ctx *ctx, uint64_t operand, uint64_t row_bytes, unsigned rows)                     \
    {                                                                                                                            \
        for (unsigned r = 0; r < rows; r++, operand += row_bytes + AMX_ZHALF(1, 0)) {                                            \
            AMX_ISSUE(ctx, op_interleaved, operand);                                                                             \
            AMX_ISSUE(ctx, op_interleaved, operand + 64 + AMX_ZHALF(0, 1));                                                      \
        }                                                                                                                        \
    }                                                                                                                            \
    static void name##_lines(struct amx_ctx *ctx, uint64_t operand, uint64_t step, unsigned rows)                                \
    {                                                                                                                            \
        for (unsigned r = 0; r < rows; r++, operand += step)                                                                     \
            AMX_ISSUE(ctx, op, operand);                                                                                         \
    }                                                                                                                            \
    static void name##_rows(struct amx_ctx *ctx, struct tile_rows t, uint64_t c, uint64_t row_bytes, unsigned rows)              \
    {                                                                                                                            \
        const uint64_t step = row_bytes + AMX_REG(t.z_step);                                                                     \
        for (unsigned g = 0; g < t.groups && rows; g++) {                                                                        \
            const unsigned n = rows < t.group_rows ? rows : t.group_rows;                                                        \
            const uint64_t operand = c | AMX_REG(t.width * g);                                                                   \
            for (unsigned z = 0; z < t.width; z += 2) {                                                                          \
                const uint64_t at = operand + 64 * z + AMX_REG(z);                                                               \
                if (t.width == 1)                                                                                                \
                    name##_lines(ctx, at, step, n);                                                                              \
                else if ((c | row_bytes) % 128 == 0)                                                                             \
                    name##_pairs(ctx, at, step, n);                                                                              \
                else                                                                                                             \
                    name##_singles(ctx, at, step, n);                                                                            \
            }                                                                                                                    \
            c += n * row_bytes;                                                                                                  \
            rows -= n;                                                                                                           \
        }                                                                                                                        \
    }

MOVE_FUNCTIONS(store, AMXI_STZ, AMXI_STZI)
MOVE_FUNCTIONS(load, AMXI_LDZ, AMXI_LDZI)

void gemm_tile_store(struct amx_ctx *ctx, enum gemm_kind kind, struct gemm_form form, uint64_t c, uint64_t row_bytes,
                     uint32_t rows)
{
    if (is_interleaved(kind))
        store_interleaved(ctx, c, row_bytes, rows);
    else
        store_rows(ctx, rows_of(kind, form), c, row_bytes, rows);
}

void gemm_tile_load(struct amx_ctx *ctx, enum gemm_kind kind, struct gemm_form form, uint64_t c, uint64_t row_bytes,
                    uint32_t rows)
{
    if (is_interleaved(kind))
        load_interleaved(ctx, c, row_bytes, rows);
    else
        load_rows(ctx, rows_of(kind, form), c, row_bytes, rows);
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

void gemm_tile_blend(struct amx_ctx *ctx, enum gemm_kind kind, uint64_t acc, uint64_t in, uint64_t in_row_bytes, uint64_t out,
                     uint64_t out_row_bytes, uint64_t scale, uint32_t rows)
{
    /* Y0 = alphas, Y1 = betas. Lines rotate through X and through the Z rows, so that they overlap. */
    AMX_ISSUE(ctx, AMXI_LDY, scale | AMX_PAIR);
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
