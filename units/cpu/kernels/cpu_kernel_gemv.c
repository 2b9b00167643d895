/* gemv: native/gemv.c, gemv_blocks.c. */
#include "units/cpu/kernels/cpu_kernel_family.h"

#include <stdio.h>

enum { ROWS = 4 }; /* ORDER: native/gemv.c */

static const struct kernel_parameter parameters[] = {ROUTINE_GEMV_PARAMETERS, {.name = NULL}};

static bool build(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    const bool wide = r->value[GEMV_VECTORS] && (r->type == ROUTINE_F16 || r->type == ROUTINE_BF16);
    struct routine_call *const c = routine_add_call(w, wide ? "neon_gemv_wide" : "neon_gemv", r->type, "groups of 4 rows",
                                                    ((uint64_t)r->value[GEMV_M] + ROWS - 1) / ROWS);
    (void)error;
    for (unsigned operand = 0; operand < 3; operand++)
        routine_pass_operand(c, operand, 0);
    routine_pass(c, r->value[GEMV_M]);
    routine_pass(c, r->value[GEMV_N]);
    snprintf(w->variant, sizeof w->variant, "neon_gemv_%s%s", wide ? "wide_" : "", routine_type_name(r->type));
    return true;
}

const struct routine cpu_kernel_gemv = {&operation_gemv,
                                        "MxN[,vectors=own|f32]",
                                        "f32 f16 bf16 i8 q4_0 q8_0 q4_k q6_k",
                                        "y = a * x, a row-major, sums in f32 (i8: in i32, which is also the type of y); "
                                        "quantised matrices: GGUF blocks along rows, x and y "
                                        "in f32; vectors=f32: so are those of other matrices",
                                        parameters,
                                        build};
