#include "sim/run/residual.h"
#include "isa/array_count.h"

#include <string.h>

static const struct residual residuals[] = {
#include "sim/run/residuals.inc"
};

const struct residual *residual_in(const struct residual *table, size_t count, const char *part, const char *work)
{
    const char *const wanted[][2] = {{part, work}, {part, ""}, {"", ""}};
    for (size_t w = 0; w < ARRAY_COUNT(wanted); w++)
        for (size_t i = 0; i < count; i++)
            if (strcmp(table[i].part, wanted[w][0]) == 0 && strcmp(table[i].work, wanted[w][1]) == 0)
                return &table[i];
    return NULL;
}

const struct residual *residual_of(const char *part, const char *work)
{
    return residual_in(residuals, ARRAY_COUNT(residuals), part, work);
}

const char *residual_work(const char *workload)
{
    static const char *const kernels[][2] = {
#define KERNEL(name, work) {name, work},
#include "sim/workload/kernels.inc"
    };
    const size_t length = strcspn(workload, ":");
    for (size_t i = 0; i < ARRAY_COUNT(kernels); i++)
        if (strlen(kernels[i][0]) == length && strncmp(kernels[i][0], workload, length) == 0)
            return kernels[i][1];
    return "";
}
