/* AMX instructions for kernels written in C, with three homes from one source:
 *   - AArch64 (an ELF under orchard, or a Mac): each intrinsic is the instruction word itself;
 *   - in-process (any other host): each intrinsic is handed to the unit through `struct amx_ctx`.
 * A kernel passes `ctx` along and otherwise does not know where it lives.
 *
 * Operand fields: github corsix/amx (ldst.md, fma.md, mac16.md, matfp.md, matint.md).
 */
#ifndef ORCHARD_UNITS_AMX_KERNELS_AMX_INTRINSICS_H
#define ORCHARD_UNITS_AMX_KERNELS_AMX_INTRINSICS_H

#include <stddef.h>
#include <stdint.h>

/* ---- operand fields ---- */
#define AMX_REG(n)       ((uint64_t)(n) << 56)                       /* first X/Y register or Z row of a transfer */
#define AMX_PAIR         (UINT64_C(1) << 62)                         /* two registers, 128-byte aligned */
#define AMX_QUAD         (UINT64_C(1) << 62 | UINT64_C(1) << 60)     /* four registers, M2 and later */
#define AMX_ZHALF(n, h)  ((uint64_t)(n) << 57 | (uint64_t)(h) << 56) /* ldzi/stzi: row pair and half */
#define AMX_XOFF(bytes)  ((uint64_t)(bytes) << 10)
#define AMX_YOFF(bytes)  ((uint64_t)(bytes))
#define AMX_ZROW(n)      ((uint64_t)(n) << 20)
#define AMX_SKIP_Z       (UINT64_C(1) << 27)
#define AMX_FMA_VECTOR   (UINT64_C(1) << 63)
#define AMX_FMA_WIDE_Z   (UINT64_C(1) << 62)      /* fma16, mac16: 32-bit Z */
#define AMX_LANES(mode)  ((uint64_t)(mode) << 42) /* vecfp, matfp, vecint, matint */
#define AMX_ALU(mode)    ((uint64_t)(mode) << 47)
#define AMX_X_SHUFFLE(s) ((uint64_t)(s) << 29)
#define AMX_INT_SIGNED   (UINT64_C(1) << 63 | UINT64_C(1) << 26) /* matint, vecint: both operands */

/* ---- opnums ---- */
enum {
    AMXI_LDX = 0,
    AMXI_LDY = 1,
    AMXI_STX = 2,
    AMXI_STY = 3,
    AMXI_LDZ = 4,
    AMXI_STZ = 5,
    AMXI_LDZI = 6,
    AMXI_STZI = 7,
    AMXI_EXTRX = 8,
    AMXI_EXTRY = 9,
    AMXI_FMA64 = 10,
    AMXI_FMA32 = 12,
    AMXI_FMS32 = 13,
    AMXI_MAC16 = 14,
    AMXI_FMA16 = 15,
    AMXI_SETCLR = 17,
    AMXI_VECINT = 18,
    AMXI_VECFP = 19,
    AMXI_MATINT = 20,
    AMXI_MATFP = 21,
    AMXI_GENLUT = 22
};

#if defined(__aarch64__) && !defined(AMX_IN_PROCESS)

struct amx_ctx; /* an empty type: the instructions go to the machine */
struct amx_cursor;

/* The assembler puts the number of the register that holds the operand into the low five bits of the word. */
#define AMX_ISSUE(ctx, op, operand)                                                                                              \
    do {                                                                                                                         \
        (void)(ctx);                                                                                                             \
        __asm__ volatile(".irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30\n"           \
                         ".ifc x\\n,%0\n.inst 0x00201000 | %c1 << 5 | \\n\n.endif\n.endr"                                        \
                         :                                                                                                       \
                         : "r"((uint64_t)(operand)), "i"(op)                                                                     \
                         : "memory");                                                                                            \
    } while (0)
#define AMX_ENTER(ctx, to)                                                                   struct amx_cursor *const to = ((void)(ctx), NULL)
#define AMX_LEAVE(ctx, to)                                                                   ((void)(to))
#define AMX_PASS(to, left)                                                                   ((void)(to), 0)
#define AMX_SET(ctx)                                                                         __asm__ volatile("nop\nnop\nnop\n.inst 0x00201220" ::: "memory")
#define AMX_CLR(ctx)                                                                         __asm__ volatile("nop\nnop\nnop\n.inst 0x00201221" ::: "memory")
#define AMX_ADDRESS(ctx, pointer)                                                            ((void)(ctx), (uint64_t)(uintptr_t)(pointer))
#define AMX_SCALAR_BEGIN(ctx)                                                                ((void)(ctx))
#define AMX_SCALAR_COPY(ctx, dst, dst_row, src, src_row, rows, row_bytes)                    ((void)(ctx))
#define AMX_SCALAR_TRANSPOSE(ctx, dst, dst_row, src, src_row, vectors, count, element_bytes) ((void)(ctx))

#else

#define AMX_CTX_BATCH 4096

