/* State of an AMX block's timing; shared by amx_timing*.c only. Times are cycles of the block's clock. */
#ifndef ORCHARD_UNITS_AMX_TIMING_STATE_H
#define ORCHARD_UNITS_AMX_TIMING_STATE_H

#include "units/amx/amx_timing.h"

#define AMX_LANES 2                /* vector rows of one core that the array takes per cycle: X/Y read ports */
#define AMX_CLASSES 8              /* matrix accumulators are unions of residue classes of Z rows modulo 8 */
#define AMX_STORE_LINES 64         /* recently stored lines a load is checked against */
#define AMX_LINE_SHIFT 7           /* 128-byte lines */
#define AMX_MAX_BANKS 64
#define AMX_QUEUE_MAX 256
#define AMX_SHARE_SPAN 64.0        /* cycles per bucket of the shared array's calendar */
#define AMX_SHARE_BUCKETS 1024

struct amx_timing_core {
    double head;                   /* start of the latest instruction: instructions start in program order */
    double issue_ready;            /* issue limit, or end of set/clr */
    double lane_ready[AMX_LANES];  /* vector lanes; a matrix instruction takes both */
    double register_ready[16];     /* X0..X7, Y0..Y7 */
    double class_ready[AMX_CLASSES];    /* last write of a whole residue class */
    double class_row_ready[AMX_CLASSES]; /* last write of any single row of the class */
    double row_ready[64];
    uint64_t lane_rows[AMX_LANES]; /* rows whose last writer was a vector instruction in that lane */
    double leave[AMX_QUEUE_MAX];   /* ring: when queued instructions left the queue */
    double left;                   /* latest of them */
    double complete;               /* everything so far */
    double stores_visible;
    double origin;                 /* first instruction */
    double stall[AMX_STALL_COUNT];
    uint64_t instructions;
    struct mem_port *port;
    uint64_t address_tag;
    uint8_t issue_reason;          /* why issue_ready holds: ISSUE or SETCLR */
    bool computes;                 /* has used the array */
};

struct amx_stored_line {
    uint64_t line; /* tagged address >> AMX_LINE_SHIFT */
    double visible;
};

struct amx_block {
    struct amx_params params;
    double cycles_per_ns, ns_per_cycle;
    double base_ns, base_cycle;    /* a moment known in both */
    double latest;                 /* latest head of any core */
    double matrix_cycles[AMX_E_I32 + 1]; /* by element of Z */
    double issue_cycles, store_slack;
    double vector_share;           /* shared array time per lane time of a vector instruction */
    unsigned cores, computing;     /* how many; how many of them have used the array */
    unsigned queue;
    double load_ready, store_ready;
    double bank_ready[AMX_MAX_BANKS];
    struct amx_stored_line stored[AMX_STORE_LINES];
    double share_used[AMX_SHARE_BUCKETS];
    uint64_t share_number[AMX_SHARE_BUCKETS];
    struct activity activity;
    struct amx_timing_core core[];
};

static inline double amx_cycle_of(const struct amx_block *block, double ns)
{
    return block->base_cycle + (ns - block->base_ns) * block->cycles_per_ns;
}

static inline double amx_ns_of(const struct amx_block *block, double cycle)
{
    return block->base_ns + (cycle - block->base_cycle) * block->ns_per_cycle;
}

static inline double amx_later(double a, double b)
{
    return a > b ? a : b;
}

/* Earliest cycle at or after `start` at which the shared array has room for `work` cycles of it; takes them. */
double amx_share_take(struct amx_block *block, double start, double work);
void amx_share_forget(struct amx_block *block);

/* The memory side: each returns the in-order start of the instruction and its reason when that is later than `start`. */
double amx_timing_load(struct amx_block *block, struct amx_timing_core *core, double arrived, double start,
                       uint64_t operand, const struct amx_effect *effect, enum amx_stall *reason);
double amx_timing_store(struct amx_block *block, struct amx_timing_core *core, double start, uint64_t operand,
                        const struct amx_effect *effect, enum amx_stall *reason);

/* Scoreboard: when the rows of a mask may be read, and that they are written. */
double amx_rows_ready_slow(const struct amx_timing_core *core, uint64_t rows);
void amx_rows_write_slow(struct amx_timing_core *core, uint64_t rows, double ready);

#define AMX_CLASS_PATTERN UINT64_C(0x0101010101010101)

static inline bool amx_rows_are_classes(uint64_t rows)
{
    return (rows & 0xff) * AMX_CLASS_PATTERN == rows;
}

static inline double amx_rows_ready(const struct amx_timing_core *core, uint64_t rows)
{
    double ready = 0;
    if (!amx_rows_are_classes(rows))
        return amx_rows_ready_slow(core, rows);
    for (unsigned left = rows & 0xff; left; left &= left - 1) {
        const unsigned c = (unsigned)__builtin_ctz(left);
        ready = amx_later(ready, amx_later(core->class_ready[c], core->class_row_ready[c]));
    }
    return ready;
}

static inline void amx_rows_write(struct amx_timing_core *core, uint64_t rows, double ready)
{
    core->lane_rows[0] &= ~rows;
    core->lane_rows[1] &= ~rows;
    if (!amx_rows_are_classes(rows)) {
        amx_rows_write_slow(core, rows, ready);
        return;
    }
    for (unsigned left = rows & 0xff; left; left &= left - 1) {
        const unsigned c = (unsigned)__builtin_ctz(left);
        core->class_ready[c] = amx_later(core->class_ready[c], ready);
    }
}

static inline double amx_registers_ready(const struct amx_timing_core *core, unsigned registers)
{
    double ready = 0;
    for (; registers; registers &= registers - 1)
        ready = amx_later(ready, core->register_ready[__builtin_ctz(registers)]);
    return ready;
}

static inline void amx_registers_write(struct amx_timing_core *core, unsigned registers, double ready)
{
    for (; registers; registers &= registers - 1)
        core->register_ready[__builtin_ctz(registers)] = ready;
}

#endif
