/* The parts of a core's timing, for the cpu_timing*.c files.
 *
 * plan: what a block costs, computed once (cpu_timing_plan.c). board: the scoreboard that plans are placed on
 * (cpu_timing_board.c). memo: states of the board seen before and what blocks did to them (cpu_timing_state.c,
 * cpu_timing_memo.c).
 */
#ifndef ORCHARD_UNITS_CPU_CPU_TIMING_INTERNAL_H
#define ORCHARD_UNITS_CPU_CPU_TIMING_INTERNAL_H

#include "isa/amx/amx_isa.h"
#include "units/cpu/cpu_timing.h"
#include "units/cpu/cpu_timing_predict.h"
#include "units/mem/mem_fast.h"

/* ---- plans ---- */

enum cpu_op_kind {
    CPU_OP_LOAD = 1,
    CPU_OP_STORE = 2,
    CPU_OP_AMX = 4,
    CPU_OP_AMX_STORE = 8,
    CPU_OP_WRITEBACK = 16,
    CPU_OP_STREAM = 32,  /* no-reuse hint */
    CPU_OP_POINTER = 64, /* its result may feed the next load's base early */
    CPU_OP_SYNC = 128    /* DSB: nothing goes on before the stores so far are visible */
};

enum { CPU_REG_NONE = A64_DEP_COUNT, CPU_REG_COUNT }; /* a register that is always ready */

struct cpu_op {
    uint8_t uops, group, kind, bytes;
    uint8_t hold;     /* cycles a micro-operation keeps its port */
    uint8_t l1_parts; /* of the L1's width that a micro-operation takes */
    uint8_t base;     /* base register of loads and stores */
    uint8_t amx_op;
    uint8_t src[4], dst[3];
    uint8_t operands; /* how many of src, and above 4 bits of dst, have to be looked at */
    uint16_t latency; /* for loads: what the class adds to a plain load */
    uint32_t pc_offset;
};

enum cpu_branch_kind {
    CPU_BRANCH_NONE,
    CPU_BRANCH_DIRECT,
    CPU_BRANCH_CALL,
    CPU_BRANCH_CONDITIONAL,
    CPU_BRANCH_INDIRECT,
    CPU_BRANCH_INDIRECT_CALL,
    CPU_BRANCH_RETURN
};

/* A load, store or AMX word of a block. */
struct cpu_access {
    uint8_t kind;  /* enum mem_access_kind, or CPU_ACCESS_AMX */
    uint8_t bytes; /* or the AMX op */
    bool also_stores;
    uint32_t pc_offset;
};
#define CPU_ACCESS_AMX 255

struct cpu_plan {
    uint64_t pc, end_pc; /* first instruction; end of the last one */
    uint32_t count, addresses;
    enum cpu_branch_kind branch;
    bool has_amx, has_sync;
    bool only_words;           /* its accesses are AMX words that do not store */
    bool stale;                /* its block may be gone: the plan must be compared before it is used again */
    uint64_t runs;             /* complete runs since activity was last taken */
    struct activity once;      /* what one complete run does */
    struct cpu_access *access; /* `addresses` of them, behind the operations */
    struct cpu_op op[];
};

struct cpu_timing;
/* Returns the plan of a block, made at the first request; NULL when memory is out. */
struct cpu_plan *cpu_plan_of(struct cpu_timing *timing, const struct cpu_block *block); /* quickly: cpu_plan_near, below */
void cpu_plan_forget(struct cpu_timing *timing);
/* Allows blocks to go away. A plan is kept for a block of the same number that turns out to need the same one. */
void cpu_plan_part(struct cpu_timing *timing);
/* Adds what the first `count` instructions of a block do. */
void cpu_plan_activity(const struct cpu_block *block, uint32_t count, struct activity *into);
/* Adds what the complete runs so far did and restarts their count. Afterwards plans do not need their blocks any more. */
void cpu_plan_settle(struct cpu_plan *plan, struct activity *into);

/* ---- the board ---- */

