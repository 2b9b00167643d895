/* Runs a case through the block model or the grid model. */
#include "power/thermal_grid.h"
#include "power/thermal_solver.h"
#include "sim/machine/thermal/thermal_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool fail(struct orch_error *error, const struct power_error *why)
{
    return orch_fail(error, ORCH_USAGE, "%.240s", why->text);
}

static bool allocate(const struct thermal_case *c, size_t nodes, size_t cells, struct thermal_answer *a)
{
    a->nodes = nodes;
    a->steady = calloc(nodes, sizeof *a->steady);
    a->trace_k = calloc(c->rows * c->plan.count, sizeof *a->trace_k);
    a->grid_k = cells ? calloc(cells, sizeof *a->grid_k) : NULL;
    return a->steady && a->trace_k && (a->grid_k || !cells);
}

static bool solve_blocks(const struct thermal_case *c, struct thermal_answer *a, struct orch_error *error)
{
    struct thermal_network network;
    struct power_error why;
    if (!thermal_hotspot_network(&c->plan, &c->package, &network, &why))
        return fail(error, &why);
    struct thermal_solver *const solver = thermal_solver_create(&network, c->package.ambient_k, &why);
    double *const kelvin = calloc(network.nodes, sizeof *kelvin);
    bool ok = solver ? true : fail(error, &why);
    if (ok && (!kelvin || !allocate(c, network.nodes, 0, a)))
        ok = orch_no_memory(error);
    if (ok) {
        thermal_steady(solver, c->mean_w, kelvin);
        for (size_t i = 0; i < network.nodes; i++) {
            memcpy(a->steady[i].name, network.node[i].name, sizeof a->steady[i].name);
            a->steady[i].kelvin = kelvin[i];
        }
        thermal_set_uniform(solver, c->package.initial_k);
        for (size_t r = 0; r < c->rows; r++) {
            thermal_step(solver, c->power_w + r * c->plan.count, c->package.sampling_s);
            thermal_read(solver, 0, c->plan.count, a->trace_k + r * c->plan.count);
        }
    }
    free(kelvin);
    thermal_solver_free(solver);
    thermal_network_free(&network);
    return ok;
}

static bool solve_grid(const struct thermal_case *c, struct thermal_answer *a, struct orch_error *error)
{
    struct power_error why;
    struct thermal_grid *const grid = thermal_grid_create(&c->plan, &c->package, &why);
    if (!grid)
        return fail(error, &why);
    const size_t cells = thermal_grid_cells(grid), blocks = c->plan.count;
    bool ok = allocate(c, blocks, THERMAL_LAYERS * cells, a) && thermal_grid_steady(grid, c->mean_w);
    for (unsigned layer = 0; ok && layer < THERMAL_LAYERS; layer++)
        thermal_grid_layer(grid, layer, a->grid_k + layer * cells);
    for (size_t b = 0; ok && b < blocks; b++) {
        snprintf(a->steady[b].name, sizeof a->steady[b].name, "%s", c->plan.block[b].name);
        a->steady[b].kelvin = thermal_grid_block(grid, b);
    }
    thermal_grid_set_uniform(grid, c->package.initial_k);
    for (size_t r = 0; ok && r < c->rows; r++) {
        ok = thermal_grid_step(grid, c->power_w + r * blocks, c->package.sampling_s);
        for (size_t b = 0; ok && b < blocks; b++)
            a->trace_k[r * blocks + b] = thermal_grid_block(grid, b);
    }
    thermal_grid_free(grid);
    return ok || orch_no_memory(error);
}

bool thermal_case_solve(const struct thermal_case *c, struct thermal_answer *answer, struct orch_error *error)
{
    memset(answer, 0, sizeof *answer);
    const bool ok = c->package.grid ? solve_grid(c, answer, error) : solve_blocks(c, answer, error);
    if (!ok)
        thermal_answer_free(answer);
    return ok;
}

void thermal_answer_free(struct thermal_answer *answer)
{
    free(answer->steady);
    free(answer->grid_k);
    free(answer->trace_k);
    memset(answer, 0, sizeof *answer);
}
