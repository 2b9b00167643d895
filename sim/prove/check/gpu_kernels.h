/* Checks real GPU kernels against independent truth: a folder of kernels, each a launch description with expected outputs and
 * exact dynamic instruction counts. The format is described in sim/workload/gpu/abi_kernel.h and tests/golden/agx/README.md. */
#ifndef ORCHARD_SIM_PROVE_CHECK_GPU_KERNELS_H
#define ORCHARD_SIM_PROVE_CHECK_GPU_KERNELS_H

#include "sim/base/check.h"
#include "sim/base/error.h"

struct check_gpu_options {
    unsigned threads; /* of the host */
    bool reference;   /* execute by the plain rules, one lane at a time */
    bool sanitize;
};

/* Checks every folder of `folder` that has an abi.json (or `folder` itself) in the order of their names, or only those named. A
 * kernel with code for other parts is a case for each. A kernel that cannot be read is a case that fails; false only when there
 * are no kernels or a name is unknown. */
bool check_gpu_kernels(const char *folder, const char *const *names, size_t name_count, const struct check_gpu_options *options,
                       struct check_report *report, struct orch_error *error);

struct gpu_setup;
struct gpu_totals;
struct gpu_findings;
/* Executes a launch that is to be checked, with poisoned registers; counts and findings are the caller's to free. */
bool check_gpu_execute(const struct gpu_setup *setup, const struct check_gpu_options *options, struct gpu_totals *totals,
                       struct gpu_findings *found, struct orch_error *error);

#endif
