/* The compiler's intermediate representation: typed values in static single assignment, blocks, functions, a module.
 *
 * Everything that a module holds lives as long as the module. Types are interned: equal types have equal addresses. Blocks of a
 * function are in the order of the source text, the entry first; instructions of a block are a list, phis first, an END last.
 * The representation follows LLVM's (llvm.org/docs/LangRef.html), from whose text it is read (ir_read.h).
 *
 * Lowered form, which the back end takes (ir_lower.h makes it): one function without calls; integers of 1, 16, 32 and 64 bits,
 * floats of 16 and 32; vectors only as what a LOAD gives and EXTRACT takes, or what INSERTs make for a STORE or a MATRIX_FMA; the
 * pointer of every LOAD, STORE and ATOMIC in space DEVICE, CONSTANT, THREADGROUP or PRIVATE; a GEP has one index, of 32 or 64
 * bits, counting elements of 1, 2, 4 or 8 bytes (`held` is an integer type of so many bytes) and `offset` elements to be added:
 * base + (index + offset) * bytes in 64 bits, where an index of 32 bits is unsigned if `exact` is set on the GEP and else signed.
 */
#ifndef ORCHARD_ISA_AGX_COMPILER_IR_H
#define ORCHARD_ISA_AGX_COMPILER_IR_H

#include "isa/isa_error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* ---- types ---- */

enum ir_kind { IR_VOID, IR_INT, IR_FLOAT, IR_POINTER, IR_VECTOR, IR_ARRAY, IR_STRUCT, IR_LABEL, IR_METADATA };
/* Numbers are those of clang's spir64 target. */
enum ir_space { IR_PRIVATE = 0, IR_DEVICE = 1, IR_CONSTANT_SPACE = 2, IR_THREADGROUP = 3, IR_GENERIC = 4, IR_CONSTANT_HOST = 6 };

struct ir_type {
    enum ir_kind kind;
    unsigned bits;                       /* of INT and FLOAT; 64 of POINTER */
    enum ir_space space;                 /* of POINTER */
    uint64_t count;                      /* elements of VECTOR and ARRAY, members of STRUCT */
    const struct ir_type *element;       /* of VECTOR and ARRAY */
    const struct ir_type *const *member; /* of STRUCT */
    const uint64_t *member_offset;       /* bytes */
    uint64_t bytes, align;               /* in memory; a vector of three has the bytes of four */
    bool packed;
};

struct ir_module;

const struct ir_type *ir_void(struct ir_module *m);
const struct ir_type *ir_label(struct ir_module *m);
const struct ir_type *ir_metadata(struct ir_module *m);
const struct ir_type *ir_int(struct ir_module *m, unsigned bits);
const struct ir_type *ir_float(struct ir_module *m, unsigned bits); /* 16, 32, 64 */
const struct ir_type *ir_pointer(struct ir_module *m, enum ir_space space);
const struct ir_type *ir_vector(struct ir_module *m, const struct ir_type *element, uint64_t count);
const struct ir_type *ir_array(struct ir_module *m, const struct ir_type *element, uint64_t count);
const struct ir_type *ir_struct(struct ir_module *m, const struct ir_type *const *member, unsigned count, bool packed);

/* ---- values ---- */

#define IR_C 1u /* commutative */
#define IR_E 2u /* has an effect */
#define IR_D 4u /* differs between threads */
#define IR_M 8u /* depends on other threads: must not move to other control flow */

