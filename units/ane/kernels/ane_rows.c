#include "isa/rounding.h"
#include "units/ane/kernels/ane_rows.h"

#include <math.h>

enum { GROUPS_MAX = 8191 /* rows of a reduction: 13 bits */, BLOCKS_MAX = 256 /* more would be mostly descriptors */ };

struct ane_rows ane_rows_place(struct ane_builder *b, uint64_t rows, uint64_t columns)
{
    const struct ane_limits *limits = &b->request->limits;
    struct ane_rows r = {.rows = rows, .columns = columns};
    if (columns > limits->dimension_max)
        ane_build_limit(b, "rows of %llu: %s has at most %u elements along the width", (unsigned long long)columns,
                        ane_build_generation(b), (unsigned)limits->dimension_max);
    r.channels = (uint32_t)divide_up(rows, limits->dimension_max);
    r.height = (uint32_t)divide_up(rows, r.channels);
    /* Blocks whose tensors stay in tile memory, three at a time; where that makes too many blocks, whole rows of reductions. */
    const uint64_t resident = limits->l2_bytes / 2 / (3 * (columns * ANE_HALF_BYTES + 2 * ANE_L2_BYTES));
    uint64_t per_block = resident < 1 || divide_up(rows, resident) > BLOCKS_MAX ? GROUPS_MAX : resident;
    per_block = per_block > GROUPS_MAX ? GROUPS_MAX : per_block > rows ? rows : per_block;
    r.blocks = (uint32_t)divide_up(rows, per_block);
    r.per_block = (uint32_t)divide_up(rows, r.blocks);
    return r;
}

static void name_rows(struct ane_builder *b, const struct ane_rows *r, const char *name, enum ane_tensor_role role,
                      const struct ane_view *view, double low, double high)
{
    struct ane_kernel_tensor *t = ane_build_tensor(b, name, role, view, low, high);
    ane_tensor_axis(t, r->rows, view->row);
    ane_tensor_axis(t, r->columns, ANE_HALF_BYTES);
}

struct ane_view ane_rows_input(struct ane_builder *b, const struct ane_rows *r, const char *name, double low, double high)
{
    const struct ane_view view = ane_build_input(b, name, 1, r->channels, r->height, (uint32_t)r->columns);
    name_rows(b, r, name, ANE_TENSOR_INPUT, &view, low, high);
    return view;
}

struct ane_view ane_rows_output(struct ane_builder *b, const struct ane_rows *r, const char *name)
{
    const struct ane_view view = ane_build_output(b, name, 1, r->channels, r->height, (uint32_t)r->columns);
    name_rows(b, r, name, ANE_TENSOR_OUTPUT, &view, 0, 0);
    return view;
}

struct ane_view ane_rows_block(const struct ane_rows *r, struct ane_view all, uint32_t index)
{
    const uint64_t first = (uint64_t)index * r->per_block, left = r->rows - first;
    all.base += (uint32_t)(first * all.row);
    all.channels = 1;
    all.height = left < r->per_block ? (uint32_t)left : r->per_block;
    all.plane = all.height * all.row;
    return all;
}

struct ane_view ane_column_for(const struct ane_view *view, struct ane_view column)
{
    column.width = view->width;
    column.channels = view->channels;
    column.height = view->height;
    column.plane = view->height * column.row;
    return column;
}

/* x - max passes through the power of e and its sum; the logarithm subtracts ln(sum) from it instead of dividing. */
static void write_log_softmax(struct ane_builder *b, struct ane_view x, struct ane_view most_of_rows, struct ane_view sum,
                              struct ane_view result)
{
    const struct ane_planar minus = {.op = ANE_PE_ADD, .subtract = true}, natural = {.op = ANE_PE_ADD, .scale = 0.693359375F};
    const struct ane_element power = {.table = "exp2", .alpha = (double)NAN, .scale = 1.4423828125F};
    const struct ane_element log2 = {.table = "log2", .alpha = (double)NAN};
    struct ane_view column = sum, logs = ane_build_column(b, sum.height), scaled = ane_build_column(b, sum.height);
    column.broadcast_width = logs.broadcast_width = scaled.broadcast_width = false;
    const struct ane_view shifted = ane_build_between(b, x.channels, x.height, x.width);
    const struct ane_view powers = ane_build_between(b, x.channels, x.height, x.width);
    ane_build_planar(b, &minus, x, &most_of_rows, shifted);
    ane_build_element(b, &power, shifted, powers);
    ane_build_reduce(b, ANE_REDUCE_SUM, false, 1, 0, powers, sum);
    ane_build_element(b, &log2, column, logs);
    ane_build_planar(b, &natural, logs, NULL, scaled);
    scaled.broadcast_width = true;
    scaled = ane_column_for(&x, scaled);
    ane_build_planar(b, &minus, shifted, &scaled, result);
}

static void write_powers(struct ane_builder *b, struct ane_view x, struct ane_view most_of_rows, struct ane_view powers)
{
    const struct ane_planar shifted = {.op = ANE_PE_ADD, .subtract = true, .scale = 1.4423828125F /* log2 e in fp16 */};
    const struct ane_element power = {.table = "exp2", .alpha = (double)NAN};
    const struct ane_view ring = ane_build_ring(b, x.channels, x.height, x.width);
    ane_build_planar(b, &shifted, x, &most_of_rows, ring);
    ane_build_element(b, &power, ring, powers);
}

void ane_build_softmax_parts(struct ane_builder *b, uint64_t beside, struct ane_view x, struct ane_view powers,
                             struct ane_view factor)
{
    const uint32_t mark = ane_build_mark(b);
    const struct ane_view most = ane_build_column_beside(b, beside, x.channels * x.height);
    ane_build_reduce(b, ANE_REDUCE_MAX, false, 1, 0, x, most);
    write_powers(b, x, ane_column_for(&x, most), powers);
    ane_build_reduce(b, ANE_REDUCE_SUM, true, 1, 0, powers, factor);
    ane_build_release(b, mark);
}

void ane_build_softmax(struct ane_builder *b, bool log, struct ane_view x, struct ane_view result)
{
    const struct ane_planar product = {.op = ANE_PE_MUL};
    const uint32_t mark = ane_build_mark(b), rows = x.channels * x.height;
    const struct ane_view sum = ane_build_column(b, rows);
    if (log) {
        const struct ane_view most = ane_build_column(b, rows);
        ane_build_reduce(b, ANE_REDUCE_MAX, false, 1, 0, x, most);
        write_log_softmax(b, x, ane_column_for(&x, most), sum, result);
    } else {
        const struct ane_view powers = ane_build_between(b, x.channels, x.height, x.width);
        ane_build_softmax_parts(b, b->request->limits.l2_bytes / 2, x, powers, sum);
        ane_build_planar(b, &product, ane_column_for(&x, sum), &powers, result);
    }
    ane_build_release(b, mark);
}