/* Port use per cycle, for cycles near `now`. Later cycles are not contended. A power of two. */
#define CPU_CALENDAR        4096
#define CPU_CALENDAR_GROUPS 16
enum { CPU_GROUP_MEMORY = CPU_PORT_GROUP_COUNT, CPU_GROUP_AMX, CPU_GROUP_L1, CPU_GROUP_COUNT, CPU_GROUP_NONE = 255 };
/* What the L1 moves in a cycle, loads and stores together, in parts of so many bytes: a place of CPU_GROUP_L1 each. */
#define CPU_L1_PART      8
#define CPU_L1_PARTS_MAX 8 /* of one micro-operation */
_Static_assert(CPU_GROUP_COUNT <= CPU_CALENDAR_GROUPS, "a byte per group and cycle");

/* Stores that loads may have to wait for or take their data from, by 16-byte granule. */
#define CPU_FORWARDS 1024
struct cpu_forward {
    uint64_t granule; /* address / 16, + 1; 0 = empty */
    uint64_t addr;
    uint64_t data_cycle, commit_cycle;
    uint32_t bytes;
};

/* The last store, and whether the one before it wrote the same bytes. */
struct cpu_youngest {
    uint64_t addr;
    uint32_t bytes;
    bool again;
};

/* Lines that AMX stores may not have written yet. */
#define CPU_AMX_LINES 256

struct cpu_board {
    uint64_t now;         /* dispatch cycle of the next instruction */
    uint32_t slots;       /* used in that cycle */
    uint64_t taken_cycle; /* last cycle in which the target of a taken branch could start, and how many did */
    uint32_t taken;
    uint64_t redirect;     /* the front end delivers nothing before this cycle (mispredicted branch) */
    uint64_t branch_issue; /* issue of the last block's branch */
    uint64_t last_retire, last_commit, amx_next;
    uint64_t ready[CPU_REG_COUNT + 1];
    uint8_t cause[CPU_REG_COUNT + 1];
    uint8_t early[CPU_REG_COUNT + 1];     /* cycles by which a load's base may be used before `ready` */
    uint64_t instructions, loads, stores; /* dispatched: positions in the rings */
    uint64_t *retired;                    /* ring: retire cycles */
    uint64_t *load_done, *store_done;
    uint8_t *store_cause;
    uint32_t retired_mask, load_mask, store_mask;
    uint64_t calendar_far;              /* no port is used from this cycle on */
    uint64_t open[CPU_CALENDAR_GROUPS]; /* per group: all earlier cycles are full */
    uint8_t (*calendar)[CPU_CALENDAR_GROUPS];
    uint64_t stall[CPU_STALL_COUNT];
};

/* An access of a block that can be remembered; cycles count from the block's start. An AMX word is one, too: the answer tells
 * when the next one may be sent. */
struct cpu_memo_access {
    uint32_t when, data; /* time of the request; time of a store's data */
    uint32_t cycles;     /* from then to the answer */
    uint32_t pc_offset;
    uint8_t bytes, kind; /* kind: enum mem_access_kind, or CPU_ACCESS_AMX, where bytes is the AMX op */
    uint8_t level;       /* enum mem_level of the answer */
};
#define CPU_MEMO_CYCLES_MAX (1 << 24) /* slower answers are not remembered */

/* The memory system's answer to an access: the cycle in which data are ready (loads) or were accepted (stores). The AMX block's:
 * the cycle from which on it takes the next word. */
struct cpu_answer {
    uint64_t cycle;
    enum mem_level level;
};

#define CPU_LOG_MAX 128 /* accesses of a block that can be remembered */

#define CPU_SKIP_LINES 128 /* no more than an L1 has sets, so that lines of a set share a place */
#define CPU_SKIP_WAYS  4   /* lines in such a place: arrays often begin at the same set; fewer than an L1 has ways */

struct cpu_memo;
struct cpu_later;

struct cpu_timing {
    struct cpu_params params;
    struct mem_port *port;
    uint64_t address_tag;
    bool has_amx;
    struct cpu_amx_link amx;

