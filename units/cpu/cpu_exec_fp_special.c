/* Floating-point forms with a shape of their own: comparisons, selection, moves, FMLAL, complex arithmetic, integer estimates. */
#include "units/cpu/cpu_exec_fp.h"

static unsigned compare(struct cpu_core *core, const struct a64_insn *insn, uint64_t m)
{
    static cpu_fp_compare *const by_size[4] = CPU_FP_BY_SIZE(fp_compare);
    return by_size[insn->size](core, cpu_scalar(core, insn->rn, insn->size), m);
}

static void run_compare(struct cpu_core *core, const struct a64_insn *insn)
{
    const bool with_zero = insn->form == A64_FCMP_0 || insn->form == A64_FCMPE_0;
    cpu_flags_unpack(&core->flags, compare(core, insn, with_zero ? 0 : cpu_scalar(core, insn->rm, insn->size)) << 28);
}

static void run_compare_if(struct cpu_core *core, const struct a64_insn *insn)
{
    const bool holds = cpu_condition(&core->flags, insn->cond);
    cpu_flags_unpack(&core->flags, (holds ? compare(core, insn, cpu_scalar(core, insn->rm, insn->size)) : insn->amount) << 28);
}

static void run_select(struct cpu_core *core, const struct a64_insn *insn)
{
    const unsigned from = cpu_condition(&core->flags, insn->cond) ? insn->rn : insn->rm;
    cpu_set_scalar(core, insn->rd, cpu_scalar(core, from, insn->size));
}

static void run_move(struct cpu_core *core, const struct a64_insn *insn)
{
    cpu_set_scalar(core, insn->rd, insn->form == A64_FMOV_IMM ? (uint64_t)insn->imm : cpu_scalar(core, insn->rn, insn->size));
}

static void run_move_gpr(struct cpu_core *core, const struct a64_insn *insn)
{
    switch (insn->form) {
    case A64_FMOV_W_H:
    case A64_FMOV_X_H:
    case A64_FMOV_W_S:
    case A64_FMOV_X_D: cpu_set_reg(core, insn->rd, cpu_scalar(core, insn->rn, insn->size)); break;
    case A64_FMOV_X_D1: cpu_set_reg(core, insn->rd, core->v[insn->rn].u64[1]); break;
    case A64_FMOV_D1_X: core->v[insn->rd].u64[1] = cpu_reg(core, insn->rn); break;
    default: {
        const uint64_t value = cpu_reg(core, insn->rn);
        cpu_set_scalar(core, insn->rd, insn->size == 1 ? (uint16_t)value : insn->size == 2 ? (uint32_t)value : value);
    }
    }
}

/* FMLAL: multiplies the halves of a 64- or 128-bit register, widened. */
static void run_fmlal(struct cpu_core *core, const struct a64_insn *insn)
{
    const bool upper =
        insn->form == A64_FMLAL2_V || insn->form == A64_FMLSL2_V || insn->form == A64_FMLAL2_E || insn->form == A64_FMLSL2_E;
    const bool minus =
        insn->form == A64_FMLSL_V || insn->form == A64_FMLSL2_V || insn->form == A64_FMLSL_E || insn->form == A64_FMLSL2_E;
    const bool element = insn->form >= A64_FMLAL_E && insn->form <= A64_FMLSL2_E;
    const union cpu_vec n = core->v[insn->rn], m = core->v[insn->rm];
    union cpu_vec r = core->v[insn->rd];
    for (unsigned i = 0; i < insn->lanes; i++) {
        const unsigned at = i + (upper ? insn->lanes : 0u);
        const uint64_t a = fp_half_input(core, n.u16[at]) ^ (minus ? 0x8000u : 0),
                       b = fp_half_input(core, m.u16[element ? insn->amount : at]);
        r.u32[i] = (uint32_t)fp_widening_fma(core, r.u32[i], a, b);
    }
    cpu_set_vector(core, insn, r);
}

