/* The inside of the executing side: a simdgroup, a program bound to its launch, handlers of operations.
 *
 * Every operation has a plain handler (gpu_exec_*.c) that works lane after lane and follows the rules as they are written down.
 * The hot ones have a second handler on host vectors (gpu_vector_*.c), which defers to the plain one whenever something is out of
 * the ordinary (such as an address that may fault). Both give the same bits; tests compare them.
 */
#ifndef ORCHARD_UNITS_GPU_GPU_EXEC_H
#define ORCHARD_UNITS_GPU_GPU_EXEC_H

#include "units/gpu/gpu_core.h"
#include "units/gpu/gpu_program_internal.h"

#include <string.h>

#define GPU_WORD_BYTES (GPU_LANES * 4)

enum gpu_operand_kind { GPU_NONE, GPU_WORD, GPU_LOW, GPU_HIGH, GPU_PAIR, GPU_SCALAR };

/* An operand bound to its launch: immediates and uniforms have become known values. */
struct gpu_operand {
    uint8_t kind;  /* enum gpu_operand_kind */
    uint8_t word;  /* register number */
    uint8_t bits;  /* width as encoded: 16, 32, 64; immediates 32 */
    uint8_t count; /* consecutive registers */
    bool sign_extend, absolute, negate;
    bool float_half;       /* scalar: a half-precision uniform */
    uint64_t scalar;       /* as an integer, already zero- or sign-extended to 64 bits */
    uint32_t scalar_float; /* as a float source: float32 bits, converted exactly; modifiers not applied */
};

struct gpu_simdgroup;
struct gpu_op;
/* Executes one instruction. Returns the next one, or NULL when the simdgroup stops (its state says why). */
typedef const struct gpu_op *gpu_handler(struct gpu_simdgroup *group, const struct gpu_op *op);

/* Instructions of a block, from one on, that do nothing. */
struct gpu_idle {
    uint32_t count;
    const struct gpu_op *last;
};

struct gpu_op {
    gpu_handler *run;
    const struct gpu_op *next, *target;
    uint32_t index; /* in the program */
    uint8_t dst_kind, dst_word, source_count;
    uint8_t small[2];        /* prepared by a vector handler for itself */
    bool vectorised;         /* has a vector handler */
    bool lap;                /* gpu_group_mark_laps */
    struct gpu_idle idle[2]; /* unless everything is recorded: without a record; where lines alone are recorded */
    bool touches;            /* its record says more than that it was executed: gpu_record */
    bool touches_lines;      /* it accesses device or stack memory: its record has lines */
    uint32_t straight; /* instructions from here to the end of the block: the next one that may jump, stop or change the mask */
    struct gpu_operand source[4];
    gpu_handler *plain;
    const struct agx_inst *inst;
    int64_t *entered; /* times that execution entered a block here, minus the times a fault cut one off before */
};

enum gpu_state { GPU_READY, GPU_AT_BARRIER, GPU_STOPPED, GPU_FAULTED };

struct gpu_simdgroup {
    uint32_t (*word)[GPU_LANES]; /* registers */
    uint32_t mask;               /* active lanes */
    uint32_t exist;              /* lanes that exist */
    const struct gpu_op *at;     /* next instruction while it is stopped */
    struct gpu_group *group;
    enum gpu_state state;
    uint32_t number;           /* in the threadgroup */
    uint32_t barrier_seen;     /* the barrier opening that it waits for */
    uint32_t stack_bytes_left; /* stack position: grows down from the size of the stack */
    uint64_t executed, active;
};

/* The addresses of an access. */
struct gpu_access {
    uint64_t address[GPU_LANES]; /* of component 0; device: bytes; threadgroup: bytes in the block; stack: bytes in the stack */
    uint32_t item_bytes;         /* distance of components */
    uint32_t bytes;              /* touched by one component */
    uint32_t components;         /* mask */
};

struct gpu_sanitizer;

struct gpu_vector_set;

/* Passes over threadgroup memory that an access needed, for lanes at these distances from the first active one. They repeat: in
 * loops, and from instruction to instruction of code that was a loop once. */
struct gpu_turns {
    uint32_t mask; /* 0 = none */
    uint8_t item_bytes, components;
    uint8_t rest, turns;          /* rest: position of the first active lane's address in a bank */
    uint16_t distance[GPU_LANES]; /* of active lanes, otherwise 0 */
};
#define GPU_TURNS_BITS 6
#define GPU_TURNS_KEPT (1 << GPU_TURNS_BITS)

