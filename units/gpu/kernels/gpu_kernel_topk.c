/* topk: places of the largest or smallest elements of rows. A simdgroup has a row and looks through it once for each place: for
 * the best of what comes behind the place before. */
#include "isa/array_count.h"
#include "units/gpu/kernels/gpu_kernel_family.h"

#include <math.h>
#include <stdio.h>

enum { ROWS, COLUMNS, COUNT, SMALLEST };
enum { LANES = 32 };

static const struct kernel_parameter parameters[] = {
    {.name = "rows", .least = 1, .most = 1 << 24, .required = true},
    {.name = "columns", .least = 1, .most = 1 << 24, .required = true},
    {.name = "k", .least = 1, .most = 1 << 16, .required = true},
    {.name = "smallest", .least = 0, .most = 1},
    {.name = NULL},
};

struct topk {
    struct gpu_emit *e;
    enum gpu_type type;
    uint32_t columns, count;
    bool smallest;
    struct gpu_base x, out;
    /* Registers: the row's first element and place of the result; the place before; the best so far; counters. */
    unsigned lane, base, to, last, last_place, best, best_place, value, at, i, done, places, t, s;
};

/* s = whether the element comes behind the place before: it is less, or as large and later. */
static void find_behind(const struct topk *k)
{
    gpu_emit(k->e, "fcmpsel lt, r%u, r%u, r%u, 1, 0", k->s, k->value, k->last);
    gpu_emit(k->e, "icmpsel sgt, r%u, r%u, r%u, 1, 0", k->t, k->i, k->last_place);
    gpu_emit(k->e, "fcmpsel eq, r%u, r%u, r%u, r%u, 0", k->t, k->value, k->last, k->t);
    gpu_emit(k->e, "or r%u, r%u, r%u", k->s, k->s, k->t);
    gpu_emit(k->e, "icmpsel ult, r%u, r%u, %s, r%u, 0", k->s, k->i, gpu_int(k->e, k->columns), k->s);
}

/* Takes the element if it is behind the place before, and better than the best so far or the first. */
static void take_better(const struct topk *k)
{
    gpu_emit(k->e, "icmpsel ueq, r%u, r%u, %s, 1, 0", k->t, k->best_place, gpu_int(k->e, UINT32_MAX));
    gpu_emit(k->e, "fcmpsel gt, r%u, r%u, r%u, 1, r%u", k->t, k->value, k->best, k->t);
    gpu_emit(k->e, "and r%u, r%u, r%u", k->s, k->s, k->t);
    gpu_emit(k->e, "icmpsel ueq, r%u, r%u, 0, r%u, r%u", k->best, k->s, k->best, k->value);
    gpu_emit(k->e, "icmpsel ueq, r%u, r%u, 0, r%u, r%u", k->best_place, k->s, k->best_place, k->i);
}

/* All lanes go through as many elements, of which those beyond the row do not count. */
static void look_through(const struct topk *k)
{
    gpu_mov_imm(k->e, k->best, f32_bits(-INFINITY));
    gpu_mov_imm(k->e, k->best_place, UINT32_MAX);
    gpu_mov_imm(k->e, k->done, 0);
    gpu_mov(k->e, k->i, k->lane);
    gpu_do(k->e);
    gpu_min_imm(k->e, k->at, k->i, k->columns - 1);
    gpu_emit(k->e, "iadd r%u, r%u, r%u", k->at, k->at, k->base);
    gpu_load_element(k->e, 0, k->type, k->value, k->x, gpu_r(k->e, k->at));
    if (k->smallest)
        gpu_emit(k->e, "xor r%u, r%u, %s", k->value, k->value, gpu_int(k->e, UINT32_C(1) << 31));
    find_behind(k);
    take_better(k);
    gpu_add_imm(k->e, k->i, k->i, LANES);
    gpu_add_imm(k->e, k->done, k->done, LANES);
    gpu_while(k->e, "ult", gpu_r(k->e, k->done), gpu_int(k->e, k->columns));
}

