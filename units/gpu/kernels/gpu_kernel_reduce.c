/* reduce: sums, means, extremes, products, norms and places of extremes along rows or columns of matrices. */
#include "isa/array_count.h"
#include "units/gpu/kernels/gpu_kernel_family.h"
#include "units/gpu/kernels/gpu_math.h"
#include "units/gpu/kernels/gpu_rows.h"

#include <stdio.h>

enum { ROWS, COLUMNS, OP, AXIS, BATCH };
enum operation { SUM, MEAN, MAX, MIN, PROD, NORM2, ARGMAX, ARGMIN };
enum { SIMDGROUP = 32, PARTS_MAX = 256, PART_COLUMNS = 8192 /* per threadgroup: fewer do not justify a second step */ };

static const struct kernel_parameter parameters[] = {
    {.name = "rows", .least = 1, .most = INT64_C(1) << 40, .required = true},
    {.name = "columns", .least = 1, .most = GPU_KERNEL_ELEMENTS_MAX, .required = true},
    {.name = "op", .words = "sum|mean|max|min|prod|norm2|argmax|argmin"},
    {.name = "axis", .missing = 1, .least = 0, .most = 1},
    {.name = "batch", .missing = 1, .least = 1, .most = 65535},
    {.name = NULL},
};

/* How values are combined in registers and over lanes, and the neutral value. */
static const struct method {
    const char *name, *reduction;
    uint32_t identity;
} methods[] = {
    [SUM] = {"sum", "fadd", 0},
    [MEAN] = {"mean", "fadd", 0},
    [MAX] = {"max", "fmax", 0xff800000},
    [MIN] = {"min", "fmin", 0x7f800000},
    [PROD] = {"prod", "fmul", 0x3f800000},
    [NORM2] = {"norm2", "fadd", 0},
    [ARGMAX] = {"argmax", "fmax", 0xff800000},
    [ARGMIN] = {"argmin", "fmin", 0x7f800000},
};

struct reduction {
    struct gpu_emit *e;
    enum operation operation;
    const struct method *method;
    bool first, last; /* among the steps: the first one squares for norm2, the last one scales and rounds */
    uint32_t length;  /* number of elements behind one result */
    enum gpu_type out_type;
    struct gpu_base out;
    unsigned acc, place; /* registers; place: index of the extreme */
};

static bool is_place(enum operation operation)
{
    return operation == ARGMAX || operation == ARGMIN;
}

/* acc = acc (op) value; `column` is the place of value, for places of extremes. */
static void accumulate(const struct reduction *d, unsigned value, unsigned column)
{
    const char *condition = d->operation == MAX || d->operation == ARGMAX ? "gt" : "lt";
    switch (d->operation) {
    case SUM:
    case MEAN: gpu_emit(d->e, "fadd32 r%u, r%u, r%u", d->acc, d->acc, value); break;
    case NORM2:
        if (d->first)
            gpu_emit(d->e, "fmadd32 r%u, r%u, r%u, r%u", d->acc, value, value, d->acc);
        else
            gpu_emit(d->e, "fadd32 r%u, r%u, r%u", d->acc, d->acc, value);
        break;
    case PROD: gpu_emit(d->e, "fmul32 r%u, r%u, r%u", d->acc, d->acc, value); break;
    case MAX:
    case MIN: gpu_emit(d->e, "fcmpsel %sn, r%u, r%u, r%u, r%u, r%u", condition, d->acc, d->acc, value, d->acc, value); break;
    case ARGMAX:
    case ARGMIN: /* of equal ones the first stays */
        gpu_emit(d->e, "fcmpsel %s, r%u, r%u, r%u, r%u, r%u", condition, d->place, value, d->acc, column, d->place);
        gpu_emit(d->e, "fcmpsel %s, r%u, r%u, r%u, r%u, r%u", condition, d->acc, value, d->acc, value, d->acc);
        break;
    }
}

/* Applies what the last step does to the combined value. */
static void finish(const struct reduction *d, unsigned value)
{
    if (d->last && d->operation == MEAN)
        gpu_emit(d->e, "fmul32 r%u, r%u, %s", value, value, gpu_float(d->e, 1.0F / (float)d->length));
    if (d->last && d->operation == NORM2)
        gpu_math_emit(d->e, GPU_MATH_SQRT, value, 0, 0);
}