struct gpu_group {
    struct gpu_launch launch;
    const struct gpu_vector_set *vectors; /* NULL = plain handlers only */
    struct gpu_checks checks;
    const struct gpu_program *program;
    bool beside; /* what is bound and counted by instruction belongs to another group: gpu_group_create_beside */
    struct gpu_op *op;
    int64_t *entered;            /* per instruction, see gpu_op */
    int64_t *tally;              /* memory for adding them up */
    uint16_t *preamble_uniforms; /* written by uniform_store; NULL outside a preamble */
    struct gpu_simdgroup simdgroup[GPU_SIMDGROUPS_MAX];
    uint32_t simdgroups; /* of the current threadgroup */
    uint32_t simdgroups_room;
    uint32_t words; /* registers per simdgroup */
    uint32_t (*registers)[GPU_LANES];
    uint8_t *memory; /* threadgroup memory */
    uint32_t memory_bytes;
    uint8_t *stack; /* [simdgroup][word][lane] */
    uint32_t stack_words;
    uint32_t arrived, stopped, barrier_openings;
    uint32_t position[3], size[3]; /* of the current threadgroup: in the grid (groups); its size in threads */
    uint32_t core_index;
    uint32_t numbered[3];                    /* the size that lane_position was made for */
    uint32_t *lane_position[3];              /* [axis][thread]: position in the threadgroup; one block, of all axes */
    uint64_t executed_before, active_before; /* of finished threadgroups */
    struct unit_fault fault;
    struct gpu_sanitizer *sanitizer;
    struct gpu_access last_access; /* of the latest recorded access to device or stack memory */
    struct gpu_turns *turns;       /* GPU_TURNS_KEPT of them, by a hash of the distances */
};

static inline uint32_t gpu_threads_of(const uint32_t size[3])
{
    const uint64_t threads = (uint64_t)size[0] * size[1];
    return threads > UINT32_MAX || threads * size[2] > UINT32_MAX ? UINT32_MAX : (uint32_t)(threads * size[2]);
}

/* `preamble_uniforms` (may be NULL) is what uniform_store writes to. NULL when memory is out or the launch is impossible. */
struct gpu_group *gpu_group_create_with(const struct gpu_launch *launch, const struct gpu_checks *checks,
                                        uint16_t *preamble_uniforms, const struct gpu_vector_set *vectors);

/* Fills op[] from the instructions; scalars come from `uniforms`. */
void gpu_bind(struct gpu_group *group, const uint16_t *uniforms);

/* True when the following instruction always executes next, with the same mask. */
bool gpu_goes_straight(const struct agx_inst *inst);

/* A set of vector handlers. NULL from `pick` means that the plain handler must be used. */
struct gpu_vector_set {
    const char *name;
    gpu_handler *(*pick)(struct gpu_op *op);
    /* For the record of an access to threadgroup memory that has a vector handler: true when its lanes never wait for one
     * another. */
    bool (*one_turn)(const struct gpu_simdgroup *group, const struct gpu_op *op);
    /* For the same accesses: true when all lanes certainly stay inside the threadgroup's memory. */
    bool (*inside)(const struct gpu_simdgroup *group, const struct gpu_op *op);
    /* Sets the host's float state that the handlers need (denormals off), and restores it. */
    unsigned (*enter)(void);
    void (*leave)(unsigned state);
};
const struct gpu_vector_set *gpu_vector_best(void);
const struct gpu_vector_set *gpu_vector_named(const char *name);

/* Stops with a fault of the program. */
const struct gpu_op *gpu_fault(struct gpu_simdgroup *group, const struct gpu_op *op, enum unit_fault_kind kind, uint64_t address,
                               const char *format, ...) __attribute__((format(printf, 5, 6)));
/* Stops at a device access that mem_at refused. */
const struct gpu_op *gpu_fault_device(struct gpu_simdgroup *group, const struct gpu_op *op, unsigned lane, uint64_t address,
                                      uint32_t bytes, unsigned prot);

/* --- lanes of operands (gpu_exec_operand.c) --- */
/* Reads values as integers: zero-extended, or sign-extended to 64 bits where the operand says so. All 32 lanes. */
void gpu_read_int(const struct gpu_simdgroup *group, const struct gpu_operand *from, uint64_t out[GPU_LANES]);
/* Reads zero-extended values of the i-th register of a tuple. */
void gpu_read_raw(const struct gpu_simdgroup *group, const struct gpu_operand *from, unsigned i, uint32_t out[GPU_LANES]);
/* Reads float sources with modifiers, as float32 bits: halves are converted exactly, denormal float32 values are flushed. */
void gpu_read_float(const struct gpu_simdgroup *group, const struct gpu_operand *from, uint32_t out[GPU_LANES]);
/* The same for 16-bit operations: half bits with modifiers. */
void gpu_read_half(const struct gpu_simdgroup *group, const struct gpu_operand *from, uint16_t out[GPU_LANES]);
/* Writes the active lanes, truncated to the destination. */
void gpu_write_int(struct gpu_simdgroup *group, const struct gpu_op *op, const uint64_t value[GPU_LANES]);
/* Writes float32 results: with saturation, and a second rounding for half destinations. */
void gpu_write_float(struct gpu_simdgroup *group, const struct gpu_op *op, const uint32_t value[GPU_LANES]);
/* Writes one register of a tuple that starts at half index `first` (in steps of the width): a word when `wide`, otherwise a half.
 */
