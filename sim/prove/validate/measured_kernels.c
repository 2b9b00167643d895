#include "sim/prove/validate/measured_kernels.h"

#include "sim/workload/gpu/frameworks/framework.h"

#include <stdio.h>
#include <string.h>

/* The earliest tables of TristanBilot/mlx-benchmark name no version, or one that came out later than they did: they were made
 * with what was new in the first days of January 2024. */
#define EARLIEST_MLX "0.0.7"

static bool ends_in(const char *text, const char *end)
{
    const size_t length = strlen(text), behind = strlen(end);
    return length > behind && strcmp(text + length - behind, end) == 0;
}

static void mlx_version(const struct validate_row *row, char version[16])
{
    const char *const at = strstr(row->condition, "mlx ");
    const bool stated = at && at[4] >= '0' && at[4] <= '9' && !strstr(row->condition, "heading says");
    snprintf(version, 16, "%.*s", stated ? (int)strspn(at + 4, "0123456789.") : 15, stated ? at + 4 : EARLIEST_MLX);
}

void validate_measured_kernels(const struct validate_row *row, struct validate_launch *launch)
{
    const size_t name = strcspn(launch->workload, ":");
    char version[16];
    if (ends_in(row->what, "_mlx_gpu") && framework_has(FRAMEWORK_MLX, launch->workload, name, launch->precision)) {
        struct framework_choice choice;
        struct orch_error unknown;
        mlx_version(row, version);
        snprintf(launch->kernels, sizeof launch->kernels, "mlx@%s", version);
        if (!framework_choose(launch->kernels, "", &choice, &unknown)) /* later than those that are known: the newest of them */
            snprintf(launch->kernels, sizeof launch->kernels, "mlx");
    }
}
