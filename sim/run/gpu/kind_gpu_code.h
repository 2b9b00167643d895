/* What the kinds share that launch GPU machine code: the struct abi_kernel that run->work points to, or begins with. */
#ifndef ORCHARD_SIM_RUN_GPU_KIND_GPU_CODE_H
#define ORCHARD_SIM_RUN_GPU_KIND_GPU_CODE_H

#include "sim/run/kind.h"

/* Gives buffers the start contents of the option "input" and names the program; the last part of `open`. */
bool run_gpu_code_inputs(struct run *run, struct orch_error *error);
void run_gpu_code_close(struct run *run);
/* What neither reads an option "unit" for another unit nor one for an element type. */
bool run_gpu_code_check(const struct run *run, struct orch_error *error);
uint64_t run_gpu_code_hash(const struct run *run);
double run_gpu_code_bytes(const struct run *run);
bool run_gpu_code_time_in(struct run *run, const struct run_given *given, struct run_measure *m, struct run_result *result,
                          struct orch_error *error);
/* run_gpu_code_explain.c: registers, spills, simdgroups of a core and what limits them, the mix of instructions. */
void run_gpu_code_explain(FILE *out, const struct run *run, const struct run_result *result);

#endif
