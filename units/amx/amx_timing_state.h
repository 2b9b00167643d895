/* The state of an AMX block's timing; shared by amx_timing*.c only.
 *
 * Times are ticks: 1/65536 of a cycle of the block's clock, in 64-bit integers. Integers keep the chain from one start to the
 * next short on the host and make sums exact.
 */
#ifndef ORCHARD_UNITS_AMX_AMX_TIMING_STATE_H
#define ORCHARD_UNITS_AMX_AMX_TIMING_STATE_H

#include "units/amx/amx_timing.h"

#define AMX_TICKS         65536.0 /* per cycle */
#define AMX_LANES         2       /* vector rows of one core that the array takes per cycle: X/Y read ports */
#define AMX_NO_LANE       4
#define AMX_STORE_LINES   64 /* recently stored lines that a load is checked against */
#define AMX_LINE_SHIFT    7  /* 128-byte lines */
#define AMX_MAX_BANKS     64
#define AMX_FILES         3 /* X, Y, Z */
#define AMX_QUEUE_MAX     256
#define AMX_SHARE_SPAN    (64 * 65536) /* ticks per bucket of the shared array's calendar */
#define AMX_SHARE_BUCKETS 1024
#define AMX_TURN_STEPS    64
#define AMX_TURN_ONE      65536
#define AMX_MEMO_SLOTS    256

/* An effect with what the hot path needs of it, and how often it was sent since activity was last taken. Found by operand
 * (amx_block_send_cached) or by effect (amx_block_send). */
struct amx_memo {
    uint64_t fields;        /* operand without pointer bits; 0 when found by effect */
    uint32_t tag;           /* op, generation and how it was found; 0 = empty */
    uint8_t kind;           /* enum amx_memo_kind */
    uint8_t slot;           /* lowest row: where the scoreboard keeps exactly these rows */
    uint16_t reads, writes; /* X registers in bits 0..7, Y in 8..15 */
    uint8_t file;           /* of loads: X 0, Y 1, Z 2 */
    uint64_t tally;
    uint64_t rows;   /* Z rows read or written */
    int64_t busy;    /* ticks: matrix instructions hold both lanes, others one lane */
    int64_t share;   /* ticks of the shared array */
    int64_t request; /* of loads: ticks until a request for other registers may follow this one's */
    uint64_t z_write;
    struct amx_effect effect;
};

enum amx_memo_kind { AMX_MEMO_MATRIX, AMX_MEMO_LANE, AMX_MEMO_OTHER };

/* Rows of Z that were last written together. The groups of a core are disjoint; each lies in the slot of its lowest row. A loop
 * that keeps to its accumulators finds each group in one step. */
struct amx_rows {
    uint64_t rows;
    int64_t ready;
    uint8_t lane; /* bit set of lanes that wrote it; AMX_NO_LANE for matrix results and loads */
};

struct amx_timing_core {
    int64_t head;                  /* start of the latest instruction: instructions start in program order */
    int64_t enabled;               /* end of the latest set or clr */
    int64_t lane_ready[AMX_LANES]; /* vector lanes; a matrix instruction takes both */
    int64_t register_ready[16];    /* X0..X7, Y0..Y7 */
    int64_t registers_pending;     /* latest of register_ready */
    struct amx_rows rows[64];
    uint8_t owner[64];            /* slot of the group that a row belongs to */
    uint64_t grouped;             /* rows that belong to any */
    int64_t start[AMX_QUEUE_MAX]; /* ring of the latest starts, by instruction number */
    int64_t complete;             /* everything so far */
    int64_t stores_visible;
    int64_t load_ready;                /* when the latest load has passed */
    int64_t requested, request_ready;  /* the latest request to the caches; when one for other registers may follow */
    unsigned requested_file;           /* the registers that it was for */
    bool loads;                        /* has loaded */
    int64_t store_ready;               /* when the store buffer can send its next store */
    uint64_t stores;                   /* so far */
    uint64_t store_address, store_end; /* of the latest */
    int64_t origin;                    /* first instruction */
    int64_t stall[AMX_STALL_COUNT];
    uint64_t instructions;
    struct mem_port *port;
    uint64_t address_tag;
    bool computes;              /* has used the array */
    int64_t shared;             /* start of the latest instruction in the shared array */
    uint64_t coming[AMX_FILES]; /* 1 + the last line requested, by the registers it goes to; 0 = none */
    struct amx_memo memo[AMX_MEMO_SLOTS];
};

