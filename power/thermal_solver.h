/* Solves thermal networks of up to a few hundred nodes exactly: steady states by Cholesky factorisation, transients in the modes
 * of the network, where a step of constant power has no error in time, however long it is.
 */
#ifndef ORCHARD_POWER_THERMAL_SOLVER_H
#define ORCHARD_POWER_THERMAL_SOLVER_H

#include "power/thermal_network.h"

struct thermal_solver;

/* Factorises the network, which may be freed afterwards. NULL, with *error, when it cannot be solved. */
struct thermal_solver *thermal_solver_create(const struct thermal_network *network, double ambient_k, struct power_error *error);
void thermal_solver_free(struct thermal_solver *solver);
size_t thermal_solver_nodes(const struct thermal_solver *solver);

/* The steady temperatures of all nodes under power_w[powered]. */
void thermal_steady(const struct thermal_solver *solver, const double *power_w, double *kelvin);

/* Sets the state: all nodes at one temperature, or each at its own. */
void thermal_set_uniform(struct thermal_solver *solver, double kelvin);
void thermal_set(struct thermal_solver *solver, const double *kelvin);
/* Advances by seconds with constant power_w[powered]. */
void thermal_step(struct thermal_solver *solver, const double *power_w, double seconds);
/* Temperatures of nodes first .. first + count - 1 at the end of the last step. */
void thermal_read(const struct thermal_solver *solver, size_t first, size_t count, double *kelvin);

/* The joules since the state was set that were put in, given to the ambient, and stored; in = out + stored. */
struct thermal_balance {
    double in_j, out_j, stored_j;
};
struct thermal_balance thermal_energy(const struct thermal_solver *solver);

#endif
