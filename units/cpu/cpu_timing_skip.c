/* Blocks that run without being timed, as between the timed parts of a sample: what they leave behind, and what they count.
 *
 * Called functional warming by Wunderlich et al., "SMARTS: accelerating microarchitecture simulation via rigorous statistical
 * sampling" (ISCA 2003).
 */
#include "units/cpu/cpu_timing_internal.h"

#include <math.h>
#include <string.h>

/* Notes that a line is in L1, and whether stores may hit it. */
static void note_line(struct cpu_timing *t, uint64_t line, bool stores)
{
    struct cpu_skip_set *const s = &t->skip_set[line % CPU_SKIP_LINES];
    uint32_t way = s->next;
    for (uint32_t i = 0; i < CPU_SKIP_WAYS; i++)
        if (s->line[i] >> 1 == line + 1)
            way = i;
    s->line[way] = (line + 1) << 1 | stores;
    s->next = way == s->next ? (way + 1) % CPU_SKIP_WAYS : s->next;
}

static inline bool is_noted(const struct cpu_timing *t, uint64_t line, bool stores)
{
    const struct cpu_skip_set *const s = &t->skip_set[line % CPU_SKIP_LINES];
    for (uint32_t i = 0; i < CPU_SKIP_WAYS; i++)
        if (s->line[i] >> 1 == line + 1)
            return (s->line[i] & 1) >= stores;
    return false;
}

/* Writes an access down. A line that was loaded will be there, and may be stored to from the second store on; of others, stores
 * may be parts that are gathered. */
static void defer(struct cpu_timing *t, uint64_t addr, uint32_t bytes, enum mem_access_kind kind, uint64_t pc)
{
    const uint64_t line = addr >> MEM_LINE_SHIFT;
    const bool stores = kind != MEM_ACCESS_LOAD;
    cpu_later_note(t->later, addr, bytes, kind, pc);
    if (!stores || (kind == MEM_ACCESS_STORE && is_noted(t, line, false)))
        note_line(t, line, stores);
}

static void reach(struct cpu_timing *t, double now_ns, uint64_t addr, uint32_t bytes, enum mem_access_kind kind, uint64_t pc)
{
    const bool stores = kind != MEM_ACCESS_LOAD;
    const uint64_t line = addr >> MEM_LINE_SHIFT;
    if (t->defers) {
        defer(t, addr, bytes, kind, pc);
        return;
    }
    bool there = mem_port_l1_hit(t->port, now_ns, addr, bytes, stores);
    if (!there) {
        mem_port_access_beyond(t->port, now_ns, addr, bytes, kind, pc);
        there = mem_port_l1_has(t->port, addr, stores);
    }
    if (there)
        note_line(t, line, stores);
}

static void make_run(struct cpu_timing *t, double now_ns)
{
    struct cpu_skip_run *const run = &t->skip_run;
    if (run->end > run->begin)
        reach(t, now_ns, run->begin, (uint32_t)(run->end - run->begin), run->kind, run->pc);
    run->begin = run->end = 0;
}

/* Stores that go on where the one before ended are made together, once the line is full or anything else touches it. More than
 * one such run would be places beside those of the memory system, which gathers stores of more lines then than it can. */
static void store(struct cpu_timing *t, double now_ns, uint64_t addr, uint32_t bytes, enum mem_access_kind kind, uint64_t pc)
{
    struct cpu_skip_run *const run = &t->skip_run;
    if (run->end == addr && run->kind == kind && addr % MEM_LINE_BYTES != 0) {
        mem_port_count_l1_hit(t->port, 0, true); /* its bytes are counted with the run */
    } else {
        make_run(t, now_ns);
        *run = (struct cpu_skip_run){addr, addr, pc, kind};
    }
    run->end += bytes;
    if (run->end % MEM_LINE_BYTES == 0)
        make_run(t, now_ns);
}

static void touch_anew(struct cpu_timing *t, double now_ns, uint64_t addr, uint32_t bytes, enum mem_access_kind kind, uint64_t pc)
{
    const uint64_t line = addr >> MEM_LINE_SHIFT;
    const bool one_line = (addr + bytes - 1) >> MEM_LINE_SHIFT == line;
    if (kind != MEM_ACCESS_LOAD && one_line) {
        store(t, now_ns, addr, bytes, kind, pc);
        return;
    }
    const uint64_t waits = t->skip_run.begin >> MEM_LINE_SHIFT;
    if (waits >= line && waits <= (addr + bytes - 1) >> MEM_LINE_SHIFT)
        make_run(t, now_ns);
    reach(t, now_ns, addr, bytes, kind, pc);
}

