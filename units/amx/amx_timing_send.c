/* The hot path: when one instruction starts. Instructions of a core start in program order. Each start is the latest of several
 * times, and the time that decides names the reason. Fields of the core are read first and written last, so that the host can
 * overlap the bookkeeping of one instruction with that of the next.
 */
#include "units/amx/amx_timing_state.h"

#include <string.h>

struct start {
    int64_t at;
    enum amx_stall reason;
};

static inline __attribute__((always_inline)) void wait_until(struct start *start, int64_t ready, enum amx_stall reason)
{
    if (ready > start->at) {
        start->at = ready;
        start->reason = reason;
    }
}

static inline __attribute__((always_inline)) void wait_for_registers(const struct amx_timing_core *core,
                                                                     const struct amx_memo *memo, struct start *start)
{
    if (__builtin_expect(core->registers_pending > start->at, 0))
        wait_until(start, amx_registers_ready(core, memo->reads), AMX_STALL_LOAD_DATA);
}

static inline __attribute__((always_inline)) void take_share(struct amx_block *block, struct amx_timing_core *core,
                                                             const struct amx_memo *memo, struct start *start)
{
    if (__builtin_expect(block->computing > 1, 0) && memo->share)
        wait_until(start, amx_share_take(block, core, start->at, memo->share), AMX_STALL_SHARED);
}

static inline __attribute__((always_inline)) struct start send_matrix(struct amx_block *block, struct amx_timing_core *core,
                                                                      const struct amx_memo *memo, struct start start)
{
    unsigned lanes;
    const int64_t array = amx_later(core->lane_ready[0], core->lane_ready[1]);
    const int64_t z = amx_rows_ready(core, memo, &lanes);
    wait_for_registers(core, memo, &start);
    wait_until(&start, array, AMX_STALL_ARRAY);
    wait_until(&start, z, AMX_STALL_Z_DEPENDENCY);
    take_share(block, core, memo, &start);
    core->lane_ready[0] = core->lane_ready[1] = start.at + memo->busy;
    const int64_t done = start.at + block->ticks.z_latency;
    amx_rows_write(core, memo, done, AMX_NO_LANE);
    core->complete = amx_later(core->complete, done);
    return start;
}

/* The cost of continuing in the other lane with rows of instructions that hold a lane for `busy` ticks. */
static inline int64_t crossing(const struct amx_ticks *t, int64_t busy)
{
    int64_t cost = t->cross;
    if (t->cross_pass && t->pass)
        for (int64_t passes = t->pass * 2; passes <= busy; passes += t->pass)
            cost += t->cross_pass;
    return cost;
}

/* Vector instructions go to the lane where they can start first. A row that was last written in the other lane is ready
 * vector_cross_cycles later (M1: this makes nine rotating rows slower than eight or ten in the tables of corsix/amx, and five of
 * the types that take a lane for two cycles; M2 shows no such dip). */
static __attribute__((noinline)) struct start send_lane(struct amx_block *block, struct amx_timing_core *core,
                                                        const struct amx_memo *memo, struct start start)
{
    unsigned wrote = 0;
    const int64_t free0 = core->lane_ready[0], free1 = core->lane_ready[1];
    const int64_t z = memo->rows ? amx_rows_ready(core, memo, &wrote) : 0;
    const int64_t cross = z + crossing(&block->ticks, memo->busy);
    wait_for_registers(core, memo, &start);
    const int64_t ready0 = wrote & 2 ? cross : z, ready1 = wrote & 1 ? cross : z;
    const int64_t start0 = amx_later(start.at, amx_later(free0, ready0));
    const int64_t start1 = amx_later(start.at, amx_later(free1, ready1));
    const int lane = start1 < start0 || (start1 == start0 && wrote & 2);
    wait_until(&start, lane ? free1 : free0, AMX_STALL_ARRAY);
    wait_until(&start, lane ? ready1 : ready0, AMX_STALL_Z_DEPENDENCY);
    take_share(block, core, memo, &start);
    core->lane_ready[lane] = start.at + memo->busy;
    const int64_t done = start.at + block->ticks.z_latency;
    amx_registers_write(core, memo->writes, done);
    if (memo->z_write)
        amx_rows_write(core, memo, done, 1u << lane);
    core->complete = amx_later(core->complete, done);
    return start;
}

static void send_setclr(struct amx_timing_core *core, const struct start *start, int64_t cost)
{
    core->enabled = start->at + cost;
    core->complete = amx_later(core->complete, core->enabled);
}

