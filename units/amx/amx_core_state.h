/* The inside of struct amx_core, shared by the amx_core*.c files only.
 *
 * X and Y are renamed: each pool is a ring of 64-byte slots, and slot[n] tells where register n is. A load writes a fresh slot at
 * once, so that memory is read in program order, while queued outer products keep pointing to the slots they were issued with.
 * The first eight slots of a ring, taken as 512 bytes, are the architectural pool whenever register n is in slot n for all n
 * ("settled"); the plain implementation runs on settled pools only.
 */
#ifndef ORCHARD_UNITS_AMX_AMX_CORE_STATE_H
#define ORCHARD_UNITS_AMX_AMX_CORE_STATE_H

#include "units/amx/amx_core.h"
#include "units/amx/amx_exec_decode.h"
#include "units/amx/amx_exec_ldst.h"
#include "units/amx/amx_kernel_sets.h"

#define AMX_RING_SLOTS     136
#define AMX_RING_BYTES     (AMX_RING_SLOTS * AMX_ROW_BYTES)
#define AMX_QUEUE_LIMIT    64 /* outer products of one accumulator that wait; one batch */
#define AMX_QUEUE_BYTES    (AMX_QUEUE_LIMIT * sizeof(struct amx_pair))
#define AMX_ACCUMULATORS   8
#define AMX_DECODE_ENTRIES 256 /* a power of two */
#define AMX_LOOP_LENGTH    64  /* longest loop body that is looked for */

typedef bool amx_handler(struct amx_core *core, unsigned op, uint64_t operand, struct unit_fault *fault);
typedef size_t amx_list_runner(struct amx_core *core, const uint8_t *op, const uint64_t *operand, size_t count,
                               struct unit_fault *fault);

/* The hot half of the fast path, built once per host instruction set (amx_core_dispatch_*.c). */
struct amx_dispatch {
    amx_handler *handlers[AMX_OP_COUNT];
    amx_list_runner *run_list;
    bool (*run_passes)(struct amx_core *core, const struct amx_passes *passes); /* false: nothing is done, run them as lists */
};

/* The common properties of queued work, kind of outer product and flags, in one number. 0 = none. */
static inline uint32_t amx_outer_key(enum amx_outer kind, unsigned flags)
{
    return (uint32_t)kind | flags << 8;
}

/* The operand of the last plain outer product of one op, without its register numbers. An operand that agrees in these bits needs
 * no decoding and belongs to what is queued now (core->pending_key). */
struct amx_shape {
    uint64_t operand;
    uint64_t fixed_bits;
    uint64_t accumulator_mask;
    uint64_t reserved; /* a size that is a power of two is indexed without a multiplication */
};

struct amx_ring {
    const uint8_t *slot[8]; /* where each register is */
    uint8_t *bytes, *next;  /* the first slot; the next free one */
};

struct amx_core {
    const struct amx_dispatch *dispatch; /* fast, reference, or "not enabled" */
    struct amx_ring x, y;
    struct amx_pair *tail[AMX_ACCUMULATORS]; /* end of each accumulator's queue */
    uint32_t pending_key;                    /* of everything that is queued */
    const struct amx_kernel_set *kernels;    /* NULL on the reference path */
    struct amx_shape shape[AMX_OP_COUNT];
    struct mem_space *space;
    enum amx_gen gen;
    enum amx_path path;
    bool enabled;
    struct amx_decoded decoded[AMX_DECODE_ENTRIES];
    /* Aligned to its own size, so that the low bits of a tail show when its queue is full. */
    _Alignas(AMX_QUEUE_BYTES) struct amx_pair queue[AMX_ACCUMULATORS][AMX_QUEUE_LIMIT];
    _Alignas(64) uint8_t x_bytes[AMX_RING_BYTES];
    _Alignas(64) uint8_t y_bytes[AMX_RING_BYTES];
    _Alignas(64) uint8_t z[64][AMX_ROW_BYTES];
};

static inline struct amx_regs amx_core_regs(struct amx_core *core)
{
    return (struct amx_regs){.x = core->x_bytes, .y = core->y_bytes, .z = core->z};
}

