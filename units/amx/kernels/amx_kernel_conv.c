/* conv2d: native/line_conv.c. */
#include "units/amx/kernels/amx_kernels.h"

#include <stdio.h>

/* ORDER: native/line_conv.c. */
enum { CHANNELS = 16, FEW = 8, BLOCK = 64 };

enum { PACKED = CONV_OWN };
static const struct kernel_parameter parameters[] = {
    ROUTINE_CONV_PARAMETERS, {.name = "packed", .least = 0, .most = 1}, {.name = NULL}};

static bool build(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    struct arguments_conv p = {
        .shape = operation_conv_shape(r), .chunks = 1, .out = w->operands - 1, .bias = r->value[CONV_BIAS] ? 2 : 0};
    const bool few = p.shape.group_k < FEW;
    const int64_t groups = r->value[CONV_GROUPS], panels = few ? p.shape.group_k : (p.shape.group_k + CHANNELS - 1) / CHANNELS;
    const int64_t blocks = r->value[IMAGE_N] * groups * ((p.shape.h * p.shape.w + BLOCK - 1) / BLOCK);
    if (p.shape.act >= 0 && !amx_kernel_function((enum kernel_function)p.shape.act))
        return kernel_refuse(error, "conv2d on amx has the activations %s", AMX_KERNEL_FUNCTIONS);
    p.panels = routine_add_scratch(w, "panels", 4 * (uint64_t)(groups * panels * p.shape.depth * CHANNELS), 0);
    p.own = routine_add_scratch(w, "own", 4 * (uint64_t)(p.shape.depth * BLOCK), r->threads ? r->threads : 1);
    arguments_pass_conv(&p, r, w,
                        routine_add_call(w, "amx_conv_pack", r->type, few ? "output channels" : "panels of 16 output channels",
                                         (uint64_t)(groups * panels)));
    arguments_pass_conv(&p, r, w, routine_add_call(w, "amx_conv", r->type, "blocks of 64 pixels", (uint64_t)blocks));
    w->loading = r->value[PACKED] ? 1 : 0;
    snprintf(w->variant, sizeof w->variant, few ? "amx_conv_vector_%s" : "amx_conv_16x64_%s", routine_type_name(r->type));
    return true;
}

const struct routine amx_kernel_conv2d = {
    &operation_conv2d,
    "c=C,h=H,w=W,k=K[,n=N][,r=R][,s=S][,stride=D][,pad=P][,groups=G][,dilation=D][,bias=0|1][,act=NAME][,packed=0|1]",
    "f32 f16 bf16",
    "NCHW image, K x C/groups x R x S weights (3 x 3 unless told otherwise), sums in f32, then bias and an activation (names as "
    "elementwise on amx); packed=1: the weights are constants that were brought into panels before the run",
    parameters,
    build};