/* Takes and returns the start by value, so that callers keep it in registers. */
static __attribute__((noinline)) struct start send_other(struct amx_block *block, struct amx_timing_core *core,
                                                         const struct amx_memo *memo, int64_t arrived, uint64_t operand,
                                                         struct start start)
{
    switch (memo->effect.unit_class) {
    case AMX_CLASS_LOAD: start.at = amx_timing_load(block, core, arrived, start.at, operand, memo, &start.reason); break;
    case AMX_CLASS_STORE: start.at = amx_timing_store(block, core, start.at, operand, memo, &start.reason); break;
    case AMX_CLASS_SET: send_setclr(core, &start, block->ticks.set); break;
    case AMX_CLASS_CLR: send_setclr(core, &start, block->ticks.clr); break;
    default: break;
    }
    return start;
}

/* Returns when the next instruction may arrive: the queue has room for it once the one `queue` places before it has started. */
static inline int64_t next_arrival(const struct amx_block *block, struct amx_timing_core *core, int64_t arrived, int64_t started)
{
    const uint64_t number = core->instructions++;
    core->start[number % AMX_QUEUE_MAX] = started;
    const int64_t left = core->start[(number + 1 - block->queue) % AMX_QUEUE_MAX];
    return left > arrived && number + 1 >= block->queue ? left : arrived;
}

/* At most issue_count instructions start within any issue_window. */
static inline int64_t issue_limit(const struct amx_block *block, const struct amx_timing_core *core)
{
    const uint64_t number = core->instructions;
    const int64_t before = core->start[(number - block->issue_count) % AMX_QUEUE_MAX];
    return number >= block->issue_count ? before + block->ticks.issue_window : 0;
}

/* Loads have requested their data by the time their turn comes, and take no place of an instruction that computes: sgemm of
 * xrq-phys/blis_apple has a load for every product, in bursts of both, and keeps 88 % of the array's rate. */
static inline bool is_load(const struct amx_memo *memo)
{
    return memo->kind == AMX_MEMO_OTHER && memo->effect.unit_class == AMX_CLASS_LOAD;
}

/* Charges the time before a start to its reason. While the array works, until `working`, the issue limit holds up nothing that
 * could have been done: that time is charged to the array. */
static inline __attribute__((always_inline)) void charge(struct amx_timing_core *core, struct start start, int64_t from,
                                                         int64_t working)
{
    if (start.reason == AMX_STALL_ISSUE && working > from) {
        const int64_t to = working < start.at ? working : start.at;
        core->stall[AMX_STALL_ARRAY] += to - from;
        from = to;
    }
    core->stall[start.reason] += start.at - from;
}

static inline __attribute__((always_inline)) int64_t send_memo(struct amx_block *block, struct amx_timing_core *core,
                                                               struct amx_memo *memo, int64_t arrived, uint64_t operand)
{
    memo->tally++;
    if (__builtin_expect(core->instructions == 0, 0))
        core->origin = core->head = core->complete = arrived;
    const int64_t head = core->head, working = amx_later(core->lane_ready[0], core->lane_ready[1]);
    struct start start = {.at = amx_later(head, arrived), .reason = AMX_STALL_CPU};
    if (__builtin_expect(!is_load(memo), 1))
        wait_until(&start, issue_limit(block, core), AMX_STALL_ISSUE);
    wait_until(&start, core->enabled, AMX_STALL_SETCLR);
    if (__builtin_expect(memo->kind == AMX_MEMO_MATRIX, 1))
        start = send_matrix(block, core, memo, start);
    else if (memo->kind == AMX_MEMO_LANE)
        start = send_lane(block, core, memo, start);
    else
        start = send_other(block, core, memo, arrived, operand, start);

    /* The time until the instruction arrived is the CPU's; the rest has one reason. */
    const int64_t until = amx_later(head, arrived < start.at ? arrived : start.at);
    core->stall[AMX_STALL_CPU] += until - head;
    charge(core, start, until, working);
    core->head = start.at;
    core->complete = amx_later(core->complete, start.at);
    return next_arrival(block, core, arrived, start.at);
}

/* Reports the instruction that was sent last. */
static __attribute__((noinline)) void tell(const struct amx_block *block, const struct amx_timing_core *core,
                                           const struct amx_memo *memo, int64_t complete_before, unsigned op, uint64_t operand)
{
    unsigned number = 0;
    while (number + 1 < block->cores && block->core[number] != core)
        number++;
    const int64_t done = core->complete > complete_before ? core->complete : core->head + memo->busy;
    const struct unit_instruction told = {.word = AMX_WORD_BASE | op << 5,
                                          .operand = operand,
                                          .issued_ns = amx_ns_of(block, core->head),
                                          .done_ns = amx_ns_of(block, done)};
    block->watch->amx(block->watch->context, number, &told);
}

static __attribute__((noinline)) void decode_memo(struct amx_block *block, struct amx_timing_core *core, struct amx_memo *memo,
                                                  uint64_t fields, uint32_t tag)
{
    struct amx_effect effect;
    amx_effect_of(tag >> 8, fields, (enum amx_gen)(tag >> 1 & 7), &effect);
    amx_memo_fill(block, core, memo, tag >> 8, fields, tag, &effect);
}