static void clear(const struct reduction *d)
{
    gpu_mov_imm(d->e, d->acc, d->method->identity);
    gpu_mov_imm(d->e, d->place, UINT32_MAX);
}

/* ---- axis 1: along rows ---- */

static void add_chunk(struct gpu_rows *r, void *context, unsigned value, unsigned count)
{
    const struct reduction *d = context;
    for (unsigned i = 0; i < count; i++) {
        if (is_place(d->operation))
            gpu_add_imm(d->e, r->scratch, r->column, i);
        accumulate(d, value + i, r->scratch);
    }
}

/* Finds the least place among the threads that have the extreme. All NaN: 0. */
static void combine_places(struct gpu_rows *r, const struct reduction *d)
{
    const unsigned own = gpu_register(d->e, 1);
    gpu_mov(d->e, own, d->acc);
    gpu_rows_combine(r, d->method->reduction, d->acc, d->method->identity);
    gpu_emit(d->e, "fcmpsel eq, r%u, r%u, r%u, r%u, %s", d->place, own, d->acc, d->place, gpu_int(d->e, UINT32_MAX));
    gpu_rows_combine(r, "umin", d->place, UINT32_MAX);
    gpu_emit(d->e, "icmpsel ueq, r%u, r%u, %s, 0, r%u", d->place, d->place, gpu_int(d->e, UINT32_MAX), d->place);
    gpu_register_free(d->e, own, 1);
}

static bool build_rows(struct gpu_rows *r, struct reduction *d, unsigned in, unsigned out, struct gpu_kernel *kernel,
                       struct isa_error *error)
{
    char variant[32];
    gpu_rows_plan(r);
    snprintf(variant, sizeof variant, "reduce_%s_%s_%u%s", d->method->name, gpu_type_name(r->type), r->team,
             r->parts > 1 ? "_parts" : "");
    struct gpu_emit *e = r->e = d->e = gpu_emit_begin(kernel, variant, error);
    r->in = gpu_argument_buffer(e, in, 0);
    d->out = gpu_argument_buffer(e, out, 0);
    d->acc = gpu_register(e, 1);
    d->place = gpu_register(e, 1);
    clear(d);
    gpu_rows_begin(r);
    gpu_rows_pass(r, add_chunk, d);
    const unsigned result = is_place(d->operation) ? d->place : d->acc;
    if (is_place(d->operation))
        combine_places(r, d);
    else
        gpu_rows_combine(r, d->method->reduction, d->acc, d->method->identity);
    finish(d, d->acc);
    if (r->parts > 1) {
        gpu_emit(e, "get_sr r%u, sr%d", r->index, GPU_SR_GROUP_X);
        gpu_mad_imm(e, r->row, r->row, r->parts, r->index);
    }
    gpu_rows_first_thread(r);
    gpu_store_element(e, 1, d->out_type, result, d->out, gpu_r(e, r->row));
    gpu_endif(e);
    gpu_rows_end(r);
    return gpu_emit_end(e);
}

/* Cuts few and long rows into parts, so that every core has some. */
static uint32_t parts_of(const struct gpu_kernel_request *q)
{
    const uint64_t rows = (uint64_t)(q->value[ROWS] * q->value[BATCH]), columns = (uint64_t)q->value[COLUMNS],
                   wanted = 4U * (q->cores ? q->cores : 1);
    uint64_t parts = (wanted + rows - 1) / rows, most = columns / PART_COLUMNS;
    parts = parts > most ? most : parts;
    parts = parts > PARTS_MAX ? PARTS_MAX : parts;
    return is_place((enum operation)q->value[OP]) || parts == 0 ? 1 : (uint32_t)parts;
}

