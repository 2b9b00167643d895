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

/* There are few groups: the same things limit the kernels of one group. */
const char *residual_work(const char *workload)
{
    static const char *const groups[][2] = {
        {"gemm", "gemm"},          {"matmul", "gemm"},           {"gemv", "gemv"},           {"conv2d", "conv"},
        {"conv-stack", "conv"},    {"conv_transpose2d", "conv"}, {"attention", "attention"}, {"reduce", "reduce"},
        {"softmax", "reduce"},     {"layernorm", "reduce"},      {"rmsnorm", "reduce"},      {"groupnorm", "reduce"},
        {"batchnorm", "reduce"},   {"globalpool", "reduce"},     {"scan", "reduce"},         {"pool", "stream"},
        {"copy", "stream"},        {"stream-scale", "stream"},   {"stream-add", "stream"},   {"stream-triad", "stream"},
        {"elementwise", "stream"}, {"rope", "stream"},           {"resize", "stream"},       {"transpose", "stream"},
        {"concat", "stream"},      {"split", "stream"},          {"pad", "stream"},          {"slice", "stream"},
    };
    const size_t length = strcspn(workload, ":");
    for (size_t i = 0; i < ARRAY_COUNT(groups); i++)
        if (strlen(groups[i][0]) == length && strncmp(groups[i][0], workload, length) == 0)
            return groups[i][1];
    return "";
}
