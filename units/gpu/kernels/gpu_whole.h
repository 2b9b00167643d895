/* Kernels of whole numbers of 8, 32 and 64 bits: what theirs and those of conversions have in common. */
#ifndef ORCHARD_UNITS_GPU_KERNELS_GPU_WHOLE_H
#define ORCHARD_UNITS_GPU_KERNELS_GPU_WHOLE_H

#include "units/gpu/kernels/gpu_kernel_family.h"

enum { NUMBER, U8, I32, I64, BOOL, SINGLE }; /* ORDER: TYPES, then those of conversions alone */
#define TYPES "number|u8|i32|i64"
enum { FOUR = 4, OPERANDS = 3 };

/* An operand, its place in registers, and after how many elements it begins again; 0 = it does not. */
struct operand {
    struct gpu_base base;
    int64_t of;
    unsigned data; /* of four words */
    uint32_t period;
    bool as_bits; /* 16-bit numbers are moved, not widened */
};

struct whole {
    struct gpu_emit *e;
    enum gpu_type number;
    int64_t op;
    struct operand in[OPERANDS], out;
    unsigned inputs, index, place, r; /* r: four registers */
    unsigned own, owns;               /* as many more, where `compute` asks for them */
    void (*compute)(struct whole *w, unsigned element);
};

static inline unsigned width_of(int64_t of)
{
    return of == I64 ? 2 : 1;
}

/* gpu_whole_divide.c: registers from `to` on = what division or a shift makes of a and b, of the type of the result. It needs
 * registers of its own. */
enum { GPU_WHOLE_OWN = 9 };
enum gpu_whole_part { GPU_WHOLE_QUOTIENT, GPU_WHOLE_MODULUS, GPU_WHOLE_REST };
void gpu_whole_divide(const struct whole *w, enum gpu_whole_part part, unsigned a, unsigned b, unsigned to);
void gpu_whole_shift(const struct whole *w, bool left, unsigned a, unsigned b, unsigned to);

/* Completes the kernel: `names` are those of the inputs. */
bool gpu_whole_build(struct whole *w, const struct gpu_kernel_request *r, struct gpu_kernel *kernel, const char *variant,
                     const char *const *names, struct isa_error *error);
/* How a type is called in the name of a kernel. */
const char *gpu_whole_name(const struct gpu_kernel_request *r, int64_t of);

#endif
