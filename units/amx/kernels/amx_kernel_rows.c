/* softmax and normalisations: native/line_rows.c. */
#include "units/amx/kernels/amx_kernels.h"

#include <stdio.h>

enum { VARIABLE = 64 }; /* ORDER: native/line.h */

static const struct kernel_parameter softmax_parameters[] = {ROUTINE_SOFTMAX_PARAMETERS, {.name = NULL}};
static const struct kernel_parameter norm_parameters[] = {ROUTINE_NORM_PARAMETERS, {.name = NULL}};

static struct routine_call *begin(const struct routine_request *r, struct routine_work *w, const char *function)
{
    snprintf(w->variant, sizeof w->variant, "amx_%s_%s", r->row->operation->name, routine_type_name(r->type));
    return routine_add_call(w, function, r->type, "rows", (uint64_t)r->value[ROWS_ROWS]);
}

/* A row of float32: the kernels have one thread. */
static void pass_row(const struct routine_request *r, struct routine_work *w, struct routine_call *c)
{
    const uint64_t columns = (uint64_t)r->value[ROWS_COLUMNS];
    routine_pass_operand(c, routine_add_scratch(w, "own", 4 * (columns + VARIABLE), 1), 0);
    routine_pass(c, (int64_t)columns);
}

static bool build_softmax(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    struct routine_call *const c = begin(r, w, "amx_softmax");
    (void)error;
    routine_pass_operand(c, 0, 0);
    routine_pass_operand(c, 1, 0);
    pass_row(r, w, c);
    routine_pass(c, r->value[SOFTMAX_LOG]);
    return true;
}

static bool build_norm(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    const bool centred = r->row->operation == &operation_layernorm, affine = r->value[NORM_AFFINE];
    struct routine_call *const c = begin(r, w, "amx_norm");
    (void)error;
    routine_pass_operand(c, 0, 0);
    routine_pass_operand(c, 1, 0);
    routine_pass_operand(c, affine ? 2 : 0, 0);
    routine_pass_operand(c, affine && centred ? 3 : 0, 0);
    pass_row(r, w, c);
    routine_pass(c, affine);
    routine_pass(c, affine && centred);
    routine_pass(c, centred);
    routine_pass_real(c, r->decimal[NORM_EPS]);
    return true;
}

#define FLOATS "f32 f16 bf16"

const struct routine amx_kernel_softmax = {
    &operation_softmax, "RxC[,log=0|1]", FLOATS, "e^(x - max) / sum over the C columns of each row; log=1: its logarithm",
    softmax_parameters, build_softmax};
const struct routine amx_kernel_layernorm = {
    &operation_layernorm,
    "RxC[,eps=X][,affine=0|1]",
    FLOATS,
    "(x - mean) / sqrt(variance + eps) of each row, times gamma plus beta (C each) unless affine=0",
    norm_parameters,
    build_norm};
const struct routine amx_kernel_rmsnorm = {&operation_rmsnorm,
                                           "RxC[,eps=X][,affine=0|1]",
                                           FLOATS,
                                           "x / sqrt(mean of squares + eps) of each row, times gamma (C) unless affine=0",
                                           norm_parameters,
                                           build_norm};
