/* Which instructions matter when only time is asked for. The way of a program and its addresses come from general registers and
 * flags. Where something is made of vector registers for these, what leads there from loads in the same block is executed; all
 * else that only computes vectors is left out. */
#include "units/cpu/cpu_exec.h"

static bool is_vector(uint8_t number)
{
    return number >= A64_DEP_V0 && number < A64_DEP_FLAGS;
}

/* Vector registers among dependency numbers, a bit each. */
static uint32_t vectors(const uint8_t *number, unsigned count)
{
    uint32_t set = 0;
    for (unsigned i = 0; i < count; i++)
        set |= is_vector(number[i]) ? UINT32_C(1) << (number[i] - A64_DEP_V0) : 0;
    return set;
}

static bool writes_others(const struct a64_insn *insn)
{
    bool others = insn->flags & A64_INSN_SETS_FLAGS;
    for (unsigned i = 0; i < A64_DST_MAX; i++)
        others |= insn->dst[i] != A64_DEP_NONE && !is_vector(insn->dst[i]);
    return others;
}

/* Computes vectors alone, from any registers. */
static bool computes_vectors(const struct a64_insn *insn)
{
    const unsigned others = A64_INSN_LOAD | A64_INSN_STORE | A64_INSN_BRANCH | A64_INSN_ENDS_BLOCK;
    return insn->form != A64_UNDEFINED && is_vector(insn->dst[0]) && !writes_others(insn) && insn->mem_bytes == 0 &&
           !(insn->flags & others);
}

/* Comparisons of numbers set flags, which FCSEL reads as well; they count as steering, whoever reads them. */
bool cpu_steering_find(struct cpu_steering *steering, const struct a64_insn *insn, uint32_t count)
{
    uint32_t needed = 0; /* vector registers whose values steer, before the instruction at hand */
    for (uint32_t i = count; i-- > 0;) {
        const uint32_t reads = vectors(insn[i].src, A64_SRC_MAX), writes = vectors(insn[i].dst, A64_DST_MAX);
        const bool computes = computes_vectors(&insn[i]);
        steering->without[i] = computes && !(writes & needed);
        if (writes & needed) {
            needed &= ~writes;
            needed |= reads;
        }
        if (!computes && insn[i].mem_bytes == 0 && writes_others(&insn[i]))
            needed |= reads;
    }
    return needed == 0;
}
