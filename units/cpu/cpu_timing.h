/* A CPU core's timing: reads the traces that a core leaves (cpu_trace.h). Models dispatch width, ports by instruction class,
 * dependences through registers and flags, re-order window, branch prediction, caches through units/mem, and AMX issue. No data
 * values.
 *
 * Inside, time is whole cycles of the core's clock; at this boundary it is nanoseconds. Figures: dougallj/applecpu (Firestorm,
 * Icestorm). Instructions are read in program order and placed on a scoreboard. Blocks that start from a state seen before and
 * find their data in L1 are remembered instead of placed again (cpu_timing_set_memo): that changes speed, never results.
 */
#ifndef ORCHARD_UNITS_CPU_CPU_TIMING_H
#define ORCHARD_UNITS_CPU_CPU_TIMING_H

#include "power/activity.h"
#include "units/cpu/cpu_params.inc"
#include "units/cpu/cpu_trace.h"
#include "units/mem/mem_timing.h"
#include "units/unit_params.h"
#include "units/unit_watch.h"
#include "units/unit_words.h"

/* Where a micro-operation of a class may execute; CPU_PORTS_NONE: it needs no port. */
enum cpu_port_group {
#define X(enumerator, name) CPU_PORTS_##enumerator,
    CPU_PORT_TABLE(X)
#undef X
        CPU_PORTS_NONE,
    CPU_PORT_GROUP_COUNT
};

struct cpu_class_params {
#define X(class, ...) PARAM_FIELD(__VA_ARGS__)
    CPU_CLASS_PARAMS(X, )
#undef X
};
struct cpu_params {
    CPU_PARAMS(PARAM_FIELD)
    uint32_t port_count[CPU_PORT_GROUP_COUNT];
    struct cpu_class_params cls[A64_CLASS_COUNT];
};

/* clang-format off */
#define CPU_STALL_TABLE(X) \
    X(DISPATCH, "dispatch", "limited by the dispatch width") \
    X(PORTS, "ports", "execution ports of one class are full") \
    X(DEPENDENCY, "dependency", "chains of dependent instructions") \
    X(L1, "l1", "waits for L1 data") \
    X(L2, "l2", "waits for the cluster's L2") \
    X(SLC, "slc", "waits for the system-level cache") \
    X(DRAM, "dram", "waits for DRAM") \
    X(BRANCH, "branch", "mispredicted branches") \
    X(AMX, "amx", "the AMX queue is full or stored data are not there yet") \
    X(IDLE, "idle", "no thread was ready to run on the core")
/* clang-format on */

enum cpu_stall {
#define X(name, key, text) CPU_STALL_##name,
    CPU_STALL_TABLE(X)
#undef X
        CPU_STALL_COUNT
};
const char *cpu_stall_name(enum cpu_stall stall);

/* Timing of AMX instructions. `send` returns when the next one may be sent. */
struct cpu_amx_link {
    double (*send)(void *context, double sent_ns, unsigned op, uint64_t operand);
    double (*stores_done_at)(void *context); /* time at which AMX stores so far are visible to loads */
    void *context;
    void (*skip)(void *context, unsigned op, uint64_t operand); /* counts one that is not timed; NULL = such words vanish */
    /* The same as `send` for words one after another, up to the first with another answer than expected, whose cycle is stored.
     * Returns how many were answered as expected. NULL: they are sent one by one. */
    uint32_t (*send_words)(void *context, const struct unit_words *words, uint64_t *answered);
};

struct cpu_timing;

/* `port` stays the caller's; it may be NULL, and every load then takes the latency of its class. `address_tag` is added to
 * addresses. NULL when memory is out or a width, window, queue or clock is zero. */
struct cpu_timing *cpu_timing_create(const struct cpu_params *params, struct mem_port *port, uint64_t address_tag);
void cpu_timing_free(struct cpu_timing *timing);
void cpu_timing_set_amx(struct cpu_timing *timing, const struct cpu_amx_link *link);
void cpu_timing_set_clock(struct cpu_timing *timing, double clock_ghz);

/* Another tag from now on: the core shares its addresses with others. */
void cpu_timing_set_tag(struct cpu_timing *timing, uint64_t address_tag);

void cpu_timing_set_memo(struct cpu_timing *timing, bool on); /* on when created */
/* Reports every instruction from now on, as of core `number`, and switches the memo off. NULL ends the reports. */
void cpu_timing_set_watch(struct cpu_timing *timing, const struct unit_watch *watch, unsigned number);
/* Blocks timed so far, and how many of them were remembered. */
void cpu_timing_memo_counters(const struct cpu_timing *timing, uint64_t *blocks, uint64_t *remembered);

/* Hands over a trace to read. It must stay unchanged until cpu_timing_pending() is false. Blocks must keep their address and
 * contents until the next cpu_timing_restart has returned, or until cpu_timing_forget_blocks. */
void cpu_timing_feed(struct cpu_timing *timing, const struct cpu_trace *trace);
/* Allows the blocks fed so far to go away; what they did stays counted. */
void cpu_timing_forget_blocks(struct cpu_timing *timing);
bool cpu_timing_pending(const struct cpu_timing *timing);
/* Reads on until local time passes `limit_ns` or the trace is used up. */
void cpu_timing_advance(struct cpu_timing *timing, double limit_ns);
/* Reads the trace to its end without timing it: no time passes and nothing stalls, while caches, translations, the branch
 * predictor and all counts of instructions and accesses end up as if it had been timed. */
void cpu_timing_skip(struct cpu_timing *timing);
/* From now on, or no longer, accesses of skipped blocks are written down, and reach the caches when the core catches up: only the
 * latest ones then, as many as fill the caches, which count for the others as well. AMX words end it. */
void cpu_timing_defer(struct cpu_timing *timing, bool on);
/* To be called before anything is timed or any count of the memory system is read. */
void cpu_timing_catch_up(struct cpu_timing *timing);
/* Leaves caches and translations as if so many bytes had been read, in no time; a restart forgets that they were counted. */
void cpu_timing_touch(struct cpu_timing *timing, uint64_t address, uint64_t bytes);
/* Adds scalar work that is known only by its amount (in-process kernels): `instructions` dispatched back to back. */
void cpu_timing_work(struct cpu_timing *timing, uint64_t instructions);

/* Keeps the core idle until `until_ns` (no effect when that has passed); the time is charged to `reason`. */
void cpu_timing_wait_until(struct cpu_timing *timing, double until_ns, enum cpu_stall reason);
/* Lets so much time pass behind all that was done, as if what was skipped had been timed; it is charged to the reasons in
 * proportion to `stall`. */
void cpu_timing_pass(struct cpu_timing *timing, double ns, const double stall[CPU_STALL_COUNT]);

double cpu_timing_now(const struct cpu_timing *timing);     /* dispatch time of the next instruction */
double cpu_timing_done_at(const struct cpu_timing *timing); /* everything so far has retired */
uint64_t cpu_timing_instructions(const struct cpu_timing *timing);
/* Cycles from start to cpu_timing_done_at, by reason; they add up to *total. */
void cpu_timing_stalls(const struct cpu_timing *timing, double cycles[CPU_STALL_COUNT], double *total);
void cpu_timing_take_activity(struct cpu_timing *timing, struct activity *into);
uint64_t cpu_timing_branches(const struct cpu_timing *timing, uint64_t *mispredicted);
/* Forgets everything in flight and every count; the branch predictor keeps what it has learned. */
void cpu_timing_restart(struct cpu_timing *timing, double now_ns);

#endif
