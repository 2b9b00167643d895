/* References of MLX's operations. */
#include "tests/public/public_reference.h"

#include "isa/array_count.h"

static void copy(const struct public_op *op)
{
    for (uint64_t i = 0; i < op->out->count; i++)
        op->to[i] = op->a->value[i % op->a->count];
}

static const struct public_formula formulas[] = {{"mlx_copy", copy}};

bool public_reference_mlx(struct public_case *c, double *expected)
{
    return public_compute(formulas, ARRAY_COUNT(formulas), c, expected);
}
