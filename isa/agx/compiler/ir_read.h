/* Textual LLVM IR, as clang 16 writes it for spir64 with opaque pointers, to a module; text of 15 to 19 is taken where it says
 * the same. What ir_print_module writes is read as well. What the representation cannot hold is refused.
 * As clang writes it, the text has named types before the heads that use them, an instruction on a line of its own (a switch may
 * take several), and the brace that ends a function first on its line.
 *
 * Locations become `line` and `file`; names of arguments come from !kernel_arg_name, group sizes from !reqd_work_group_size;
 * llvm.var.annotation and llvm.global.annotations become `annotation` (of the variable, and of the argument that is kept in it),
 * a function annotated "kernel" is one, and "host_name=NAME" of a function, or of a variable that points to it, names it for the
 * host. Constant expressions become instructions. Every function is verified (ir_verify). Atomic operations that order memory get
 * a FENCE on the sides that they order. */
#ifndef ORCHARD_ISA_AGX_COMPILER_IR_READ_H
#define ORCHARD_ISA_AGX_COMPILER_IR_READ_H

#include "isa/agx/compiler/ir.h"

/* NULL on failure, with the line of the text in `error`. The text need not end in a zero. */
struct ir_module *ir_read(const char *text, size_t bytes, struct isa_error *error);
/* The same where files of a folder are a library: what was inlined from them belongs to the line that called it. Code of the
 * library that was not inlined has no line. NULL = there is none. */
struct ir_module *ir_read_with_library(const char *text, size_t bytes, const char *folder, struct isa_error *error);

#endif