struct amx_stored_line {
    uint64_t line; /* tagged address >> AMX_LINE_SHIFT */
    int64_t visible;
    uint64_t number; /* of the store among those of its core, counted from 1 */
    const struct amx_timing_core *core;
    uint8_t halves;  /* which 64-byte halves it wrote: bits 0 and 1 */
    uint8_t written; /* by it and by stores before */
};

struct amx_loaded_block {
    uint64_t block; /* tagged address / 64 */
    int64_t free;
};

/* Parameters in ticks. */
struct amx_ticks {
    int64_t z_latency, cross, cross_pass, pass, issue_window, set, clr, load_issue, load_request_same, load_latency, load_array,
        load_bank, store_issue, store_latency;
    int64_t store_merge, store_gap, store_slack;
    double load_per_byte, store_per_byte, store_shared_per_byte;
};

/* How much of each span of time is taken, of something that several cores share. */
struct amx_calendar {
    int64_t used[AMX_SHARE_BUCKETS];
    uint64_t number[AMX_SHARE_BUCKETS];
};

/* What a period of a loop did, recorded while amx_timing_repeat.c looks for periods that repeat. */
#define AMX_RECORD_LOADS 64
struct amx_record {
    bool on, plain; /* plain: no load waited for a store or a repeated block */
    unsigned loads;
    struct amx_recorded_load {
        int64_t asked, done;
        int64_t latest; /* an answer at this time or earlier would have changed nothing; = done: only this one */
        enum mem_level level;
        bool request; /* a request of its own */
    } load[AMX_RECORD_LOADS];
};

/* The memory system's answers to loads so far: the next loads take them from here instead of asking again. */
struct amx_answer {
    int64_t answered;
    enum mem_level level;
};

struct amx_block {
    struct amx_ticks ticks;
    double ticks_per_ns, ns_per_tick;
    double base_ns; /* the moment of tick base_tick */
    int64_t base_tick;
    unsigned cores, computing, loading, storing; /* number of cores; of those that have used the array, loaded, stored */
    unsigned queue;
    unsigned issue_count; /* instructions that may start within one issue_window */
    struct amx_loaded_block loaded[AMX_MAX_BANKS];
    struct amx_stored_line stored[AMX_STORE_LINES];
    int64_t turn_wait[AMX_TURN_STEPS + 1]; /* by how busy the array was, in AMX_TURN_ONE of one other core's turn */
    struct amx_calendar array_time, load_time, request_time, store_time;
    struct activity activity;
    struct amx_params params;
    bool repeats;                   /* periods of loops that repeat are accounted for at once */
    const struct unit_watch *watch; /* NULL = no observer */
    uint64_t repeated;              /* instructions accounted for that way */
    struct amx_record record;
    struct amx_periods *periods; /* seen before (amx_timing_period.h) */
    unsigned answers, answers_used;
    struct amx_answer answer[AMX_RECORD_LOADS];
    struct amx_timing_core *core[]; /* pointers: otherwise the compiler would compute an address again and again */
};

static inline int64_t amx_cycle_ticks(double cycles)
{
    return (int64_t)(cycles * AMX_TICKS + 0.5);
}

/* Where a core's load or store goes. */
static inline uint64_t amx_address_of(const struct amx_timing_core *core, uint64_t operand)
{
    return (operand & AMX_ADDRESS_MASK) | core->address_tag;
}

static inline int64_t amx_tick_of(const struct amx_block *block, double ns)
{
    return block->base_tick + (int64_t)((ns - block->base_ns) * block->ticks_per_ns + 0.5);
}

static inline double amx_ns_of(const struct amx_block *block, int64_t tick)
{
    return block->base_ns + (double)(tick - block->base_tick) * block->ns_per_tick;
}

static inline int64_t amx_later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Fills a memo of a core; the tally of the old one goes to block->activity first. */
void amx_memo_fill(struct amx_block *block, struct amx_timing_core *core, struct amx_memo *memo, unsigned op, uint64_t fields,
                   uint32_t tag, const struct amx_effect *effect);
/* Moves all tallies to block->activity. */
void amx_memo_settle(struct amx_block *block);
/* Settles and empties all memos, because what they hold depends on the clock. */
void amx_memo_forget(struct amx_block *block);

/* Works out turn_wait from the parameters. */
void amx_share_prepare(struct amx_block *block);
/* Takes `work` ticks of the shared array, after waiting for other cores' turns, at the earliest tick where it has room. Returns
 * that tick. */
