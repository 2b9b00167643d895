#include "sim/prove/validate/power_loops.h"

/* A turn has 32 instructions on 256 bytes; LINES turns cover 16 KiB of a first-level cache. */
enum { BASE = 27, COUNTER = 28, LINES = 64, TURNS = 1500, LINE_BYTES = 256 };

/* ---- encodings (Arm ARM, DDI 0487) ---- */

#define LDR_S     UINT32_C(0xbd400000) /* offset in words */
#define LDR_W     UINT32_C(0xb9400000)
#define LDR_X     UINT32_C(0xf9400000) /* offset in doublewords */
#define STR_X     UINT32_C(0xf9000000)
#define STRH_W    UINT32_C(0x79000000) /* offset in halfwords */
#define LDR_X_X   UINT32_C(0xf8606800) /* base plus register */
#define CBZ_NEXT  UINT32_C(0xb4000020) /* branches to the next instruction, so it does not matter whether it is taken */
#define CBNZ_NEXT UINT32_C(0xb5000020)

enum { ADD = 0x8b000000, EOR = 0xca000000, SUB = 0xcb000000, MUL = 0x9b007c00 };
enum { FADD_S = 0x1e202800, FSUB_S = 0x1e203800, FMUL_S = 0x1e200800, FMLA_4S = 0x4e20cc00, FMUL_4S = 0x6e20dc00 };

static void memory(struct emit *e, uint32_t op, unsigned target, unsigned element)
{
    emit_word(e, op | element << 10 | BASE << 5 | target);
}

static void integer(struct emit *e, uint32_t op, unsigned d, unsigned n, unsigned m)
{
    emit_word(e, emit_rd_rn_rm(op, d, n, m));
}

/* ---- mixes ---- */

/* Eight floating-point operations, seven loads and two stores that hit L1, four predicted branches, a multiplication and ten
 * other integer operations. As in Cinebench 2024, the successor of R23 (chipsandcheese.com on Cinebench 2024), most
 * floating-point operations are scalar single-precision multiplications and additions and one instruction in 15 works on 128-bit
 * vectors. The rest of the shares, and that four of the scalar operations wait for one another, are guesses: no count of R23 is
 * published. A turn of the chain takes 13 cycles of a P core: 2.5 instructions a cycle. */
static void renderer_turn(struct emit *e)
{
    static const uint32_t chain[4] = {FMUL_S, FADD_S, FSUB_S, FADD_S};
    for (unsigned i = 0; i < 4; i++) {
        integer(e, chain[i], 0, 0, 1 + i);
        memory(e, LDR_S, 24 + i, i);
        integer(e, i % 2 ? EOR : ADD, 3, 3, 4); /* a dependent chain */
        emit_word(e, (i % 2 ? CBNZ_NEXT : CBZ_NEXT) | 1);
        integer(e, ADD, 5 + i % 2, 7, 8 + i % 2);
        if (i < 3)
            memory(e, LDR_X, 10 + i, 2 + i);
    }
    integer(e, FMUL_S, 8, 9, 10);
    integer(e, FADD_S, 11, 9, 12);
    integer(e, FMLA_4S, 16, 17, 18);
    integer(e, FMUL_4S, 19, 17, 18);
    integer(e, MUL, 13, 1, 2);
    memory(e, STR_X, 9, 16);
    memory(e, STR_X, 9, 17);
    integer(e, SUB, 14, 7, 8);
    integer(e, EOR, 15, 7, 8);
}

/* Sixteen integer operations and one multiplication, seven branches, six loads, two stores, as counted in CoreMark built by gcc
 * 12 -O3: 51, 3, 21, 19 and 5 in a hundred. Two loads wait for one another through an address, as in its lists: 10 cycles a
 * turn, 3.2 instructions a cycle, close to the 3.0 that make 31 100 iterations a second at 3.2 GHz (EntityFX/anybench, results of
 * M1) of its 294 000 instructions. */
static void coremark_turn(struct emit *e)
{
    for (unsigned i = 0; i < 2; i++) {
        integer(e, LDR_X_X, 9, BASE, 12);
        integer(e, EOR, 12, 9, 9); /* 0: the address of the next access */
        for (unsigned k = 0; k < 3; k++) {
            integer(e, ADD, 3 + k, 3 + k, 6);
            emit_word(e, (k % 2 ? CBNZ_NEXT : CBZ_NEXT) | 1);
            integer(e, k % 2 ? EOR : SUB, 10 + k % 2, 6, 7);
        }
        memory(e, LDR_W, 13 + i, i);
        memory(e, LDR_W, 15, 2 + i);
        memory(e, STRH_W, 7, 32 + i);
        integer(e, ADD, 8, 6, 7);
    }
    integer(e, MUL, 14, 1, 2);
    emit_word(e, CBZ_NEXT | 1);
}

static const struct {
    void (*turn)(struct emit *e);
    const char *about;
} loops[] = {
    [POWER_LOOP_RENDERER] = {renderer_turn,
                             "a loop with the instruction mix of a renderer (guessed): Cinebench itself is not simulated"},
    [POWER_LOOP_COREMARK] = {coremark_turn,
                             "a loop with the instruction mix counted in CoreMark, which the source ran on one core"},
};

void power_loop_emit(struct emit *e, enum power_loop loop, uint64_t data_addr)
{
    for (unsigned x = 0; x < 16; x++)
        emit_constant(e, x, x + 1);
    emit_constant(e, 12, 0);
    const size_t outer = emit_loop(e, COUNTER, TURNS / LINES);
    emit_constant(e, BASE, data_addr);
    for (unsigned line = 0; line < LINES; line++) {
        loops[loop].turn(e);
        emit_add(e, BASE, BASE, LINE_BYTES);
    }
    emit_loop_end(e, COUNTER, outer);
    emit_exit(e);
}

uint64_t power_loop_data_bytes(void)
{
    return UINT64_C(2) * LINES * LINE_BYTES;
}

const char *power_loop_about(enum power_loop loop)
{
    return loops[loop].about;
}
