/* elementwise: native/elementwise.c. */
#include "units/cpu/kernels/cpu_kernel_family.h"

#include <stdio.h>

/* ORDER: native/elementwise.c. */
enum { BLOCK = 512, ARRAYS = 8 };

static const struct kernel_parameter parameters[] = {ROUTINE_ELEMENTWISE_PARAMETERS, {.name = NULL}};

static bool build(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    enum kernel_function function[OPERATION_CHAIN_MOST];
    const unsigned length = operation_chain(r, function), arrays = w->operands - 1;
    const uint64_t count = (uint64_t)r->value[ELEMENTWISE_N];
    struct routine_call *const c =
        routine_add_call(w, "neon_elementwise", r->type, "blocks of 512 elements", (count + BLOCK - 1) / BLOCK);
    (void)error;
    routine_pass_operand(c, arrays, 0);
    for (unsigned i = 0; i < ARRAYS; i++)
        routine_pass_operand(c, i < arrays ? i : 0, 0);
    routine_pass(c, r->value[ELEMENTWISE_N]);
    routine_pass(c, r->value[ELEMENTWISE_PERIOD]);
    routine_pass_real(c, r->decimal[ELEMENTWISE_ALPHA]);
    routine_pass(c, length);
    for (unsigned i = 0; i < length; i++)
        routine_pass(c, function[i]);
    snprintf(w->variant, sizeof w->variant, "neon_elementwise_%s", routine_type_name(r->type));
    return true;
}

const struct routine cpu_kernel_elementwise = {
    .operation = &operation_elementwise,
    .grammar = "N,op=NAME[+NAME...][,fused=NAME+NAME...][,alpha=X][,period=P]",
    .precisions = "f32 f16 bf16",
    .text = "out = a chain of functions of a, in f32; two-operand functions take the next array (b, c ...); "
            "names: " KERNEL_FUNCTION_WORDS
            "; alpha: slope of leaky_relu (0.01), scale of elu (1); period: the further arrays have P "
            "elements and repeat",
    .parameter = parameters,
    .build = build,
};
