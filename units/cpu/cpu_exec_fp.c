/* Floating-point arithmetic, scalar and vector: the table from forms to functions of cpu_exec_arith.h, and the loops over
 * lanes. */
#include "units/cpu/cpu_exec_fp.h"

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

/* A form in its scalar, SIMD scalar and vector encodings. */
#define VECTORS(form, name, how) [A64_##form##_V] = {CPU_FP_BY_SIZE(name), how}, [A64_##form##_VH] = {CPU_FP_BY_SIZE(name), how}
#define SCALARS(form, name, how) [A64_##form##_S] = {CPU_FP_BY_SIZE(name), how}, [A64_##form##_SH] = {CPU_FP_BY_SIZE(name), how}
#define ELEMENTS(form, name)                                                                                                     \
    [A64_##form##_E] = {CPU_FP_BY_SIZE(name), TAKES_ELEMENT}, [A64_##form##_EH] = {CPU_FP_BY_SIZE(name), TAKES_ELEMENT},         \
    [A64_##form##_SE] = {CPU_FP_BY_SIZE(name), TAKES_ELEMENT}, [A64_##form##_SEH] = {CPU_FP_BY_SIZE(name), TAKES_ELEMENT}

static const struct fp2_entry table2[A64_FORM_COUNT] = {
    [A64_FADD] = {CPU_FP_BY_SIZE(fp_add), 0},
    VECTORS(FADD, fp_add, 0),
    [A64_FSUB] = {CPU_FP_BY_SIZE(fp_sub), 0},
    VECTORS(FSUB, fp_sub, 0),
    [A64_FMUL] = {CPU_FP_BY_SIZE(fp_mul), 0},
    VECTORS(FMUL, fp_mul, 0),
    ELEMENTS(FMUL, fp_mul),
    [A64_FDIV] = {CPU_FP_BY_SIZE(fp_div), 0},
    VECTORS(FDIV, fp_div, 0),
    [A64_FMAX] = {CPU_FP_BY_SIZE(fp_max), 0},
    VECTORS(FMAX, fp_max, 0),
    [A64_FMIN] = {CPU_FP_BY_SIZE(fp_min), 0},
    VECTORS(FMIN, fp_min, 0),
    [A64_FMAXNM] = {CPU_FP_BY_SIZE(fp_maxnm), 0},
    VECTORS(FMAXNM, fp_maxnm, 0),
    [A64_FMINNM] = {CPU_FP_BY_SIZE(fp_minnm), 0},
    VECTORS(FMINNM, fp_minnm, 0),
    [A64_FNMUL] = {CPU_FP_BY_SIZE(fp_nmul), 0},
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
    [A64_FMADD] = {CPU_FP_BY_SIZE(fp_fma), TAKES_RA},
    [A64_FMSUB] = {CPU_FP_BY_SIZE(fp_fms), TAKES_RA},
    [A64_FNMADD] = {CPU_FP_BY_SIZE(fp_fnma), TAKES_RA},
    [A64_FNMSUB] = {CPU_FP_BY_SIZE(fp_fnms), TAKES_RA},
    VECTORS(FMLA, fp_fma, 0),
    ELEMENTS(FMLA, fp_fma),
    VECTORS(FMLS, fp_fms, 0),
    ELEMENTS(FMLS, fp_fms),
};

#define ONE(form, name)   [A64_##form] = {CPU_FP_BY_SIZE(name)}
#define ONE_V(form, name) [A64_##form##_V] = {CPU_FP_BY_SIZE(name)}, [A64_##form##_VH] = {CPU_FP_BY_SIZE(name)}
#define ONE_S(form, name) [A64_##form##_S] = {CPU_FP_BY_SIZE(name)}, [A64_##form##_SH] = {CPU_FP_BY_SIZE(name)}
#define ONE_WITHIN(form, name)                                                                                                   \
    [A64_##form] = {{NULL, NULL, name##_32, name##_64}}, [A64_##form##_V] = {{NULL, NULL, name##_32, name##_64}}
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
    ONE_WITHIN(FRINT32Z, fp_rint_32_zero),
    ONE_WITHIN(FRINT32X, fp_rint_32_mode),
    ONE_WITHIN(FRINT64Z, fp_rint_64_zero),
    ONE_WITHIN(FRINT64X, fp_rint_64_mode),
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

/* Returns the second operand of lane i: the lane of a vector, one element for all lanes, or zero. */
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

/* Combines the lower half with the upper half, recursively: this is the order in which NaNs meet (shared pseudocode Reduce). */
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

cpu_handler *cpu_fp_handler_of(const struct a64_insn *insn)
{
    const unsigned form = insn->form;
    if (table1[form].of[1] || table1[form].of[2])
        return run1;
    if (table3[form].of[1])
        return run3;
    if (table2[form].of[1])
        return table2[form].how & TAKES_PAIRS ? run2_pairs : table2[form].how & REDUCES ? run2_reduce : run2;
    cpu_handler *const handler = cpu_fp_special_handler_of(form);
    return handler ? handler : cpu_fp_convert_handler_of(form);
}
