/* Writes a few AArch64 instructions, enough for the loops of published microbenchmarks. Encodings: Arm ARM (DDI 0487). */
#ifndef ORCHARD_ISA_A64_A64_EMIT_H
#define ORCHARD_ISA_A64_A64_EMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct emit {
    uint32_t *word;
    size_t count, room;
    bool failed; /* memory ran out; words are lost from then on */
};

void emit_free(struct emit *e);
void emit_word(struct emit *e, uint32_t word);
void emit_repeat(struct emit *e, uint32_t word, unsigned times);
void emit_constant(struct emit *e, unsigned x, uint64_t value); /* movz, movk */
void emit_amx(struct emit *e, unsigned op, unsigned x);
void emit_amx_enable(struct emit *e, bool enable);
void emit_add(struct emit *e, unsigned xd, unsigned xn, unsigned imm); /* 0..4095, or a multiple of 4096 up to 2^24 */
/* A loop: emit_loop sets x and returns its top; emit_loop_end counts x down and branches to the top until x is 0. */
size_t emit_loop(struct emit *e, unsigned x, uint64_t times);
void emit_loop_end(struct emit *e, unsigned x, size_t top);
void emit_ldr_x(struct emit *e, unsigned xt, unsigned xn, unsigned offset); /* offsets in bytes */
void emit_str_x(struct emit *e, unsigned xt, unsigned xn, unsigned offset);
void emit_ldp_q(struct emit *e, unsigned vt, unsigned xn, int offset);
void emit_stp_q(struct emit *e, unsigned vt, unsigned xn, int offset);
void emit_exit(struct emit *e); /* Linux exit(0) */

/* A word with its register fields filled in. */
static inline uint32_t emit_rd_rn_rm(uint32_t base, unsigned d, unsigned n, unsigned m)
{
    return base | d | n << 5 | m << 16;
}

#define EMIT_NOP UINT32_C(0xd503201f)

#endif
