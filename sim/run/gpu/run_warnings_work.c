/* Warnings about what simdgroups do: lanes that are masked out, wider arithmetic than the data, registers, barriers. */
#include "sim/run/gpu/run_warnings.h"

#include "sim/run/run_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TEXT_BYTES = 360 };

/* Below half of the lanes, the code issues more than twice as often as it would have to. */
#define FEW_LANES 0.5
/* Code under a mask that is a smaller share of cycles and instructions wins little when its lanes are filled. */
#define DIVERGED 0.10
/* A full threadgroup of 1024 threads are 32 simdgroups. With fewer than 20 (more than 160 half registers each) a scheduler has
 * fewer than five to choose from. */
#define FEW_SIMDGROUPS 20
/* Waits that other simdgroups would fill: below this share, more of them win little. */
#define LATENCY 0.30
/* Arithmetic that a narrower type would make cheaper: below this share of the instructions it hardly shows. */
#define WIDE 0.20
/* And it has to be what the kernel does with its time. */
#define BY_ARITHMETIC 0.50

/* ---- divergence ---- */

/* A run of instructions with few lanes. */
struct masked {
    uint32_t first, end;
    double issued, lanes, empty, share; /* sums; share of the cycles */
};

static double full_lanes(const struct run_review *r)
{
    return r->k->instructions ? r->k->instruction[0].lanes : NAN; /* every simdgroup begins with all its lanes */
}

static bool is_masked(const struct run_review *r, uint32_t i)
{
    return r->k->instruction[i].issued > 0 && r->k->instruction[i].lanes < FEW_LANES * full_lanes(r);
}

static struct masked masked_from(const struct run_review *r, uint32_t first)
{
    struct masked m = {.first = first, .end = first};
    for (; m.end < r->k->instructions && is_masked(r, m.end); m.end++) {
        const struct profile_instruction *const x = &r->k->instruction[m.end];
        const struct gpu_profile_row *const row = &r->l->profile.row[m.end];
        m.issued += (double)x->issued;
        m.lanes += (double)x->issued * x->lanes;
        m.empty += row->issues ? (double)x->issued * (double)row->empty / (double)row->issues : 0;
        m.share += profile_instruction_cycles(x) / r->cycles;
    }
    return m;
}

static bool jumps_back_over(const struct run_review *r, uint32_t jump, uint32_t to)
{
    const struct agx_inst *const inst = gpu_program_inst(r->program, jump);
    const int64_t target = (int64_t)gpu_program_pc(r->program, jump) + inst->branch_bytes;
    return (inst->op == AGX_OP_JMP_EXEC_ANY || inst->op == AGX_OP_JMP_EXEC_NONE) && inst->branch_bytes < 0 &&
           target <= (int64_t)gpu_program_pc(r->program, to);
}

/* The instruction that masks the lanes out: the last one in front of them that still had most lanes, or the condition of the loop
 * that they run in. */
static uint32_t branch_of(const struct run_review *r, const struct masked *m)
{
    for (uint32_t i = m->first; i-- > 0 && !(r->k->instruction[i].lanes < FEW_LANES * full_lanes(r));)
        if (gpu_program_effect(r->program, i)->writes_mask)
            return i;
    for (uint32_t jump = m->first; jump < r->k->instructions; jump++)
        for (uint32_t i = jump; jumps_back_over(r, jump, m->first) && i-- > 0;)
            if (gpu_program_effect(r->program, i)->writes_mask)
                return i;
    return m->first;
}

static bool ends_laps(const struct run_review *r, uint32_t branch)
{
    return strncmp(agx_mnemonic(gpu_program_inst(r->program, branch)), "while", strlen("while")) == 0;
}

