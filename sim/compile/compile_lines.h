/* The table of lines of a compiled kernel together with the texts of its lines. */
#ifndef ORCHARD_SIM_COMPILE_COMPILE_LINES_H
#define ORCHARD_SIM_COMPILE_COMPILE_LINES_H

#include "sim/compile/compile.h"
#include "sim/workload/gpu/abi_source.h"

/* Texts are taken from the source itself and from files in folders that the request lets #include reach: a #line directive or
 * stored text may name any file of the host. Free with abi_source_free. */
bool compile_lines(const struct compile_result *result, const struct compile_request *request, struct abi_source **source,
                   struct orch_error *error);

#endif
