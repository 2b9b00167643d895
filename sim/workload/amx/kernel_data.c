#include "sim/workload/amx/kernel.h"

#include "isa/float_bits.h"
#include "sim/base/checksum.h"
#include "units/cpu/cpu_random.h"

#include <inttypes.h>
#include <string.h>

/* Uniform in [-1, 1), 24 random bits. */
static double uniform(uint64_t *state)
{
    return (double)(cpu_random(state) >> 40) * 0x1p-23 - 1.0;
}

static uint16_t f16_bits(double value)
{
    const _Float16 h = (_Float16)value;
    uint16_t bits;
    memcpy(&bits, &h, sizeof bits);
    return bits;
}

/* One random element of the input type. Integers use their whole range: wrap-around is part of the product. */
static uint64_t random_element(enum gemm_kind kind, uint64_t *state)
{
    switch (kind) {
    case GEMM_F64: return f64_bits(uniform(state));
    case GEMM_F32: return f32_bits((float)uniform(state));
    case GEMM_F16:
    case GEMM_F16_F32: return f16_bits(uniform(state));
    case GEMM_BF16_F32: return f32_bits((float)uniform(state)) >> 16; /* truncated: any bf16 number will do */
    default: return cpu_random(state) >> 32;
    }
}

/* alpha or beta in the output type. */
static uint64_t scalar_bits(enum gemm_kind kind, double value)
{
    switch (kind) {
    case GEMM_F64: return value == 0 ? 0 : f64_bits(value);
    case GEMM_F16: return value == 0 ? 0 : f16_bits(value);
    case GEMM_I8_I32:
    case GEMM_I16_I32: return (uint64_t)value;
    default: return value == 0 ? 0 : f32_bits((float)value);
    }
}

static void fill(uint8_t *to, uint64_t elements, uint32_t bytes, enum gemm_kind kind, uint64_t seed)
{
    for (uint64_t i = 0; i < elements; i++) {
        const uint64_t v = random_element(kind, &seed);
        memcpy(to + i * bytes, &v, bytes);
    }
}

static bool place(struct mem_space *space, uint64_t bytes, uint64_t *address, struct orch_error *error)
{
    *address = mem_space_alloc(space, bytes, 16384);
    if (*address)
        return true;
    return orch_fail(error, ORCH_USAGE, "the simulated memory has no room for a matrix of %" PRIu64 " bytes", bytes);
}

/* Takes the caller's operand or allocates one. */
static bool operand(struct mem_space *space, uint64_t given, char name, uint64_t bytes, uint64_t *address,
                    struct orch_error *error)
{
    if (!given)
        return place(space, bytes, address, error);
    *address = given;
    if (mem_at(space, given, bytes, MEM_READ | MEM_WRITE))
        return true;
    return orch_fail(error, ORCH_USAGE, "operand %c at 0x%" PRIx64 " is shorter than the %" PRIu64 " bytes of its shape", name,
                     given, bytes);
}

static bool operands(struct mem_space *space, const uint64_t *given, struct kernel_data *d, struct orch_error *error)
{
    return operand(space, given[0], 'A', d->a_bytes, &d->a, error) && operand(space, given[1], 'B', d->b_bytes, &d->b, error) &&
           operand(space, given[2], 'C', d->c_bytes, &d->c, error);
}

static bool gemv_create(const struct kernel_call *c, struct mem_space *space, const uint64_t *given, struct kernel_data *d,
                        uint32_t bytes, struct orch_error *error)
{
    d->a_bytes = c->lda * c->m * bytes;
    d->b_bytes = (uint64_t)c->n * bytes;
    d->c_bytes = (uint64_t)c->m * bytes;
    if (!operands(space, given, d, error) || !place(space, gemv_workspace_bytes(c->m, c->n), &d->workspace, error))
        return false;
    d->args.gemv = (struct gemv_args){.a = d->a,
                                      .x = d->b,
                                      .y = d->c,
                                      .workspace = d->workspace,
                                      .lda = c->lda,
                                      .m = c->m,
                                      .n = c->n,
                                      .is_f64 = c->kind == GEMM_F64};
    return true;
}

