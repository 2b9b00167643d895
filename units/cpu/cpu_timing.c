#include "units/cpu/cpu_timing_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *cpu_stall_name(enum cpu_stall stall)
{
    static const char *const names[] = {
#define X(name, key, text) key,
        CPU_STALL_TABLE(X)
#undef X
    };
    return (unsigned)stall < CPU_STALL_COUNT ? names[stall] : NULL;
}

static uint32_t whole(double cycles)
{
    return cycles <= 0.0 ? 0 : cycles >= 65535.0 ? 65535 : (uint32_t)nearbyint(cycles);
}

static void set_clock(struct cpu_timing *t, double ghz)
{
    t->params.clock_ghz = ghz;
    t->clock.ns_per_cycle = 1.0 / ghz;
    t->clock.cycles_per_ns = ghz;
    const double l1_ns = t->port ? mem_port_l1_latency_ns(t->port) : 0.0;
    t->l1_cycles = l1_ns > 0.0 ? (uint32_t)ceil(l1_ns * ghz - 1e-3) : whole(t->params.cls[A64_C_LOAD].latency_cycles);
}

static bool valid(const struct cpu_params *p)
{
    return p->clock_ghz > 0.0 && p->dispatch_width > 0 && p->reorder_window > 0 && p->load_queue > 0 && p->store_queue > 0 &&
           p->taken_branches_per_cycle > 0 && p->amx_issue_per_cycle > 0;
}

struct cpu_timing *cpu_timing_create(const struct cpu_params *params, struct mem_port *port, uint64_t address_tag)
{
    if (!valid(params))
        return NULL;
    struct cpu_timing *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->params = *params;
    t->port = port;
    t->address_tag = address_tag;
    t->memo_on = true;
    t->mispredict_cycles = whole(params->mispredict_cycles);
    t->forward_cycles = whole(params->store_forward_cycles);
    t->store_cycles = whole(params->cls[A64_C_STORE].latency_cycles);
    const double gain = params->cls[A64_C_LOAD].latency_cycles - params->load_to_load_cycles;
    t->pointer_gain = params->load_to_load_cycles > 0.0 ? whole(gain < 255.0 ? gain : 255.0) : 0;
    set_clock(t, params->clock_ghz);
    if (cpu_board_init(t) && cpu_memo_init(t) && cpu_predict_init(&t->predict, params->predictor_bits)) {
        cpu_timing_restart(t, 0.0);
        return t;
    }
    cpu_timing_free(t);
    return NULL;
}

void cpu_timing_free(struct cpu_timing *t)
{
    if (!t)
        return;
    cpu_memo_release(t);
    cpu_later_free(t->later);
    cpu_plan_forget(t);
    free(t->plan);
    cpu_predict_release(&t->predict);
    cpu_board_release(t);
    free(t);
}

void cpu_timing_set_amx(struct cpu_timing *t, const struct cpu_amx_link *link)
{
    t->has_amx = link != NULL;
    if (link)
        t->amx = *link;
}

void cpu_timing_set_tag(struct cpu_timing *t, uint64_t address_tag)
{
    cpu_memo_leave(t);
    t->address_tag = address_tag;
}

void cpu_timing_set_memo(struct cpu_timing *t, bool on)
{
    cpu_memo_leave(t);
    t->memo_on = on;
}

void cpu_timing_set_watch(struct cpu_timing *t, const struct unit_watch *watch, unsigned number)
{
    cpu_timing_set_memo(t, !watch);
    t->watch = watch && watch->cpu ? watch : NULL;
    t->number = number;
}

void cpu_timing_memo_counters(const struct cpu_timing *t, uint64_t *blocks, uint64_t *remembered)
{
    *blocks = t->blocks;
    *remembered = t->remembered;
}

/* Plans are kept as long as the coming blocks are the same. */
static void part_from_blocks(struct cpu_timing *t)
{
    cpu_memo_leave(t);
    cpu_plan_part(t);
    t->last = NULL;
}

