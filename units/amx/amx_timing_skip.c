/* Instructions that run without being timed, as between the timed parts of a sample: what they leave in the caches, and what they
 * count. */
#include "units/amx/amx_timing_state.h"
#include "units/mem/mem_fast.h"
#include "units/mem/mem_steady.h"

#include <math.h>

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

/* The accesses of a pass. */
struct reached {
    uint32_t count;
    uint64_t operand[AMX_PASS_MAX], step[AMX_PASS_MAX];
    uint32_t bytes[AMX_PASS_MAX];
    bool load[AMX_PASS_MAX];
};

/* Lists the loads of the next pass line by line. False unless all are loads of whole lines. */
static bool list_lines(const struct amx_timing_core *core, const struct reached *r, double now_ns, struct mem_steady *s)
{
    *s = (struct mem_steady){.port = core->port, .first_ns = now_ns};
    for (uint32_t i = 0; i < r->count; i++) {
        const uint64_t address = amx_address_of(core, r->operand[i]);
        if (!r->load[i] || (address | r->bytes[i] | r->step[i]) % MEM_LINE_BYTES != 0)
            return false;
        for (uint32_t done = 0; done < r->bytes[i]; done += MEM_LINE_BYTES) {
            if (s->count == MEM_STEADY_LOADS)
                return false;
            s->load[s->count++] = (struct mem_steady_load){address + done, r->step[i], MEM_LINE_BYTES, MEM_L2};
        }
    }
    return s->count > 0;
}

static void reach_passes(const struct amx_timing_core *core, double now_ns, struct reached *r, uint32_t passes)
{
    for (uint32_t n = 0; n < passes; n++)
        for (uint32_t i = 0; i < r->count; i++) {
            reach(core, now_ns, r->operand[i], r->bytes[i], r->load[i]);
            r->operand[i] += r->step[i];
        }
}

#define REACH_MOST 32 /* passes that are reached one by one until many are tried again */

/* Most passes find all of their lines in L2. */
static void reach_all(const struct amx_timing_core *core, double now_ns, struct reached *r, uint32_t passes)
{
    struct mem_steady steady;
    struct mem_steady_rules rules;
    const bool steps = mem_steady_rules(core->port, &rules);
    for (uint32_t left = passes, apart = 1; left > 0;) {
        const bool tries = steps && list_lines(core, r, now_ns, &steady) && !mem_steady_gathered(&steady, left);
        const uint32_t done = tries ? mem_steady_run(&steady, left) : 0;
        for (uint32_t i = 0; done > 0 && i < r->count; i++)
            r->operand[i] += r->step[i] * done;
        left -= done;
        apart = done > 0 ? 1 : apart < REACH_MOST ? 2 * apart : apart;
        const uint32_t next = apart < left ? apart : left;
        reach_passes(core, now_ns, r, next);
        left -= next;
    }
}

void amx_block_skip_passes(struct amx_block *block, unsigned number, double now_ns, const struct amx_passes *passes,
                           enum amx_gen gen)
{
    struct amx_timing_core *const core = block->core[number];
    struct reached r = {.count = 0};
    for (uint32_t i = 0; i < passes->length; i++) {
        struct amx_memo *const memo = amx_memo_of(block, core, passes->op[i], passes->operand[i], gen);
        memo->tally += passes->passes;
        if (!core->port || !moves(memo))
            continue;
        r.operand[r.count] = passes->operand[i];
        r.step[r.count] = passes->step[i];
        r.bytes[r.count] = memo->effect.memory_bytes;
        r.load[r.count++] = is_load(memo);
    }
    reach_all(core, now_ns, &r, passes->passes);
}

void amx_block_pass(struct amx_block *block, unsigned number, double until_ns, const double stall[AMX_STALL_COUNT])
{
    struct amx_timing_core *const core = block->core[number];
    const int64_t until = amx_tick_of(block, until_ns), ticks = until - core->head;
    int64_t charged = 0;
    double sum = 0, so_far = 0;
    for (int i = 0; i < AMX_STALL_COUNT; i++)
        sum += fmax(0, stall[i]);
    if (core->instructions == 0 || ticks <= 0 || sum <= 0)
        return;
    for (int i = 0; i < AMX_STALL_COUNT; i++) {
        so_far += fmax(0, stall[i]) / sum;
        const int64_t next = i + 1 == AMX_STALL_COUNT ? ticks : llround(so_far * (double)ticks);
        core->stall[i] += next - charged;
        charged = next;
    }
    core->head = until;
    core->complete = amx_later(core->complete, until);
}
