/* Symmetric positive definite systems that are a band with a few dense rows, as of a grid of cells with package nodes around it.
 *
 *     [ A  B ] [x]   [f]      A: n x n, `half` diagonals on either side
 *     [ B' D ] [y] = [g]      B: n x m, m small
 */
#ifndef ORCHARD_POWER_BAND_SOLVER_H
#define ORCHARD_POWER_BAND_SOLVER_H

#include <stdbool.h>
#include <stddef.h>

struct band_solver;

/* An empty system; NULL when memory ran out. */
struct band_solver *band_solver_create(size_t n, size_t half, size_t m);
void band_solver_free(struct band_solver *solver);
/* Adds to the element (i, j) and, by symmetry, to (j, i). Rows n .. n + m - 1 are the dense ones; other elements must lie inside
 * the band. */
void band_solver_add(struct band_solver *solver, size_t i, size_t j, double value);
/* False when the matrix is not positive definite or memory ran out. */
bool band_solver_factorise(struct band_solver *solver);
/* Replaces the right-hand side, n + m numbers, by the solution. */
void band_solver_solve(const struct band_solver *solver, double *values);

#endif
