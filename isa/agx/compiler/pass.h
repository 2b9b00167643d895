/* What the passes of ir_lower.c share: how a pass walks a function and replaces values, and how it makes new ones.
 *
 * A pass gets a `struct pass`, changes the function, sets `changed` when it did, and returns false with the error set when it met
 * something that is not supported. */
#ifndef ORCHARD_ISA_AGX_COMPILER_PASS_H
#define ORCHARD_ISA_AGX_COMPILER_PASS_H

#include "isa/agx/compiler/ir_lower.h"

struct pass {
    struct ir_module *m;
    struct ir_function *f;
    const struct ir_lower_options *options;
    struct isa_error *error;
    bool changed, failed;
};

/* Says why the function cannot be lowered; `v` (may be NULL) gives the line. Returns NULL. */
struct ir_value *pass_refuse(struct pass *p, const struct ir_value *v, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- walking ---- */

/* What to put in the place of `v`: NULL = leave it; `v` itself = it was removed (and has no uses); anything else replaces it.
 * New instructions go before `v`. Operands are already the replacements of what they were. */
typedef struct ir_value *pass_rewriter(struct pass *p, struct ir_value *v);

/* Visits every instruction that can be reached, operands before their uses but for phis. False when a rewriter refused. */
bool pass_rewrite(struct pass *p, pass_rewriter *rewriter);
/* Blocks that can be reached, in reverse postorder; blocks that cannot be reached are removed first. In the module's memory. */
struct ir_block **pass_order(struct pass *p, unsigned *blocks);
bool pass_is_value(const struct ir_value *v); /* stands in no block: a constant, an argument, a global */
bool pass_is_constant(const struct ir_value *v, uint64_t *bits);
bool pass_is_int(const struct ir_type *type, unsigned bits);
unsigned pass_targets(const struct ir_value *end);
/* The number of uses of each value by id, after ir_number; of values in the function's blocks only. */
uint32_t *pass_count_uses(struct pass *p);
/* The value is never larger than this as an unsigned number. */
uint64_t pass_most(const struct pass *p, const struct ir_value *v);

/* ---- making ---- */

/* Where new instructions go: before `at`, with its line. */
struct build {
    struct ir_module *m;
    struct ir_function *f;
    struct ir_value *at;
    bool fast;
};
struct build build_at(struct pass *p, struct ir_value *at);

struct ir_value *build_bits(struct build *b, const struct ir_type *type, uint64_t bits);
struct ir_value *build_i32(struct build *b, uint32_t n);
struct ir_value *build_f32(struct build *b, float x);
/* The number x in the floating-point type of `like`. */
struct ir_value *build_float_like(struct build *b, const struct ir_value *like, double x);
struct ir_value *build_like(struct build *b, const struct ir_value *like, uint64_t bits);
struct ir_value *build_any(struct build *b, enum ir_op op, const struct ir_type *type, struct ir_value *const *operand,
                           unsigned n);
struct ir_value *build_1(struct build *b, enum ir_op op, struct ir_value *x);
struct ir_value *build_2(struct build *b, enum ir_op op, struct ir_value *x, struct ir_value *y);
struct ir_value *build_2n(struct build *b, enum ir_op op, struct ir_value *x, uint64_t y); /* y a constant of x's type */
struct ir_value *build_fma(struct build *b, struct ir_value *x, struct ir_value *y, struct ir_value *z);
struct ir_value *build_convert(struct build *b, enum ir_op op, struct ir_value *x, const struct ir_type *type);
struct ir_value *build_resize(struct build *b, struct ir_value *x, const struct ir_type *type, bool is_signed); /* integers */
struct ir_value *build_icmp(struct build *b, enum ir_condition c, struct ir_value *x, struct ir_value *y);
struct ir_value *build_icmpn(struct build *b, enum ir_condition c, struct ir_value *x, uint64_t y);
struct ir_value *build_fcmp(struct build *b, enum ir_condition c, struct ir_value *x, struct ir_value *y);
struct ir_value *build_not(struct build *b, struct ir_value *x);
struct ir_value *build_select(struct build *b, struct ir_value *c, struct ir_value *x, struct ir_value *y);
struct ir_value *build_builtin(struct build *b, enum ir_builtin builtin, const struct ir_type *type,
                               struct ir_value *const *operand, unsigned n);
struct ir_value *build_b1(struct build *b, enum ir_builtin builtin, struct ir_value *x); /* gives the type of x */
struct ir_value *build_b2(struct build *b, enum ir_builtin builtin, struct ir_value *x, struct ir_value *y);
struct ir_value *build_b3(struct build *b, enum ir_builtin builtin, struct ir_value *x, struct ir_value *y, struct ir_value *z);
struct ir_value *build_extract(struct build *b, struct ir_value *vector, unsigned lane);
struct ir_value *build_insert(struct build *b, struct ir_value *vector, struct ir_value *element, unsigned lane);
struct ir_value *build_vector(struct build *b, struct ir_value *const *lane, unsigned lanes);
struct ir_value *build_gep(struct build *b, struct ir_value *base, const struct ir_type *held, struct ir_value *index,
                           int32_t offset);
struct ir_value *build_load(struct build *b, const struct ir_type *type, struct ir_value *pointer, uint32_t align);
struct ir_value *build_store(struct build *b, struct ir_value *value, struct ir_value *pointer, uint32_t align);
const struct ir_type *build_int(struct build *b, unsigned bits);
/* The type with every vector's element replaced: float4 and i32 give int4. */
const struct ir_type *build_shape(struct build *b, const struct ir_type *shape, const struct ir_type *element);

/* ---- loops: the block is split in front of `at`; what is made by `b` of the loop stands in its body, which is one block ---- */

struct build_loop {
    struct ir_block *before, *body, *after;
    struct build b;
};
struct ir_block *build_split(struct build *b); /* without a loop: what begins with `at` goes to a new block, which is returned */
/* `enter` (an i1; NULL = always) says whether the loop runs at all. */
struct build_loop build_loop_open(struct build *b, struct ir_value *enter);
struct ir_value *build_loop_phi(struct build_loop *l, struct ir_value *first); /* before anything else of the body */
void build_loop_next(struct build_loop *l, struct ir_value *phi, struct ir_value *next);
/* What is known behind a loop that need not run: `none` when it did not, else `last`. */
struct ir_value *build_loop_result(struct build_loop *l, struct ir_value *none, struct ir_value *last);
void build_loop_close(struct build_loop *l, struct ir_value *again);

/* ---- the passes, in the order in which ir_lower runs them ---- */

bool pass_inline(struct pass *p);    /* calls of functions that have a body */
bool pass_library(struct pass *p);   /* calls of the library and of LLVM's intrinsics */
bool pass_arguments(struct pass *p); /* structures passed by value */
bool pass_aggregates(struct pass *p);
bool pass_choices(struct pass *p);   /* loads from one of two memories */
bool pass_promote(struct pass *p);   /* private variables to values */
bool pass_spaces(struct pass *p);    /* generic pointers */
bool pass_scalarise(struct pass *p); /* vectors to their lanes */
bool pass_unaligned(struct pass *p); /* accesses to less than natural alignment, piece by piece */
bool pass_switches(struct pass *p);
bool pass_entries(struct pass *p);   /* loops with several entries */
bool pass_widen(struct pass *p);     /* integers of odd widths */
bool pass_divide(struct pass *p);    /* integer division, remainders, quotients */
bool pass_wide(struct pass *p);      /* 64-bit operations that the back end has not */
bool pass_addresses(struct pass *p); /* getelementptr to one index */
bool pass_fold(struct pass *p);      /* constants and algebra */
bool pass_common(struct pass *p);    /* common subexpressions */
bool pass_dead(struct pass *p);
bool pass_flow(struct pass *p);      /* branches on constants, blocks in a row, ifs to selects */
bool pass_invariant(struct pass *p); /* what loops compute anew although it never changes */
bool pass_merge(struct pass *p);     /* adjacent loads and stores to vectors */

#endif