static bool say_masked(const struct run_review *r, const struct masked *m)
{
    const uint32_t branch = branch_of(r, m);
    char evidence[TEXT_BYTES];
    if (run_review_said(r, branch, "divergent branch"))
        return true;
    snprintf(evidence, sizeof evidence,
             "%.0f %% of the lanes are active in the code under it, which is %.0f %% of all instructions and %.0f %% of the "
             "cycles (%.0f %% of these instructions have no active lane at all)",
             100 * m->lanes / (m->issued * full_lanes(r)), 100 * m->issued / r->issued, 100 * m->share,
             100 * m->empty / m->issued);
    return run_review_say(r, branch, "divergent branch", evidence,
                          ends_laps(r, branch)
                              ? "give the threads of a simdgroup loops of equal length (sort the work by length), or let them "
                                "share one loop"
                              : "let the 32 threads of a simdgroup decide alike (order the work by the condition), or compute "
                                "with select() where both sides are short");
}

static bool review_lanes(const struct run_review *r)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < r->k->instructions;) {
        const struct masked m = masked_from(r, i);
        i = m.end > i ? m.end : i + 1;
        if (m.issued >= DIVERGED * r->issued && m.share >= DIVERGED)
            ok = say_masked(r, &m);
    }
    return ok;
}

/* ---- the width of arithmetic ---- */

/* Every float that goes in or comes out is a half. */
static bool half_data(const struct abi_kernel *k)
{
    bool half = false;
    for (unsigned i = 0; i < k->args; i++) {
        const struct abi_arg *const a = &k->arg[i];
        if (element_type_float(a->type) && a->type != ELEMENT_F16)
            return false;
        half = half || (a->buffer && a->type == ELEMENT_F16);
    }
    return half;
}

static bool is_register(const struct agx_operand *operand, const struct agx_operand *of)
{
    return operand->place == AGX_PLACE_WORD && of->place == AGX_PLACE_WORD && operand->index == of->index;
}

/* Adds to the register that it writes. */
static bool adds_to(const struct agx_inst *inst, const struct agx_operand *sum)
{
    if (!is_register(&inst->dst, sum))
        return false;
    return inst->op == AGX_OP_FMADD32
               ? is_register(&inst->source[2], sum)
               : inst->op == AGX_OP_FADD32 && (is_register(&inst->source[0], sum) || is_register(&inst->source[1], sum));
}

static bool reads(const struct agx_inst *inst, const struct agx_operand *sum)
{
    for (unsigned i = 0; i < inst->source_count; i++)
        if (is_register(&inst->source[i], sum))
            return true;
    return false;
}

/* The smallest loop around an instruction, or else the program. */
static void loop_around(const struct run_review *r, uint32_t i, uint32_t *first, uint32_t *last)
{
    *first = 0;
    *last = (uint32_t)r->k->instructions - 1;
    for (uint32_t jump = i; jump < r->k->instructions; jump++) {
        if (!jumps_back_over(r, jump, i))
            continue;
        for (*first = i; *first > 0 && jumps_back_over(r, jump, *first - 1);)
            --*first;
        *last = jump;
        return;
    }
}

/* Sums are kept in 32 bits for good reason. A sum is a register that its loop only adds to; outside of loops, from the first
 * addition to the last. */
static bool is_sum(const struct run_review *r, uint32_t i)
{
    const struct agx_operand *const sum = &gpu_program_inst(r->program, i)->dst;
    uint32_t first, last;
    if (!adds_to(gpu_program_inst(r->program, i), sum))
        return false;
    loop_around(r, i, &first, &last);
    const bool whole = first == 0 && last + 1 == r->k->instructions;
    while (whole && first < i && !adds_to(gpu_program_inst(r->program, first), sum))
        first++;
    while (whole && last > i && !adds_to(gpu_program_inst(r->program, last), sum))
        last--;
    for (uint32_t n = first; n <= last; n++)
        if (reads(gpu_program_inst(r->program, n), sum) && !adds_to(gpu_program_inst(r->program, n), sum))
            return false;
    return true;
}

static bool is_wide(const struct run_review *r, uint32_t i)
{
    return run_review_class(r, i) == AGX_CLASS_F32 && !is_sum(r, i);
}

