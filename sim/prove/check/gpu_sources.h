/* Checks the compiler against independent truth: folders of kernels as in gpu_kernels.h, whose source kernel.cl (or kernel.metal,
 * kernel.ll) is compiled instead of taking the folder's code. Outputs are judged by the folder's rules; how many instructions
 * were executed is set beside the folder's reference_run and not judged. */
#ifndef ORCHARD_SIM_PROVE_CHECK_GPU_SOURCES_H
#define ORCHARD_SIM_PROVE_CHECK_GPU_SOURCES_H

#include "sim/compile/compile.h"
#include "sim/prove/check/gpu_kernels.h"

/* A kernel that was compiled and executed. */
struct check_source_row {
    char name[64];
    bool right;                       /* its outputs are as expected */
    uint64_t instructions, reference; /* of simdgroups, in all; reference 0 = the folder has none */
    uint32_t code_bytes, register_halves, reference_halves;
    unsigned spills;
};

struct check_source_rows {
    struct check_source_row *row;
    size_t count;
};

/* `how` says definitions, folders and levels; its path, entry and text are not looked at. As check_gpu_kernels otherwise. A
 * folder without a source is skipped. Free the rows in any case. */
bool check_gpu_sources(const char *folder, const char *const *names, size_t name_count, const struct check_gpu_options *options,
                       const struct compile_request *how, struct check_report *report, struct check_source_rows *rows,
                       struct orch_error *error);
void check_source_rows_free(struct check_source_rows *rows);
/* Geometric mean of instructions over reference of the rows that are right and have a reference; 0 = there are none. */
double check_source_mean(const struct check_source_rows *rows);

#endif