static bool build_along_rows(const struct gpu_kernel_request *q, struct reduction *d, struct gpu_kernel *kernel,
                             struct isa_error *error)
{
    struct gpu_rows r = {
        .type = q->type, .rows = (uint32_t)(q->value[ROWS] * q->value[BATCH]), .columns = (uint32_t)q->value[COLUMNS], .parts = parts_of(q)};
    const unsigned parts = r.parts;
    const enum gpu_type out_type = d->out_type;
    d->length = r.columns;
    d->first = true;
    d->last = parts == 1;
    if (parts == 1)
        return build_rows(&r, d, 0, 1, kernel, error);
    const unsigned partial =
        gpu_kernel_add_buffer(kernel, "partial", GPU_F32, (uint64_t)r.rows * parts, GPU_BUFFER_SCRATCH, 0, 0);
    struct gpu_rows second = {.type = GPU_F32, .rows = r.rows, .columns = parts};
    d->out_type = GPU_F32;
    if (!build_rows(&r, d, 0, partial, kernel, error))
        return false;
    d->first = false;
    d->last = true;
    d->out_type = out_type;
    return build_rows(&second, d, partial, 1, kernel, error);
}

/* ---- axis 0: down columns ---- */

/* A threadgroup has 32 columns; its simdgroups take every simdgroups-th row and combine in threadgroup memory. Matrices follow one
 * another in z. */
struct columns {
    uint32_t rows, columns, simdgroups, batch;
    unsigned column, row, index, value, address; /* registers */
    uint32_t values, places;                     /* threadgroup memory */
};

/* With more elements than an index reaches: each row has its base. */
static void far_columns_loop(struct columns *c, const struct reduction *d, enum gpu_type type, struct gpu_base in)
{
    struct gpu_emit *e = d->e;
    const uint64_t row_bytes = gpu_type_bytes(type, c->columns);
    const unsigned base = gpu_register(e, 2), one = gpu_register(e, 1);
    gpu_mov_imm(e, one, 1);
    gpu_far_begin(e, base, in);
    gpu_far_add(e, base, c->row, row_bytes);
    gpu_do(e);
    gpu_load_element(e, 0, type, c->value, gpu_register_base(base), gpu_r(e, c->column));
    accumulate(d, c->value, c->row);
    gpu_far_add(e, base, one, c->simdgroups * row_bytes);
    gpu_add_imm(e, c->row, c->row, c->simdgroups);
    gpu_while(e, "ult", gpu_r(e, c->row), gpu_int(e, c->rows));
    gpu_register_free(e, base, 2);
    gpu_register_free(e, one, 1);
}

/* index += elements of the matrices before this threadgroup's. */
static void add_matrices(const struct columns *c, struct gpu_emit *e, uint32_t elements)
{
    if (c->batch == 1)
        return;
    const unsigned matrix = gpu_register(e, 1);
    gpu_emit(e, "get_sr r%u, sr%d", matrix, GPU_SR_GROUP_Z);
    gpu_mad_imm(e, c->index, matrix, elements, c->index);
    gpu_register_free(e, matrix, 1);
}

static void columns_loop(struct columns *c, const struct reduction *d, enum gpu_type type, struct gpu_base in)
{
    struct gpu_emit *e = d->e;
    if ((uint64_t)c->rows * c->columns > (uint64_t)GPU_KERNEL_ELEMENTS_MAX) {
        far_columns_loop(c, d, type, in);
        return;
    }
    gpu_mad_imm(e, c->index, c->row, c->columns, c->column);
    add_matrices(c, e, c->rows * c->columns);
    gpu_do(e);
    gpu_load_element(e, 0, type, c->value, in, gpu_r(e, c->index));
    accumulate(d, c->value, c->row);
    gpu_add_imm(e, c->index, c->index, (int64_t)c->simdgroups * c->columns);
    gpu_add_imm(e, c->row, c->row, c->simdgroups);
    gpu_while(e, "ult", gpu_r(e, c->row), gpu_int(e, c->rows));
}

static void share(struct columns *c, const struct reduction *d, unsigned simdgroup, unsigned lane)
{
    struct gpu_emit *e = d->e;
    gpu_mad_imm(e, c->address, simdgroup, SIMDGROUP, lane);
    gpu_mad_imm(e, c->address, c->address, 4, GPU_NO_REGISTER);
    gpu_group_store_raw(e, GPU_F32, 1, 2 * d->acc, gpu_h(e, 2 * c->address), "0");
    gpu_add_imm(e, c->address, c->address, c->places);
    if (is_place(d->operation))
        gpu_group_store_raw(e, GPU_F32, 1, 2 * d->place, gpu_h(e, 2 * c->address), "0");
    gpu_barrier(e);
}

