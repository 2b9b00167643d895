/* Symmetric positive definite systems that are a band plus a few dense rows: grids of cells with package nodes around them.
 *
 *     [ A  B ] [x]   [f]      A: n x n, `half` diagonals on either side
 *     [ B' D ] [y] = [g]      B: n x m, m small
 */
#ifndef ORCHARD_POWER_BAND_SOLVER_H
#define ORCHARD_POWER_BAND_SOLVER_H

#include <stdbool.h>
#include <stddef.h>

struct band_solver;

/* Empty system; NULL when memory is out. */
struct band_solver *band_solver_create(size_t n, size_t half, size_t m);
void band_solver_free(struct band_solver *solver);
/* Adds to the element (i, j) and, by symmetry, (j, i); rows n .. n + m - 1 are the dense ones. Band elements must be inside. */
void band_solver_add(struct band_solver *solver, size_t i, size_t j, double value);
/* False when the matrix is not positive definite or memory is out. */
bool band_solver_factorise(struct band_solver *solver);
/* Right-hand side of n + m numbers in, solution out. */
void band_solver_solve(const struct band_solver *solver, double *values);

#endif
