/* Streams through memory: copy, scale, add, triad. 16 bytes per thread and operand; one more thread does the rest. */
#include "isa/array_count.h"
#include "units/gpu/kernels/gpu_kernel_family.h"

#include <stdio.h>
#include <string.h>

enum { BYTES, SCALAR, THREAD_BYTES = 16, GROUP_THREADS = 256 };

static const struct kernel_parameter parameters_copy[] = {
    {.name = "bytes", .least = 1, .most = INT64_C(1) << 44, .required = true},
    {.name = NULL},
};
static const struct kernel_parameter parameters_scaled[] = {
    {.name = "bytes", .least = 4, .most = INT64_C(1) << 44, .required = true},
    {.name = "s", .missing = 3, .least = -65504, .most = 65504, .decimal = true},
    {.name = NULL},
};

/* The operation that gives an element of the result. */
enum operation { SCALE, ADD, TRIAD };

struct stream {
    struct gpu_emit *e;
    enum gpu_type type;
    enum operation operation;
    struct gpu_base in[2], out;
    unsigned inputs, data[2], index;
    const char *scalar;
};

static const char *operand(struct stream *s, unsigned reg, unsigned element)
{
    return s->type == GPU_F16 ? gpu_h(s->e, 2 * reg + element) : gpu_r(s->e, reg + element);
}

/* data[0][i] = operation of data[][i]: each element is rounded once to float32 and, for f16, once more to half. */
static void compute(struct stream *s, unsigned elements)
{
    for (unsigned i = 0; i < elements; i++) {
        const char *to = operand(s, s->data[0], i), *a = operand(s, s->data[0], i), *b = operand(s, s->data[1], i);
        if (s->operation == SCALE)
            gpu_emit(s->e, "fmul32 %s, %s, %s", to, a, s->scalar);
        else if (s->operation == ADD)
            gpu_emit(s->e, "fadd32 %s, %s, %s", to, a, b);
        else
            gpu_emit(s->e, "fmadd32 %s, %s, %s, %s", to, b, s->scalar, a);
    }
}

/* Whole 16 bytes move as four words, whatever they contain. */
static void emit_vector(struct stream *s, unsigned elements)
{
    for (unsigned i = 0; i < s->inputs; i++)
        gpu_load_raw(s->e, 0, GPU_F32, 4, 2 * s->data[i], s->in[i], gpu_r(s->e, s->index));
    gpu_wait(s->e, 0);
    compute(s, elements);
    gpu_store_raw(s->e, 1, GPU_F32, 4, 2 * s->data[0], s->out, gpu_r(s->e, s->index));
}

/* The remaining elements, from `first` on, one by one. */
static void emit_rest(struct stream *s, uint32_t first, unsigned elements)
{
    for (unsigned i = 0; i < elements; i++) {
        gpu_mov_imm(s->e, s->index, first + i);
        for (unsigned k = 0; k < s->inputs; k++)
            gpu_load_raw(s->e, 0, s->type, 1, 2 * s->data[k], s->in[k], gpu_r(s->e, s->index));
        gpu_wait(s->e, 0);
        compute(s, 1);
        gpu_store_raw(s->e, 1, s->type, 1, 2 * s->data[0], s->out, gpu_r(s->e, s->index));
        gpu_wait(s->e, 1);
    }
}

static void emit_body(struct stream *s, uint64_t count, unsigned per_thread)
{
    const uint32_t whole = (uint32_t)(count / per_thread);
    const unsigned rest = (unsigned)(count % per_thread), thread = gpu_register(s->e, 1);
    s->index = gpu_register(s->e, 1);
    s->data[0] = gpu_register(s->e, 4);
    s->data[1] = gpu_register(s->e, 4);
    gpu_emit(s->e, "get_sr r%u, sr%d", thread, GPU_SR_GRID_X);
    gpu_shl(s->e, s->index, thread, 2);
    if (rest)
        gpu_if(s->e, "ult", gpu_r(s->e, thread), gpu_int(s->e, whole));
    emit_vector(s, per_thread);
    if (rest) {
        gpu_else(s->e);
        emit_rest(s, whole * per_thread, rest);
        gpu_endif(s->e);
    }
    gpu_emit_grid(s->e, whole + (rest != 0), 1, 1, GROUP_THREADS, 1, 1);
}