/* amx_core_queue.c */
void amx_queue_run(struct amx_core *core, unsigned accumulator); /* one accumulator */
/* Applies outer products of the queued kind that are at hand (flags aside), after what is queued on the accumulator has run. */
void amx_queue_apply(struct amx_core *core, unsigned accumulator, const struct amx_batch *batch);
static inline void amx_queue_add(struct amx_core *core, uint64_t accumulator, struct amx_pair pair)
{
    struct amx_pair *tail = core->tail[accumulator];
    *tail = pair;
    core->tail[accumulator] = ++tail;
    if (__builtin_expect((uintptr_t)tail % AMX_QUEUE_BYTES == 0, 0))
        amx_queue_run(core, (unsigned)accumulator);
}
/* Changes the kind of what is queued: finishes the old one and forgets its shapes. */
void amx_queue_set_kind(struct amx_core *core, uint32_t key);
void amx_queue_drop(struct amx_core *core, unsigned accumulator); /* forgets what is queued */
void amx_queue_finish(struct amx_core *core);                     /* all: Z is current afterwards */
void amx_core_settle(struct amx_core *core);                      /* the same, and both pools lie in slots 0..7 */
static inline bool amx_ring_has(const struct amx_ring *ring, unsigned count)
{
    return (size_t)(ring->next - ring->bytes) <= AMX_RING_BYTES - count * AMX_ROW_BYTES;
}

/* Returns `count` consecutive free slots; may settle first, which frees all slots but the first eight. A new slot counts as free
 * again after the next call unless a register or the queue refers to it. */
static inline uint8_t *amx_ring_take(struct amx_core *core, struct amx_ring *ring, unsigned count)
{
    if (__builtin_expect(!amx_ring_has(ring, count), 0))
        amx_core_settle(core);
    uint8_t *first = ring->next;
    ring->next += count * AMX_ROW_BYTES;
    return first;
}

/* amx_core_operand.c */
bool amx_is_float(const struct amx_decoded *d);
bool amx_negates_x(const struct amx_decoded *d); /* z - x*y is computed as z + (-x)*y */
/* True when the lanes of an operand are one register, unchanged. */
bool amx_is_whole_register(const struct amx_decoded *d, const struct amx_input *in);
/* Fetches the lanes of one operand: span, lookup, shuffle, broadcast, forced zero, widening. */
void amx_operand_fetch(const struct amx_ring *ring, const struct amx_decoded *d, const struct amx_input *in, unsigned iteration,
                       uint8_t lanes[AMX_ROW_BYTES]);
void amx_flip_signs(uint8_t lanes[AMX_ROW_BYTES], unsigned bytes);
typedef uint64_t amx_row_words __attribute__((vector_size(AMX_ROW_BYTES)));
/* Bytes that the X mask enables in a Z row that holds every `parts`-th x lane from `part` on. */
amx_row_words amx_enabled_bytes(const struct amx_decoded *d, unsigned parts, unsigned part);
/* Restores those bytes of `now` that are not enabled from `before`. */
void amx_put_back(uint8_t now[AMX_ROW_BYTES], const uint8_t before[AMX_ROW_BYTES], amx_row_words enabled);

/* amx_core_pointwise.c */
/* Executes d if it is pointwise and has a kernel; otherwise returns false. */
bool amx_pointwise_execute(struct amx_core *core, const struct amx_decoded *d);

/* amx_core_loop.c */
/* A body of loads and plain outer products of the queued kind that repeats `passes` times; operand n grows by step[n] from one
 * pass to the next (0 for outer products). */
struct amx_loop {
    unsigned length;
    size_t passes;
    uint64_t step[AMX_LOOP_LENGTH + 8]; /* the first ones are repeated at the end */
};
/* Runs the whole loop and returns the number of its instructions; 0, with nothing done, when a pass would fault. */
size_t amx_loop_run(struct amx_core *core, const uint8_t *op, const uint64_t *operand, const struct amx_loop *loop);

/* amx_core_outer.c */
/* The fast kind that the instruction belongs to, whatever its masks and operand fetch. */
enum amx_outer amx_outer_kind(const struct amx_decoded *d, unsigned *flags);
/* True when it is plain: no masks, whole aligned registers, z + x*y. */
bool amx_outer_is_plain(const struct amx_decoded *d);
/* Number of accumulators of a kind: Z row j*A + a belongs to accumulator a. */
unsigned amx_outer_accumulators(enum amx_outer kind);
/* Executes d, whose kind has a kernel, by preparing its operands and queueing it or running it alone. */
void amx_outer_execute(struct amx_core *core, const struct amx_decoded *d, enum amx_outer kind, unsigned flags);

/* amx_core.c */
amx_handler amx_core_setclr;
struct amx_decoded *amx_core_decode(struct amx_core *core, unsigned op, uint64_t operand);

/* amx_core_fast.c: the general case of each handler of the fast path. */
bool amx_fast_outer_new(struct amx_core *core, unsigned op, uint64_t operand); /* no shape agrees */
amx_handler amx_fast_other;
amx_handler amx_fast_load;
amx_handler amx_fast_store;
amx_handler amx_fast_z;

#endif
