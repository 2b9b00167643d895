/* Loops: a period of instructions comes again and again, with loads that move on by a constant step. Once a period has left
 * the block in the state it found it in, only later (all times moved on by the same number of ticks), the next period must
 * do the same as long as memory answers alike; mem_steady.h accounts for its loads. Times are integers and every wait is a
 * maximum of sums, so this is exact, not an approximation. (Idea: memoized cycle-by-cycle simulation, E. Schnarr and
 * J. Larus, "Fast Out-Of-Order Processor Simulation Using Memoization", 1998.)
 */
#include "units/amx/amx_timing_period.h"

#include "units/mem/mem_space.h"
#include "units/mem/mem_steady.h"

#include <math.h>
#include <string.h>

#define PERIOD_MAX   AMX_PASS_MAX
#define PERIODS_MIN  6  /* a shorter loop is not worth the look */
#define TRIES_MAX    48 /* periods that are sent one by one until one repeats */
#define ADDRESS_MASK ((UINT64_C(1) << 56) - 1)

struct loop {
    struct amx_block *block;
    struct amx_timing_core *core;
    struct amx_passes pass; /* the next one, and how many there are from it on */
    struct amx_batch batch; /* of that pass */
    int64_t step;
    uint32_t loads;
    uint64_t remembered; /* periods that were not sent */
    bool apart;          /* no two loads come to the same line, to the end of the loop */
    const struct amx_pattern *pattern;
    uint8_t load_at[PERIOD_MAX];       /* places of the loads in a period */
    uint8_t load_of[MEM_STEADY_LOADS]; /* the load that each steady load (a line) is part of */
};

/* ---- finding a loop ---- */

static bool is_load(unsigned op)
{
    return op == AMX_LDX || op == AMX_LDY;
}

static bool is_compute(unsigned op)
{
    return op > AMX_STZI && op != AMX_SETCLR;
}

/* The distance at which the first arithmetic instruction comes again; 0 when it does not. */
static uint32_t find_period(const struct amx_batch *b, uint32_t from)
{
    uint32_t c = from;
    while (c < b->count && is_load(b->op[c]))
        c++;
    if (c >= b->count || !is_compute(b->op[c]))
        return 0;
    for (uint32_t p = 1; p <= PERIOD_MAX && c + p < b->count; p++) {
        if (b->operand[c + p] == b->operand[c] && b->op[c + p] == b->op[c])
            return p;
        if (!is_compute(b->op[c + p]) && !is_load(b->op[c + p]))
            return 0;
    }
    return 0;
}

/* Which instructions of a pass load. False when there is something that is neither a load nor computes. */
static bool find_loads(struct loop *l)
{
    for (uint32_t i = 0; i < l->pass.length; i++)
        if (is_load(l->pass.op[i]))
            l->load_at[l->loads++] = (uint8_t)i;
        else if (!is_compute(l->pass.op[i]))
            return false;
    return true;
}

/* How many periods follow one another. */
static uint32_t count_periods(const struct loop *l, const struct amx_batch *b, uint32_t from)
{
    const uint32_t p = l->pass.length, most = (b->count - from) / p;
    uint32_t n = 1;
    for (; n < most; n++) {
        const uint8_t *op = b->op + from + n * p;
        const uint64_t *operand = b->operand + from + n * p, *before = operand - p;
        uint64_t differ = 0;
        for (uint32_t i = 0; i < p; i++)
            differ |= (operand[i] - before[i]) ^ l->pass.step[i];
        if (differ || memcmp(op, op - p, p) != 0)
            break;
    }
    return n;
}

static bool find_loop(struct loop *l, const struct amx_batch *b, uint32_t from)
{
    const uint32_t period = find_period(b, from);
    if (period == 0 || b->count - from < PERIODS_MIN * period ||
        !amx_passes_of(&l->pass, b->op + from, b->operand + from, period, (b->count - from) / period) || !find_loads(l))
        return false;
    l->pass.passes = count_periods(l, b, from);
    return l->pass.passes >= PERIODS_MIN;
}

/* ---- coming lines ---- */

/* The registers that a load of the period goes to, as amx_timing_core.coming counts them. */
static unsigned file_of(const struct loop *l, uint32_t load)
{
    return l->pass.op[l->load_at[load]] == AMX_LDY ? 1 : 0;
}

/* The line that each file asked for last has moved on with its loads since `before`: the period began as the next ones
 * will. */
