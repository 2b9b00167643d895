/* Instructions that run without being timed, as between the timed parts of a sample: what they leave in the caches, and what they
 * count. */
#include "units/amx/amx_timing_state.h"
#include "units/mem/mem_fast.h"

static bool is_load(const struct amx_memo *memo)
{
    return memo->effect.unit_class == AMX_CLASS_LOAD;
}

static bool moves(const struct amx_memo *memo)
{
    return memo->effect.memory_bytes > 0 && (is_load(memo) || memo->effect.unit_class == AMX_CLASS_STORE);
}

static void reach(const struct amx_timing_core *core, double now_ns, uint64_t operand, uint32_t bytes, bool load)
{
    const uint64_t address = amx_address_of(core, operand), end = address + bytes;
    struct mem_reply unused;
    if (!load) {
        mem_port_access(core->port, now_ns, address, bytes, MEM_ACCESS_STORE, 0);
        return;
    }
    for (uint64_t at = address; at < end; at = (at / MEM_LINE_BYTES + 1) * MEM_LINE_BYTES) {
        const uint64_t room = MEM_LINE_BYTES - at % MEM_LINE_BYTES;
        if (!mem_port_l2_hit(core->port, now_ns, at >> MEM_LINE_SHIFT, &unused))
            mem_port_access_beyond(core->port, now_ns, at, (uint32_t)(room < end - at ? room : end - at), MEM_ACCESS_LOAD, 0);
    }
}

void amx_block_skip(struct amx_block *block, unsigned number, double now_ns, unsigned op, uint64_t operand, enum amx_gen gen)
{
    struct amx_timing_core *const core = block->core[number];
    struct amx_memo *const memo = amx_memo_of(block, core, op, operand, gen);
    memo->tally++;
    if (core->port && moves(memo))
        reach(core, now_ns, operand, memo->effect.memory_bytes, is_load(memo));
}

void amx_block_skip_passes(struct amx_block *block, unsigned number, double now_ns, const struct amx_passes *passes,
                           enum amx_gen gen)
{
    struct amx_timing_core *const core = block->core[number];
    uint64_t operand[AMX_PASS_MAX], step[AMX_PASS_MAX];
    uint32_t bytes[AMX_PASS_MAX], count = 0;
    bool load[AMX_PASS_MAX];
    for (uint32_t i = 0; i < passes->length; i++) {
        struct amx_memo *const memo = amx_memo_of(block, core, passes->op[i], passes->operand[i], gen);
        memo->tally += passes->passes;
        if (!core->port || !moves(memo))
            continue;
        operand[count] = passes->operand[i];
        step[count] = passes->step[i];
        bytes[count] = memo->effect.memory_bytes;
        load[count++] = is_load(memo);
    }
    for (uint32_t n = 0; n < passes->passes; n++)
        for (uint32_t i = 0; i < count; i++, operand[i - 1] += step[i - 1])
            reach(core, now_ns, operand[i], bytes[i], load[i]);
}