int64_t amx_share_take(struct amx_block *block, struct amx_timing_core *core, int64_t start, int64_t work);
/* The same of the path that stores of all cores take. */
int64_t amx_share_take_store(struct amx_block *block, int64_t start, int64_t work);
/* The same of the path of loads, and of their requests to the caches. */
int64_t amx_share_take_load(struct amx_block *block, int64_t start, int64_t work);
int64_t amx_share_take_request(struct amx_block *block, int64_t start, int64_t work);
void amx_share_forget(struct amx_block *block);

/* Returns the memo of an instruction, filled if necessary. */
struct amx_memo *amx_memo_of(struct amx_block *block, struct amx_timing_core *core, unsigned op, uint64_t operand,
                             enum amx_gen gen);
/* Sends instructions [from, to) of a batch; `arrived` is when the first one may reach the block. Returns when the next one may.
 */
int64_t amx_send_plainly(struct amx_block *block, struct amx_timing_core *core, const struct amx_batch *batch, uint32_t from,
                         uint32_t to, int64_t arrived, int64_t step);
/* Sends the loop that begins at instruction `from`, if one does, and advances *arrived. Returns the first instruction after it,
 * or `from` when there is no loop. */
uint32_t amx_send_loop(struct amx_block *block, struct amx_timing_core *core, const struct amx_batch *batch, uint32_t from,
                       int64_t *arrived, int64_t step);

/* Sends a loop whose passes are known. */
void amx_send_passes(struct amx_block *block, struct amx_timing_core *core, const struct amx_passes *passes, enum amx_gen gen,
                     int64_t *arrived, int64_t step);

/* The memory side: returns the in-order start of the instruction, and its reason when that is later than `start`. */
int64_t amx_timing_load(struct amx_block *block, struct amx_timing_core *core, int64_t arrived, int64_t start, uint64_t operand,
                        const struct amx_memo *memo, enum amx_stall *reason);
/* The memory system's answer to a load requested at `asked`. */
struct amx_answer amx_timing_ask(const struct amx_block *block, const struct amx_timing_core *core, int64_t asked,
                                 uint64_t operand, uint32_t bytes);
/* Repeat a load whose times are known, apart from the memory system's answer. The first function returns whether the load takes a
 * request of its own. The second one gets the answer to a request at load->asked (from block->answer if it is known already) and
 * returns false when the load would have to wait for a store or an earlier load. Both update block->loaded and core->coming. */
bool amx_timing_load_requests(struct amx_timing_core *core, uint64_t operand, const struct amx_memo *memo);
bool amx_timing_load_again(struct amx_block *block, const struct amx_timing_core *core, uint64_t operand,
                           const struct amx_memo *memo, struct amx_recorded_load *load);
int64_t amx_timing_store(struct amx_block *block, struct amx_timing_core *core, int64_t start, uint64_t operand,
                         const struct amx_memo *memo, enum amx_stall *reason);

/* The scoreboard of Z (amx_timing_rows.c has the rare cases). */
int64_t amx_rows_gather(const struct amx_timing_core *core, uint64_t rows, unsigned *lanes);
void amx_rows_regroup(struct amx_timing_core *core, uint64_t rows, int64_t ready, unsigned lanes);

/* When rows may be used, and in which lanes they were last written. */
static inline int64_t amx_rows_ready(const struct amx_timing_core *core, const struct amx_memo *memo, unsigned *lanes)
{
    const struct amx_rows *group = &core->rows[memo->slot];
    if (__builtin_expect(group->rows != memo->rows, 0))
        return amx_rows_gather(core, memo->rows, lanes);
    *lanes = group->lane;
    return group->ready;
}

static inline void amx_rows_write(struct amx_timing_core *core, const struct amx_memo *memo, int64_t ready, unsigned lanes)
{
    struct amx_rows *group = &core->rows[memo->slot];
    if (__builtin_expect(group->rows != memo->z_write, 0)) {
        amx_rows_regroup(core, memo->z_write, ready, lanes);
        return;
    }
    group->ready = amx_later(group->ready, ready);
    group->lane = (uint8_t)lanes;
}

static inline int64_t amx_registers_ready(const struct amx_timing_core *core, unsigned registers)
{
    int64_t ready = 0;
    for (; registers; registers &= registers - 1)
        ready = amx_later(ready, core->register_ready[__builtin_ctz(registers)]);
    return ready;
}

static inline void amx_registers_write(struct amx_timing_core *core, unsigned registers, int64_t ready)
{
    if (!registers)
        return;
    for (; registers; registers &= registers - 1)
        core->register_ready[__builtin_ctz(registers)] = ready;
    core->registers_pending = amx_later(core->registers_pending, ready);
}

#endif
