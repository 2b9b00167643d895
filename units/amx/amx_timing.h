/* AMX, timing: one block per CPU cluster, shared by the cluster's cores. Each core has its own X/Y/Z and in-order queue; the
 * outer-product array and the load/store path are shared. No data values.
 *
 * Inside, time is counted in cycles of the block's clock; at this boundary it is nanoseconds. Model and figures: github
 * corsix/amx (fma.md, mac16.md, matfp.md, vecfp.md, issues 6 and 7), zhen8838 (loads).
 */
#ifndef ORCHARD_UNITS_AMX_AMX_TIMING_H
#define ORCHARD_UNITS_AMX_AMX_TIMING_H

#include "isa/amx/amx_isa.h"
#include "power/activity.h"
#include "units/amx/amx_params.inc"
#include "units/amx/amx_passes.h"
#include "units/mem/mem_timing.h"
#include "units/unit_params.h"
#include "units/unit_watch.h"
#include "units/unit_words.h"

struct amx_params {
    AMX_PARAMS(PARAM_FIELD)
};

/* Why the block did not start the next instruction of a core earlier; each cycle of a core's run has one reason. */
/* clang-format off */
#define AMX_STALL_TABLE(X) \
    X(ARRAY, "array", "the array works on this core's instructions") \
    X(SHARED, "shared", "the array works on another core's instructions") \
    X(Z_DEPENDENCY, "z_dependency", "waits for the accumulator's previous instruction") \
    X(LOAD_DATA, "load_data", "waits for data of a load") \
    X(LOAD_PORT, "load_port", "the load path is busy") \
    X(STORE, "store", "the store path is busy or waits for Z") \
    X(ISSUE, "issue", "limit of instructions one core starts per cycle, the array not working") \
    X(CPU, "cpu", "the CPU core has not sent the next instruction") \
    X(SETCLR, "setclr", "enabling or disabling the unit") \
    X(DRAIN, "drain", "pipeline latency after the last instruction")
/* clang-format on */

enum amx_stall {
#define X(name, key, text) AMX_STALL_##name,
    AMX_STALL_TABLE(X)
#undef X
        AMX_STALL_COUNT
};
const char *amx_stall_name(enum amx_stall stall);

/* Effects by operand, direct-mapped: callers keep one cache per core, so that a loop decodes each operand once. */
#define AMX_EFFECT_CACHE_SLOTS 256
struct amx_effect_slot {
    uint64_t operand; /* without pointer bits */
    uint32_t tag;     /* op and generation + 1; 0 = empty */
    struct amx_effect effect;
};
struct amx_effect_cache {
    struct amx_effect_slot slot[AMX_EFFECT_CACHE_SLOTS];
};

/* Decodes into *slot: the slow half of amx_effect_cached. */
const struct amx_effect *amx_effect_fill(struct amx_effect_slot *slot, unsigned op, uint64_t operand, enum amx_gen gen);

/* Returns the effect of (op, operand); valid until another operand takes the slot. A zero-filled cache is empty. */
static inline const struct amx_effect *amx_effect_cached(struct amx_effect_cache *cache, unsigned op, uint64_t operand,
                                                         enum amx_gen gen)
{
    const uint64_t fields = operand & ~amx_pointer_mask(op);
    const uint64_t hash = (fields ^ (uint64_t)op << 40) * UINT64_C(0x9E3779B97F4A7C15);
    struct amx_effect_slot *slot = &cache->slot[hash >> 56];
    if (slot->operand == fields && slot->tag == ((uint32_t)op << 8 | ((uint32_t)gen + 1)))
        return &slot->effect;
    return amx_effect_fill(slot, op, fields, gen);
}

struct amx_block;

/* NULL when memory is out. `cores` share the block. */
struct amx_block *amx_block_create(const struct amx_params *params, unsigned cores);
void amx_block_free(struct amx_block *block);
/* Sets the port through which a core's AMX loads and stores go; NULL = ideal memory (unit tests). */
void amx_block_set_port(struct amx_block *block, unsigned core, struct mem_port *port, uint64_t address_tag);
void amx_block_set_clock(struct amx_block *block, double clock_ghz);

