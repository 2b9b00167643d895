#include "sim/prove/validate/measured_kernels.h"

#include "sim/workload/gpu/frameworks/framework.h"

#include <stdio.h>
#include <string.h>

/* "mlx 0.5.0" runs mlx@0.5.0. A version that is not stated, or later than those that are known, runs the newest of them. */
void validate_measured_kernels(const char *framework, struct validate_launch *launch)
{
    const size_t name = strcspn(launch->workload, ":");
    struct framework_choice choice;
    struct orch_error unknown;
    if (!framework_has(FRAMEWORK_MLX, launch->workload, name, launch->precision))
        return;
    snprintf(launch->kernels, sizeof launch->kernels, "mlx@%s", framework + strcspn(framework, " ") + 1);
    if (!framework_choose(launch->kernels, "", &choice, &unknown))
        snprintf(launch->kernels, sizeof launch->kernels, "mlx");
}