enum ir_op {
#define IR_OP(name, text, kind, flags) IR_##name,
#include "isa/agx/compiler/ir_ops.inc"
    IR_OP_COUNT
};
enum ir_op_kind {
    IR_KIND_VALUE,
    IR_KIND_UNARY,
    IR_KIND_BINARY,
    IR_KIND_COMPARE,
    IR_KIND_CONVERT,
    IR_KIND_OTHER,
    IR_KIND_MEMORY,
    IR_KIND_BUILTIN,
    IR_KIND_END
};
enum ir_builtin {
#define IR_BUILTIN(name, text, operands, flags) IR_B_##name,
#include "isa/agx/compiler/ir_builtins.inc"
    IR_BUILTIN_COUNT
};
enum ir_atomic {
    IR_ATOMIC_ADD,
    IR_ATOMIC_SUB,
    IR_ATOMIC_XCHG,
    IR_ATOMIC_UMIN,
    IR_ATOMIC_SMIN,
    IR_ATOMIC_UMAX,
    IR_ATOMIC_SMAX,
    IR_ATOMIC_AND,
    IR_ATOMIC_OR,
    IR_ATOMIC_XOR
};
enum ir_reduction {
    IR_REDUCE_ADD,
    IR_REDUCE_FADD,
    IR_REDUCE_FMUL,
    IR_REDUCE_FMIN,
    IR_REDUCE_FMAX,
    IR_REDUCE_UMIN,
    IR_REDUCE_UMAX,
    IR_REDUCE_SMIN,
    IR_REDUCE_SMAX,
    IR_REDUCE_AND,
    IR_REDUCE_OR,
    IR_REDUCE_XOR
};
enum ir_condition {
    IR_EQ,
    IR_NE,
    IR_UGT,
    IR_UGE,
    IR_ULT,
    IR_ULE,
    IR_SGT,
    IR_SGE,
    IR_SLT,
    IR_SLE, /* ICMP */
    IR_FALSE,
    IR_OEQ,
    IR_OGT,
    IR_OGE,
    IR_OLT,
    IR_OLE,
    IR_ONE,
    IR_ORD, /* FCMP */
    IR_UNO,
    IR_UEQ,
    IR_FUGT,
    IR_FUGE,
    IR_FULT,
    IR_FULE,
    IR_UNE,
    IR_TRUE
};

#define IR_NO_LANE UINT32_MAX

struct ir_block;
struct ir_function;

struct ir_value {
    uint16_t op;       /* enum ir_op */
    uint16_t builtin;  /* enum ir_builtin, of BUILTIN */
    uint8_t condition; /* enum ir_condition */
    bool fast;         /* floats: contraction and reassociation allowed (flags contract or fast) */
    bool exact;        /* nuw of integers: does not wrap as an unsigned number; GEP: its index of 32 bits is unsigned; GLOBAL:
                          constant */
    bool is_volatile;
    const struct ir_type *type; /* of the result; VOID when there is none */
    const struct ir_type *held; /* ALLOCA, GEP, GLOBAL; LOAD and STORE: the type in memory where it is another (i8) */
    uint32_t align; /* bytes, of LOAD, STORE, ALLOCA, GLOBAL; 0 = natural; of CALLs of llvm.memcpy and its kin, 0 = not known */
    uint64_t bits;  /* CONSTANT: integer or IEEE bits; ARGUMENT: its number */
    int32_t offset; /* GEP in lowered form: elements to be added */
    uint64_t reach; /* ARGUMENT: a pointer to so many bytes that may always be read */
    uint32_t id;    /* unique in the function (values of a module: in the module) */
    uint32_t line;  /* in the source; 0 = not known */
    uint32_t file;  /* number in the module's list of files */
    unsigned operands, blocks, lists;
    struct ir_value **operand;    /* PHI: one for each of `block`, which are the predecessors, each once */
    struct ir_block **block;      /* PHI: where operands come from; END: where it goes */
    uint32_t *list;               /* lanes, indices, kinds */
    const char *name;             /* GLOBAL, FUNCTION, ARGUMENT and named values; NULL = none */
    const char *annotation;       /* llvm.var.annotation, llvm.global.annotations, one on each line; NULL = none */
    struct ir_value *initial;     /* GLOBAL: NULL = undefined */
    struct ir_function *function; /* FUNCTION */
    struct ir_block *home;        /* of an instruction */
    struct ir_value *next, *previous;
    void *note; /* of the pass at work */
};

struct ir_block {
    uint32_t id; /* unique in the function; position in the order of blocks after ir_number */
    const char *name;
    struct ir_value *first, *last;
    struct ir_block *next;
    struct ir_function *function;
    unsigned predecessors; /* filled by ir_number; each once, however many edges lead from it */
    struct ir_block **predecessor;
    void *note;
};

struct ir_function {
    const char *name, *host_name; /* host_name: of a Metal instantiation; else NULL */
    bool kernel, declared_only;
    bool variadic; /* takes more arguments than it names */
    const struct ir_type *result;
    unsigned arguments;
    struct ir_value **argument;
    const struct ir_type **by_value; /* of an argument: the type it points to, when passed by value; else NULL */
    uint32_t group_size[3];          /* reqd_work_group_size; 0 = not stated */
    struct ir_block *first;          /* NULL when only declared */
    uint32_t next_id;
    struct ir_function *next;
    struct ir_module *module;
};

