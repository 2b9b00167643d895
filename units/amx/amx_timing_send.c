/* The hot path: when one instruction starts. Instructions of a core start in program order; what an instruction waits
 * for is compared term by term and the last term to hold it back names the reason.
 */
#include "units/amx/amx_timing_state.h"

static inline unsigned count_bits(unsigned byte)
{
    byte = byte - (byte >> 1 & 0x55);
    byte = (byte & 0x33) + (byte >> 2 & 0x33);
    return (byte + (byte >> 4)) & 15;
}

static void count_compute(struct amx_block *block, const struct amx_effect *effect)
{
    uint64_t *count = block->activity.count;
    const bool integer = effect->z_element >= AMX_E_I8 || effect->x_element >= AMX_E_I8;
    const enum activity_event macs = integer                             ? ACT_AMX_INT_MACS
                                     : effect->z_element == AMX_E_F64    ? ACT_AMX_F64_MACS
                                     : effect->z_element == AMX_E_F32    ? ACT_AMX_F32_MACS
                                                                         : ACT_AMX_F16_MACS;
    count[macs] += effect->macs;
    count[ACT_AMX_XY_READ_BYTES] += UINT64_C(64) * (count_bits(effect->x_read) + count_bits(effect->y_read));
    if (effect->z_read)
        count[ACT_AMX_Z_READ_BYTES] += UINT64_C(64) * (effect->z_read == effect->z_write
                                                           ? effect->z_rows_written
                                                           : (unsigned)__builtin_popcountll(effect->z_read));
    count[ACT_AMX_Z_WRITE_BYTES] += UINT64_C(64) * effect->z_rows_written;
}

/* Array time of a matrix instruction. Masked lanes save none (guess: the grid works in lock step). */
static inline double matrix_cycles(const struct amx_block *block, unsigned op, const struct amx_effect *effect)
{
    const struct amx_params *p = &block->params;
    if (effect->z_element == AMX_E_F32 && op != AMX_FMA32 && op != AMX_FMS32 &&
        (effect->x_element == AMX_E_F16 || effect->x_element == AMX_E_BF16 || effect->y_element == AMX_E_F16))
        return p->array_f16_f32_cycles;
    if (effect->z_element == AMX_E_I16 && effect->x_element != AMX_E_I16 && effect->y_element != AMX_E_I16)
        return p->array_i8_i16_cycles;
    return block->matrix_cycles[effect->z_element];
}

/* Time a vector-like instruction holds its lane, in the units of the parameters (both lanes busy = 1). */
static inline double vector_cycles(const struct amx_params *p, const struct amx_effect *effect)
{
    if (effect->unit_class == AMX_CLASS_EXTRACT)
        return p->extract_cycles;
    if (effect->unit_class == AMX_CLASS_GENLUT)
        return p->genlut_cycles;
    const double rows = effect->z_rows_written ? effect->z_rows_written : 1;
    const bool wide = effect->x_element == AMX_E_I16 || effect->y_element == AMX_E_I16;
    return rows * (wide ? p->vector_i16_row_cycles : p->vector_row_cycles);
}

struct wait {
    double start;
    enum amx_stall reason;
};

static inline void wait_until(struct wait *wait, double ready, enum amx_stall reason)
{
    if (ready > wait->start) {
        wait->start = ready;
        wait->reason = reason;
    }
}

static void take_share(struct amx_block *block, struct amx_timing_core *core, struct wait *wait, double work)
{
    if (!core->computes) {
        core->computes = true;
        block->computing++;
    }
    if (block->computing > 1)
        wait_until(wait, amx_share_take(block, wait->start, work), AMX_STALL_SHARED);
}

static void send_matrix(struct amx_block *block, struct amx_timing_core *core, struct wait *wait, unsigned op,
                        const struct amx_effect *effect)
{
    const double occupied = matrix_cycles(block, op, effect);
    wait_until(wait, amx_later(core->lane_ready[0], core->lane_ready[1]), AMX_STALL_ARRAY);
    wait_until(wait, amx_rows_ready(core, effect->z_read | effect->z_write), AMX_STALL_Z_DEPENDENCY);
    take_share(block, core, wait, occupied);
    core->lane_ready[0] = core->lane_ready[1] = wait->start + occupied;
    const double done = wait->start + block->params.z_latency_cycles;
    amx_rows_write(core, effect->z_write, done);
    core->complete = amx_later(core->complete, done);
}

/* Vector instructions go to the lane where they can start first. A row that was last written in the other lane is
 * there vector_cross_cycles later (M1: this is what makes nine rotating rows slower than eight or ten in the tables of
 * corsix/amx; M2 shows no such dip). */
