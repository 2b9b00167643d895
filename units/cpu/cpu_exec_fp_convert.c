/* Floating-point conversions: to and from integers, and between the widths of vector elements. */
#include "units/cpu/cpu_exec_fp.h"

/* Conversions to integers: rounding and whether the result is signed. */
#define TO_INT_FORMS(X)                                                                                                          \
    X(FCVTNS, CPU_ROUND_EVEN, true)                                                                                              \
    X(FCVTNU, CPU_ROUND_EVEN, false)                                                                                             \
    X(FCVTPS, CPU_ROUND_UP, true)                                                                                                \
    X(FCVTPU, CPU_ROUND_UP, false)                                                                                               \
    X(FCVTMS, CPU_ROUND_DOWN, true)                                                                                              \
    X(FCVTMU, CPU_ROUND_DOWN, false)                                                                                             \
    X(FCVTAS, CPU_ROUND_AWAY, true)                                                                                              \
    X(FCVTAU, CPU_ROUND_AWAY, false)                                                                                             \
    X(FCVTZS, CPU_ROUND_ZERO, true)                                                                                              \
    X(FCVTZU, CPU_ROUND_ZERO, false)

/* Returns whether the result is signed. */
static bool conversion_of(unsigned form, enum cpu_rounding *rounding)
{
    switch (form) {
#define CASES(name, mode, is_signed)                                                                                             \
    case A64_##name##_GPR:                                                                                                       \
    case A64_##name##_V:                                                                                                         \
    case A64_##name##_VH:                                                                                                        \
    case A64_##name##_S:                                                                                                         \
    case A64_##name##_SH: *rounding = mode; return is_signed;
        TO_INT_FORMS(CASES)
#undef CASES
    case A64_FCVTZU_FIX:
    case A64_FCVTZU_FIX_V:
    case A64_FCVTZU_FIX_S: *rounding = CPU_ROUND_ZERO; return false;
    default: *rounding = CPU_ROUND_ZERO; return true; /* FCVTZS with fraction bits */
    }
}

static cpu_fp_to_int *const to_int[4] = CPU_FP_BY_SIZE(fp_to_int);
static cpu_fp_from_int *const from_int[4] = CPU_FP_BY_SIZE(fp_from_int);

static void run_to_gpr(struct cpu_core *core, const struct a64_insn *insn)
{
    enum cpu_rounding mode;
    const bool is_signed = conversion_of(insn->form, &mode);
    const uint64_t n = cpu_scalar(core, insn->rn, insn->size);
    cpu_set_reg(core, insn->rd, to_int[insn->size](core, n, mode, 32u << insn->q, is_signed, insn->amount));
}

static void run_from_gpr(struct cpu_core *core, const struct a64_insn *insn)
{
    const bool is_signed = insn->form == A64_SCVTF_GPR || insn->form == A64_SCVTF_FIX;
    uint64_t n = cpu_reg(core, insn->rn);
    if (!insn->q)
        n = is_signed ? (uint64_t)(int32_t)n : (uint32_t)n;
    cpu_set_scalar(core, insn->rd, from_int[insn->size](core, n, is_signed, insn->amount));
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

/* JavaScript's conversion: modulo 2^32; Z tells whether the number was an integer in range. */
static void run_javascript(struct cpu_core *core, const struct a64_insn *insn)
{
    union cpu_vec n = core->v[insn->rn];
    if (core->fpcr & CPU_FPCR_FZ && !(n.u64[0] & UINT64_C(0x7ff) << 52))
        n.u64[0] &= UINT64_C(1) << 63;
    const double value = n.f64[0];
    const bool finite = value - value == 0;
    double rest = finite ? cpu_round_integral(value, CPU_ROUND_ZERO) : 0;
    const bool exact = finite && rest == value && rest >= -0x1p31 && rest < 0x1p31 && !(value == 0 && n.s64[0] < 0);
    while (rest >= 0x1p63 || rest < -0x1p63) { /* reduce to 64 bits, keeping the low ones */
        const double scale = rest < 0 ? -rest : rest;
        double step = 0x1p63;
        while (step * 2 <= scale)
            step *= 2;
        rest += rest < 0 ? step : -step;
    }
    cpu_set_reg(core, insn->rd, (uint32_t)(int64_t)rest);
    core->flags = (struct cpu_flags){0, !exact, 0, 0};
}

/* Widening and narrowing of vectors; size is that of the narrow side. */
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
    cpu_set_scalar(core, insn->rd, fp_64_to_32_odd(core, core->v[insn->rn].u64[0]));
}

static cpu_handler *to_int_of(unsigned form)
{
    switch (form) {
#define CASES(name, mode, is_signed)                                                                                             \
    case A64_##name##_V:                                                                                                         \
    case A64_##name##_VH:                                                                                                        \
    case A64_##name##_S:                                                                                                         \
    case A64_##name##_SH: return run_to_lanes;                                                                                   \
    case A64_##name##_GPR: return run_to_gpr;
        TO_INT_FORMS(CASES)
#undef CASES
    case A64_FCVTZS_FIX:
    case A64_FCVTZU_FIX: return run_to_gpr;
    case A64_FCVTZS_FIX_V:
    case A64_FCVTZU_FIX_V:
    case A64_FCVTZS_FIX_S:
    case A64_FCVTZU_FIX_S: return run_to_lanes;
    default: return NULL;
    }
}

static cpu_handler *from_int_of(unsigned form)
{
    switch (form) {
    case A64_SCVTF_GPR:
    case A64_UCVTF_GPR:
    case A64_SCVTF_FIX:
    case A64_UCVTF_FIX: return run_from_gpr;
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
    default: return NULL;
    }
}

cpu_handler *cpu_fp_convert_handler_of(unsigned form)
{
    switch (form) {
    case A64_FJCVTZS: return run_javascript;
    case A64_FCVTL_V: return run_lengthen;
    case A64_FCVTN_V:
    case A64_FCVTXN_V: return run_narrow;
    case A64_FCVTXN_S: return run_narrow_scalar;
    default: {
        cpu_handler *const handler = from_int_of(form);
        return handler ? handler : to_int_of(form);
    }
    }
}
