/* What the parts of the back end share: instructions over virtual registers, in a tree of structured control flow.
 *
 * Order of work: structure (agx_structure*.c) makes the tree, selection (agx_select*.c) fills it from its end to its beginning,
 * liveness, coalescing and allocation (agx_live.c, agx_coalesce.c, agx_allocate.c, agx_spill.c) give registers, agx_masks.c
 * turns the tree into lines with instructions on the execution mask, agx_waits.c adds waits, agx_emit_text.c prints.
 */
#ifndef ORCHARD_ISA_AGX_COMPILER_AGX_MACHINE_H
#define ORCHARD_ISA_AGX_COMPILER_AGX_MACHINE_H

#include "isa/agx/compiler/agx_compile.h"

#define AGX_OP_SOURCES 5

/* ---- operands ---- */

enum agx_ref_kind {
    AGX_REF_NONE,
    AGX_REF_REGISTER,
    AGX_REF_UNIFORM,
    AGX_REF_NUMBER,
    AGX_REF_CONSTANT,
    AGX_REF_FLOAT,
    AGX_REF_FIXED
};

enum agx_ref_hint { AGX_REF_PLAIN, AGX_REF_CACHE, AGX_REF_DISCARD };

struct agx_ref {
    uint8_t kind;
    uint8_t part;  /* bits of one register of it: 16 or 32 */
    uint8_t count; /* consecutive registers: 1, but 2 for 64 bits and more for vectors */
    bool negate, absolute, sign_extend;
    uint8_t hint;    /* enum agx_ref_hint; agx_hints.c */
    uint16_t offset; /* REGISTER: in halves from the first of the virtual register */
    uint32_t index;  /* REGISTER: virtual register; UNIFORM: half; NUMBER: value; CONSTANT: in the pool; FLOAT: float32 bits;
                        FIXED: half */
};

struct agx_step;

/* A virtual register and where it is live. Instructions have even positions: they read at their position and write one later. */
struct agx_span {
    uint32_t first, end;
};
struct agx_register {
    uint16_t halves;
    bool even; /* begins at a 32-bit register */
    bool unspillable;
    int32_t shift;  /* halves from the first of its group */
    uint32_t group; /* the register that stands for those that share a place */
    uint32_t next_member;
    uint16_t place; /* half, once allocated */
    struct agx_span *span;
    unsigned spans, span_room;
    uint32_t weight; /* uses, those in loops more */
    uint32_t makers; /* agx_spill.c: instructions that write it; the last of them */
    const struct agx_step *maker;
};

/* ---- instructions ---- */

enum agx_step_kind {
    AGX_DO_PLAIN,
    AGX_DO_LOAD,    /* writes its destination when its slot has been waited for */
    AGX_DO_STORE,   /* takes a slot, writes no register */
    AGX_DO_BARRIER, /* everything before must be done */
    AGX_DO_COPIES   /* `copy`, all at once */
};
struct agx_copy {
    struct agx_ref to, from;
};
struct agx_step {
    const char *format; /* "%d" is the destination, "%0".."%4" the sources, "%s" the slot */
    struct agx_ref to, from[AGX_OP_SOURCES];
    uint8_t sources, kind, slot;
    uint32_t stack_place; /* agx_spill.c: half of the stack that it moves, + 1 */
    uint32_t order;       /* agx_schedule.c: in its node before, + 1; 0 = it came later */
    bool changes_part;    /* of what its first source holds, too: the rest of the register stays */
    uint32_t at;          /* position */
    uint32_t line, file;
    struct agx_copy *copy;
    unsigned copies;
    struct agx_step *next;
};
struct agx_steps {
    struct agx_step *first, *last;
};

/* A compare that an instruction can hold: code is that of agx_isa.h. */
struct agx_condition {
    bool is_float, invert;
    uint8_t code;
    struct agx_ref a, b;
};

/* As the assembler spells it; selects cannot invert. */
const char *agx_condition_name(const struct agx_condition *condition, bool may_invert);

/* ---- structure ---- */

