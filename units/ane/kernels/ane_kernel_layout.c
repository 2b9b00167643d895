/* Moves: copies whose source and destination have different strides. Elements never leave their row: a row of the engine is what
 * lies along the width, and DMA moves rows. */
#include "isa/array_count.h"
#include "units/ane/kernels/ane_fold.h"
#include "units/ane/kernels/ane_kernel_family.h"
#include "units/ane/kernels/ane_rows.h"

#include <stdio.h>

enum { R, C };
enum { INNER = 2, BATCH };
enum { A = 1, PART_B, PART_C, PART_D };
enum { SLICE_H = 2, SLICE_W, SLICE_ROW, SLICE_COLUMN };
enum { BYTES, FACTOR };
enum { STREAM_WIDTH = 1024, CHANNELS = 16, PARTS_MAX = 4 };

#define SIDE_MOST (INT64_C(1) << 28)

static const struct kernel_parameter transpose_parameters[] = {
    {.name = "rows", .least = 1, .most = SIDE_MOST, .required = true},
    {.name = "columns", .least = 1, .most = SIDE_MOST, .required = true},
    {.name = "inner", .missing = 1, .least = 1, .most = SIDE_MOST},
    {.name = "batch", .missing = 1, .least = 1, .most = 65536},
    {.name = NULL},
};
static const struct kernel_parameter parts_parameters[] = {
    {.name = "rows", .least = 1, .most = SIDE_MOST, .required = true},
    {.name = "a", .least = 1, .most = SIDE_MOST, .required = true},
    {.name = "b", .least = 1, .most = SIDE_MOST, .required = true},
    {.name = "c", .missing = 0, .least = 0, .most = SIDE_MOST},
    {.name = "d", .missing = 0, .least = 0, .most = SIDE_MOST},
    {.name = NULL},
};
static const struct kernel_parameter slice_parameters[] = {
    {.name = "rows", .least = 1, .most = SIDE_MOST, .required = true},
    {.name = "columns", .least = 1, .most = SIDE_MOST, .required = true},
    {.name = "h", .least = 1, .most = SIDE_MOST, .required = true},
    {.name = "w", .least = 1, .most = SIDE_MOST, .required = true},
    {.name = "row", .missing = 0, .least = 0, .most = SIDE_MOST},
    {.name = "column", .missing = 0, .least = 0, .most = SIDE_MOST},
    {.name = NULL},
};
static const struct kernel_parameter copy_parameters[] = {
    {.name = "bytes", .least = 2, .most = INT64_C(1) << 32, .required = true},
    {.name = NULL},
};
static const struct kernel_parameter scaled_parameters[] = {
    {.name = "bytes", .least = 2, .most = INT64_C(1) << 32, .required = true},
    {.name = "s", .missing = 3, .least = -60000, .most = 60000, .decimal = true},
    {.name = NULL},
};

/* ---- transpose ---- */

/* inner = 1: the columns of the matrix are the rows of both buffers, so that no element changes its row. */
static void turn_by_layout(struct ane_builder *b, uint32_t batch, uint32_t rows, uint32_t columns)
{
    const struct ane_view x = ane_build_input(b, "x", batch, 1, columns, rows),
                          out = ane_build_output(b, "out", batch, 1, columns, rows);
    struct ane_kernel_tensor *t = ane_build_tensor(b, "x", ANE_TENSOR_INPUT, &x, -1, 1);
    ane_tensor_axis(t, batch, ane_view_bytes(&x));
    ane_tensor_axis(t, rows, ANE_HALF_BYTES);
    ane_tensor_axis(t, columns, x.row);
    t = ane_build_tensor(b, "out", ANE_TENSOR_OUTPUT, &out, 0, 0);
    ane_tensor_axis(t, batch, ane_view_bytes(&out));
    ane_tensor_axis(t, columns, out.row);
    ane_tensor_axis(t, rows, ANE_HALF_BYTES);
    for (uint32_t i = 0; i < batch && !b->failed; i++)
        ane_build_copy(b, ane_view_image(x, i), ane_view_image(out, i));
}

