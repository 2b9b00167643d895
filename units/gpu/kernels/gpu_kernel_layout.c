/* Moving elements: transpose, concat, gather, pad, slice. The meaning of the elements does not matter. */
#include "isa/array_count.h"
#include "units/gpu/kernels/gpu_kernel_family.h"

#include <stdio.h>

#define ALL_TYPES "f32 f16 bf16 i32 u32 u8"

enum { GROUP_THREADS = 256 };

static bool check_count(const struct gpu_kernel_request *q, uint64_t rows, uint64_t columns, uint64_t times,
                        struct isa_error *error)
{
    const uint64_t most = (uint64_t)GPU_KERNEL_ELEMENTS_MAX;
    if (columns == 0 || (rows <= most / columns && rows * columns <= most / times))
        return true;
    return kernel_refuse(error, "%s: an operand has more than 2^31 - 1 elements", q->info->name);
}

static struct gpu_emit *begin(const struct gpu_kernel_request *q, struct gpu_kernel *kernel, struct isa_error *error)
{
    char variant[32];
    snprintf(variant, sizeof variant, "%s_%s", q->info->name, gpu_type_name(q->type));
    return gpu_emit_begin(kernel, variant, error);
}

/* Adds an input with values that differ in every type. */
static unsigned add_input(const struct gpu_kernel_request *q, struct gpu_kernel *kernel, const char *name, uint64_t count)
{
    const bool whole = q->type >= GPU_I32;
    return gpu_kernel_add_buffer(kernel, name, q->type, count, GPU_BUFFER_INPUT, whole ? 0 : -4, whole ? 200 : 4);
}

static double bytes_of(const struct gpu_kernel_request *q, uint64_t count)
{
    return (double)gpu_type_bytes(q->type, count);
}

/* ---- transpose: tiles of 32 x 32 are turned in threadgroup memory, so that both sides move whole lines ---- */

enum { ROWS, COLUMNS, BATCH };
enum { TILE = 32, PITCH = TILE + 1 /* neighbours of a column use different banks */ };
enum { TILE_THREADS_Y = 8, TILE_ROUNDS = TILE / TILE_THREADS_Y };

static const struct kernel_parameter transpose_parameters[] = {
    {.name = "rows", .least = 1, .most = 1 << 30, .required = true},
    {.name = "columns", .least = 1, .most = 1 << 30, .required = true},
    {.name = "batch", .missing = 1, .least = 1, .most = 1 << 24},
    {.name = NULL},
};

struct tile_copy {
    struct gpu_emit *e;
    enum gpu_type type;
    struct gpu_base base;
    uint32_t rows, columns; /* of the side that is accessed: device index = row * columns + column */
    uint32_t bytes;         /* of an element */
    unsigned row, column, local_x, local_y, start, value, address, at; /* registers; row, column: of the tile's first element */
    bool far;        /* more elements than an index reaches: start is the number of the matrix, and each row has its base */
    unsigned origin; /* a pair: that base */
};

/* Makes of t->at, a row, the index behind the base that is returned. */
static struct gpu_base tile_place(struct tile_copy *t)
{
    const uint64_t row_bytes = (uint64_t)t->columns * t->bytes;
    if (!t->far) {
        gpu_mad_imm(t->e, t->at, t->at, t->columns, t->column);
        gpu_emit(t->e, "iadd r%u, r%u, r%u", t->at, t->at, t->start);
        return t->base;
    }
    gpu_far_begin(t->e, t->origin, t->base);
    gpu_far_add(t->e, t->origin, t->start, row_bytes * t->rows);
    gpu_far_add(t->e, t->origin, t->at, row_bytes);
    gpu_mov(t->e, t->at, t->column);
    return gpu_register_base(t->origin);
}

