/* Sending loops: a period of instructions repeats, with loads that advance by a constant step. Once a period leaves the block
 * in the state in which it found it, with all times later by the same number of ticks, the next period must do the same as
 * long as memory gives the same answers; mem_steady.h accounts for its loads. Times are integers and every wait is a maximum
 * of sums, so this is exact, not an approximation. (Idea: memoized cycle-by-cycle simulation, E. Schnarr and J. Larus, "Fast
 * Out-Of-Order Processor Simulation Using Memoization", 1998.)
 */
#include "units/amx/amx_timing_loop.h"
#include "units/mem/mem_space.h"

#include <string.h>

#define TRIES_MAX 48 /* periods that are sent one by one until one repeats */

/* True for a load of whole 64-byte blocks within a line, or of whole lines, that steps to other lines: it then finds a line
 * that is already under way in every period or in none. */
static bool is_simple(uint64_t address, uint64_t step, uint32_t bytes)
{
    const bool one_line = address % MEM_LINE_BYTES + bytes <= MEM_LINE_BYTES;
    return step != 0 && bytes > 0 && bytes % 64 == 0 && step % bytes == 0 && step % MEM_LINE_BYTES == 0 && address % 64 == 0 &&
           (one_line || (address % MEM_LINE_BYTES == 0 && bytes % MEM_LINE_BYTES == 0));
}

/* Lists the loads of a period line by line. Returns false when memory cannot account for them at once. */
static bool fill_steady(struct amx_loop *l, struct mem_steady *s)
{
    s->port = l->core->port;
    s->count = 0;
    for (uint32_t i = 0; i < l->loads; i++) {
        const uint32_t at = l->load_at[i];
        const uint64_t operand = l->pass.operand[at];
        const struct amx_memo *memo = amx_memo_of(l->block, l->core, l->pass.op[at], operand, l->batch.gen);
        const uint64_t address = amx_address_of(l->core, operand);
        const uint32_t bytes = memo->effect.memory_bytes;
        if (!is_simple(address, l->pass.step[at], bytes))
            return false;
        for (uint32_t done = 0; done < bytes; done += MEM_LINE_BYTES) {
            if (s->count == MEM_STEADY_LOADS)
                return false;
            l->load_of[s->count] = (uint8_t)i;
            s->load[s->count++] =
                (struct mem_steady_load){address + done, l->pass.step[at], bytes < MEM_LINE_BYTES ? bytes : MEM_LINE_BYTES,
                                         l->block->record.load[i].level};
        }
    }
    return true;
}

static void pass_by(struct amx_loop *l, uint32_t n)
{
    amx_passes_advance(&l->pass, n);
    l->pass.passes -= n;
}

/* Advances the core by n periods of one way. Its tables keep the state before. */
static void advance(struct amx_loop *l, const struct amx_period_way *way, uint32_t n, int64_t *arrived)
{
    struct amx_timing_core *c = l->core;
    const int64_t last = c->head + way->head * (n - 1);
    c->complete = amx_later(c->complete, last + way->finished);
    c->head += way->head * n;
    *arrived += way->arrived * n;
    for (int i = 0; i < AMX_STALL_COUNT; i++)
        c->stall[i] += way->stall[i] * n;
    c->instructions += (uint64_t)n * l->pass.length;
    l->remembered += n;
    pass_by(l, n);
}

/* Accounts at once for as many of the next periods as find the links idle and their lines in the caches. Returns how many. */
static uint32_t run_steadily(struct amx_loop *l, const struct amx_period_way *way, struct mem_steady *s, uint32_t gone,
                             uint32_t periods)
{
    const struct amx_block *block = l->block;
    struct mem_steady_rules rules;
    struct amx_passage passage;
    s->first_ns = amx_ns_of(block, l->core->head + way->head * gone + way->load[0].asked);
    if (s->first_ns > 1e8 || !mem_steady_rules(s->port, &rules) || !mem_steady_idle(s) ||
        !amx_passage_repeats(l, way, s, &rules, &passage))
        return 0;
    for (uint32_t i = 0; i < passage.count; i++)
        passage.asked_ns[i] += s->first_ns - AMX_SLACK_NS;
    if (!mem_steady_begin(s, passage.asked_ns, passage.count, (double)way->head * block->ns_per_tick, periods))
        return 0;
    const uint32_t n = mem_steady_run(s, periods);
    if (n)
        amx_passage_book(l, s, way, &passage, rules.tail, gone, n);
    return n;
}

