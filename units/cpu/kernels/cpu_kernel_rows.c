/* softmax, normalisations and reductions: native/rows.c, native/reduce.c. */
#include "units/cpu/kernels/cpu_kernel_family.h"

#include <stdio.h>

enum { COLUMN_BLOCK = 64 }; /* ORDER: native/reduce.c */

static const struct kernel_parameter softmax_parameters[] = {ROUTINE_SOFTMAX_PARAMETERS, {.name = NULL}};
static const struct kernel_parameter norm_parameters[] = {ROUTINE_NORM_PARAMETERS, {.name = NULL}};
static const struct kernel_parameter groupnorm_parameters[] = {ROUTINE_GROUPNORM_PARAMETERS, {.name = NULL}};
static const struct kernel_parameter batchnorm_parameters[] = {ROUTINE_BATCHNORM_PARAMETERS, {.name = NULL}};
enum { LANES = REDUCE_OWN };
static const struct kernel_parameter reduce_parameters[] = {
    ROUTINE_REDUCE_PARAMETERS, {.name = "lanes", .words = "16|8"}, {.name = NULL}};

static bool build_softmax(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    (void)error;
    arguments_build_softmax(&cpu_kernel_neon, r, w);
    return true;
}

static bool build_layernorm(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    (void)error;
    arguments_build_norm(&cpu_kernel_neon, r, w);
    return true;
}

static bool build_groupnorm(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    (void)error;
    arguments_build_groupnorm(&cpu_kernel_neon, r, w);
    return true;
}

static bool build_batchnorm(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    (void)error;
    arguments_build_batchnorm(&cpu_kernel_neon, r, w);
    return true;
}

static bool build_reduce(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    const uint64_t rows = (uint64_t)r->value[REDUCE_ROWS], columns = (uint64_t)r->value[REDUCE_COLUMNS];
    const bool along = r->value[REDUCE_AXIS], eight = r->value[LANES] != 0;
    if (eight && (!along || r->value[REDUCE_OP] > REDUCE_MEAN))
        return kernel_refuse(error, "reduce: lanes=8 is for sums of rows (op=sum or mean, axis=1)");
    w->epsilon *= eight ? 2 : 1; /* twice as many roundings in a row */
    struct routine_call *const c =
        routine_add_call(w, along ? "neon_reduce_rows" : "neon_reduce_columns", r->type, along ? "rows" : "blocks of 64 columns",
                         along ? rows : (columns + COLUMN_BLOCK - 1) / COLUMN_BLOCK);
    routine_pass_operand(c, 0, 0);
    routine_pass_operand(c, 1, 0);
    routine_pass(c, r->value[REDUCE_ROWS]);
    routine_pass(c, r->value[REDUCE_COLUMNS]);
    routine_pass(c, r->value[REDUCE_OP]);
    routine_pass(c, eight);
    arguments_name_variant(&cpu_kernel_neon, r, w);
    return true;
}

#define FLOATS "f32 f16 bf16"

const struct routine cpu_kernel_softmax = {
    &operation_softmax, "RxC[,log=0|1]", FLOATS, "e^(x - max) / sum over the C columns of each row; log=1: its logarithm",
    softmax_parameters, build_softmax};
const struct routine cpu_kernel_layernorm = {
    &operation_layernorm,
    "RxC[,eps=X][,affine=0|1]",
    FLOATS,
    "(x - mean) / sqrt(variance + eps) of each row, times gamma plus beta (C each) unless affine=0",
    norm_parameters,
    build_layernorm};
const struct routine cpu_kernel_rmsnorm = {&operation_rmsnorm,
                                           "RxC[,eps=X][,affine=0|1]",
                                           FLOATS,
                                           "x / sqrt(mean of squares + eps) of each row, times gamma (C) unless affine=0",
                                           norm_parameters,
                                           build_layernorm};
const struct routine cpu_kernel_groupnorm = {
    &operation_groupnorm,
    "n=N,c=C,h=H,w=W[,groups=G][,eps=X]",
    FLOATS,
    "each of G groups of channels of an image is centred and scaled; gamma and beta per channel; NCHW; groups=c: instance norm",
    groupnorm_parameters,
    build_groupnorm};
const struct routine cpu_kernel_batchnorm = {&operation_batchnorm,
                                             "n=N,c=C,h=H,w=W[,eps=X]",
                                             FLOATS,
                                             "inference: (x - mean[c]) / sqrt(var[c] + eps) * gamma[c] + beta[c]; NCHW",
                                             batchnorm_parameters,
                                             build_batchnorm};
const struct routine cpu_kernel_reduce = {&operation_reduce,
                                          "RxC[,op=NAME][,axis=1|0][,lanes=16|8]",
                                          FLOATS,
                                          "one result per row (axis=1) or column (axis=0), in f32: sum mean max min prod norm2 "
                                          "argmax argmin (index as u32, the first of "
                                          "equal ones); lanes: sums of rows in sixteen lanes or in "
                                          "eight, as MLX's",
                                          reduce_parameters,
                                          build_reduce};
