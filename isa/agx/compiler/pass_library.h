/* What the files of the library pass share. */
#ifndef ORCHARD_ISA_AGX_COMPILER_PASS_LIBRARY_H
#define ORCHARD_ISA_AGX_COMPILER_PASS_LIBRARY_H

#include "isa/agx/compiler/ir_builtin_names.h"
#include "isa/agx/compiler/pass.h"

/* One lane of a call: scalars. */
struct library_lane {
    struct pass *p;
    struct build b;
    struct ir_value *x, *y, *z;
    const struct ir_type *type; /* of the result */
    bool is_signed, is_vector;  /* is_vector: the lane is one of several, which matters to comparisons */
};

/* A call as it stands: the operands without the function. */
struct library_whole {
    struct pass *p;
    struct build b;
    struct ir_value *v;
    struct ir_value *const *operand;
    unsigned operands;
    const struct ir_library_call *call;
};

/* Each gives the result, or NULL when it does not know the code. */
struct ir_value *lower_math(struct library_lane *l, enum ir_expansion code);
struct ir_value *lower_trigonometry(struct library_lane *l, enum ir_expansion code);
struct ir_value *lower_rounding(struct library_lane *l, enum ir_expansion code);
struct ir_value *lower_integer(struct library_lane *l, enum ir_expansion code);
struct ir_value *lower_relation(struct library_lane *l, enum ir_expansion code);
/* Each gives the result, the call itself when it has none any more, or NULL when it does not know the code. */
struct ir_value *lower_special(struct library_whole *w, enum ir_special code);
struct ir_value *lower_atomic(struct library_whole *w, enum ir_special code);
struct ir_value *lower_geometry(struct library_whole *w, enum ir_special code);
struct ir_value *lower_simd(struct library_whole *w, enum ir_special code);
struct ir_value *lower_group(struct library_whole *w, enum ir_special code);
struct ir_value *lower_async(struct library_whole *w, enum ir_special code);
struct ir_value *lower_memory(struct library_whole *w);                      /* vload and vstore by name */
struct ir_value *lower_convert(struct library_whole *w);                     /* convert_ and as_ by name */
struct ir_value *lower_intrinsic(struct library_whole *w, const char *name); /* llvm.* */
struct ir_value *lower_copy(struct library_whole *w, const char *name);      /* llvm.memcpy, memmove, memset */
/* __orchard_NAME with kind, type and space behind: any builtin by its name in ir_builtins.inc, as our Metal headers ask for it.
 */
struct ir_value *lower_by_builtin(struct library_whole *w);

/* To floating point, where it matters in which direction. */
enum lower_rounding { LOWER_ROUND_ZERO, LOWER_ROUND_UP, LOWER_ROUND_DOWN };
struct ir_value *lower_directed(struct build *b, struct ir_value *x, const struct ir_type *type, enum lower_rounding rounding,
                                bool is_signed);

/* Two numbers of a reduction. */
struct ir_value *lower_pair(struct build *b, unsigned kind, struct ir_value *x, struct ir_value *y);
unsigned lower_kind_for(const struct library_whole *w, unsigned kind);
struct ir_value *lower_atomic_make(struct build *b, unsigned kind, struct ir_value *pointer, struct ir_value *value);
struct ir_value *lower_with_kind(struct build *b, enum ir_builtin builtin, unsigned kind, const struct ir_type *type,
                                 struct ir_value *const *operand, unsigned operands);
/* Does `one` for every lane of the operands (scalars stand for all lanes), of which there are at most three. */
typedef struct ir_value *library_one(struct library_lane *l, unsigned code);
struct ir_value *lower_lanes(struct library_whole *w, const struct ir_type *type, bool is_signed, library_one *one,
                             unsigned code);

#endif
