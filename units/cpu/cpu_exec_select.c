/* Pre-decoding: turns a decoded instruction into an operation of the loop, with register indices resolved, shifts turned into
 * amounts and pc-relative values into constants. Runs once per instruction of a block. */
#include "units/cpu/cpu_exec.h"
#include "units/cpu/cpu_exec_hot.h"

static uint8_t reads(unsigned n) /* 31 = zero */
{
    return n == 31 ? CPU_X_ZERO : (uint8_t)n;
}

static uint8_t writes(unsigned n)
{
    return n == 31 ? CPU_X_SINK : (uint8_t)n;
}

static uint64_t low_bits(unsigned n)
{
    return n >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << n) - 1;
}

static void use_constant(struct cpu_op *op, unsigned *hot, const struct a64_insn *insn, uint64_t value)
{
    *hot = HOT_CONST;
    op->rd = writes(insn->rd);
    op->imm = (int64_t)(insn->size == 2 ? value & 0xffffffff : value);
}

/* Hot operations come as pairs of W and X. */
static unsigned by_width(unsigned hot_w, const struct a64_insn *insn)
{
    return hot_w + (insn->size == 3);
}

static bool select_immediate(const struct a64_insn *insn, uint64_t pc, struct cpu_op *op, unsigned *hot)
{
    op->imm = insn->imm;
    op->rd = (uint8_t)insn->rd;
    op->rn = (uint8_t)insn->rn;
    switch (insn->form) {
    case A64_ADR: use_constant(op, hot, insn, pc + (uint64_t)insn->imm); return true;
    case A64_ADRP: use_constant(op, hot, insn, (pc & ~UINT64_C(4095)) + (uint64_t)insn->imm); return true;
    case A64_MOVZ: use_constant(op, hot, insn, (uint64_t)insn->imm); return true;
    case A64_MOVN: use_constant(op, hot, insn, ~(uint64_t)insn->imm); return true;
    case A64_MOVK:
        *hot = by_width(HOT_MOVK_W, insn);
        op->rd = writes(insn->rd);
        op->rn = reads(insn->rd);
        op->a = insn->amount;
        return true;
    case A64_SUB_IMM: op->imm = -insn->imm; /* fall through */
    case A64_ADD_IMM: *hot = by_width(HOT_ADD_IMM_W, insn); return true;
    case A64_ADDS_IMM:
        *hot = by_width(HOT_ADDS_IMM_W, insn);
        op->rd = writes(insn->rd);
        return true;
    case A64_SUBS_IMM:
        *hot = by_width(HOT_SUBS_IMM_W, insn);
        op->rd = writes(insn->rd);
        return true;
    default: break;
    }
    op->rn = reads(insn->rn);
    switch (insn->form) {
    case A64_AND_IMM: *hot = by_width(HOT_AND_IMM_W, insn); return true;
    case A64_ORR_IMM:
        if (insn->rn == 31 && insn->rd != 31)
            use_constant(op, hot, insn, (uint64_t)insn->imm);
        else
            *hot = by_width(HOT_ORR_IMM_W, insn);
        return true;
    case A64_EOR_IMM: *hot = by_width(HOT_EOR_IMM_W, insn); return true;
    case A64_ANDS_IMM:
        *hot = by_width(HOT_ANDS_IMM_W, insn);
        op->rd = writes(insn->rd);
        return true;
    default: return false;
    }
}

static void select_unsigned_field(const struct a64_insn *insn, struct cpu_op *op, unsigned *hot, unsigned immr, unsigned imms)
{
    const unsigned width = 8u << insn->size;
    if (imms == width - 1) {
        *hot = by_width(HOT_LSR_W, insn);
        op->a = (uint8_t)immr;
    } else if (imms >= immr) {
        *hot = HOT_UBFX;
        op->a = (uint8_t)immr;
        op->imm = (int64_t)low_bits(imms - immr + 1);
    } else if (imms + 1 == immr) {
        *hot = by_width(HOT_LSL_W, insn);
        op->a = (uint8_t)(width - immr);
    } else {
        *hot = HOT_UBFIZ;
        op->a = (uint8_t)(width - immr);
        op->imm = (int64_t)low_bits(imms + 1);
    }
}

