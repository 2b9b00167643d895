/* MLX reductions: of whole arrays, rows and columns, and places of the largest. Sections 5 to 7 of the facts. */
#include "sim/workload/gpu/frameworks/framework_plan.h"

#include <string.h>

enum { IN, OUT, MOST = 1024 /* threads of a threadgroup */ };
enum { SUM, MEAN, MAX, MIN, PROD, NORM2, ARGMAX, ARGMIN }; /* the operator's words */

static uint64_t whole_simdgroups(uint64_t threads)
{
    return plan_ceil(threads, 32) * 32;
}

static struct plan_size line(uint64_t x)
{
    return (struct plan_size){x, 1, 1};
}

/* ---- places ---- */

/* Matrices of rows and columns follow one another. As struct arg_sizes of mlx/reduce.metal: two dimensions remain, the first of
 * which varies slowest; a single result has none. */
void mlx_places(struct framework_plan *p, const char *op, bool along_rows, unsigned least)
{
    const uint64_t rows = plan_value(p, "rows"), columns = plan_value(p, "columns"), batch = plan_value(p, "batch");
    const uint64_t length = along_rows ? columns : rows, lines = along_rows ? rows : columns, results = lines * batch,
                   threads = plan_least(MOST, whole_simdgroups(plan_ceil(length, 4)));
    const struct {
        uint64_t length, step, in_step[2], out_step[2];
        int32_t shape[2];
        uint32_t dimensions;
    } sizes = {.length = length,
               .step = along_rows ? 1 : columns,
               .in_step = {rows * columns, along_rows ? columns : 1},
               .out_step = {lines, 1},
               .shape = {(int32_t)batch, (int32_t)lines},
               .dimensions = results > 1 ? 2 : 0};
    plan_launch_groups(p, line(results), line(threads > least ? threads : least), "mlx_%s_%s", op, plan_type(p));
    plan_buffer(p, IN);
    plan_buffer(p, OUT);
    plan_numbers(p, &sizes, sizeof sizes);
}

/* ---- up to 0.16: set, then added to ---- */

static void set(struct framework_plan *p, const char *op, uint64_t results)
{
    plan_launch(p, line(results), line(plan_least(MOST, results)), "mlx_init_%s", op);
    plan_buffer(p, OUT);
}

static void all_atomic(struct framework_plan *p, const char *op, uint64_t count)
{
    const uint64_t groups = plan_least(1024, plan_ceil(count, 16 * MOST));
    set(p, op, 1);
    plan_launch_groups(p, line(groups), line(MOST), "mlx_all_atomic_%s", op);
    plan_buffer(p, IN);
    plan_buffer(p, OUT);
    plan_number(p, (uint32_t)count, (uint32_t)(16 * MOST * groups));
}

static void rows_atomic(struct framework_plan *p, const char *op, uint64_t rows, uint64_t columns)
{
    set(p, op, rows);
    plan_launch_groups(p, line(rows), line(plan_least(MOST, whole_simdgroups(plan_ceil(columns, 16)))), "mlx_row_atomic_%s", op);
    plan_buffer(p, IN);
    plan_buffer(p, OUT);
    plan_number(p, (uint32_t)columns);
}

static void columns_atomic(struct framework_plan *p, const char *op, uint64_t rows, uint64_t columns, uint64_t batch)
{
    const unsigned deep = rows > 64 ? 8 : 4;
    set(p, op, columns * batch);
    plan_launch_groups(p, (struct plan_size){plan_ceil(columns, 128), plan_ceil(rows, 16 * deep), batch},
                       (struct plan_size){128, deep, 1}, "mlx_column_atomic_%s_%u", op, deep);
    plan_buffer(p, IN);
    plan_buffer(p, OUT);
    plan_number(p, (uint32_t)rows, (uint32_t)columns, (uint32_t)(rows * columns));
}

/* ---- rows of few elements, from 0.7 on ---- */

static void rows_small(struct framework_plan *p, const char *op, uint64_t rows, uint64_t columns)
{
    plan_launch(p, line(rows), line(plan_least(MOST, whole_simdgroups(rows))), "mlx_row_small_%s", op);
    plan_buffer(p, IN);
    plan_buffer(p, OUT);
    plan_number(p, (uint32_t)columns);
}

static void rows_medium(struct framework_plan *p, const char *op, uint64_t rows, uint64_t columns)
{
    plan_launch_groups(p, line(plan_ceil(rows, 8)), line(256), "mlx_row_medium_%s", op);
    plan_buffer(p, IN);
    plan_buffer(p, OUT);
    plan_number(p, (uint32_t)columns, (uint32_t)rows);
}

/* ---- from 0.17 on: two passes ---- */

