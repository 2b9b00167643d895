/* For references: a case's operation by the name that the case states. */
#ifndef ORCHARD_TESTS_PUBLIC_PUBLIC_REFERENCE_H
#define ORCHARD_TESTS_PUBLIC_PUBLIC_REFERENCE_H

#include "tests/public/public.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a reference has: the case, its tensors src0 to src3 and the output (dst unless the case says otherwise). */
struct public_op {
    struct public_case *c;
    const struct public_tensor *a, *b, *d, *e, *out;
    double *to;
};

struct public_formula {
    const char *name;
    void (*compute)(const struct public_op *op);
};

/* False when none of them has the name that the case asks for. */
bool public_compute(const struct public_formula *formula, size_t count, struct public_case *c, double *expected);

static inline double public_of(const struct public_op *op, const char *name, double otherwise)
{
    return public_number(op->c, name, otherwise);
}

#define FOR_EACH_ROW(t, i1, i2, i3)                                                                                              \
    for (uint64_t i3 = 0; i3 < (t)->ne[3]; i3++)                                                                                 \
        for (uint64_t i2 = 0; i2 < (t)->ne[2]; i2++)                                                                             \
            for (uint64_t i1 = 0; i1 < (t)->ne[1]; i1++)

/* Where a row of four dimensions begins among the elements. */
static inline uint64_t public_row(const struct public_tensor *t, uint64_t i1, uint64_t i2, uint64_t i3)
{
    return ((i3 * t->ne[2] + i2) * t->ne[1] + i1) * t->ne[0];
}

#endif