/* The element of this thread in round i: device memory at (row + local_y + 8 i, column + local_x). */
static void tile_round(struct tile_copy *t, unsigned i, bool store)
{
    struct gpu_emit *e = t->e;
    gpu_add_imm(e, t->at, t->local_y, (int64_t)i * TILE_THREADS_Y);
    if (store)
        gpu_mad_imm(e, t->address, t->local_x, PITCH, t->at);
    else
        gpu_mad_imm(e, t->address, t->at, PITCH, t->local_x);
    gpu_mad_imm(e, t->address, t->address, t->bytes, GPU_NO_REGISTER);
    gpu_emit(e, "iadd r%u, r%u, r%u", t->at, t->at, t->row);
    gpu_if(e, "ult", gpu_r(e, t->at), gpu_int(e, t->rows));
    gpu_if(e, "ult", gpu_r(e, t->column), gpu_int(e, t->columns));
    const struct gpu_base base = tile_place(t);
    if (store) {
        gpu_group_load_raw(e, t->type, 1, 2 * (t->value + i), gpu_h(e, 2 * t->address), "0");
        gpu_store_raw(e, 1, t->type, 1, 2 * (t->value + i), base, gpu_r(e, t->at));
    } else {
        gpu_load_raw(e, 0, t->type, 1, 2 * (t->value + i), base, gpu_r(e, t->at));
        gpu_wait(e, 0);
        gpu_group_store_raw(e, t->type, 1, 2 * (t->value + i), gpu_h(e, 2 * t->address), "0");
    }
    gpu_endif(e);
    gpu_endif(e);
}

static void tile_side(struct tile_copy *t, unsigned row_group, unsigned column_group, bool store)
{
    struct gpu_emit *e = t->e;
    gpu_emit(e, "get_sr r%u, sr%u", t->row, row_group);
    gpu_emit(e, "get_sr r%u, sr%u", t->column, column_group);
    gpu_shl(e, t->row, t->row, 5);
    gpu_shl(e, t->column, t->column, 5);
    gpu_emit(e, "iadd r%u, r%u, r%u", t->column, t->column, t->local_x);
    for (unsigned i = 0; i < TILE_ROUNDS; i++)
        tile_round(t, i, store);
}

static bool build_transpose(const struct gpu_kernel_request *q, struct gpu_kernel *kernel, struct isa_error *error)
{
    const uint32_t rows = (uint32_t)q->value[ROWS], columns = (uint32_t)q->value[COLUMNS], batch = (uint32_t)q->value[BATCH];
    const uint64_t count = gpu_kernel_count_of(rows, columns, batch);
    if (count == UINT64_MAX)
        return kernel_refuse(error, "transpose: an operand has more elements than any memory holds");
    const unsigned in = add_input(q, kernel, "x", count);
    const unsigned out = gpu_kernel_add_buffer(kernel, "out", q->type, count, GPU_BUFFER_OUTPUT, 0, 0);
    struct gpu_emit *e = begin(q, kernel, error);
    struct tile_copy t = {
        .e = e, .type = q->type, .rows = rows, .columns = columns, .bytes = (uint32_t)gpu_type_bytes(q->type, 1)};
    t.far = count > (uint64_t)GPU_KERNEL_ELEMENTS_MAX;
    unsigned *const single[] = {&t.row, &t.column, &t.local_x, &t.local_y, &t.start, &t.address, &t.at};
    for (unsigned i = 0; i < ARRAY_COUNT(single); i++)
        *single[i] = gpu_register(e, 1);
    t.value = gpu_register(e, TILE_ROUNDS);
    t.origin = t.far ? gpu_register(e, 2) : GPU_NO_REGISTER;
    gpu_threadgroup_memory(e, TILE * PITCH * t.bytes);
    gpu_emit(e, "get_sr r%u, sr%d", t.local_x, GPU_SR_LOCAL_X);
    gpu_emit(e, "get_sr r%u, sr%d", t.local_y, GPU_SR_LOCAL_Y);
    gpu_emit(e, "get_sr r%u, sr%d", t.start, GPU_SR_GROUP_Z);
    if (!t.far)
        gpu_mad_imm(e, t.start, t.start, rows * columns, GPU_NO_REGISTER);
    t.base = gpu_argument_buffer(e, in, 0);
    tile_side(&t, GPU_SR_GROUP_Y, GPU_SR_GROUP_X, false);
    gpu_barrier(e);
    t.base = gpu_argument_buffer(e, out, 0);
    t.rows = columns;
    t.columns = rows;
    tile_side(&t, GPU_SR_GROUP_X, GPU_SR_GROUP_Y, true);
    gpu_emit_grid(e, (columns + TILE - 1) / TILE * TILE, (rows + TILE - 1) / TILE * TILE_THREADS_Y, batch, TILE, TILE_THREADS_Y,
                  1);
    kernel->min_bytes = 2 * bytes_of(q, count);
    return gpu_emit_end(e);
}

