/* From what the back end made to a kernel that can be launched: code, arguments, constant tables, lines. */
#ifndef ORCHARD_SIM_COMPILE_COMPILE_TAKE_H
#define ORCHARD_SIM_COMPILE_COMPILE_TAKE_H

#include "sim/compile/compile.h"

struct agx_compiled;
struct ir_module;

/* Fills `result`, whose kernel has its own arguments already. `path` is the source, for messages; `module` knows the names of
 * files. False says what does not fit. */
bool compile_take(struct compile_result *result, const struct agx_compiled *c, const struct ir_module *module, const char *path,
                  struct orch_error *error);
/* Hash of what a launch of the kernel depends on: code, its parts and limits, arguments and what they hold at first. */
uint64_t compile_hash(const struct abi_kernel *k);

#endif