    struct unit_clock clock;
    uint64_t start_cycle;
    uint32_t l1_cycles;                                                     /* latency of a plain load that hits */
    uint32_t mispredict_cycles, forward_cycles, store_cycles, pointer_gain; /* store_cycles: from its issue to its data */
    uint8_t capacity[CPU_CALENDAR_GROUPS];
    uint8_t parent[CPU_CALENDAR_GROUPS];                       /* whose places the work of a group takes as well */
    uint8_t chain[CPU_CALENDAR_GROUPS][CPU_CALENDAR_GROUPS];   /* per group: 1 for itself and those above it */
    uint8_t l1_row[CPU_L1_PARTS_MAX + 1][CPU_CALENDAR_GROUPS]; /* per number of parts: so many places of CPU_GROUP_L1 */

    struct cpu_board board;
    struct cpu_predict predict;
    struct cpu_forward *forward;
    struct cpu_youngest youngest;
    uint64_t amx_line[CPU_AMX_LINES];
    bool amx_pending; /* some of them are set */

    struct cpu_plan **plan; /* by block id */
    uint32_t plan_capacity;

    const struct cpu_trace *trace;
    uint32_t trace_block, trace_address;
    uint32_t expected, expected_soon, expected_victims; /* addresses of the trace that the host has been told of */
    const struct cpu_plan *last;                        /* the plan whose branch is not resolved yet */

    struct cpu_memo *memo;
    bool memo_on;
    const struct unit_watch *watch; /* NULL = no observer */
    unsigned number;                /* number of this core, for the observer */
    /* What the block being placed did, for the memo. */
    bool clean; /* nothing but states and answers influenced it */
    uint64_t block_start;
    uint32_t log_count;
    struct cpu_memo_access log[CPU_LOG_MAX];
    /* Accesses at the head of the block that the memory system answered while the memo was tried. */
    uint32_t answers, answers_used;
    struct cpu_answer answer[CPU_LOG_MAX];

    struct cpu_skip_run {
        uint64_t begin, end, pc; /* addresses; empty when equal */
        enum mem_access_kind kind;
    } skip_run; /* stores side by side that wait to be made as one */
    /* By a line's low bits: lines that were touched lately, as 2 (line + 1) + (written), and which of them leaves next. */
    struct cpu_skip_set {
        uint64_t line[CPU_SKIP_WAYS];
        uint32_t next;
    } skip_set[CPU_SKIP_LINES];

    struct cpu_later *later; /* NULL: accesses of skipped blocks were never deferred */
    bool defers;

    uint64_t instructions, blocks, remembered;
    uint64_t branches, mispredicts, activity_mispredicts;
    struct activity activity;
};

static inline struct cpu_plan *cpu_plan_near(struct cpu_timing *t, const struct cpu_block *block)
{
    struct cpu_plan *const plan = block->id < t->plan_capacity ? t->plan[block->id] : NULL;
    return plan && !plan->stale ? plan : cpu_plan_of(t, block);
}

/* How many addresses ahead the host is told of an access that may miss: of its sets, of the ways in them, of what the lines that
 * it displaces need. Each distance leaves the host's memory enough time. */
#define CPU_EXPECT        24
#define CPU_EXPECT_SOON   16
#define CPU_EXPECT_VICTIM 8

void cpu_look_ahead(struct cpu_timing *t);

/* Before each block: looks ahead while accesses miss L2. */
static inline void cpu_expect(struct cpu_timing *t)
{
    if (__builtin_expect(t->port && mem_port_misses_l2(t->port), 0))
        cpu_look_ahead(t);
}

/* cpu_timing_later.c. Writes an access down that is made later. */
void cpu_later_note(struct cpu_later *later, uint64_t addr, uint32_t bytes, enum mem_access_kind kind, uint64_t pc);
void cpu_later_free(struct cpu_later *later);