/* ---- concat ---- */

enum { CONCAT_ROWS, WIDTH_A, CONCAT_INPUTS = 4 };

static const struct kernel_parameter concat_parameters[] = {
    {.name = "rows", .least = 1, .most = 1 << 30, .required = true},
    {.name = "a", .least = 1, .most = 1 << 30, .required = true},
    {.name = "b", .least = 1, .most = 1 << 30, .required = true},
    {.name = "c", .least = 0, .most = 1 << 30},
    {.name = "d", .least = 0, .most = 1 << 30},
    {.name = NULL},
};

/* One input: threads over its elements write them to their places in the result. */
static bool build_concat_input(const struct gpu_kernel_request *q, struct gpu_kernel *kernel, unsigned input, unsigned out,
                               uint32_t first, uint32_t width, uint32_t all, struct isa_error *error)
{
    const uint32_t rows = (uint32_t)q->value[CONCAT_ROWS], wide = width % 4 == 0 ? 4 : 1;
    struct gpu_emit *e = begin(q, kernel, error);
    const struct gpu_base from = gpu_argument_buffer(e, input, 0), to = gpu_argument_buffer(e, out, 0);
    const unsigned index = gpu_register(e, 1), row = gpu_register(e, 1), column = gpu_register(e, 1), value = gpu_register(e, 4);
    gpu_emit(e, "get_sr r%u, sr%d", index, GPU_SR_GRID_X);
    gpu_mad_imm(e, index, index, wide, GPU_NO_REGISTER);
    gpu_load_raw(e, 0, q->type, wide, 2 * value, from, gpu_r(e, index));
    gpu_divide_imm(e, row, column, index, width);
    gpu_mad_imm(e, index, row, all, column);
    gpu_add_imm(e, index, index, first);
    gpu_wait(e, 0);
    gpu_store_raw(e, 1, q->type, wide, 2 * value, to, gpu_r(e, index));
    gpu_emit_grid(e, rows * (width / wide), 1, 1, GROUP_THREADS, 1, 1);
    return gpu_emit_end(e);
}

static bool build_concat(const struct gpu_kernel_request *q, struct gpu_kernel *kernel, struct isa_error *error)
{
    const uint64_t rows = (uint64_t)q->value[CONCAT_ROWS];
    uint64_t all = 0;
    unsigned input[CONCAT_INPUTS] = {0};
    for (unsigned i = 0; i < CONCAT_INPUTS; i++)
        all += (uint64_t)q->value[WIDTH_A + i];
    if (!check_count(q, rows, all, 1, error))
        return false;
    for (unsigned i = 0; i < CONCAT_INPUTS; i++) {
        const char name[2] = {(char)('a' + i), '\0'};
        if (q->value[WIDTH_A + i])
            input[i] = add_input(q, kernel, name, rows * (uint64_t)q->value[WIDTH_A + i]);
    }
    const unsigned out = gpu_kernel_add_buffer(kernel, "out", q->type, rows * all, GPU_BUFFER_OUTPUT, 0, 0);
    kernel->min_bytes = 2 * bytes_of(q, rows * all);
    uint32_t first = 0;
    for (unsigned i = 0; i < CONCAT_INPUTS; i++) {
        const uint32_t width = (uint32_t)q->value[WIDTH_A + i];
        if (width && !build_concat_input(q, kernel, input[i], out, first, width, (uint32_t)all, error))
            return false;
        first += width;
    }
    return true;
}

/* ---- gather ---- */

enum { VOCABULARY, DEPTH, COUNT };

static const struct kernel_parameter gather_parameters[] = {
    {.name = "rows", .least = 1, .most = 1 << 30, .required = true},
    {.name = "columns", .least = 1, .most = 1 << 30, .required = true},
    {.name = "count", .least = 1, .most = 1 << 30, .required = true},
    {.name = NULL},
};