static void select_signed_field(const struct a64_insn *insn, struct cpu_op *op, unsigned *hot, unsigned immr, unsigned imms)
{
    const unsigned width = 8u << insn->size;
    if (imms == width - 1) {
        *hot = by_width(HOT_ASR_W, insn);
        op->a = (uint8_t)immr;
        return;
    }
    *hot = by_width(HOT_SBF_W, insn);
    op->a = (uint8_t)(63 - imms); /* moves the sign bit to the top, then down to its place */
    op->b = (uint8_t)(imms >= immr ? 63 - imms + immr : 63 - imms - (width - immr));
}

static bool select_bitfield(const struct a64_insn *insn, struct cpu_op *op, unsigned *hot)
{
    const unsigned immr = (unsigned)insn->imm, imms = insn->amount, width = 8u << insn->size;
    op->rd = writes(insn->rd);
    op->rn = reads(insn->rn);
    switch (insn->form) {
    case A64_UBFM: select_unsigned_field(insn, op, hot, immr, imms); return true;
    case A64_SBFM: select_signed_field(insn, op, hot, immr, imms); return true;
    case A64_BFM: {
        const uint64_t field = imms >= immr ? low_bits(imms - immr + 1) : low_bits(imms + 1) << (width - immr);
        *hot = by_width(HOT_BFM_W, insn);
        op->rm = reads(insn->rd);
        op->a = (uint8_t)(imms >= immr ? immr : 0);
        op->b = (uint8_t)(imms >= immr ? 0 : width - immr);
        op->imm = (int64_t)field;
        return true;
    }
    case A64_EXTR:
        *hot = by_width(HOT_EXTR_W, insn);
        op->rm = reads(insn->rm);
        op->a = insn->amount;
        return true;
    default: return false;
    }
}

/* Forms with a shifted register: base is the W operation without a shift; the others follow it. */
static bool select_shifted(const struct a64_insn *insn, struct cpu_op *op, unsigned *hot)
{
    unsigned base;
    switch (insn->form) {
    case A64_AND_REG: base = HOT_AND_NONE_W; break;
    case A64_BIC_REG: base = HOT_BIC_NONE_W; break;
    case A64_ORR_REG: base = HOT_ORR_NONE_W; break;
    case A64_ORN_REG: base = HOT_ORN_NONE_W; break;
    case A64_EOR_REG: base = HOT_EOR_NONE_W; break;
    case A64_EON_REG: base = HOT_EON_NONE_W; break;
    case A64_ANDS_REG: base = HOT_ANDS_NONE_W; break;
    case A64_BICS_REG: base = HOT_BICS_NONE_W; break;
    case A64_ADD_REG: base = HOT_ADD_NONE_W; break;
    case A64_ADDS_REG: base = HOT_ADDS_NONE_W; break;
    case A64_SUB_REG: base = HOT_SUB_NONE_W; break;
    case A64_SUBS_REG: base = HOT_SUBS_NONE_W; break;
    default: return false;
    }
    if (insn->shift == 3 && insn->amount)
        return false; /* rotations are rare and go to a handler */
    op->rd = writes(insn->rd);
    op->rn = reads(insn->rn);
    op->rm = reads(insn->rm);
    op->a = insn->amount;
    if (insn->form == A64_ORR_REG && insn->rn == 31 && !insn->amount)
        *hot = by_width(HOT_MOV_W, insn);
    else
        *hot = by_width(base + (insn->amount ? 2u * (insn->shift + 1u) : 0), insn);
    return true;
}

/* An extended register as a pair of shifts: up by a, then down by b with or without sign. */
static void set_extension(struct cpu_op *op, unsigned kind, unsigned amount)
{
    const unsigned up = 64 - (8u << (kind & 3));
    op->a = (uint8_t)(up >= amount ? up : amount);
    op->b = (uint8_t)(up >= amount ? up - amount : 0);
}

