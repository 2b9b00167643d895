/* Loads and stores of an AMX block. Data come through the cluster's L2 (github tzakharko/m4-sme-exploration for M4;
 * M2 Pro bandwidths of zhen8838 agree), so one path serves all cores of the block.
 *
 * A load asks memory as soon as it reaches the block and waits in its queue for the data, which are written to X or Y
 * at its turn: later loads overlap earlier arithmetic although the same registers are still being read (the packed
 * kernel of zhen8838 reloads the registers it uses and still reaches 97.9 % of the arithmetic limit).
 */
#include "units/amx/amx_timing_state.h"

#define ADDRESS_MASK ((UINT64_C(1) << 56) - 1)

/* Neighbouring lines lie in neighbouring banks; buffers 256 and 512 KiB apart are half the banks away (guess: pairs of
 * buffers at such distances load as fast as one buffer, except two pairs at once). */
static uint64_t bank_of(uint64_t line)
{
    return line ^ ((line >> 11 ^ line >> 12) & 1) << 3;
}

static void lines_of(const struct amx_timing_core *core, uint64_t operand, uint32_t bytes, uint64_t *first, uint64_t *last)
{
    const uint64_t address = (operand & ADDRESS_MASK) | core->address_tag;
    *first = address >> AMX_LINE_SHIFT;
    *last = (address + (bytes ? bytes - 1 : 0)) >> AMX_LINE_SHIFT;
}

static double access_done(const struct amx_block *block, struct amx_timing_core *core, double cycle, uint64_t operand,
                          uint32_t bytes, enum mem_access_kind kind)
{
    if (!core->port)
        return cycle;
    const uint64_t address = (operand & ADDRESS_MASK) | core->address_tag;
    const struct mem_reply reply = mem_port_access(core->port, amx_ns_of(block, cycle), address, bytes, kind, 0);
    return amx_later(cycle, amx_cycle_of(block, reply.ready_ns));
}

/* Reloading one line again and again runs at one load per bank time (M2 Pro: 30 GB/s for pairs, against 213-260 over
 * consecutive lines). */
static double wait_for_banks(struct amx_block *block, uint64_t first, uint64_t last, double cycle)
{
    const uint64_t mask = block->params.load_banks - 1;
    double start = cycle;
    for (uint64_t line = first; line <= last; line++)
        start = amx_later(start, block->bank_ready[bank_of(line) & mask]);
    for (uint64_t line = first; line <= last; line++)
        block->bank_ready[bank_of(line) & mask] = start + block->params.load_bank_cycles;
    return start;
}

static double wait_for_stores(const struct amx_block *block, uint64_t first, uint64_t last, double cycle)
{
    for (uint64_t line = first; line <= last; line++) {
        const struct amx_stored_line *stored = &block->stored[line % AMX_STORE_LINES];
        if (stored->line == line)
            cycle = amx_later(cycle, stored->visible);
    }
    return cycle;
}

double amx_timing_load(struct amx_block *block, struct amx_timing_core *core, double arrived, double start,
                       uint64_t operand, const struct amx_effect *effect, enum amx_stall *reason)
{
    const struct amx_params *p = &block->params;
    uint64_t first, last;
    lines_of(core, operand, effect->memory_bytes, &first, &last);
    double asked = amx_later(arrived, block->load_ready);
    asked = wait_for_stores(block, first, last, asked);
    asked = wait_for_banks(block, first, last, asked);
    block->load_ready = asked + amx_later(p->load_issue_cycles, effect->memory_bytes / p->load_bytes_per_cycle);
    const double done = access_done(block, core, asked, operand, effect->memory_bytes, MEM_ACCESS_LOAD) +
                        p->load_latency_cycles;
    if (asked > start) {
        start = asked;
        *reason = AMX_STALL_LOAD_PORT;
    }
    const double ready = amx_later(start, done);
    amx_registers_write(core, effect->x_write | (unsigned)effect->y_write << 8, ready);
    if (effect->z_write)
        amx_rows_write(core, effect->z_write, ready);
    if (p->load_array_cycles > 0)
        for (int lane = 0; lane < AMX_LANES; lane++)
            core->lane_ready[lane] = amx_later(core->lane_ready[lane], start) + p->load_array_cycles;
    core->complete = amx_later(core->complete, ready);
    block->activity.count[ACT_AMX_LOAD_BYTES] += effect->memory_bytes;
    return start;
}

double amx_timing_store(struct amx_block *block, struct amx_timing_core *core, double start, uint64_t operand,
                        const struct amx_effect *effect, enum amx_stall *reason)
{
    const struct amx_params *p = &block->params;
    double data = amx_registers_ready(core, effect->x_read | (unsigned)effect->y_read << 8);
    if (effect->z_read)
        data = amx_later(data, amx_rows_ready(core, effect->z_read));
    /* The buffer holds store_buffer_rows rows: this store enters when the path is no more than that behind. */
    const double entered = amx_later(data, block->store_ready - block->store_slack);
    if (entered > start) {
        start = entered;
        *reason = AMX_STALL_STORE;
    }
    const double drained = amx_later(start, block->store_ready);
    block->store_ready = drained + amx_later(p->store_issue_cycles, effect->memory_bytes / p->store_bytes_per_cycle);
    const double accepted = access_done(block, core, drained, operand, effect->memory_bytes, MEM_ACCESS_STORE);
    const double visible = amx_later(accepted, block->store_ready) + p->store_latency_cycles;
    uint64_t first, last;
    lines_of(core, operand, effect->memory_bytes, &first, &last);
    for (uint64_t line = first; line <= last; line++)
        block->stored[line % AMX_STORE_LINES] = (struct amx_stored_line){line, visible};
    core->stores_visible = amx_later(core->stores_visible, visible);
    core->complete = amx_later(core->complete, visible);
    block->activity.count[ACT_AMX_STORE_BYTES] += effect->memory_bytes;
    return start;
}
