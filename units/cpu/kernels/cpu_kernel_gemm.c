/* gemm: native/gemm.c, gemm_i8.c, gemm_double.c, gemm_half.c, gemm_dots.c, gemm_blocks.c. */
#include "units/cpu/kernels/cpu_kernel_family.h"

#include <stdio.h>

/* ORDER: native/gemm_tile.h, and the sources above. */
enum { TILE_ROWS = 8, BLOCK_PANELS = 8, DOT_ROWS = 16 };
enum { ACC = GEMM_OWN, ALGO, PACKED, ACC_F32 = 0, ACC_F16, ALGO_TILES = 0, ALGO_DOTS, ALGO_PAIRS };

static const struct kernel_parameter parameters[] = {ROUTINE_GEMM_PARAMETERS,
                                                     {.name = "acc", .words = "f32|f16"},
                                                     {.name = "algo", .words = "tiles|dots|pairs"},
                                                     {.name = "packed", .least = 0, .most = 1},
                                                     {.name = NULL}};

/* How a type is computed. */
struct method {
    const char *variant, *suffix;
    unsigned columns, group, packed_bytes; /* of a tile; neighbours along k of a step; bytes of a packed element */
    double epsilon;
    const char *panels[2]; /* of b, of c, for people */
};
#define PANELS(columns)                                                                                                          \
    {                                                                                                                            \
        "panels of " #columns " columns of b", "panels of " #columns " columns of c"                                             \
    }

static struct method method_of(const struct routine_request *r)
{
    const bool half = r->value[ACC] == ACC_F16;
    switch (r->type) {
    case ROUTINE_I8: return (struct method){"neon_igemm8_8x12_dot", "i8", 12, 4, 1, 0x1p-24, PANELS(12)};
    case ROUTINE_F64:
        return (struct method){"neon_dgemm_8x6", "f64", 6, 1, 8, 0x1p-52, PANELS(6)}; /* the reference is no better */
    case ROUTINE_BF16: return (struct method){"neon_bsgemm_8x12", "bf16", 12, 1, 4, 0x1p-24, PANELS(12)};
    case ROUTINE_F16:
        return half ? (struct method){"neon_hgemm_8x24", "f16_sums", 24, 1, 2, 0x1p-11, PANELS(24)}
                    : (struct method){"neon_hsgemm_8x12", "f16", 12, 1, 4, 0x1p-24, PANELS(12)};
    default: return (struct method){"neon_sgemm_8x12", "f32", 12, 1, 4, 0x1p-24, PANELS(12)};
    }
}

static uint64_t panels_of(uint64_t count, unsigned width)
{
    return (count + width - 1) / width;
}

static struct routine_call *add_call(struct routine_work *w, const char *name, const char *suffix, const char *items,
                                     uint64_t count)
{
    char symbol[40];
    snprintf(symbol, sizeof symbol, "%s_%s", name, suffix);
    return routine_add_call(w, symbol, ROUTINE_TYPES, items, count);
}

static void pass(const struct routine_request *r, const struct routine_work *w, unsigned packed, unsigned own, bool by_columns,
                 struct routine_call *c)
{
    for (unsigned operand = 0; operand < 3; operand++)
        routine_pass_operand(c, operand, 0);
    routine_pass_operand(c, packed, 0);
    routine_pass_operand(c, own, 0);
    routine_pass(c, (int64_t)w->operand[own].thread_stride_bytes);
    for (unsigned value = GEMM_M; value <= GEMM_TB; value++)
        routine_pass(c, r->value[value]);
    routine_pass_real(c, r->decimal[GEMM_ALPHA]);
    routine_pass_real(c, r->decimal[GEMM_BETA]);
    routine_pass(c, by_columns);
}

/* a is rounded to blocks of 34 bytes, like b. */
static bool build_blocks(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    const uint64_t batch = (uint64_t)r->value[GEMM_BATCH], m = (uint64_t)r->value[GEMM_M];
    const bool pairs = r->value[ALGO] == ALGO_PAIRS;
    const char *const name = pairs ? "neon_gemm_pairs" : "neon_gemm_dots";
    if (pairs && (m % 2 || r->value[GEMM_N] % 2))
        return kernel_refuse(error, "gemm: algo=pairs takes two rows of both operands at a time: M and N must be even");
    const unsigned packed =
        routine_add_scratch(w, "packed", batch * routine_type_bytes(ROUTINE_Q8_0, m * (uint64_t)r->value[GEMM_K]), 0);
    pass(r, w, packed, 0, false, add_call(w, "neon_gemm_to", "q8_0", "rows of a", batch * m));
    pass(r, w, packed, 0, false,
         add_call(w, name, routine_type_name(r->type), "blocks of 16 rows of c", batch * panels_of(m, DOT_ROWS)));
    snprintf(w->variant, sizeof w->variant, "%s_%s", name, routine_type_name(r->type));
    return true;
}

