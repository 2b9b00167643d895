/* softmax and normalisations: native/line_rows.c. */
#include "units/amx/kernels/amx_kernels.h"

static const struct kernel_parameter softmax_parameters[] = {ROUTINE_SOFTMAX_PARAMETERS, {.name = NULL}};
static const struct kernel_parameter norm_parameters[] = {ROUTINE_NORM_PARAMETERS, {.name = NULL}};
static const struct kernel_parameter groupnorm_parameters[] = {ROUTINE_GROUPNORM_PARAMETERS, {.name = NULL}};
static const struct kernel_parameter batchnorm_parameters[] = {ROUTINE_BATCHNORM_PARAMETERS, {.name = NULL}};

static bool build_softmax(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    (void)error;
    arguments_build_softmax(&amx_kernel_block, r, w);
    return true;
}

static bool build_norm(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    (void)error;
    arguments_build_norm(&amx_kernel_block, r, w);
    return true;
}

static bool build_groupnorm(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    (void)error;
    arguments_build_groupnorm(&amx_kernel_block, r, w);
    return true;
}

static bool build_batchnorm(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    (void)error;
    arguments_build_batchnorm(&amx_kernel_block, r, w);
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
const struct routine amx_kernel_groupnorm = {
    &operation_groupnorm,
    "n=N,c=C,h=H,w=W[,groups=G][,eps=X]",
    FLOATS,
    "each of G groups of channels of an image is centred and scaled; gamma and beta per channel; NCHW; groups=c: instance norm",
    groupnorm_parameters,
    build_groupnorm};
const struct routine amx_kernel_batchnorm = {&operation_batchnorm,
                                             "n=N,c=C,h=H,w=W[,eps=X]",
                                             FLOATS,
                                             "inference: (x - mean[c]) / sqrt(var[c] + eps) * gamma[c] + beta[c]; NCHW",
                                             batchnorm_parameters,
                                             build_batchnorm};
