/* SIMD instructions that move bits and bytes: logic, immediates, copies between registers, permutes, tables. */
#include "units/cpu/cpu_exec_lanes.h"
#include "units/cpu/cpu_exec_vector.h"

#include <string.h>

#define LOGIC(name, expr)                                                                                                        \
    static void name(struct cpu_core *core, const struct a64_insn *insn)                                                         \
    {                                                                                                                            \
        const union cpu_vec vn = core->v[insn->rn], vm = core->v[insn->rm], vd = core->v[insn->rd];                              \
        union cpu_vec r;                                                                                                         \
        for (unsigned i = 0; i < 2; i++) {                                                                                       \
            const uint64_t n = vn.u64[i], m = vm.u64[i], d = vd.u64[i];                                                          \
            (void)d;                                                                                                             \
            r.u64[i] = (expr);                                                                                                   \
        }                                                                                                                        \
        cpu_set_vector(core, insn, r);                                                                                           \
    }
LOGIC(run_and, n &m)
LOGIC(run_bic, n & ~m)
LOGIC(run_orr, n | m)
LOGIC(run_orn, n | ~m)
LOGIC(run_eor, n ^ m)
LOGIC(run_bsl, (d & n) | (~d & m))
LOGIC(run_bit, (d & ~m) | (n & m))
LOGIC(run_bif, (d & m) | (n & ~m))

static void run_immediate(struct cpu_core *core, const struct a64_insn *insn)
{
    const uint64_t imm = (uint64_t)insn->imm;
    union cpu_vec r = core->v[insn->rd];
    for (unsigned i = 0; i < 2; i++)
        switch (insn->form) {
        case A64_ORR_16:
        case A64_ORR_32: r.u64[i] |= imm; break;
        case A64_BIC_16:
        case A64_BIC_32: r.u64[i] &= imm; break; /* the immediate is already inverted */
        default: r.u64[i] = imm; break;
        }
    cpu_set_vector(core, insn, r);
}

static void broadcast(struct cpu_core *core, const struct a64_insn *insn, uint64_t value)
{
    union cpu_vec r = {.u64 = {0, 0}};
    for (unsigned i = 0; i < insn->lanes; i++)
        cpu_set_lane(&r, insn->size, i, value);
    core->v[insn->rd] = r;
}

static void run_dup(struct cpu_core *core, const struct a64_insn *insn)
{
    broadcast(core, insn, cpu_lane(&core->v[insn->rn], insn->size, insn->amount));
}

static void run_dup_gpr(struct cpu_core *core, const struct a64_insn *insn)
{
    broadcast(core, insn, cpu_reg(core, insn->rn));
}

static void run_to_gpr(struct cpu_core *core, const struct a64_insn *insn)
{
    const union cpu_vec *n = &core->v[insn->rn];
    const int64_t value = cpu_lane_signed(n, insn->size, insn->amount);
    if (insn->form == A64_SMOV_X)
        cpu_set_reg(core, insn->rd, (uint64_t)value);
    else if (insn->form == A64_SMOV_W)
        cpu_set_reg(core, insn->rd, (uint32_t)value);
    else
        cpu_set_reg(core, insn->rd, cpu_lane(n, insn->size, insn->amount));
}

static void run_insert(struct cpu_core *core, const struct a64_insn *insn)
{
    const uint64_t value =
        insn->form == A64_INS_GPR ? cpu_reg(core, insn->rn) : cpu_lane(&core->v[insn->rn], insn->size, (unsigned)insn->imm);
    cpu_set_lane(&core->v[insn->rd], insn->size, insn->amount, value);
}

static void run_ext(struct cpu_core *core, const struct a64_insn *insn)
{
    const unsigned bytes = 8u << insn->q;
    uint8_t both[32];
    memcpy(both, &core->v[insn->rn], bytes);
    memcpy(both + bytes, &core->v[insn->rm], bytes);
    union cpu_vec r = {.u64 = {0, 0}};
    memcpy(&r, both + insn->amount, bytes);
    core->v[insn->rd] = r;
}

