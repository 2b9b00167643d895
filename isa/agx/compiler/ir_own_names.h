/* Builtins by their own names: what our headers for Metal call (sim/compile/metal/orchard_base).
 *
 * "__orchard_" and the text of a builtin in ir_builtins.inc; behind it, where the builtin has kinds, the kind ("fmul", "smin"),
 * then the type and the address space, which the call says as well: __orchard_simd_reduce_fmul_f32, __orchard_atomic_add_u32_as1.
 */
#ifndef ORCHARD_ISA_AGX_COMPILER_IR_OWN_NAMES_H
#define ORCHARD_ISA_AGX_COMPILER_IR_OWN_NAMES_H

#include "isa/agx/compiler/ir.h"

/* Replaces calls of such functions, in all functions of the module. Before ir_lower. False with the line of the source when there
 * is no builtin of that name or the call does not fit it. */
bool ir_own_names(struct ir_module *m, struct isa_error *error);

#endif
