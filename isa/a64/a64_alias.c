/* Preferred aliases: the names by which disassemblers and people know some instructions. */
#include "isa/a64/a64_table.h"

/* Whether movz or movn could make this constant. */
static bool is_wide_move(const struct a64_insn *insn)
{
    const unsigned width = 8u << insn->size;
    const uint64_t mask = width == 64 ? ~UINT64_C(0) : (UINT64_C(1) << width) - 1;
    for (unsigned shift = 0; shift < width; shift += 16) {
        const uint64_t hole = ~(UINT64_C(0xffff) << shift) & mask;
        if (!((uint64_t)insn->imm & hole) || !(~(uint64_t)insn->imm & hole))
            return true;
    }
    return false;
}

static const char *immediate(struct a64_insn *insn)
{
    switch (insn->form) {
    case A64_ADD_IMM: return (insn->rd == 31 || insn->rn == 31) && !insn->imm && !insn->amount ? "mov\t%Pd, %Pn" : NULL;
    case A64_ADDS_IMM: return insn->rd == 31 ? "cmn\t%Pn, %l" : NULL;
    case A64_SUBS_IMM: return insn->rd == 31 ? "cmp\t%Pn, %l" : NULL;
    case A64_ANDS_IMM: return insn->rd == 31 ? "tst\t%Rn, %i" : NULL;
    case A64_ORR_IMM: return insn->rn == 31 && !is_wide_move(insn) ? "mov\t%Pd, %i" : NULL;
    case A64_MOVZ: return insn->imm || !insn->amount ? "mov\t%Rd, %i" : NULL;
    case A64_MOVN: {
        const uint64_t raw = (uint64_t)insn->imm >> insn->amount;
        if ((raw == 0 && insn->amount) || (insn->size == 2 && raw == 0xffff))
            return NULL;
        insn->imm = insn->size == 2 ? (int64_t)(uint32_t)~insn->imm : ~insn->imm;
        return "mov\t%Rd, %i";
    }
    default: return NULL;
    }
}

static const char *unsigned_field(struct a64_insn *insn, unsigned immr, unsigned imms, unsigned top)
{
    if (imms != top && imms + 1 == immr) {
        insn->amount = (uint8_t)(top - imms);
        return "lsl\t%Rd, %Rn, %A";
    }
    if (imms == top)
        return "lsr\t%Rd, %Rn, %I";
    if (immr == 0 && (imms == 7 || imms == 15) && insn->size == 2)
        return imms == 7 ? "uxtb\t%Rd, %Wn" : "uxth\t%Rd, %Wn";
    return imms < immr ? "ubfiz\t%Rd, %Rn, %I, %A" : "ubfx\t%Rd, %Rn, %I, %A";
}

static const char *signed_field(const struct a64_insn *insn, unsigned immr, unsigned imms, unsigned top)
{
    if (imms == top)
        return "asr\t%Rd, %Rn, %I";
    if (immr == 0 && imms == 7)
        return "sxtb\t%Rd, %Wn";
    if (immr == 0 && imms == 15)
        return "sxth\t%Rd, %Wn";
    if (immr == 0 && imms == 31 && insn->size == 3)
        return "sxtw\t%Rd, %Wn";
    return imms < immr ? "sbfiz\t%Rd, %Rn, %I, %A" : "sbfx\t%Rd, %Rn, %I, %A";
}

static const char *bitfield(struct a64_insn *insn)
{
    const unsigned immr = (unsigned)insn->imm, imms = insn->amount, top = (8u << insn->size) - 1;
    if (insn->form == A64_EXTR)
        return insn->rn == insn->rm ? "ror\t%Rd, %Rn, %A" : NULL;
    const char *text;
    if (insn->form == A64_UBFM)
        text = unsigned_field(insn, immr, imms, top);
    else if (insn->form == A64_SBFM)
        text = signed_field(insn, immr, imms, top);
    else if (imms < immr)
        text = insn->rn == 31 ? "bfc\t%Rd, %I, %A" : "bfi\t%Rd, %Rn, %I, %A";
    else
        text = "bfxil\t%Rd, %Rn, %I, %A";
    if (insn->amount != imms)
        return text;   /* lsl */
    if (imms < immr) { /* position and width of an insert */
        insn->imm = (int64_t)(top + 1 - immr);
        insn->amount = (uint8_t)(imms + 1);
    } else {
        insn->amount = (uint8_t)(imms - immr + 1);
    }
    return text;
}