static bool gemm_create(const struct kernel_call *c, enum amx_gen gen, struct mem_space *space, const uint64_t *given,
                        struct kernel_data *d, const struct gemm_shape *s, struct orch_error *error)
{
    const uint64_t elements_a = c->lda * (c->transpose_a ? c->k : c->m), elements_b = c->ldb * (c->transpose_b ? c->n : c->k);
    const uint64_t elements_c = c->ldc * c->m;
    d->a_bytes = elements_a * s->in_bytes * c->batch;
    d->b_bytes = elements_b * s->in_bytes * c->batch;
    d->c_bytes = elements_c * s->out_bytes * c->batch;
    if (!operands(space, given, d, error) ||
        !place(space, gemm_workspace_bytes_of(c->kind, c->m, c->n, c->k, &c->blocks), &d->workspace, error))
        return false;
    d->args.gemm = (struct gemm_args){
        .a = d->a,
        .b = d->b,
        .c = d->c,
        .workspace = d->workspace,
        .lda = c->lda,
        .ldb = c->ldb,
        .ldc = c->ldc,
        .stride_a = elements_a,
        .stride_b = elements_b,
        .stride_c = elements_c,
        .m = c->m,
        .n = c->n,
        .k = c->k,
        .batch = c->batch,
        .transpose_a = c->transpose_a,
        .transpose_b = c->transpose_b,
        .quad_loads = gen >= AMX_GEN_M2,
        .kind = c->kind,
        .alpha_bits = scalar_bits(c->kind, c->alpha),
        .beta_bits = scalar_bits(c->kind, c->beta),
        .blocks = c->blocks,
    };
    return true;
}

static bool is_gemv(const struct kernel_call *c)
{
    return strcmp(c->info->name, "gemv") == 0;
}

/* The kind whose inputs have the type of C: where 16-bit inputs are summed in f32, C is f32. */
static enum gemm_kind result_kind(const struct kernel_call *c)
{
    switch (c->kind) {
    case GEMM_F16_F32:
    case GEMM_BF16_F32: return GEMM_F32;
    default: return c->kind;
    }
}

bool kernel_data_create(const struct kernel_call *c, enum amx_gen gen, struct mem_space *space, const uint64_t *given,
                        uint64_t seed, struct kernel_data *d, struct orch_error *error)
{
    static const uint64_t none[3];
    const struct gemm_shape *s = gemm_shape_of(c->kind);
    given = given ? given : none;
    memset(d, 0, sizeof *d);
    if (!(is_gemv(c) ? gemv_create(c, space, given, d, s->in_bytes, error) : gemm_create(c, gen, space, given, d, s, error)))
        return false;
    if (!given[0])
        fill(mem_at(space, d->a, d->a_bytes, MEM_WRITE), d->a_bytes / s->in_bytes, s->in_bytes, c->kind, seed);
    if (!given[1])
        fill(mem_at(space, d->b, d->b_bytes, MEM_WRITE), d->b_bytes / s->in_bytes, s->in_bytes, c->kind, seed ^ 0xb);
    if (!given[2] && c->beta != 0)
        fill(mem_at(space, d->c, d->c_bytes, MEM_WRITE), d->c_bytes / s->out_bytes, s->out_bytes, result_kind(c), seed ^ 0xc);
    return true;
}

uint64_t kernel_data_bytes(const struct kernel_call *c)
{
    const struct gemm_shape *s = gemm_shape_of(c->kind);
    if (is_gemv(c))
        return (c->lda * c->m + c->n + c->m) * s->in_bytes;
    const uint64_t in = c->lda * (c->transpose_a ? c->k : c->m) + c->ldb * (c->transpose_b ? c->n : c->k);
    return (in * s->in_bytes + c->ldc * c->m * s->out_bytes) * c->batch;
}

uint64_t kernel_data_checksum(const struct kernel_call *c, const struct kernel_data *d, const struct mem_space *space)
{
    const uint32_t bytes = gemm_shape_of(c->kind)->out_bytes;
    const uint64_t rows = is_gemv(c) ? 1 : (uint64_t)c->m * c->batch, row = (uint64_t)(is_gemv(c) ? c->m : c->n) * bytes;
    const uint64_t stride = is_gemv(c) ? row : c->ldc * bytes;
    const uint8_t *at = mem_at(space, d->c, d->c_bytes, MEM_READ);
    uint64_t hash = CHECKSUM_START;
    for (uint64_t r = 0; at && r < rows; r++)
        hash = checksum_add(hash, at + r * stride, row);
    return hash;
}
