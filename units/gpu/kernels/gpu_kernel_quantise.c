/* quantise: float32 values as halves, or in blocks of q8_0 as ggml has them: a scale in half precision, then 32 signed bytes.
 * What goes into a cache of keys and values is made so. A thread has four neighbours of halves; a simdgroup has a block.
 */
#include "isa/array_count.h"
#include "units/gpu/kernels/gpu_kernel_family.h"

#include <stdio.h>

enum { COUNT };
enum { FOUR = 4, BLOCK = 32, GROUP_THREADS = 256, LARGEST = 127 };

static const struct kernel_parameter parameters[] = {
    {.name = "count", .least = 1, .most = GPU_KERNEL_ELEMENTS_MAX, .required = true},
    {.name = NULL},
};

/* A sum with 1.5 * 2^23 has the nearest whole number in its low bits. */
static const float whole = 12582912.0F;

struct quantise {
    struct gpu_emit *e;
    struct gpu_base from, to;
    unsigned at, value; /* value: four of halves, one of blocks */
    unsigned most, scale, place, lane;
};

static void narrow_four(struct quantise *q)
{
    gpu_shl(q->e, q->at, q->at, 2);
    gpu_load_raw(q->e, 0, GPU_F32, FOUR, 2 * q->value, q->from, gpu_r(q->e, q->at));
    gpu_wait(q->e, 0);
    gpu_narrow(q->e, GPU_F16, FOUR, 2 * q->value, q->value, q->place);
    gpu_store_raw(q->e, 1, GPU_F16, FOUR, 2 * q->value, q->to, gpu_r(q->e, q->at));
}

/* scale = the largest / 127; a block of zeros has the scale 0, and its numbers are 0 whatever they are multiplied by. */
static void make_scale(struct quantise *q)
{
    gpu_emit(q->e, "fadd32 r%u, r%u.abs, -0.0", q->most, q->value);
    gpu_simd_reduce(q->e, "fmax", q->most, q->most);
    gpu_emit(q->e, "fmul32 r%u, r%u, %s", q->scale, q->most, gpu_float(q->e, 1.0F / LARGEST));
    gpu_emit(q->e, "rcp r%u, r%u", q->most, q->scale);
    gpu_emit(q->e, "fcmpsel gtn, r%u, r%u, 0, r%u, 0", q->most, q->scale, q->most);
}

static void pack_block(struct quantise *q)
{
    const uint32_t bytes = (uint32_t)gpu_type_bytes(GPU_Q8_0, BLOCK);
    gpu_load_raw(q->e, 0, GPU_F32, 1, 2 * q->value, q->from, gpu_r(q->e, q->at));
    gpu_and_imm(q->e, q->lane, q->at, BLOCK - 1);
    gpu_shr(q->e, q->at, q->at, 5);
    gpu_wait(q->e, 0);
    make_scale(q);
    gpu_emit(q->e, "fmadd32 r%u, r%u, r%u, %s", q->value, q->value, q->most, gpu_float(q->e, whole));
    gpu_mad_imm(q->e, q->place, q->at, bytes, q->lane);
    gpu_add_imm(q->e, q->place, q->place, 2);
    gpu_store_raw(q->e, 1, GPU_U8, 1, 2 * q->value, q->to, gpu_r(q->e, q->place));
    gpu_narrow(q->e, GPU_F16, 1, 2 * q->scale, q->scale, q->most);
    gpu_mad_imm(q->e, q->place, q->at, bytes / 2, GPU_NO_REGISTER);
    gpu_if(q->e, "ueq", gpu_r(q->e, q->lane), "0");
    gpu_store_raw(q->e, 1, GPU_F16, 1, 2 * q->scale, q->to, gpu_r(q->e, q->place));
    gpu_endif(q->e);
}

static bool build(const struct gpu_kernel_request *r, struct gpu_kernel *kernel, struct isa_error *error)
{
    const uint32_t count = (uint32_t)r->value[COUNT];
    const bool blocks = r->type == GPU_Q8_0;
    const unsigned least = blocks ? BLOCK : FOUR;
    char variant[40];
    if (count % least)
        return kernel_refuse(error, "quantise: %s takes multiples of %u values; %u is none", gpu_type_name(r->type), least,
                             (unsigned)count);
    const unsigned from = gpu_kernel_add_buffer(kernel, "x", GPU_F32, count, GPU_BUFFER_INPUT, -1, 1);
    const unsigned to = gpu_kernel_add_buffer(kernel, "out", r->type, count, GPU_BUFFER_OUTPUT, 0, 0);
    snprintf(variant, sizeof variant, "quantise_f32_as_%s", gpu_type_name(r->type));
    struct quantise q = {.e = gpu_emit_begin(kernel, variant, error)};
    q.from = gpu_argument_buffer(q.e, from, 0);
    q.to = gpu_argument_buffer(q.e, to, 0);
    unsigned *const single[] = {&q.at, &q.most, &q.scale, &q.place, &q.lane};
    for (unsigned i = 0; i < ARRAY_COUNT(single); i++)
        *single[i] = gpu_register(q.e, 1);
    q.value = gpu_register(q.e, FOUR);
    gpu_emit(q.e, "get_sr r%u, sr%d", q.at, GPU_SR_GRID_X);
    (blocks ? pack_block : narrow_four)(&q);
    gpu_emit_grid(q.e, blocks ? count : count / FOUR, 1, 1, GROUP_THREADS, 1, 1);
    kernel->min_bytes = (double)(gpu_type_bytes(GPU_F32, count) + gpu_type_bytes(r->type, count));
    return gpu_emit_end(q.e);
}

static const struct gpu_kernel_info rows[] = {
    {"quantise", "N", "q8_0 f16",
     "N values of f32 as halves or in blocks of 32 (ggml's q8_0): a scale, the largest of them / 127, and signed bytes", 1,
     parameters, build},
};
const struct gpu_kernel_family gpu_family_quantise = {rows, ARRAY_COUNT(rows)};
