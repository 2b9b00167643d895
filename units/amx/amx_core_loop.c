/* Loops of loads and outer products (found by amx_core_loop.h): finds where their operands lie in simulated memory, and runs many
 * passes of one accumulator at a time. */
#include "units/amx/amx_core_state.h"

#include <stddef.h>

/* Products of one accumulator that run in one go: enough to make moving Z to host registers and back cheap, but few enough that
 * the operands, which other accumulators often share, stay in the host's L1 beside those fetched ahead. */
#define WINDOW_PAIRS 512
#define WINDOW_BYTES (16 << 10)

/* Where a register is in the pass being planned, and by how much it moves per pass. */
struct place {
    const uint8_t *at;
    ptrdiff_t step;
};

struct product {
    struct place x, y;
};

struct load {
    struct place place;
    unsigned bytes;
};

typedef uint64_t both __attribute__((vector_size(16))); /* the pointers of a pair, which move together */
_Static_assert(sizeof(both) == sizeof(struct amx_pair), "a pair is two 64-bit pointers");

struct plan {
    struct place x[8], y[8];
    struct load loads[AMX_LOOP_LENGTH]; /* of one pass */
    unsigned load_count;
    unsigned count[AMX_ACCUMULATORS]; /* outer products of one pass, in order, per accumulator */
    struct product products[AMX_ACCUMULATORS][AMX_LOOP_LENGTH];
};

static bool is_load(unsigned op)
{
    return op == AMX_LDX || op == AMX_LDY;
}

static uint64_t distance(uint64_t step)
{
    return step >> 63 ? 0 - step : step;
}

/* True when every pass can load: everything between the first and the last address is accessible and aligned. */
static bool all_passes_load(const struct amx_core *core, uint64_t operand, uint64_t step, size_t passes, unsigned count)
{
    const uint64_t bytes = (uint64_t)AMX_ROW_BYTES * count, address = operand & AMX_ADDRESS_MASK;
    const uint64_t far = distance(step), span = far * (passes - 1);
    if (far > core->space->bytes || span > core->space->bytes || (count > 1 && step % (2 * AMX_ROW_BYTES) != 0))
        return false;
    if (step >> 63)
        return span <= address && mem_at(core->space, address - span, span + bytes, MEM_READ);
    return mem_at(core->space, address, span + bytes, MEM_READ) != NULL;
}

static bool plan_load(struct plan *plan, const struct amx_core *core, unsigned op, uint64_t operand, uint64_t step, size_t passes)
{
    struct unit_fault fault;
    struct amx_transfer transfer;
    if (!amx_transfer_prepare(&transfer, core->space, op, operand, core->gen, &fault) ||
        !all_passes_load(core, operand, step, passes, transfer.count))
        return false;
    struct place *to = op == AMX_LDX ? plan->x : plan->y;
    plan->loads[plan->load_count++] = (struct load){{transfer.host, (ptrdiff_t)step}, (unsigned)AMX_ROW_BYTES * transfer.count};
    for (unsigned k = 0; k < transfer.count; k++)
        to[amx_transfer_register(&transfer, k)] = (struct place){transfer.host + AMX_ROW_BYTES * k, (ptrdiff_t)step};
    return true;
}

static void plan_product(struct plan *plan, uint64_t operand, uint64_t accumulator_mask)
{
    const unsigned a = (unsigned)(operand >> 20 & accumulator_mask);
    plan->products[a][plan->count[a]++] = (struct product){plan->x[operand >> 16 & 7], plan->y[operand >> 6 & 7]};
}

/* Registers that the body loads are where the previous pass put them; the others stay where they are. */
static bool plan_registers(struct plan *plan, const struct amx_core *core, const uint8_t *op, const uint64_t *operand,
                           const struct amx_loop *loop)
{
    plan->load_count = 0;
    for (unsigned n = 0; n < 8; n++) {
        plan->x[n] = (struct place){core->x.slot[n], 0};
        plan->y[n] = (struct place){core->y.slot[n], 0};
    }
    for (unsigned n = 0; n < loop->length; n++)
        if (is_load(op[n]) && !plan_load(plan, core, op[n], operand[n], loop->step[n], loop->passes))
            return false;
    return true;
}

/* Lists the products of the second pass. */
static void plan_products(struct plan *plan, const struct amx_core *core, const uint8_t *op, const uint64_t *operand,
                          const struct amx_loop *loop)
{
    memset(plan->count, 0, sizeof plan->count);
    plan->load_count = 0;
    for (unsigned n = 0; n < loop->length; n++) {
        if (is_load(op[n]))
            plan_load(plan, core, op[n], operand[n] + loop->step[n], loop->step[n], loop->passes - 1);
        else
            plan_product(plan, operand[n], core->shape[op[n]].accumulator_mask);
    }
}

/* True when the operands of all products of accumulator a move by the same steps. */
static bool has_one_step(const struct plan *plan, unsigned a)
{
    const struct product *p = plan->products[a];
    for (unsigned f = 1; f < plan->count[a]; f++)
        if (p[f].x.step != p[0].x.step || p[f].y.step != p[0].y.step)
            return false;
    return true;
}