enum agx_tree_kind {
    AGX_TREE_CODE,  /* instructions of a block */
    AGX_TREE_EDGE,  /* copies on the way from one block to another */
    AGX_TREE_IF,    /* then when all conditions hold, else other */
    AGX_TREE_SCOPE, /* a body that can be left */
    AGX_TREE_LOOP,  /* a body that begins again at its end and can be left */
    AGX_TREE_LEAVE  /* to behind `target`, an enclosing IF, SCOPE or LOOP; NULL = the end of the kernel */
};
#define AGX_CONDITIONS 4

struct agx_tree {
    enum agx_tree_kind kind;
    struct agx_tree *next;
    const struct ir_block *from, *to; /* CODE: from; EDGE: both */
    struct agx_steps ops;             /* CODE, EDGE */
    const struct ir_value *decides;   /* IF: an i1, or what is compared with `equal` */
    const struct ir_value *equal;
    bool swapped; /* IF: `then` is for when it does not hold */
    struct agx_condition condition[AGX_CONDITIONS];
    unsigned conditions;
    struct agx_tree *then, *other; /* IF; SCOPE and LOOP: then is the body */
    struct agx_tree *target;       /* LEAVE */
    struct agx_tree *before;       /* IF: the CODE in front of it */
    unsigned leaves;               /* of LEAVE nodes that name this one */
    unsigned point;                /* where control is behind this node; equal numbers are the same place */
    unsigned depth;                /* loops around */
    unsigned level;                /* agx_masks.c: of the counter r0l */
    unsigned label;                /* simplifying: the point at the end of the body; agx_masks.c: a jump target */
    uint32_t at;                   /* IF: position of its compares */
    uint32_t line, file;
    uint64_t *live; /* agx_live.c: behind this node; LOOP: at its top */
};

/* ---- the compiler ---- */

struct agx_note { /* of a value of the function */
    uint32_t uses;
    uint32_t reg;    /* virtual register + 1 */
    uint16_t result; /* half of the uniform in which the preamble leaves it, + 1 */
    bool same;       /* in all threads */
    bool whole;      /* more is wanted of it than the low 16 bits */
    bool half;       /* its register has 16 bits although the value has 32 */
};
#define AGX_NO_RESULT   UINT16_MAX
#define AGX_RESULTS_END 192 /* half at which they end at the latest */
struct agx_constant {
    uint32_t bits;
    uint8_t part; /* 16 or 32 */
};
struct agx_group_memory { /* a variable in threadgroup memory */
    const struct ir_value *global;
    uint32_t offset;
};
struct agx_table_place { /* a constant table and the first half of its address */
    const struct ir_value *global;
    uint32_t half;
};
enum agx_line_kind { AGX_LINE_CODE, AGX_LINE_LABEL, AGX_LINE_JUMP };
#define AGX_LINE_READS 6
struct agx_line {       /* of the finished program */
    uint8_t kind;       /* enum agx_line_kind */
    uint8_t does;       /* enum agx_step_kind */
    uint8_t slot, wait; /* wait: a bit for each slot that is waited for in front of it */
    uint8_t reads;
    const char *format; /* as of struct agx_step */
    struct agx_ref write, read[AGX_LINE_READS];
    unsigned label;
    uint32_t line, file;
};

struct agx_arena;

struct agx_compiler {
    const struct ir_function *f;
    struct isa_error *error;
    bool failed;
    struct agx_arena *arena;
    struct agx_tree *tree;
    unsigned blocks;
    uint32_t block_ids;
    uint8_t *block_depth;    /* loops around a block, by id */
    const void **block_loop; /* innermost, by id */
    struct agx_note *note;   /* by id of a value */
    uint32_t notes;
    struct agx_register *reg;
    uint32_t regs, reg_room;
    struct agx_constant *constant;
    unsigned constants, constant_room;
    uint32_t *argument_offset; /* bytes */
    uint32_t argument_bytes;
    uint32_t implicit[6];          /* half of AGX_GLOBAL_SIZE x, y, z, AGX_GROUP_COUNT x, y, z, + 1 */
    struct agx_compiler *preamble; /* what it shares with this one is at the same addresses; NULL = there is none */
    bool is_preamble, no_preamble;
    bool wants_half;     /* of what is asked for, only the low 16 bits count */
    uint32_t result_end; /* half behind what the preamble makes */
    unsigned results;
    struct agx_table_place *table;
    unsigned tables;
    struct agx_group_memory *group_memory;
    unsigned group_variables;
    uint32_t group_bytes;
    uint32_t stack_bytes;
    struct agx_steps pending;    /* of the value being selected */
    const struct ir_value *what; /* being selected, for places and messages */
    bool has_masks;
    unsigned register_halves; /* most that may be used */
    unsigned used_halves, spills;
    struct agx_line *line;
    unsigned lines, line_room, labels;
};