static inline __attribute__((always_inline)) struct amx_memo *memo_of(struct amx_block *block, struct amx_timing_core *core,
                                                                      unsigned op, uint64_t operand, enum amx_gen gen)
{
    const uint64_t fields = operand & ~amx_pointer_mask(op);
    const uint32_t tag = op << 8 | (uint32_t)gen << 1 | 1;
    const uint64_t hash = (fields ^ (uint64_t)op << 40) * UINT64_C(0x9E3779B97F4A7C15);
    struct amx_memo *memo = &core->memo[hash >> 56];
    if (__builtin_expect(memo->fields != fields || memo->tag != tag, 0))
        decode_memo(block, core, memo, fields, tag);
    return memo;
}
_Static_assert(AMX_MEMO_SLOTS == 256, "memo_of takes eight bits of the hash");

struct amx_memo *amx_memo_of(struct amx_block *block, struct amx_timing_core *core, unsigned op, uint64_t operand,
                             enum amx_gen gen)
{
    return memo_of(block, core, op, operand, gen);
}

double amx_block_send_cached(struct amx_block *block, unsigned core_number, double sent_ns, unsigned op, uint64_t operand,
                             enum amx_gen gen)
{
    struct amx_timing_core *core = block->core[core_number];
    struct amx_memo *memo = memo_of(block, core, op, operand, gen);
    const int64_t complete = core->complete;
    const int64_t arrived = amx_tick_of(block, sent_ns), next = send_memo(block, core, memo, arrived, operand);
    if (__builtin_expect(block->watch != NULL, 0))
        tell(block, core, memo, complete, op, operand);
    return next > arrived ? amx_ns_of(block, next) : sent_ns;
}

/* The cycle from which on the next word may leave, behind one that left in cycle `at`; `expected` is most likely. */
static inline uint64_t answer_of(const struct amx_block *block, const struct unit_words *words, uint64_t at, uint64_t expected,
                                 double sent_ns, int64_t arrived, int64_t next)
{
    if (next <= arrived)
        return at;
    const double next_ns = amx_ns_of(block, next);
    if (expected > at && unit_is_surely_in(words->clock, next_ns, expected))
        return expected;
    const uint64_t left = next_ns > sent_ns ? unit_cycle_of(words->clock, next_ns) : at;
    return left > at ? left : at;
}

/* What matrix instructions one after another change, so that the host keeps it in registers. */
struct hot {
    int64_t head, complete, array;
    uint64_t instructions;
};

static inline __attribute__((always_inline)) struct hot take_out(const struct amx_timing_core *core)
{
    return (struct hot){core->head, core->complete, amx_later(core->lane_ready[0], core->lane_ready[1]), core->instructions};
}

static inline __attribute__((always_inline)) void put_back(struct amx_timing_core *core, const struct hot *h)
{
    core->head = h->head;
    core->complete = h->complete;
    core->instructions = h->instructions;
}

/* send_memo for a matrix instruction of a core that is alone and has started more than the queue holds. */
static inline __attribute__((always_inline)) int64_t send_hot(const struct amx_block *block, struct amx_timing_core *core,
                                                              struct amx_memo *memo, int64_t arrived, struct hot *h)
{
    const int64_t head = h->head, working = h->array;
    unsigned lanes;
    struct start start = {.at = amx_later(head, arrived), .reason = AMX_STALL_CPU};
    memo->tally++;
    wait_until(&start, core->start[(h->instructions - block->issue_count) % AMX_QUEUE_MAX] + block->ticks.issue_window,
               AMX_STALL_ISSUE);
    wait_until(&start, core->enabled, AMX_STALL_SETCLR);
    const int64_t z = amx_rows_ready(core, memo, &lanes);
    wait_for_registers(core, memo, &start);
    wait_until(&start, working, AMX_STALL_ARRAY);
    wait_until(&start, z, AMX_STALL_Z_DEPENDENCY);
    core->lane_ready[0] = core->lane_ready[1] = h->array = start.at + memo->busy;
    const int64_t done = start.at + block->ticks.z_latency;
    amx_rows_write(core, memo, done, AMX_NO_LANE);
    h->complete = amx_later(h->complete, done);
    const int64_t until = amx_later(head, arrived < start.at ? arrived : start.at);
    core->stall[AMX_STALL_CPU] += until - head;
    charge(core, start, until, working);
    h->head = start.at;
    core->start[h->instructions++ % AMX_QUEUE_MAX] = start.at;
    return amx_later(arrived, core->start[(h->instructions - block->queue) % AMX_QUEUE_MAX]);
}

