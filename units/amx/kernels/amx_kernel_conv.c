/* conv2d: native/line_conv.c. */
#include "units/amx/kernels/amx_kernels.h"

#include <stdio.h>

/* ORDER: native/line_conv.c. */
enum { CHANNELS = 16, FEW = 8, BLOCK = 64 };

static const struct kernel_parameter parameters[] = {ROUTINE_CONV_PARAMETERS, {.name = NULL}};

struct plan {
    struct operation_conv shape;
    unsigned bias, out, panels, patches;
};

static void pass(const struct routine_request *r, const struct plan *p, struct routine_call *c)
{
    routine_pass_operand(c, 0, 0);
    routine_pass_operand(c, 1, 0);
    routine_pass_operand(c, p->bias, 0);
    routine_pass_operand(c, p->out, 0);
    routine_pass_operand(c, p->panels, 0);
    routine_pass_operand(c, p->patches, 0);
    for (unsigned value = IMAGE_N; value <= CONV_BIAS; value++)
        routine_pass(c, r->value[value]);
    routine_pass(c, p->shape.act);
    routine_pass(c, p->shape.h);
    routine_pass(c, p->shape.w);
    routine_pass(c, p->shape.group_c);
    routine_pass(c, p->shape.group_k);
}

static bool build(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    struct plan p = {.shape = operation_conv_shape(r), .out = w->operands - 1, .bias = r->value[CONV_BIAS] ? 2 : 0};
    const bool few = p.shape.group_k < FEW;
    const int64_t groups = r->value[CONV_GROUPS], panels = few ? p.shape.group_k : (p.shape.group_k + CHANNELS - 1) / CHANNELS;
    const int64_t blocks = r->value[IMAGE_N] * groups * ((p.shape.h * p.shape.w + BLOCK - 1) / BLOCK);
    if (p.shape.act >= 0 && !amx_kernel_function((enum kernel_function)p.shape.act))
        return kernel_refuse(error, "conv2d on amx has the activations %s", AMX_KERNEL_FUNCTIONS);
    p.panels = routine_add_scratch(w, "panels", 4 * (uint64_t)(groups * panels * p.shape.depth * CHANNELS), 0);
    p.patches = routine_add_scratch(w, "patches", 4 * (uint64_t)(p.shape.depth * BLOCK), 0);
    pass(r, &p,
         routine_add_call(w, "amx_conv_pack", r->type, few ? "output channels" : "panels of 16 output channels",
                          (uint64_t)(groups * panels)));
    pass(r, &p, routine_add_call(w, "amx_conv", r->type, "blocks of 64 pixels", (uint64_t)blocks));
    snprintf(w->variant, sizeof w->variant, few ? "amx_conv_vector_%s" : "amx_conv_16x64_%s", routine_type_name(r->type));
    return true;
}

const struct routine amx_kernel_conv2d = {
    &operation_conv2d,
    "c=C,h=H,w=W,k=K[,n=N][,r=R][,s=S][,stride=D][,pad=P][,groups=G][,dilation=D][,bias=0|1][,act=NAME]",
    "f32 f16 bf16",
    "NCHW image, K x C/groups x R x S weights (3 x 3 unless told otherwise), sums in f32, then bias and an activation (names as "
    "elementwise on amx)",
    parameters,
    build};