/* Complex arithmetic on pairs (real, imaginary), with rotation in quarter turns. */
static void run_fcadd(struct cpu_core *core, const struct a64_insn *insn)
{
    static cpu_fp2 *const add[4] = CPU_FP_BY_SIZE(fp_add);
    static cpu_fp1 *const negate[4] = CPU_FP_BY_SIZE(fp_neg);
    const unsigned s = insn->size;
    const union cpu_vec n = core->v[insn->rn], m = core->v[insn->rm];
    union cpu_vec r = {.u64 = {0, 0}};
    for (unsigned i = 0; i < insn->lanes; i += 2) {
        uint64_t real = cpu_lane(&m, s, i + 1), imaginary = cpu_lane(&m, s, i);
        if (insn->shift)
            imaginary = negate[s](core, imaginary);
        else
            real = negate[s](core, real);
        cpu_set_lane(&r, s, i, add[s](core, cpu_lane(&n, s, i), real));
        cpu_set_lane(&r, s, i + 1, add[s](core, cpu_lane(&n, s, i + 1), imaginary));
    }
    core->v[insn->rd] = r;
}

static void run_fcmla(struct cpu_core *core, const struct a64_insn *insn)
{
    static cpu_fp3 *const fma_of[4] = CPU_FP_BY_SIZE(fp_fma);
    static cpu_fp1 *const negate[4] = CPU_FP_BY_SIZE(fp_neg);
    const unsigned s = insn->size, rotation = insn->shift;
    const bool element = insn->form != A64_FCMLA_V;
    const union cpu_vec n = core->v[insn->rn], m = core->v[insn->rm], d = core->v[insn->rd];
    union cpu_vec r = {.u64 = {0, 0}};
    for (unsigned i = 0; i < insn->lanes; i += 2) {
        const unsigned at = element ? 2u * insn->amount : i;
        const uint64_t factor = cpu_lane(&n, s, i + (rotation & 1));
        uint64_t first = cpu_lane(&m, s, at + (rotation & 1)), other = cpu_lane(&m, s, at + !(rotation & 1));
        if (rotation == 1 || rotation == 2)
            first = negate[s](core, first);
        if (rotation >= 2)
            other = negate[s](core, other);
        cpu_set_lane(&r, s, i, fma_of[s](core, cpu_lane(&d, s, i), factor, first));
        cpu_set_lane(&r, s, i + 1, fma_of[s](core, cpu_lane(&d, s, i + 1), factor, other));
    }
    core->v[insn->rd] = r;
}

static void run_estimate_integer(struct cpu_core *core, const struct a64_insn *insn)
{
    const bool root = insn->form == A64_URSQRTE_V;
    const union cpu_vec n = core->v[insn->rn];
    union cpu_vec r = {.u64 = {0, 0}};
    for (unsigned i = 0; i < insn->lanes; i++) {
        const uint32_t a = n.u32[i], top = a >> 23;
        const bool small = root ? a >> 30 == 0 : a >> 31 == 0;
        r.u32[i] = small ? UINT32_MAX : (root ? cpu_rsqrt_estimate(top) : cpu_recip_estimate(top)) << 23;
    }
    core->v[insn->rd] = r;
}

cpu_handler *cpu_fp_special_handler_of(unsigned form)
{
    switch (form) {
    case A64_FCMP:
    case A64_FCMPE:
    case A64_FCMP_0:
    case A64_FCMPE_0: return run_compare;
    case A64_FCCMP:
    case A64_FCCMPE: return run_compare_if;
    case A64_FCSEL: return run_select;
    case A64_FMOV:
    case A64_FMOV_IMM: return run_move;
    case A64_FMOV_W_H:
    case A64_FMOV_H_W:
    case A64_FMOV_X_H:
    case A64_FMOV_H_X:
    case A64_FMOV_W_S:
    case A64_FMOV_S_W:
    case A64_FMOV_X_D:
    case A64_FMOV_D_X:
    case A64_FMOV_X_D1:
    case A64_FMOV_D1_X: return run_move_gpr;
    case A64_FMLAL_V:
    case A64_FMLSL_V:
    case A64_FMLAL2_V:
    case A64_FMLSL2_V:
    case A64_FMLAL_E:
    case A64_FMLSL_E:
    case A64_FMLAL2_E:
    case A64_FMLSL2_E: return run_fmlal;
    case A64_FCADD_V: return run_fcadd;
    case A64_FCMLA_V:
    case A64_FCMLA_E:
    case A64_FCMLA_EH: return run_fcmla;
    case A64_URECPE_V:
    case A64_URSQRTE_V: return run_estimate_integer;
    default: return NULL;
    }
}