static bool same_coming(const struct loop *l, const uint64_t before[AMX_FILES])
{
    uint64_t moved_on[AMX_FILES] = {0};
    for (uint32_t i = 0; i < l->loads; i++)
        moved_on[file_of(l, i)] = l->pass.step[l->load_at[i]] >> AMX_LINE_SHIFT;
    for (unsigned file = 0; file < AMX_FILES; file++)
        if (l->core->coming[file] - before[file] != moved_on[file])
            return false;
    return true;
}

/* ---- loads ---- */

/* Each load asks for whole blocks of 64 bytes within a line, or for whole lines, and steps to other lines: then it finds a
 * line that is coming in every period or in none. */
static bool is_simple(uint64_t address, uint64_t step, uint32_t bytes)
{
    const bool one_line = address % MEM_LINE_BYTES + bytes <= MEM_LINE_BYTES;
    return step != 0 && bytes > 0 && bytes % 64 == 0 && step % bytes == 0 && step % MEM_LINE_BYTES == 0 && address % 64 == 0 &&
           (one_line || (address % MEM_LINE_BYTES == 0 && bytes % MEM_LINE_BYTES == 0));
}

/* Two loads that follow the same track, at offsets of the step that keep them apart. */
static bool in_file(const struct mem_steady_load *x, const struct mem_steady_load *y)
{
    if (x->address > y->address)
        return in_file(y, x);
    const uint64_t gap = (y->address - x->address) % (x->step ? x->step : 1);
    return x->step == y->step && gap >= x->bytes && x->step - gap >= y->bytes;
}

/* The whole lines that a load goes over in so many periods: [line_from, line_to) of addresses. */
static uint64_t line_from(const struct mem_steady_load *x)
{
    return x->address >> AMX_LINE_SHIFT << AMX_LINE_SHIFT;
}

static uint64_t line_to(const struct mem_steady_load *x, uint32_t periods)
{
    const uint64_t line = 1 << AMX_LINE_SHIFT;
    return (x->address + x->step * periods + line - 1) / line * line;
}

/* Whether two loads may touch the same line within so many periods. */
static bool paths_cross(const struct mem_steady *s, uint32_t periods)
{
    for (uint32_t i = 0; i < s->count; i++)
        for (uint32_t j = 0; j < i; j++) {
            const struct mem_steady_load *x = &s->load[i], *y = &s->load[j];
            if (line_from(x) < line_to(y, periods) && line_from(y) < line_to(x, periods) && !in_file(x, y))
                return true;
        }
    return false;
}

/* Where the loads go: [from, to) of addresses. */
struct span {
    uint64_t from, to;
};

/* Loads that march in file have one span together. Returns how many there are. */
static uint32_t spans_of(const struct mem_steady *s, uint32_t periods, struct span *span)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        const uint64_t from = s->load[i].address, to = from + s->load[i].step * periods;
        uint32_t k = 0;
        while (k < count && (from > span[k].to || span[k].from > to))
            k++;
        if (k == count)
            span[count++] = (struct span){from, to};
        span[k].from = from < span[k].from ? from : span[k].from;
        span[k].to = to > span[k].to ? to : span[k].to;
    }
    return count;
}

static bool comes_by(const struct span *span, uint32_t count, uint64_t address, uint32_t bytes)
{
    for (uint32_t k = 0; k < count; k++)
        if (address + bytes > span[k].from && address < span[k].to)
            return true;
    return false;
}

/* Blocks that were loaded or lines that were stored a moment ago, where the loads will come by. */
static bool trail_in_the_way(const struct loop *l, const struct mem_steady *s, uint32_t periods)
{
    const struct amx_block *block = l->block;
    struct span span[PERIOD_MAX];
    const uint32_t count = spans_of(s, periods, span);
    for (uint32_t b = 0; b < block->params.load_banks; b++)
        if (block->loaded[b].free > block->load_ready && block->loaded[b].block != UINT64_MAX &&
            comes_by(span, count, block->loaded[b].block * 64, 64))
            return true;
    int64_t visible = INT64_MIN;
    for (unsigned c = 0; c < block->cores; c++)
        visible = amx_later(visible, block->core[c]->stores_visible);
    for (uint32_t b = 0; visible > block->load_ready && b < AMX_STORE_LINES; b++)
        if (block->stored[b].visible > block->load_ready && block->stored[b].line != UINT64_MAX &&
            comes_by(span, count, block->stored[b].line << AMX_LINE_SHIFT, 1 << AMX_LINE_SHIFT))
            return true;
    return false;
}

/* Rounding of a reply's time must not decide between two ticks. */
static bool rounds_clearly(double ticks)
{
    return fabs(ticks - floor(ticks) - 0.5) > 0.01;
}