void cpu_timing_forget_blocks(struct cpu_timing *t)
{
    part_from_blocks(t);
}

void cpu_timing_set_clock(struct cpu_timing *t, double clock_ghz)
{
    if (clock_ghz <= 0.0 || clock_ghz == t->params.clock_ghz)
        return;
    t->clock.base_ns = cpu_ns_of(t, t->board.now);
    t->clock.base_cycle = t->board.now;
    set_clock(t, clock_ghz);
}

void cpu_timing_restart(struct cpu_timing *t, double now_ns)
{
    part_from_blocks(t);
    /* Cycle numbers start high enough to leave room for the past. */
    t->clock.base_cycle = t->start_cycle = UINT64_C(1) << 20;
    t->clock.base_ns = now_ns;
    cpu_board_reset(t, t->clock.base_cycle);
    t->trace = NULL;
    t->instructions = t->blocks = t->remembered = t->branches = t->mispredicts = t->activity_mispredicts = 0;
    memset(&t->activity, 0, sizeof t->activity);
}

/* ---- branches ---- */

unsigned cpu_branch_outcome(struct cpu_timing *t, uint64_t next_pc)
{
    const struct cpu_plan *last = t->last;
    if (!last || last->branch == CPU_BRANCH_NONE)
        return 0;
    const uint64_t pc = last->end_pc - 4;
    const bool taken = last->branch != CPU_BRANCH_CONDITIONAL || next_pc != last->end_pc;
    bool right = true;
    t->branches++;
    if (last->branch == CPU_BRANCH_CONDITIONAL)
        right = cpu_predict_conditional(&t->predict, pc, taken);
    else if (last->branch == CPU_BRANCH_RETURN)
        right = cpu_predict_return(&t->predict, next_pc);
    else if (last->branch == CPU_BRANCH_INDIRECT || last->branch == CPU_BRANCH_INDIRECT_CALL)
        right = cpu_predict_indirect(&t->predict, pc, next_pc);
    if (last->branch == CPU_BRANCH_CALL || last->branch == CPU_BRANCH_INDIRECT_CALL)
        cpu_predict_call(&t->predict, last->end_pc);
    t->mispredicts += !right;
    return (taken ? CPU_OUTCOME_TAKEN : 0u) | (right ? 0u : CPU_OUTCOME_WRONG);
}

/* ---- traces ---- */

static void place_block(struct cpu_timing *t, const struct cpu_plan *plan, const struct cpu_block *block, uint32_t count,
                        unsigned outcome, const uint64_t *address)
{
    cpu_memo_begin(t);
    cpu_board_resolve(t, outcome & CPU_OUTCOME_TAKEN, outcome & CPU_OUTCOME_WRONG);
    if (t->watch)
        cpu_board_run_watched(t, plan, block, count, address);
    else
        cpu_board_run(t, plan, count, address);
    t->answers = 0;
    t->clean &= count == plan->count;
    cpu_memo_end(t, plan, outcome);
}

static void do_block(struct cpu_timing *t, const struct cpu_block *block, uint32_t count, const uint64_t *address)
{
    struct cpu_plan *plan = cpu_plan_near(t, block);
    if (!plan)
        return; /* memory is out: the block is not timed */
    const unsigned outcome = cpu_branch_outcome(t, block->pc);
    if (count == plan->count && cpu_memo_step(t, plan, outcome, address))
        t->remembered++;
    else
        place_block(t, plan, block, count, outcome, address);
    cpu_block_done(t, plan, block, count);
}

/* Tells the host of the trace's addresses up to so many ahead of the next block that it was not told of yet. */
static void tell(const struct cpu_timing *t, uint32_t *told, uint32_t ahead,
                 void (*expect)(const struct mem_port *port, uint64_t addr))
{
    const struct cpu_trace *const trace = t->trace;
    const uint32_t left = trace->addresses - t->trace_address, end = t->trace_address + (left < ahead ? left : ahead);
    uint64_t last = UINT64_MAX;
    for (uint32_t i = *told > t->trace_address ? *told : t->trace_address; i < end; i++) {
        const uint64_t addr = trace->address[i] + t->address_tag;
        if (addr >> MEM_LINE_SHIFT != last)
            expect(t->port, addr);
        last = addr >> MEM_LINE_SHIFT;
    }
    *told = end;
}

