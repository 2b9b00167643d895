/* Scalar and vector floating point: the table from forms to functions of cpu_exec_arith.h, and the loops over lanes. */
#include "units/cpu/cpu_exec_arith.h"
#include "units/cpu/cpu_exec_lanes.h"

enum { TAKES_PAIRS = 1, TAKES_ELEMENT = 2, TAKES_ZERO = 4, SWAPS = 8, TAKES_RA = 16, REDUCES = 32 };

struct fp1_entry {
    cpu_fp1 *of[4]; /* by size */
};
struct fp2_entry {
    cpu_fp2 *of[4];
    unsigned how;
};
struct fp3_entry {
    cpu_fp3 *of[4];
    unsigned how;
};

#define OF(name)                                                                                                                 \
    {                                                                                                                            \
        NULL, name##_16, name##_32, name##_64                                                                                    \
    }
/* A form in its scalar, SIMD scalar and vector encodings. */
#define VECTORS(form, name, how) [A64_##form##_V] = {OF(name), how}, [A64_##form##_VH] = {OF(name), how}
#define SCALARS(form, name, how) [A64_##form##_S] = {OF(name), how}, [A64_##form##_SH] = {OF(name), how}
#define ELEMENTS(form, name)                                                                                                     \
    [A64_##form##_E] = {OF(name), TAKES_ELEMENT}, [A64_##form##_EH] = {OF(name), TAKES_ELEMENT},                                 \
    [A64_##form##_SE] = {OF(name), TAKES_ELEMENT}, [A64_##form##_SEH] = {OF(name), TAKES_ELEMENT}

static const struct fp2_entry table2[A64_FORM_COUNT] = {
    [A64_FADD] = {OF(fp_add), 0},
    VECTORS(FADD, fp_add, 0),
    [A64_FSUB] = {OF(fp_sub), 0},
    VECTORS(FSUB, fp_sub, 0),
    [A64_FMUL] = {OF(fp_mul), 0},
    VECTORS(FMUL, fp_mul, 0),
    ELEMENTS(FMUL, fp_mul),
    [A64_FDIV] = {OF(fp_div), 0},
    VECTORS(FDIV, fp_div, 0),
    [A64_FMAX] = {OF(fp_max), 0},
    VECTORS(FMAX, fp_max, 0),
    [A64_FMIN] = {OF(fp_min), 0},
    VECTORS(FMIN, fp_min, 0),
    [A64_FMAXNM] = {OF(fp_maxnm), 0},
    VECTORS(FMAXNM, fp_maxnm, 0),
    [A64_FMINNM] = {OF(fp_minnm), 0},
    VECTORS(FMINNM, fp_minnm, 0),
    [A64_FNMUL] = {OF(fp_nmul), 0},
    VECTORS(FADDP, fp_add, TAKES_PAIRS),
    SCALARS(FADDP, fp_add, TAKES_PAIRS),
    VECTORS(FMAXP, fp_max, TAKES_PAIRS),
    SCALARS(FMAXP, fp_max, TAKES_PAIRS),
    VECTORS(FMINP, fp_min, TAKES_PAIRS),
    SCALARS(FMINP, fp_min, TAKES_PAIRS),
    VECTORS(FMAXNMP, fp_maxnm, TAKES_PAIRS),
    SCALARS(FMAXNMP, fp_maxnm, TAKES_PAIRS),
    VECTORS(FMINNMP, fp_minnm, TAKES_PAIRS),
    SCALARS(FMINNMP, fp_minnm, TAKES_PAIRS),
    /* across lanes */
    VECTORS(FMAXV, fp_max, REDUCES),
    VECTORS(FMINV, fp_min, REDUCES),
    VECTORS(FMAXNMV, fp_maxnm, REDUCES),
    VECTORS(FMINNMV, fp_minnm, REDUCES),
    VECTORS(FMULX, fp_mulx, 0),
    SCALARS(FMULX, fp_mulx, 0),
    ELEMENTS(FMULX, fp_mulx),
    VECTORS(FABD, fp_abd, 0),
    SCALARS(FABD, fp_abd, 0),
    VECTORS(FRECPS, fp_recps, 0),
    SCALARS(FRECPS, fp_recps, 0),
    VECTORS(FRSQRTS, fp_rsqrts, 0),
    SCALARS(FRSQRTS, fp_rsqrts, 0),
    VECTORS(FCMEQ, fp_cmeq, 0),
    SCALARS(FCMEQ, fp_cmeq, 0),
    VECTORS(FCMGE, fp_cmge, 0),
    SCALARS(FCMGE, fp_cmge, 0),
    VECTORS(FCMGT, fp_cmgt, 0),
    SCALARS(FCMGT, fp_cmgt, 0),
    VECTORS(FACGE, fp_acge, 0),
    SCALARS(FACGE, fp_acge, 0),
    VECTORS(FACGT, fp_acgt, 0),
    SCALARS(FACGT, fp_acgt, 0),
    VECTORS(FCMEQ_0, fp_cmeq, TAKES_ZERO),
    SCALARS(FCMEQ_0, fp_cmeq, TAKES_ZERO),
    VECTORS(FCMGE_0, fp_cmge, TAKES_ZERO),
    SCALARS(FCMGE_0, fp_cmge, TAKES_ZERO),
    VECTORS(FCMGT_0, fp_cmgt, TAKES_ZERO),
    SCALARS(FCMGT_0, fp_cmgt, TAKES_ZERO),
    VECTORS(FCMLE_0, fp_cmge, TAKES_ZERO | SWAPS),
    SCALARS(FCMLE_0, fp_cmge, TAKES_ZERO | SWAPS),
    VECTORS(FCMLT_0, fp_cmgt, TAKES_ZERO | SWAPS),
    SCALARS(FCMLT_0, fp_cmgt, TAKES_ZERO | SWAPS),
};

static const struct fp3_entry table3[A64_FORM_COUNT] = {
    [A64_FMADD] = {OF(fp_fma), TAKES_RA},
    [A64_FMSUB] = {OF(fp_fms), TAKES_RA},
    [A64_FNMADD] = {OF(fp_fnma), TAKES_RA},
    [A64_FNMSUB] = {OF(fp_fnms), TAKES_RA},
    VECTORS(FMLA, fp_fma, 0),
    ELEMENTS(FMLA, fp_fma),
    VECTORS(FMLS, fp_fms, 0),
    ELEMENTS(FMLS, fp_fms),
};

#define ONE(form, name)   [A64_##form] = {OF(name)}
#define ONE_V(form, name) [A64_##form##_V] = {OF(name)}, [A64_##form##_VH] = {OF(name)}
#define ONE_S(form, name) [A64_##form##_S] = {OF(name)}, [A64_##form##_SH] = {OF(name)}
static const struct fp1_entry table1[A64_FORM_COUNT] = {
    ONE(FABS, fp_abs),
    ONE_V(FABS, fp_abs),
    ONE(FNEG, fp_neg),
    ONE_V(FNEG, fp_neg),
    ONE(FSQRT, fp_sqrt),
    ONE_V(FSQRT, fp_sqrt),
    ONE(FRINTN, fp_rint_even),
    ONE_V(FRINTN, fp_rint_even),
    ONE(FRINTP, fp_rint_up),
    ONE_V(FRINTP, fp_rint_up),
    ONE(FRINTM, fp_rint_down),
    ONE_V(FRINTM, fp_rint_down),
    ONE(FRINTZ, fp_rint_zero),
    ONE_V(FRINTZ, fp_rint_zero),
    ONE(FRINTA, fp_rint_away),
    ONE_V(FRINTA, fp_rint_away),
    ONE(FRINTX, fp_rint_mode),
    ONE_V(FRINTX, fp_rint_mode),
    ONE(FRINTI, fp_rint_mode),
    ONE_V(FRINTI, fp_rint_mode),
    ONE_V(FRECPE, fp_recpe),
    ONE_S(FRECPE, fp_recpe),
    ONE_V(FRSQRTE, fp_rsqrte),
    ONE_S(FRSQRTE, fp_rsqrte),
    ONE_S(FRECPX, fp_recpx),
    [A64_FCVT_TO_S] = {{NULL, fp_16_to_32, NULL, fp_64_to_32}},
    [A64_FCVT_TO_D] = {{NULL, fp_16_to_64, fp_32_to_64, NULL}},
    [A64_FCVT_TO_H] = {{NULL, NULL, fp_32_to_16, fp_64_to_16}},
};

static void run1(struct cpu_core *core, const struct a64_insn *insn)
{
    cpu_fp1 *const f = table1[insn->form].of[insn->size];
    const union cpu_vec n = core->v[insn->rn];
    const bool converts = insn->form >= A64_FCVT_TO_S && insn->form <= A64_FCVT_TO_H;
    union cpu_vec r = {.u64 = {0, 0}};
    for (unsigned i = 0; i < insn->lanes; i++)
        cpu_set_lane(&r, converts ? 3 : insn->size, i, f(core, cpu_lane(&n, insn->size, i)));
    core->v[insn->rd] = r;
}

/* Second operand of lane i: of a vector, one element for all, or zero. */
static uint64_t second(const struct a64_insn *insn, const union cpu_vec *m, unsigned how, unsigned i)
{
    return how & TAKES_ZERO ? 0 : cpu_lane(m, insn->size, how & TAKES_ELEMENT ? insn->amount : i);
}

static void run2(struct cpu_core *core, const struct a64_insn *insn)
{
    const struct fp2_entry *e = &table2[insn->form];
    cpu_fp2 *const f = e->of[insn->size];
    const union cpu_vec n = core->v[insn->rn], m = core->v[insn->rm];
    union cpu_vec r = {.u64 = {0, 0}};
    for (unsigned i = 0; i < insn->lanes; i++) {
        const uint64_t a = cpu_lane(&n, insn->size, i), b = second(insn, &m, e->how, i);
        cpu_set_lane(&r, insn->size, i, e->how & SWAPS ? f(core, b, a) : f(core, a, b));
    }
    core->v[insn->rd] = r;
}

static void run2_pairs(struct cpu_core *core, const struct a64_insn *insn)
{
    cpu_fp2 *const f = table2[insn->form].of[insn->size];
    const union cpu_vec n = core->v[insn->rn], m = core->v[insn->rm];
    const unsigned half = insn->lanes > 1 ? insn->lanes / 2 : 1; /* a scalar form has one pair */
    union cpu_vec r = {.u64 = {0, 0}};
    for (unsigned i = 0; i < insn->lanes; i++) {
        const union cpu_vec *from = i < half ? &n : &m;
        const unsigned at = 2 * (i < half ? i : i - half);
        cpu_set_lane(&r, insn->size, i, f(core, cpu_lane(from, insn->size, at), cpu_lane(from, insn->size, at + 1)));
    }
    core->v[insn->rd] = r;
}

/* Halves are combined first with first: the order in which NaNs meet (shared pseudocode Reduce). */
static uint64_t reduce(struct cpu_core *core, cpu_fp2 *f, const union cpu_vec *v, unsigned size, unsigned first, unsigned count)
{
    if (count == 1)
        return cpu_lane(v, size, first);
    const uint64_t low = reduce(core, f, v, size, first, count / 2),
                   high = reduce(core, f, v, size, first + count / 2, count / 2);
    return f(core, low, high);
}

static void run2_reduce(struct cpu_core *core, const struct a64_insn *insn)
{
    const union cpu_vec n = core->v[insn->rn];
    core->v[insn->rd].u64[0] = reduce(core, table2[insn->form].of[insn->size], &n, insn->size, 0, insn->lanes);
    core->v[insn->rd].u64[1] = 0;
}

static void run3(struct cpu_core *core, const struct a64_insn *insn)
{
    const struct fp3_entry *e = &table3[insn->form];
    cpu_fp3 *const f = e->of[insn->size];
    const union cpu_vec n = core->v[insn->rn], m = core->v[insn->rm], d = core->v[e->how & TAKES_RA ? insn->ra : insn->rd];
    union cpu_vec r = {.u64 = {0, 0}};
    for (unsigned i = 0; i < insn->lanes; i++)
        cpu_set_lane(&r, insn->size, i,
                     f(core, cpu_lane(&d, insn->size, i), cpu_lane(&n, insn->size, i), second(insn, &m, e->how, i)));
    core->v[insn->rd] = r;
}

static void set_scalar(struct cpu_core *core, unsigned reg, uint64_t bits)
{
    core->v[reg].u64[0] = bits;
    core->v[reg].u64[1] = 0;
}

static uint64_t scalar(const struct cpu_core *core, unsigned reg, unsigned size)
{
    return cpu_lane(&core->v[reg], size, 0);
}

static unsigned compare(struct cpu_core *core, const struct a64_insn *insn, uint64_t m)
{
    static cpu_fp_compare *const by_size[4] = OF(fp_compare);
    return by_size[insn->size](core, scalar(core, insn->rn, insn->size), m);
}

static void run_compare(struct cpu_core *core, const struct a64_insn *insn)
{
    const bool with_zero = insn->form == A64_FCMP_0 || insn->form == A64_FCMPE_0;
    cpu_flags_unpack(&core->flags, compare(core, insn, with_zero ? 0 : scalar(core, insn->rm, insn->size)) << 28);
}

static void run_compare_if(struct cpu_core *core, const struct a64_insn *insn)
{
    const bool holds = cpu_condition(&core->flags, insn->cond);
    cpu_flags_unpack(&core->flags, (holds ? compare(core, insn, scalar(core, insn->rm, insn->size)) : insn->amount) << 28);
}

static void run_select(struct cpu_core *core, const struct a64_insn *insn)
{
    const unsigned from = cpu_condition(&core->flags, insn->cond) ? insn->rn : insn->rm;
    set_scalar(core, insn->rd, scalar(core, from, insn->size));
}

static void run_move(struct cpu_core *core, const struct a64_insn *insn)
{
    set_scalar(core, insn->rd, insn->form == A64_FMOV_IMM ? (uint64_t)insn->imm : scalar(core, insn->rn, insn->size));
}

static void run_move_gpr(struct cpu_core *core, const struct a64_insn *insn)
{
    switch (insn->form) {
    case A64_FMOV_W_H:
    case A64_FMOV_X_H:
    case A64_FMOV_W_S:
    case A64_FMOV_X_D: cpu_set_reg(core, insn->rd, scalar(core, insn->rn, insn->size)); break;
    case A64_FMOV_X_D1: cpu_set_reg(core, insn->rd, core->v[insn->rn].u64[1]); break;
    case A64_FMOV_D1_X: core->v[insn->rd].u64[1] = cpu_reg(core, insn->rn); break;
    default: {
        const uint64_t value = cpu_reg(core, insn->rn);
        set_scalar(core, insn->rd, insn->size == 1 ? (uint16_t)value : insn->size == 2 ? (uint32_t)value : value);
    }
    }
}

/* Conversions to integers: rounding and sign by form. */
#define TO_INT(form, mode, is_signed)                                                                                            \
    case A64_##form##_GPR:                                                                                                       \
    case A64_##form##_V:                                                                                                         \
    case A64_##form##_VH:                                                                                                        \
    case A64_##form##_S:                                                                                                         \
    case A64_##form##_SH: *rounding = mode; return is_signed;

static bool conversion_of(unsigned form, enum cpu_rounding *rounding)
{
    switch (form) {
        TO_INT(FCVTNS, CPU_ROUND_EVEN, true)
        TO_INT(FCVTNU, CPU_ROUND_EVEN, false)
        TO_INT(FCVTPS, CPU_ROUND_UP, true)
        TO_INT(FCVTPU, CPU_ROUND_UP, false)
        TO_INT(FCVTMS, CPU_ROUND_DOWN, true)
        TO_INT(FCVTMU, CPU_ROUND_DOWN, false)
        TO_INT(FCVTAS, CPU_ROUND_AWAY, true)
        TO_INT(FCVTAU, CPU_ROUND_AWAY, false)
        TO_INT(FCVTZU, CPU_ROUND_ZERO, false)
    case A64_FCVTZU_FIX:
    case A64_FCVTZU_FIX_V:
    case A64_FCVTZU_FIX_S: *rounding = CPU_ROUND_ZERO; return false;
    default: *rounding = CPU_ROUND_ZERO; return true; /* FCVTZS */
    }
}

static cpu_fp_to_int *const to_int[4] = OF(fp_to_int);
static cpu_fp_from_int *const from_int[4] = OF(fp_from_int);

static void run_to_gpr(struct cpu_core *core, const struct a64_insn *insn)
{
    enum cpu_rounding mode;
    const bool is_signed = conversion_of(insn->form, &mode);
    const uint64_t n = scalar(core, insn->rn, insn->size);
    cpu_set_reg(core, insn->rd, to_int[insn->size](core, n, mode, 32u << insn->q, is_signed, insn->amount));
}

static void run_from_gpr(struct cpu_core *core, const struct a64_insn *insn)
{
    const bool is_signed = insn->form == A64_SCVTF_GPR || insn->form == A64_SCVTF_FIX;
    uint64_t n = cpu_reg(core, insn->rn);
    if (!insn->q)
        n = is_signed ? (uint64_t)(int32_t)n : (uint32_t)n;
    set_scalar(core, insn->rd, from_int[insn->size](core, n, is_signed, insn->amount));
}

static void run_to_lanes(struct cpu_core *core, const struct a64_insn *insn)
{
    enum cpu_rounding mode;
    const bool is_signed = conversion_of(insn->form, &mode);
    const union cpu_vec n = core->v[insn->rn];
    union cpu_vec r = {.u64 = {0, 0}};
    for (unsigned i = 0; i < insn->lanes; i++)
        cpu_set_lane(&r, insn->size, i,
                     to_int[insn->size](core, cpu_lane(&n, insn->size, i), mode, 8u << insn->size, is_signed, insn->amount));
    core->v[insn->rd] = r;
}

static void run_from_lanes(struct cpu_core *core, const struct a64_insn *insn)
{
    const bool is_signed = !(insn->form == A64_UCVTF_V || insn->form == A64_UCVTF_VH || insn->form == A64_UCVTF_S ||
                             insn->form == A64_UCVTF_SH || insn->form == A64_UCVTF_FIX_V || insn->form == A64_UCVTF_FIX_S);
    const union cpu_vec n = core->v[insn->rn];
    union cpu_vec r = {.u64 = {0, 0}};
    for (unsigned i = 0; i < insn->lanes; i++) {
        const uint64_t value = is_signed ? (uint64_t)cpu_lane_signed(&n, insn->size, i) : cpu_lane(&n, insn->size, i);
        cpu_set_lane(&r, insn->size, i, from_int[insn->size](core, value, is_signed, insn->amount));
    }
    core->v[insn->rd] = r;
}

/* JavaScript's conversion: modulo 2^32; Z says the number was an integer in range. */
static void run_javascript(struct cpu_core *core, const struct a64_insn *insn)
{
    union cpu_vec n = core->v[insn->rn];
    if (core->fpcr & CPU_FPCR_FZ && !(n.u64[0] & UINT64_C(0x7ff) << 52))
        n.u64[0] &= UINT64_C(1) << 63;
    const double value = n.f64[0];
    const bool finite = value - value == 0;
    double rest = finite ? cpu_round_integral(value, CPU_ROUND_ZERO) : 0;
    const bool exact = finite && rest == value && rest >= -0x1p31 && rest < 0x1p31 && !(value == 0 && n.s64[0] < 0);
    while (rest >= 0x1p63 || rest < -0x1p63) { /* bring into 64 bits, keeping the low ones */
        const double scale = rest < 0 ? -rest : rest;
        double step = 0x1p63;
        while (step * 2 <= scale)
            step *= 2;
        rest += rest < 0 ? step : -step;
    }
    cpu_set_reg(core, insn->rd, (uint32_t)(int64_t)rest);
    core->flags = (struct cpu_flags){0, !exact, 0, 0};
}

/* Widening and narrowing of vectors; size is the narrow side. */
static void run_lengthen(struct cpu_core *core, const struct a64_insn *insn)
{
    const union cpu_vec n = core->v[insn->rn];
    union cpu_vec r = {.u64 = {0, 0}};
    for (unsigned i = 0; i < insn->lanes; i++) {
        const uint64_t value = cpu_lane(&n, insn->size, i + (insn->q ? insn->lanes : 0));
        cpu_set_lane(&r, insn->size + 1u, i, insn->size == 1 ? fp_16_to_32(core, value) : fp_32_to_64(core, value));
    }
    core->v[insn->rd] = r;
}

static void run_narrow(struct cpu_core *core, const struct a64_insn *insn)
{
    cpu_fp1 *const f = insn->form == A64_FCVTN_V ? (insn->size == 1 ? fp_32_to_16 : fp_64_to_32) : fp_64_to_32_odd;
    const union cpu_vec n = core->v[insn->rn];
    union cpu_vec r = {.u64 = {insn->q ? core->v[insn->rd].u64[0] : 0, 0}};
    for (unsigned i = 0; i < insn->lanes; i++)
        cpu_set_lane(&r, insn->size, i + (insn->q ? insn->lanes : 0), f(core, cpu_lane(&n, insn->size + 1u, i)));
    core->v[insn->rd] = r;
}

static void run_narrow_scalar(struct cpu_core *core, const struct a64_insn *insn)
{
    set_scalar(core, insn->rd, fp_64_to_32_odd(core, core->v[insn->rn].u64[0]));
}

/* FMLAL: halves of a 64- or 128-bit register, widened, times one another. */
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
    if (!insn->q)
        r.u64[1] = 0;
    core->v[insn->rd] = r;
}

/* Complex arithmetic on pairs (real, imaginary); rotation in quarter turns. */
static void run_fcadd(struct cpu_core *core, const struct a64_insn *insn)
{
    static cpu_fp2 *const add[4] = OF(fp_add);
    static cpu_fp1 *const negate[4] = OF(fp_neg);
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
    static cpu_fp3 *const fma_of[4] = OF(fp_fma);
    static cpu_fp1 *const negate[4] = OF(fp_neg);
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

static cpu_handler *special_of(unsigned form)
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
    case A64_SCVTF_GPR:
    case A64_UCVTF_GPR:
    case A64_SCVTF_FIX:
    case A64_UCVTF_FIX: return run_from_gpr;
    case A64_FCVTZS_FIX:
    case A64_FCVTZU_FIX: return run_to_gpr;
    case A64_FJCVTZS: return run_javascript;
    case A64_SCVTF_V:
    case A64_UCVTF_V:
    case A64_SCVTF_VH:
    case A64_UCVTF_VH:
    case A64_SCVTF_S:
    case A64_UCVTF_S:
    case A64_SCVTF_SH:
    case A64_UCVTF_SH:
    case A64_SCVTF_FIX_V:
    case A64_UCVTF_FIX_V:
    case A64_SCVTF_FIX_S:
    case A64_UCVTF_FIX_S: return run_from_lanes;
    case A64_FCVTZS_FIX_V:
    case A64_FCVTZU_FIX_V:
    case A64_FCVTZS_FIX_S:
    case A64_FCVTZU_FIX_S: return run_to_lanes;
    case A64_FCVTL_V: return run_lengthen;
    case A64_FCVTN_V:
    case A64_FCVTXN_V: return run_narrow;
    case A64_FCVTXN_S: return run_narrow_scalar;
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

#define TO_INT_CASES(form)                                                                                                       \
    case A64_##form##_V:                                                                                                         \
    case A64_##form##_VH:                                                                                                        \
    case A64_##form##_S:                                                                                                         \
    case A64_##form##_SH: return run_to_lanes;                                                                                   \
    case A64_##form##_GPR: return run_to_gpr;

static cpu_handler *to_int_of(unsigned form)
{
    switch (form) {
        TO_INT_CASES(FCVTNS)
        TO_INT_CASES(FCVTNU)
        TO_INT_CASES(FCVTPS)
        TO_INT_CASES(FCVTPU)
        TO_INT_CASES(FCVTMS)
        TO_INT_CASES(FCVTMU)
        TO_INT_CASES(FCVTZS)
        TO_INT_CASES(FCVTZU)
        TO_INT_CASES(FCVTAS)
        TO_INT_CASES(FCVTAU)
    default: return NULL;
    }
}

cpu_handler *cpu_fp_handler_of(const struct a64_insn *insn)
{
    const unsigned form = insn->form;
    if (table1[form].of[1] || table1[form].of[2])
        return run1;
    if (table3[form].of[1])
        return run3;
    if (table2[form].of[1])
        return table2[form].how & TAKES_PAIRS ? run2_pairs : table2[form].how & REDUCES ? run2_reduce : run2;
    cpu_handler *const handler = special_of(form);
    return handler ? handler : to_int_of(form);
}