void *agx_alloc(struct agx_compiler *c, size_t bytes); /* zeroed; never NULL, see `failed` */
bool agx_arena_start(struct agx_compiler *c);
void agx_arena_free(struct agx_compiler *c);
__attribute__((format(printf, 2, 3))) const char *agx_text(struct agx_compiler *c, const char *format, ...);
/* Records the first failure; `v` (or NULL) gives its line. Always false. */
__attribute__((format(printf, 3, 4))) bool agx_refuse(struct agx_compiler *c, const struct ir_value *v, const char *format, ...);

/* ---- operands and instructions (agx_machine.c) ---- */

struct agx_ref agx_number(uint32_t value, unsigned part);
struct agx_ref agx_constant(struct agx_compiler *c, uint32_t bits, unsigned part); /* a number when it fits one */
struct agx_ref agx_pooled(struct agx_compiler *c, uint32_t bits, unsigned part);
struct agx_ref agx_new(struct agx_compiler *c, unsigned part, unsigned count); /* a new virtual register */
struct agx_ref agx_part(struct agx_ref ref, unsigned first,
                        unsigned part); /* one of its registers, the `first` of so many bits */
struct agx_step *agx_emit_op(struct agx_compiler *c, const char *format, struct agx_ref to, const struct agx_ref *from,
                             unsigned sources);
#define AGX_EMIT(c, format, to, ...)                                                                                             \
    agx_emit_op(c, format, to, (const struct agx_ref[]){__VA_ARGS__},                                                            \
                sizeof((const struct agx_ref[]){__VA_ARGS__}) / sizeof(struct agx_ref))
/* A word of `to`, which has been written before, is changed in place: it is the first source. */
void agx_emit_part(struct agx_compiler *c, const char *format, struct agx_ref to, unsigned word, struct agx_ref other);
struct agx_step *agx_emit_copies(struct agx_compiler *c, unsigned copies); /* to be filled */
void agx_emit_copy(struct agx_compiler *c, struct agx_ref to, struct agx_ref from);
unsigned agx_bits(const struct ir_type *type);  /* of a scalar in registers: 16, 32, 64 */
unsigned agx_lanes(const struct ir_type *type); /* of a vector; 1 of others */

/* ---- passes ---- */

bool agx_structure(struct agx_compiler *c);
bool agx_select(struct agx_compiler *c);
bool agx_live(struct agx_compiler *c);
void agx_coalesce(struct agx_compiler *c);
bool agx_hoist(struct agx_compiler *c);
bool agx_allocate(struct agx_compiler *c);
bool agx_spill(struct agx_compiler *c);
/* Moves loads up, with so many halves more than are in use at most anyway; whether anything moved. Needs agx_live. */
bool agx_schedule(struct agx_compiler *c, unsigned more_halves);
void agx_unschedule(struct agx_compiler *c); /* back to the order before */
void agx_slots(struct agx_compiler *c);
bool agx_masks(struct agx_compiler *c);
void agx_known(struct agx_compiler *c);
void agx_waits(struct agx_compiler *c);
void agx_hints(struct agx_compiler *c);
bool agx_take_tables(struct agx_compiler *c, struct agx_compiled *out);
char *agx_print(struct agx_compiler *c, size_t *bytes);

/* Whether two virtual registers are ever live together. */
bool agx_overlap(const struct agx_register *a, const struct agx_register *b);

#endif