/* Rows of `inner` elements change places: the strides of the destination are exchanged. */
static void turn_by_strides(struct ane_builder *b, uint32_t batch, uint32_t rows, uint32_t columns, uint32_t inner)
{
    const struct ane_view x = ane_build_input(b, "x", batch, rows, columns, inner),
                          out = ane_build_output(b, "out", batch, columns, rows, inner);
    struct ane_kernel_tensor *t = ane_build_tensor(b, "x", ANE_TENSOR_INPUT, &x, -1, 1);
    ane_tensor_axis(t, batch, ane_view_bytes(&x));
    ane_tensor_axis(t, rows, x.plane);
    ane_tensor_axis(t, columns, x.row);
    ane_tensor_axis(t, inner, ANE_HALF_BYTES);
    t = ane_build_tensor(b, "out", ANE_TENSOR_OUTPUT, &out, 0, 0);
    ane_tensor_axis(t, batch, ane_view_bytes(&out));
    ane_tensor_axis(t, columns, out.plane);
    ane_tensor_axis(t, rows, out.row);
    ane_tensor_axis(t, inner, ANE_HALF_BYTES);
    for (uint32_t i = 0; i < batch && !b->failed; i++) {
        struct ane_view to = ane_view_image(out, i);
        to.channels = rows;
        to.height = columns;
        to.plane = out.row;
        to.row = out.plane;
        ane_build_copy(b, ane_view_image(x, i), to);
    }
}

static bool build_transpose(const struct ane_kernel_request *q, struct ane_kernel *kernel, struct isa_error *error)
{
    const uint32_t rows = (uint32_t)q->value[R], columns = (uint32_t)q->value[C], inner = (uint32_t)q->value[INNER];
    struct ane_builder b;
    ane_build_begin(&b, q, kernel, 1, error);
    if (inner == 1)
        turn_by_layout(&b, (uint32_t)q->value[BATCH], rows, columns);
    else
        turn_by_strides(&b, (uint32_t)q->value[BATCH], rows, columns, inner);
    snprintf(kernel->variant, sizeof kernel->variant, inner == 1 ? "turned by the layout of the buffers" : "strides exchanged");
    return ane_build_end(&b);
}

/* ---- concat, split ---- */

static const char *const part_names[PARTS_MAX] = {"a", "b", "c", "d"};

/* Columns become channels, so that parts may have any number of them; rows become pixels. Of a single row with more columns than
 * there are channels, so many columns that stand side by side are the pixels of a channel. */
struct columns {
    uint64_t pixels;
    uint32_t block; /* columns of a channel; 1 = rows are pixels */
};

/* The fewest that all parts are multiples of; whole rows of 64 bytes if there are such. */
static uint32_t block_of(const struct ane_kernel_request *q, uint64_t whole)
{
    enum { ROW_ELEMENTS = ANE_ROW_BYTES / ANE_HALF_BYTES };
    uint64_t common = 0;
    for (unsigned i = 0; i < PARTS_MAX; i++)
        for (uint64_t part = (uint64_t)q->value[A + i]; part;) {
            const uint64_t rest = common % part;
            common = part;
            part = rest;
        }
    for (uint32_t step = ROW_ELEMENTS; step; step = step > 1 ? 1 : 0)
        for (uint32_t block = step; block <= common && block <= q->limits.dimension_max; block += step)
            if (common % block == 0 && whole / block <= q->limits.channels_max)
                return block;
    return 1;
}

static void name_columns(struct ane_builder *b, const char *name, enum ane_tensor_role role, const struct ane_view *view,
                         const struct columns *columns)
{
    struct ane_kernel_tensor *t = ane_build_tensor(b, name, role, view, -1, 1);
    if (columns->block == 1)
        ane_tensor_axis(t, columns->pixels, ANE_HALF_BYTES);
    ane_tensor_axis(t, view->channels, view->plane);
    if (columns->block > 1)
        ane_tensor_axis(t, columns->pixels, ANE_HALF_BYTES);
}

static void copy_columns(struct ane_builder *b, const struct ane_fold *fold, struct ane_view from, struct ane_view to)
{
    for (unsigned i = 0; i < fold->parts && !b->failed; i++)
        ane_build_copy(b, ane_fold_view(fold, i, from), ane_fold_view(fold, i, to));
}

