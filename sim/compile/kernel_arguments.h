/* Arguments of a compiled kernel as launch descriptions list them. */
#ifndef ORCHARD_SIM_COMPILE_KERNEL_ARGUMENTS_H
#define ORCHARD_SIM_COMPILE_KERNEL_ARGUMENTS_H

#include "isa/agx/agx_isa.h"
#include "isa/agx/compiler/ir.h"
#include "sim/workload/gpu/abi_kernel.h"

/* Fills in the arguments of `kernel`: names, kinds, element types and places in the argument block, one behind the other,
 * naturally aligned. `function` is as it was read, before lowering; `llvm` is the text that it was read from, whose metadata say
 * what pointers point to. A vector or a structure passed by value becomes a scalar for each element, "v.0", "v.1", ... False with
 * exit code 3 for what no launch can pass. */
bool kernel_arguments(const struct ir_function *function, const char *llvm, struct abi_kernel *kernel, struct orch_error *error);

/* Whether bytes of the block belong to no argument and only keep those behind them in their places: `own` arguments were listed,
 * in `own_bytes`. */
bool kernel_arguments_padding(const struct abi_kernel *kernel, unsigned own, uint32_t own_bytes, uint32_t offset, uint32_t bytes);

#endif