/* The lines of a period that come from L2, as the links let them through: one after another, from an idle moment on. */
struct passage {
    uint32_t count;
    double asked_ns[MEM_STEADY_LOADS], done_ns[MEM_STEADY_LOADS]; /* from the first request of the period */
    double end_ns[MEM_STEADY_LINKS];                              /* of each link, idle from then on */
    uint32_t busy[MEM_STEADY_LINKS];                              /* stretches without a pause */
};

#define SLACK_NS 1e-5 /* far above rounding */

/* Returns when the line is there. */
static double pass_line(struct passage *p, const struct mem_steady_rules *rules, double asked_ns)
{
    double t = asked_ns;
    for (unsigned k = 0; k < MEM_STEADY_LINKS; k++) {
        p->busy[k] += p->count == 0 || t > p->end_ns[k] + SLACK_NS;
        t = p->count > 0 && p->end_ns[k] > t ? p->end_ns[k] : t;
        p->end_ns[k] = t + rules->line_ns[k];
    }
    p->asked_ns[p->count] = asked_ns;
    p->done_ns[p->count] = t + rules->latency_ns[MEM_L2];
    return p->done_ns[p->count++];
}

/* Whether an answer that comes about `ticks` after the period's first request leads the same way, on which side of a tick
 * it may be rounded to. `origin`: that request, from the last start before. */
static bool leads_on(const struct amx_period_load *load, int64_t origin, double ticks)
{
    const int64_t tick = origin + (int64_t)(ticks + 0.5);
    if (load->earliest == load->latest)
        return rounds_clearly(ticks) && tick == load->latest;
    return tick < load->latest;
}

/* Lets the loads of a period pass idle links. False when other answers would come than those of the way. */
static bool pass_loads(const struct loop *l, const struct amx_period_way *way, const struct mem_steady *s,
                       const struct mem_steady_rules *rules, struct passage *p)
{
    const struct amx_block *block = l->block;
    const struct amx_record *r = &block->record;
    *p = (struct passage){0};
    for (uint32_t i = 0, k = 0; i < r->loads; i++) {
        const double asked = (double)(way->load[i].asked - way->load[0].asked) * block->ns_per_tick;
        double done = asked + rules->latency_ns[MEM_L1];
        if (r->load[i].level > MEM_L2)
            return false;
        for (; k < s->count && l->load_of[k] == i; k++)
            if (r->load[i].level == MEM_L2)
                done = pass_line(p, rules, asked);
        if (!leads_on(&way->load[i], way->load[0].asked, done * block->ticks_per_ns))
            return false;
    }
    return true;
}

/* From idle links the next periods are answered so that they go the same way, `shift` ticks apart, and leave them idle. */
static bool answers_repeat(const struct loop *l, const struct amx_period_way *way, const struct mem_steady *s,
                           const struct mem_steady_rules *rules, struct passage *p)
{
    const double period_ns = (double)way->head * l->block->ns_per_tick;
    if (!pass_loads(l, way, s, rules, p))
        return false;
    if (p->count == 0)
        return true;
    for (unsigned k = 0; k < MEM_STEADY_LINKS; k++)
        if (p->asked_ns[0] + period_ns < p->end_ns[k] + SLACK_NS)
            return false;
    for (uint32_t i = 0; rules->in_flight && i < p->count; i++) {
        /* The line in_flight places later takes this one's place. */
        const uint32_t later = i + rules->in_flight;
        if (p->asked_ns[later % p->count] + period_ns * (later / p->count) < p->done_ns[i] + SLACK_NS)
            return false;
    }
    return period_ns * ((rules->tail - 2) / p->count) > rules->tail_ns + SLACK_NS;
}