static bool build_parts(const struct ane_kernel_request *q, bool join, struct ane_kernel *kernel, struct isa_error *error)
{
    const uint64_t rows = (uint64_t)q->value[R];
    uint64_t whole = 0;
    unsigned parts = 0;
    for (unsigned i = 0; i < PARTS_MAX; i++) {
        whole += (uint64_t)q->value[A + i];
        parts += q->value[A + i] != 0;
    }
    struct ane_builder b;
    ane_build_begin(&b, q, kernel, join ? 1 : parts, error);
    const uint32_t block = rows == 1 && whole > q->limits.channels_max ? block_of(q, whole) : 1;
    const struct columns columns = {rows * block, block};
    const struct ane_fold fold = ane_fold_elements(columns.pixels, q->limits.dimension_max, 1);
    struct ane_view part[PARTS_MAX];
    unsigned used = 0;
    for (unsigned i = 0; i < PARTS_MAX; i++)
        if (q->value[A + i]) {
            const uint32_t channels = (uint32_t)q->value[A + i] / block;
            part[used] = join ? ane_build_input(&b, part_names[i], 1, channels, fold.height, fold.width)
                              : ane_build_output(&b, part_names[i], 1, channels, fold.height, fold.width);
            name_columns(&b, part_names[i], join ? ANE_TENSOR_INPUT : ANE_TENSOR_OUTPUT, &part[used++], &columns);
        }
    const struct ane_view all = join ? ane_build_output(&b, "out", 1, (uint32_t)(whole / block), fold.height, fold.width)
                                     : ane_build_input(&b, "x", 1, (uint32_t)(whole / block), fold.height, fold.width);
    name_columns(&b, join ? "out" : "x", join ? ANE_TENSOR_OUTPUT : ANE_TENSOR_INPUT, &all, &columns);
    for (unsigned i = 0, first = 0; i < used && !b.failed; first += part[i++].channels) {
        const struct ane_view piece = ane_view_channels(all, first, part[i].channels);
        copy_columns(&b, &fold, join ? part[i] : piece, join ? piece : part[i]);
    }
    snprintf(kernel->variant, sizeof kernel->variant, "%u parts, columns as channels", used);
    return ane_build_end(&b);
}

static bool build_concat(const struct ane_kernel_request *q, struct ane_kernel *kernel, struct isa_error *error)
{
    return build_parts(q, true, kernel, error);
}

static bool build_split(const struct ane_kernel_request *q, struct ane_kernel *kernel, struct isa_error *error)
{
    return build_parts(q, false, kernel, error);
}

/* ---- slice ---- */

/* Columns that do not begin at a multiple of 64 bytes: the DMA skips the first elements of each row, which before H15 multiplies
 * values by 16 on the way (sbryngelson/ane-guide), so that they are infinite from 4095 on. */
static bool build_slice(const struct ane_kernel_request *q, struct ane_kernel *kernel, struct isa_error *error)
{
    const int64_t *v = q->value;
    struct ane_builder b;
    if (v[SLICE_ROW] + v[SLICE_H] > v[R] || v[SLICE_COLUMN] + v[SLICE_W] > v[C])
        return kernel_refuse(error, "slice: the slice reaches beyond the matrix");
    ane_build_begin(&b, q, kernel, 1, error);
    const struct ane_view x = ane_build_input(&b, "x", 1, 1, (uint32_t)v[R], (uint32_t)v[C]);
    const struct ane_view out = ane_build_output(&b, "out", 1, 1, (uint32_t)v[SLICE_H], (uint32_t)v[SLICE_W]);
    struct ane_kernel_tensor *t = ane_build_tensor(&b, "x", ANE_TENSOR_INPUT, &x, -1, 1);
    ane_tensor_axis(t, x.height, x.row);
    ane_tensor_axis(t, x.width, ANE_HALF_BYTES);
    t = ane_build_tensor(&b, "out", ANE_TENSOR_OUTPUT, &out, 0, 0);
    ane_tensor_axis(t, out.height, out.row);
    ane_tensor_axis(t, out.width, ANE_HALF_BYTES);
    struct ane_view from = ane_view_rows(x, (uint32_t)v[SLICE_ROW], out.height);
    const uint32_t skipped = (uint32_t)v[SLICE_COLUMN] % (ANE_ROW_BYTES / ANE_HALF_BYTES);
    from.base += ((uint32_t)v[SLICE_COLUMN] - skipped) * ANE_HALF_BYTES;
    from.width = out.width;
    ane_build_copy_from(&b, from, skipped, out);
    snprintf(kernel->variant, sizeof kernel->variant, skipped ? "%u elements skipped per row" : "by base address",
             (unsigned)skipped);
    return ane_build_end(&b);
}

/* ---- streams ---- */

