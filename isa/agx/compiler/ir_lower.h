/* From what clang gave to the form that the back end takes (see ir.h): one function without calls, scalars, plain addresses. */
#ifndef ORCHARD_ISA_AGX_COMPILER_IR_LOWER_H
#define ORCHARD_ISA_AGX_COMPILER_IR_LOWER_H

#include "isa/agx/compiler/ir.h"

struct ir_lower_options {
    bool fast_math; /* quotients and library functions as the hardware gives them, as if every one were native_* */
    FILE *print;    /* the function after each pass that changed it; NULL = none */
};

/* Lowers `kernel` in place. On failure the kernel is half lowered and of no use, and `error` names what is not supported.
 *
 * A structure passed by value becomes several arguments of the structure's alignment, in its place: the argument block keeps its
 * layout, arguments behind it get other numbers. */
bool ir_lower(struct ir_module *m, struct ir_function *kernel, const struct ir_lower_options *options, struct isa_error *error);

#endif