void gpu_write_tuple(struct gpu_simdgroup *group, uint32_t first_half, bool wide, unsigned i, const uint32_t value[GPU_LANES],
                     uint32_t mask);

static inline uint16_t gpu_half_of(const uint32_t word[GPU_LANES], unsigned high, unsigned lane)
{
    return (uint16_t)(word[lane] >> (16 * high));
}

/* Handlers for instructions that do not steer, in a group that executes only what does: nothing happens, except that a recorded
 * access to memory that may not be reached is a fault as ever (gpu_exec_memory.c). */
const struct gpu_op *gpu_pass(struct gpu_simdgroup *group, const struct gpu_op *op);
const struct gpu_op *gpu_reach(struct gpu_simdgroup *group, const struct gpu_op *op);

/* --- conditions (gpu_exec_mask.c) --- */
uint32_t gpu_condition(const struct gpu_simdgroup *group, const struct gpu_op *op);

/* --- addresses (gpu_exec_memory.c) --- */
void gpu_access_of(const struct gpu_simdgroup *group, const struct gpu_op *op, struct gpu_access *access);

/* --- storage (gpu_core.c) --- */
/* Distance between the registers of two simdgroups, in bytes. */
size_t gpu_register_stride(const struct gpu_group *group);
/* Numbers the lanes of a threadgroup of this size. */
void gpu_number_lanes(struct gpu_group *group);

/* Opens the barrier: all simdgroups that are left have arrived. */
void gpu_barrier_open(struct gpu_group *group);

/* --- trace and sanitizer --- */
/* True when the record of such an operation says more than that it was executed. */
bool gpu_touches_memory(unsigned op);
/* True for accesses to device and stack memory, whose records have lines. */
bool gpu_touches_lines(unsigned op);
/* Records an instruction; `lanes` are the active ones. False when memory is out. */
bool gpu_record(const struct gpu_simdgroup *group, const struct gpu_op *op, unsigned lanes, struct gpu_trace *trace);
/* The lowest and the highest address of active lanes; without any, UINT64_MAX and 0. */
void gpu_record_span(const struct gpu_access *access, uint32_t mask, uint64_t *low, uint64_t *high);
/* gpu_record.h, once per host instruction set: the same. */
bool gpu_record_portable(const struct gpu_simdgroup *group, const struct gpu_op *op, unsigned lanes, struct gpu_trace *trace);
void gpu_record_span_portable(const struct gpu_access *access, uint32_t mask, uint64_t *low, uint64_t *high);
bool gpu_record_avx2(const struct gpu_simdgroup *group, const struct gpu_op *op, unsigned lanes, struct gpu_trace *trace);
void gpu_record_span_avx2(const struct gpu_access *access, uint32_t mask, uint64_t *low, uint64_t *high);
bool gpu_record_avx512(const struct gpu_simdgroup *group, const struct gpu_op *op, unsigned lanes, struct gpu_trace *trace);
void gpu_record_span_avx512(const struct gpu_access *access, uint32_t mask, uint64_t *low, uint64_t *high);

struct gpu_sanitizer *gpu_sanitizer_create(const struct gpu_group *group);
void gpu_sanitizer_free(struct gpu_sanitizer *sanitizer);
void gpu_sanitizer_start(struct gpu_sanitizer *sanitizer);
/* Checks an instruction before it executes. */
void gpu_sanitizer_before(struct gpu_sanitizer *sanitizer, const struct gpu_simdgroup *group, const struct gpu_op *op);
void gpu_sanitizer_barrier_open(struct gpu_sanitizer *sanitizer);
void gpu_sanitizer_stopped_early(struct gpu_sanitizer *sanitizer, const struct gpu_simdgroup *group);

/* Simulated address of a stack byte, as traces name it. The layout of stacks is unknown: words of the 32 lanes side by side (a
 * guess, after Mesa agx_scratch.c: blocks of 32 threads * 4 bytes * words), far above device memory. */
uint64_t gpu_stack_address(const struct gpu_simdgroup *group, uint64_t byte, unsigned lane);

#endif