/* Counts that the first `count` instructions of a block ran; its branch is the last one now. */
static inline void cpu_block_done(struct cpu_timing *t, struct cpu_plan *plan, const struct cpu_block *block, uint32_t count)
{
    const bool whole_block = count == plan->count;
    if (whole_block)
        plan->runs++;
    else
        cpu_plan_activity(block, count, &t->activity);
    t->blocks++;
    t->instructions += count;
    t->last = whole_block ? plan : NULL;
}

static inline double cpu_ns_of(const struct cpu_timing *t, uint64_t cycle)
{
    return unit_ns_of(&t->clock, cycle);
}

static inline uint64_t cpu_cycle_of(const struct cpu_timing *t, double ns)
{
    return unit_cycle_of(&t->clock, ns);
}

/* Sends an access to the memory system. */
static inline struct cpu_answer cpu_ask(struct cpu_timing *t, uint64_t at, uint64_t addr, uint32_t bytes,
                                        enum mem_access_kind kind, uint64_t pc)
{
    uint64_t hit = kind == MEM_ACCESS_LOAD ? at + t->l1_cycles : at;
    double ns = cpu_ns_of(t, at);
    if (kind != MEM_ACCESS_LOAD && t->port) {
        const double turn_ns = mem_port_store_turn(t->port, ns, bytes);
        if (turn_ns > ns)
            hit = cpu_cycle_of(t, ns = turn_ns);
    }
    if (!t->port || mem_port_l1_hit(t->port, ns, addr, bytes, kind != MEM_ACCESS_LOAD))
        return (struct cpu_answer){hit, MEM_L1};
    struct mem_reply reply;
    if (!mem_port_l1_coming(t->port, ns, addr, bytes, kind != MEM_ACCESS_LOAD, &reply))
        reply = mem_port_access_beyond(t->port, ns, addr, bytes, kind, pc);
    const uint64_t cycle = cpu_cycle_of(t, reply.ready_ns);
    return (struct cpu_answer){cycle > hit ? cycle : hit, reply.level};
}

/* Sends an AMX word to the block. */
static inline struct cpu_answer cpu_ask_amx(struct cpu_timing *t, uint64_t at, unsigned op, uint64_t operand)
{
    if (!t->has_amx)
        return (struct cpu_answer){at, MEM_L1};
    const double sent_ns = cpu_ns_of(t, at), next_ns = t->amx.send(t->amx.context, sent_ns, op, operand);
    const uint64_t next = next_ns > sent_ns ? cpu_cycle_of(t, next_ns) : at;
    return (struct cpu_answer){next > at ? next : at, MEM_L1};
}

bool cpu_board_init(struct cpu_timing *timing);
void cpu_board_release(struct cpu_timing *timing);
/* Resets the board: everything is idle from cycle `now` on. */
void cpu_board_reset(struct cpu_timing *timing, uint64_t now);
/* Places the first `count` instructions of a plan. */
void cpu_board_run(struct cpu_timing *timing, const struct cpu_plan *plan, uint32_t count, const uint64_t *address);
/* The same, reporting each instruction to timing->watch. */
void cpu_board_run_watched(struct cpu_timing *timing, const struct cpu_plan *plan, const struct cpu_block *block, uint32_t count,
                           const uint64_t *address);
/* Places `count` independent one-cycle instructions. */
void cpu_board_work(struct cpu_timing *timing, uint64_t count);
/* Resolves the branch at the end of the last block: it went `taken`, and the guess was right or not. */
void cpu_board_resolve(struct cpu_timing *timing, bool taken, bool mispredicted);

/* Moves dispatch to a later cycle. Where no port is used, rows of the calendar are blank already. */
static inline void cpu_board_advance(struct cpu_board *b, uint64_t to)
{
    const uint64_t end = to < b->calendar_far ? to : b->calendar_far;
    for (uint64_t c = b->now; c < end; c++)
        __builtin_memset(b->calendar[c % CPU_CALENDAR], 0, sizeof b->calendar[0]);
    b->now = to;
    b->slots = 0;
}