/* Asks memory for each load of the next period. Returns false when an answer leads another way; the answers are kept. */
static bool ask_period(struct amx_loop *l, const struct amx_period_way *way, struct mem_steady *s, uint32_t gone)
{
    struct amx_block *block = l->block;
    const int64_t head = l->core->head + way->head * gone;
    for (uint32_t i = 0, k = 0; i < l->loads; i++) {
        const struct amx_period_load *load = &way->load[i];
        const uint64_t address = s->load[k].address;
        uint32_t bytes = 0;
        for (; k < s->count && l->load_of[k] == i; k++)
            bytes += s->load[k].bytes;
        block->answer[i] = amx_timing_ask(block, l->core, head + load->asked, address, bytes);
        const int64_t answered = block->answer[i].answered - head;
        if (answered > load->latest || answered < load->earliest) {
            block->answers = i + 1;
            return false;
        }
    }
    for (uint32_t k = 0; k < s->count; k++) {
        s->load[k].level = block->record.load[l->load_of[k]].level = block->answer[l->load_of[k]].level;
        s->load[k].address += s->load[k].step;
    }
    return true;
}

/* The answers of a period that was tried. Returns how many of its loads lead the same way; the answer to the next one, if there
 * is one, is the last that is known. *lines: requested up to there. */
static uint32_t same_answers(struct amx_loop *l, const struct amx_period_way *way, const struct mem_steady *s,
                             const struct mem_steady_try *period, int64_t head, uint32_t *lines)
{
    struct amx_block *block = l->block;
    *lines = 0;
    for (uint32_t i = 0; i < l->loads; i++) {
        const struct amx_period_load *load = &way->load[i];
        int64_t done = head + load->asked;
        for (; *lines < s->count && l->load_of[*lines] == i; ++*lines)
            done = amx_later(done, amx_tick_of(block, period->done_ns[*lines]));
        block->answer[i] = (struct amx_answer){done, MEM_L2};
        if (done - head > load->latest || done - head < load->earliest)
            return i;
    }
    return l->loads;
}

/* Requests the lines of the next periods, as far as they are known to be in L2. *same: all answers led the same way; otherwise
 * those of the period that differs are kept. Returns the number of periods; 0: *apart must be asked for one by one. */
static uint32_t ask_known(struct amx_loop *l, const struct amx_period_way *way, struct mem_steady *s, uint32_t gone,
                          uint32_t most, uint32_t *apart, bool *same)
{
    struct amx_block *block = l->block;
    struct mem_steady_try period;
    int64_t head = l->core->head + way->head * gone;
    uint32_t n = 0, lines = 0;
    s->first_ns = amx_ns_of(block, head + way->load[0].asked);
    const uint32_t known = mem_steady_known(s, most, apart);
    for (; *same && n < known; n += *same, head += way->head) {
        for (uint32_t k = 0; k < s->count; k++)
            period.asked_ns[k] = amx_ns_of(block, head + way->load[l->load_of[k]].asked);
        if (!mem_steady_try(s, &period)) {
            *apart = 1;
            break;
        }
        const uint32_t answered = same_answers(l, way, s, &period, head, &lines);
        mem_steady_take(s, &period, lines);
        *same = answered == l->loads;
        block->answers = *same ? 0 : answered + 1;
    }
    if (known > 0)
        mem_steady_pass(s, n, *same ? 0 : lines);
    for (uint32_t i = 0; n > 0 && i < l->loads; i++)
        block->record.load[i].level = MEM_L2;
    return n;
}

