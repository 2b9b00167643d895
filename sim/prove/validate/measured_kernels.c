#include "sim/prove/validate/measured_kernels.h"

#include "sim/workload/gpu/frameworks/framework.h"

#include <stdio.h>
#include <string.h>

/* "mlx 0.5.0, M1 Pro 16" runs mlx@0.5.0, "torch-mps 2.2.1" mps@2.2.1. A version that is not stated, or later than those that are known, runs
 * the newest of them. */
void validate_measured_kernels(const char *framework, struct validate_launch *launch)
{
    const size_t name = strcspn(launch->workload, ":");
    const bool mps = strncmp(framework, "torch-mps", 9) == 0;
    const char *const set = mps ? "mps" : "mlx";
    struct framework_choice choice;
    struct orch_error unknown;
    if (!framework_has(mps ? FRAMEWORK_MPS : FRAMEWORK_MLX, launch->workload, name, launch->precision))
        return;
    const char *const version = framework + strcspn(framework, " ") + 1;
    snprintf(launch->kernels, sizeof launch->kernels, "%s@%.*s", set, (int)strcspn(version, ","), version);
    if (!framework_choose(launch->kernels, "", &choice, &unknown))
        snprintf(launch->kernels, sizeof launch->kernels, "%s", set);
}