/* Rows of both operands as they are. */
static bool build_dots(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    const bool half = r->type == ROUTINE_F16;
    if (r->type == ROUTINE_I8 || r->type == ROUTINE_F64 || half != (r->value[ACC] == ACC_F16))
        return kernel_refuse(error, "gemm: algo=dots sums f16 in f16 (acc=f16), f32 and bf16 in f32, and has no other types");
    if (r->value[GEMM_TA] || !r->value[GEMM_TB])
        return kernel_refuse(error, "gemm: algo=dots wants rows of both operands side by side: ta=0 and tb=1");
    w->epsilon = half ? 0x1p-11 : w->epsilon;
    const uint64_t items = (uint64_t)r->value[GEMM_BATCH] * panels_of((uint64_t)r->value[GEMM_M], DOT_ROWS);
    pass(r, w, 0, 0, false, add_call(w, "neon_gemm_dots", routine_type_name(r->type), "blocks of 16 rows of c", items));
    snprintf(w->variant, sizeof w->variant, "neon_%sgemm_dots", half ? "h" : r->type == ROUTINE_BF16 ? "bs" : "s");
    return true;
}

static bool build(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    if (routine_type_block(r->type) > 1)
        return r->value[ACC] == ACC_F16 ? kernel_refuse(error, "gemm: sums in f16 (acc=f16) go with elements in f16")
                                        : build_blocks(r, w, error);
    if (r->value[ALGO] == ALGO_PAIRS)
        return kernel_refuse(error, "gemm: algo=pairs multiplies blocks of small integers: q4_0 and q8_0");
    if (r->value[ALGO] == ALGO_DOTS)
        return build_dots(r, w, error);
    const struct method t = method_of(r);
    const uint64_t batch = (uint64_t)r->value[GEMM_BATCH], rows = panels_of((uint64_t)r->value[GEMM_M], TILE_ROWS);
    const uint64_t columns = panels_of((uint64_t)r->value[GEMM_N], t.columns);
    const uint64_t depth =
        panels_of((uint64_t)r->value[GEMM_K], t.group) * t.group * t.packed_bytes; /* bytes of a row or column */
    const unsigned threads = r->threads ? r->threads : 1;
    /* Each thread packs the rows that it needs: by rows as long as every thread gets some. */
    const bool by_columns = rows * batch < 2 * threads && columns * batch > rows * batch;
    if (r->value[ACC] == ACC_F16 && r->type != ROUTINE_F16)
        return kernel_refuse(error, "gemm: sums in f16 (acc=f16) go with elements in f16");
    if (!routine_check_count("gemm", ROUTINE_DIMS(batch * columns, t.columns, depth), error))
        return false;
    w->epsilon = t.epsilon;
    const unsigned packed = routine_add_scratch(w, "packed", batch * columns * t.columns * depth, 0);
    const unsigned own = routine_add_scratch(w, "own", BLOCK_PANELS * TILE_ROWS * depth, threads);
    pass(r, w, packed, own, by_columns, add_call(w, "neon_gemm_pack", t.suffix, t.panels[0], batch * columns));
    pass(r, w, packed, own, by_columns,
         add_call(w, "neon_gemm", t.suffix, by_columns ? t.panels[1] : "panels of 8 rows of c",
                  batch * (by_columns ? columns : rows)));
    w->loading = r->value[PACKED] ? 1 : 0;
    snprintf(w->variant, sizeof w->variant, "%s", t.variant);
    return true;
}

const struct routine cpu_kernel_gemm = {
    .operation = &operation_gemm,
    .grammar = "MxNxK[,batch=B][,ta=0|1][,tb=0|1][,alpha=X][,beta=X][,acc=f32|f16][,algo=tiles|dots|pairs][,packed=0|1]",
    .precisions = "f32 f16 bf16 f64 i8 q4_0 q8_0",
    .text =
        "c = alpha * op(a) * op(b) + beta * c, row-major, sums in f32 (f64: in f64; i8: in i32, which is also the type of c); "
        "ta/tb: operand "
        "stored transposed; acc: type of sums for f16; algo: tiles in registers of packed operands, or one dot product after the "
        "other, or pairs: q4_0 and q8_0 by products of byte matrices, which M1 does not have; q4_0 and q8_0: b in blocks of "
        "ggml, a rounded to q8_0, a and c in f32; packed=1: b are constants that were "
        "brought "
        "into panels before the run",
    .parameter = parameters,
    .build = build,
};