#define ASK_MAX 16 /* periods between two attempts at run_steadily while the links are idle */

/* Number of periods that begin while earlier traffic, such as stores before the loop, still occupies the links. */
static uint32_t busy_periods(const struct amx_loop *l, const struct amx_period_way *way, const struct mem_steady *s)
{
    struct mem_steady_rules rules;
    if (!mem_steady_rules(s->port, &rules))
        return 0;
    const double periods = (mem_steady_busy_until(s) - s->first_ns) / ((double)way->head * l->block->ns_per_tick);
    return periods < 0 ? 0 : periods < UINT16_MAX ? (uint32_t)periods + 1 : UINT16_MAX;
}

/* Repeats the way that led back to the same state, which the record describes, as often as memory allows. */
static void repeat(struct amx_loop *l, const struct amx_period_way *way, int64_t *arrived)
{
    struct mem_steady steady;
    const uint32_t most = l->pass.passes;
    if (way->head <= 0 || !fill_steady(l, &steady))
        return;
    l->apart = l->apart || !amx_loop_crosses(&steady, most);
    if (!l->apart || amx_loop_meets_trail(l, &steady, most))
        return;
    const bool asks = l->core->port && l->loads > 0;
    uint32_t n = asks ? 0 : most;
    for (uint32_t i = 0; i < steady.count; i++)
        steady.load[i].address += steady.load[i].step * n;
    for (uint32_t step = 1; n < most;) {
        const uint32_t before = n;
        n += run_steadily(l, way, &steady, n, most - n);
        const uint32_t busy = n == before ? busy_periods(l, way, &steady) : 0;
        step = busy || n > before ? 1 : step < ASK_MAX ? 2 * step : step;
        const uint32_t next = n + (busy ? busy : step), to = next < most ? next : most;
        bool same = true;
        while (same && n < to) {
            uint32_t apart;
            const uint32_t known = ask_known(l, way, &steady, n, to - n, &apart, &same);
            n += known;
            for (apart = known > 0 ? 0 : apart; same && apart > 0; apart--)
                n += same = ask_period(l, way, &steady, n);
        }
        if (!same)
            break;
    }
    if (n == 0)
        return;
    amx_loop_leave_trail(l, &steady, n, way->head);
    advance(l, way, n, arrived);
}

/* Sends one period, records what it does and adds that to the known ways. Returns the state after it. */
static struct amx_period_state *send_recorded(struct amx_loop *l, struct amx_period_state *from, int64_t *arrived)
{
    struct amx_block *block = l->block;
    struct amx_timing_core *c = l->core;
    const int64_t complete = c->complete, head = c->head, before = *arrived;
    struct amx_period_way way;
    memcpy(way.stall, c->stall, sizeof way.stall);
    c->complete = INT64_MIN;
    block->record.on = block->record.plain = true;
    block->record.loads = 0;
    *arrived = amx_send_plainly(block, c, &l->batch, 0, l->pass.length, *arrived, l->step);
    block->record.on = false;
    block->answers = block->answers_used = 0;
    way.finished = c->complete - head;
    c->complete = amx_later(complete, c->complete);
    pass_by(l, 1);
    way.head = c->head - head;
    way.arrived = *arrived - before;
    way.to = amx_period_state_of(block, c, *arrived);
    for (int i = 0; i < AMX_STALL_COUNT; i++)
        way.stall[i] = c->stall[i] - way.stall[i];
    if (block->record.plain && block->record.loads == l->loads && way.to)
        amx_period_add(block, from, head, l->pattern, &way);
    return way.to;
}