/* Of two equal extremes, the one with the smaller row counts. */
static void accumulate_place(struct columns *c, const struct reduction *d, unsigned place)
{
    struct gpu_emit *e = d->e;
    const char *condition = d->operation == ARGMAX ? "gt" : "lt";
    const unsigned least = gpu_register(e, 1);
    gpu_emit(e, "icmpsel ult, r%u, r%u, r%u, r%u, r%u", least, place, d->place, place, d->place);
    gpu_emit(e, "fcmpsel eq, r%u, r%u, r%u, r%u, r%u", least, c->value, d->acc, least, d->place);
    gpu_emit(e, "fcmpsel %s, r%u, r%u, r%u, r%u, r%u", condition, d->place, c->value, d->acc, place, least);
    gpu_emit(e, "fcmpsel %s, r%u, r%u, r%u, r%u, r%u", condition, d->acc, c->value, d->acc, c->value, d->acc);
    gpu_register_free(e, least, 1);
}

/* The first simdgroup combines what the others left. */
static void gather(struct columns *c, struct reduction *d, unsigned lane)
{
    struct gpu_emit *e = d->e;
    const unsigned place = gpu_register(e, 1);
    for (unsigned i = 1; i < c->simdgroups; i++) {
        gpu_mad_imm(e, c->address, lane, 4, GPU_NO_REGISTER);
        gpu_add_imm(e, c->address, c->address, c->values + i * SIMDGROUP * 4);
        gpu_group_load_raw(e, GPU_F32, 1, 2 * c->value, gpu_h(e, 2 * c->address), "0");
        if (is_place(d->operation)) {
            gpu_add_imm(e, c->address, c->address, c->places);
            gpu_group_load_raw(e, GPU_F32, 1, 2 * place, gpu_h(e, 2 * c->address), "0");
            accumulate_place(c, d, place);
        } else {
            const bool first = d->first;
            d->first = false; /* the squares have been taken */
            accumulate(d, c->value, place);
            d->first = first;
        }
    }
    gpu_register_free(e, place, 1);
}

static void emit_columns(struct columns *c, struct reduction *d, enum gpu_type type, struct gpu_base in)
{
    struct gpu_emit *e = d->e;
    const unsigned simdgroup = gpu_register(e, 1), lane = gpu_register(e, 1);
    unsigned *const single[] = {&c->column, &c->row, &c->index, &c->value, &c->address};
    for (unsigned i = 0; i < ARRAY_COUNT(single); i++)
        *single[i] = gpu_register(e, 1);
    gpu_emit(e, "get_sr r%u, sr%d", simdgroup, GPU_SR_LOCAL_Y);
    gpu_emit(e, "get_sr r%u, sr%d", lane, GPU_SR_LOCAL_X);
    gpu_emit(e, "get_sr r%u, sr%d", c->column, GPU_SR_GRID_X);
    gpu_mov(e, c->row, simdgroup);
    clear(d);
    gpu_min_imm(e, c->column, c->column, c->columns - 1); /* beyond the edge: the last column once more */
    columns_loop(c, d, type, in);
    if (c->simdgroups > 1) {
        share(c, d, simdgroup, lane);
        gpu_if(e, "ueq", gpu_r(e, simdgroup), "0");
        gather(c, d, lane);
    }
    finish(d, d->acc);
    if (is_place(d->operation))
        gpu_emit(e, "icmpsel ueq, r%u, r%u, %s, 0, r%u", d->place, d->place, gpu_int(e, UINT32_MAX), d->place);
    gpu_emit(e, "get_sr r%u, sr%d", c->index, GPU_SR_GRID_X);
    gpu_if(e, "ult", gpu_r(e, c->index), gpu_int(e, c->columns));
    add_matrices(c, e, c->columns);
    gpu_store_element(e, 1, d->out_type, is_place(d->operation) ? d->place : d->acc, d->out, gpu_r(e, c->index));
    gpu_endif(e);
    if (c->simdgroups > 1)
        gpu_endif(e);
}

