/* References: what an output has to be, in double precision, by the formula of the operation. */
#include "tests/public/public_reference.h"

bool public_compute(const struct public_formula *formula, size_t count, struct public_case *c, double *expected)
{
    const struct public_op op = {.c = c,
                                 .a = public_tensor(c, "src0"),
                                 .b = public_tensor(c, "src1"),
                                 .d = public_tensor(c, "src2"),
                                 .e = public_tensor(c, "src3"),
                                 .out = public_tensor(c, c->out),
                                 .to = expected};
    for (size_t i = 0; i < count; i++)
        if (strcmp(formula[i].name, c->reference) == 0) {
            formula[i].compute(&op);
            return true;
        }
    return false;
}

bool public_reference(struct public_case *c, double *expected)
{
    return public_reference_ggml(c, expected) || public_reference_windows(c, expected) || public_reference_mlx(c, expected);
}
