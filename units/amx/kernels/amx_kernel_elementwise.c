/* elementwise: native/line_elementwise.c. */
#include "units/amx/kernels/amx_kernels.h"

#include <stdio.h>

/* ORDER: native/line_elementwise.c. */
enum { BLOCK = 512, ARRAYS = 8 };

static const struct kernel_parameter parameters[] = {ROUTINE_ELEMENTWISE_PARAMETERS, {.name = NULL}};

/* What the block does without division and logarithms; ORDER: line_function, AMX_KERNEL_FUNCTIONS. */
static const bool has[KERNEL_FUNCTIONS] = {
    [KERNEL_RELU] = true,         [KERNEL_RELU6] = true,      [KERNEL_LEAKY_RELU] = true, [KERNEL_GELU] = true,
    [KERNEL_GELU_TANH] = true,    [KERNEL_SILU] = true,       [KERNEL_SIGMOID] = true,    [KERNEL_TANH] = true,
    [KERNEL_HARD_SIGMOID] = true, [KERNEL_HARD_SWISH] = true, [KERNEL_EXP] = true,        [KERNEL_ABS] = true,
    [KERNEL_NEG] = true,          [KERNEL_SQUARE] = true,     [KERNEL_ADD] = true,        [KERNEL_SUB] = true,
    [KERNEL_MUL] = true,          [KERNEL_MAX] = true,        [KERNEL_MIN] = true,
};

bool amx_kernel_function(enum kernel_function function)
{
    return has[function];
}

static bool build(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    enum kernel_function function[OPERATION_CHAIN_MOST];
    const unsigned length = operation_chain(r, function), arrays = w->operands - 1;
    const double slope = r->decimal[ELEMENTWISE_ALPHA];
    const uint64_t count = (uint64_t)r->value[ELEMENTWISE_N];
    for (unsigned i = 0; i < length; i++)
        if (!amx_kernel_function(function[i]))
            return kernel_refuse(error, "elementwise on amx has the functions %s", AMX_KERNEL_FUNCTIONS);
    if (arrays > 1 && r->value[ELEMENTWISE_PERIOD])
        return kernel_refuse(error, "elementwise on amx has no period: the further arrays are as long as the first");
    struct routine_call *const c =
        routine_add_call(w, "amx_elementwise", r->type, "blocks of 512 elements", (count + BLOCK - 1) / BLOCK);
    routine_pass_operand(c, arrays, 0);
    for (unsigned i = 0; i < ARRAYS; i++)
        routine_pass_operand(c, i < arrays ? i : 0, 0);
    routine_pass(c, r->value[ELEMENTWISE_N]);
    routine_pass_real(c, slope != 0 ? slope : (double)0.01F);
    routine_pass(c, length);
    for (unsigned i = 0; i < length; i++)
        routine_pass(c, function[i]);
    snprintf(w->variant, sizeof w->variant, "amx_elementwise_%s", routine_type_name(r->type));
    return true;
}

const struct routine amx_kernel_elementwise = {
    .operation = &operation_elementwise,
    .grammar = "N,op=NAME[+NAME...][,fused=NAME+NAME...][,alpha=X]",
    .precisions = "f32 f16 bf16",
    .text = "out = a chain of functions of a, in f32; two-operand functions take the next array (b, c ...); "
            "names: " AMX_KERNEL_FUNCTIONS "; alpha: slope of leaky_relu (0.01)",
    .parameter = parameters,
    .build = build,
};