static bool select_extended(const struct a64_insn *insn, struct cpu_op *op, unsigned *hot)
{
    unsigned base;
    op->rd = (uint8_t)insn->rd;
    switch (insn->form) {
    case A64_ADD_EXT: base = HOT_ADD_EXTU_W; break;
    case A64_SUB_EXT: base = HOT_SUB_EXTU_W; break;
    case A64_ADDS_EXT:
        base = HOT_ADDS_EXTU_W;
        op->rd = writes(insn->rd);
        break;
    case A64_SUBS_EXT:
        base = HOT_SUBS_EXTU_W;
        op->rd = writes(insn->rd);
        break;
    default: return false;
    }
    op->rn = (uint8_t)insn->rn;
    op->rm = reads(insn->rm);
    set_extension(op, insn->shift, insn->amount);
    *hot = by_width(base + (insn->shift & 4 ? 2 : 0), insn);
    return true;
}

static unsigned register_base(unsigned form)
{
    switch (form) {
    case A64_ADC: return HOT_ADC_W;
    case A64_ADCS: return HOT_ADCS_W;
    case A64_SBC: return HOT_SBC_W;
    case A64_SBCS: return HOT_SBCS_W;
    case A64_CSEL: return HOT_CSEL_W;
    case A64_CSINC: return HOT_CSINC_W;
    case A64_CSINV: return HOT_CSINV_W;
    case A64_CSNEG: return HOT_CSNEG_W;
    case A64_CCMP_REG: return HOT_CCMP_REG_W;
    case A64_CCMN_REG: return HOT_CCMN_REG_W;
    case A64_CCMP_IMM: return HOT_CCMP_IMM_W;
    case A64_CCMN_IMM: return HOT_CCMN_IMM_W;
    case A64_MADD: return HOT_MADD_W;
    case A64_MSUB: return HOT_MSUB_W;
    case A64_UDIV: return HOT_UDIV_W;
    case A64_SDIV: return HOT_SDIV_W;
    case A64_LSLV: return HOT_LSLV_W;
    case A64_LSRV: return HOT_LSRV_W;
    case A64_ASRV: return HOT_ASRV_W;
    case A64_RORV: return HOT_RORV_W;
    case A64_CLZ: return HOT_CLZ_W;
    case A64_REV_W:
    case A64_REV_X: return HOT_REV_W;
    case A64_SMADDL: return HOT_SMADDL - 1u; /* these exist as X only */
    case A64_SMSUBL: return HOT_SMSUBL - 1u;
    case A64_UMADDL: return HOT_UMADDL - 1u;
    case A64_UMSUBL: return HOT_UMSUBL - 1u;
    case A64_SMULH: return HOT_SMULH - 1u;
    case A64_UMULH: return HOT_UMULH - 1u;
    default: return 0;
    }
}

static bool select_register(const struct a64_insn *insn, struct cpu_op *op, unsigned *hot)
{
    const unsigned base = register_base(insn->form);
    if (!base)
        return false;
    *hot = by_width(base, insn);
    op->rd = writes(insn->rd);
    op->rn = reads(insn->rn);
    op->rm = reads(insn->rm);
    op->ra = reads(insn->ra);
    op->a = insn->cond;
    op->b = insn->amount;
    op->imm = insn->imm;
    return true;
}

static bool select_branch(const struct a64_insn *insn, uint64_t pc, struct cpu_op *op, unsigned *hot)
{
    op->rd = reads(insn->rd);
    op->rn = reads(insn->rn);
    op->imm = (int64_t)(pc + 4); /* for links */
    switch (insn->form) {
    case A64_B: *hot = HOT_B; return true;
    case A64_BL: *hot = HOT_BL; return true;
    case A64_B_COND: *hot = insn->cond >= 14 ? HOT_B : HOT_B_EQ + insn->cond; return true;
    case A64_CBZ: *hot = by_width(HOT_CBZ_W, insn); return true;
    case A64_CBNZ: *hot = by_width(HOT_CBNZ_W, insn); return true;
    case A64_TBZ:
    case A64_TBNZ:
        *hot = insn->form == A64_TBZ ? HOT_TBZ : HOT_TBNZ;
        op->imm = (int64_t)(UINT64_C(1) << insn->amount);
        return true;
    case A64_RETAA:
    case A64_RETAB: op->rn = 30; /* fall through */
    case A64_BR:
    case A64_RET: *hot = HOT_BR; return true;
    case A64_BLR: *hot = HOT_BLR; return true;
    default: return false;
    }
}

