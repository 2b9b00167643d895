/* Integer SIMD, lane by lane and by table: a form names a function on one lane (in 128-bit integers, so that nothing ever
 * overflows) and how its operands lie in the registers. The frequent forms have whole-vector kernels in cpu_exec_fast.c, which is
 * asked first. */
#include "units/cpu/cpu_exec_float.h"
#include "units/cpu/cpu_exec_lanes.h"
#include "units/cpu/cpu_exec_vector.h"

typedef __int128 wide;

/* n, m: source lanes; d: previous destination lane; bits: width of the result; amount: immediate. */
typedef wide lane_function(wide n, wide m, wide d, unsigned bits, int amount);

enum {
    UNSIGNED = 0,
    SIGNED = 1 << 0,   /* n and m are read with sign */
    D_SIGNED = 1 << 1, /* d is read with sign */
    LONG = 1 << 2,     /* the result is twice as wide as n and m, which come from the upper half when q */
    WIDE = 1 << 3,     /* n and the result are twice as wide as m */
    NARROW = 1 << 4,   /* n and m are twice as wide as the result, which goes to the upper half when q */
    PAIRS = 1 << 5,    /* n and m are neighbours of the concatenated sources */
    ELEMENT = 1 << 6,  /* m is one element */
    SATURATE_S = 1 << 7,
    SATURATE_U = 1 << 8,
    PAIRS_LONG = 1 << 9,  /* neighbours of n alone; the result is twice as wide */
    M_SIGNED = 1 << 10,   /* m is read with sign although n is not */
    SCALAR_WIDE = 1 << 11 /* scalar with LONG or NARROW: one lane, no upper half */
};

#define LANE(name, expr)                                                                                                         \
    static wide name(wide n, wide m, wide d, unsigned bits, int amount)                                                          \
    {                                                                                                                            \
        (void)n, (void)m, (void)d, (void)bits, (void)amount;                                                                     \
        return expr;                                                                                                             \
    }

static wide shift_right(wide value, unsigned by, bool rounding)
{
    if (by > 126)
        return value < 0 && !rounding ? -1 : 0;
    return (value + (rounding && by ? (wide)1 << (by - 1) : 0)) >> by;
}

/* Shift by register: by the low byte of m, to the left when positive. */
static wide shift_both_ways(wide n, wide m, unsigned bits, bool rounding)
{
    const int by = (int8_t)(uint8_t)m;
    if (by < 0)
        return shift_right(n, (unsigned)-by, rounding);
    return by >= (int)bits ? (n ? n > 0 ? (wide)1 << 126 : -((wide)1 << 126) : 0) : (wide)((unsigned __int128)n << by);
}

/* The same without saturation: bits that leave the register are lost. */
static wide shift_and_drop(wide n, wide m, unsigned bits, bool rounding)
{
    return (int8_t)(uint8_t)m >= (int)bits ? 0 : shift_both_ways(n, m, bits, rounding);
}

static wide carryless_product(wide n, wide m)
{
    unsigned __int128 r = 0;
    for (unsigned i = 0; i < 8; i++)
        r ^= (unsigned __int128)m >> i & 1 ? (unsigned __int128)n << i : 0;
    return (wide)r;
}

static wide leading_zeros(uint64_t value, unsigned bits)
{
    return value ? __builtin_clzll(value) - (int)(64 - bits) : (int)bits;
}

static wide low_mask(unsigned bits)
{
    return ((wide)1 << bits) - 1;
}