static bool build_gather(const struct gpu_kernel_request *q, struct gpu_kernel *kernel, struct isa_error *error)
{
    const uint32_t rows = (uint32_t)q->value[VOCABULARY], columns = (uint32_t)q->value[DEPTH], count = (uint32_t)q->value[COUNT];
    const uint32_t wide = columns % 4 == 0 ? 4 : 1;
    if (!check_count(q, rows, columns, 1, error) || !check_count(q, count, columns, 1, error))
        return false;
    const unsigned table = add_input(q, kernel, "table", (uint64_t)rows * columns);
    const unsigned indices = gpu_kernel_add_buffer(kernel, "index", GPU_U32, count, GPU_BUFFER_INPUT, 0, rows);
    const unsigned out = gpu_kernel_add_buffer(kernel, "out", q->type, (uint64_t)count * columns, GPU_BUFFER_OUTPUT, 0, 0);
    kernel->buffer[indices].places = true;
    struct gpu_emit *e = begin(q, kernel, error);
    const struct gpu_base from = gpu_argument_buffer(e, table, 0), which = gpu_argument_buffer(e, indices, 0);
    const struct gpu_base to = gpu_argument_buffer(e, out, 0);
    const unsigned at = gpu_register(e, 1), row = gpu_register(e, 1), column = gpu_register(e, 1), value = gpu_register(e, 4);
    gpu_emit(e, "get_sr r%u, sr%d", at, GPU_SR_GRID_X);
    gpu_mad_imm(e, at, at, wide, GPU_NO_REGISTER);
    gpu_divide_imm(e, row, column, at, columns);
    gpu_load_raw(e, 0, GPU_U32, 1, 2 * row, which, gpu_r(e, row));
    for (unsigned i = 0; i < wide; i++)
        gpu_mov_imm(e, value + i, 0);
    gpu_wait(e, 0);
    gpu_if(e, "ult", gpu_r(e, row), gpu_int(e, rows));
    gpu_mad_imm(e, column, row, columns, column);
    gpu_load_raw(e, 0, q->type, wide, 2 * value, from, gpu_r(e, column));
    gpu_wait(e, 0);
    gpu_endif(e);
    gpu_store_raw(e, 1, q->type, wide, 2 * value, to, gpu_r(e, at));
    gpu_emit_grid(e, count * (columns / wide), 1, 1, GROUP_THREADS, 1, 1);
    kernel->min_bytes = 2 * bytes_of(q, (uint64_t)count * columns) + 4.0 * count;
    return gpu_emit_end(e);
}

/* ---- pad and slice: a window of a matrix ---- */

struct window {
    uint32_t rows, columns, out_rows, out_columns;
    int64_t top, left; /* element (0, 0) of the result is (top, left) of the input */
};

/* One thread per element of the result; elements outside the input are `filler`. */
static bool build_window(const struct gpu_kernel_request *q, const struct window *w, float filler, struct gpu_kernel *kernel,
                         struct isa_error *error)
{
    if (!check_count(q, w->rows, w->columns, 1, error) || !check_count(q, w->out_rows, w->out_columns, 1, error))
        return false;
    const uint32_t count = w->out_rows * w->out_columns;
    const unsigned in = add_input(q, kernel, "x", (uint64_t)w->rows * w->columns);
    const unsigned out = gpu_kernel_add_buffer(kernel, "out", q->type, count, GPU_BUFFER_OUTPUT, 0, 0);
    struct gpu_emit *e = begin(q, kernel, error);
    const struct gpu_base from = gpu_argument_buffer(e, in, 0), to = gpu_argument_buffer(e, out, 0);
    const unsigned at = gpu_register(e, 1), row = gpu_register(e, 1), column = gpu_register(e, 1), value = gpu_register(e, 1);
    const unsigned scratch = gpu_register(e, 1);
    gpu_emit(e, "get_sr r%u, sr%d", at, GPU_SR_GRID_X);
    gpu_divide_imm(e, row, column, at, w->out_columns);
    gpu_add_imm(e, row, row, w->top);
    gpu_add_imm(e, column, column, w->left);
    gpu_mov_imm(e, value, q->type < GPU_I32 ? f32_bits(filler) : (uint32_t)(int64_t)filler);
    if (q->type < GPU_I32)
        gpu_narrow(e, q->type, 1, 2 * value, value, scratch);
    gpu_if(e, "ult", gpu_r(e, row), gpu_int(e, w->rows));
    gpu_if(e, "ult", gpu_r(e, column), gpu_int(e, w->columns));
    gpu_mad_imm(e, row, row, w->columns, column);
    gpu_load_raw(e, 0, q->type, 1, 2 * value, from, gpu_r(e, row));
    gpu_wait(e, 0);
    gpu_endif(e);
    gpu_endif(e);
    gpu_store_raw(e, 1, q->type, 1, 2 * value, to, gpu_r(e, at));
    gpu_emit_grid(e, count, 1, 1, GROUP_THREADS, 1, 1);
    kernel->min_bytes = bytes_of(q, count) * 2;
    return gpu_emit_end(e);
}