/* How many of the bytes that are left one launch takes: its threads count words in 32 bits, and the last thread of those with a
 * rest counts bytes. */
static uint64_t bytes_of_launch(uint64_t left)
{
    const uint64_t most = UINT64_C(1) << 34, counted = UINT64_C(1) << 32;
    if (left > most)
        return most;
    return left % THREAD_BYTES && left > counted ? left / counted * counted : left;
}

static bool scaled_launch(struct stream *s, struct gpu_kernel *kernel, const struct gpu_kernel_request *r, uint64_t first_byte,
                          uint64_t bytes, struct isa_error *error)
{
    const uint64_t size = gpu_type_bytes(r->type, 1);
    char variant[32], scalar[16];
    snprintf(variant, sizeof variant, "%s_%s_x4", r->info->name, gpu_type_name(r->type));
    s->e = gpu_emit_begin(kernel, variant, error);
    s->in[0] = gpu_argument_buffer(s->e, 0, first_byte);
    s->in[1] = gpu_argument_buffer(s->e, s->inputs - 1, first_byte);
    s->out = gpu_argument_buffer(s->e, s->inputs, first_byte);
    snprintf(scalar, sizeof scalar, "%s", s->operation == ADD ? "0" : gpu_float(s->e, (float)r->decimal[SCALAR]));
    s->scalar = scalar;
    emit_body(s, bytes / size, (unsigned)(THREAD_BYTES / size));
    return gpu_emit_end(s->e);
}

static bool build_scaled(const struct gpu_kernel_request *r, struct gpu_kernel *kernel, enum operation operation,
                         struct isa_error *error)
{
    const uint64_t size = gpu_type_bytes(r->type, 1), count = (uint64_t)r->value[BYTES] / size;
    if ((uint64_t)r->value[BYTES] % size)
        return kernel_refuse(error, "%s: %lld bytes are no whole number of %s elements", r->info->name,
                             (long long)r->value[BYTES], gpu_type_name(r->type));
    struct stream s = {.type = r->type, .operation = operation, .inputs = operation == SCALE ? 1 : 2};
    gpu_kernel_add_buffer(kernel, "a", r->type, count, GPU_BUFFER_INPUT, -1, 1);
    if (s.inputs > 1)
        gpu_kernel_add_buffer(kernel, "b", r->type, count, GPU_BUFFER_INPUT, -1, 1);
    gpu_kernel_add_buffer(kernel, "out", r->type, count, GPU_BUFFER_OUTPUT, 0, 0);
    kernel->min_bytes = (double)(s.inputs + 1) * (double)r->value[BYTES];
    kernel->flops = (operation == TRIAD ? 2.0 : 1.0) * (double)count;
    bool ok = true;
    for (uint64_t at = 0, bytes; ok && at < count * size; at += bytes) {
        bytes = bytes_of_launch(count * size - at);
        ok = scaled_launch(&s, kernel, r, at, bytes, error);
    }
    return ok;
}

static bool build_scale(const struct gpu_kernel_request *r, struct gpu_kernel *kernel, struct isa_error *error)
{
    return build_scaled(r, kernel, SCALE, error);
}

static bool build_add(const struct gpu_kernel_request *r, struct gpu_kernel *kernel, struct isa_error *error)
{
    return build_scaled(r, kernel, ADD, error);
}

static bool build_triad(const struct gpu_kernel_request *r, struct gpu_kernel *kernel, struct isa_error *error)
{
    return build_scaled(r, kernel, TRIAD, error);
}