void cpu_look_ahead(struct cpu_timing *t)
{
    tell(t, &t->expected, CPU_EXPECT, mem_port_expect);
    tell(t, &t->expected_soon, CPU_EXPECT_SOON, mem_port_expect_soon);
    tell(t, &t->expected_victims, CPU_EXPECT_VICTIM, mem_port_expect_victims);
}

void cpu_timing_feed(struct cpu_timing *t, const struct cpu_trace *trace)
{
    t->trace = trace->blocks ? trace : NULL;
    t->trace_block = t->trace_address = 0;
    t->expected = t->expected_soon = t->expected_victims = 0;
}

bool cpu_timing_pending(const struct cpu_timing *t)
{
    return t->trace != NULL;
}

void cpu_timing_advance(struct cpu_timing *t, double limit_ns)
{
    while (t->trace && cpu_timing_now(t) <= limit_ns) {
        const struct cpu_trace *trace = t->trace;
        const struct cpu_block *block = trace->block[t->trace_block];
        const bool final = t->trace_block + 1 == trace->blocks;
        const uint32_t count = final && trace->last_count < block->count ? trace->last_count : block->count;
        cpu_expect(t);
        do_block(t, block, count, trace->address + t->trace_address);
        t->trace_address += block->mem_count;
        t->trace_block++;
        if (final)
            t->trace = NULL;
    }
}

void cpu_timing_work(struct cpu_timing *t, uint64_t instructions)
{
    cpu_memo_leave(t);
    cpu_board_work(t, instructions);
    t->instructions += instructions;
    t->activity.count[ACT_CPU_INSTRUCTIONS] += instructions;
    t->activity.count[ACT_CPU_INT_OPS] += instructions;
}

void cpu_timing_wait_until(struct cpu_timing *t, double until_ns, enum cpu_stall reason)
{
    struct cpu_board *b = &t->board;
    const uint64_t cycle = cpu_cycle_of(t, until_ns);
    cpu_memo_leave(t);
    if (cycle > b->last_retire) {
        b->stall[reason] += cycle - b->last_retire;
        b->last_retire = cycle;
    }
    if (cycle > b->now)
        cpu_board_advance(b, cycle);
}

/* ---- results ---- */

double cpu_timing_now(const struct cpu_timing *t)
{
    return cpu_ns_of(t, t->board.now);
}

double cpu_timing_done_at(const struct cpu_timing *t)
{
    return cpu_ns_of(t, t->board.last_retire > t->start_cycle ? t->board.last_retire : t->start_cycle);
}

uint64_t cpu_timing_instructions(const struct cpu_timing *t)
{
    return t->instructions;
}

uint64_t cpu_timing_branches(const struct cpu_timing *t, uint64_t *mispredicted)
{
    *mispredicted = t->mispredicts;
    return t->branches;
}

void cpu_timing_stalls(const struct cpu_timing *t, double cycles[CPU_STALL_COUNT], double *total)
{
    for (int i = 0; i < CPU_STALL_COUNT; i++)
        cycles[i] = (double)t->board.stall[i];
    *total = (double)(t->board.last_retire - t->start_cycle);
}

void cpu_timing_take_activity(struct cpu_timing *t, struct activity *into)
{
    for (uint32_t i = 0; i < t->plan_capacity; i++)
        if (t->plan[i])
            cpu_plan_settle(t->plan[i], &t->activity);
    t->activity.count[ACT_CPU_MISPREDICTS] += t->mispredicts - t->activity_mispredicts;
    t->activity_mispredicts = t->mispredicts;
    activity_add(into, &t->activity);
    memset(&t->activity, 0, sizeof t->activity);
}
