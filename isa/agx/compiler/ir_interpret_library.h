/* What the files that decode calls of library functions share. */
#ifndef ORCHARD_ISA_AGX_COMPILER_IR_INTERPRET_LIBRARY_H
#define ORCHARD_ISA_AGX_COMPILER_IR_INTERPRET_LIBRARY_H

#include "isa/agx/compiler/ir_builtin_names.h"
#include "isa/agx/compiler/ir_interpret_decode.h"

#define LIBRARY_SIGNED    1u
#define LIBRARY_VECTOR    2u
#define LIBRARY_TO_SIGNED 4u

/* A call whose operands are decoded. */
struct library {
    struct decoder *d;
    const struct frame *frame;
    const struct ir_value *v;
    struct ir_library_call call;
    struct slots in[8];
    unsigned operands; /* the function itself left out */
};

/* `which` of a step is an enum ir_expansion, `list` the flags above. */
pure_function pure_expand_float, pure_expand_integer, pure_rest, pure_fraction, pure_significand, pure_exponent,
    pure_saturate_integer, pure_select_nonzero;

unsigned decode_library_bits(const struct ir_type *type); /* of its first scalar */
const struct ir_value *decode_library_operand(const struct library *l, unsigned index);
/* A function on each scalar of the result. */
struct slots decode_library_each(struct library *l, pure_function *pure, unsigned which, unsigned list);
struct slots decode_library_nothing(struct library *l);
struct slots decode_library_special(struct library *l);
struct slots decode_library_convert(struct library *l);
struct slots decode_library_vector_memory(struct library *l);
struct slots decode_library_intrinsic(struct library *l, const char *name);

#endif