struct ir_module *ir_module_create(void); /* NULL when memory ran out */
void ir_module_free(struct ir_module *m);
struct ir_function *ir_module_functions(const struct ir_module *m); /* in order; by ->next */
struct ir_value *ir_module_globals(const struct ir_module *m);      /* by ->next */
const char *ir_module_file(const struct ir_module *m, uint32_t file);
/* Writes the file of a value's line (v NULL: none) to the error. */
void ir_error_file(const struct ir_value *v, const struct ir_module *m, struct isa_error *error);
uint32_t ir_module_add_file(struct ir_module *m, const char *name);
struct ir_function *ir_find_function(const struct ir_module *m, const char *name);
/* True once any allocation failed; results of functions that ran out are then harmless values of the module. */
bool ir_module_failed(const struct ir_module *m);
/* Memory that lives as long as the module, zeroed. Never NULL up to IR_ALLOC_MOST bytes at a time: see ir_module_failed. */
#define IR_ALLOC_MOST ((size_t)4 << 20)
void *ir_alloc(struct ir_module *m, size_t bytes);
char *ir_text(struct ir_module *m, const char *text, size_t length);

/* ---- making ---- */

struct ir_function *ir_add_function(struct ir_module *m, const char *name, const struct ir_type *result,
                                    const struct ir_type *const *argument, unsigned arguments);
struct ir_block *ir_add_block(struct ir_function *f, const char *name, struct ir_block *after); /* after NULL: at the end */
struct ir_value *ir_add_global(struct ir_module *m, const char *name, const struct ir_type *held, enum ir_space space);
struct ir_value *ir_constant(struct ir_module *m, const struct ir_type *type, uint64_t bits); /* interned */
struct ir_value *ir_undefined(struct ir_module *m, const struct ir_type *type);
/* A constant of constants, interned; vectors always are this, arrays and structures of nothing but zero a CONSTANT with bits 0.
 */
struct ir_value *ir_aggregate(struct ir_module *m, const struct ir_type *type, struct ir_value *const *member, unsigned members);
struct ir_value *ir_function_value(struct ir_function *f); /* the one FUNCTION value of a function */
/* An instruction in no block yet. Operands are copied. */
struct ir_value *ir_make(struct ir_function *f, enum ir_op op, const struct ir_type *type, struct ir_value *const *operand,
                         unsigned operands);
struct ir_value *ir_make_builtin(struct ir_function *f, enum ir_builtin builtin, const struct ir_type *type,
                                 struct ir_value *const *operand, unsigned operands);
void ir_append(struct ir_block *b, struct ir_value *v);
void ir_insert_before(struct ir_value *at, struct ir_value *v);
void ir_remove(struct ir_value *v);                                                 /* from its block */
void ir_replace(struct ir_function *f, struct ir_value *old, struct ir_value *now); /* in all operands */
void ir_replace_operands(struct ir_value *v, struct ir_value *const *operand, unsigned operands);
void ir_add_incoming(struct ir_value *phi, struct ir_value *value, struct ir_block *from);
void ir_remove_block(struct ir_function *f, struct ir_block *b); /* and its phi operands elsewhere */

/* ---- asking ---- */

const char *ir_op_name(unsigned op);
enum ir_op_kind ir_op_kind(unsigned op);
unsigned ir_flags(const struct ir_value *v); /* IR_C, IR_E, IR_D, IR_M of its operation or builtin */
const char *ir_builtin_name(unsigned builtin);
unsigned ir_builtin_operands(unsigned builtin);
/* Numbers blocks in their order and values in order of appearance, and fills predecessors. */
bool ir_number(struct ir_function *f);
struct ir_block *ir_immediate_dominator(const struct ir_block *b); /* after ir_dominate */
bool ir_dominate(struct ir_function *f);
bool ir_dominates(const struct ir_block *a, const struct ir_block *b);

/* Text of a type, a function, a module: for people, and compared by tests. */
void ir_print_type(FILE *out, const struct ir_type *type);
void ir_print_function(FILE *out, const struct ir_function *f);
void ir_print_module(FILE *out, const struct ir_module *m);
/* Whether types and control flow fit: operands dominate their uses, phis have one value for each predecessor, types agree.
 * Numbers blocks and values anew (ir_dominate). */
bool ir_verify(const struct ir_function *f, struct isa_error *error);
/* Whether the function is in lowered form. */
bool ir_verify_lowered(const struct ir_function *f, struct isa_error *error);

#endif