LANE(lane_add, n + m)
LANE(lane_sub, n - m)
LANE(lane_mul, (wide)((unsigned __int128)n *(unsigned __int128)m))
LANE(lane_mla, d + (wide)((unsigned __int128)n * (unsigned __int128)m))
LANE(lane_mls, d - (wide)((unsigned __int128)n * (unsigned __int128)m))
LANE(lane_pmul, carryless_product(n, m))
LANE(lane_gt, -(n > m))
LANE(lane_ge, -(n >= m))
LANE(lane_eq, -(n == m))
LANE(lane_tst, -((n & m) != 0))
LANE(lane_gt0, -(n > 0))
LANE(lane_ge0, -(n >= 0))
LANE(lane_eq0, -(n == 0))
LANE(lane_le0, -(n <= 0))
LANE(lane_lt0, -(n < 0))
LANE(lane_max, n > m ? n : m)
LANE(lane_min, n < m ? n : m)
LANE(lane_abd, n > m ? n - m : m - n)
LANE(lane_aba, d + (n > m ? n - m : m - n))
LANE(lane_hadd, (n + m) >> 1)
LANE(lane_rhadd, (n + m + 1) >> 1)
LANE(lane_hsub, (n - m) >> 1)
LANE(lane_shl_by, shift_and_drop(n, m, bits, false))
LANE(lane_rshl_by, shift_and_drop(n, m, bits, true))
LANE(lane_qshl_by, shift_both_ways(n, m, bits, false))
LANE(lane_qrshl_by, shift_both_ways(n, m, bits, true))
/* Doubling products: d is 0 where the instruction does not accumulate. */
LANE(lane_dmulh, 2 * n * m >> bits)
LANE(lane_rdmulh, (2 * n * m + ((wide)1 << (bits - 1))) >> bits)
LANE(lane_rdmlah, ((d * ((wide)1 << bits)) + 2 * n * m + ((wide)1 << (bits - 1))) >> bits)
LANE(lane_rdmlsh, ((d * ((wide)1 << bits)) - 2 * n * m + ((wide)1 << (bits - 1))) >> bits)
LANE(lane_dmull, 2 * n * m)
LANE(lane_hn_add, (n + m) >> bits)
LANE(lane_hn_sub, (n - m) >> bits)
LANE(lane_rhn_add, (n + m + ((wide)1 << (bits - 1))) >> bits)
LANE(lane_rhn_sub, (n - m + ((wide)1 << (bits - 1))) >> bits)
LANE(lane_move, n)
LANE(lane_neg, -n)
LANE(lane_abs, n < 0 ? -n : n)
LANE(lane_acc, d + n)
LANE(lane_adalp, d + n + m)
LANE(lane_clz, leading_zeros((uint64_t)n, bits))
LANE(lane_cls, leading_zeros((uint64_t)((n ^ (n >> 1)) & low_mask(bits - 1)), bits - 1))
LANE(lane_cnt, __builtin_popcountll((uint64_t)n))
LANE(lane_not, ~n)
LANE(lane_rbit, (wide)(((uint64_t)n * UINT64_C(0x0202020202) & UINT64_C(0x010884422010)) % 1023))
LANE(lane_shr, shift_right(n, (unsigned)amount, false))
LANE(lane_rshr, shift_right(n, (unsigned)amount, true))
LANE(lane_sra, d + shift_right(n, (unsigned)amount, false))
LANE(lane_rsra, d + shift_right(n, (unsigned)amount, true))
LANE(lane_shl, (wide)((unsigned __int128)n << amount))
LANE(lane_shll, (wide)((unsigned __int128)n << (bits / 2)))
LANE(lane_sri, (d & ~(low_mask(bits) >> amount)) | n >> amount)
LANE(lane_sli, (d & low_mask((unsigned)amount)) | (wide)((unsigned __int128)n << amount))

struct lane_entry {
    lane_function *f;
    unsigned how;
};