static bool review_width(const struct run_review *r)
{
    const double arithmetic =
        r->waits[GPU_STALL_ISSUE] + r->waits[GPU_STALL_ALU] + r->waits[GPU_STALL_DEPENDENCY] + r->waits[GPU_STALL_REGISTER_CACHE];
    double wide = 0;
    uint32_t most = UINT32_MAX;
    char evidence[TEXT_BYTES];
    if (arithmetic < BY_ARITHMETIC || !half_data(r->l->setup->kernel))
        return true;
    for (uint32_t i = 0; i < r->k->instructions; i++) {
        if (!is_wide(r, i) || !r->k->instruction[i].issued)
            continue;
        wide += (double)r->k->instruction[i].issued;
        if (most == UINT32_MAX || run_review_share(r, i) > run_review_share(r, most))
            most = i;
    }
    if (wide < WIDE * r->issued)
        return true;
    snprintf(evidence, sizeof evidence,
             "%.0f %% of the instructions are f32 arithmetic that sums nothing up, while every input and output is f16; "
             "arithmetic takes %.0f %% of the cycles",
             100 * wide / r->issued, 100 * arithmetic);
    return run_review_say(r, most, "f32 where f16 would do", evidence,
                          "keep the values between loads and stores in half, with constants such as 0.5h; sums over many "
                          "elements may stay in float");
}

/* ---- registers ---- */

static bool review_occupancy(const struct run_review *r)
{
    const struct run_gpu *const g = &r->l->m->gpu;
    const char *const limit = r->l->run->occupancy_limit;
    const unsigned own = run_launch_simdgroups(r->l), held = g->occupancy * own;
    const double waits = r->waits[GPU_STALL_MEMORY] + r->waits[GPU_STALL_DEPENDENCY] + r->waits[GPU_STALL_THREADGROUP_MEMORY];
    uint32_t most = 0;
    char evidence[TEXT_BYTES];
    if (!limit || strcmp(limit, "registers") != 0 || held >= FEW_SIMDGROUPS || waits < LATENCY ||
        r->l->setup->group_count < run_launch_wave(r->l))
        return true;
    for (uint32_t i = 0; i < r->k->instructions; i++)
        if (run_review_share(r, i) > run_review_share(r, most))
            most = i;
    snprintf(evidence, sizeof evidence,
             "%u half registers a thread leave room for %u simdgroups on a core, and for %.0f %% of the cycles all of them wait "
             "for memory or results; this line waits longest",
             r->l->setup->launch.register_halves, held, 100 * waits);
    return run_review_say(r, most, "low occupancy", evidence,
                          "use fewer registers: smaller blocks for each thread, less unrolling, half instead of float; 104 half "
                          "registers leave room for 32 simdgroups");
}

/* ---- barriers ---- */

static bool review_barrier(const struct run_review *r, uint32_t i)
{
    const struct profile_instruction *const x = &r->k->instruction[i];
    char evidence[TEXT_BYTES];
    if (run_review_class(r, i) != AGX_CLASS_BARRIER || !x->issued || run_review_said(r, i, "barrier of one simdgroup"))
        return true;
    snprintf(
        evidence, sizeof evidence,
        "the threadgroup has %u threads, which are one simdgroup and run in step; it waits %.3g times for nobody, in %.2g %% "
        "of the cycles",
        r->l->setup->kernel->group[0] * r->l->setup->kernel->group[1] * r->l->setup->kernel->group[2],
        (double)x->issued / r->simdgroups, 100 * run_review_share(r, i));
    return run_review_say(r, i, "barrier of one simdgroup", evidence,
                          "simdgroup_barrier() orders memory within a simdgroup without a barrier");
}

bool run_review_work(const struct run_review *r)
{
    bool ok = review_lanes(r) && review_width(r) && review_occupancy(r);
    for (uint32_t i = 0; ok && run_launch_simdgroups(r->l) == 1 && i < r->k->instructions; i++)
        ok = review_barrier(r, i);
    return ok;
}