static void pass(struct framework_plan *p, const char *op, unsigned from, unsigned to, uint64_t count, uint64_t row)
{
    const uint64_t threads = plan_least(MOST, whole_simdgroups(plan_ceil(row, 4)));
    plan_launch_groups(p, (struct plan_size){1, plan_ceil(count, row), 1}, line(threads), "mlx_all_pass_%s", op);
    plan_buffer(p, from);
    plan_buffer(p, to);
    plan_number(p, (uint32_t)count, (uint32_t)row);
}

static void all_in_passes(struct framework_plan *p, const char *op, uint64_t count)
{
    if (count <= 4096) {
        pass(p, op, IN, OUT, count, count);
        return;
    }
    const uint64_t rows = count * 4 <= UINT64_C(64) << 20 ? 128 : 4096, row = plan_ceil(count, rows);
    const unsigned parts = plan_scratch(p, "parts", GPU_F32, plan_ceil(count, row));
    pass(p, op, IN, parts, count, row);
    pass(p, op, parts, OUT, plan_ceil(count, row), plan_ceil(count, row));
}

static void rows_simple(struct framework_plan *p, const char *op, uint64_t rows, uint64_t columns)
{
    const unsigned threads = columns <= 512 ? 32 : columns <= 1024 ? 128 : MOST;
    plan_launch_groups(p, line(plan_ceil(rows, 4)), line(threads), "mlx_row_simple_%s", op);
    plan_buffer(p, IN);
    plan_buffer(p, OUT);
    plan_number(p, (uint32_t)columns, (uint32_t)rows);
}

static void columns_looped(struct framework_plan *p, const char *op, uint64_t rows, uint64_t columns, uint64_t batch)
{
    plan_launch_groups(p, (struct plan_size){plan_ceil(columns, 32), 1, batch}, line(256), "mlx_column_looped_%s", op);
    plan_buffer(p, IN);
    plan_buffer(p, OUT);
    plan_number(p, (uint32_t)rows, (uint32_t)columns, (uint32_t)(rows * columns));
}

/* ---- the rules ---- */

static void along_rows(struct framework_plan *p, const char *op, uint64_t rows, uint64_t columns)
{
    const bool passes = p->version >= framework_version(0, 17, 0), short_rows = p->version >= framework_version(0, 7, 0);
    if (rows == 1 && passes)
        all_in_passes(p, op, columns);
    else if (rows == 1)
        all_atomic(p, op, columns);
    else if (short_rows && columns <= (passes ? 64 : 31))
        rows_small(p, op, rows, columns);
    else if (passes)
        rows_simple(p, op, rows, columns);
    else if (short_rows && columns <= 256)
        rows_medium(p, op, rows, columns);
    else
        rows_atomic(p, op, rows, columns);
}

bool mlx_reduce(struct framework_plan *p)
{
    static const char *const names[] = {[SUM] = "sum", [MAX] = "max", [MIN] = "min", [ARGMAX] = "argmax", [ARGMIN] = "argmin"};
    const uint64_t rows = plan_value(p, "rows"), columns = plan_value(p, "columns"), op = plan_value(p, "op"),
                   batch = plan_value(p, "batch");
    const bool rowwise = plan_value(p, "axis") == 1;
    if (op > ARGMIN || !names[op])
        return plan_refuse(p, "reduce has op=sum, max, min, argmax and argmin");
    if (rows * columns * batch > UINT32_MAX)
        return plan_refuse(p, "reduce of more than 2^32 - 1 elements");
    if (op < ARGMAX && p->type != GPU_F32)
        return plan_refuse(p, "reduce has op=%s in f32 alone", names[op]);
    if (op >= ARGMAX)
        mlx_places(p, names[op], rowwise, 32);
    else if (rowwise)
        along_rows(p, names[op], rows * batch, columns);
    else if (p->version >= framework_version(0, 17, 0))
        columns_looped(p, names[op], rows, columns, batch);
    else
        columns_atomic(p, names[op], rows, columns, batch);
    return !p->failed;
}

void mlx_softmax_rows(struct framework_plan *p, unsigned in, unsigned out, uint64_t rows, uint64_t columns)
{
    const bool single = columns <= 4096;
    plan_launch_groups(p, line(rows), line(single ? whole_simdgroups(plan_ceil(columns, 4)) : MOST), "mlx_softmax_%s%s",
                       single ? "" : "looped_", plan_type(p));
    plan_buffer(p, in);
    plan_buffer(p, out);
    plan_number(p, (uint32_t)columns);
}

bool mlx_softmax(struct framework_plan *p)
{
    const uint64_t columns = plan_value(p, "columns");
    if (plan_value(p, "log"))
        return plan_refuse(p, "softmax without log");
    if (columns > INT32_MAX)
        return plan_refuse(p, "softmax of rows of more than 2^31 - 1 elements");
    mlx_softmax_rows(p, IN, OUT, plan_value(p, "rows"), columns);
    return !p->failed;
}