static bool build_down_columns(const struct gpu_kernel_request *q, struct reduction *d, struct gpu_kernel *kernel,
                               struct isa_error *error)
{
    struct columns c = {.rows = (uint32_t)q->value[ROWS],
                        .columns = (uint32_t)q->value[COLUMNS],
                        .batch = (uint32_t)q->value[BATCH]};
    char variant[32];
    c.simdgroups = c.rows >= 256 ? 16 : c.rows >= 64 ? 8 : c.rows >= 16 ? 4 : 1;
    snprintf(variant, sizeof variant, "reduce_%s_%s_down", d->method->name, gpu_type_name(q->type));
    d->e = gpu_emit_begin(kernel, variant, error);
    const struct gpu_base in = gpu_argument_buffer(d->e, 0, 0);
    d->out = gpu_argument_buffer(d->e, 1, 0);
    d->acc = gpu_register(d->e, 1);
    d->place = gpu_register(d->e, 1);
    d->length = c.rows;
    d->first = d->last = true;
    if (c.simdgroups > 1)
        c.values = gpu_threadgroup_memory(d->e, c.simdgroups * SIMDGROUP * 4);
    if (c.simdgroups > 1 && is_place(d->operation))
        c.places = gpu_threadgroup_memory(d->e, c.simdgroups * SIMDGROUP * 4);
    emit_columns(&c, d, q->type, in);
    gpu_emit_grid(d->e, (c.columns + SIMDGROUP - 1) / SIMDGROUP * SIMDGROUP, c.simdgroups, c.batch, SIMDGROUP, c.simdgroups, 1);
    return gpu_emit_end(d->e);
}

static bool build(const struct gpu_kernel_request *q, struct gpu_kernel *kernel, struct isa_error *error)
{
    const uint64_t columns = (uint64_t)q->value[COLUMNS], batch = (uint64_t)q->value[BATCH],
                   rows = (uint64_t)q->value[ROWS] * batch;
    struct reduction d = {.operation = (enum operation)q->value[OP]};
    const uint64_t results = q->value[AXIS] ? rows : columns * batch;
    const bool product = d.operation == PROD;
    d.method = &methods[d.operation];
    d.out_type = is_place(d.operation) ? GPU_U32 : q->type;
    if (q->value[AXIS] && (rows > (uint64_t)GPU_KERNEL_ELEMENTS_MAX / columns || rows > GPU_KERNEL_ROWS_MAX))
        return kernel_refuse(error, "reduce: more than 2^31 - 1 elements");
    if (rows > (uint64_t)GPU_KERNEL_ELEMENTS_MAX || gpu_kernel_count_of(rows, columns, 1) == UINT64_MAX)
        return kernel_refuse(error, "reduce: more than 2^31 - 1 rows, or more elements than any memory holds");
    if (batch > 1 && gpu_kernel_count_of(rows, columns, 1) > (uint64_t)GPU_KERNEL_ELEMENTS_MAX)
        return kernel_refuse(error, "reduce: several matrices with more than 2^31 - 1 elements");
    gpu_kernel_add_buffer(kernel, "x", q->type, rows * columns, GPU_BUFFER_INPUT, product ? 0.5 : -1, product ? 1.5 : 1);
    gpu_kernel_add_buffer(kernel, "out", d.out_type, results, GPU_BUFFER_OUTPUT, 0, 0);
    kernel->flops = (double)(rows * columns) * (d.operation == NORM2 ? 2 : 1);
    kernel->min_bytes = (double)gpu_type_bytes(q->type, rows * columns) + (double)gpu_type_bytes(d.out_type, results);
    return q->value[AXIS] ? build_along_rows(q, &d, kernel, error) : build_down_columns(q, &d, kernel, error);
}

static const struct gpu_kernel_info rows[] = {
    {"reduce", "RxC[,op=NAME][,axis=1|0][,batch=B]", "f32 f16 bf16",
     "one result per row (axis=1) or column (axis=0) of each of B matrices, in f32: sum mean max min prod norm2 argmax argmin "
     "(index as u32, the first of equal ones)",
     2, parameters, build},
};
const struct gpu_kernel_family gpu_family_reduce = {rows, ARRAY_COUNT(rows)};
