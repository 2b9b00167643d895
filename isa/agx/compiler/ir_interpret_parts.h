/* What the files of the interpreter share: a kernel decoded into steps on slots, and the machine that runs them.
 *
 * A slot holds one scalar of each of the 32 lanes, in 64 bits each: integers zero-extended, floats as their bits. Vectors and
 * aggregates are several slots, so that what only moves elements about needs no step. Constants and arguments have slots of
 * their own, marked by CONSTANT_SLOT. Functions that are called are decoded into their caller.
 */
#ifndef ORCHARD_ISA_AGX_COMPILER_IR_INTERPRET_PARTS_H
#define ORCHARD_ISA_AGX_COMPILER_IR_INTERPRET_PARTS_H

#include "isa/agx/compiler/ir_interpret.h"

#define LANES         32u
#define CONSTANT_SLOT UINT32_C(0x80000000)
#define NO_SLOT       UINT32_MAX
#define POISON        UINT64_C(0xa5a5a5a5a5a5a5a5)
/* Most steps that a kernel may become with all that it calls. */
#define STEPS_MAX (UINT32_C(1) << 22)
/* Most bytes of one thread's variables. */
#define PRIVATE_BYTES_MAX (UINT64_C(1) << 20)

/* Addresses that are not of device memory say in their top byte what they are of. */
#define REGION_SHIFT 56
enum region { REGION_DEVICE, REGION_THREADGROUP = 0x7a, REGION_PRIVATE = 0x7b, REGION_MODULE = 0x7c };

enum step_kind {
    STEP_PURE,
    STEP_JUMP,   /* to `target` */
    STEP_BRANCH, /* on `a`, to `target` or `other` */
    STEP_SWITCH, /* on `a`: `extra` has pairs of constant slot and target; else to `other` */
    STEP_END,
    STEP_TRAP,
    STEP_BARRIER,     /* `which`: of the simdgroup */
    STEP_LOAD,        /* d = bytes at a + imm */
    STEP_STORE,       /* a to b + imm */
    STEP_ATOMIC,      /* d = old at a, with b; `which` is an enum ir_atomic */
    STEP_EXCHANGE_IF, /* d = old at a; new value c when it is b; `target` is the slot of success or NO_SLOT */
    STEP_COPY,        /* to a, from b, c bytes */
    STEP_FILL,        /* at a, value b, c bytes */
    STEP_CROSS,       /* `which` is an enum ir_builtin, `list` a reduction */
    STEP_MATRIX       /* `extra`: slots of a, b, c, d, two each */
};

struct step;
/* Sets all lanes of d. */
typedef void pure_function(const struct step *step, uint64_t *restrict d, const uint64_t *restrict a, const uint64_t *restrict b,
                           const uint64_t *restrict c);

struct step {
    pure_function *pure;
    uint64_t imm, mask; /* `mask`: bits of the result */
    uint32_t d, a, b, c;
    uint32_t target, other; /* labels while decoding, then places of steps */
    uint32_t *extra;
    uint32_t extras, line, align;
    uint8_t kind, bits, from, space, which, list; /* bits of the result and of what it is made from */
    bool flush;
};

struct object {
    uint64_t offset, bytes;
};

/* Variables of one region, apart from one another so that a step over an end is noticed. */
struct objects {
    struct object *item;
    size_t count, room;
    uint64_t bytes;
};

struct special { /* a slot filled before a simdgroup starts */
    enum ir_builtin builtin;
    unsigned dimension;
    uint32_t slot;
};

struct argument_copy { /* an argument passed by value, into each thread's variables */
    uint64_t to, from, bytes;
};

struct program {
    struct step *step;
    size_t steps, step_room;
    uint32_t slots;
    uint64_t (*constant)[LANES];
    size_t constants, constant_room;
    uint32_t *constant_hash; /* 1 + number, by the bits */
    size_t hash_size;
    struct objects threadgroup, private, module;
    uint8_t *module_bytes; /* of the module's variables outside threadgroups */
    struct special *special;
    size_t specials, special_room;
    struct argument_copy *copy;
    size_t copies, copy_room;
    struct chunk *chunk; /* small memory, freed with the program */
};

void *program_take(struct program *p, size_t bytes); /* zeroed; NULL = no memory */
bool program_constant(struct program *p, uint64_t bits, uint32_t *slot);
bool program_object(struct objects *o, uint64_t bytes, uint64_t align, uint64_t *offset);
void program_free(struct program *p);

bool program_decode(struct program *p, const struct ir_function *kernel, const struct ir_launch *launch, struct isa_error *error);

/* Blocks that can be reached, loops together; *blocks says how many. NULL = no memory or too many blocks. The caller frees it. */
struct ir_block **interpret_order(const struct ir_function *f, size_t *blocks);

bool interpret_fail(struct isa_error *error, uint32_t line, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* ---- the machine ---- */

struct simdgroup {
    uint64_t (*slot)[LANES];
    uint32_t pc[LANES];
    uint32_t present, live, parked; /* lanes; parked at a barrier */
    uint8_t *private;               /* of lane 0; the others follow */
    uint32_t number;
};

struct machine {
    const struct program *program;
    const struct ir_launch *launch;
    struct isa_error *error;
    struct simdgroup *simdgroup;
    uint32_t simdgroups;
    uint8_t *threadgroup;
    uint32_t group[3], group_size[3], group_count[3]; /* the one at work: position, threads */
    struct ir_counts counts;
    size_t hint[3]; /* object of each region that was found last */
};

static inline const uint64_t *slot_read(const struct machine *m, const struct simdgroup *s, uint32_t slot)
{
    return slot & CONSTANT_SLOT ? m->program->constant[slot & ~CONSTANT_SLOT] : s->slot[slot];
}

/* False with the error. `mask`: the lanes that take part. */
bool memory_step(struct machine *m, struct simdgroup *s, const struct step *step, uint32_t mask);
void cross_step(struct machine *m, struct simdgroup *s, const struct step *step, uint32_t mask);
void matrix_step(struct machine *m, struct simdgroup *s, const struct step *step, uint32_t mask);
/* Fills the slots of positions. */
void special_slots(const struct machine *m, struct simdgroup *s);
/* Where a thread is, for messages. */
void thread_place(const struct machine *m, const struct simdgroup *s, unsigned lane, char *text, size_t room);

/* ---- pure functions ---- */

pure_function *pure_of_op(unsigned op);           /* an enum ir_op; NULL = none */
pure_function *pure_of_builtin(unsigned builtin); /* an enum ir_builtin; NULL = none */
pure_function *float_pure_of_op(unsigned op);
pure_function *float_pure_of_builtin(unsigned builtin);
pure_function pure_copy, pure_gep, pure_select, pure_select_sign, pure_pick;
pure_function *reduction_pair(unsigned reduction); /* two numbers of it */

static inline uint64_t mask_of(unsigned bits)
{
    return bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

static inline int64_t sign_extended(uint64_t value, unsigned bits)
{
    return (int64_t)(value << (64 - bits)) >> (64 - bits);
}

#endif
