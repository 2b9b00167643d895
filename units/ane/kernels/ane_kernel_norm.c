/* softmax: rows along the width, the five descriptors of the public programs (eiln/ane softmax.bin). */
#include "units/ane/kernels/ane_kernel_family.h"
#include "units/ane/kernels/ane_rows.h"

#include <stdio.h>

enum { R, C, LOG };

#define ROWS_MAX (INT64_C(1) << 28)

static const struct kernel_parameter softmax_parameters[] = {
    {.name = "rows", .least = 1, .most = ROWS_MAX, .required = true},
    {.name = "columns", .least = 1, .most = ROWS_MAX, .required = true},
    {.name = "log", .missing = 0, .least = 0, .most = 1},
    {.name = NULL},
};

static bool build_softmax(const struct ane_kernel_request *q, struct ane_kernel *kernel, struct isa_error *error)
{
    const uint64_t rows = (uint64_t)q->value[R], columns = (uint64_t)q->value[C];
    struct ane_builder b;
    ane_build_begin(&b, q, kernel, 1, error);
    const struct ane_rows r = ane_rows_place(&b, rows, columns);
    const struct ane_view x = ane_rows_input(&b, &r, "x", -4, 4), out = ane_rows_output(&b, &r, "out");
    for (uint32_t i = 0; i < r.blocks && !b.failed; i++)
        ane_build_softmax(&b, q->value[LOG] != 0, ane_rows_block(&r, x, i), ane_rows_block(&r, out, i));
    kernel->flops = 5.0 * (double)rows * (double)columns;
    snprintf(kernel->variant, sizeof kernel->variant, "%u block%s of %u rows", (unsigned)r.blocks, r.blocks == 1 ? "" : "s",
             (unsigned)r.per_block);
    return ane_build_end(&b);
}

static const struct ane_kernel_info rows[] = {
    {"softmax", "RxC[,log=0|1]", "e^(x - max) / sum over the C columns of each row; log=1: its logarithm", 2, softmax_parameters,
     build_softmax},
};
const struct ane_kernel_family ane_family_norm = {rows, sizeof rows / sizeof rows[0]};