static inline void cpu_store_next(struct cpu_timing *t, uint64_t addr, uint32_t bytes)
{
    t->youngest = (struct cpu_youngest){addr, bytes, t->youngest.addr == addr && t->youngest.bytes == bytes};
}

/* Returns the entry that covers a granule of [addr, addr+bytes) and is still under way at `cycle`, or NULL. */
static inline struct cpu_forward *cpu_forward_find(struct cpu_timing *t, uint64_t addr, uint32_t bytes, uint64_t cycle)
{
    for (uint64_t g = addr >> 4; g <= (addr + bytes - 1) >> 4; g++) {
        struct cpu_forward *f = &t->forward[g % CPU_FORWARDS];
        if (f->granule == g + 1 && f->commit_cycle > cycle && f->addr < addr + bytes && addr < f->addr + f->bytes)
            return f;
    }
    return NULL;
}

/* True for AMX words that write memory. */
static inline bool cpu_amx_stores(unsigned op)
{
    return op == AMX_STX || op == AMX_STY || op == AMX_STZ || op == AMX_STZI;
}

/* The lines that an AMX store writes: the first and the last one. */
static inline uint64_t cpu_amx_lines(const struct cpu_timing *t, uint64_t operand, uint64_t *last)
{
    const uint64_t addr = (operand & AMX_ADDRESS_MASK) + t->address_tag;
    const uint64_t bytes = operand >> 62 & 1 ? 128 : 64;
    *last = (addr + bytes - 1) / MEM_LINE_BYTES;
    return addr / MEM_LINE_BYTES;
}

/* True for lines that an AMX store may write soon: loads from there wait. */
static inline bool cpu_amx_line_waits(const struct cpu_timing *t, uint64_t addr, uint32_t bytes)
{
    for (uint64_t line = addr / MEM_LINE_BYTES; line <= (addr + bytes - 1) / MEM_LINE_BYTES; line++)
        if (t->amx_line[line % CPU_AMX_LINES] == line + 1)
            return true;
    return false;
}

enum { CPU_OUTCOME_TAKEN = 1, CPU_OUTCOME_WRONG = 2 };

/* Resolves the branch at the end of the last block, now that the next block is known, and teaches the predictor. */
unsigned cpu_branch_outcome(struct cpu_timing *timing, uint64_t next_pc);

/* ---- states ---- */

/* The largest number of words that a state can have. */
uint32_t cpu_state_words_max(const struct cpu_timing *timing);
/* Returns a number that equal states share and few others, quickly. */
uint64_t cpu_state_glance(const struct cpu_timing *timing);
/* The same, with fewer other states that share it, but more slowly. */
uint64_t cpu_state_look(const struct cpu_timing *timing);
/* Returns the number of words that it wrote. */
uint32_t cpu_state_write(const struct cpu_timing *timing, uint32_t *words);
/* The board's calendar must be blank. */
void cpu_state_read(struct cpu_timing *timing, const uint32_t *words);
/* Blanks the calendar. */
void cpu_state_rest(struct cpu_board *board);

/* ---- the memo ---- */

bool cpu_memo_init(struct cpu_timing *timing);
void cpu_memo_release(struct cpu_timing *timing);
/* Forgets all states. */
void cpu_memo_clear(struct cpu_timing *timing);
/* Makes the board's arrays current; they are out of date while blocks are remembered. */
void cpu_memo_leave(struct cpu_timing *timing);
/* Takes a whole block from memory. When false, the block must be placed; its first accesses may be answered already
 * (timing->answers). */
bool cpu_memo_step(struct cpu_timing *timing, const struct cpu_plan *plan, unsigned outcome, const uint64_t *address);
/* Called before (the board becomes current) and after placing a block that may be remembered. `outcome` is that of the branch
 * before the block. */
void cpu_memo_begin(struct cpu_timing *timing);
void cpu_memo_end(struct cpu_timing *timing, const struct cpu_plan *plan, unsigned outcome);

#endif