static void run_table(struct cpu_core *core, const struct a64_insn *insn)
{
    const unsigned bytes = 16u * insn->shift;
    const union cpu_vec m = core->v[insn->rm];
    union cpu_vec r = core->v[insn->rd];
    uint8_t all[64];
    for (unsigned i = 0; i < insn->shift; i++)
        memcpy(all + 16 * i, &core->v[(insn->rn + i) & 31], 16);
    for (unsigned i = 0; i < 16; i++)
        if (m.u8[i] < bytes)
            r.u8[i] = all[m.u8[i]];
        else if (insn->form == A64_TBL)
            r.u8[i] = 0;
    cpu_set_vector(core, insn, r);
}

/* Returns the source of lane i of a permute: a lane of n or, from `lanes` on, of m. */
static unsigned source_of(unsigned form, unsigned i, unsigned lanes)
{
    switch (form) {
    case A64_ZIP1: return i / 2 + (i & 1 ? lanes : 0);
    case A64_ZIP2: return i / 2 + lanes / 2 + (i & 1 ? lanes : 0);
    case A64_UZP1: return 2 * i;
    case A64_UZP2: return 2 * i + 1;
    case A64_TRN1: return (i & ~1u) + (i & 1 ? lanes : 0);
    default: return (i | 1) + (i & 1 ? lanes : 0); /* TRN2 */
    }
}

static void run_permute(struct cpu_core *core, const struct a64_insn *insn)
{
    const union cpu_vec n = core->v[insn->rn], m = core->v[insn->rm];
    union cpu_vec r = {.u64 = {0, 0}};
    for (unsigned i = 0; i < insn->lanes; i++) {
        const unsigned from = source_of(insn->form, i, insn->lanes);
        cpu_set_lane(&r, insn->size, i,
                     cpu_lane(from < insn->lanes ? &n : &m, insn->size, from < insn->lanes ? from : from - insn->lanes));
    }
    core->v[insn->rd] = r;
}

/* Reverses the elements within containers of 16, 32 or 64 bits. */
static void run_reverse(struct cpu_core *core, const struct a64_insn *insn)
{
    const unsigned container = insn->form == A64_REV16_V ? 1 : insn->form == A64_REV32_V ? 2 : 3;
    const unsigned flip = (1u << (container - insn->size)) - 1;
    const union cpu_vec n = core->v[insn->rn];
    union cpu_vec r = {.u64 = {0, 0}};
    for (unsigned i = 0; i < insn->lanes; i++)
        cpu_set_lane(&r, insn->size, i, cpu_lane(&n, insn->size, i ^ flip));
    core->v[insn->rd] = r;
}

cpu_handler *cpu_permute_handler_of(const struct a64_insn *insn)
{
    switch (insn->form) {
    case A64_AND_V: return run_and;
    case A64_BIC_V: return run_bic;
    case A64_ORR_V: return run_orr;
    case A64_ORN_V: return run_orn;
    case A64_EOR_V: return run_eor;
    case A64_BSL_V: return run_bsl;
    case A64_BIT_V: return run_bit;
    case A64_BIF_V: return run_bif;
    case A64_MOVI_32:
    case A64_MOVI_16:
    case A64_MOVI_MSL:
    case A64_MOVI_8:
    case A64_MOVI_D:
    case A64_MOVI_2D:
    case A64_MVNI_32:
    case A64_MVNI_16:
    case A64_MVNI_MSL:
    case A64_ORR_32:
    case A64_ORR_16:
    case A64_BIC_32:
    case A64_BIC_16:
    case A64_FMOV_V4S:
    case A64_FMOV_V8H:
    case A64_FMOV_V2D: return run_immediate;
    case A64_DUP_V:
    case A64_DUP_S: return run_dup;
    case A64_DUP_GPR: return run_dup_gpr;
    case A64_SMOV_W:
    case A64_SMOV_X:
    case A64_UMOV_W:
    case A64_UMOV_X: return run_to_gpr;
    case A64_INS_GPR:
    case A64_INS_V: return run_insert;
    case A64_EXT: return run_ext;
    case A64_TBL:
    case A64_TBX: return run_table;
    case A64_ZIP1:
    case A64_ZIP2:
    case A64_UZP1:
    case A64_UZP2:
    case A64_TRN1:
    case A64_TRN2: return run_permute;
    case A64_REV16_V:
    case A64_REV32_V:
    case A64_REV64_V: return run_reverse;
    default: return NULL;
    }
}
