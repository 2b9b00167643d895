/* What the files of folding share. */
#ifndef ORCHARD_ISA_AGX_COMPILER_PASS_FOLD_H
#define ORCHARD_ISA_AGX_COMPILER_PASS_FOLD_H

#include "isa/agx/compiler/pass.h"

/* The low bits of the integer v; where possible computed from low bits instead of cut off. */
struct ir_value *fold_low_bits(struct build *b, struct ir_value *v, const struct ir_type *type);
/* Floating point and builtins. NULL: stays as it is. */
struct ir_value *fold_float(struct pass *p, struct ir_value *v);

#endif
