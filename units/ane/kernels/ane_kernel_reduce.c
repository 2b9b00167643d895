/* reduce: lines along the width, one descriptor for as many lines as it can have rows. */
#include "isa/array_count.h"
#include "units/ane/kernels/ane_kernel_family.h"
#include "units/ane/kernels/ane_norm.h"

#include <stdio.h>

enum { R, C, OP, AXIS };
enum { SUM, MEAN, MAX, MIN, SQUARES };
enum { GROUPS_MAX = 8191 /* rows of a reduction: 13 bits */ };

#define SIDE_MOST (INT64_C(1) << 28)

static const struct kernel_parameter parameters[] = {
    {.name = "rows", .least = 1, .most = SIDE_MOST, .required = true},
    {.name = "columns", .least = 1, .most = SIDE_MOST, .required = true},
    {.name = "op", .words = "sum|mean|max|min|squares"},
    {.name = "axis", .missing = 1, .least = 0, .most = 1},
    {.name = NULL},
};

/* Lines of `length` elements, with one result each. */
struct reduction {
    int64_t op;
    uint64_t lines, length;
    uint32_t channels, height; /* of the buffer: channels x height lines */
};

static void reduce_lines(struct ane_builder *b, const struct reduction *r, struct ane_view x, struct ane_view out)
{
    const struct ane_planar negative = {.op = ANE_PE_ADD, .scale = -1};
    const struct ane_view ring = ane_build_ring(b, 1, x.height, x.width);
    switch (r->op) {
    case SUM: ane_build_reduce(b, ANE_REDUCE_SUM, false, 1, 0, x, out); break;
    case MEAN: ane_build_reduce(b, ANE_REDUCE_SUM, false, 1 / (float)r->length, 0, x, out); break;
    case MAX: ane_build_reduce(b, ANE_REDUCE_MAX, false, 1, 0, x, out); break;
    case MIN:
        ane_build_planar(b, &negative, x, NULL, ring);
        ane_build_reduce(b, ANE_REDUCE_MAX, false, -1, 0, ring, out);
        break;
    default: ane_build_square_sum(b, 1, 0, x, out); break;
    }
}

/* axis = 0: the buffer has the columns as lines, so that they run along the width. */
static void name_matrix(struct ane_builder *b, const struct ane_view *x, bool along_rows, uint64_t rows, uint64_t columns)
{
    struct ane_kernel_tensor *t = ane_build_tensor(b, "x", ANE_TENSOR_INPUT, x, -1, 1);
    ane_tensor_axis(t, rows, along_rows ? x->row : ANE_HALF_BYTES);
    ane_tensor_axis(t, columns, along_rows ? ANE_HALF_BYTES : x->row);
}

static bool build(const struct ane_kernel_request *q, struct ane_kernel *kernel, struct isa_error *error)
{
    const uint64_t rows = (uint64_t)q->value[R], columns = (uint64_t)q->value[C];
    const bool along_rows = q->value[AXIS] == 1;
    struct reduction r = {.op = q->value[OP], .lines = along_rows ? rows : columns, .length = along_rows ? columns : rows};
    struct ane_builder b;
    ane_build_begin(&b, q, kernel, 1, error);
    if (r.length > q->limits.dimension_max)
        ane_build_limit(&b, "lines of %llu: %s has at most %u elements along the width", (unsigned long long)r.length,
                        ane_build_generation(&b), (unsigned)q->limits.dimension_max);
    r.channels = (uint32_t)((r.lines + q->limits.dimension_max - 1) / q->limits.dimension_max);
    r.height = (uint32_t)((r.lines + r.channels - 1) / r.channels);
    const struct ane_view x = ane_build_input(&b, "x", 1, r.channels, r.height, (uint32_t)r.length);
    name_matrix(&b, &x, along_rows, rows, columns);
    const struct ane_view out = ane_build_output(&b, "out", 1, r.channels, r.height, 1);
    ane_tensor_axis(ane_build_tensor(&b, "out", ANE_TENSOR_OUTPUT, &out, 0, 0), r.lines, out.row);
    for (uint64_t first = 0; first < r.lines && !b.failed; first += GROUPS_MAX) {
        const uint32_t count = r.lines - first < GROUPS_MAX ? (uint32_t)(r.lines - first) : GROUPS_MAX;
        struct ane_view from = x, to = out;
        from.base += (uint32_t)(first * x.row);
        to.base += (uint32_t)(first * out.row);
        from.channels = to.channels = 1;
        from.height = to.height = count;
        reduce_lines(&b, &r, from, to);
    }
    kernel->flops = (double)rows * (double)columns;
    snprintf(kernel->variant, sizeof kernel->variant, "%llu lines of %llu", (unsigned long long)r.lines,
             (unsigned long long)r.length);
    return ane_build_end(&b);
}

static const struct ane_kernel_info info[] = {
    {"reduce", "RxC[,op=sum|mean|max|min|squares][,axis=1|0]",
     "one value per row (axis=1) or column (axis=0); squares: their sum", 2, parameters, build},
};
const struct ane_kernel_family ane_family_reduce = {info, ARRAY_COUNT(info)};