enum { TOP = 2, BOTTOM, LEFT, RIGHT, FILLER };

static const struct kernel_parameter pad_parameters[] = {
    {.name = "rows", .least = 1, .most = 1 << 30, .required = true},
    {.name = "columns", .least = 1, .most = 1 << 30, .required = true},
    {.name = "top", .least = 0, .most = 1 << 20},
    {.name = "bottom", .least = 0, .most = 1 << 20},
    {.name = "left", .least = 0, .most = 1 << 20},
    {.name = "right", .least = 0, .most = 1 << 20},
    {.name = "value", .least = -65504, .most = 65504, .decimal = true},
    {.name = NULL},
};

static bool build_pad(const struct gpu_kernel_request *q, struct gpu_kernel *kernel, struct isa_error *error)
{
    const int64_t *p = q->value;
    const struct window w = {
        .rows = (uint32_t)p[ROWS],
        .columns = (uint32_t)p[COLUMNS],
        .out_rows = (uint32_t)(p[ROWS] + p[TOP] + p[BOTTOM]),
        .out_columns = (uint32_t)(p[COLUMNS] + p[LEFT] + p[RIGHT]),
        .top = -p[TOP],
        .left = -p[LEFT],
    };
    return build_window(q, &w, (float)q->decimal[FILLER], kernel, error);
}

enum { FIRST_ROW = 2, FIRST_COLUMN, SLICE_ROWS, SLICE_COLUMNS };

static const struct kernel_parameter slice_parameters[] = {
    {.name = "rows", .least = 1, .most = 1 << 30, .required = true},
    {.name = "columns", .least = 1, .most = 1 << 30, .required = true},
    {.name = "row", .least = 0, .most = 1 << 28},
    {.name = "column", .least = 0, .most = 1 << 28},
    {.name = "h", .least = 1, .most = 1 << 28, .required = true},
    {.name = "w", .least = 1, .most = 1 << 28, .required = true},
    {.name = NULL},
};

static bool build_slice(const struct gpu_kernel_request *q, struct gpu_kernel *kernel, struct isa_error *error)
{
    const int64_t *p = q->value;
    const struct window w = {.rows = (uint32_t)p[ROWS],
                             .columns = (uint32_t)p[COLUMNS],
                             .out_rows = (uint32_t)p[SLICE_ROWS],
                             .out_columns = (uint32_t)p[SLICE_COLUMNS],
                             .top = p[FIRST_ROW],
                             .left = p[FIRST_COLUMN]};
    if (p[FIRST_ROW] + p[SLICE_ROWS] > p[ROWS] || p[FIRST_COLUMN] + p[SLICE_COLUMNS] > p[COLUMNS])
        return kernel_refuse(error, "slice: the window reaches beyond the %lld x %lld matrix", (long long)p[ROWS],
                             (long long)p[COLUMNS]);
    return build_window(q, &w, 0, kernel, error);
}

static const struct gpu_kernel_info rows[] = {
    {"transpose", "RxC[,batch=B]", ALL_TYPES, "out (C x R) = the R x C matrix turned, through tiles in threadgroup memory", 2,
     transpose_parameters, build_transpose},
    {"concat", "RxAxB[,c=C][,d=D]", ALL_TYPES, "rows of A, B (and C, D) elements one behind the other", 3, concat_parameters,
     build_concat},
    {"gather", "RxCxN", ALL_TYPES, "embedding: out[i] = row index[i] of the R x C table, N times; zeros where index[i] >= R", 3,
     gather_parameters, build_gather},
    {"pad", "RxC[,top=N][,bottom=N][,left=N][,right=N][,value=X]", ALL_TYPES, "the R x C matrix with a border of value", 2,
     pad_parameters, build_pad},
    {"slice", "RxC,h=H,w=W[,row=R0][,column=C0]", ALL_TYPES, "H x W elements of the R x C matrix from (R0, C0) on", 2,
     slice_parameters, build_slice},
};
const struct gpu_kernel_family gpu_family_layout = {rows, ARRAY_COUNT(rows)};