static const char *shifted(const struct a64_insn *insn)
{
    switch (insn->form) {
    case A64_ORR_REG: return insn->rn == 31 && !insn->amount && !insn->shift ? "mov\t%Rd, %Rm" : NULL;
    case A64_ORN_REG: return insn->rn == 31 ? "mvn\t%Rd, %Rm%~" : NULL;
    case A64_ANDS_REG: return insn->rd == 31 ? "tst\t%Rn, %Rm%~" : NULL;
    case A64_ADDS_REG: return insn->rd == 31 ? "cmn\t%Rn, %Rm%~" : NULL;
    case A64_SUBS_REG: return insn->rd == 31 ? "cmp\t%Rn, %Rm%~" : insn->rn == 31 ? "negs\t%Rd, %Rm%~" : NULL;
    case A64_SUB_REG: return insn->rn == 31 ? "neg\t%Rd, %Rm%~" : NULL;
    case A64_ADDS_EXT: return insn->rd == 31 ? "cmn\t%Pn, %Om%e" : NULL;
    case A64_SUBS_EXT: return insn->rd == 31 ? "cmp\t%Pn, %Om%e" : NULL;
    case A64_SBC: return insn->rn == 31 ? "ngc\t%Rd, %Rm" : NULL;
    case A64_SBCS: return insn->rn == 31 ? "ngcs\t%Rd, %Rm" : NULL;
    default: return NULL;
    }
}

static const char *select_or_multiply(struct a64_insn *insn)
{
    const bool same = insn->rn == insn->rm, always = insn->cond >= 14, zero = same && insn->rn == 31;
    switch (insn->form) {
    case A64_CSINC:
    case A64_CSINV:
        if (!same || always)
            return NULL;
        insn->cond ^= 1;
        if (zero)
            return insn->form == A64_CSINC ? "cset\t%Rd, %c" : "csetm\t%Rd, %c";
        return insn->form == A64_CSINC ? "cinc\t%Rd, %Rn, %c" : "cinv\t%Rd, %Rn, %c";
    case A64_CSNEG:
        if (!same || always)
            return NULL;
        insn->cond ^= 1;
        return "cneg\t%Rd, %Rn, %c";
    default: break;
    }
    if (insn->ra != 31)
        return NULL;
    switch (insn->form) {
    case A64_MADD: return "mul\t%Rd, %Rn, %Rm";
    case A64_MSUB: return "mneg\t%Rd, %Rn, %Rm";
    case A64_SMADDL: return "smull\t%Xd, %Wn, %Wm";
    case A64_SMSUBL: return "smnegl\t%Xd, %Wn, %Wm";
    case A64_UMADDL: return "umull\t%Xd, %Wn, %Wm";
    case A64_UMSUBL: return "umnegl\t%Xd, %Wn, %Wm";
    default: return NULL;
    }
}

static const char *vector(const struct a64_insn *insn)
{
    switch (insn->form) {
    case A64_ORR_V: return insn->rn == insn->rm ? "mov\t%Vd, %Vn" : NULL;
    case A64_UMOV_W: return insn->size == 2 ? "mov\t%Wd, %En" : NULL;
    case A64_UMOV_X: return "mov\t%Xd, %En";
    case A64_SSHLL_V: return insn->amount ? NULL : "sxtl%q\t%Ld, %Vn";
    case A64_USHLL_V: return insn->amount ? NULL : "uxtl%q\t%Ld, %Vn";
    default: return NULL;
    }
}

/* Atomics without acquire whose old value goes nowhere are called stores. */
static const char *atomic(const struct a64_insn *insn)
{
    if (insn->rd != 31 || insn->amount & 2)
        return NULL;
    switch (insn->form) {
    case A64_LDADD: return "stadd%x%s\t%Rm, [%Bn]";
    case A64_LDCLR: return "stclr%x%s\t%Rm, [%Bn]";
    case A64_LDEOR: return "steor%x%s\t%Rm, [%Bn]";
    case A64_LDSET: return "stset%x%s\t%Rm, [%Bn]";
    case A64_LDSMAX: return "stsmax%x%s\t%Rm, [%Bn]";
    case A64_LDSMIN: return "stsmin%x%s\t%Rm, [%Bn]";
    case A64_LDUMAX: return "stumax%x%s\t%Rm, [%Bn]";
    case A64_LDUMIN: return "stumin%x%s\t%Rm, [%Bn]";
    default: return NULL;
    }
}

const char *a64_alias(struct a64_insn *insn)
{
    switch (insn->form) {
    case A64_RET: return insn->rn == 30 ? "ret" : NULL;
    case A64_SBFM:
    case A64_BFM:
    case A64_UBFM:
    case A64_EXTR: return bitfield(insn);
    case A64_DSB: return insn->amount == 0 ? "ssbb" : insn->amount == 4 ? "pssbb" : NULL;
    default: break;
    }
    const char *text = immediate(insn);
    if (!text)
        text = shifted(insn);
    if (!text)
        text = select_or_multiply(insn);
    if (!text)
        text = vector(insn);
    return text ? text : atomic(insn);
}