#define VS(form, f, how) [A64_##form##_V] = {f, how}, [A64_##form##_S] = {f, how}
#define V(form, f, how)  [A64_##form##_V] = {f, how}
#define E(form, f, how)  [A64_##form##_E] = {f, (how) | ELEMENT}
#define ES(form, f, how) [A64_##form##_E] = {f, (how) | ELEMENT}, [A64_##form##_SE] = {f, (how) | ELEMENT}
#define ES_LONG(form, f, how)                                                                                                    \
    [A64_##form##_E] = {f, (how) | ELEMENT | LONG}, [A64_##form##_SE] = {f, (how) | ELEMENT | LONG | SCALAR_WIDE},               \
    [A64_##form##_V] = {f, (how) | LONG}, [A64_##form##_S] = {f, (how) | LONG | SCALAR_WIDE}
#define VS_NARROW(form, f, how) [A64_##form##_V] = {f, (how) | NARROW}, [A64_##form##_S] = {f, (how) | NARROW | SCALAR_WIDE}

static const struct lane_entry table[A64_FORM_COUNT] = {
    VS(ADD, lane_add, UNSIGNED),
    VS(SUB, lane_sub, UNSIGNED),
    V(MUL, lane_mul, UNSIGNED),
    E(MUL, lane_mul, UNSIGNED),
    V(MLA, lane_mla, UNSIGNED),
    E(MLA, lane_mla, UNSIGNED),
    V(MLS, lane_mls, UNSIGNED),
    E(MLS, lane_mls, UNSIGNED),
    V(PMUL, lane_pmul, UNSIGNED),
    V(PMULL, lane_pmul, LONG),
    VS(CMGT, lane_gt, SIGNED),
    VS(CMHI, lane_gt, UNSIGNED),
    VS(CMGE, lane_ge, SIGNED),
    VS(CMHS, lane_ge, UNSIGNED),
    VS(CMEQ, lane_eq, UNSIGNED),
    VS(CMTST, lane_tst, UNSIGNED),
    VS(CMGT_0, lane_gt0, SIGNED),
    VS(CMGE_0, lane_ge0, SIGNED),
    VS(CMEQ_0, lane_eq0, SIGNED),
    VS(CMLE_0, lane_le0, SIGNED),
    VS(CMLT_0, lane_lt0, SIGNED),
    V(SMAX, lane_max, SIGNED),
    V(UMAX, lane_max, UNSIGNED),
    V(SMIN, lane_min, SIGNED),
    V(UMIN, lane_min, UNSIGNED),
    V(SMAXP, lane_max, SIGNED | PAIRS),
    V(UMAXP, lane_max, PAIRS),
    V(SMINP, lane_min, SIGNED | PAIRS),
    V(UMINP, lane_min, PAIRS),
    V(ADDP, lane_add, PAIRS),
    [A64_ADDP_S] = {lane_add, PAIRS},
    V(SABD, lane_abd, SIGNED),
    V(UABD, lane_abd, UNSIGNED),
    V(SABA, lane_aba, SIGNED),
    V(UABA, lane_aba, UNSIGNED),
    V(SHADD, lane_hadd, SIGNED),
    V(UHADD, lane_hadd, UNSIGNED),
    V(SRHADD, lane_rhadd, SIGNED),
    V(URHADD, lane_rhadd, UNSIGNED),
    V(SHSUB, lane_hsub, SIGNED),
    V(UHSUB, lane_hsub, UNSIGNED),
    VS(SQADD, lane_add, SIGNED | SATURATE_S),
    VS(UQADD, lane_add, SATURATE_U),
    VS(SQSUB, lane_sub, SIGNED | SATURATE_S),
    VS(UQSUB, lane_sub, SATURATE_U),
    VS(SUQADD, lane_acc, D_SIGNED | SATURATE_S),
    VS(USQADD, lane_acc, SIGNED | SATURATE_U),
    VS(SSHL, lane_shl_by, SIGNED),
    VS(USHL, lane_shl_by, UNSIGNED),
    VS(SRSHL, lane_rshl_by, SIGNED),
    VS(URSHL, lane_rshl_by, UNSIGNED),
    VS(SQSHL, lane_qshl_by, SIGNED | SATURATE_S),
    VS(UQSHL, lane_qshl_by, SATURATE_U),
    VS(SQRSHL, lane_qrshl_by, SIGNED | SATURATE_S),
    VS(UQRSHL, lane_qrshl_by, SATURATE_U),
    VS(SQDMULH, lane_dmulh, SIGNED | SATURATE_S),
    ES(SQDMULH, lane_dmulh, SIGNED | SATURATE_S),
    VS(SQRDMULH, lane_rdmulh, SIGNED | SATURATE_S),
    ES(SQRDMULH, lane_rdmulh, SIGNED | SATURATE_S),
    VS(SQRDMLAH, lane_rdmlah, SIGNED | D_SIGNED | SATURATE_S),
    ES(SQRDMLAH, lane_rdmlah, SIGNED | D_SIGNED | SATURATE_S),
    VS(SQRDMLSH, lane_rdmlsh, SIGNED | D_SIGNED | SATURATE_S),
    ES(SQRDMLSH, lane_rdmlsh, SIGNED | D_SIGNED | SATURATE_S),
    ES_LONG(SQDMULL, lane_dmull, SIGNED | SATURATE_S),
    V(SADDL, lane_add, SIGNED | LONG),
    V(UADDL, lane_add, LONG),
    V(SSUBL, lane_sub, SIGNED | LONG),
    V(USUBL, lane_sub, LONG),
    V(SADDW, lane_add, SIGNED | WIDE),
    V(UADDW, lane_add, WIDE),
    V(SSUBW, lane_sub, SIGNED | WIDE),
    V(USUBW, lane_sub, WIDE),
    V(SABDL, lane_abd, SIGNED | LONG),
    V(UABDL, lane_abd, LONG),
    V(SABAL, lane_aba, SIGNED | LONG),
    V(UABAL, lane_aba, LONG),
    V(SMULL, lane_mul, SIGNED | LONG),
    V(UMULL, lane_mul, LONG),
    V(SMLAL, lane_mla, SIGNED | LONG),
    V(UMLAL, lane_mla, LONG),
    V(SMLSL, lane_mls, SIGNED | LONG),
    V(UMLSL, lane_mls, LONG),
    E(SMULL, lane_mul, SIGNED | LONG),
    E(UMULL, lane_mul, LONG),
    E(SMLAL, lane_mla, SIGNED | LONG),
    E(UMLAL, lane_mla, LONG),
    E(SMLSL, lane_mls, SIGNED | LONG),
    E(UMLSL, lane_mls, LONG),
    V(ADDHN, lane_hn_add, NARROW),
    V(SUBHN, lane_hn_sub, NARROW),
    V(RADDHN, lane_rhn_add, NARROW),
    V(RSUBHN, lane_rhn_sub, NARROW),
    V(CLZ, lane_clz, UNSIGNED),
    V(CLS, lane_cls, UNSIGNED),
    V(CNT, lane_cnt, UNSIGNED),
    V(NOT, lane_not, UNSIGNED),
    V(RBIT, lane_rbit, UNSIGNED),
    VS(ABS, lane_abs, SIGNED),
    VS(NEG, lane_neg, SIGNED),
    VS(SQABS, lane_abs, SIGNED | SATURATE_S),
    VS(SQNEG, lane_neg, SIGNED | SATURATE_S),
    V(SADDLP, lane_add, SIGNED | PAIRS_LONG),
    V(UADDLP, lane_add, PAIRS_LONG),
    V(SADALP, lane_adalp, SIGNED | PAIRS_LONG),
    V(UADALP, lane_adalp, PAIRS_LONG),
    V(XTN, lane_move, NARROW),
    VS_NARROW(SQXTN, lane_move, SIGNED | SATURATE_S),
    VS_NARROW(UQXTN, lane_move, SATURATE_U),
    VS_NARROW(SQXTUN, lane_move, SIGNED | SATURATE_U),
    V(SHLL, lane_shll, LONG),
    VS(SSHR, lane_shr, SIGNED),
    VS(USHR, lane_shr, UNSIGNED),
    VS(SSRA, lane_sra, SIGNED),
    VS(USRA, lane_sra, UNSIGNED),
    VS(SRSHR, lane_rshr, SIGNED),
    VS(URSHR, lane_rshr, UNSIGNED),
    VS(SRSRA, lane_rsra, SIGNED),
    VS(URSRA, lane_rsra, UNSIGNED),
    VS(SRI, lane_sri, UNSIGNED),
    VS(SLI, lane_sli, UNSIGNED),
    VS(SHL, lane_shl, UNSIGNED),
    VS(SQSHL_IMM, lane_shl, SIGNED | SATURATE_S),
    VS(UQSHL_IMM, lane_shl, SATURATE_U),
    VS(SQSHLU_IMM, lane_shl, SIGNED | SATURATE_U),
    V(SSHLL, lane_shl, SIGNED | LONG),
    V(USHLL, lane_shl, LONG),
    V(SHRN, lane_shr, NARROW),
    V(RSHRN, lane_rshr, NARROW),
    VS_NARROW(SQSHRN, lane_shr, SIGNED | SATURATE_S),
    VS_NARROW(UQSHRN, lane_shr, SATURATE_U),
    VS_NARROW(SQSHRUN, lane_shr, SIGNED | SATURATE_U),
    VS_NARROW(SQRSHRN, lane_rshr, SIGNED | SATURATE_S),
    VS_NARROW(UQRSHRN, lane_rshr, SATURATE_U),
    VS_NARROW(SQRSHRUN, lane_rshr, SIGNED | SATURATE_U),
};

static wide saturate(struct cpu_core *core, wide value, unsigned how, unsigned bits)
{
    if (!(how & (SATURATE_S | SATURATE_U)))
        return value;
    const wide most = how & SATURATE_S ? low_mask(bits - 1) : low_mask(bits), least = how & SATURATE_S ? -most - 1 : 0;
    if (value >= least && value <= most)
        return value;
    core->fpsr |= CPU_FPSR_QC;
    return value < least ? least : most;
}

static wide read_lane(const union cpu_vec *v, unsigned size, unsigned i, bool is_signed)
{
    return is_signed ? (wide)cpu_lane_signed(v, size, i) : (wide)cpu_lane(v, size, i);
}

struct lane_view {
    unsigned size_n, size_m, size_d;
    unsigned at_n, at_m, at_d; /* the first lanes */
};

static struct lane_view view_of(const struct a64_insn *insn, unsigned how)
{
    const unsigned wider = insn->size + 1u, upper = insn->q && !(how & SCALAR_WIDE) ? insn->lanes : 0;
    struct lane_view v = {insn->size, insn->size, insn->size, 0, 0, 0};
    if (how & (LONG | WIDE | PAIRS_LONG))
        v.size_d = wider;
    if (how & LONG)
        v.at_n = v.at_m = upper;
    if (how & WIDE) {
        v.size_n = wider;
        v.at_m = upper;
    }
    if (how & NARROW) {
        v.size_n = v.size_m = wider;
        v.at_d = upper;
    }
    return v;
}

static void run_lanes(struct cpu_core *core, const struct a64_insn *insn)
{
    const struct lane_entry *e = &table[insn->form];
    const union cpu_vec n = core->v[insn->rn], m = core->v[insn->rm], d = core->v[insn->rd];
    const struct lane_view v = view_of(insn, e->how);
    const unsigned bits = 8u << v.size_d;
    union cpu_vec r = {.u64 = {v.at_d ? d.u64[0] : 0, 0}};
    for (unsigned i = 0; i < insn->lanes; i++) {
        const wide a = read_lane(&n, v.size_n, v.at_n + i, e->how & SIGNED);
        const wide b = read_lane(&m, v.size_m, e->how & ELEMENT ? insn->amount : v.at_m + i, e->how & SIGNED);
        const wide c = read_lane(&d, v.size_d, i, e->how & D_SIGNED);
        cpu_set_lane(&r, v.size_d, v.at_d + i, (uint64_t)saturate(core, e->f(a, b, c, bits, insn->amount), e->how, bits));
    }
    core->v[insn->rd] = r;
}

static void run_pairs(struct cpu_core *core, const struct a64_insn *insn)
{
    const struct lane_entry *e = &table[insn->form];
    const union cpu_vec n = core->v[insn->rn], m = core->v[insn->rm], d = core->v[insn->rd];
    const bool alone = e->how & PAIRS_LONG;
    const unsigned size_d = insn->size + (alone ? 1u : 0), bits = 8u << size_d;
    const unsigned half = insn->lanes > 1 ? insn->lanes / 2 : 1, count = alone ? half : insn->lanes;
    union cpu_vec r = {.u64 = {0, 0}};
    for (unsigned i = 0; i < count; i++) {
        const union cpu_vec *from = i < half ? &n : &m;
        const unsigned at = 2 * (i < half ? i : i - half);
        const wide a = read_lane(from, insn->size, at, e->how & SIGNED), b = read_lane(from, insn->size, at + 1, e->how & SIGNED);
        cpu_set_lane(&r, size_d, i, (uint64_t)e->f(a, b, read_lane(&d, size_d, i, false), bits, insn->amount));
    }
    core->v[insn->rd] = r;
}

/* Doubling multiply-accumulate saturates twice: the product, then the sum. */
static void run_double_accumulate(struct cpu_core *core, const struct a64_insn *insn)
{
    const bool minus =
        insn->form == A64_SQDMLSL_V || insn->form == A64_SQDMLSL_S || insn->form == A64_SQDMLSL_E || insn->form == A64_SQDMLSL_SE;
    const bool scalar = insn->lanes == 1, element = insn->form == A64_SQDMLAL_E || insn->form == A64_SQDMLSL_E ||
                                                    insn->form == A64_SQDMLAL_SE || insn->form == A64_SQDMLSL_SE;
    const unsigned size_d = insn->size + 1u, bits = 8u << size_d, upper = insn->q && !scalar ? insn->lanes : 0;
    const union cpu_vec n = core->v[insn->rn], m = core->v[insn->rm], d = core->v[insn->rd];
    union cpu_vec r = {.u64 = {0, 0}};
    for (unsigned i = 0; i < insn->lanes; i++) {
        const wide a = read_lane(&n, insn->size, upper + i, true),
                   b = read_lane(&m, insn->size, element ? insn->amount : upper + i, true);
        const wide product = saturate(core, 2 * a * b, SATURATE_S, bits), c = read_lane(&d, size_d, i, true);
        cpu_set_lane(&r, size_d, i, (uint64_t)saturate(core, minus ? c - product : c + product, SATURATE_S, bits));
    }
    core->v[insn->rd] = r;
}

struct across_entry {
    lane_function *f;
    bool is_signed, longer;
};
static const struct across_entry across[A64_FORM_COUNT] = {
    [A64_ADDV_V] = {lane_add, false, false},  [A64_SADDLV_V] = {lane_add, true, true},  [A64_UADDLV_V] = {lane_add, false, true},
    [A64_SMAXV_V] = {lane_max, true, false},  [A64_UMAXV_V] = {lane_max, false, false}, [A64_SMINV_V] = {lane_min, true, false},
    [A64_UMINV_V] = {lane_min, false, false},
};

static void run_across(struct cpu_core *core, const struct a64_insn *insn)
{
    const struct across_entry *e = &across[insn->form];
    const union cpu_vec n = core->v[insn->rn];
    wide r = read_lane(&n, insn->size, 0, e->is_signed);
    for (unsigned i = 1; i < insn->lanes; i++)
        r = e->f(r, read_lane(&n, insn->size, i, e->is_signed), 0, 0, 0);
    union cpu_vec result = {.u64 = {0, 0}};
    cpu_set_lane(&result, insn->size + (e->longer ? 1u : 0), 0, (uint64_t)r);
    core->v[insn->rd] = result;
}

/* Adds four byte products to each 32-bit lane. */
static void run_dot(struct cpu_core *core, const struct a64_insn *insn)
{
    const bool is_signed = insn->form == A64_SDOT_V || insn->form == A64_SDOT_E;
    const bool element = insn->form == A64_SDOT_E || insn->form == A64_UDOT_E;
    const union cpu_vec n = core->v[insn->rn], m = core->v[insn->rm];
    union cpu_vec r = core->v[insn->rd];
    for (unsigned i = 0; i < insn->lanes; i++) {
        const unsigned at = 4u * (element ? insn->amount : i);
        uint32_t sum = r.u32[i];
        for (unsigned k = 0; k < 4; k++)
            sum += is_signed ? (uint32_t)(n.s8[4 * i + k] * m.s8[at + k]) : (uint32_t)(n.u8[4 * i + k] * m.u8[at + k]);
        r.u32[i] = sum;
    }
    cpu_set_vector(core, insn, r);
}

static cpu_handler *special_of(unsigned form)
{
    switch (form) {
    case A64_SQDMLAL_V:
    case A64_SQDMLAL_S:
    case A64_SQDMLAL_E:
    case A64_SQDMLAL_SE:
    case A64_SQDMLSL_V:
    case A64_SQDMLSL_S:
    case A64_SQDMLSL_E:
    case A64_SQDMLSL_SE: return run_double_accumulate;
    case A64_SDOT_V:
    case A64_UDOT_V:
    case A64_SDOT_E:
    case A64_UDOT_E: return run_dot;
    default: return NULL;
    }
}

cpu_handler *cpu_vector_handler_of(const struct a64_insn *insn)
{
    cpu_handler *handler = cpu_permute_handler_of(insn);
    if (!handler && table[insn->form].f)
        handler = table[insn->form].how & (PAIRS | PAIRS_LONG) ? run_pairs : run_lanes;
    if (!handler && across[insn->form].f)
        handler = run_across;
    if (!handler)
        handler = special_of(insn->form);
    if (!handler)
        handler = cpu_matrix_handler_of(insn);
    return handler ? handler : cpu_crypto_handler_of(insn);
}