static void write_stream(struct ane_builder *b, const struct ane_planar *planar, unsigned inputs)
{
    const uint64_t count = (uint64_t)b->request->value[BYTES] / ANE_HALF_BYTES;
    const struct ane_fold fold = ane_fold_elements(
        count, count / STREAM_WIDTH > b->request->limits.dimension_max ? b->request->limits.dimension_max : STREAM_WIDTH,
        CHANNELS);
    struct ane_view in[2];
    for (unsigned i = 0; i < inputs; i++) {
        in[i] = ane_build_input(b, part_names[i], 1, 1, fold.height, fold.width);
        ane_tensor_axis(ane_build_tensor(b, part_names[i], ANE_TENSOR_INPUT, &in[i], -1, 1), count, ANE_HALF_BYTES);
    }
    const struct ane_view out = ane_build_output(b, "out", 1, 1, fold.height, fold.width);
    ane_tensor_axis(ane_build_tensor(b, "out", ANE_TENSOR_OUTPUT, &out, 0, 0), count, ANE_HALF_BYTES);
    for (unsigned i = 0; i < fold.parts && !b->failed; i++) {
        const struct ane_view a = ane_fold_view(&fold, i, in[0]);
        const struct ane_view second = inputs > 1 ? ane_fold_view(&fold, i, in[1]) : a;
        const struct ane_view to = ane_fold_view(&fold, i, out);
        const struct ane_element element = {.scale = planar->scale};
        if (inputs > 1)
            ane_build_planar(b, planar, second, &a, to);
        else if (planar->constant)
            ane_build_planar(b, planar, a, NULL, to);
        else
            ane_build_element(b, &element, a, to);
    }
    b->kernel->flops = (planar->pre != 0 || planar->scale != 0 ? inputs : inputs - 1.0) * (double)count;
    snprintf(b->kernel->variant, sizeof b->kernel->variant, "%ux%ux%u", (unsigned)fold.part[0].channels,
             (unsigned)fold.part[0].height, (unsigned)fold.part[0].width);
}

static bool build_stream(const struct ane_kernel_request *q, struct ane_planar planar, unsigned inputs, struct ane_kernel *kernel,
                         struct isa_error *error)
{
    struct ane_builder b;
    ane_build_begin(&b, q, kernel, 1, error);
    write_stream(&b, &planar, inputs);
    return ane_build_end(&b);
}

static bool build_copy(const struct ane_kernel_request *q, struct ane_kernel *kernel, struct isa_error *error)
{
    return build_stream(q, (struct ane_planar){.op = ANE_PE_ADD}, 1, kernel, error);
}

static bool build_scale(const struct ane_kernel_request *q, struct ane_kernel *kernel, struct isa_error *error)
{
    const float s = (float)q->decimal[FACTOR];
    return build_stream(q, (struct ane_planar){.op = ANE_PE_ADD, .scale = s, .constant = s == 0}, 1, kernel, error);
}

static bool build_add(const struct ane_kernel_request *q, struct ane_kernel *kernel, struct isa_error *error)
{
    return build_stream(q, (struct ane_planar){.op = ANE_PE_ADD}, 2, kernel, error);
}

static bool build_triad(const struct ane_kernel_request *q, struct ane_kernel *kernel, struct isa_error *error)
{
    const float s = (float)q->decimal[FACTOR];
    if (s == 0)
        return kernel_refuse(error, "stream-triad: with s=0 it is a copy");
    return build_stream(q, (struct ane_planar){.op = ANE_PE_ADD, .pre = s}, 2, kernel, error);
}

static const struct ane_kernel_info rows[] = {
    {"transpose", "RxC[,inner=I][,batch=B]",
     "out[c][r] = x[r][c], rows of I elements; I = 1: both buffers have the columns of x as rows, for no element can leave its "
     "row",
     2, transpose_parameters, build_transpose},
    {"concat", "RxAxB[,c=C][,d=D]", "rows of A, B (and C, D) elements one behind the other", 3, parts_parameters, build_concat},
    {"split", "RxAxB[,c=C][,d=D]", "rows cut into A, B (and C, D) elements", 3, parts_parameters, build_split},
    {"slice", "RxC,h=H,w=W[,row=R0][,column=C0]", "H x W elements of the R x C matrix from (R0, C0) on", 2, slice_parameters,
     build_slice},
    {"copy", "BYTES", "out = a; BYTES of each array", 1, copy_parameters, build_copy},
    {"stream-scale", "BYTES[,s=S]", "out = s * a; BYTES of each array", 1, scaled_parameters, build_scale},
    {"stream-add", "BYTES", "out = a + b; BYTES of each array", 1, copy_parameters, build_add},
    {"stream-triad", "BYTES[,s=S]", "out = a + s * b; BYTES of each array", 1, scaled_parameters, build_triad},
};
const struct ane_kernel_family ane_family_layout = {rows, ARRAY_COUNT(rows)};