/* Sends one instruction that left the CPU at `sent_ns`, with an effect from amx_effect_of. Returns the time at which the CPU may
 * send the core's next one (later than sent_ns only when the queue is full). Calls for one core come in program order, over all
 * cores in roughly rising time. */
double amx_block_send(struct amx_block *block, unsigned core, double sent_ns, unsigned op, uint64_t operand,
                      const struct amx_effect *effect);
/* The same, but decodes by itself and remembers, per core, what each operand costs. The faster of the two. */
double amx_block_send_cached(struct amx_block *block, unsigned core, double sent_ns, unsigned op, uint64_t operand,
                             enum amx_gen gen);

/* The same for words that leave the CPU as they did before, up to the first whose next one may leave in another cycle than then:
 * that one is sent as well, and *answered is the cycle. Returns how many were answered as before. */
uint32_t amx_block_send_words(struct amx_block *block, unsigned core, const struct unit_words *words, enum amx_gen gen,
                              uint64_t *answered);

/* Instructions that leave the CPU one after another, step_ns apart when the queue has room. */
struct amx_batch {
    const uint8_t *op;
    const uint64_t *operand;
    uint32_t count;
    enum amx_gen gen;
    double step_ns;
};
/* Sends a batch whose first instruction leaves the CPU at `sent_ns`. Returns when the next one can leave. Loops in it are
 * recognised, and periods that repeat exactly are accounted for at once: this changes no time, no stall and no counter. */
double amx_block_send_batch(struct amx_block *block, unsigned core, const struct amx_batch *batch, double sent_ns);
/* The same for a loop that is written down once. */
double amx_block_send_passes(struct amx_block *block, unsigned core, const struct amx_passes *passes, enum amx_gen gen,
                             double step_ns, double sent_ns);
/* Count instructions that are not timed; no time passes. Loads and stores reach the caches. The memory system's time must stand
 * still (mem_port_stop). */
void amx_block_skip(struct amx_block *block, unsigned core, double now_ns, unsigned op, uint64_t operand, enum amx_gen gen);
void amx_block_skip_passes(struct amx_block *block, unsigned core, double now_ns, const struct amx_passes *passes,
                           enum amx_gen gen);
/* Turns that recognition off or on (on at creation), for comparisons. */
void amx_block_set_repeats(struct amx_block *block, bool on);
/* Reports every instruction from now on, by its core of the block, and turns the recognition of loops off. NULL ends the reports.
 * `done` is when the instruction's results are ready or, where others decide that, when it leaves its lane. */
void amx_block_set_watch(struct amx_block *block, const struct unit_watch *watch);
/* Instructions of batches that were accounted for as repetitions since the last restart. */
uint64_t amx_block_repeated(const struct amx_block *block);

/* Time at which everything sent by this core is complete. */
double amx_block_idle_at(const struct amx_block *block, unsigned core);
/* Time at which the core's stores so far are visible to its CPU. */
double amx_block_stores_done_at(const struct amx_block *block, unsigned core);

/* Block cycles of a core from its first instruction to completion, by reason; they add up to *total. */
void amx_block_stalls(const struct amx_block *block, unsigned core, double cycles[AMX_STALL_COUNT], double *total);
/* Lets the time of a core's instructions pass until then, as if what was skipped had been timed; it is charged to the reasons in
 * proportion to `stall`. */
void amx_block_pass(struct amx_block *block, unsigned core, double until_ns, const double stall[AMX_STALL_COUNT]);
uint64_t amx_block_instructions(const struct amx_block *block, unsigned core);
void amx_block_take_activity(struct amx_block *block, struct activity *into);
/* Forgets history; clocks start at now_ns (the border between warm-up and run). */
void amx_block_restart(struct amx_block *block, double now_ns);

#endif
