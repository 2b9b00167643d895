/* Tiles of f32 of which one side, or both, are turned in the unit: rows of the matrix go to Z as they are and leave it as
 * columns, so that no core packs them first. Loads of Z wait for no place in L1, and many are under way at once.
 *
 * Row 4 j + c of Z holds row j of what column c of the tile's accumulators has (f32: github corsix/amx, RegisterFile.md); the
 * accumulators use the first columns, blocks of 16 vectors by 16 k the others.
 */
#include "units/amx/kernels/gemm_tile.h"

#define LANES 16u
#define AHEAD 4u /* blocks from a touch to its use; 2 are as good, 8 and more take up to a tenth longer (M1, M4 Pro) */

/* extrv of 32-bit lanes, of column `z` (4 * element + row inside each cell of four rows), to X or Y (extr.md: bit 26, lanes 8).
 */
#define EXTR_COLUMN(z) (UINT64_C(1) << 26 | UINT64_C(8) << 11 | (uint64_t)(z) << 20)
#define EXTR_TO_Y      (UINT64_C(1) << 10)

/* A side: `groups` of 16 elements each, turned or read line by line. */
struct turn_side {
    struct gemm_lines lines;
    struct gemm_turned turned;
    unsigned groups, column; /* column: of Z, where its first group is turned */
};

static inline __attribute__((always_inline)) void load_blocks(struct amx_cursor *to, const struct turn_side *s)
{
    for (unsigned g = 0; g < s->groups; g++)
        for (unsigned j = LANES * g; j < LANES * (g + 1) && j < s->turned.valid; j++)
            AMX_ISSUE(to, AMXI_LDZ, (s->turned.at + j * s->turned.step_bytes) | AMX_REG(4 * (j % LANES) + s->column + g));
}

/* Vectors that a side turns. */
static inline __attribute__((always_inline)) unsigned vectors_of(const struct turn_side *s)
{
    return s->turned.valid ? LANES * s->groups : 0;
}

/* Brings a line of vector `j` of those that are turned, first a's, nearer: it is needed some blocks later, by two of them. What
 * is loaded goes to a register that nobody reads, because blocks find no free rows of Z so far ahead and prefetchers follow fewer
 * streams than there are vectors. `half`: this block is the second of a pair, and the lines begin a block before it. */
static inline __attribute__((always_inline)) void touch(struct amx_cursor *to, const struct turn_side *a,
                                                        const struct turn_side *b, unsigned j, unsigned half)
{
    const struct turn_side *const s = j < vectors_of(a) ? a : b;
    const unsigned at = j < vectors_of(a) ? j : j - vectors_of(a);
    if (at < s->turned.valid)
        AMX_ISSUE(to, AMXI_LDX, (s->turned.at + at * s->turned.step_bytes + 64 * (AHEAD - half)) | AMX_REG(7));
}

/* The elements of k number `i` of the block into set `set` of the side's registers. */
static inline __attribute__((always_inline)) void take(struct amx_cursor *to, const struct turn_side *s, int is_a, unsigned i,
                                                       unsigned set)
{
    for (unsigned g = 0; g < s->groups; g++) {
        const uint64_t reg = s->groups * set + g, line = (s->lines.at + i * s->lines.step_bytes + 64 * g) | AMX_REG(reg);
        if (s->turned.valid)
            AMX_ISSUE(to, AMXI_EXTRY, EXTR_COLUMN(4 * i + s->column + g) | (is_a ? EXTR_TO_Y : 0) | 64 * reg);
        else if (is_a)
            AMX_ISSUE(to, AMXI_LDY, line);
        else
            AMX_ISSUE(to, AMXI_LDX, line);
    }
}

static inline __attribute__((always_inline)) void products(struct amx_cursor *to, const struct turn_side *a,
                                                           const struct turn_side *b, unsigned set, uint64_t z)
{
    for (unsigned y = 0; y < a->groups; y++)
        for (unsigned x = 0; x < b->groups; x++)
            AMX_ISSUE(to, AMXI_FMA32,
                      AMX_XOFF(64 * (b->groups * set + x)) | AMX_YOFF(64 * (a->groups * set + y)) | AMX_ZROW(b->groups * y + x) |
                          z);
}

static inline __attribute__((always_inline)) void advance(struct turn_side *s)
{
    s->lines.at += GEMM_TURN_K * s->lines.step_bytes;
    s->turned.at += 4 * GEMM_TURN_K;
}

/* A block of 16 k. Elements are taken `sets` - 1 steps ahead of their products, and a touch goes with each: all at once, they
 * would wait behind one another and then none would be under way. half: as above; 2 = no touches. Returns what the next product
 * does with Z. */
static inline __attribute__((always_inline)) uint64_t block(struct amx_cursor *to, struct turn_side *a, struct turn_side *b,
                                                            unsigned sets, unsigned half, uint64_t z)
{
    load_blocks(to, a);
    load_blocks(to, b);
    for (unsigned i = 0; i < GEMM_TURN_K + sets - 1; i++) {
        if (i < GEMM_TURN_K) {
            take(to, a, 1, i, i % sets);
            take(to, b, 0, i, i % sets);
            if (half < 2)
                touch(to, a, b, LANES * half + i, half);
        }
        if (i + 1 >= sets) {
            products(to, a, b, (i + 1 - sets) % sets, z);
            z = 0;
        }
    }
    advance(a);
    advance(b);
    return z;
}

static inline __attribute__((always_inline)) void tile(struct amx_ctx *ctx, struct turn_side a, struct turn_side b, unsigned sets,
                                                       uint32_t blocks, uint64_t z)
{
    uint32_t left = blocks;
    AMX_ENTER(ctx, to);
    for (; left >= AHEAD + 2 && !AMX_PASS(to, left / 2 - AHEAD / 2); left -= 2) {
        z = block(to, &a, &b, sets, 0, z);
        z = block(to, &a, &b, sets, 1, z);
    }
    if (left >= AHEAD + 2) { /* the kernel's home has done the passes */
        const uint32_t done = (left / 2 - AHEAD / 2) * 2;
        a.lines.at += done * GEMM_TURN_K * a.lines.step_bytes;
        b.lines.at += done * GEMM_TURN_K * b.lines.step_bytes;
        a.turned.at += done * 4 * GEMM_TURN_K;
        b.turned.at += done * 4 * GEMM_TURN_K;
        left -= done;
        z = 0;
    }
    for (; left > 0; left--)
        z = block(to, &a, &b, sets, 2, z);
    AMX_LEAVE(ctx, to);
}

void gemm_tile_turned(struct amx_ctx *ctx, struct gemm_form form, struct gemm_lines a, struct gemm_lines b,
                      const struct gemm_turned turned[2], uint32_t k, int keep_z)
{
    const unsigned own = (unsigned)form.y * form.x;
    const struct turn_side y = {a, turned[0], form.y, own}, x = {b, turned[1], form.x, own + (turned[0].valid ? form.y : 0)};
    const unsigned widest = form.y > form.x ? form.y : form.x;
    tile(ctx, y, x, 7 / widest, k / GEMM_TURN_K, keep_z ? 0 : AMX_SKIP_Z);
}