/* Maps a data type in its addressing forms to hot operations. */
#define MODES(n)                                                                                                                 \
    case A64_##n##_UIMM:                                                                                                         \
    case A64_##n##_UNSC: *hot = HOT_##n##_IMM; return true;                                                                      \
    case A64_##n##_POST: *hot = HOT_##n##_POST; return true;                                                                     \
    case A64_##n##_PRE: *hot = HOT_##n##_PRE; return true;                                                                       \
    case A64_##n##_REG:                                                                                                          \
        *hot = insn->shift == 2 ? HOT_##n##_REGU : HOT_##n##_REGS;                                                               \
        return true;
#define MODES_INT(n)                                                                                                             \
    MODES(n) case A64_##n##_UNPRIV : *hot = HOT_##n##_IMM;                                                                       \
    return true;
#define PAIR(n)                                                                                                                  \
    case A64_##n##_NT:                                                                                                           \
    case A64_##n##_OFF: *hot = HOT_##n##_OFF; return true;                                                                       \
    case A64_##n##_POST: *hot = HOT_##n##_POST; return true;                                                                     \
    case A64_##n##_PRE: *hot = HOT_##n##_PRE; return true;

static bool select_int_load(const struct a64_insn *insn, struct cpu_op *op, unsigned *hot)
{
    op->rd = writes(insn->rd);
    op->ra = writes(insn->ra);
    switch (insn->form) {
        MODES_INT(LDRB)
        MODES_INT(LDRH)
        MODES_INT(LDR_W)
        MODES_INT(LDR_X)
        MODES_INT(LDRSB_W)
        MODES_INT(LDRSB_X)
        MODES_INT(LDRSH_W)
        MODES_INT(LDRSH_X)
        MODES_INT(LDRSW)
        PAIR(LDP_W)
        PAIR(LDP_X)
    case A64_LDPSW_OFF: *hot = HOT_LDPSW_OFF; return true;
    case A64_LDPSW_POST: *hot = HOT_LDPSW_POST; return true;
    case A64_LDPSW_PRE: *hot = HOT_LDPSW_PRE; return true;
    case A64_LDR_W_LIT: *hot = HOT_LDR_W_IMM; return true;
    case A64_LDR_X_LIT: *hot = HOT_LDR_X_IMM; return true;
    case A64_LDRSW_LIT: *hot = HOT_LDRSW_IMM; return true;
    default: return false;
    }
}

static bool select_int_store(const struct a64_insn *insn, struct cpu_op *op, unsigned *hot)
{
    op->rd = reads(insn->rd);
    op->ra = reads(insn->ra);
    switch (insn->form) {
        MODES_INT(STRB)
        MODES_INT(STRH)
        MODES_INT(STR_W)
        MODES_INT(STR_X)
        PAIR(STP_W)
        PAIR(STP_X)
    default: return false;
    }
}

static bool select_vector_access(const struct a64_insn *insn, struct cpu_op *op, unsigned *hot)
{
    op->rd = insn->rd;
    op->ra = insn->ra;
    switch (insn->form) {
        MODES(LDR_B)
        MODES(LDR_H)
        MODES(LDR_S)
        MODES(LDR_D)
        MODES(LDR_Q)
        MODES(STR_B)
        MODES(STR_H)
        MODES(STR_S)
        MODES(STR_D)
        MODES(STR_Q)
        PAIR(LDP_S)
        PAIR(LDP_D)
        PAIR(LDP_Q)
        PAIR(STP_S)
        PAIR(STP_D)
        PAIR(STP_Q)
    case A64_LDR_S_LIT: *hot = HOT_LDR_S_IMM; return true;
    case A64_LDR_D_LIT: *hot = HOT_LDR_D_IMM; return true;
    case A64_LDR_Q_LIT: *hot = HOT_LDR_Q_IMM; return true;
    default: return false;
    }
}

