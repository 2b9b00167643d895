/* cast: elements in another type. Four neighbouring elements per thread, of 64 bits two. */
#include "isa/array_count.h"
#include "units/gpu/kernels/gpu_whole.h"

#include <stdio.h>

enum { CAST_FROM = 1, CAST_TO };
#define CAST_TYPES TYPES "|bool|f32"

static const struct kernel_parameter cast_parameters[] = {
    {.name = "n", .least = 1, .most = GPU_KERNEL_ELEMENTS_MAX / 2, .required = true},
    {.name = "from", .words = CAST_TYPES},
    {.name = "to", .words = CAST_TYPES},
    {.name = NULL},
};

/* The magnitude as two words, each a number: below 2^32 it is rounded once, beyond twice. */
static void number_of_wide(const struct whole *w, unsigned x, unsigned to)
{
    const unsigned low = w->r, high = w->r + 1, other = w->r + 2;
    gpu_emit(w->e, "isub r%u_r%u, 0, r%u_r%u", low, high, x, x + 1);
    gpu_emit(w->e, "icmpsel slt, r%u, r%u, 0, r%u, r%u", low, x + 1, low, x);
    gpu_emit(w->e, "icmpsel slt, r%u, r%u, 0, r%u, r%u", high, x + 1, high, x + 1);
    gpu_emit(w->e, "convert u32_to_f, r%u, r%u, rte", low, low);
    gpu_emit(w->e, "convert u32_to_f, r%u, r%u, rte", high, high);
    gpu_emit(w->e, "fmadd32 r%u, r%u, %s, r%u", low, high, gpu_float(w->e, 0x1p32F), low);
    gpu_emit(w->e, "and r%u, r%u, %s", other, x + 1, gpu_int(w->e, UINT32_C(1) << 31));
    gpu_emit(w->e, "or r%u, r%u, r%u", to, low, other);
}

/* Toward zero: the magnitude's upper word is what 2^-32 of it holds whole, and what is left is exact. */
static void wide_of_number(const struct whole *w, unsigned x, unsigned to)
{
    const unsigned size = w->r, part = w->r + 1, low = w->r + 2, high = w->r + 3;
    gpu_emit(w->e, "and r%u, r%u, %s", size, x, gpu_int(w->e, INT32_MAX));
    gpu_emit(w->e, "fmul32 r%u, r%u, %s", part, size, gpu_float(w->e, 0x1p-32F));
    gpu_emit(w->e, "convert f_to_u32, r%u, r%u, rtz", high, part);
    gpu_emit(w->e, "convert u32_to_f, r%u, r%u, rte", part, high);
    gpu_emit(w->e, "fmadd32 r%u, r%u, %s, r%u", size, part, gpu_float(w->e, -0x1p32F), size);
    gpu_emit(w->e, "convert f_to_u32, r%u, r%u, rtz", low, size);
    gpu_emit(w->e, "isub r%u_r%u, 0, r%u_r%u", to, to + 1, low, high);
    gpu_emit(w->e, "icmpsel slt, r%u, r%u, 0, r%u, r%u", to, x, to, low);
    gpu_emit(w->e, "icmpsel slt, r%u, r%u, 0, r%u, r%u", to + 1, x, to + 1, high);
}

static void truth_of(const struct whole *w, unsigned x, unsigned to)
{
    const int64_t from = w->in[0].of;
    if (from == NUMBER) {
        gpu_emit(w->e, "fcmpsel eq, r%u, r%u, %s, 0, 1", to, x, gpu_float(w->e, 0));
        return;
    }
    if (from == I64)
        gpu_emit(w->e, "or r%u, r%u, r%u", w->r, x, x + 1);
    gpu_emit(w->e, "icmpsel ueq, r%u, r%u, 0, 0, 1", to, from == I64 ? w->r : x);
}

static void compute_cast(struct whole *w, unsigned element)
{
    const int64_t from = w->in[0].of, of = w->out.of;
    const unsigned x = w->in[0].data + element * width_of(from), to = w->out.data + element * width_of(of);
    if (from == SINGLE || of == SINGLE) { /* a number is float32 in registers */
        gpu_mov(w->e, to, x);
    } else if (of == BOOL) {
        truth_of(w, x, to);
    } else if (from == NUMBER && of == I64) {
        wide_of_number(w, x, to);
    } else if (from == NUMBER) {
        gpu_emit(w->e, "convert f_to_s32, r%u, r%u, rtz", to, x);
    } else if (of == NUMBER && from == I64) {
        number_of_wide(w, x, to);
    } else if (of == NUMBER) {
        gpu_emit(w->e, "convert s32_to_f, r%u, r%u, rte", to, x);
    } else {
        gpu_mov(w->e, to, x);
        if (of == I64 && from == I32)
            gpu_emit(w->e, "asr r%u, r%u, 31", to + 1, x);
        else if (of == I64)
            gpu_mov_imm(w->e, to + 1, 0);
    }
}

static bool build_cast(const struct gpu_kernel_request *r, struct gpu_kernel *kernel, struct isa_error *error)
{
    static const char *const names[] = {"x"};
    const int64_t from = r->value[CAST_FROM], to = r->value[CAST_TO];
    struct whole w = {.number = r->type, .inputs = 1, .compute = compute_cast};
    char variant[40];
    if (from == to || from == BOOL)
        return kernel_refuse(error, "cast: from=number|u8|i32|i64 and to=number|u8|i32|i64|bool must differ");
    if ((from == SINGLE || to == SINGLE) && (r->type == GPU_F32 || (from != NUMBER && to != NUMBER)))
        return kernel_refuse(error, "cast: f32 stands beside numbers of 16 bits (f16, bf16)");
    w.in[0].of = from;
    w.out.of = to;
    snprintf(variant, sizeof variant, "cast_%s_as_%s", gpu_whole_name(r, from), gpu_whole_name(r, to));
    return gpu_whole_build(&w, r, kernel, variant, names, error);
}

static const struct gpu_kernel_info rows[] = {
    {"cast", "N,from=TYPE,to=TYPE", "f32 f16 bf16",
     "N elements in another type (number, u8, i32, i64; also bool and, beside 16 bits, f32): numbers toward zero, low bits of "
     "what is wider",
     1, cast_parameters, build_cast},
};
const struct gpu_kernel_family gpu_family_cast = {rows, ARRAY_COUNT(rows)};
