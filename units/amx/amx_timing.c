/* An AMX block's timing: creation, clocks, and what it reports. The model itself is in amx_timing_send.c and amx_timing_memory.c.
 */
#include "units/amx/amx_timing_period.h"
#include "units/amx/amx_timing_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *amx_stall_name(enum amx_stall stall)
{
    static const char *const names[AMX_STALL_COUNT] = {
#define X(name, key, text) [AMX_STALL_##name] = key,
        AMX_STALL_TABLE(X)
#undef X
    };
    return (unsigned)stall < AMX_STALL_COUNT ? names[stall] : NULL;
}

const struct amx_effect *amx_effect_fill(struct amx_effect_slot *slot, unsigned op, uint64_t operand, enum amx_gen gen)
{
    amx_effect_of(op, operand, gen, &slot->effect);
    slot->operand = operand;
    slot->tag = (uint32_t)op << 8 | ((uint32_t)gen + 1);
    return &slot->effect;
}

static void set_rate(struct amx_block *block, double clock_ghz)
{
    block->params.clock_ghz = clock_ghz;
    block->ticks_per_ns = clock_ghz * AMX_TICKS;
    block->ns_per_tick = 1 / block->ticks_per_ns;
}

static unsigned bounded(uint32_t value, unsigned lowest, unsigned highest)
{
    return value < lowest ? lowest : value > highest ? highest : value;
}

static unsigned power_of_two_below(unsigned value)
{
    unsigned power = 1;
    while (power * 2 <= value)
        power *= 2;
    return power;
}

static void derive(struct amx_block *block)
{
    struct amx_params *p = &block->params;
    const double issue_count = ceil(p->issue_per_cycle);
    const double row_cycles = 64 / p->store_bytes_per_cycle;
    block->ticks = (struct amx_ticks){
        .z_latency = amx_cycle_ticks(p->z_latency_cycles),
        .cross = amx_cycle_ticks(p->vector_cross_cycles),
        .cross_pass = amx_cycle_ticks(p->vector_cross_pass_cycles),
        .pass = amx_cycle_ticks(p->vector_row_cycles * AMX_LANES),
        .issue_window = amx_cycle_ticks(issue_count / p->issue_per_cycle),
        .set = amx_cycle_ticks(p->set_cycles),
        .clr = amx_cycle_ticks(p->clr_cycles),
        .load_issue = amx_cycle_ticks(p->load_issue_cycles),
        .load_request_same = amx_cycle_ticks(p->load_request_same_cycles),
        .load_latency = amx_cycle_ticks(p->load_latency_cycles),
        .load_array = amx_cycle_ticks(p->load_array_cycles),
        .load_bank = amx_cycle_ticks(p->load_bank_cycles),
        .store_issue = amx_cycle_ticks(p->store_issue_cycles),
        .store_latency = amx_cycle_ticks(p->store_latency_cycles),
        .store_merge = amx_cycle_ticks(p->store_merge_cycles),
        .store_gap = amx_cycle_ticks(p->store_gap_cycles),
        .store_slack = amx_cycle_ticks(p->store_buffer_rows * row_cycles),
        .load_per_byte = AMX_TICKS / p->load_bytes_per_cycle,
        .store_per_byte = AMX_TICKS / p->store_bytes_per_cycle,
        .store_shared_per_byte = AMX_TICKS / p->store_shared_bytes_per_cycle,
    };
    block->issue_count = bounded((uint32_t)issue_count, 1, AMX_QUEUE_MAX - 1);
    block->queue = bounded(p->queue_entries, 1, AMX_QUEUE_MAX - 1);
    p->load_banks = power_of_two_below(bounded(p->load_banks, 1, AMX_MAX_BANKS));
    amx_share_prepare(block);
}

struct amx_block *amx_block_create(const struct amx_params *params, unsigned cores)
{
    struct amx_block *block = calloc(1, sizeof *block + cores * sizeof block->core[0]);
    if (!block)
        return NULL;
    block->params = *params;
    block->cores = cores;
    block->repeats = true;
    for (unsigned i = 0; i < cores; i++) {
        block->core[i] = calloc(1, sizeof *block->core[i]);
        if (!block->core[i]) {
            amx_block_free(block);
            return NULL;
        }
    }
    set_rate(block, params->clock_ghz);
    derive(block);
    amx_block_restart(block, 0);
    return block;
}

void amx_block_free(struct amx_block *block)
{
    for (unsigned i = 0; block && i < block->cores; i++)
        free(block->core[i]);
    if (block)
        amx_periods_free(block->periods);
    free(block);
}

void amx_block_set_port(struct amx_block *block, unsigned core, struct mem_port *port, uint64_t address_tag)
{
    block->core[core]->port = port;
    block->core[core]->address_tag = address_tag;
}

void amx_block_set_clock(struct amx_block *block, double clock_ghz)
{
    int64_t latest = block->base_tick;
    for (unsigned i = 0; i < block->cores; i++)
        latest = amx_later(latest, block->core[i]->head);
    block->base_ns = amx_ns_of(block, latest);
    block->base_tick = latest;
    set_rate(block, clock_ghz);
    amx_memo_forget(block);
    amx_periods_forget(block);
}

double amx_block_idle_at(const struct amx_block *block, unsigned core)
{
    return amx_ns_of(block, block->core[core]->complete);
}

double amx_block_stores_done_at(const struct amx_block *block, unsigned core)
{
    return amx_ns_of(block, block->core[core]->stores_visible);
}

void amx_block_stalls(const struct amx_block *block, unsigned core, double cycles[AMX_STALL_COUNT], double *total)
{
    const struct amx_timing_core *c = block->core[core];
    for (int i = 0; i < AMX_STALL_COUNT; i++)
        cycles[i] = (double)c->stall[i] / AMX_TICKS;
    cycles[AMX_STALL_DRAIN] += (double)(c->complete - c->head) / AMX_TICKS;
    *total = (double)(c->complete - c->origin) / AMX_TICKS;
}

uint64_t amx_block_instructions(const struct amx_block *block, unsigned core)
{
    return block->core[core]->instructions;
}

void amx_block_set_watch(struct amx_block *block, const struct unit_watch *watch)
{
    block->watch = watch && watch->amx ? watch : NULL;
    block->repeats = !block->watch;
}

void amx_block_set_repeats(struct amx_block *block, bool on)
{
    block->repeats = on;
}

uint64_t amx_block_repeated(const struct amx_block *block)
{
    return block->repeated;
}

void amx_block_take_activity(struct amx_block *block, struct activity *into)
{
    amx_memo_settle(block);
    activity_add(into, &block->activity);
    memset(&block->activity, 0, sizeof block->activity);
}

void amx_block_restart(struct amx_block *block, double now_ns)
{
    /* Tick 0 is now: nothing that happened before can hold anything back. */
    block->base_ns = now_ns;
    block->base_tick = 0;
    block->computing = block->loading = block->storing = 0;
    block->repeated = 0;
    for (unsigned i = 0; i < AMX_STORE_LINES; i++)
        block->stored[i] = (struct amx_stored_line){.line = UINT64_MAX};
    for (unsigned i = 0; i < AMX_MAX_BANKS; i++)
        block->loaded[i] = (struct amx_loaded_block){UINT64_MAX, 0};
    memset(&block->activity, 0, sizeof block->activity);
    amx_share_forget(block);
    for (unsigned i = 0; i < block->cores; i++) {
        struct amx_timing_core *core = block->core[i];
        struct mem_port *port = core->port;
        const uint64_t tag = core->address_tag;
        memset(core, 0, sizeof *core);
        core->port = port;
        core->address_tag = tag;
    }
}
