/* Loops: a period of instructions comes again and again, with loads that move on by a constant step. Once a period has left
 * the block in the state it found it in, only later (all times moved on by the same number of ticks), the next period must
 * do the same as long as memory answers alike; mem_steady.h accounts for its loads. Times are integers and every wait is a
 * maximum of sums, so this is exact, not an approximation. (Idea: memoized cycle-by-cycle simulation, E. Schnarr and
 * J. Larus, "Fast Out-Of-Order Processor Simulation Using Memoization", 1998.)
 */
#include "units/amx/amx_timing_state.h"

#include "units/mem/mem_space.h"
#include "units/mem/mem_steady.h"

#include <math.h>
#include <string.h>

#define PERIOD_MAX   64
#define PERIODS_MIN  6  /* a shorter loop is not worth the look */
#define TRIES_MAX    48 /* periods that are sent one by one until one repeats */
#define ADDRESS_BITS 56
#define ADDRESS_MASK ((UINT64_C(1) << ADDRESS_BITS) - 1)

struct loop {
    struct amx_block *block;
    struct amx_timing_core *core;
    const struct amx_batch *batch;
    uint32_t from, period, periods; /* first instruction not yet sent; complete periods from there on */
    int64_t step;
    uint32_t loads;
    uint8_t load_at[PERIOD_MAX]; /* places of the loads in a period */
    uint8_t load_of[MEM_STEADY_LOADS]; /* the load that each steady load (a line) is part of */
    uint64_t stride[PERIOD_MAX]; /* of every place: what is added to the operand */
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

static bool find_strides(struct loop *l)
{
    const uint8_t *op = l->batch->op + l->from;
    const uint64_t *operand = l->batch->operand + l->from;
    l->loads = 0;
    for (uint32_t i = 0; i < l->period; i++) {
        l->stride[i] = operand[l->period + i] - operand[i];
        /* However long the loop, the pointer does not reach the fields above it. */
        const uint64_t far = operand[i] + (l->stride[i] << 16);
        if (op[l->period + i] != op[i] || l->stride[i] >> 32 || far >> ADDRESS_BITS != operand[i] >> ADDRESS_BITS)
            return false;
        if (is_load(op[i]))
            l->load_at[l->loads++] = (uint8_t)i;
        else if (!is_compute(op[i]) || l->stride[i])
            return false;
    }
    return true;
}

/* How many periods follow one another. */
static uint32_t count_periods(const struct loop *l)
{
    const uint32_t most = (l->batch->count - l->from) / l->period;
    uint32_t n = 1;
    for (const uint32_t p = l->period; n < most; n++) {
        const uint8_t *op = l->batch->op + l->from + n * p;
        const uint64_t *operand = l->batch->operand + l->from + n * p, *before = operand - p;
        uint64_t differ = 0;
        for (uint32_t i = 0; i < p; i++)
            differ |= (operand[i] - before[i]) ^ l->stride[i];
        if (differ || memcmp(op, op - p, p) != 0)
            break;
    }
    return n;
}

static bool find_loop(struct loop *l)
{
    const struct amx_batch *b = l->batch;
    l->period = find_period(b, l->from);
    if (l->period == 0 || b->count - l->from < PERIODS_MIN * l->period || !find_strides(l))
        return false;
    l->periods = count_periods(l);
    return l->periods >= PERIODS_MIN;
}

/* ---- does a period leave the state it found? ---- */

struct state {
    int64_t arrived, head, load_ready, request_ready;
    int64_t core[4 + 16]; /* enabled, lanes, latest register; registers */
    int64_t stall[AMX_STALL_COUNT];
    struct amx_rows rows[64];
    uint64_t coming[AMX_FILES];
};

/* A period that repeated: the states around it, what its loads did, and the starts before its end. A hiccup of memory (a
 * new page, say) over, the loop often comes back to it. */
struct known {
    bool valid;
    struct state before, after;
    struct amx_record record;
    int64_t finished;
    int64_t start[AMX_QUEUE_MAX];
};

static void take_state(const struct loop *l, int64_t arrived, struct state *s)
{
    const struct amx_timing_core *c = l->core;
    s->arrived = arrived;
    s->head = c->head;
    s->load_ready = l->block->load_ready;
    s->request_ready = l->block->request_ready;
    s->core[0] = c->enabled;
    s->core[1] = c->lane_ready[0];
    s->core[2] = c->lane_ready[1];
    s->core[3] = c->registers_pending;
    memcpy(s->core + 4, c->register_ready, sizeof c->register_ready);
    memcpy(s->stall, c->stall, sizeof s->stall);
    memcpy(s->rows, c->rows, sizeof s->rows);
    memcpy(s->coming, c->coming, sizeof s->coming);
}

/* A time moved on by `shift`, or it did not move and lies so far back that it cannot hold anything up. */
static bool moved(int64_t before, int64_t after, int64_t shift, int64_t past)
{
    return after - before == shift || (after == before && after <= past);
}

static bool same_rows(const struct state *a, const struct state *b, int64_t shift)
{
    for (uint32_t i = 0; i < 64; i++) {
        const struct amx_rows *x = &a->rows[i], *y = &b->rows[i];
        if (x->rows != y->rows || (y->rows && (x->lane != y->lane || !moved(x->ready, y->ready, shift, a->head))))
            return false;
    }
    return true;
}

/* How many starts the queue and the issue limit look back at. */
static uint32_t looked_back(const struct loop *l)
{
    return l->block->queue > l->block->issue_count ? l->block->queue : l->block->issue_count;
}

static bool same_starts(const struct loop *l, int64_t shift)
{
    const struct amx_timing_core *c = l->core;
    const uint32_t back = looked_back(l);
    if (c->instructions < back + l->period || back + l->period > AMX_QUEUE_MAX)
        return false;
    for (uint64_t n = c->instructions - back; n < c->instructions; n++)
        if (c->start[n % AMX_QUEUE_MAX] - c->start[(n - l->period) % AMX_QUEUE_MAX] != shift)
            return false;
    return true;
}

/* Whether b is a, only later. */
static bool only_later(const struct state *a, const struct state *b)
{
    const int64_t shift = b->head - a->head;
    if (shift <= 0 || b->arrived - a->arrived != shift || !moved(a->load_ready, b->load_ready, shift, a->arrived) ||
        !moved(a->request_ready, b->request_ready, shift, a->arrived))
        return false;
    for (uint32_t i = 0; i < sizeof a->core / sizeof a->core[0]; i++)
        if (!moved(a->core[i], b->core[i], shift, a->head))
            return false;
    return same_rows(a, b, shift);
}

/* The registers that a load of the period goes to, as amx_timing_core.coming counts them. */
static unsigned file_of(const struct loop *l, uint32_t load)
{
    return l->batch->op[l->from + l->load_at[load]] == AMX_LDY ? 1 : 0;
}

/* The line that each file asked for last has moved on with its loads: the period began as the next ones will. */
static bool same_coming(const struct loop *l, const struct state *a, const struct state *b)
{
    uint64_t moved_on[AMX_FILES] = {0};
    for (uint32_t i = 0; i < l->loads; i++)
        moved_on[file_of(l, i)] = l->stride[l->load_at[i]] >> AMX_LINE_SHIFT;
    for (unsigned file = 0; file < AMX_FILES; file++)
        if (b->coming[file] - a->coming[file] != moved_on[file])
            return false;
    return true;
}

/* ---- coming back to a known period ---- */

static void know(const struct loop *l, struct known *k, const struct state *before, const struct state *after,
                 int64_t finished)
{
    const struct amx_timing_core *c = l->core;
    k->valid = true;
    k->before = *before;
    k->after = *after;
    k->record = l->block->record;
    k->finished = finished;
    for (uint32_t i = 1; i < AMX_QUEUE_MAX; i++)
        k->start[i] = c->start[(c->instructions - i) % AMX_QUEUE_MAX];
}

static bool is_known(const struct loop *l, const struct known *k, const struct state *now)
{
    const struct amx_timing_core *c = l->core;
    const int64_t shift = now->head - k->after.head;
    if (!k->valid || !only_later(&k->after, now))
        return false;
    /* The last period's starts as well: the next ones follow from them. */
    const uint32_t back = looked_back(l) > l->period ? looked_back(l) : l->period;
    for (uint32_t i = 1; i <= back; i++)
        if (c->start[(c->instructions - i) % AMX_QUEUE_MAX] - k->start[i] != shift)
            return false;
    return true;
}

/* The state before a period that ends now as the known one did. */
static void go_back(const struct known *k, const struct state *now, struct state *before)
{
    const struct state *a = &k->before, *b = &k->after;
    *before = *now;
    before->head -= b->head - a->head;
    before->arrived -= b->arrived - a->arrived;
    before->load_ready -= b->load_ready - a->load_ready;
    before->request_ready -= b->request_ready - a->request_ready;
    for (uint32_t i = 0; i < sizeof a->core / sizeof a->core[0]; i++)
        before->core[i] -= b->core[i] - a->core[i];
    for (int i = 0; i < AMX_STALL_COUNT; i++)
        before->stall[i] -= b->stall[i] - a->stall[i];
    for (uint32_t i = 0; i < 64; i++)
        before->rows[i].ready -= b->rows[i].ready - a->rows[i].ready;
}

static void recall(struct amx_record *record, const struct known *k, int64_t shift)
{
    *record = k->record;
    for (uint32_t i = 0; i < record->loads; i++) {
        record->load[i].asked += shift;
        record->load[i].done += shift;
    }
}

/* ---- loads ---- */

/* Each load asks for whole blocks of 64 bytes within a line, or for whole lines, and steps to other lines: then it finds a
 * line that is coming in every period or in none. */
static bool is_simple(uint64_t address, uint64_t step, uint32_t bytes)
{
    const bool one_line = address % MEM_LINE_BYTES + bytes <= MEM_LINE_BYTES;
    return step != 0 && bytes > 0 && bytes % 64 == 0 && step % bytes == 0 && step % MEM_LINE_BYTES == 0 &&
           address % 64 == 0 && (one_line || (address % MEM_LINE_BYTES == 0 && bytes % MEM_LINE_BYTES == 0));
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
    for (uint32_t b = 0; b < AMX_STORE_LINES; b++)
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
    double end_ns[MEM_STEADY_LINKS];   /* of each link, idle from then on */
    uint32_t busy[MEM_STEADY_LINKS];   /* stretches without a pause */
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

/* Lets the recorded loads pass. False when one was answered otherwise, so that something else was under way. */
static bool pass_loads(const struct loop *l, const struct mem_steady *s, const struct mem_steady_rules *rules,
                       struct passage *p)
{
    const struct amx_block *block = l->block;
    const struct amx_record *r = &block->record;
    *p = (struct passage){0};
    for (uint32_t i = 0, k = 0; i < r->loads; i++) {
        const struct amx_recorded_load *load = &r->load[i];
        const int64_t origin = r->load[0].asked;
        const double asked = (double)(load->asked - origin) * block->ns_per_tick;
        double done = asked + rules->latency_ns[MEM_L1];
        if (load->level > MEM_L2)
            return false;
        for (; k < s->count && l->load_of[k] == i; k++)
            if (load->level == MEM_L2)
                done = pass_line(p, rules, asked);
        const double ticks = done * block->ticks_per_ns;
        if (!rounds_clearly(ticks) || load->done - origin != (int64_t)(ticks + 0.5))
            return false;
    }
    return true;
}

/* The recorded loads were answered as from idle links, and so will be those of the next periods, `shift` ticks apart. */
static bool answers_repeat(const struct loop *l, const struct mem_steady *s, const struct mem_steady_rules *rules,
                           int64_t shift, struct passage *p)
{
    const double period_ns = (double)shift * l->block->ns_per_tick;
    if (!pass_loads(l, s, rules, p))
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
        const uint64_t operand = l->batch->operand[l->from + at];
        const struct amx_memo *memo = amx_memo_of(l->block, l->core, l->batch->op[l->from + at], operand, l->batch->gen);
        const uint64_t address = (operand & ADDRESS_MASK) | l->core->address_tag;
        const uint32_t bytes = memo->effect.memory_bytes;
        if (!is_simple(address, l->stride[at], bytes))
            return false;
        for (uint32_t done = 0; done < bytes; done += MEM_LINE_BYTES) {
            if (s->count == MEM_STEADY_LOADS)
                return false;
            l->load_of[s->count] = (uint8_t)i;
            s->load[s->count++] = (struct mem_steady_load){address + done, l->stride[at],
                                                           bytes < MEM_LINE_BYTES ? bytes : MEM_LINE_BYTES,
                                                           l->block->record.load[i].level};
        }
    }
    return true;
}

/* Books the last L2 lines of a run of n periods that followed the recorded one: as many as leave `tail` stretches on each
 * link. */
static void book(const struct loop *l, const struct mem_steady *s, const struct passage *p, uint32_t tail, uint32_t n,
                 int64_t shift)
{
    const struct amx_record *r = &l->block->record;
    double asked[MEM_STEADY_LOADS];
    if (p->count == 0)
        return;
    uint32_t least = p->count;
    for (unsigned k = 0; k < MEM_STEADY_LINKS; k++)
        least = p->busy[k] < least ? p->busy[k] : least;
    const uint32_t periods = tail / least + 2;
    for (uint32_t k = n > periods ? n - periods + 1 : 1; k <= n; k++) {
        uint32_t count = 0;
        for (uint32_t i = 0; i < s->count; i++)
            if (s->load[i].level == MEM_L2)
                asked[count++] = amx_ns_of(l->block, r->load[l->load_of[i]].asked + k * shift);
        mem_steady_book(s, asked, count, (uint64_t)(n - k) * p->count);
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

static int64_t shifted(int64_t before, int64_t after, int64_t by)
{
    return after == before ? after : after + by;
}

static void move_on(const struct loop *l, const struct state *a, const struct state *b, uint32_t n)
{
    struct amx_timing_core *c = l->core;
    const int64_t shift = b->head - a->head, by = shift * n;
    c->head += by;
    c->enabled = shifted(a->core[0], b->core[0], by);
    c->lane_ready[0] = shifted(a->core[1], b->core[1], by);
    c->lane_ready[1] = shifted(a->core[2], b->core[2], by);
    c->registers_pending = shifted(a->core[3], b->core[3], by);
    for (uint32_t i = 0; i < 16; i++)
        c->register_ready[i] = shifted(a->core[4 + i], b->core[4 + i], by);
    l->block->load_ready = shifted(a->load_ready, b->load_ready, by);
    l->block->request_ready = shifted(a->request_ready, b->request_ready, by);
    for (uint32_t i = 0; i < 64; i++)
        c->rows[i].ready = shifted(a->rows[i].ready, b->rows[i].ready, by);
    for (int i = 0; i < AMX_STALL_COUNT; i++)
        c->stall[i] += (b->stall[i] - a->stall[i]) * n;
    int64_t last[PERIOD_MAX];
    for (uint32_t i = 0; i < l->period; i++)
        last[i] = c->start[(c->instructions - l->period + i) % AMX_QUEUE_MAX];
    const uint32_t kept = AMX_QUEUE_MAX / l->period + 1;
    for (uint32_t k = n > kept ? n - kept + 1 : 1; k <= n; k++)
        for (uint32_t i = 0; i < l->period; i++)
            c->start[(c->instructions + (uint64_t)(k - 1) * l->period + i) % AMX_QUEUE_MAX] = last[i] + k * shift;
    c->instructions += (uint64_t)n * l->period;
    for (uint32_t i = 0; i < l->period; i++)
        amx_memo_of(l->block, c, l->batch->op[l->from + i], l->batch->operand[l->from + i], l->batch->gen)->tally += n;
    l->block->repeated += (uint64_t)n * l->period;
}

/* Repeats the period that led from a to b as often as memory allows; `finished` is when it was complete. Returns how
 * often. */
static uint32_t repeat(struct loop *l, const struct state *a, const struct state *b, int64_t finished)
{
    const struct amx_block *block = l->block;
    const struct amx_record *r = &block->record;
    const int64_t shift = b->head - a->head;
    struct mem_steady steady;
    struct mem_steady_rules rules = {.tail = 0};
    uint32_t n = l->periods;
    if (!r->plain || r->loads != l->loads)
        return 0;
    if (!fill_steady(l, &steady))
        return 0;
    steady.first_ns = r->loads ? amx_ns_of(block, r->load[0].asked + shift) : 0;
    if (paths_cross(&steady, n) || trail_in_the_way(l, &steady, n))
        return 0;
    if (l->core->port && r->loads) {
        struct passage passage;
        if (!mem_steady_rules(l->core->port, &rules) || !answers_repeat(l, &steady, &rules, shift, &passage) ||
            amx_ns_of(block, b->head) > 1e8)
            return 0;
        for (uint32_t i = 0; i < passage.count; i++)
            passage.asked_ns[i] += steady.first_ns - SLACK_NS;
        if (!mem_steady_begin(&steady, passage.asked_ns, passage.count, (double)shift * block->ns_per_tick, n))
            return 0;
        n = mem_steady_run(&steady, n);
        if (n)
            book(l, &steady, &passage, rules.tail, n, shift);
    } else {
        for (uint32_t i = 0; i < steady.count; i++)
            steady.load[i].address += steady.load[i].step * n;
    }
    if (n == 0)
        return 0;
    leave_trail(l, &steady, n, shift);
    move_on(l, a, b, n);
    l->core->complete = amx_later(l->core->complete, finished + shift * n);
    return n;
}

/* Sends one period and writes down what it does. Returns when it was complete, leaving out all earlier ones. */
static int64_t send_recorded(struct loop *l, int64_t *arrived)
{
    struct amx_block *block = l->block;
    const int64_t before = l->core->complete;
    l->core->complete = INT64_MIN;
    block->record.on = block->record.plain = true;
    block->record.loads = 0;
    *arrived = amx_send_plainly(block, l->core, l->batch, l->from, l->from + l->period, *arrived, l->step);
    block->record.on = false;
    const int64_t finished = l->core->complete;
    l->core->complete = amx_later(before, finished);
    l->from += l->period;
    l->periods--;
    return finished;
}

uint32_t amx_send_loop(struct amx_block *block, struct amx_timing_core *core, const struct amx_batch *batch, uint32_t from,
                       int64_t *arrived, int64_t step)
{
    struct loop l = {.block = block, .core = core, .batch = batch, .from = from, .step = step};
    if (core->instructions == 0 || block->computing > 1 || !find_loop(&l))
        return from;
    struct state state[2];
    struct known known = {.valid = false};
    unsigned now = 0, tries = TRIES_MAX;
    take_state(&l, *arrived, &state[now]);
    while (l.periods > 0 && tries-- > 0) {
        int64_t finished = send_recorded(&l, arrived);
        struct state *before = &state[now], *after = &state[!now];
        take_state(&l, *arrived, after);
        now = !now;
        bool again = l.periods > 0 && only_later(before, after) && same_coming(&l, before, after) &&
                     same_starts(&l, after->head - before->head);
        if (l.periods > 0 && !again && is_known(&l, &known, after)) {
            const int64_t shift = after->head - known.after.head;
            recall(&block->record, &known, shift);
            finished = known.finished + shift;
            go_back(&known, after, before);
            again = true;
        }
        if (!again)
            continue;
        know(&l, &known, before, after, finished);
        const int64_t shift = after->head - before->head;
        const uint32_t n = repeat(&l, before, after, finished);
        if (n == 0)
            continue;
        *arrived += n * shift;
        l.from += n * l.period;
        l.periods -= n;
        tries = TRIES_MAX;
        take_state(&l, *arrived, after);
    }
    return l.from;
}