/* ---- copy: bytes, whatever they mean ---- */

static void copy_rest(struct gpu_emit *e, struct gpu_base in, struct gpu_base out, uint64_t first, unsigned bytes, unsigned index)
{
    for (unsigned i = 0; i < bytes; i++) {
        gpu_mov_imm(e, index, (uint32_t)first + i);
        gpu_load_raw(e, 0, GPU_U8, 1, 2 * (index + 1), in, gpu_r(e, index));
        gpu_wait(e, 0);
        gpu_store_raw(e, 1, GPU_U8, 1, 2 * (index + 1), out, gpu_r(e, index));
        gpu_wait(e, 1);
    }
}

static bool copy_launch(struct gpu_kernel *kernel, uint64_t first_byte, uint64_t bytes, struct isa_error *error)
{
    const uint64_t whole = bytes / THREAD_BYTES;
    const unsigned rest = (unsigned)(bytes % THREAD_BYTES);
    struct gpu_emit *e = gpu_emit_begin(kernel, "copy_16_bytes", error);
    const struct gpu_base in = gpu_argument_buffer(e, 0, first_byte), out = gpu_argument_buffer(e, 1, first_byte);
    const unsigned thread = gpu_register(e, 1), index = gpu_register(e, 5);
    gpu_emit(e, "get_sr r%u, sr%d", thread, GPU_SR_GRID_X);
    gpu_shl(e, index, thread, 2);
    if (rest)
        gpu_if(e, "ult", gpu_r(e, thread), gpu_int(e, (uint32_t)whole));
    gpu_load_raw(e, 0, GPU_F32, 4, 2 * (index + 1), in, gpu_r(e, index));
    gpu_wait(e, 0);
    gpu_store_raw(e, 1, GPU_F32, 4, 2 * (index + 1), out, gpu_r(e, index));
    if (rest) {
        gpu_else(e);
        copy_rest(e, in, out, whole * THREAD_BYTES, rest, index);
        gpu_endif(e);
    }
    gpu_emit_grid(e, (uint32_t)whole + (rest != 0), 1, 1, GROUP_THREADS, 1, 1);
    return gpu_emit_end(e);
}

static bool build_copy(const struct gpu_kernel_request *r, struct gpu_kernel *kernel, struct isa_error *error)
{
    const uint64_t bytes = (uint64_t)r->value[BYTES], size = gpu_type_bytes(r->type, 1);
    bool ok = true;
    if (bytes % size)
        return kernel_refuse(error, "copy: %llu bytes are no whole number of %s elements", (unsigned long long)bytes,
                             gpu_type_name(r->type));
    gpu_kernel_add_buffer(kernel, "a", r->type, bytes / size, GPU_BUFFER_INPUT, -1, 1);
    gpu_kernel_add_buffer(kernel, "out", r->type, bytes / size, GPU_BUFFER_OUTPUT, 0, 0);
    kernel->min_bytes = 2.0 * (double)bytes;
    for (uint64_t at = 0, now; ok && at < bytes; at += now) {
        now = bytes_of_launch(bytes - at);
        ok = copy_launch(kernel, at, now, error);
    }
    return ok;
}

static const struct gpu_kernel_info rows[] = {
    {"copy", "BYTES", "f32 f16 bf16 i32 u32 u8", "out = a; BYTES of each array", 1, parameters_copy, build_copy},
    {"stream-scale", "BYTES[,s=S]", "f32 f16", "out = s * a; BYTES of each array", 1, parameters_scaled, build_scale},
    {"stream-add", "BYTES", "f32 f16", "out = a + b; BYTES of each array", 1, parameters_copy, build_add},
    {"stream-triad", "BYTES[,s=S]", "f32 f16", "out = a + s * b; BYTES of each array", 1, parameters_scaled, build_triad},
};
const struct gpu_kernel_family gpu_family_stream = {rows, ARRAY_COUNT(rows)};