static bool is_literal(unsigned form)
{
    return form == A64_LDR_W_LIT || form == A64_LDR_X_LIT || form == A64_LDRSW_LIT || form == A64_LDR_S_LIT ||
           form == A64_LDR_D_LIT || form == A64_LDR_Q_LIT;
}

static bool select_access(const struct a64_insn *insn, uint64_t pc, struct cpu_op *op, unsigned *hot)
{
    if (!(insn->flags & (A64_INSN_LOAD | A64_INSN_STORE)))
        return false;
    op->rn = insn->rn;
    op->rm = reads(insn->rm);
    op->imm = insn->imm;
    if (is_literal(insn->form)) {
        op->rn = CPU_X_ZERO;
        op->imm = (int64_t)(pc + (uint64_t)insn->imm);
    }
    set_extension(op, insn->shift, insn->amount ? insn->size : 0);
    return select_int_load(insn, op, hot) || select_int_store(insn, op, hot) || select_vector_access(insn, op, hot);
}

static bool select_special(const struct a64_insn *insn, struct cpu_op *op, unsigned *hot)
{
    op->imm = insn->imm;
    op->rd = reads(insn->rd);
    switch (insn->form) {
    case A64_UNDEFINED: *hot = HOT_UNDEFINED; return true;
    case A64_AMX: *hot = HOT_AMX; return true;
    case A64_SVC: *hot = HOT_SVC; return true;
    case A64_BRK:
    case A64_HLT: *hot = HOT_TRAP; return true;
    case A64_MRS:
        if (insn->imm != CPU_REG_CNTVCT)
            return false;
        *hot = HOT_COUNTER;
        op->rd = writes(insn->rd);
        return true;
    case A64_HINT: /* no hint changes anything here, pointer authentication and branch targets included */
    case A64_DSB:
    case A64_DMB:
    case A64_ISB:
    case A64_SB:
    case A64_DC_CVAC:
    case A64_DC_CVAU:
    case A64_DC_CVAP:
    case A64_DC_CIVAC:
    case A64_PRFM_UIMM:
    case A64_PRFM_UNSC:
    case A64_PRFM_REG:
    case A64_PRFM_LIT: *hot = HOT_NOP; return true;
    default: return false;
    }
}

static bool select_call(const struct a64_insn *insn, struct cpu_op *op, unsigned *hot)
{
    cpu_memory_handler *memory = cpu_memory_handler_of(insn);
    if (!memory)
        memory = cpu_system_handler_of(insn);
    cpu_handler *handler = cpu_fast_handler_of(insn);
    if (!handler)
        handler = cpu_integer_handler_of(insn);
    if (!handler)
        handler = cpu_fp_handler_of(insn);
    if (!handler)
        handler = cpu_vector_handler_of(insn);
    op->insn = insn;
    if (memory) {
        op->memory_handler = memory;
        *hot = HOT_CALL_MEMORY;
    } else {
        op->handler = handler;
        *hot = handler ? HOT_CALL : HOT_UNMODELLED;
    }
    return true;
}

void cpu_select(const struct a64_insn *insn, uint64_t pc, struct cpu_op *op, unsigned *hot)
{
    (void)(select_special(insn, op, hot) || select_branch(insn, pc, op, hot) || select_access(insn, pc, op, hot) ||
           select_immediate(insn, pc, op, hot) || select_bitfield(insn, op, hot) || select_shifted(insn, op, hot) ||
           select_extended(insn, op, hot) || select_register(insn, op, hot) || select_call(insn, op, hot));
}
