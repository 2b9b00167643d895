/* Knots by least squares. The knots of the public gelu table lie below the function where it is convex, and near it at 0. They
 * are what minimises the squared error summed over all normal fp16 arguments: 24 of the 33 halfwords come out the same, the
 * others within 6e-5. */
#include "isa/ane/ane_half.h"
#include "isa/ane/ane_table_functions.h"

#define LEAST_NORMAL 0x0400u
#define LARGEST      0x7bffu

struct normal_equations { /* tridiagonal, as every argument lies between two neighbouring knots */
    double diagonal[ANE_TABLE_KNOTS], beside[ANE_TABLE_KNOTS], right[ANE_TABLE_KNOTS];
};

static void add_point(struct normal_equations *n, double position, double y)
{
    const unsigned k = position >= ANE_TABLE_KNOTS - 1 ? ANE_TABLE_KNOTS - 2 : (unsigned)position;
    const double share = position - k;
    n->diagonal[k] += (1 - share) * (1 - share);
    n->diagonal[k + 1] += share * share;
    n->beside[k] += share * (1 - share);
    n->right[k] += (1 - share) * y;
    n->right[k + 1] += share * y;
}

static void solve(struct normal_equations *n, double knot[ANE_TABLE_KNOTS])
{
    for (unsigned k = 1; k < ANE_TABLE_KNOTS; k++) {
        const double factor = n->beside[k - 1] / n->diagonal[k - 1];
        n->diagonal[k] -= factor * n->beside[k - 1];
        n->right[k] -= factor * n->right[k - 1];
    }
    knot[ANE_TABLE_KNOTS - 1] = n->right[ANE_TABLE_KNOTS - 1] / n->diagonal[ANE_TABLE_KNOTS - 1];
    for (unsigned k = ANE_TABLE_KNOTS - 1; k-- > 0;)
        knot[k] = (n->right[k] - n->beside[k] * knot[k + 1]) / n->diagonal[k];
}

void ane_table_fit(double (*value)(double x, double alpha), double alpha, double first, double step, double pin,
                   double knot[ANE_TABLE_KNOTS])
{
    struct normal_equations n = {.diagonal = {0}};
    const double last = first + step * (ANE_TABLE_KNOTS - 1);
    for (uint16_t bits = LEAST_NORMAL; bits <= LARGEST; bits++) {
        const double x = ane_half_value(bits);
        if (x >= first && x <= last)
            add_point(&n, (x - first) / step, value(x, alpha));
        if (-x >= first && -x <= last)
            add_point(&n, (-x - first) / step, value(-x, alpha));
    }
    if (!isnan(pin)) {
        n.right[1] -= n.beside[0] * pin;
        n.beside[0] = 0;
        n.diagonal[0] = 1;
        n.right[0] = pin;
    }
    solve(&n, knot);
}