/* Follows a known way out of the state, repeatedly if it leads back to it. Returns false when no way is known. */
static bool follow(struct amx_loop *l, struct amx_period_state **at, int64_t *arrived)
{
    uint64_t coming[AMX_FILES];
    memcpy(coming, l->core->coming, sizeof coming);
    const struct amx_period_way *way = amx_period_follow(l->block, l->core, *at, l->pattern, l->pass.operand);
    if (!way)
        return false;
    advance(l, way, 1, arrived);
    if (way->to == *at && l->pass.passes > 0 && amx_loop_same_coming(l, coming)) {
        amx_period_rest(l->block, l->core, way->to, *arrived);
        repeat(l, way, arrived);
    }
    *at = way->to;
    return true;
}

static struct amx_memo *memo_at(const struct amx_loop *l, uint32_t i)
{
    return amx_memo_of(l->block, l->core, l->pass.op[i], l->pass.operand[i], l->batch.gen);
}

/* Counts the instructions of the periods that were not sent. */
static void tally(const struct amx_loop *l)
{
    for (uint32_t i = 0; l->remembered > 0 && i < l->pass.length; i++)
        memo_at(l, i)->tally += l->remembered;
    l->block->repeated += l->remembered * l->pass.length;
}

/* Sends passes of the loop, all of them unless something prevents it. */
static void send_passes(struct amx_loop *l, int64_t *arrived)
{
    struct amx_block *block = l->block;
    struct amx_timing_core *core = l->core;
    if (core->instructions < AMX_QUEUE_MAX || block->computing > 1 || block->loading > 1)
        return;
    for (uint32_t i = 0; i < l->pass.length; i++) /* from here on the core counts as a user of the array */
        memo_at(l, i);
    if (block->computing > 1)
        return;
    l->remembered = 0;
    l->pattern = amx_period_pattern(block, &l->batch, 0, l->pass.length, l->step);
    struct amx_period_state *at = l->pattern ? amx_period_state_of(block, core, *arrived) : NULL;
    bool resting = false;
    for (unsigned tries = TRIES_MAX; at && l->pass.passes > 0 && tries > 0; tries--) {
        if (follow(l, &at, arrived)) {
            resting = true;
            tries = TRIES_MAX;
            continue;
        }
        if (resting)
            amx_period_restore(block, core, at, *arrived);
        resting = false;
        at = send_recorded(l, at, arrived);
    }
    if (resting)
        amx_period_restore(block, core, at, *arrived);
    tally(l);
}

static struct amx_loop loop_of(struct amx_block *block, struct amx_timing_core *core, enum amx_gen gen, int64_t step)
{
    return (struct amx_loop){.block = block, .core = core, .batch = {.gen = gen}, .step = step};
}

/* Makes the next pass the batch to send. */
static void make_batch(struct amx_loop *l)
{
    l->batch.op = l->pass.op;
    l->batch.operand = l->pass.operand;
    l->batch.count = l->pass.length;
}

uint32_t amx_send_loop(struct amx_block *block, struct amx_timing_core *core, const struct amx_batch *batch, uint32_t from,
                       int64_t *arrived, int64_t step)
{
    struct amx_loop l = loop_of(block, core, batch->gen, step);
    if (!amx_loop_find(&l, batch, from))
        return from;
    make_batch(&l);
    const uint32_t passes = l.pass.passes;
    send_passes(&l, arrived);
    return from + (passes - l.pass.passes) * l.pass.length;
}

void amx_send_passes(struct amx_block *block, struct amx_timing_core *core, const struct amx_passes *passes, enum amx_gen gen,
                     int64_t *arrived, int64_t step)
{
    struct amx_loop l = loop_of(block, core, gen, step);
    l.pass = *passes;
    make_batch(&l);
    const bool known = block->repeats && amx_loop_find_loads(&l);
    while (l.pass.passes > 0) {
        if (known && l.pass.passes >= AMX_PERIODS_MIN)
            send_passes(&l, arrived);
        if (l.pass.passes == 0)
            break;
        *arrived = amx_send_plainly(block, core, &l.batch, 0, l.pass.length, *arrived, step);
        pass_by(&l, 1);
    }
}