static void run_alike(struct amx_core *core, struct plan *plan, unsigned a, unsigned passes)
{
    struct amx_pair pairs[AMX_LOOP_LENGTH];
    struct product *p = plan->products[a];
    const struct amx_batch batch = {
        .pairs = pairs, .count = plan->count[a], .passes = passes, .x_step = p->x.step, .y_step = p->y.step};
    for (unsigned f = 0; f < batch.count; f++) {
        pairs[f] = (struct amx_pair){p[f].x.at, p[f].y.at};
        p[f].x.at += (ptrdiff_t)passes * p[f].x.step;
        p[f].y.at += (ptrdiff_t)passes * p[f].y.step;
    }
    amx_queue_apply(core, a, &batch);
}

static void run_mixed(struct amx_core *core, struct plan *plan, unsigned a, unsigned passes)
{
    struct amx_pair pairs[WINDOW_PAIRS];
    const unsigned count = plan->count[a];
    for (unsigned f = 0; f < count; f++) {
        struct product *p = &plan->products[a][f];
        const both step = {(uint64_t)p->x.step, (uint64_t)p->y.step};
        both at = {(uintptr_t)p->x.at, (uintptr_t)p->y.at};
        for (struct amx_pair *to = pairs + f, *end = to + passes * count; to < end; to += count, at += step)
            memcpy(to, &at, sizeof *to);
        p->x.at = (const uint8_t *)(uintptr_t)at[0];
        p->y.at = (const uint8_t *)(uintptr_t)at[1];
    }
    const struct amx_batch batch = {.pairs = pairs, .count = passes * count, .passes = 1};
    amx_queue_apply(core, a, &batch);
}

/* Runs `passes` passes of accumulator a and advances its places. */
static void run_window(struct amx_core *core, struct plan *plan, unsigned a, unsigned passes)
{
    if (has_one_step(plan, a))
        run_alike(core, plan, a, passes);
    else
        run_mixed(core, plan, a, passes);
}

/* Prefetches what a load needs in the next passes. */
static void fetch_ahead(struct load *load, unsigned passes)
{
    for (unsigned pass = 0; pass < passes; pass++, load->place.at += load->place.step)
        for (unsigned byte = 0; byte < load->bytes; byte += AMX_ROW_BYTES)
            __builtin_prefetch(load->place.at + byte);
}

static void fetch_window(struct plan *plan, unsigned part, unsigned parts, unsigned passes)
{
    for (unsigned n = part; n < plan->load_count; n += parts)
        fetch_ahead(&plan->loads[n], passes);
}

/* Returns how many passes of one accumulator run before the next accumulator. */
static size_t window_passes(const struct plan *plan)
{
    unsigned most = 1, bytes = 1;
    for (unsigned a = 0; a < AMX_ACCUMULATORS; a++)
        most = plan->count[a] > most ? plan->count[a] : most;
    for (unsigned n = 0; n < plan->load_count; n++)
        bytes += plan->loads[n].bytes;
    const size_t by_pairs = WINDOW_PAIRS / most, by_bytes = WINDOW_BYTES / bytes + 1;
    return by_pairs < by_bytes ? by_pairs : by_bytes;
}

static void run_products(struct amx_core *core, struct plan *plan, size_t passes)
{
    const size_t window = window_passes(plan);
    unsigned used = 0;
    for (unsigned a = 0; a < AMX_ACCUMULATORS; a++)
        used += plan->count[a] != 0;
    fetch_window(plan, 0, 1, (unsigned)(passes < window ? passes : window));
    for (size_t from = 0; from < passes; from += window) {
        const size_t left = passes - from, next = left > window ? left - window : 0;
        unsigned part = 0;
        for (unsigned a = 0; a < AMX_ACCUMULATORS; a++) {
            if (plan->count[a] == 0)
                continue;
            fetch_window(plan, part++, used, (unsigned)(next < window ? next : window));
            run_window(core, plan, a, (unsigned)(left < window ? left : window));
        }
    }
}
_Static_assert(WINDOW_PAIRS >= AMX_LOOP_LENGTH, "a window holds a pass");

/* Runs one pass like any other instructions. It cannot fault, because all loads have been checked. */
static void run_pass(struct amx_core *core, const uint8_t *op, const uint64_t *operand, unsigned length)
{
    struct unit_fault fault;
    for (unsigned n = 0; n < length; n++)
        amx_core_execute(core, op[n], operand[n], &fault);
}

/* Leaves the registers as the last pass does. */
static void run_last_loads(struct amx_core *core, const uint8_t *op, const uint64_t *operand, const struct amx_loop *loop)
{
    struct unit_fault fault;
    for (unsigned n = 0; n < loop->length; n++)
        if (is_load(op[n]))
            amx_core_execute(core, op[n], operand[n] + loop->step[n] * (loop->passes - 1), &fault);
}

size_t amx_loop_run(struct amx_core *core, const uint8_t *op, const uint64_t *operand, const struct amx_loop *loop)
{
    struct plan plan;
    if (!plan_registers(&plan, core, op, operand, loop))
        return 0;
    run_pass(core, op, operand, loop->length);
    amx_queue_finish(core);
    plan_registers(&plan, core, op, operand, loop); /* from the state in which the first pass left them */
    plan_products(&plan, core, op, operand, loop);
    run_products(core, &plan, loop->passes - 1);
    run_last_loads(core, op, operand, loop);
    return loop->passes * loop->length;
}