static void send_vector(struct amx_block *block, struct amx_timing_core *core, struct wait *wait,
                        const struct amx_effect *effect)
{
    const struct amx_params *p = &block->params;
    const uint64_t rows = effect->z_read | effect->z_write;
    const double busy = vector_cycles(p, effect), z = rows ? amx_rows_ready(core, rows) : 0;
    double ready[AMX_LANES], start[AMX_LANES];
    for (int lane = 0; lane < AMX_LANES; lane++) {
        ready[lane] = core->lane_rows[!lane] & effect->z_read ? z + p->vector_cross_cycles : z;
        start[lane] = amx_later(wait->start, amx_later(core->lane_ready[lane], ready[lane]));
    }
    const int lane = start[1] < start[0] || (start[1] == start[0] && core->lane_rows[1] & effect->z_read);
    wait_until(wait, core->lane_ready[lane], AMX_STALL_ARRAY);
    wait_until(wait, ready[lane], AMX_STALL_Z_DEPENDENCY);
    if (effect->macs)
        take_share(block, core, wait, busy * block->vector_share);
    core->lane_ready[lane] = wait->start + AMX_LANES * busy;
    const double done = wait->start + p->z_latency_cycles;
    amx_registers_write(core, effect->x_write | (unsigned)effect->y_write << 8, done);
    if (effect->z_write) {
        amx_rows_write(core, effect->z_write, done);
        core->lane_rows[lane] |= effect->z_write;
    }
    core->complete = amx_later(core->complete, done);
}

static void send_setclr(struct amx_timing_core *core, const struct wait *wait, double cycles)
{
    core->issue_ready = wait->start + cycles;
    core->issue_reason = AMX_STALL_SETCLR;
    core->complete = amx_later(core->complete, core->issue_ready);
}

static void start_instruction(struct amx_block *block, struct amx_timing_core *core, double arrived, struct wait *wait,
                              unsigned op, uint64_t operand, const struct amx_effect *effect)
{
    switch (effect->unit_class) {
    case AMX_CLASS_LOAD:
        wait->start = amx_timing_load(block, core, arrived, wait->start, operand, effect, &wait->reason);
        return;
    case AMX_CLASS_STORE:
        wait->start = amx_timing_store(block, core, wait->start, operand, effect, &wait->reason);
        return;
    case AMX_CLASS_SET:
        send_setclr(core, wait, block->params.set_cycles);
        return;
    case AMX_CLASS_CLR:
        send_setclr(core, wait, block->params.clr_cycles);
        return;
    case AMX_CLASS_NOP:
        return;
    case AMX_CLASS_MATRIX:
    case AMX_CLASS_VECTOR:
    case AMX_CLASS_EXTRACT:
    case AMX_CLASS_GENLUT:
        break;
    }
    wait_until(wait, amx_registers_ready(core, effect->x_read | (unsigned)effect->y_read << 8), AMX_STALL_LOAD_DATA);
    if (effect->unit_class == AMX_CLASS_MATRIX)
        send_matrix(block, core, wait, op, effect);
    else
        send_vector(block, core, wait, effect);
    count_compute(block, effect);
}

/* Splits the time between two starts: until the instruction arrived it was the CPU's, the rest has one reason. */
static inline void count_stall(struct amx_timing_core *core, double arrived, const struct wait *wait)
{
    double from = core->head;
    if (arrived > from) {
        const double until = arrived < wait->start ? arrived : wait->start;
        core->stall[AMX_STALL_CPU] += until - from;
        from = until;
    }
    core->stall[wait->reason] += wait->start - from;
}

double amx_block_send(struct amx_block *block, unsigned core_number, double sent_ns, unsigned op, uint64_t operand,
                      const struct amx_effect *effect)
{
    struct amx_timing_core *core = &block->core[core_number];
    const double arrived = amx_cycle_of(block, sent_ns);
    if (core->instructions == 0)
        core->origin = core->head = core->complete = arrived;
    struct wait wait = {amx_later(core->head, arrived), AMX_STALL_CPU};
    wait_until(&wait, core->issue_ready, core->issue_reason);
    core->issue_ready = 0;
    start_instruction(block, core, arrived, &wait, op, operand, effect);
    count_stall(core, arrived, &wait);
    core->head = wait.start;
    if (wait.start + block->issue_cycles > core->issue_ready) {
        core->issue_ready = wait.start + block->issue_cycles;
        core->issue_reason = AMX_STALL_ISSUE;
    }
    core->complete = amx_later(core->complete, wait.start);
    block->latest = amx_later(block->latest, wait.start);
    block->activity.count[ACT_AMX_INSTRUCTIONS]++;

    /* The queue has room for the next instruction once the one `queue` places before it has started. */
    unsigned slot = (unsigned)(core->instructions++ % AMX_QUEUE_MAX);
    core->leave[slot] = wait.start;
    if (core->instructions < block->queue)
        return sent_ns;
    slot = (slot + 1 + AMX_QUEUE_MAX - block->queue) % AMX_QUEUE_MAX;
    return core->leave[slot] > arrived ? amx_ns_of(block, core->leave[slot]) : sent_ns;
}