/* The in-process home. `flush` executes and times the batch. The scalar hooks report to the timing what the plain C code between
 * AMX instructions does (the words that it would run on an AArch64 core are compiled from the same source). */
struct amx_ctx {
    uint64_t host_base; /* host address of simulated address 0 */
    uint32_t count;
    uint8_t op[AMX_CTX_BATCH];
    uint64_t operand[AMX_CTX_BATCH];
    void (*flush)(struct amx_ctx *ctx);
    /* May be NULL. The instructions [first, second) and [second, count) are two passes of a loop, of which `left` remain. Returns
     * non-zero when it has done all of it. */
    int (*passes)(struct amx_ctx *ctx, uint32_t first, uint32_t second, uint32_t left);
    void (*copy)(struct amx_ctx *ctx, const void *dst, uint64_t dst_row, const void *src, uint64_t src_row, uint32_t rows,
                 uint32_t row_bytes);
    void (*transpose)(struct amx_ctx *ctx, const void *dst, uint64_t dst_row, const void *src, uint64_t src_row, uint32_t vectors,
                      uint32_t count, uint32_t element_bytes);
    void *owner;
};

static inline void amx_ctx_push(struct amx_ctx *ctx, uint8_t op, uint64_t operand)
{
    ctx->op[ctx->count] = op;
    ctx->operand[ctx->count] = operand;
    if (++ctx->count == AMX_CTX_BATCH)
        ctx->flush(ctx);
}

/* For loops: the end of the batch, in a variable of the function (AMX_ENTER .. AMX_LEAVE) that the compiler can keep in a
 * register. It cannot do so in struct amx_ctx, because a store to op[] might change it. */
struct amx_cursor {
    struct amx_ctx *ctx;
    uint32_t count;
    uint32_t begun, pass[2]; /* passes begun since the batch was empty; where the latest two began */
};

static inline __attribute__((always_inline)) void amx_cursor_push(struct amx_cursor *to, uint8_t op, uint64_t operand)
{
    struct amx_ctx *ctx = to->ctx;
    ctx->op[to->count] = op;
    ctx->operand[to->count] = operand;
    if (__builtin_expect(++to->count == AMX_CTX_BATCH, 0)) {
        ctx->count = to->count;
        ctx->flush(ctx);
        to->count = to->begun = 0;
    }
}

/* Begins a pass of a loop of which `left` remain, this one included. Returns non-zero when the kernel's home has done all of
 * them. */
static inline int amx_cursor_pass(struct amx_cursor *to, uint32_t left)
{
    struct amx_ctx *ctx = to->ctx;
    if (ctx->passes && to->begun >= 2 && to->count - to->pass[1] == to->pass[1] - to->pass[0]) {
        ctx->count = to->count;
        const int done = ctx->passes(ctx, to->pass[0], to->pass[1], left);
        to->count = ctx->count;
        if (done)
            return 1;
    }
    to->begun++;
    to->pass[0] = to->pass[1];
    to->pass[1] = to->count;
    return 0;
}
#define AMX_ENTER(ctx, to)                                                                                                       \
    struct amx_cursor to##_cursor = {ctx, (ctx)->count, 0, {0, 0}};                                                              \
    struct amx_cursor *const to = &to##_cursor
#define AMX_LEAVE(ctx, to) ((ctx)->count = (to)->count)

/* Stands at the head of a loop whose passes differ only in their pointers, and in those by constant steps (except perhaps the
 * first passes). The loop must be left when this is not 0. */
#define AMX_PASS(to, left) amx_cursor_pass(to, left)

/* Issues through the context or, between AMX_ENTER and AMX_LEAVE, through the cursor. */
#define AMX_ISSUE(to, op, operand)                                                                                               \
    _Generic((to), struct amx_ctx * : amx_ctx_push, struct amx_cursor * : amx_cursor_push)(to, op, operand)
#define AMX_SET(ctx)              amx_ctx_push(ctx, AMXI_SETCLR, 0)
#define AMX_CLR(ctx)              amx_ctx_push(ctx, AMXI_SETCLR, 1)
#define AMX_ADDRESS(ctx, pointer) ((uint64_t)(uintptr_t)(pointer) - (ctx)->host_base)
/* Must come before C code reads or writes memory that AMX instructions touch. */
#define AMX_SCALAR_BEGIN(ctx)     ((ctx)->count ? (ctx)->flush(ctx) : (void)0)
/* Must come after C code copied `rows` rows of row_bytes, or transposed `vectors` strided source vectors of `count` elements. */
#define AMX_SCALAR_COPY(ctx, dst, dst_row, src, src_row, rows, row_bytes)                                                        \
    (ctx)->copy(ctx, dst, dst_row, src, src_row, rows, row_bytes)
#define AMX_SCALAR_TRANSPOSE(ctx, dst, dst_row, src, src_row, vectors, count, element_bytes)                                     \
    (ctx)->transpose(ctx, dst, dst_row, src, src_row, vectors, count, element_bytes)

#endif
#endif