uint32_t amx_block_send_words(struct amx_block *block, unsigned core_number, const struct unit_words *words, enum amx_gen gen,
                              uint64_t *answered)
{
    struct amx_timing_core *const core = block->core[core_number];
    struct hot h = take_out(core);
    uint32_t i;
    for (i = 0; i < words->count; i++) {
        const uint64_t operand = words->operand[i], at = words->now + words->when[i];
        const double sent_ns = unit_ns_of(words->clock, at);
        const int64_t arrived = amx_tick_of(block, sent_ns);
        int64_t next;
        struct amx_memo *const memo = memo_of(block, core, words->op[i], operand, gen);
        if (memo->kind == AMX_MEMO_MATRIX && block->computing <= 1 && h.instructions >= AMX_QUEUE_MAX) {
            next = send_hot(block, core, memo, arrived, &h);
        } else {
            put_back(core, &h);
            next = send_memo(block, core, memo, arrived, operand);
            h = take_out(core);
        }
        const uint64_t expected = at + words->answer[i], cycle = answer_of(block, words, at, expected, sent_ns, arrived, next);
        if (cycle != expected) {
            *answered = cycle;
            break;
        }
    }
    put_back(core, &h);
    return i;
}

/* The same one by one, with an observer. */
static __attribute__((noinline)) int64_t send_watched(struct amx_block *block, struct amx_timing_core *core,
                                                      const struct amx_batch *batch, uint32_t from, uint32_t to, int64_t arrived,
                                                      int64_t step)
{
    for (uint32_t i = from; i < to; i++) {
        struct amx_memo *memo = memo_of(block, core, batch->op[i], batch->operand[i], batch->gen);
        const int64_t complete = core->complete;
        const int64_t next = send_memo(block, core, memo, arrived, batch->operand[i]);
        tell(block, core, memo, complete, batch->op[i], batch->operand[i]);
        arrived = amx_later(arrived + step, next);
    }
    return arrived;
}

int64_t amx_send_plainly(struct amx_block *block, struct amx_timing_core *core, const struct amx_batch *batch, uint32_t from,
                         uint32_t to, int64_t arrived, int64_t step)
{
    if (__builtin_expect(block->watch != NULL, 0))
        return send_watched(block, core, batch, from, to, arrived, step);
    for (uint32_t i = from; i < to; i++) {
        struct amx_memo *memo = memo_of(block, core, batch->op[i], batch->operand[i], batch->gen);
        const int64_t next = send_memo(block, core, memo, arrived, batch->operand[i]);
        arrived = amx_later(arrived + step, next);
    }
    return arrived;
}

/* Number of instructions sent before the next search for a loop. */
#define LOOK_AGAIN 16

static int64_t ticks_of_step(const struct amx_block *block, double step_ns)
{
    return (int64_t)(step_ns * block->ticks_per_ns + 0.5);
}

double amx_block_send_passes(struct amx_block *block, unsigned core_number, const struct amx_passes *passes, enum amx_gen gen,
                             double step_ns, double sent_ns)
{
    int64_t arrived = amx_tick_of(block, sent_ns);
    amx_send_passes(block, block->core[core_number], passes, gen, &arrived, ticks_of_step(block, step_ns));
    return amx_ns_of(block, arrived);
}

double amx_block_send_batch(struct amx_block *block, unsigned core_number, const struct amx_batch *batch, double sent_ns)
{
    struct amx_timing_core *core = block->core[core_number];
    const int64_t step = ticks_of_step(block, batch->step_ns);
    int64_t arrived = amx_tick_of(block, sent_ns);
    for (uint32_t i = 0; i < batch->count;) {
        if (block->repeats)
            i = amx_send_loop(block, core, batch, i, &arrived, step);
        const uint32_t left = batch->count - i, to = i + (left < LOOK_AGAIN ? left : LOOK_AGAIN);
        arrived = amx_send_plainly(block, core, batch, i, to, arrived, step);
        i = to;
    }
    return amx_ns_of(block, arrived);
}

double amx_block_send(struct amx_block *block, unsigned core_number, double sent_ns, unsigned op, uint64_t operand,
                      const struct amx_effect *effect)
{
    struct amx_timing_core *core = block->core[core_number];
    const uintptr_t where = (uintptr_t)effect;
    const uint32_t tag = op << 8 | 0x80;
    struct amx_memo *memo = &core->memo[(where >> 3 ^ where >> 9) % AMX_MEMO_SLOTS];
    if (memo->tag != tag || memcmp(&memo->effect, effect, sizeof *effect) != 0)
        amx_memo_fill(block, core, memo, op, 0, tag, effect);
    const int64_t arrived = amx_tick_of(block, sent_ns), next = send_memo(block, core, memo, arrived, operand);
    return next > arrived ? amx_ns_of(block, next) : sent_ns;
}