/* The best of all lanes becomes the place before; of equal ones the first. */
static void agree(const struct topk *k)
{
    gpu_simd_reduce(k->e, "fmax", k->last, k->best);
    gpu_emit(k->e, "fcmpsel eq, r%u, r%u, r%u, r%u, %s", k->best_place, k->best, k->last, k->best_place,
             gpu_int(k->e, UINT32_MAX));
    gpu_simd_reduce(k->e, "umin", k->last_place, k->best_place);
    gpu_if(k->e, "ueq", gpu_r(k->e, k->lane), "0");
    gpu_store_raw(k->e, 1, GPU_U32, 1, 2 * k->last_place, k->out, gpu_r(k->e, k->to));
    gpu_wait(k->e, 1);
    gpu_endif(k->e);
}

static void emit_body(struct topk *k, uint32_t rows)
{
    unsigned *const own[] = {&k->lane,  &k->base, &k->to, &k->last, &k->last_place, &k->best, &k->best_place,
                             &k->value, &k->at,   &k->i,  &k->done, &k->places,     &k->t,    &k->s};
    for (size_t i = 0; i < ARRAY_COUNT(own); i++)
        *own[i] = gpu_register(k->e, 1);
    gpu_emit(k->e, "get_sr r%u, sr%d", k->t, GPU_SR_GROUP_X);
    gpu_emit(k->e, "get_sr r%u, sr%d", k->lane, GPU_SR_LANE);
    gpu_mad_imm(k->e, k->base, k->t, k->columns, GPU_NO_REGISTER);
    gpu_mad_imm(k->e, k->to, k->t, k->count, GPU_NO_REGISTER);
    gpu_mov_imm(k->e, k->last, f32_bits(INFINITY));
    gpu_mov_imm(k->e, k->last_place, UINT32_MAX);
    gpu_mov_imm(k->e, k->places, 0);
    gpu_do(k->e);
    look_through(k);
    agree(k);
    gpu_add_imm(k->e, k->to, k->to, 1);
    gpu_add_imm(k->e, k->places, k->places, 1);
    gpu_while(k->e, "ult", gpu_r(k->e, k->places), gpu_int(k->e, k->count));
    gpu_emit_grid(k->e, rows * LANES, 1, 1, LANES, 1, 1);
}

static bool build(const struct gpu_kernel_request *r, struct gpu_kernel *kernel, struct isa_error *error)
{
    struct topk k = {.type = r->type,
                     .columns = (uint32_t)r->value[COLUMNS],
                     .count = (uint32_t)r->value[COUNT],
                     .smallest = r->value[SMALLEST] != 0};
    const int64_t rows = r->value[ROWS], all = rows * r->value[COLUMNS];
    char variant[32];
    if (r->value[COUNT] > r->value[COLUMNS] || all >= INT64_C(1) << 31)
        return kernel_refuse(error, "topk: k must be at most columns, and an operand has fewer than 2^31 elements");
    snprintf(variant, sizeof variant, "topk_%s", gpu_type_name(r->type));
    k.e = gpu_emit_begin(kernel, variant, error);
    k.x = gpu_argument_buffer(k.e, gpu_kernel_add_buffer(kernel, "x", r->type, (uint64_t)all, GPU_BUFFER_INPUT, -4, 4), 0);
    const unsigned out =
        gpu_kernel_add_buffer(kernel, "out", GPU_U32, (uint64_t)(rows * r->value[COUNT]), GPU_BUFFER_OUTPUT, 0, 0);
    k.out = gpu_argument_buffer(k.e, out, 0);
    emit_body(&k, (uint32_t)rows);
    kernel->min_bytes = (double)gpu_type_bytes(r->type, (uint64_t)all) + 4 * (double)(rows * r->value[COUNT]);
    return gpu_emit_end(k.e);
}

static const struct gpu_kernel_info rows[] = {
    {"topk", "RxC,k=K[,smallest=0|1]", "f32 f16 bf16",
     "places of the K largest (smallest) elements of each row as u32, the best first; of equal ones the first", 2, parameters,
     build},
};
const struct gpu_kernel_family gpu_family_topk = {rows, ARRAY_COUNT(rows)};