/* The loads of a period, line by line. False: not of the kind that memory accounts for at once. */
static bool fill_steady(struct loop *l, struct mem_steady *s)
{
    s->port = l->core->port;
    s->count = 0;
    for (uint32_t i = 0; i < l->loads; i++) {
        const uint32_t at = l->load_at[i];
        const uint64_t operand = l->pass.operand[at];
        const struct amx_memo *memo = amx_memo_of(l->block, l->core, l->pass.op[at], operand, l->batch.gen);
        const uint64_t address = (operand & ADDRESS_MASK) | l->core->address_tag;
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

/* Books the last L2 lines of a run of n periods after `gone` others: as many as leave `tail` stretches on each link. */
static void book(const struct loop *l, const struct mem_steady *s, const struct amx_period_way *way, const struct passage *p,
                 uint32_t tail, uint32_t gone, uint32_t n)
{
    double asked[MEM_STEADY_LOADS];
    if (p->count == 0)
        return;
    uint32_t least = p->count;
    for (unsigned k = 0; k < MEM_STEADY_LINKS; k++)
        least = p->busy[k] < least ? p->busy[k] : least;
    const uint32_t periods = tail / least + 2;
    for (uint32_t k = n > periods ? n - periods : 0; k < n; k++) {
        const int64_t head = l->core->head + way->head * (gone + k);
        uint32_t count = 0;
        for (uint32_t i = 0; i < s->count; i++)
            if (s->load[i].level == MEM_L2)
                asked[count++] = amx_ns_of(l->block, head + way->load[l->load_of[i]].asked);
        mem_steady_book(s, asked, count, (uint64_t)(n - 1 - k) * p->count);
    }
}

/* The trail of loaded blocks and coming lines: the last 64 periods have written over everything that earlier ones left. */
static void leave_trail(const struct loop *l, const struct mem_steady *s, uint32_t n, int64_t shift)
{
    struct amx_block *block = l->block;
    const uint64_t mask = block->params.load_banks - 1;
    uint32_t period_of_banks = 1;
    for (uint32_t i = 0; i < s->count; i++)
        while (period_of_banks < block->params.load_banks && (s->load[i].step / 64 * period_of_banks) & mask)
            period_of_banks *= 2;
    for (uint32_t k = n > period_of_banks ? n - period_of_banks + 1 : 1; k <= n; k++)
        for (uint32_t i = 0; i < s->count; i++) {
            const struct mem_steady_load *load = &s->load[i]; /* stands one period after the last */
            const uint64_t first = (load->address - (n - k + 1) * load->step) / 64;
            const int64_t asked = block->record.load[l->load_of[i]].asked + k * shift;
            if (i == 0 || l->load_of[i] != l->load_of[i - 1])
                block->loaded[first & mask] = (struct amx_loaded_block){first, asked + block->ticks.load_bank};
            l->core->coming[file_of(l, l->load_of[i])] = 1 + (first * 64 >> AMX_LINE_SHIFT);
        }
}

/* ---- moving on ---- */

static void pass_by(struct loop *l, uint32_t n)
{
    amx_passes_advance(&l->pass, n);
    l->pass.passes -= n;
}

/* A way that was gone n times, the last time from `head` on; the core's tables rest. */
static void go(struct loop *l, const struct amx_period_way *way, uint32_t n, int64_t *arrived)
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

/* Accounts for as many of the next periods at once as find the links idle and their lines in place. */
static uint32_t run_steadily(struct loop *l, const struct amx_period_way *way, struct mem_steady *s, uint32_t gone,
                             uint32_t periods)
{
    const struct amx_block *block = l->block;
    struct mem_steady_rules rules;
    struct passage passage;
    s->first_ns = amx_ns_of(block, l->core->head + way->head * gone + way->load[0].asked);
    if (s->first_ns > 1e8 || !mem_steady_rules(s->port, &rules) || !mem_steady_idle(s) ||
        !answers_repeat(l, way, s, &rules, &passage))
        return 0;
    for (uint32_t i = 0; i < passage.count; i++)
        passage.asked_ns[i] += s->first_ns - SLACK_NS;
    if (!mem_steady_begin(s, passage.asked_ns, passage.count, (double)way->head * block->ns_per_tick, periods))
        return 0;
    const uint32_t n = mem_steady_run(s, periods);
    if (n)
        book(l, s, way, &passage, rules.tail, gone, n);
    return n;
}

/* Asks memory for the loads of the next period as ever. False when an answer leads another way; the answers are kept. */
static bool walk(struct loop *l, const struct amx_period_way *way, struct mem_steady *s, uint32_t gone)
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

#define WALK_MAX 16 /* periods from one try to the next, when the links are idle */

/* How many periods begin while stores before the loop, say, still pass the links. */
static uint32_t busy_periods(const struct loop *l, const struct amx_period_way *way, const struct mem_steady *s)
{
    struct mem_steady_rules rules;
    if (!mem_steady_rules(s->port, &rules))
        return 0;
    const double periods = (mem_steady_busy_until(s) - s->first_ns) / ((double)way->head * l->block->ns_per_tick);
    return periods < 0 ? 0 : periods < UINT16_MAX ? (uint32_t)periods + 1 : UINT16_MAX;
}

/* Goes the way that led back to the same state, and that the record tells of, as often as memory allows. */
static void repeat(struct loop *l, const struct amx_period_way *way, int64_t *arrived)
{
    struct mem_steady steady;
    const uint32_t most = l->pass.passes;
    if (way->head <= 0 || !fill_steady(l, &steady))
        return;
    l->apart = l->apart || !paths_cross(&steady, most);
    if (!l->apart || trail_in_the_way(l, &steady, most))
        return;
    const bool asks = l->core->port && l->loads > 0;
    uint32_t n = asks ? 0 : most;
    for (uint32_t i = 0; i < steady.count; i++)
        steady.load[i].address += steady.load[i].step * n;
    for (uint32_t step = 1; n < most;) {
        const uint32_t before = n;
        n += run_steadily(l, way, &steady, n, most - n);
        const uint32_t busy = n == before ? busy_periods(l, way, &steady) : 0;
        step = busy || n > before ? 1 : step < WALK_MAX ? 2 * step : step;
        const uint32_t next = n + (busy ? busy : step), to = next < most ? next : most;
        while (n < to && walk(l, way, &steady, n))
            n++;
        if (n < to)
            break;
    }
    if (n == 0)
        return;
    leave_trail(l, &steady, n, way->head);
    go(l, way, n, arrived);
}

/* Sends one period and writes down what it does; adds that to what is known. Returns the state after it. */
static struct amx_period_state *send_recorded(struct loop *l, struct amx_period_state *from, int64_t *arrived)
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

/* Goes a known way out of the state, and on along it if it leads back. False when there is none. */
static bool follow(struct loop *l, struct amx_period_state **at, int64_t *arrived)
{
    uint64_t coming[AMX_FILES];
    memcpy(coming, l->core->coming, sizeof coming);
    const struct amx_period_way *way = amx_period_follow(l->block, l->core, *at, l->pattern, l->pass.operand);
    if (!way)
        return false;
    go(l, way, 1, arrived);
    if (way->to == *at && l->pass.passes > 0 && same_coming(l, coming)) {
        amx_period_rest(l->block, way->to, *arrived);
        repeat(l, way, arrived);
    }
    *at = way->to;
    return true;
}

static struct amx_memo *memo_at(const struct loop *l, uint32_t i)
{
    return amx_memo_of(l->block, l->core, l->pass.op[i], l->pass.operand[i], l->batch.gen);
}

/* Counts the instructions of the periods that were not sent. */
static void tally(const struct loop *l)
{
    for (uint32_t i = 0; l->remembered > 0 && i < l->pass.length; i++)
        memo_at(l, i)->tally += l->remembered;
    l->block->repeated += l->remembered * l->pass.length;
}

/* Sends passes of the loop, all of them if it goes well. */
static void send_passes(struct loop *l, int64_t *arrived)
{
    struct amx_block *block = l->block;
    struct amx_timing_core *core = l->core;
    if (core->instructions < AMX_QUEUE_MAX || block->computing > 1)
        return;
    for (uint32_t i = 0; i < l->pass.length; i++) /* the core counts as one that uses the array */
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

static struct loop loop_of(struct amx_block *block, struct amx_timing_core *core, enum amx_gen gen, int64_t step)
{
    return (struct loop){.block = block, .core = core, .batch = {.gen = gen}, .step = step};
}

/* The present pass can be sent as a batch. */
static void make_batch(struct loop *l)
{
    l->batch.op = l->pass.op;
    l->batch.operand = l->pass.operand;
    l->batch.count = l->pass.length;
}

uint32_t amx_send_loop(struct amx_block *block, struct amx_timing_core *core, const struct amx_batch *batch, uint32_t from,
                       int64_t *arrived, int64_t step)
{
    struct loop l = loop_of(block, core, batch->gen, step);
    if (!find_loop(&l, batch, from))
        return from;
    make_batch(&l);
    const uint32_t passes = l.pass.passes;
    send_passes(&l, arrived);
    return from + (passes - l.pass.passes) * l.pass.length;
}

void amx_send_passes(struct amx_block *block, struct amx_timing_core *core, const struct amx_passes *passes, enum amx_gen gen,
                     int64_t *arrived, int64_t step)
{
    struct loop l = loop_of(block, core, gen, step);
    l.pass = *passes;
    make_batch(&l);
    const bool known = block->repeats && find_loads(&l);
    while (l.pass.passes > 0) {
        if (known && l.pass.passes >= PERIODS_MIN)
            send_passes(&l, arrived);
        if (l.pass.passes == 0)
            break;
        *arrived = amx_send_plainly(block, core, &l.batch, 0, l.pass.length, *arrived, step);
        pass_by(&l, 1);
    }
}