/* Those of the lines that share a place in L1 that were touched lately are there: the access counts as a hit and leaves
 * everything as it is. In which order so few of them are used again is not told to L1. */
static inline void touch(struct cpu_timing *t, double now_ns, uint64_t addr, uint32_t bytes, enum mem_access_kind kind,
                         uint64_t pc)
{
    const bool stores = kind != MEM_ACCESS_LOAD;
    const uint64_t line = addr >> MEM_LINE_SHIFT, last = (addr + bytes - 1) >> MEM_LINE_SHIFT;
    if (__builtin_expect(line == last && is_noted(t, line, stores), 1))
        mem_port_count_l1_hit(t->port, bytes, stores);
    else
        touch_anew(t, now_ns, addr, bytes, kind, pc);
}

static void skip_accesses(struct cpu_timing *t, const struct cpu_plan *plan, uint32_t count, double now_ns,
                          const uint64_t *address)
{
    for (uint32_t i = 0; i < plan->addresses; i++) {
        const struct cpu_access *a = &plan->access[i];
        if (a->pc_offset >= 4 * count)
            return;
        if (a->kind == CPU_ACCESS_AMX) {
            if (t->defers)
                cpu_timing_defer(t, false); /* AMX words reach memory by a way of their own, in turn with these */
            if (t->has_amx && t->amx.skip)
                t->amx.skip(t->amx.context, a->bytes, address[i]);
            continue;
        }
        if (!t->port)
            continue;
        const uint64_t addr = address[i] + t->address_tag, pc = plan->pc + a->pc_offset;
        touch(t, now_ns, addr, a->bytes, (enum mem_access_kind)a->kind, pc);
        if (a->also_stores)
            touch(t, now_ns, addr, a->bytes, MEM_ACCESS_STORE, pc);
    }
}

void cpu_timing_skip(struct cpu_timing *t)
{
    const double now_ns = cpu_timing_now(t);
    const struct cpu_trace *const trace = t->trace;
    if (!trace)
        return;
    memset(t->skip_set, 0, sizeof t->skip_set);
    if (t->port)
        mem_port_stop(t->port, true);
    while (t->trace_block < trace->blocks) {
        const struct cpu_block *const block = trace->block[t->trace_block++];
        const bool final = t->trace_block == trace->blocks;
        const uint32_t count = final && trace->last_count < block->count ? trace->last_count : block->count;
        struct cpu_plan *const plan = cpu_plan_near(t, block);
        if (plan) {
            cpu_branch_outcome(t, block->pc);
            if (!t->defers)
                cpu_expect(t);
            skip_accesses(t, plan, count, now_ns, trace->address + t->trace_address);
            cpu_block_done(t, plan, block, count);
        }
        t->trace_address += block->mem_count;
    }
    if (t->port) {
        make_run(t, now_ns);
        mem_port_stop(t->port, false);
    }
    t->trace = NULL;
}

void cpu_timing_pass(struct cpu_timing *t, double ns, const double stall[CPU_STALL_COUNT])
{
    struct cpu_board *const b = &t->board;
    const uint64_t until = cpu_cycle_of(t, cpu_timing_done_at(t) + ns),
                   cycles = until > b->last_retire ? until - b->last_retire : 0;
    uint64_t charged = 0;
    double sum = 0, so_far = 0;
    for (int i = 0; i < CPU_STALL_COUNT; i++)
        sum += fmax(0, stall[i]);
    for (int i = 0; i < CPU_STALL_COUNT && sum > 0; i++) {
        so_far += fmax(0, stall[i]) / sum;
        const uint64_t next = (uint64_t)llround(so_far * (double)cycles);
        b->stall[i] += next - charged;
        charged = next;
    }
    b->stall[CPU_STALL_DISPATCH] += cycles - charged;
    cpu_memo_leave(t);
    b->last_retire += cycles;
    if (until > b->now)
        cpu_board_advance(b, until);
}

void cpu_timing_touch(struct cpu_timing *t, uint64_t address, uint64_t bytes)
{
    const double now_ns = cpu_timing_now(t);
    const uint64_t begin = (address + t->address_tag) & ~(uint64_t)(MEM_LINE_BYTES - 1), end = address + t->address_tag + bytes;
    if (!t->port)
        return;
    cpu_timing_catch_up(t);
    mem_port_stop(t->port, true);
    for (uint64_t line = begin; line < end; line += MEM_LINE_BYTES)
        reach(t, now_ns, line, MEM_LINE_BYTES, MEM_ACCESS_LOAD, 0);
    mem_port_stop(t->port, false);
    cpu_timing_catch_up(t);
}
