#include "sim/prove/validate/measured_kernels.h"

#include "sim/prove/validate/row_framework.h"
#include "sim/workload/gpu/frameworks/framework.h"

#include <stdio.h>
#include <string.h>

static bool ends_in(const char *text, const char *end)
{
    const size_t length = strlen(text), behind = strlen(end);
    return length > behind && strcmp(text + length - behind, end) == 0;
}

/* A row whose version nobody knows ran the newest one, for all that is known. */
void validate_measured_kernels(const struct validate_row *row, struct validate_launch *launch)
{
    const size_t name = strcspn(launch->workload, ":");
    struct framework_choice choice;
    struct orch_error unknown;
    char framework[FRAMEWORK_NAME_SIZE];
    if (!ends_in(row->what, "_mlx_gpu") || !framework_has(FRAMEWORK_MLX, launch->workload, name, launch->precision))
        return;
    row_framework(row, true, framework);
    const char *const version = strchr(framework, ',') ? NULL : strchr(framework, ' ');
    if (version)
        snprintf(launch->kernels, sizeof launch->kernels, "mlx@%s", version + 1);
    else
        snprintf(launch->kernels, sizeof launch->kernels, "mlx");
    if (version &&
        !framework_choose(launch->kernels, "", &choice, &unknown)) /* later than those that are known: the newest of them */
        snprintf(launch->kernels, sizeof launch->kernels, "mlx");
}
